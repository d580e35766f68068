(* Renyi differential privacy at one order a > 1, by its moment
   sum_x P(x)^a Q(x)^(1-a) = exp ((a-1) D_a(P||Q)). Moments multiply under
   adaptive composition, never grow under post-processing or mixing, and
   convert to (eps, delta). *)
From Coq Require Import Reals Lra Lia List ZArith FinFun.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors.
Import ListNotations.
Local Open Scope R_scope.

(* the moment of order a is at most m (all finite sums suffice) *)
Definition moment {T} (a m : R) (P Q : T -> R) : Prop :=
  (forall x, 0 < P x -> 0 < Q x) /\
  forall l, NoDup l -> lsum (fun x => rterm a (P x) (Q x)) l <= m.
(* D_a(P||Q) <= e *)
Definition renyi {T} (a e : R) (P Q : T -> R) : Prop := moment a (exp ((a - 1) * e)) P Q.
Definition moment_mech {D T} (adj : D -> D -> Prop) a m (M : D -> dist T) : Prop :=
  forall d d', adj d d' -> moment a m (M d) (M d').
Definition renyi_mech {D T} (adj : D -> D -> Prop) a e (M : D -> dist T) : Prop :=
  forall d d', adj d d' -> renyi a e (M d) (M d').

Lemma moment_ge0 {T} a m (P Q : T -> R) : moment a m P Q -> 0 <= m.
Proof. intros [_ H]; apply (H []); constructor. Qed.
Lemma moment_weaken {T} a m m' (P Q : T -> R) : m <= m' -> moment a m P Q -> moment a m' P Q.
Proof. intros Hm [H0 H]; split; auto; intros l Hl; eapply Rle_trans; eauto. Qed.
Lemma moment_ext {T} a m (P Q P' Q' : T -> R) :
  (forall x, P x = P' x) -> (forall x, Q x = Q' x) -> moment a m P Q -> moment a m P' Q'.
Proof.
  intros HP HQ [H0 H]; split; [intros x; rewrite <- HP, <- HQ; auto|].
  intros l Hl; eapply Rle_trans; [|apply (H l Hl)]; right; apply lsum_ext; intros; rewrite HP, HQ; auto.
Qed.
Lemma moment_refl {T} a (P : dist T) : moment a 1 P P.
Proof.
  split; auto; intros l Hl; rewrite (lsum_ext _ P) by (intros x _; apply rterm_diag, pmf_ge0).
  apply (has_sum_ub _ _ _ (pmf_sum P) Hl).
Qed.
(* zCDP is Renyi privacy at all orders *)
Lemma zcdp_moment {T} rho a (P Q : T -> R) : 1 < a -> zcdp rho P Q -> moment a (exp ((a - 1) * (a * rho))) P Q.
Proof. intros Ha [H0 H]; split; auto. Qed.
Lemma zcdp_renyi {T} rho (P Q : T -> R) :
  zcdp rho P Q <-> (forall x, 0 < P x -> 0 < Q x) /\ forall a, 1 < a -> renyi a (a * rho) P Q.
Proof.
  split; [intros H; split; [apply H|intros a Ha; now apply zcdp_moment]|].
  intros [H0 H]; split; auto; intros a Ha; apply (H a Ha).
Qed.

(* ---------- adaptive composition ---------- *)
(* the second moment may depend on the first output *)
Lemma joint_moment {T U} (eqd : forall x y : T, {x = y} + {x <> y}) a m (g : T -> R)
  (P Q : dist T) (K L : T -> dist U) :
  (forall x, 0 < P x -> 0 < Q x) -> (forall t, moment a (g t) (K t) (L t)) ->
  (forall l, NoDup l -> lsum (fun t => rterm a (P t) (Q t) * g t) l <= m) ->
  moment a m (joint_dist eqd P K) (joint_dist eqd Q L).
Proof.
  intros HP0 HK Hm; split.
  - intros [t u] H; simpl in *; unfold joint in *; simpl in *.
    destruct (HK t) as [HK0 _]; pose proof (pmf_ge0 P t); pose proof (pmf_ge0 (K t) u).
    apply Rmult_lt_0_compat; [apply HP0|apply HK0]; nra.
  - intros l Hl; simpl; unfold joint.
    rewrite (lsum_group eqd (fun t u => rterm a (P t * K t u) (Q t * L t u)) l _ (NoDup_nodup eqd (map fst l)))
      by (intros x; apply nodup_In).
    eapply Rle_trans; [|apply (Hm _ (NoDup_nodup eqd (map fst l)))].
    apply lsum_le; intros t _; destruct (HK t) as [HK0 HK1].
    rewrite (lsum_ext _ (fun u => rterm a (P t) (Q t) * rterm a (K t u) (L t u))), lsum_scal.
    + apply Rmult_le_compat_l; [apply rterm_ge0|apply HK1; now apply slice_NoDup].
    + intros u _; apply rterm_mul; auto; apply pmf_ge0.
Qed.
Lemma moment_joint {T U} (eqd : forall x y : T, {x = y} + {x <> y}) a m1 m2
  (P Q : dist T) (K L : T -> dist U) :
  0 <= m2 -> moment a m1 P Q -> (forall t, moment a m2 (K t) (L t)) ->
  moment a (m1 * m2) (joint_dist eqd P K) (joint_dist eqd Q L).
Proof.
  intros Hm [H0 H1] HK; apply (joint_moment eqd a _ (fun _ => m2)); auto; intros l Hl.
  rewrite (lsum_ext _ (fun t => m2 * rterm a (P t) (Q t))), lsum_scal by (intros; ring).
  rewrite (Rmult_comm m1); apply Rmult_le_compat_l; auto.
Qed.
Lemma cons_moment_joint {T} (eqd : forall x y : T, {x = y} + {x <> y}) a m (P Q : dist T) (K L : T -> dist (list T)) :
  moment a m (joint_dist eqd P K) (joint_dist eqd Q L) -> moment a m (cons_dist eqd P K) (cons_dist eqd Q L).
Proof.
  intros [H0 H]; split.
  - intros [|t l] Hp; simpl in *; [lra|]; exact (H0 (t, l) Hp).
  - intros l Hl; rewrite lsum_pairs; [exact (H _ (pairs_NoDup l Hl))|].
    simpl; unfold rterm; destruct (Rle_dec 0 0); lra.
Qed.

(* along every branch the moments multiply to at most m0 *)
Fixpoint moment_spends {D T} (adj : D -> D -> Prop) (a : R) (p : process D T) (m0 : R) : Prop :=
  match p with
  | Done => 1 <= m0
  | Release m next => exists r, 0 < r /\ moment_mech adj a r m /\ forall t, moment_spends adj a (next t) (m0 / r)
  end.

(** @theorem renyi-filter
    At one order a > 1: if along every branch of a fully adaptive process the order-a
    moments of its releases (for neighbours adj) multiply to at most m, the whole
    transcript has order-a moment at most m for adj. *)
Theorem moment_filter {D T} eqd (adj : D -> D -> Prop) a (p : process D T) :
  forall m0, 0 < m0 -> moment_spends adj a p m0 -> moment_mech adj a m0 (run eqd p).
Proof.
  induction p as [|m next IH]; intros m0 H0 H d d' A.
  - apply (moment_weaken a 1); [exact H|apply (moment_refl a (dret (leqd eqd) []))].
  - destruct H as [r [Hr [Hm Hn]]]; replace m0 with (r * (m0 / r)) by (field; lra).
    assert (Hq : 0 < m0 / r) by (apply Rdiv_lt_0_compat; lra).
    apply (cons_moment_joint eqd a (r * (m0 / r)) (m d) (m d')), moment_joint; [lra|now apply Hm|].
    intros t; apply (IH t (m0 / r)); auto.
Qed.

(** @theorem compose-renyi
    At one order a > 1, mechanisms 1..n, each of which sees the data and all earlier
    outputs and has Renyi divergence at most e_i for neighbours adj whatever those
    outputs were: publishing all n outputs has divergence at most e_1 + ... + e_n. *)
Theorem renyi_sequence {D T} eqd (adj : D -> D -> Prop) a (ms : list (list T -> D -> dist T)) es :
  Forall2 (fun m e => forall past, renyi_mech adj a e (m past)) ms es ->
  renyi_mech adj a (rsum es) (run eqd (sequence ms [])).
Proof.
  intros H; apply moment_filter; [apply exp_pos|]; generalize (@nil T).
  induction H as [|m e ms es Hm H IH]; intros past; simpl; [rewrite Rmult_0_r, exp_0; lra|].
  exists (exp ((a - 1) * e)); split; [apply exp_pos|split; [apply Hm|]]; intros t.
  replace (exp ((a - 1) * (e + rsum es)) / exp ((a - 1) * e)) with (exp ((a - 1) * rsum es)); [apply IH|].
  rewrite Rmult_plus_distr_l, exp_plus; field; apply Rgt_not_eq, exp_pos.
Qed.

(* ---------- conversion ---------- *)
Lemma moment_dp {T} a m eps (P Q : T -> R) :
  1 < a -> (forall x, 0 <= P x) -> (forall x, 0 <= Q x) -> moment a m P Q ->
  dp eps (m * exp (- (a - 1) * eps) * (exp (a * ln (1 - 1 / a)) / (a - 1))) P Q.
Proof.
  intros Ha HP HQ [H0 H]; now apply rterm_dp.
Qed.
Lemma moment_mech_dp {D T} (adj : D -> D -> Prop) (M : D -> dist T) a m eps delta :
  moment_mech adj a m M -> 1 < a ->
  m * exp (- (a - 1) * eps) * (exp (a * ln (1 - 1 / a)) / (a - 1)) <= delta ->
  dp_mech adj eps delta M.
Proof.
  intros H Ha Hd d d' A; eapply dp_weaken; [apply pmf_ge0|apply Rle_refl|exact Hd|].
  apply moment_dp; auto; apply pmf_ge0.
Qed.

(** @theorem renyi-to-dp
    A mechanism whose Renyi divergence of one order a > 1 is at most e for neighbours
    adj is (eps, delta)-DP for adj, for every eps and every delta at least
    exp((a-1)(e - eps)) / (a-1) * (1 - 1/a)^a. *)
Theorem renyi_mech_dp {D T} (adj : D -> D -> Prop) (M : D -> dist T) a e eps delta :
  renyi_mech adj a e M -> 1 < a ->
  exp ((a - 1) * (e - eps)) / (a - 1) * exp (a * ln (1 - 1 / a)) <= delta ->
  dp_mech adj eps delta M.
Proof.
  intros H Ha Hd; apply (moment_mech_dp adj M a (exp ((a - 1) * e))); auto.
  eapply Rle_trans; [|exact Hd]; right.
  replace ((a - 1) * (e - eps)) with ((a - 1) * e + - (a - 1) * eps) by ring.
  rewrite exp_plus; field; lra.
Qed.

(* ---------- convexity: the tangent line of x^a ---------- *)
Lemma exp_convex w x y : 0 <= w <= 1 -> exp (w * x + (1 - w) * y) <= w * exp x + (1 - w) * exp y.
Proof.
  intros Hw; set (m := w * x + (1 - w) * y).
  assert (A : forall z, exp m * (1 + (z - m)) <= exp z).
  { intros z; replace (exp z) with (exp m * exp (z - m)) by (rewrite <- exp_plus; f_equal; ring).
    apply Rmult_le_compat_l; [left; apply exp_pos|apply exp_ineq1_le]. }
  pose proof (A x) as Ax; pose proof (A y) as Ay.
  apply Rle_trans with (w * (exp m * (1 + (x - m))) + (1 - w) * (exp m * (1 + (y - m)))); [right; unfold m; ring|].
  apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.
(* for every s, with equality at s = ln (p/q) *)
Lemma rterm_tangent a s p q : 1 < a -> 0 <= p -> 0 <= q -> (0 < p -> 0 < q) ->
  a * exp ((a - 1) * s) * p - (a - 1) * exp (a * s) * q <= rterm a p q.
Proof.
  intros Ha Hp Hq H; unfold rterm; destruct (Rle_dec p 0) as [|Np].
  - replace p with 0 by lra; pose proof (exp_pos (a * s)).
    assert (0 <= (a - 1) * exp (a * s) * q) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]); lra.
  - assert (p0 : 0 < p) by lra; assert (q0 := H p0); set (r := ln (p / q)).
    assert (Ep : p = q * exp r) by (unfold r; rewrite exp_ln; [field; lra|now apply Rdiv_lt_0_compat]).
    assert (C : a * exp (r - s) <= exp (a * (r - s)) + (a - 1)).
    { assert (Hw : 0 <= 1 / a <= 1).
      { split; [left; apply Rdiv_lt_0_compat; lra|].
        apply Rmult_le_reg_r with a; [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
      pose proof (exp_convex (1 / a) (a * (r - s)) 0 Hw) as C.
      replace (1 / a * (a * (r - s)) + (1 - 1 / a) * 0) with (r - s) in C by (field; lra).
      rewrite exp_0 in C; apply (Rmult_le_compat_l a) in C; [|lra].
      eapply Rle_trans; [exact C|right; field; lra]. }
    rewrite Ep.
    replace (a * exp ((a - 1) * s) * (q * exp r)) with (q * exp (a * s) * (a * exp (r - s))).
    2:{ replace (a * s) with ((a - 1) * s + s) by ring; rewrite exp_plus.
        replace r with (r - s + s) at 2 by ring; rewrite exp_plus; ring. }
    replace (q * exp r * exp ((a - 1) * r)) with (q * exp (a * s) * exp (a * (r - s))).
    2:{ rewrite !Rmult_assoc, <- !exp_plus; do 2 f_equal; ring. }
    assert (0 < q * exp (a * s)) by (apply Rmult_lt_0_compat; [auto|apply exp_pos]).
    replace (q * exp (a * s) * (a * exp (r - s)) - (a - 1) * exp (a * s) * q)
      with (q * exp (a * s) * (a * exp (r - s) - (a - 1))) by ring.
    apply Rmult_le_compat_l; lra.
Qed.
Lemma rterm_touch a p q : 0 < p -> 0 < q ->
  rterm a p q = a * exp ((a - 1) * ln (p / q)) * p - (a - 1) * exp (a * ln (p / q)) * q.
Proof.
  intros Hp Hq; unfold rterm; destruct (Rle_dec p 0); [lra|].
  assert (0 < p / q) by now apply Rdiv_lt_0_compat.
  replace (exp (a * ln (p / q))) with (exp ((a - 1) * ln (p / q)) * (p / q)).
  - field; lra.
  - rewrite <- (exp_ln (p / q)) at 2 by auto; rewrite <- exp_plus; f_equal; ring.
Qed.
Lemma rterm_scal a k p q : 0 <= k -> 0 <= p -> (0 < p -> 0 < q) -> rterm a (p * k) (q * k) = rterm a p q * k.
Proof.
  intros Hk Hp H; destruct Hk as [Hk| <-].
  - rewrite rterm_mul, (rterm_diag a k); auto; lra.
  - rewrite !Rmult_0_r; unfold rterm at 1; destruct (Rle_dec 0 0); lra.
Qed.

(* the same coin on both sides: moments do not grow *)
Definition mix {T} (q : R) (P Q : T -> R) (x : T) : R := (1 - q) * P x + q * Q x.
Lemma rterm_mix a q p1 p2 q1 q2 : 1 < a -> 0 <= q <= 1 -> 0 <= p1 -> 0 <= p2 -> 0 <= q1 -> 0 <= q2 ->
  (0 < p1 -> 0 < q1) -> (0 < p2 -> 0 < q2) ->
  rterm a ((1 - q) * p1 + q * p2) ((1 - q) * q1 + q * q2) <= (1 - q) * rterm a p1 q1 + q * rterm a p2 q2.
Proof.
  intros Ha Hq P1 P2 Q1 Q2 H1 H2; set (p := (1 - q) * p1 + q * p2); set (r := (1 - q) * q1 + q * q2).
  assert (0 <= p) by (unfold p; nra).
  destruct (Rle_dec p 0) as [Np|Np].
  { unfold rterm at 1; destruct (Rle_dec p 0); [|easy].
    pose proof (rterm_ge0 a p1 q1); pose proof (rterm_ge0 a p2 q2); nra. }
  assert (p0 : 0 < p) by lra.
  assert (r0 : 0 < r).
  { destruct (Rle_dec r 0) as [N|]; [|lra]; exfalso.
    assert (Z1 : (1 - q) * q1 = 0) by (unfold r in N; nra); assert (Z2 : q * q2 = 0) by (unfold r in N; nra).
    apply Np; unfold p.
    assert ((1 - q) * p1 = 0).
    { apply Rmult_integral in Z1; destruct Z1 as [->|Z1]; [ring|].
      destruct P1 as [P1| <-]; [specialize (H1 P1); lra|ring]. }
    assert (q * p2 = 0).
    { apply Rmult_integral in Z2; destruct Z2 as [->|Z2]; [ring|].
      destruct P2 as [P2| <-]; [specialize (H2 P2); lra|ring]. }
    lra. }
  rewrite rterm_touch by auto; set (s := ln (p / r)).
  pose proof (rterm_tangent a s p1 q1 Ha P1 Q1 H1) as T1; pose proof (rterm_tangent a s p2 q2 Ha P2 Q2 H2) as T2.
  set (A := a * exp ((a - 1) * s)) in *; set (B := (a - 1) * exp (a * s)) in *.
  apply Rle_trans with ((1 - q) * (A * p1 - B * q1) + q * (A * p2 - B * q2)); [right; unfold p, r; ring|].
  apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.
Lemma moment_mix {T} a q m1 m2 (P1 P2 Q1 Q2 : T -> R) : 1 < a -> 0 <= q <= 1 ->
  (forall x, 0 <= P1 x) -> (forall x, 0 <= P2 x) -> (forall x, 0 <= Q1 x) -> (forall x, 0 <= Q2 x) ->
  moment a m1 P1 Q1 -> moment a m2 P2 Q2 -> moment a ((1 - q) * m1 + q * m2) (mix q P1 P2) (mix q Q1 Q2).
Proof.
  intros Ha Hq HP1 HP2 HQ1 HQ2 [A1 B1] [A2 B2]; split.
  - intros x; unfold mix; intros H.
    pose proof (HP1 x); pose proof (HP2 x); pose proof (HQ1 x); pose proof (HQ2 x).
    destruct (Rle_dec ((1 - q) * P1 x) 0) as [N|N].
    + assert (0 < q * P2 x) by lra; assert (0 < P2 x) by nra; specialize (A2 x H5).
      assert (0 < q) by nra; nra.
    + assert (0 < P1 x) by nra; specialize (A1 x H4); assert (0 < 1 - q) by nra; nra.
  - intros l Hl; apply Rle_trans with ((1 - q) * lsum (fun x => rterm a (P1 x) (Q1 x)) l + q * lsum (fun x => rterm a (P2 x) (Q2 x)) l).
    + rewrite <- !lsum_scal, <- lsum_plus; apply lsum_le; intros x _; apply rterm_mix; auto.
    + apply Rplus_le_compat; apply Rmult_le_compat_l; try lra; auto.
Qed.

(* ---------- Gaussians ---------- *)
(** @theorem renyi-gaussian
    The vector query f has squared l2 sensitivity at most D2 for adj. Discrete Gaussian
    noise with parameter sigma^2 in each coordinate has Renyi divergence at most
    a D2 / (2 sigma^2) for adj, at every order a > 1. *)
Theorem gauss_vec_renyi {D} (adj : D -> D -> Prop) (f : D -> list Z) (D2 : R) (sigma2 : posreal) a :
  1 < a -> l2sq_sens adj f D2 ->
  renyi_mech adj a (a * (D2 / (2 * sigma2))) (fun d => gauss_vec sigma2 (f d)).
Proof. intros Ha Hf d d' A; apply zcdp_moment; auto; now apply (gauss_vec_zcdp adj). Qed.

(** @theorem renyi-gaussian-exact
    At integer orders a >= 2 the moment of two discrete Gaussians at integers m and n is
    exactly exp(a(a-1)(m-n)^2 / (2 sigma^2)), the value of the continuous Gaussian. *)
Theorem gauss_moment_exact (v : posreal) (m n : Z) (a : nat) : (2 <= a)%nat ->
  has_sum (fun x => rterm (INR a) (gauss v m x) (gauss v n x))
    (exp (INR a * (INR a - 1) * IZR ((m - n) * (m - n)) / (2 * v))).
Proof.
  intros Ha; pose proof (cond_pos v) as Hv.
  set (k := (Z.of_nat a * m + (1 - Z.of_nat a) * n)%Z).
  set (c := exp (INR a * (INR a - 1) * IZR ((m - n) * (m - n)) / (2 * v))).
  apply (has_sum_ext (fun x => c * gauss v k x)).
  2:{ rewrite <- (Rmult_1_r c) at 1; apply has_sum_scal; [apply exp_pos|apply pmf_sum]. }
  intros x; simpl.
  assert (E : forall j, theta v (cond_pos v) (IZR j) = theta v (cond_pos v) 0)
    by (intros j; rewrite <- (theta_shift v _ 0 j); f_equal; ring).
  rewrite (E k), (E m), (E n); pose proof (theta_pos v (cond_pos v) 0) as T0; set (t0 := theta v (cond_pos v) 0) in *.
  unfold rterm; destruct (Rle_dec _ _) as [N|_].
  { exfalso; assert (0 < / t0 * gw v (IZR m) x) by (apply Rmult_lt_0_compat; [now apply Rinv_0_lt_compat|apply exp_pos]); lra. }
  replace (/ t0 * gw v (IZR m) x / (/ t0 * gw v (IZR n) x)) with (gw v (IZR m) x / gw v (IZR n) x)
    by (field; split; [lra|apply Rgt_not_eq, exp_pos]).
  rewrite (ln_div (gw v (IZR m) x)) by apply exp_pos; unfold gw, c; rewrite !ln_exp.
  rewrite (Rmult_comm (exp _)), (Rmult_assoc (/ t0)), (Rmult_assoc (/ t0)), <- !exp_plus; f_equal; f_equal.
  unfold k; rewrite INR_IZR_INZ, mult_IZR, plus_IZR, !mult_IZR, minus_IZR, (minus_IZR m n); field; lra.
Qed.

(* order 11, sigma^2 = 100, l2^2 <= 2: 11 * 2/200 = 11/100 *)
From Assay.rules Require Import Neighbours.
Example histogram_renyi : renyi_mech replace_one 11 (11 * (2 / (2 * (100 / 1)))) (fun d => gauss_vec (prat 100 1) (histogram d)).
Proof. apply (gauss_vec_renyi _ _ 2 (prat 100 1)); [lra|apply histogram_sens]. Qed.
(* eps = 2, order 11: delta = exp(10 (11/100 - 2)) / 10 * (10/11)^11 *)
Example histogram_renyi_dp : dp_mech replace_one 2 (exp (10 * (11 / 100 - 2)) / 10 * exp (11 * ln (1 - 1 / 11)))
  (fun d => gauss_vec (prat 100 1) (histogram d)).
Proof.
  apply (renyi_mech_dp replace_one _ 11 (11 * (2 / (2 * (100 / 1))))); [apply histogram_renyi|lra|right].
  replace (11 - 1) with 10 by ring; replace (11 * (2 / (2 * (100 / 1))) - 2) with (11 / 100 - 2) by field; reflexivity.
Qed.
