(* Bounded range: the privacy loss lies in an interval of length eta, wherever it is.
   Then the mechanism is (eta^2/8)-zCDP; an eps-DP exponential mechanism has range eps
   and so costs eps^2/8, a quarter of what pure DP alone gives. *)
From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi PureToZCDP.
Import ListNotations.
Local Open Scope R_scope.

Definition bounded_range {T} (eta : R) (P Q : T -> R) : Prop :=
  exists t, forall x, exp t * Q x <= P x <= exp (t + eta) * Q x.

(* ---------- two-point tilt: Hoeffding's lemma with K(-1) = K(0) = 0 ---------- *)
Section Tilt.
Variables (p t eta : R).
Hypothesis (Hp : 0 <= p <= 1).
Let m (s : R) : R := 1 - p + p * exp (s * eta).
Lemma m_pos s : 0 < m s.
Proof.
  unfold m; pose proof (exp_pos (s * eta)); destruct (Rle_dec p (1 / 2)); nra.
Qed.
Let w (s : R) : R := p * exp (s * eta) / m s.
Lemma w_slope s : is_derive w s (eta * (w s * (1 - w s))).
Proof.
  pose proof (m_pos s) as Hm; unfold w, m in *; auto_derive; [lra|].
  field; lra.
Qed.
(* g = s(s+1) eta^2/8 - (s t + ln m(s)) *)
Let g (s : R) : R := s * (s + 1) * (eta * eta) / 8 - (s * t + ln (m s)).
Let dg (s : R) : R := (2 * s + 1) * (eta * eta) / 8 - t - eta * w s.
Lemma g_slope s : is_derive g s (dg s).
Proof.
  pose proof (m_pos s) as Hm; unfold g, dg, w, m in *; auto_derive; [lra|]; field; lra.
Qed.
Lemma dg_mono x y : x <= y -> dg x <= dg y.
Proof.
  intros Hxy; apply (mono_from_derive dg (fun s => eta * eta / 4 - eta * (eta * (w s * (1 - w s))))); auto.
  - intros z; pose proof (w_slope z) as Hw; unfold dg.
    assert (D : is_derive (fun s => (2 * s + 1) * (eta * eta) / 8 - t) z (eta * eta / 4)) by (auto_derive; auto; field).
    apply (is_derive_minus (fun s => (2 * s + 1) * (eta * eta) / 8 - t) (fun s => eta * w s) z); auto.
    apply (is_derive_scal w z eta); auto.
  - intros z _; assert (w z * (1 - w z) <= 1 / 4) by (pose proof (Rle_0_sqr (w z - 1 / 2)) as Q; unfold Rsqr in Q; lra).
    assert (0 <= eta * eta) by nra; nra.
Qed.
Lemma tilt s : - t + ln (m (- 1)) = 0 -> 0 <= s -> s * t + ln (m s) <= s * (s + 1) * (eta * eta) / 8.
Proof.
  intros H1 Hs; enough (0 <= g s) by (unfold g in *; lra).
  assert (G1 : g (- 1) = 0) by (unfold g; lra).
  assert (G0 : g 0 = 0).
  { unfold g, m; rewrite !Rmult_0_l, exp_0; replace (1 - p + p * 1) with 1 by ring; rewrite ln_1; lra. }
  destruct (MVT_gen g (- 1) 0 dg) as [c [Hc E]].
  - intros z _; apply g_slope.
  - intros z _; apply continuity_pt_filterlim, (ex_derive_continuous g); eexists; apply g_slope.
  - rewrite Rmin_left, Rmax_right in Hc by lra.
    assert (dg c = 0) by lra.
    rewrite <- G0; apply (mono_from_derive g dg); auto; [apply g_slope|].
    intros z Hz; rewrite <- H; apply dg_mono; lra.
Qed.
End Tilt.

Section Range.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).
Lemma range_zcdp eta (P Q : dist T) : 0 <= eta -> bounded_range eta P Q -> zcdp (eta ^ 2 / 8) P Q.
Proof.
  intros He [t Ht].
  assert (AC : forall x, 0 < P x -> 0 < Q x).
  { intros x Hx; destruct (pmf_ge0 Q x) as [|E]; auto; destruct (Ht x) as [_ H]; rewrite <- E in H; lra. }
  split; auto; intros a Ha l Hl.
  (* t <= 0 <= t + eta *)
  assert (S1 : exp t <= 1).
  { pose proof (has_sum_scal Q (exp t) 1 (exp_pos t) (pmf_sum Q)) as S; rewrite Rmult_1_r in S.
    apply (has_sum_le _ _ _ _ S (pmf_sum P)); intros x; apply Ht. }
  assert (S2 : 1 <= exp (t + eta)).
  { pose proof (has_sum_scal Q (exp (t + eta)) 1 (exp_pos _) (pmf_sum Q)) as S; rewrite Rmult_1_r in S.
    apply (has_sum_le _ _ _ _ (pmf_sum P) S); intros x; apply Ht. }
  set (A := exp t) in *; set (B := exp (t + eta)) in *.
  assert (A0 : 0 < A) by apply exp_pos.
  destruct (Rle_dec B A) as [Eq|Ne].
  { assert (A = 1) by lra; assert (B = 1) by lra.
    rewrite (lsum_ext _ P).
    - eapply Rle_trans; [apply (has_sum_ub _ _ _ (pmf_sum P) Hl)|]; rewrite <- exp_0; apply exp_le.
      assert (0 <= eta ^ 2) by apply pow2_ge_0.
      apply Rmult_le_pos; [rewrite exp_0; lra|apply Rmult_le_pos; lra].
    - intros x _; destruct (Ht x) as [H1 H2]; rewrite H, H0 in *.
      replace (Q x) with (P x) by lra; apply rterm_diag, pmf_ge0. }
  assert (HAB : 0 < B - A) by lra.
  (* chord of x^a between A and B *)
  set (ya := exp (a * t)); set (yb := exp (a * (t + eta))).
  assert (Hya : 0 < ya) by apply exp_pos; assert (Hyb : ya <= yb) by (apply exp_le; nra).
  set (al := (yb - ya) / (B - A)); set (be := (A * yb - B * ya) / (B - A)).
  assert (RE : forall s, rterm a (exp s) 1 = exp (a * s)).
  { intros s; unfold rterm; destruct (Rle_dec (exp s) 0) as [N|_]; [pose proof (exp_pos s); lra|].
    unfold Rdiv; rewrite Rinv_1, Rmult_1_r, ln_exp, <- exp_plus; f_equal; ring. }
  assert (Hpt : forall x, rterm a (P x) (Q x) <= al * P x - be * Q x).
  { intros x; destruct (Ht x) as [H1 H2]; destruct (pmf_ge0 Q x) as [Hq|Hq].
    2:{ rewrite <- Hq in *; replace (P x) with 0 by lra; unfold rterm; destruct (Rle_dec 0 0); lra. }
    set (z := P x / Q x); assert (Hz : P x = z * Q x) by (unfold z; field; lra).
    assert (Z1 : A <= z) by (apply Rmult_le_reg_r with (Q x); lra).
    assert (Z2 : z <= B) by (apply Rmult_le_reg_r with (Q x); lra).
    set (u := (z - A) / (B - A)).
    assert (Hu0 : u * (B - A) = z - A) by (unfold u; field; lra).
    assert (Hu : 0 <= u <= 1) by (split; nra).
    pose proof (rterm_mix a u A B 1 1 Ha Hu ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as C.
    replace ((1 - u) * A + u * B) with z in C by lra; replace ((1 - u) * 1 + u * 1) with 1 in C by ring.
    unfold A, B in C; rewrite !RE in C; fold A B ya yb in C.
    replace (rterm a (P x) (Q x)) with (rterm a z 1 * Q x).
    2:{ rewrite <- rterm_scal by lra; f_equal; lra. }
    apply (Rmult_le_compat_r (Q x)) in C; [|lra]; eapply Rle_trans; [exact C|right].
    rewrite Hz; unfold al, be, u; field; lra. }
  assert (Hal : 0 <= al) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
  assert (Hbe : 0 <= be).
  { apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat].
    unfold A, B, ya, yb; rewrite <- !exp_plus.
    enough (exp (t + eta + a * t) <= exp (t + a * (t + eta))) by lra; apply exp_le; nra. }
  eapply Rle_trans; [apply lsum_le; intros x _; apply Hpt|].
  eapply Rle_trans; [apply (lsum_affine eqd); auto; intros x|].
  { eapply Rle_trans; [apply (rterm_ge0 a (P x) (Q x))|apply Hpt]. }
  (* al - be = E_P e^((a-1) L) for the two-point loss *)
  set (p := B * (1 - A) / (B - A)).
  assert (Hp : 0 <= p <= 1).
  { split; [apply Rmult_le_pos; [nra|left; now apply Rinv_0_lt_compat]|].
    apply Rmult_le_reg_r with (B - A); auto; unfold p; replace (B * (1 - A) / (B - A) * (B - A)) with (B * (1 - A)) by (field; lra); nra. }
  assert (EB : B = A * exp eta) by (unfold A, B; apply exp_plus).
  assert (Hp1 : 1 - p = A * (B - 1) / (B - A)) by (unfold p; field; lra).
  assert (Hm : forall s, 0 < 1 - p + p * exp (s * eta)) by (intros s; apply (m_pos p eta); auto).
  assert (H1 : - t + ln (1 - p + p * exp (- 1 * eta)) = 0).
  { replace (1 - p + p * exp (- 1 * eta)) with A; [unfold A; rewrite ln_exp; ring|].
    rewrite Hp1; unfold p; replace (exp (- 1 * eta)) with (A / B).
    - field; lra.
    - unfold A, B; unfold Rdiv; rewrite <- exp_Ropp, <- exp_plus; f_equal; ring. }
  pose proof (tilt p t eta Hp (a - 1) H1 ltac:(lra)) as K.
  replace (al - be) with (exp ((a - 1) * t + ln (1 - p + p * exp ((a - 1) * eta)))).
  - apply exp_le; eapply Rle_trans; [exact K|right; field].
  - rewrite exp_plus, exp_ln by apply Hm; rewrite Hp1; unfold p, al, be, ya, yb.
    replace (exp (a * t)) with (exp ((a - 1) * t) * A) by (unfold A; rewrite <- exp_plus; f_equal; ring).
    replace (exp (a * (t + eta))) with (exp ((a - 1) * t) * exp ((a - 1) * eta) * B)
      by (unfold B; rewrite <- !exp_plus; f_equal; ring).
    field; lra.
Qed.
End Range.

(** @theorem bounded-range-zcdp
    For all neighbours d, d' there is a t such that the ratio of the output probabilities
    lies between e^t and e^(t + eta), for every output. Then M is (eta^2 / 8)-zCDP for adj. *)
Theorem range_mech_zcdp {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop) (M : D -> dist T) eta :
  0 <= eta -> (forall d d', adj d d' -> bounded_range eta (M d) (M d')) -> zcdp_mech adj (eta ^ 2 / 8) M.
Proof. intros He H d d' A; apply range_zcdp; auto. Qed.

(** @theorem exponential-range
    Two distributions proportional to exp(u) and exp(v), where |u - v| <= delta for every
    output, have range 2 delta; so the exponential mechanism with exponent eps u / (2 Delta)
    and utility sensitivity Delta has range eps and is (eps^2 / 8)-zCDP. *)
Theorem exponential_range {T} (P Q : dist T) (u v : T -> R) (Zu Zv delta : R) : 0 < Zu -> 0 < Zv ->
  (forall x, P x = exp (u x) / Zu) -> (forall x, Q x = exp (v x) / Zv) ->
  (forall x, Rabs (u x - v x) <= delta) -> bounded_range (2 * delta) P Q.
Proof.
  intros HU HV HP HQ H; exists (ln (Zv / Zu) - delta); intros x; rewrite HP, HQ.
  assert (HZ : exp (ln (Zv / Zu)) = Zv / Zu) by (apply exp_ln, Rdiv_lt_0_compat; auto).
  specialize (H x); apply Rabs_def2b in H || apply Rabs_le_between in H.
  assert (E : forall s, exp (ln (Zv / Zu) + s) * (exp (v x) / Zv) = exp (v x + s) / Zu).
  { intros s; rewrite exp_plus, HZ, exp_plus; field; lra. }
  replace (ln (Zv / Zu) - delta) with (ln (Zv / Zu) + - delta) by ring.
  replace (ln (Zv / Zu) + - delta + 2 * delta) with (ln (Zv / Zu) + delta) by ring.
  rewrite !E; assert (0 < / Zu) by now apply Rinv_0_lt_compat.
  split; apply Rmult_le_compat_r; try lra; apply exp_le; lra.
Qed.

(* a fair coin against a 3/4 coin has range ln 3: rho = (ln 3)^2 / 8 *)
Lemma q34 : 0 <= 3 / 4 <= 1. Proof. lra. Qed.
Lemma q12 : 0 <= 1 / 2 <= 1. Proof. lra. Qed.
Example coins_range : zcdp (ln 3 ^ 2 / 8) (coin_dist (3 / 4) q34) (coin_dist (1 / 2) q12).
Proof.
  apply (range_zcdp Bool.bool_dec).
  - rewrite <- ln_1; left; apply ln_increasing; lra.
  - exists (ln (1 / 2)); intros [|]; rewrite <- ln_mult, !exp_ln by lra; simpl; lra.
Qed.
