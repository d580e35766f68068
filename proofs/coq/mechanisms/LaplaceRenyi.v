(* Renyi divergence of Laplace noise at one order a > 1 (Mironov's formula), for the
   continuous variable rounded to the integers, and for l1 vectors of it. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi.
From Assay.mechanisms Require Import Laplace Rounded.
Import ListNotations.
Local Open Scope R_scope.

(* exp((a-1) D_a) of two Laplace distributions of scale 1 at distance x >= 0 *)
Definition lapM (a x : R) : R := (a * exp ((a - 1) * x) + (a - 1) * exp (- (a * x))) / (2 * a - 1).
Lemma lapM_0 a : 1 < a -> lapM a 0 = 1.
Proof. intros Ha; unfold lapM; rewrite !Rmult_0_r, Ropp_0, exp_0; field; lra. Qed.
Lemma lapM_pos a x : 1 < a -> 0 < lapM a x.
Proof.
  intros Ha; unfold lapM; pose proof (exp_pos ((a - 1) * x)); pose proof (exp_pos (- (a * x))).
  apply Rdiv_lt_0_compat; [nra|lra].
Qed.
Lemma lapM_mono a x y : 1 < a -> 0 <= x <= y -> lapM a x <= lapM a y.
Proof.
  intros Ha Hx; unfold lapM; apply div_le; [lra|].
  set (h := y - x); assert (Hh : 0 <= h) by (unfold h; lra).
  replace ((a - 1) * y) with ((a - 1) * x + (a - 1) * h) by (unfold h; ring).
  replace (- (a * y)) with (- (a * x) + - (a * h)) by (unfold h; ring); rewrite !exp_plus.
  pose proof (exp_ineq1_le ((a - 1) * h)) as E1; pose proof (exp_ineq1_le (- (a * h))) as E2.
  assert (G1 : 1 <= exp ((a - 1) * x)) by (rewrite <- exp_0 at 1; apply exp_le, Rmult_le_pos; lra).
  assert (G2 : exp (- (a * x)) <= 1) by (rewrite <- exp_0; apply exp_le; assert (0 <= a * x) by (apply Rmult_le_pos; lra); lra).
  pose proof (exp_pos (- (a * x))) as P2.
  assert (H1 : a * ((a - 1) * h) <= a * (exp ((a - 1) * x) * (exp ((a - 1) * h) - 1))).
  { apply Rmult_le_compat_l; [lra|]; assert (0 <= (a - 1) * h) by (apply Rmult_le_pos; lra).
    apply Rle_trans with (1 * (exp ((a - 1) * h) - 1)); [lra|apply Rmult_le_compat_r; lra]. }
  assert (H2 : exp (- (a * x)) * (1 - exp (- (a * h))) <= a * h).
  { assert (0 <= a * h) by (apply Rmult_le_pos; lra); assert (exp (- (a * h)) <= 1) by (rewrite <- exp_0; apply exp_le; lra).
    apply Rle_trans with (1 * (1 - exp (- (a * h)))); [apply Rmult_le_compat_r; lra|lra]. }
  apply (Rmult_le_compat_l (a - 1)) in H2; [|lra].
  replace (a * ((a - 1) * h)) with ((a - 1) * (a * h)) in H1 by ring; lra.
Qed.
Lemma lapM_mul a x y : 1 < a -> 0 <= x -> 0 <= y -> lapM a x * lapM a y <= lapM a (x + y).
Proof.
  intros Ha Hx Hy; unfold lapM.
  replace ((a - 1) * (x + y)) with ((a - 1) * x + (a - 1) * y) by ring.
  replace (- (a * (x + y))) with (- (a * x) + - (a * y)) by ring; rewrite !exp_plus.
  set (A := exp ((a - 1) * x)); set (B := exp (- (a * x))); set (C := exp ((a - 1) * y)); set (E := exp (- (a * y))).
  assert (HB : B <= A) by (apply exp_le; nra); assert (HE : E <= C) by (apply exp_le; nra).
  assert (H : 0 <= a * (a - 1) * ((A - B) * (C - E))) by (apply Rmult_le_pos; [nra|apply Rmult_le_pos; lra]).
  apply Rmult_le_reg_r with ((2 * a - 1) * (2 * a - 1)); [nra|].
  replace ((a * A + (a - 1) * B) / (2 * a - 1) * ((a * C + (a - 1) * E) / (2 * a - 1)) * ((2 * a - 1) * (2 * a - 1)))
    with ((a * A + (a - 1) * B) * (a * C + (a - 1) * E)) by (field; lra).
  replace ((a * (A * C) + (a - 1) * (B * E)) / (2 * a - 1) * ((2 * a - 1) * (2 * a - 1)))
    with ((a * (A * C) + (a - 1) * (B * E)) * (2 * a - 1)) by (field; lra).
  nra.
Qed.

(* Hoelder on one interval *)
Lemma holder_interval a A B p q w P Q W : 1 < a -> A <= B -> (forall x, 0 < p x) -> (forall x, 0 < q x) -> 0 < P -> 0 < Q ->
  is_RInt p A B P -> is_RInt q A B Q -> is_RInt w A B W ->
  (forall x, p x * exp ((a - 1) * ln (p x / q x)) <= w x) -> rterm a P Q <= W.
Proof.
  intros Ha HAB Hp Hq HP HQ IP IQ IW H; set (r := exp ((a - 1) * ln (P / Q))).
  replace (rterm a P Q) with (a * r * P - (a - 1) * (r * (P / Q)) * Q)
    by (unfold rterm; destruct (Rle_dec P 0); [lra|]; fold r; field; lra).
  apply (is_RInt_le (fun x => a * r * p x - (a - 1) * (r * (P / Q)) * q x) w A B); auto.
  - apply (is_RInt_minus (fun x => a * r * p x) (fun x => (a - 1) * (r * (P / Q)) * q x)).
    + exact (is_RInt_scal _ _ _ (a * r) _ IP).
    + exact (is_RInt_scal _ _ _ ((a - 1) * (r * (P / Q))) _ IQ).
  - intros x _; eapply Rle_trans; [|apply H]; apply rterm_tangent_line; auto.
Qed.
Lemma exp_lin_int al be l r : be <> 0 ->
  is_RInt (fun x => exp (al + be * x)) l r ((exp (al + be * r) - exp (al + be * l)) / be).
Proof.
  intros Hb; replace ((exp (al + be * r) - exp (al + be * l)) / be)
    with (minus (/ be * exp (al + be * r)) (/ be * exp (al + be * l))) by (unfold minus, plus, opp; simpl; field; auto).
  apply (is_RInt_derive (fun x => / be * exp (al + be * x)) (fun x => exp (al + be * x))); intros x _.
  - auto_derive; [auto|field; auto].
  - apply (ex_derive_continuous (fun x => exp (al + be * x))); auto_derive; auto.
Qed.

Section Order.
Variable b : posreal.
Variable a : R.
Hypothesis Ha : 1 < a.
Variables mu nu : R.
(* p^a q^(1-a) for the densities p, q at mu, nu, without the factor 1/(2b) *)
Definition mix (x : R) : R := exp (- (a * Rabs (x - mu) - (a - 1) * Rabs (x - nu)) / b).
Lemma mix_pos x : 0 < mix x. Proof using Type. apply exp_pos. Qed.
Lemma mix_cont x : continuous mix x.
Proof using Type.
  unfold mix; apply (continuous_comp (fun x => - (a * Rabs (x - mu) - (a - 1) * Rabs (x - nu)) / b) exp);
    [|apply continuity_pt_filterlim, derivable_continuous_pt, derivable_pt_exp].
  assert (C : forall c, continuous (fun x => Rabs (x - c)) x).
  { intros c; apply (continuous_comp (fun x => x - c) Rabs); [|apply continuous_Rabs].
    apply (ex_derive_continuous (fun x => x - c)); auto_derive; auto. }
  apply (continuous_mult (fun x => - (a * Rabs (x - mu) - (a - 1) * Rabs (x - nu))) (fun _ => / b)); [|apply continuous_const].
  apply (continuous_opp (fun x => a * Rabs (x - mu) - (a - 1) * Rabs (x - nu))).
  apply (continuous_minus (fun x => a * Rabs (x - mu)) (fun x => (a - 1) * Rabs (x - nu))).
  - apply (continuous_scal_r a (fun x => Rabs (x - mu))), C.
  - apply (continuous_scal_r (a - 1) (fun x => Rabs (x - nu))), C.
Qed.
(* on a piece where the exponent is linear *)
Lemma piece al be l r : be <> 0 -> l <= r ->
  (forall x, l < x < r -> - (a * Rabs (x - mu) - (a - 1) * Rabs (x - nu)) / b = al + be * x) ->
  RInt mix l r = (exp (al + be * r) - exp (al + be * l)) / be.
Proof using Type.
  intros Hb Hlr H; apply is_RInt_unique, (is_RInt_ext (fun x => exp (al + be * x))); [|now apply exp_lin_int].
  intros x; rewrite Rmin_left, Rmax_right by lra; intros Hx; unfold mix; rewrite H; auto.
Qed.
Lemma mix_total A B : A <= B -> RInt mix A B <= 2 * b * lapM a (Rabs (mu - nu) / b).
Proof using Ha.
  intros HAB; pose proof (cond_pos b) as Hb; assert (Hb' : 0 < / b) by now apply Rinv_0_lt_compat.
  assert (H2a : 0 < 2 * a - 1) by lra.
  set (lo := Rmin mu nu); set (hi := Rmax mu nu); set (A' := Rmin A lo); set (B' := Rmax B hi).
  assert (L : A' <= A /\ A' <= lo) by (unfold A'; split; [apply Rmin_l|apply Rmin_r]).
  assert (U : B <= B' /\ hi <= B') by (unfold B'; split; [apply Rmax_l|apply Rmax_r]).
  eapply Rle_trans; [apply (g_sub mix mix_pos mix_cont A B A' B'); lra|].
  assert (M : lo <= hi) by (unfold lo, hi, Rmin, Rmax; destruct (Rle_dec mu nu); lra).
  rewrite <- (g_chasles mix mix_cont A' lo B'), <- (g_chasles mix mix_cont lo hi B').
  destruct (Rle_dec nu mu) as [C|C].
  - replace lo with nu in * by (unfold lo; rewrite Rmin_right; lra).
    replace hi with mu in * by (unfold hi; rewrite Rmax_left; lra).
    rewrite (Rabs_pos_eq (mu - nu)) by lra.
    rewrite (piece ((- a * mu + (a - 1) * nu) / b) (/ b) A' nu), (piece (- (a * mu + (a - 1) * nu) / b) ((2 * a - 1) / b) nu mu),
      (piece ((a * mu - (a - 1) * nu) / b) (- / b) mu B'); try lra;
      try (apply Rgt_not_eq, Rdiv_lt_0_compat; lra);
      try (intros x Hx; unfold Rabs; destruct (Rcase_abs (x - mu)), (Rcase_abs (x - nu)); try lra; field; lra).
    set (P1 := exp ((- a * mu + (a - 1) * nu) / b + / b * A')); set (P2 := exp ((a * mu - (a - 1) * nu) / b + - / b * B')).
    assert (0 < P1) by apply exp_pos; assert (0 < P2) by apply exp_pos; unfold lapM.
    replace ((- a * mu + (a - 1) * nu) / b + / b * nu) with (- (a * ((mu - nu) / b))) by (field; lra).
    replace (- (a * mu + (a - 1) * nu) / b + (2 * a - 1) / b * mu) with ((a - 1) * ((mu - nu) / b)) by (field; lra).
    replace (- (a * mu + (a - 1) * nu) / b + (2 * a - 1) / b * nu) with (- (a * ((mu - nu) / b))) by (field; lra).
    replace ((a * mu - (a - 1) * nu) / b + - / b * mu) with ((a - 1) * ((mu - nu) / b)) by (field; lra).
    set (X := exp ((a - 1) * ((mu - nu) / b))); set (Y := exp (- (a * ((mu - nu) / b)))).
    replace (2 * b * ((a * X + (a - 1) * Y) / (2 * a - 1))) with (b * Y + ((X - Y) * (b / (2 * a - 1)) + b * X)) by (field; lra).
    replace ((Y - P1) / / b) with (b * Y - b * P1) by (field; lra).
    replace ((X - Y) / ((2 * a - 1) / b)) with ((X - Y) * (b / (2 * a - 1))) by (field; lra).
    replace ((P2 - X) / - / b) with (b * X - b * P2) by (field; lra); nra.
  - replace lo with mu in * by (unfold lo; rewrite Rmin_left; lra).
    replace hi with nu in * by (unfold hi; rewrite Rmax_right; lra).
    rewrite (Rabs_left (mu - nu)) by lra.
    rewrite (piece ((- a * mu + (a - 1) * nu) / b) (/ b) A' mu), (piece ((a * mu + (a - 1) * nu) / b) (- ((2 * a - 1) / b)) mu nu),
      (piece ((a * mu - (a - 1) * nu) / b) (- / b) nu B'); try lra;
      try (apply Rlt_not_eq, Ropp_lt_gt_0_contravar, Rdiv_lt_0_compat; lra);
      try (intros x Hx; unfold Rabs; destruct (Rcase_abs (x - mu)), (Rcase_abs (x - nu)); try lra; field; lra).
    set (P1 := exp ((- a * mu + (a - 1) * nu) / b + / b * A')); set (P2 := exp ((a * mu - (a - 1) * nu) / b + - / b * B')).
    assert (0 < P1) by apply exp_pos; assert (0 < P2) by apply exp_pos; unfold lapM.
    replace ((- a * mu + (a - 1) * nu) / b + / b * mu) with ((a - 1) * (- (mu - nu) / b)) by (field; lra).
    replace ((a * mu + (a - 1) * nu) / b + - ((2 * a - 1) / b) * nu) with (- (a * (- (mu - nu) / b))) by (field; lra).
    replace ((a * mu + (a - 1) * nu) / b + - ((2 * a - 1) / b) * mu) with ((a - 1) * (- (mu - nu) / b)) by (field; lra).
    replace ((a * mu - (a - 1) * nu) / b + - / b * nu) with (- (a * (- (mu - nu) / b))) by (field; lra).
    set (X := exp ((a - 1) * (- (mu - nu) / b))); set (Y := exp (- (a * (- (mu - nu) / b)))).
    replace (2 * b * ((a * X + (a - 1) * Y) / (2 * a - 1))) with (b * X + ((X - Y) * (b / (2 * a - 1)) + b * Y)) by (field; lra).
    replace ((X - P1) / / b) with (b * X - b * P1) by (field; lra).
    replace ((Y - X) / - ((2 * a - 1) / b)) with ((X - Y) * (b / (2 * a - 1))) by (field; lra).
    replace ((P2 - Y) / - / b) with (b * Y - b * P2) by (field; lra); nra.
Qed.
Lemma lap_cell_is m k : is_RInt (fun x => lapd b (x + - m)) (IZR k - / 2) (IZR k + / 2) (cell (lapd b) m k).
Proof using Type.
  unfold cell; change (IZR k - / 2 - m) with (IZR k - / 2 + - m); change (IZR k + / 2 - m) with (IZR k + / 2 + - m).
  rewrite <- (RInt_shift (lapd b) (lapd_cont b)).
  apply (RInt_correct (fun x => lapd b (x + - m))), (ex_RInt_continuous (V := R_CompleteNormedModule)); intros; apply shift_cont, lapd_cont.
Qed.
Lemma lap_cell_holder k : rterm a (cell (lapd b) mu k) (cell (lapd b) nu k) <= cell mix 0 k.
Proof using Ha.
  apply (holder_interval a (IZR k - / 2) (IZR k + / 2) (fun x => lapd b (x + - mu)) (fun x => lapd b (x + - nu)) mix
    (cell (lapd b) mu k) (cell (lapd b) nu k) (cell mix 0 k));
    [exact Ha|lra|intros x; apply lapd_pos|intros x; apply lapd_pos| | |apply lap_cell_is|apply lap_cell_is| |].
  - apply cell_pos; [apply lapd_pos|apply lapd_cont].
  - apply cell_pos; [apply lapd_pos|apply lapd_cont].
  - unfold cell; rewrite !Rminus_0_r; apply (RInt_correct mix), g_int, mix_cont.
  - intros x; right; rewrite ln_div by apply lapd_pos; unfold lapd, mix; rewrite !ln_exp, <- exp_plus; f_equal.
    change (x + - mu) with (x - mu); change (x + - nu) with (x - nu).
    generalize (Rabs (x - mu)) (Rabs (x - nu)); intros r1 r2; pose proof (cond_pos b); field; lra.
Qed.
Lemma rounded_laplace_moment : moment a (lapM a (Rabs (mu - nu) / b)) (rounded_laplace b mu) (rounded_laplace b nu).
Proof using Ha.
  pose proof (cond_pos b) as Hb; assert (Z1 : 0 < / (2 * b)) by (apply Rinv_0_lt_compat; lra); split.
  - intros k _; simpl; apply Rmult_lt_0_compat; auto; apply cell_pos; [apply lapd_pos|apply lapd_cont].
  - intros l Hl; destruct (zr_cover l) as [n Hn].
    apply Rle_trans with (lsum (fun k => / (2 * b) * cell mix 0 k) l).
    + apply lsum_le; intros k _; simpl.
      assert (HP := cell_pos (lapd b) (lapd_pos b) (lapd_cont b) mu k); assert (HQ := cell_pos (lapd b) (lapd_pos b) (lapd_cont b) nu k).
      rewrite (Rmult_comm _ (cell (lapd b) mu k)), (Rmult_comm _ (cell (lapd b) nu k)), rterm_mul, rterm_diag by (auto; lra).
      pose proof (lap_cell_holder k); nra.
    + rewrite lsum_scal.
      assert (S : lsum (cell mix 0) l <= 2 * b * lapM a (Rabs (mu - nu) / b)).
      { eapply Rle_trans; [apply (lsum_incl _ _ (zr n)); auto; intros; left; apply cell_pos; [apply mix_pos|apply mix_cont]|].
        rewrite (cell_zr mix mix_cont); apply mix_total; pose proof (pos_INR n); lra. }
      apply Rle_trans with (/ (2 * b) * (2 * b * lapM a (Rabs (mu - nu) / b))); [|right; field; lra].
      apply Rmult_le_compat_l; lra.
Qed.
End Order.

Lemma lapM_renyi a m : 1 < a -> 0 < m -> exp ((a - 1) * (ln m / (a - 1))) = m.
Proof. intros Ha Hm; replace ((a - 1) * (ln m / (a - 1))) with (ln m) by (field; lra); now apply exp_ln. Qed.

(** @theorem laplace-renyi
    A real vector query with a public number of coordinates and l1 sensitivity at most
    Delta. Adding independent continuous Laplace noise of scale b to each coordinate and
    rounding each to the nearest integer has Renyi divergence of order a > 1 at most
    ln((a e^((a-1) Delta/b) + (a-1) e^(-a Delta/b)) / (2a-1)) / (a-1) for adj. *)
Theorem rounded_laplace_renyi {D} (adj : D -> D -> Prop) (f : D -> list R) Delta (b : posreal) a : 1 < a ->
  (forall d d', adj d d' -> length (f d) = length (f d') /\ rl1 (f d) (f d') <= Delta) ->
  renyi_mech adj a (ln (lapM a (Delta / b)) / (a - 1)) (fun d => rounded_vec (rounded_laplace b) (f d)).
Proof.
  intros Ha Hf d d' A; destruct (Hf d d' A) as [E H]; pose proof (cond_pos b) as Hb.
  unfold renyi; rewrite lapM_renyi by (auto; now apply lapM_pos).
  assert (P : forall x y, 0 <= rl1 x y).
  { intros x; induction x as [|u x IH]; intros [|v y]; unfold rl1, rsum_vec in *; simpl; try lra.
    pose proof (Rabs_pos (u - v)); specialize (IH y); lra. }
  apply (moment_weaken a (lapM a (rl1 (f d) (f d') / b))).
  { apply lapM_mono; auto; split; [|now apply div_le].
    apply Rmult_le_pos; [apply P|left; now apply Rinv_0_lt_compat]. }
  clear H A; revert E; generalize (f d) (f d'); induction l as [|x l IH]; intros [|y l'] E; try discriminate.
  - unfold rl1, rsum_vec; simpl; unfold Rdiv; rewrite Rmult_0_l, lapM_0 by auto; apply (moment_refl a (dret (leqd Z.eq_dec) [])).
  - change (rl1 (x :: l) (y :: l')) with (Rabs (x - y) + rl1 l l'); rewrite Rdiv_plus_distr.
    assert (H1 : 0 <= Rabs (x - y) / b) by (apply Rmult_le_pos; [apply Rabs_pos|left; now apply Rinv_0_lt_compat]).
    assert (H2 : 0 <= rl1 l l' / b) by (apply Rmult_le_pos; [apply P|left; now apply Rinv_0_lt_compat]).
    eapply moment_weaken; [apply lapM_mul; auto|].
    apply (cons_moment_joint Z.eq_dec a _ (rounded_laplace b x) (rounded_laplace b y)), moment_joint;
      [left; now apply lapM_pos|now apply rounded_laplace_moment|intros _; apply IH; now inversion E].
Qed.

(* the mean of 100 ratings in [0, 5], scale 1/2, order 2 *)
Example mean_renyi : renyi_mech replace_one 2 (ln (lapM 2 (1 / 20 / (1 / 2))) / (2 - 1))
  (fun d => rounded_vec (rounded_laplace (prat 1 2)) [mean100 d]).
Proof.
  apply (rounded_laplace_renyi _ _ _ (prat 1 2)); [lra|]; intros d d' A; split; [reflexivity|].
  unfold rl1, rsum_vec; simpl; rewrite Rplus_0_r; now apply mean100_sens.
Qed.
