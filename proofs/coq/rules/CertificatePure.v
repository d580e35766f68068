(* Generated certificates for pure releases. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Interval Require Import Tactic.
From Assay.base Require Import DP PureInterval.
From Assay.rules Require Import Process Vectors Neighbours Releases PureReleases.
Import ListNotations.
Local Open Scope R_scope.

(* 1. DP-APVI with discrete Laplace noise: H = 20, l1 sensitivity 4 H = 80, scale 80:
      1-DP when one trajectory is replaced. *)
Definition ledger : list (line * positive) := [ (Laplace 80 1 80 1, 1%positive) ].
Theorem certificate (record : Type) (p : process (list record) (list Z)) :
  follows replace_one (expand ledger) p -> dp_mech replace_one 1 0 (run zvec_eq p).
Proof. apply (pure_releases_dp replace_one ledger _ 1 p eq_refl); unfold nrat; simpl; lra. Qed.

(* 2. 25 adaptive pure releases of 19/100 each (sparse vector runs), one record
      added or removed: eps = 2 with delta below 1.42e-2 (4.75 with delta = 0). *)
Definition eps : R := 2.
Definition delta : R := 142 / 10000.
Theorem certificate_optimal (record : Type) (p : process (list record) (list Z)) :
  follows add_remove (expand [ (Pure 19 100, 25%positive) ]) p ->
  dp_mech add_remove eps delta (run zvec_eq p).
Proof.
  apply (optimal_releases_dp 18 add_remove (Pure 19 100) 25 (19 / 100)); [reflexivity|lia| | |].
  - unfold eps; simpl; lra.
  - unfold eps; simpl; lra.
  - unfold eps, delta; kov_total; interval with (i_prec 128).
Qed.

(* the hypothesis of 1 is met by the visit counts of trajectories of 20 steps *)
From Assay.rules Require Import Sensitivity.
Example certificate_applies : dp_mech replace_one 1 0
  (run zvec_eq (Release (fun d => laplace_vec (prat 80 1) (sum_query (20 * (12 + 36)) (visits 12 36 20) d)) (fun _ => Done))).
Proof.
  apply certificate; constructor; [|intros; constructor].
  eexists; split; [|reflexivity]; intros d d' A; destruct (proj2 (visit_counts_sens 12 36 20) d d' A) as [E H].
  split; [exact E|]; apply (Rle_trans _ _ _ H); unfold nrat; simpl Z.of_N; simpl Z.of_nat; lra.
Qed.
