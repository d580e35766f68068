(* What a generated certificate file looks like.
   DP-APVI, horizon H = 20, rho = 1/2: one release of all visit counts with
   sigma^2 = 2 H / rho = 80; one trajectory replaced changes the counts by
   at most 4 H = 80 in squared l2 norm.  delta = 1e-5. *)
From Coq Require Import Reals Lra List ZArith.
From Interval Require Import Tactic.
From Assay.base Require Import DP PureInterval.
From Assay.rules Require Import Process Vectors Neighbours Releases.
Import ListNotations.
Local Open Scope R_scope.

Definition ledger : list (line * positive) :=
  [ (Gaussian 80 1 80 1, 1%positive) ].   (* sigma^2 = 80/1, l2^2 <= 80/1, once *)
Definition rho : R := 1 / 2.
Definition order : R := 543 / 100.
Definition eps : R := 4728388 / 1000000.
Definition delta : R := powerRZ 10 (-5).

Theorem certificate (record : Type) (p : process (list record) (list Z)) :
  follows replace_one (expand ledger) p ->
  dp_mech replace_one eps delta (run zvec_eq p).
Proof.
  apply (releases_dp rho order).
  - cbv -[Rplus Rmult Rinv Rdiv Rle IZR]; lra.
  - unfold order; lra.
  - unfold order, rho, eps, delta; interval with (i_prec 128).
Qed.

(* the hypothesis is met by the learner: visit counts of trajectories of 20 steps
   over 12 pairs (s,a) and 36 triples (s,a,s'), released once *)
From Assay.rules Require Import Sensitivity.
Example certificate_applies : dp_mech replace_one eps delta
  (run zvec_eq (Release (fun d => gauss_vec (prat 80 1) (sum_query (20 * (12 + 36)) (visits 12 36 20) d)) (fun _ => Done))).
Proof.
  apply certificate; constructor; [|intros; constructor].
  eexists; split; [|reflexivity]; intros d d' A; destruct (visit_counts_twenty d d' A) as [E H].
  split; [exact E|]; apply (Rle_trans _ _ _ H); unfold nrat; simpl Z.of_N; lra.
Qed.
