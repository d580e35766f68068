(* zCDP: definition, adaptive composition, tight conversion to (eps,delta)-DP. *)
From Coq Require Import Reals Lra Lia List.
From Assay.base Require Import DP.
Import ListNotations.
Local Open Scope R_scope.

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H| ->]; [left; now apply exp_increasing|right; reflexivity]. Qed.
Lemma ln_div x y : 0 < x -> 0 < y -> ln (x / y) = ln x - ln y.
Proof. intros; unfold Rdiv; rewrite ln_mult, ln_Rinv by auto using Rinv_0_lt_compat; ring. Qed.
Lemma ln_le_sub1 x : 0 < x -> ln x <= x - 1.
Proof.
  intros Hx; rewrite <- (ln_exp (x - 1)); pose proof (exp_ineq1_le (x - 1)) as [H|H].
  - left; apply ln_increasing; lra.
  - rewrite <- H; right; f_equal; lra.
Qed.

(* p^a q^(1-a), written p (p/q)^(a-1); 0 where p = 0 *)
Definition rterm (a p q : R) : R := if Rle_dec p 0 then 0 else p * exp ((a - 1) * ln (p / q)).
Lemma rterm_pow a p q : 0 < p -> 0 < q -> rterm a p q = Rpower p a * Rpower q (1 - a).
Proof.
  intros Hp Hq; unfold rterm, Rpower; destruct (Rle_dec p 0); [lra|].
  rewrite <- (exp_ln p) at 1 by auto; rewrite ln_div by auto; rewrite <- !exp_plus; f_equal; ring.
Qed.
Lemma rterm_ge0 a p q : 0 <= rterm a p q.
Proof. unfold rterm; destruct (Rle_dec p 0); [lra|]; apply Rmult_le_pos; [lra|left; apply exp_pos]. Qed.
Lemma rterm_mul a p q r s : 0 <= p -> 0 <= r -> (0 < p -> 0 < q) -> (0 < r -> 0 < s) ->
  rterm a (p * r) (q * s) = rterm a p q * rterm a r s.
Proof.
  intros Hp Hr Hq Hs; unfold rterm.
  destruct (Rle_dec p 0) as [?|Np]; [replace p with 0 by lra; rewrite Rmult_0_l; destruct (Rle_dec 0 0); lra|].
  destruct (Rle_dec r 0) as [?|Nr]; [replace r with 0 by lra; rewrite !Rmult_0_r; destruct (Rle_dec 0 0); lra|].
  specialize (Hq ltac:(lra)); specialize (Hs ltac:(lra)).
  destruct (Rle_dec (p * r) 0); [nra|].
  replace (p * r / (q * s)) with (p / q * (r / s)) by (field; lra).
  rewrite ln_mult, Rmult_plus_distr_l, exp_plus by (apply Rdiv_lt_0_compat; lra); ring.
Qed.

(* rho-zCDP of the pair (P,Q): D_a(P||Q) <= rho a for every a > 1, i.e.
   sum_x P(x)^a Q(x)^(1-a) <= exp ((a-1) a rho); all finite sums suffice. *)
Definition zcdp {T} (rho : R) (P Q : T -> R) : Prop :=
  (forall x, 0 < P x -> 0 < Q x) /\
  forall a, 1 < a -> forall l, NoDup l ->
    lsum (fun x => rterm a (P x) (Q x)) l <= exp ((a - 1) * (a * rho)).

Lemma zcdp_sum {T} rho (P Q : T -> R) :
  zcdp rho P Q <-> (forall x, 0 < P x -> 0 < Q x) /\
    forall a, 1 < a -> exists s, has_sum (fun x => rterm a (P x) (Q x)) s /\ s <= exp ((a - 1) * (a * rho)).
Proof.
  split; intros [H0 H]; split; auto; intros a Ha.
  - destruct (has_sum_exists (fun x => rterm a (P x) (Q x)) _ (H a Ha)) as [s Hs].
    exists s; split; auto; eapply has_sum_lub; eauto.
  - intros l Hl; destruct (H a Ha) as [s [Hs Hle]]; eapply Rle_trans; [|exact Hle]; eapply has_sum_ub; eauto.
Qed.

(* ---------- adaptive composition: rho adds ---------- *)
Theorem zcdp_compose {T U} (eqd : forall x y : T, {x = y} + {x <> y})
  r1 r2 (P Q : dist T) (K L : T -> dist U) :
  zcdp r1 P Q -> (forall t, zcdp r2 (K t) (L t)) ->
  zcdp (r1 + r2) (joint_dist eqd P K) (joint_dist eqd Q L).
Proof.
  intros [HP0 HP] HK; split.
  - intros [t u] H; simpl in *; unfold joint in *; simpl in *.
    destruct (HK t) as [HK0 _]; pose proof (pmf_ge0 P t); pose proof (pmf_ge0 (K t) u).
    apply Rmult_lt_0_compat; [apply HP0|apply HK0]; nra.
  - intros a Ha l Hl; simpl; unfold joint.
    rewrite (lsum_group eqd (fun t u => rterm a (P t * K t u) (Q t * L t u)) l _ (NoDup_nodup eqd (map fst l)))
      by (intros x; apply nodup_In).
    replace (exp ((a - 1) * (a * (r1 + r2)))) with (exp ((a - 1) * (a * r2)) * exp ((a - 1) * (a * r1)))
      by (rewrite <- exp_plus; f_equal; ring).
    eapply Rle_trans; [|apply Rmult_le_compat_l; [left; apply exp_pos|apply (HP a Ha _ (NoDup_nodup eqd (map fst l)))]].
    rewrite <- lsum_scal; apply lsum_le; intros t _; destruct (HK t) as [HK0 HK1].
    rewrite (lsum_ext _ (fun u => rterm a (P t) (Q t) * rterm a (K t u) (L t u))), lsum_scal.
    + rewrite Rmult_comm; apply Rmult_le_compat_r; [apply rterm_ge0|apply HK1; auto; now apply slice_NoDup].
    + intros u _; apply rterm_mul; auto; apply pmf_ge0.
Qed.

(* ---------- conversion (CKS20, Proposition 12) ---------- *)
Definition conv_c (a : R) : R := exp (a * ln (1 - 1 / a)) / (a - 1).

Lemma one_sub_inv a : 1 < a -> 0 < 1 - 1 / a.
Proof.
  intros Ha; replace (1 - 1 / a) with ((a - 1) / a) by (field; lra); apply Rdiv_lt_0_compat; lra.
Qed.
Lemma amgm a u : 1 < a -> 0 < u -> (1 - u) * exp ((a - 1) * ln u) <= conv_c a.
Proof.
  intros Ha Hu; unfold conv_c.
  assert (Hc : 0 < exp (a * ln (1 - 1 / a)) / (a - 1)) by (apply Rdiv_lt_0_compat; [apply exp_pos|lra]).
  destruct (Rle_dec 1 u) as [|Nu]; [pose proof (exp_pos ((a - 1) * ln u)); nra|].
  assert (Hb := one_sub_inv a Ha); set (b := 1 - 1 / a) in *.
  replace (1 - u) with (exp (ln (1 - u))) by (apply exp_ln; lra).
  replace (exp (a * ln b) / (a - 1)) with (exp (a * ln b - ln (a - 1)))
    by (unfold Rminus at 1; rewrite exp_plus, exp_Ropp, exp_ln by lra; reflexivity).
  rewrite <- exp_plus; apply exp_le.
  assert (H1 : ln ((1 - u) * a) <= (1 - u) * a - 1) by (apply ln_le_sub1; nra).
  assert (H2 : ln (u / b) <= u / b - 1) by (apply ln_le_sub1; now apply Rdiv_lt_0_compat).
  rewrite ln_mult in H1 by lra; rewrite ln_div in H2 by auto.
  assert (H3 : ln (a - 1) = ln a + ln b)
    by (rewrite <- ln_mult by lra; f_equal; unfold b; field; lra).
  assert (H4 : (a - 1) * (u / b) = a * u) by (unfold b; field; lra).
  assert (H5 : (a - 1) * (ln u - ln b) <= a * u - (a - 1)) by nra.
  lra.
Qed.
(* a bound on the moment of order a is all that the conversion needs *)
Lemma rterm_dp {T} a m eps (P Q : T -> R) :
  1 < a -> (forall x, 0 <= P x) -> (forall x, 0 <= Q x) -> (forall x, 0 < P x -> 0 < Q x) ->
  (forall l, NoDup l -> lsum (fun x => rterm a (P x) (Q x)) l <= m) ->
  dp eps (m * exp (- (a - 1) * eps) * (exp (a * ln (1 - 1 / a)) / (a - 1))) P Q.
Proof.
  intros Ha HP HQ H0 H l Hl.
  set (k := conv_c a * exp (- (a - 1) * eps)).
  assert (Hk : 0 < k) by (apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; [|lra]|]; apply exp_pos).
  assert (Hpt : forall x, P x <= exp eps * Q x + k * rterm a (P x) (Q x)).
  { intros x; unfold rterm; destruct (Rle_dec (P x) 0) as [|Np].
    - pose proof (HQ x); pose proof (exp_pos eps); nra.
    - assert (p0 : 0 < P x) by lra; assert (q0 := H0 x p0).
      assert (u0 : 0 < exp eps * Q x / P x)
        by (apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; [apply exp_pos|]|]; auto).
      pose proof (amgm a _ Ha u0) as Hm.
      rewrite ln_div, ln_mult, ln_exp in Hm by (auto using exp_pos, Rmult_lt_0_compat).
      rewrite ln_div by auto.
      set (E := exp ((a - 1) * (eps + ln (Q x) - ln (P x)))) in Hm.
      assert (HE : exp (- (a - 1) * eps) * exp ((a - 1) * (ln (P x) - ln (Q x))) = / E)
        by (unfold E; rewrite <- exp_plus, <- exp_Ropp; f_equal; ring).
      assert (E0 : 0 < E) by apply exp_pos.
      replace (k * (P x * exp ((a - 1) * (ln (P x) - ln (Q x))))) with (P x * (conv_c a * / E)) by (rewrite <- HE; unfold k; ring).
      assert (Hu : 1 - exp eps * Q x / P x <= conv_c a * / E).
      { apply Rmult_le_reg_r with E; auto; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; exact Hm. }
      replace (exp eps * Q x) with (P x * (exp eps * Q x / P x)) by (field; lra); nra. }
  eapply Rle_trans; [apply lsum_le; intros x _; apply Hpt|].
  rewrite lsum_plus, !lsum_scal; apply Rplus_le_compat_l.
  eapply Rle_trans; [apply Rmult_le_compat_l; [lra|apply (H l Hl)]|].
  right; unfold k, conv_c; field; lra.
Qed.
Theorem zcdp_dp {T} rho a eps (P Q : T -> R) :
  1 < a -> (forall x, 0 <= P x) -> (forall x, 0 <= Q x) -> zcdp rho P Q ->
  dp eps (exp ((a - 1) * (a * rho - eps)) / (a - 1) * exp (a * ln (1 - 1 / a))) P Q.
Proof.
  intros Ha HP HQ [H0 H].
  replace (exp ((a - 1) * (a * rho - eps)) / (a - 1) * exp (a * ln (1 - 1 / a)))
    with (exp ((a - 1) * (a * rho)) * exp (- (a - 1) * eps) * (exp (a * ln (1 - 1 / a)) / (a - 1)));
    [apply rterm_dp; auto; intros l Hl; apply (H a Ha l Hl)|].
  replace ((a - 1) * (a * rho - eps)) with ((a - 1) * (a * rho) + - (a - 1) * eps) by ring.
  rewrite exp_plus; field; lra.
Qed.

Lemma dp_weaken {T} e d e' d' (P Q : T -> R) :
  (forall x, 0 <= Q x) -> e <= e' -> d <= d' -> dp e d P Q -> dp e' d' P Q.
Proof.
  intros HQ He Hd H l Hl; eapply Rle_trans; [apply H; auto|].
  apply Rplus_le_compat; auto; apply Rmult_le_compat_r; [apply lsum_ge0; auto|now apply exp_le].
Qed.
(* classical form: eps = rho + 2 sqrt (rho ln (1/delta)) *)
Corollary zcdp_dp_simple {T} rho delta (P Q : T -> R) :
  0 < rho -> 0 < delta < 1 -> (forall x, 0 <= P x) -> (forall x, 0 <= Q x) -> zcdp rho P Q ->
  dp (rho + 2 * sqrt (rho * ln (1 / delta))) delta P Q.
Proof.
  intros Hr Hd HP HQ H.
  assert (HL : 0 < ln (1 / delta)).
  { rewrite <- ln_1; apply ln_increasing; [lra|]; apply Rmult_lt_reg_r with delta; [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
  set (L := ln (1 / delta)) in *; set (b := sqrt (L / rho)).
  assert (Hb : 0 < b) by (apply sqrt_lt_R0, Rdiv_lt_0_compat; lra).
  assert (Hbb : b * b = L / rho) by (apply sqrt_sqrt; left; apply Rdiv_lt_0_compat; lra).
  assert (HbL : rho * (b * b) = L) by (rewrite Hbb; field; lra).
  assert (Hs : sqrt (rho * L) = rho * b).
  { rewrite <- (sqrt_square (rho * b)) by nra; f_equal; rewrite <- HbL; ring. }
  assert (Ha : 1 < 1 + b) by lra.
  apply (dp_weaken (rho + 2 * sqrt (rho * L)) (exp (((1 + b) - 1) * ((1 + b) * rho - (rho + 2 * sqrt (rho * L)))) / ((1 + b) - 1) * exp ((1 + b) * ln (1 - 1 / (1 + b))))); auto; [lra| |now apply zcdp_dp].
  rewrite Hs.
  replace (((1 + b) - 1) * ((1 + b) * rho - (rho + 2 * (rho * b)))) with (- L) by (rewrite <- HbL; ring).
  assert (HE : exp (- L) = delta).
  { rewrite exp_Ropp; unfold L; rewrite exp_ln by (apply Rdiv_lt_0_compat; lra); field; lra. }
  rewrite HE.
  (* (1-1/a)^a / (a-1) <= 1: take u = 1 - 1/a in x <= exp *)
  assert (Hb1 := one_sub_inv (1 + b) Ha); set (v := 1 - 1 / (1 + b)) in *.
  assert (Hv : v = b / (1 + b)) by (unfold v; field; lra).
  assert (Hln : ln v <= 0) by (pose proof (ln_le_sub1 v Hb1); assert (0 < 1 / (1 + b)) by (apply Rdiv_lt_0_compat; lra); unfold v in *; lra).
  assert (exp ((1 + b) * ln v) <= v) by (rewrite <- (exp_ln v) at 2 by auto; apply exp_le; nra).
  assert (v <= b) by (rewrite Hv; apply Rmult_le_reg_r with (1 + b); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra).
  replace ((1 + b) - 1) with b by ring.
  apply Rmult_le_reg_r with b; auto.
  replace (delta / b * exp ((1 + b) * ln v) * b) with (delta * exp ((1 + b) * ln v)) by (field; lra); nra.
Qed.
