(* CKS20 Algorithm 3: rejection from the discrete Laplace gives the discrete Gaussian exactly. *)
From Coq Require Import Reals Lra Lia ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
Local Open Scope R_scope.

Section Rejection.
Context {T : Type} (P : dist T) (acc : T -> R) (A : R).
Hypothesis Hacc : forall x, 0 <= acc x <= 1.
Hypothesis HA : has_sum (fun x => P x * acc x) A.      (* acceptance probability of one round *)
Hypothesis HA0 : 0 < A.

(* probability that the loop returns x within n rounds *)
Fixpoint out (n : nat) (x : T) : R :=
  match n with O => 0 | S n => P x * acc x + (1 - A) * out n x end.

Lemma A_le1 : A <= 1.
Proof.
  eapply has_sum_le; [exact HA|apply (pmf_sum P)|].
  intros x; pose proof (pmf_ge0 P x); pose proof (Hacc x); simpl; nra.
Qed.
Lemma out_closed n x : out n x = P x * acc x / A * (1 - (1 - A) ^ n).
Proof. induction n as [|n IH]; simpl; [ring|]; rewrite IH; field; lra. Qed.
Theorem rejection x : is_lim_seq (fun n => out n x) (P x * acc x / A).
Proof.
  eapply is_lim_seq_ext; [intros n; symmetry; apply out_closed|].
  replace (Finite (P x * acc x / A)) with (Rbar_mult (P x * acc x / A) (1 - 0)) by (simpl; f_equal; ring).
  apply is_lim_seq_scal_l; apply is_lim_seq_minus'; [apply is_lim_seq_const|].
  apply is_lim_seq_geom; pose proof A_le1; rewrite Rabs_pos_eq; lra.
Qed.
End Rejection.

Section Gauss.
Variables (v t : R) (Hv : 0 < v) (Ht : 0 < t).          (* v = sigma^2; t any positive scale *)
Definition gacc (x : Z) : R := exp (- ((IZR (Z.abs x) - v / t) * (IZR (Z.abs x) - v / t)) / (2 * v)).
Definition gk : R := lapc t * exp (- (v / t) * (v / t) / (2 * v)).
Lemma gk_pos : 0 < gk.
Proof. apply Rmult_lt_0_compat; [now apply lapc_pos|apply exp_pos]. Qed.
Lemma prop_acc x : dlap t Ht 0 x * gacc x = gk * gw v 0 x.
Proof.
  simpl; unfold gk, gacc, gw, lapw; rewrite Z.sub_0_r, !Rmult_assoc; f_equal; rewrite <- !exp_plus; f_equal.
  rewrite Rminus_0_r; replace (IZR x * IZR x) with (IZR (Z.abs x) * IZR (Z.abs x)).
  - field; lra.
  - rewrite <- !mult_IZR; f_equal; apply Z.abs_square.
Qed.
Lemma acc_total : has_sum (fun x => dlap t Ht 0 x * gacc x) (gk * theta v Hv 0).
Proof.
  eapply has_sum_ext; [intros x; symmetry; apply prop_acc|].
  apply has_sum_scal; [apply gk_pos|apply theta_sum].
Qed.
Lemma gacc_01 x : 0 <= gacc x <= 1.
Proof.
  split; [left; apply exp_pos|]; rewrite <- exp_0; apply exp_le.
  apply Rmult_le_reg_r with (2 * v); [lra|]; unfold Rdiv at 1; rewrite Rmult_assoc, Rinv_l, Rmult_0_l, Rmult_1_r by lra.
  set (y := IZR (Z.abs x) - v / t); nra.
Qed.
Theorem dgauss_sampler x :
  is_lim_seq (fun n => out (dlap t Ht 0) gacc (gk * theta v Hv 0) n x) (gdist v Hv 0 x).
Proof.
  assert (HA : 0 < gk * theta v Hv 0) by (apply Rmult_lt_0_compat; [apply gk_pos|apply theta_pos]).
  replace (Finite (gdist v Hv 0 x)) with (Finite (dlap t Ht 0 x * gacc x / (gk * theta v Hv 0))).
  - apply (rejection _ _ _ gacc_01 acc_total HA).
  - rewrite prop_acc; simpl; f_equal; pose proof gk_pos; pose proof (theta_pos v Hv 0); field; lra.
Qed.
End Gauss.
