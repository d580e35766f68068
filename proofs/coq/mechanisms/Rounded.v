(* Rounded noise: the continuous variable mu + X, rounded to the nearest integer.
   X has a density g / Z with Z the integral of g over the line, so
   P(k) = (G(k + 1/2 - mu) - G(k - 1/2 - mu)) / Z, G an antiderivative of g.
   The query may be real-valued.  Halves are cells' borders: they have probability 0,
   so either rounding of halves has this law. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours.
From Assay.mechanisms Require Import Laplace.
Import ListNotations.
Local Open Scope R_scope.

(* ---------- integrals of a positive continuous function ---------- *)
Section Density.
Variable g : R -> R.
Hypothesis g_pos : forall x, 0 < g x.
Hypothesis g_cont : forall x, continuous g x.

Lemma g_int a b : ex_RInt g a b.
Proof using g_cont. apply (ex_RInt_continuous g); intros; apply g_cont. Qed.
Lemma g_chasles a b c : RInt g a b + RInt g b c = RInt g a c.
Proof using g_cont. apply (RInt_Chasles g a b c); apply g_int. Qed.
Lemma g_ge0 a b : a <= b -> 0 <= RInt g a b.
Proof using g_pos g_cont. intros H; apply RInt_ge_0; auto; [apply g_int|intros; left; apply g_pos]. Qed.
Lemma g_sub a b a' b' : a' <= a -> a <= b -> b <= b' -> RInt g a b <= RInt g a' b'.
Proof using g_pos g_cont.
  intros H1 H2 H3; pose proof (g_chasles a' a b'); pose proof (g_chasles a b b').
  pose proof (g_ge0 a' a H1); pose proof (g_ge0 b b' H3); lra.
Qed.

(* Z is the integral over the line: the supremum of the integrals over [-n, n] *)
Definition is_total (Z : R) : Prop :=
  (forall n : nat, RInt g (- INR n) (INR n) <= Z) /\
  (forall c, (forall n : nat, RInt g (- INR n) (INR n) <= c) -> Z <= c).
Lemma nat_above x : exists n : nat, x <= INR n.
Proof using.
  exists (Z.to_nat (up (Rabs x))); destruct (archimed (Rabs x)) as [H _]; pose proof (Rabs_pos x); pose proof (Rle_abs x).
  rewrite INR_IZR_INZ, Z2Nat.id by (apply le_IZR; lra); lra.
Qed.
Lemma total_ub Z a b : is_total Z -> a <= b -> RInt g a b <= Z.
Proof using g_pos g_cont.
  intros [H _] Hab; destruct (nat_above (Rmax (- a) b)) as [n Hn].
  pose proof (Rmax_l (- a) b); pose proof (Rmax_r (- a) b).
  eapply Rle_trans; [|apply (H n)]; apply g_sub; lra.
Qed.

(* the mass of cell k when the centre is mu *)
Definition cell (mu : R) (k : Z) : R := RInt g (IZR k - / 2 - mu) (IZR k + / 2 - mu).
Lemma cell_pos mu k : 0 < cell mu k.
Proof using g_pos g_cont. apply RInt_gt_0; [lra|intros; apply g_pos|intros; apply g_cont]. Qed.
Lemma cell_zr mu n : lsum (cell mu) (zr n) = RInt g (- INR n - / 2 - mu) (INR n + / 2 - mu).
Proof using g_cont.
  induction n as [|n IH]; cbn [zr lsum].
  - unfold cell; simpl; rewrite Rplus_0_r, Ropp_0; reflexivity.
  - rewrite IH; unfold cell; rewrite opp_IZR, <- INR_IZR_INZ, S_INR.
    replace (- (INR n + 1) + / 2 - mu) with (- INR n - / 2 - mu) by lra.
    replace (INR n + 1 - / 2 - mu) with (INR n + / 2 - mu) by lra.
    rewrite Rplus_comm, Rplus_assoc.
    rewrite (g_chasles (- INR n - / 2 - mu)), g_chasles; reflexivity.
Qed.
Lemma cell_sum Z mu : is_total Z -> has_sum (cell mu) Z.
Proof using g_pos g_cont.
  intros HZ; apply has_sum_intro.
  - intros l Hl; destruct (zr_cover l) as [n Hn].
    eapply Rle_trans; [apply (lsum_incl _ _ (zr n)); auto; intros; left; apply cell_pos|].
    rewrite cell_zr; apply total_ub; auto; pose proof (pos_INR n); lra.
  - intros b Hb; apply HZ; intros n.
    destruct (nat_above (INR n + Rabs mu)) as [N HN].
    eapply Rle_trans; [|apply (Hb (zr N) (zr_NoDup N))]; rewrite cell_zr.
    pose proof (pos_INR n); pose proof (Rle_abs mu); pose proof (Rle_abs (- mu)) as H1; rewrite Rabs_Ropp in H1.
    apply g_sub; lra.
Qed.
Definition rounded (Z : R) (HZ : is_total Z) (Z0 : 0 < Z) (mu : R) : dist BinNums.Z.
Proof using g_pos g_cont.
  refine {| pmf := fun k => / Z * cell mu k |}.
  - intros k; apply Rmult_le_pos; left; [now apply Rinv_0_lt_compat|apply cell_pos].
  - rewrite <- (Rinv_l Z) by lra; apply has_sum_scal; [now apply Rinv_0_lt_compat|now apply cell_sum].
Defined.

Lemma RInt_shift a b v : RInt (fun y => g (y + v)) a b = RInt g (a + v) (b + v).
Proof using g_cont.
  replace (a + v) with (1 * a + v) by ring; replace (b + v) with (1 * b + v) by ring.
  rewrite <- (RInt_comp_lin g 1 v a b) by apply g_int.
  apply RInt_ext; intros x _; rewrite (scal_one (V := R_NormedModule)); f_equal; ring.
Qed.
Lemma shift_cont v x : continuous (fun y => g (y + v)) x.
Proof using g_cont.
  apply (continuous_comp (fun y => y + v) g); [|apply g_cont].
  apply (continuous_plus (fun y => y) (fun _ => v)); [apply continuous_id|apply continuous_const].
Qed.
(* a density that changes by a factor c under the shift changes every cell by it *)
Lemma cell_ratio mu nu c k : 0 <= c -> (forall x, g x <= c * g (x + (mu - nu))) -> cell mu k <= c * cell nu k.
Proof using g_cont.
  intros Hc H; unfold cell.
  replace (IZR k - / 2 - nu) with (IZR k - / 2 - mu + (mu - nu)) by ring.
  replace (IZR k + / 2 - nu) with (IZR k + / 2 - mu + (mu - nu)) by ring.
  rewrite <- RInt_shift, <- (RInt_scal (V := R_CompleteNormedModule)).
  2: apply (ex_RInt_continuous (V := R_CompleteNormedModule)); intros; apply shift_cont.
  apply RInt_le; [lra|apply g_int| |intros x _; apply H].
  apply (ex_RInt_scal (V := R_CompleteNormedModule)), (ex_RInt_continuous (V := R_CompleteNormedModule)); intros; apply shift_cont.
Qed.
End Density.

(* real-valued queries *)
Definition rsens {D} (adj : D -> D -> Prop) (f : D -> R) (Delta : R) : Prop :=
  forall d d', adj d d' -> Rabs (f d - f d') <= Delta.

(* ---------- rounded Laplace ---------- *)
Section RLap.
Variable b : posreal.
Definition lapd (x : R) : R := exp (- Rabs x / b).
Lemma lapd_pos x : 0 < lapd x. Proof. apply exp_pos. Qed.
Lemma lapd_cont x : continuous lapd x.
Proof.
  unfold lapd; apply (continuous_comp (fun x => - Rabs x / b) exp); [|apply continuity_pt_filterlim, derivable_continuous_pt, derivable_pt_exp].
  apply (continuous_mult (fun x => - Rabs x) (fun _ => / b)); [|apply continuous_const].
  apply (continuous_opp Rabs), continuous_Rabs.
Qed.
(* the antiderivative that vanishes at 0: b (1 - e^(-|x|/b)), with the sign of x *)
Definition lapG (x : R) : R := if Rle_dec 0 x then b * (1 - exp (- x / b)) else - (b * (1 - exp (x / b))).
Lemma lap_int0 x : is_RInt lapd 0 x (lapG x).
Proof.
  pose proof (cond_pos b) as Hb; unfold lapG; destruct (Rle_dec 0 x) as [Hx|Hx].
  - apply (is_RInt_ext (fun y => exp (- y / b))).
    { intros y; rewrite Rmin_left, Rmax_right by lra; intros Hy; unfold lapd; rewrite Rabs_pos_eq by lra; reflexivity. }
    replace (b * (1 - exp (- x / b))) with (minus (- b * exp (- x / b)) (- b * exp (- 0 / b))).
    2: { unfold minus, plus, opp; simpl; replace (- 0 / b) with 0 by (unfold Rdiv; ring); rewrite exp_0; ring. }
    apply (is_RInt_derive (fun y => - b * exp (- y / b)) (fun y => exp (- y / b))).
    + intros y _; auto_derive; [lra|unfold Rdiv; field; lra].
    + intros y _; apply (ex_derive_continuous (fun y => exp (- y / b))); auto_derive; lra.
  - apply (is_RInt_ext (fun y => exp (y / b))).
    { intros y; rewrite Rmin_right, Rmax_left by lra; intros Hy; unfold lapd; rewrite Rabs_left by lra.
      f_equal; unfold Rdiv; ring. }
    replace (- (b * (1 - exp (x / b)))) with (minus (b * exp (x / b)) (b * exp (0 / b))).
    2: { unfold minus, plus, opp; simpl; replace (0 / b) with 0 by (unfold Rdiv; ring); rewrite exp_0; ring. }
    apply (is_RInt_derive (fun y => b * exp (y / b)) (fun y => exp (y / b))).
    + intros y _; auto_derive; [lra|unfold Rdiv; field; lra].
    + intros y _; apply (ex_derive_continuous (fun y => exp (y / b))); auto_derive; lra.
Qed.
Lemma lap_int x y : @eq R (RInt lapd x y) (lapG y - lapG x).
Proof.
  rewrite <- (is_RInt_unique _ _ _ _ (lap_int0 x)), <- (is_RInt_unique _ _ _ _ (lap_int0 y)).
  pose proof (g_chasles lapd lapd_cont 0 x y); lra.
Qed.
Lemma lap_total : is_total lapd (2 * b).
Proof.
  pose proof (cond_pos b) as Hb.
  assert (E : forall n : nat, @eq R (RInt lapd (- INR n) (INR n)) (2 * b * (1 - exp (-1 / b) ^ n))).
  { intros n; rewrite lap_int; unfold lapG; pose proof (pos_INR n).
    rewrite <- lapw_pow; unfold lapw; rewrite Z.abs_eq, <- INR_IZR_INZ by lia.
    destruct (Rle_dec 0 (INR n)) as [|N]; [|lra].
    destruct (Rle_dec 0 (- INR n)) as [H0|H0]; [|ring].
    replace (INR n) with 0 by lra; replace (- 0 / b) with 0 by (unfold Rdiv; ring).
    replace (- - 0 / b) with 0 by (unfold Rdiv; ring); rewrite exp_0; ring. }
  destruct (q_lt1 b Hb) as [Q0 Q1]; set (q := exp (-1 / b)) in *; split.
  - intros n; rewrite E; pose proof (pow_lt q n Q0); nra.
  - intros c Hc; apply (is_lim_seq_le (fun n => 2 * b * (1 - q ^ n)) (fun _ => c) (2 * b) c);
      [intros n; rewrite <- E; apply Hc| |apply is_lim_seq_const].
    replace (Finite (2 * b)) with (Rbar_mult (2 * b) (1 - 0)) by (simpl; f_equal; ring).
    apply (is_lim_seq_scal_l (fun n => 1 - q ^ n)).
    apply is_lim_seq_minus'; [apply is_lim_seq_const|apply is_lim_seq_geom; rewrite Rabs_pos_eq; lra].
Qed.
Lemma two_b : 0 < 2 * b. Proof. pose proof (cond_pos b); lra. Qed.
Definition rounded_laplace (mu : R) : dist Z := rounded lapd lapd_pos lapd_cont (2 * b) lap_total two_b mu.

(* the Laplace distribution function *)
Definition lapF (x : R) : R := if Rle_dec 0 x then 1 - exp (- x / b) / 2 else exp (x / b) / 2.
Theorem rounded_laplace_law mu k : rounded_laplace mu k = lapF (IZR k + / 2 - mu) - lapF (IZR k - / 2 - mu).
Proof.
  pose proof (cond_pos b); simpl; unfold cell; rewrite lap_int; unfold lapG, lapF.
  destruct (Rle_dec 0 (IZR k + / 2 - mu)), (Rle_dec 0 (IZR k - / 2 - mu)); field; lra.
Qed.
(** @theorem rounded-laplace
    A real-valued query f whose values on neighbours differ by at most Delta. Adding
    continuous Laplace noise of scale b and rounding to the nearest integer, i.e.
    P(k) = F(k + 1/2 - f(d)) - F(k - 1/2 - f(d)) with F the Laplace distribution
    function, is (Delta/b)-DP for adj. *)
Theorem rounded_laplace_dp {D} (adj : D -> D -> Prop) (f : D -> R) Delta :
  rsens adj f Delta -> dp_mech adj (Delta / b) 0 (fun d => rounded_laplace (f d)).
Proof.
  intros Hf d d' A; specialize (Hf d d' A); pose proof (cond_pos b) as Hb.
  apply dp_pointwise; intros k; simpl.
  assert (H : cell lapd (f d) k <= exp (Delta / b) * cell lapd (f d') k).
  { apply cell_ratio; [apply lapd_cont|left; apply exp_pos|]; intros x; unfold lapd; rewrite <- exp_plus; apply exp_le.
    unfold Rdiv; rewrite <- Rmult_plus_distr_r; apply div_le; auto.
    pose proof (Rabs_triang x (f d - f d')); lra. }
  assert (0 < / (2 * b)) by (apply Rinv_0_lt_compat; lra); nra.
Qed.
End RLap.

(* ---------- rounded Gaussian ---------- *)
(* u^s >= 1 + s (u - 1) *)
Lemma real_bernoulli s u : 1 < s -> 0 < u -> 1 + s * (u - 1) <= exp (s * ln u).
Proof.
  intros Hs Hu; set (w := ln u); assert (E : u = exp w) by (unfold w; now rewrite exp_ln).
  pose proof (exp_ineq1_le ((s - 1) * w)) as H1; pose proof (exp_ineq1_le (- w)) as H2.
  assert (P := exp_pos w).
  assert (F1 : exp (s * w) = exp w * exp ((s - 1) * w)) by (rewrite <- exp_plus; f_equal; ring).
  assert (F2 : exp w * exp (- w) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  rewrite F1, E; assert (exp w * (1 + (s - 1) * w) <= exp w * exp ((s - 1) * w)) by (apply Rmult_le_compat_l; lra).
  assert (exp w * (1 + - w) <= 1) by (rewrite <- F2; apply Rmult_le_compat_l; lra).
  nra.
Qed.
(* tangent of (p, q) -> p^s q^(1-s) *)
Lemma rterm_tangent_line s p q P Q : 1 < s -> 0 < p -> 0 < q -> 0 < P -> 0 < Q ->
  let r := exp ((s - 1) * ln (P / Q)) in
  s * r * p - (s - 1) * (r * (P / Q)) * q <= p * exp ((s - 1) * ln (p / q)).
Proof.
  intros Hs Hp Hq HP HQ r; pose proof (Rdiv_lt_0_compat _ _ HP HQ) as HR; pose proof (Rdiv_lt_0_compat _ _ Hp Hq) as Hr.
  set (R0 := P / Q) in *; set (u := p / q / R0).
  assert (Hu : 0 < u) by (apply Rdiv_lt_0_compat; auto).
  assert (Ep : p = u * R0 * q) by (unfold u; field; lra).
  pose proof (real_bernoulli s u Hs Hu) as B.
  assert (El : ln (p / q) = ln u + ln R0) by (rewrite <- ln_mult by auto; f_equal; unfold u; field; lra).
  rewrite El, Rmult_plus_distr_l, exp_plus; fold r.
  replace (p * (exp ((s - 1) * ln u) * r)) with (r * R0 * q * exp (s * ln u)).
  - replace (s * r * p - (s - 1) * (r * R0) * q) with (r * R0 * q * (1 + s * (u - 1))) by (rewrite Ep; ring).
    apply Rmult_le_compat_l; auto; left; apply Rmult_lt_0_compat; auto; apply Rmult_lt_0_compat; auto; apply exp_pos.
  - replace (s * ln u) with (ln u + (s - 1) * ln u) by ring; rewrite exp_plus, exp_ln by auto; rewrite Ep; ring.
Qed.

Section RGauss.
Variable v : posreal.   (* sigma^2 *)
Definition gd (x : R) : R := exp (- (x * x) / (2 * v)).
Lemma gd_pos x : 0 < gd x. Proof. apply exp_pos. Qed.
Lemma gd_cont x : continuous gd x.
Proof.
  pose proof (cond_pos v); unfold gd.
  apply (ex_derive_continuous (fun x => exp (- (x * x) / (2 * v)))); auto_derive; lra.
Qed.
Lemma gd_lapd x : gd x <= exp (1 / (2 * v)) * lapd v x.
Proof.
  pose proof (cond_pos v) as Hv; unfold gd, lapd; rewrite <- exp_plus; apply exp_le.
  apply Rmult_le_reg_r with (2 * v); [lra|].
  replace (- (x * x) / (2 * v) * (2 * v)) with (- (x * x)) by (field; lra).
  replace ((1 / (2 * v) + - Rabs x / v) * (2 * v)) with (1 - 2 * Rabs x) by (field; lra).
  pose proof (Rle_0_sqr (Rabs x - 1)) as S; unfold Rsqr in S.
  assert (Rabs x * Rabs x = x * x) by (rewrite <- Rabs_mult; apply Rabs_pos_eq, Rle_0_sqr); lra.
Qed.
Lemma gd_bound a b : a <= b -> RInt gd a b <= exp (1 / (2 * v)) * (2 * v).
Proof.
  intros H; pose proof (exp_pos (1 / (2 * v))) as E.
  apply Rle_trans with (exp (1 / (2 * v)) * RInt (lapd v) a b).
  - apply (is_RInt_le gd (fun x => exp (1 / (2 * v)) * lapd v x) a b _ _ H).
    + apply (RInt_correct gd), g_int, gd_cont.
    + apply (is_RInt_scal (lapd v) a b (exp (1 / (2 * v)))), (RInt_correct (lapd v)), g_int, lapd_cont.
    + intros x _; apply gd_lapd.
  - apply Rmult_le_compat_l; [lra|]; apply (total_ub (lapd v)); auto using lapd_pos, lapd_cont, lap_total.
Qed.
Lemma gd_total_sig : {Z : R | is_total gd Z}.
Proof.
  destruct (completeness (fun r => exists n : nat, r = RInt gd (- INR n) (INR n))) as [Z [H1 H2]].
  - exists (exp (1 / (2 * v)) * (2 * v)); intros r [n ->]; apply gd_bound; pose proof (pos_INR n); lra.
  - exists (RInt gd (- INR 0) (INR 0)), 0%nat; auto.
  - exists Z; split; [intros n; apply H1; eauto|intros c Hc; apply H2; intros r [n ->]; auto].
Qed.
(* the integral of exp(-x^2/(2 sigma^2)) over the line *)
Definition gd_total : R := proj1_sig gd_total_sig.
Lemma gd_total_ok : is_total gd gd_total. Proof. exact (proj2_sig gd_total_sig). Qed.
Lemma gd_total_pos : 0 < gd_total.
Proof.
  eapply Rlt_le_trans; [|apply (total_ub gd gd_pos gd_cont gd_total 0 1 gd_total_ok); lra].
  apply RInt_gt_0; [lra|intros; apply gd_pos|intros; apply gd_cont].
Qed.
(* P(k) is proportional to the integral of exp(-(x - mu)^2/(2 sigma^2)) over [k - 1/2, k + 1/2] *)
Definition rounded_gauss (mu : R) : dist Z := rounded gd gd_pos gd_cont gd_total gd_total_ok gd_total_pos mu.

(* the Gaussian distribution function, by symmetry 1/2 at 0; the closed form
   sqrt(2 pi) sigma of the total is not needed and not proved *)
Definition gaussF (x : R) : R := / 2 + RInt gd 0 x / gd_total.
Theorem rounded_gauss_law mu k : rounded_gauss mu k = gaussF (IZR k + / 2 - mu) - gaussF (IZR k - / 2 - mu).
Proof.
  pose proof gd_total_pos; simpl; unfold cell, gaussF.
  pose proof (g_chasles gd gd_cont 0 (IZR k - / 2 - mu) (IZR k + / 2 - mu)) as C.
  rewrite <- C; field; lra.
Qed.

Lemma cell_is mu k : is_RInt (fun x => gd (x + - mu)) (IZR k - / 2) (IZR k + / 2) (cell gd mu k).
Proof.
  unfold cell; change (IZR k - / 2 - mu) with (IZR k - / 2 + - mu); change (IZR k + / 2 - mu) with (IZR k + / 2 + - mu).
  rewrite <- (RInt_shift gd gd_cont).
  apply (RInt_correct (fun x => gd (x + - mu))), (ex_RInt_continuous (V := R_CompleteNormedModule)); intros; apply shift_cont, gd_cont.
Qed.
Lemma gd_mix a mu nu x : gd (x + - mu) * exp ((a - 1) * ln (gd (x + - mu) / gd (x + - nu)))
  = exp ((a - 1) * (a * ((mu - nu) ^ 2 / (2 * v)))) * gd (x + - (a * mu + (1 - a) * nu)).
Proof.
  pose proof (cond_pos v); rewrite ln_div by apply gd_pos; unfold gd; rewrite !ln_exp, <- !exp_plus; f_equal; field; lra.
Qed.
Lemma cell_holder a mu nu k : 1 < a ->
  rterm a (cell gd mu k) (cell gd nu k)
  <= exp ((a - 1) * (a * ((mu - nu) ^ 2 / (2 * v)))) * cell gd (a * mu + (1 - a) * nu) k.
Proof.
  intros Ha; assert (HP := cell_pos gd gd_pos gd_cont mu k); assert (HQ := cell_pos gd gd_pos gd_cont nu k).
  assert (IP := cell_is mu k); assert (IQ := cell_is nu k); assert (IM := cell_is (a * mu + (1 - a) * nu) k).
  set (P := cell gd mu k) in *; set (Q := cell gd nu k) in *.
  set (E := exp ((a - 1) * (a * ((mu - nu) ^ 2 / (2 * v))))).
  set (r := exp ((a - 1) * ln (P / Q))).
  replace (rterm a P Q) with (a * r * P - (a - 1) * (r * (P / Q)) * Q)
    by (unfold rterm; destruct (Rle_dec P 0); [lra|]; fold r; field; lra).
  apply (is_RInt_le (fun x => a * r * gd (x + - mu) - (a - 1) * (r * (P / Q)) * gd (x + - nu))
    (fun x => E * gd (x + - (a * mu + (1 - a) * nu))) (IZR k - / 2) (IZR k + / 2)); [lra| | |].
  - apply (is_RInt_minus (fun x => a * r * gd (x + - mu)) (fun x => (a - 1) * (r * (P / Q)) * gd (x + - nu))).
    + exact (is_RInt_scal _ _ _ (a * r) _ IP).
    + exact (is_RInt_scal _ _ _ ((a - 1) * (r * (P / Q))) _ IQ).
  - exact (is_RInt_scal _ _ _ E _ IM).
  - intros x _; unfold E; rewrite <- gd_mix; apply rterm_tangent_line; auto; apply gd_pos.
Qed.

(** @theorem rounded-gaussian
    A real-valued query f whose values on neighbours differ by at most Delta. Adding
    continuous Gaussian noise of variance sigma^2 and rounding to the nearest integer,
    i.e. P(k) proportional to the integral of exp(-(x - f(d))^2 / (2 sigma^2)) over
    [k - 1/2, k + 1/2], is (Delta^2/(2 sigma^2))-zCDP for adj. *)
Theorem rounded_gauss_zcdp {D} (adj : D -> D -> Prop) (f : D -> R) Delta :
  rsens adj f Delta -> zcdp_mech adj (Delta ^ 2 / (2 * v)) (fun d => rounded_gauss (f d)).
Proof.
  intros Hf d d' A; specialize (Hf d d' A); pose proof (cond_pos v) as Hv; pose proof gd_total_pos as Z0.
  assert (Z1 : 0 < / gd_total) by now apply Rinv_0_lt_compat.
  apply (zcdp_weaken ((f d - f d') ^ 2 / (2 * v))).
  { apply div_le; [lra|]; apply pow_maj_Rabs; exact Hf. }
  split.
  - intros k _; simpl; apply Rmult_lt_0_compat; auto; apply cell_pos; [apply gd_pos|apply gd_cont].
  - intros a Ha l Hl; simpl (pmf _).
    set (E := exp ((a - 1) * (a * ((f d - f d') ^ 2 / (2 * v))))); set (m := a * f d + (1 - a) * f d').
    apply Rle_trans with (lsum (fun k => (E * / gd_total) * cell gd m k) l).
    + apply lsum_le; intros k _; simpl.
      assert (HP := cell_pos gd gd_pos gd_cont (f d) k); assert (HQ := cell_pos gd gd_pos gd_cont (f d') k).
      rewrite (Rmult_comm _ (cell gd (f d) k)), (Rmult_comm _ (cell gd (f d') k)), rterm_mul, rterm_diag by (auto; lra).
      pose proof (cell_holder a (f d) (f d') k Ha) as H; fold E m in H; nra.
    + rewrite lsum_scal; pose proof (has_sum_ub _ _ _ (cell_sum gd gd_pos gd_cont gd_total m gd_total_ok) Hl) as H.
      assert (HE : 0 < E) by apply exp_pos.
      apply Rle_trans with (E * / gd_total * gd_total); [|right; field; lra].
      apply Rmult_le_compat_l; auto; left; now apply Rmult_lt_0_compat.
Qed.
End RGauss.

(* ---------- vectors ---------- *)
Definition rsum_vec (h : R -> R -> R) (x y : list R) : R :=
  fold_right (fun p s => h (fst p) (snd p) + s) 0 (combine x y).
Definition rl1 := rsum_vec (fun a b => Rabs (a - b)).
Definition rl2sq := rsum_vec (fun a b => (a - b) ^ 2).
Definition rounded_vec (noise : R -> dist Z) (mu : list R) : dist (list Z) :=
  fold_right (fun m rest => cons_dist Z.eq_dec (noise m) (fun _ => rest)) (dret (leqd Z.eq_dec) []) mu.

(** @theorem rounded-laplace-vector
    A real vector query f with a public number of coordinates and l1 sensitivity at
    most Delta. Adding independent continuous Laplace noise of scale b to each
    coordinate and rounding each to the nearest integer is (Delta/b)-DP for adj. *)
Theorem rounded_laplace_vec {D} (adj : D -> D -> Prop) (f : D -> list R) Delta (b : posreal) :
  (forall d d', adj d d' -> length (f d) = length (f d') /\ rl1 (f d) (f d') <= Delta) ->
  dp_mech adj (Delta / b) 0 (fun d => rounded_vec (rounded_laplace b) (f d)).
Proof.
  intros Hf d d' A; destruct (Hf d d' A) as [E H]; pose proof (cond_pos b) as Hb.
  apply (dp_weaken (rl1 (f d) (f d') / b) 0); [apply pmf_ge0|now apply div_le|apply Rle_refl|].
  clear H A; revert E; generalize (f d) (f d'); induction l as [|x l IH]; intros [|y l'] E; try discriminate.
  - apply dp_refl; [apply pmf_ge0|unfold rl1, rsum_vec; simpl; lra|lra].
  - change (rl1 (x :: l) (y :: l')) with (Rabs (x - y) + rl1 l l'); rewrite Rdiv_plus_distr, <- (Rplus_0_r 0).
    apply (cons_dp Z.eq_dec _ _ _ _ (rounded_laplace b x) (rounded_laplace b y)); [lra| |intros _; apply IH; now inversion E].
    apply (rounded_laplace_dp b (fun u v => u = x /\ v = y) (fun u => u)); [|auto].
    intros u w [-> ->]; lra.
Qed.
(** @theorem rounded-gaussian-vector
    A real vector query f with a public number of coordinates and squared l2 sensitivity
    at most D2. Adding independent continuous Gaussian noise of variance sigma^2 to each
    coordinate and rounding each to the nearest integer is (D2/(2 sigma^2))-zCDP for adj. *)
Theorem rounded_gauss_vec {D} (adj : D -> D -> Prop) (f : D -> list R) D2 (sigma2 : posreal) :
  (forall d d', adj d d' -> length (f d) = length (f d') /\ rl2sq (f d) (f d') <= D2) ->
  zcdp_mech adj (D2 / (2 * sigma2)) (fun d => rounded_vec (rounded_gauss sigma2) (f d)).
Proof.
  intros Hf d d' A; destruct (Hf d d' A) as [E H]; pose proof (cond_pos sigma2) as Hv.
  apply (zcdp_weaken (rl2sq (f d) (f d') / (2 * sigma2))); [apply div_le; [lra|auto]|].
  clear H A; revert E; generalize (f d) (f d'); induction l as [|x l IH]; intros [|y l'] E; try discriminate.
  - apply (zcdp_refl _ (dret (leqd Z.eq_dec) [])); unfold rl2sq, rsum_vec; simpl; lra.
  - change (rl2sq (x :: l) (y :: l')) with ((x - y) ^ 2 + rl2sq l l'); rewrite Rdiv_plus_distr.
    apply (cons_zcdp Z.eq_dec _ _ (rounded_gauss sigma2 x) (rounded_gauss sigma2 y)); [|intros _; apply IH; now inversion E].
    replace ((x - y) ^ 2) with (Rabs (x - y) ^ 2) by (rewrite RPow_abs; apply Rabs_pos_eq, pow2_ge_0).
    apply (rounded_gauss_zcdp sigma2 (fun u v => u = x /\ v = y) (fun u => u)); [|auto].
    intros u w [-> ->]; lra.
Qed.

(* ---------- instances ---------- *)
(* the mean of 100 ratings in [0, 5]: one rating replaced moves it by 1/20 *)
Definition mean100 (d : list R) : R := fold_right (fun x s => Rmax 0 (Rmin 5 x) + s) 0 d / 100.
Lemma clip05 x y : Rabs (Rmax 0 (Rmin 5 x) - Rmax 0 (Rmin 5 y)) <= 5.
Proof.
  assert (H : forall z, 0 <= Rmax 0 (Rmin 5 z) <= 5)
    by (intros z; unfold Rmax, Rmin; destruct (Rle_dec 5 z), (Rle_dec 0 _); lra).
  pose proof (H x); pose proof (H y); unfold Rabs; destruct (Rcase_abs _); lra.
Qed.
Lemma mean100_sens : rsens replace_one mean100 (1 / 20).
Proof.
  intros d d' (l1 & x & y & l2 & -> & ->); unfold mean100.
  assert (E : forall z, fold_right (fun x s => Rmax 0 (Rmin 5 x) + s) 0 (l1 ++ z :: l2)
    = Rmax 0 (Rmin 5 z) + fold_right (fun x s => Rmax 0 (Rmin 5 x) + s) 0 (l1 ++ l2)).
  { intros z; induction l1 as [|u l1 IH]; simpl; [reflexivity|rewrite IH; ring]. }
  rewrite !E; pose proof (clip05 x y) as H; set (s := fold_right _ 0 (l1 ++ l2)).
  unfold Rabs in *; destruct (Rcase_abs (Rmax 0 (Rmin 5 x) - _)), (Rcase_abs (_ / 100 - _)); lra.
Qed.
Example mean_laplace : dp_mech replace_one (1 / 20 / (1 / 2)) 0 (fun d => rounded_laplace (prat 1 2) (mean100 d)).
Proof. apply (rounded_laplace_dp (prat 1 2)), mean100_sens. Qed.
Example mean_gauss : zcdp_mech replace_one ((1 / 20) ^ 2 / (2 * (1 / 4))) (fun d => rounded_gauss (prat 1 4) (mean100 d)).
Proof. apply (rounded_gauss_zcdp (prat 1 4)), mean100_sens. Qed.
Example mean_pair : zcdp_mech replace_one (1 / 200 / (2 * (1 / 4)))
  (fun d => rounded_vec (rounded_gauss (prat 1 4)) [mean100 d; - mean100 d]).
Proof.
  apply (rounded_gauss_vec _ _ _ (prat 1 4)); intros d d' A; split; [reflexivity|].
  pose proof (mean100_sens d d' A) as H; unfold rl2sq, rsum_vec; simpl.
  unfold Rabs in H; destruct (Rcase_abs _); nra.
Qed.
