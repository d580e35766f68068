(* A generated certificate with subsampled steps.
   1500 steps; each runs when a public coin of probability 1/2 says so; each takes a
   Poisson sample of rate 128/3000 and adds discrete Gaussian noise with sigma twice
   the l2 sensitivity (sigma^2 = 4, l2^2 <= 1).  delta = 1/30000, one record added or removed. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Interval Require Import Tactic.
From Assay.base Require Import DP PureInterval.
From Assay.rules Require Import Process Vectors Neighbours Releases RenyiReleases.
Import ListNotations.
Local Open Scope R_scope.

Definition ledger : list (rline * positive) :=
  [ (WithCoin 1 2 (Sampled 128 3000 4 1 1 1), 1500%positive) ].
Definition eps : R := 2693976 / 1000000.
Definition delta : R := 1 / 30000.

Theorem certificate (record : Type) (p : process (list record) (list Z)) :
  rfollows add_remove (rexpand ledger) p -> dp_mech add_remove eps delta (run zvec_eq p).
Proof.
  apply (renyi_releases_dp 7); [lia|].
  unfold eps, delta; renyi_total; interval with (i_prec 128).
Qed.

(* the hypothesis can be met: 1500 sampled counts, each behind its coin *)
From Assay.rules Require Import Basic Subsampling.
Lemma rate_ok : 0 <= prat 128 3000 <= 1. Proof. apply prat_le1; lia. Qed.
Lemma coin_ok : 0 <= prat 1 2 <= 1. Proof. apply prat_le1; lia. Qed.
Definition step (d : list Z) : dist (list Z) := with_coin (prat 1 2) coin_ok
  (poisson zvec_eq (prat 128 3000) rate_ok (fun s => gauss_vec (prat 4 1) (size_query s)) d).
Fixpoint steps (n : nat) : process (list Z) (list Z) :=
  match n with O => Done | S n => Release step (fun _ => steps n) end.
Lemma step_allowed : rallows add_remove (WithCoin 1 2 (Sampled 128 3000 4 1 1 1)) step.
Proof.
  eexists _, coin_ok; split; [|reflexivity]; split; [auto|]; exists size_query, rate_ok; split; [|reflexivity].
  intros d d' A; destruct (proj2 size_sens d d' A) as [E H]; split; auto; unfold nrat; change (Z.of_N 1) with 1%Z; lra.
Qed.
Example certificate_applies : dp_mech add_remove eps delta (run zvec_eq (steps (Pos.to_nat 1500))).
Proof.
  apply certificate; unfold rexpand, ledger, flat_map; cbn [fst snd]; rewrite app_nil_r.
  generalize (Pos.to_nat 1500); intros n; induction n as [|n IH]; [constructor; constructor|].
  cbn [repeat steps]; constructor; [exact step_allowed|intros _; exact IH].
Qed.
