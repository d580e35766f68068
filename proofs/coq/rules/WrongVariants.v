(* Plausible but false variants of the rules, each refuted by a counterexample. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Interval Require Import Tactic.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian PureInterval.
From Assay.rules Require Import Process Vectors Neighbours Renyi Postprocess Basic PureToZCDP Subsampling.
Import ListNotations.
Local Open Scope R_scope.

(* the number of records, noised *)
Definition count_mech (v : posreal) (d : list unit) : dist Z := gauss v (Z.of_nat (length d)).

Lemma gauss_pos v m x : 0 < gauss v m x.
Proof. simpl; apply Rmult_lt_0_compat; [apply Rinv_0_lt_compat, theta_pos|apply exp_pos]. Qed.

(* ---------- subsampling with q^2 for q ---------- *)
Lemma rterm_2 p q : 0 <= p -> 0 < q -> rterm 2 p q = q * (p / q) ^ 2.
Proof. intros Hp Hq; rewrite <- rterm_nat by auto; f_equal; simpl; ring. Qed.
(* the true moment of order 2 of one sampled record against none *)
Lemma sampled_two v q : 0 <= q <= 1 ->
  has_sum (fun x => rterm 2 (mix q (gauss v 0) (gauss v 1) x) (gauss v 0 x))
    ((1 - q) * (1 - q) * 1 + 2 * q * (1 - q) * 1 + q * q * exp (2 * 1 * 1 / (2 * v))).
Proof.
  intros Hq.
  pose proof (gauss_moment_exact v 1 0 2 ltac:(lia)) as E.
  replace (INR 2) with 2 in E by (simpl; ring); replace (2 * (2 - 1) * IZR ((1 - 0) * (1 - 0))) with (2 * 1 * 1) in E by (simpl; ring).
  apply (has_sum_ext (fun x => (1 - q) * (1 - q) * gauss v 0 x + 2 * q * (1 - q) * gauss v 1 x
    + q * q * rterm 2 (gauss v 1 x) (gauss v 0 x))).
  - intros x; pose proof (gauss_pos v 0 x) as G0; pose proof (gauss_pos v 1 x) as G1.
    rewrite !rterm_2 by (try (apply mix_ge0; try apply pmf_ge0); lra).
    unfold mix; set (p0 := gauss v 0 x) in *; set (p1 := gauss v 1 x) in *; simpl; field; lra.
  - apply (has_sum_plus Z.eq_dec); [| |apply (has_sum_plus Z.eq_dec)|]; try (apply has_sum_scal0; [nra|auto using pmf_sum]).
    + intros x; apply Rplus_le_le_0_compat; apply Rmult_le_pos; try apply pmf_ge0; nra.
    + intros x; apply Rmult_le_pos; [nra|apply rterm_ge0].
    + intros x; apply Rmult_le_pos; [nra|apply pmf_ge0].
    + intros x; apply Rmult_le_pos; [nra|apply pmf_ge0].
Qed.
Lemma sampled_moment_2 q r : sampled_moment 2 q r = (1 - q) * (1 - q) + 2 * q * (1 - q) + q * q * exp (2 * r).
Proof.
  unfold sampled_moment, C; simpl; replace (0 * (0 - 1) * r) with 0 by ring; replace (1 * (1 - 1) * r) with 0 by ring.
  replace ((1 + 1) * (1 + 1 - 1) * r) with (2 * r) by ring; rewrite exp_0; field.
Qed.

(** @theorem wrong-sampling-squared
    The Poisson-subsampling bound with q^2 in place of q is false: a noisy count with
    sigma^2 = 1/2 of a sample of rate 1/2, order 2, one record against none. *)
Theorem sampling_squared_false :
  ~ (forall (v : posreal) (q : R) (Hq : 0 <= q <= 1) (a : nat), (2 <= a)%nat ->
       moment_mech add_remove (INR a) (sampled_moment a (q * q) (1 / (2 * v)))
         (poisson Z.eq_dec q Hq (count_mech v))).
Proof.
  intros H.
  assert (Hq : 0 <= 1 / 2 <= 1) by lra.
  specialize (H (prat 1 2) (1 / 2) Hq 2%nat ltac:(lia) [tt] []).
  destruct H as [_ H]; [right; exists [], tt, []; auto|].
  pose proof (has_sum_lub _ _ _ (sampled_two (prat 1 2) (1 / 2) Hq) H) as B.
  rewrite sampled_moment_2 in B; simpl pos in B.
  assert (exp (2 * (1 / (2 * (1 / 2)))) = exp (2 * 1 * 1 / (2 * (1 / 2)))) as E by (f_equal; field).
  rewrite E in B; replace (2 * 1 * 1 / (2 * (1 / 2))) with 2 in B by field.
  pose proof (exp_ineq1_le 2); lra.
Qed.

(* ---------- conversion ---------- *)
(* a biased coin against a fair one *)
Lemma three_quarters : 0 <= 3 / 4 <= 1. Proof. lra. Qed.
Lemma one_half : 0 <= 1 / 2 <= 1. Proof. lra. Qed.
Lemma coins_zcdp : zcdp (ln 2 ^ 2 / 2) (coin_dist (3 / 4) three_quarters) (coin_dist (1 / 2) one_half).
Proof.
  assert (0 <= ln 2) by (rewrite <- ln_1; left; apply ln_increasing; lra).
  apply (pure_zcdp Bool.bool_dec); auto; apply dp_pointwise; intros [|]; rewrite exp_ln by lra; simpl; lra.
Qed.

(** @theorem wrong-conversion-no-order-factor
    The zCDP conversion without its factor 1/(a-1) is false: a 3/4 coin against a fair
    one, eps = 0, order 11/10. (Dropping the factor (1-1/a)^a instead only weakens it.) *)
Theorem conversion_without_factor_false :
  ~ (forall (P Q : dist bool) rho a eps, 1 < a -> zcdp rho P Q ->
       dp eps (exp ((a - 1) * (a * rho - eps)) * exp (a * ln (1 - 1 / a))) P Q).
Proof.
  intros H; specialize (H _ _ _ (11 / 10) 0 ltac:(lra) coins_zcdp [true] ltac:(repeat constructor; easy)).
  simpl in H; rewrite exp_0 in H.
  assert (exp ((11 / 10 - 1) * (11 / 10 * (ln 2 * (ln 2 * 1) / 2) - 0)) * exp (11 / 10 * ln (1 - 1 / (11 / 10))) < 1 / 4)
    by interval with (i_prec 64).
  lra.
Qed.

(** @theorem wrong-conversion-no-two
    The classical conversion eps = rho + 2 sqrt(rho ln(1/delta)) without its factor 2 is
    false: discrete Gaussians with sigma^2 = 1 at 0 and 4 (rho = 8), delta = 1/10000. *)
Theorem conversion_without_two_false :
  ~ (forall (P Q : dist Z) rho delta, 0 < rho -> 0 < delta < 1 -> zcdp rho P Q ->
       dp (rho + sqrt (rho * ln (1 / delta))) delta P Q).
Proof.
  intros H.
  assert (Z8 : zcdp 8 (gauss (prat 1 1) 4) (gauss (prat 1 1) 0)).
  { pose proof (gauss_zcdp (prat 1 1) 4 0) as Z; simpl in Z; replace (16 / (2 * (1 / 1))) with 8 in Z by field; exact Z. }
  specialize (H _ _ 8 (1 / 10000) ltac:(lra) ltac:(lra) Z8 [7%Z] ltac:(repeat constructor; easy)).
  simpl in H; rewrite !Rplus_0_r in H.
  set (v := prat 1 1) in *; change (1 / 1) with (pos v) in H.
  assert (E : forall j, theta v (cond_pos v) (IZR j) = theta v (cond_pos v) 0)
    by (intros j; rewrite <- (theta_shift v _ 0 j); f_equal; ring).
  change (theta v) with (theta (pos v)) in *.
  pose proof (E 4%Z) as E4.
  assert (T0 := theta_pos v (cond_pos v) 0).
  assert (T1 : theta v (cond_pos v) 0 <= gbound v).
  { eapply has_sum_lub; [apply theta_sum|]; intros; apply gw_lsum; auto; apply cond_pos. }
  set (t := theta v (cond_pos v) 0) in *.
  assert (K : t * (/ t * gw v 4 7) <= t * (exp (8 + sqrt (8 * ln (1 / (1 / 10000)))) * (/ t * gw v 0 7) + 1 / 10000)).
  { apply Rmult_le_compat_l; [lra|]; rewrite <- E4 at 1; exact H. }
  replace (t * (/ t * gw v 4 7)) with (gw v 4 7) in K by (field; lra).
  replace (t * (exp (8 + sqrt (8 * ln (1 / (1 / 10000)))) * (/ t * gw v 0 7) + 1 / 10000))
    with (exp (8 + sqrt (8 * ln (1 / (1 / 10000)))) * gw v 0 7 + t / 10000) in K by (field; lra).
  assert (t <= 10).
  { eapply Rle_trans; [exact T1|]; unfold gbound, v; simpl; interval with (i_prec 64). }
  enough (exp (8 + sqrt (8 * ln (1 / (1 / 10000)))) * gw v 0 7 + 10 / 10000 < gw v 4 7) by lra.
  unfold gw, v; simpl; interval with (i_prec 64).
Qed.

(* ---------- groups ---------- *)
(** @theorem wrong-group-linear
    Group privacy of zCDP with k rho in place of k^2 rho is false: a noisy count with
    sigma^2 = 1/2, a group of two. *)
Theorem group_zcdp_linear_false :
  ~ (forall (M : list unit -> dist Z) rho k, zcdp_mech add_remove rho M ->
       zcdp_mech (chain add_remove k) (INR k * rho) M).
Proof.
  intros H.
  assert (Z1 : zcdp_mech add_remove 1 (count_mech (prat 1 2))).
  { intros d d' A; apply (zcdp_weaken (IZR ((Z.of_nat (length d) - Z.of_nat (length d')) * (Z.of_nat (length d) - Z.of_nat (length d'))) / (2 * prat 1 2)));
      [|apply gauss_zcdp].
    replace ((Z.of_nat (length d) - Z.of_nat (length d')) * (Z.of_nat (length d) - Z.of_nat (length d')))%Z with 1%Z; [simpl; lra|].
    destruct A as [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; rewrite !app_length; simpl length; nia. }
  specialize (H _ _ 2%nat Z1 [tt; tt] []).
  destruct H as [_ H].
  { apply chain_S with [tt]; [right; exists [], tt, [tt]; auto|].
    apply chain_S with []; [right; exists [], tt, []; auto|constructor]. }
  specialize (H 2 ltac:(lra)).
  pose proof (gauss_moment_exact (prat 1 2) 2 0 2 ltac:(lia)) as E; replace (INR 2) with 2 in E by (simpl; ring).
  pose proof (has_sum_lub _ _ _ E H) as B; simpl in B.
  assert (exp ((2 - 1) * (2 * ((1 + 1) * 1))) < exp (2 * (2 - 1) * 4 / (2 * (1 / 2)))) by (apply exp_increasing; lra).
  lra.
Qed.
