(* Pure eps-DP implies (eps^2/2)-zCDP (Bun-Steinke 2016, Proposition 3.3), and the
   advanced composition theorem that follows from it. The moment of order a of two
   eps-close distributions is largest for randomized response. *)
From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi.
Import ListNotations.
Local Open Scope R_scope.

(* ---------- 2 cosh y exp(-y^2/2) decreases for y >= 0 ---------- *)
Definition ch2 (y : R) : R := exp y + exp (- y).
Lemma ch2_pos y : 0 < ch2 y.
Proof. pose proof (exp_pos y); pose proof (exp_pos (- y)); unfold ch2; lra. Qed.
Lemma mono_from_derive (f df : R -> R) x y :
  x <= y -> (forall z, is_derive f z (df z)) -> (forall z, x <= z <= y -> 0 <= df z) -> f x <= f y.
Proof.
  intros Hxy Hd Hp; destruct (MVT_gen f x y df) as [c [Hc E]].
  - intros z _; apply Hd.
  - intros z _; apply continuity_pt_filterlim, (ex_derive_continuous f); eexists; apply Hd.
  - rewrite Rmin_left, Rmax_right in Hc by auto; specialize (Hp c Hc); nra.
Qed.
Lemma sinh_le y : 0 <= y -> exp y - exp (- y) <= y * ch2 y.
Proof.
  intros Hy; enough (0 * ch2 0 - (exp 0 - exp (- 0)) <= y * ch2 y - (exp y - exp (- y)))
    by (rewrite Ropp_0, Rmult_0_l in H; lra).
  apply (mono_from_derive (fun y => y * ch2 y - (exp y - exp (- y))) (fun y => y * (exp y - exp (- y)))); auto.
  - intros z; unfold ch2; auto_derive; auto; ring.
  - intros z Hz; apply Rmult_le_pos; [lra|]; enough (exp (- z) <= exp z) by lra; apply exp_le; lra.
Qed.
Lemma ch2_gauss x y : 0 <= x <= y -> ch2 y <= ch2 x * exp ((y * y - x * x) / 2).
Proof.
  intros H; enough (- (ch2 x * exp (- (x * x) / 2)) <= - (ch2 y * exp (- (y * y) / 2))) as E.
  { apply Rmult_le_reg_r with (exp (- (y * y) / 2)); [apply exp_pos|].
    rewrite Rmult_assoc, <- exp_plus.
    replace ((y * y - x * x) / 2 + - (y * y) / 2) with (- (x * x) / 2) by field; lra. }
  apply (mono_from_derive (fun y => - (ch2 y * exp (- (y * y) / 2)))
    (fun y => exp (- (y * y) / 2) * (y * ch2 y - (exp y - exp (- y))))); [lra| |].
  - intros z; unfold ch2; auto_derive; auto; unfold Rdiv; field.
  - intros z Hz; apply Rmult_le_pos; [left; apply exp_pos|]; pose proof (sinh_le z ltac:(lra)); lra.
Qed.

(* ---------- the moment of two eps-close distributions ---------- *)
(* order a; equals (sinh (a eps) - sinh ((a-1) eps)) / sinh eps *)
Definition pure_mom (a eps : R) : R := ch2 ((2 * a - 1) * (eps / 2)) / ch2 (eps / 2).

Lemma ch2_mono x y : 0 <= x <= y -> ch2 x <= ch2 y.
Proof.
  intros H; apply (mono_from_derive ch2 (fun y => exp y - exp (- y))); [lra| |].
  - intros z; unfold ch2; auto_derive; auto; ring.
  - intros z Hz; enough (exp (- z) <= exp z) by lra; apply exp_le; lra.
Qed.
Lemma pure_mom_ge1 a eps : 1 <= a -> 0 <= eps -> 1 <= pure_mom a eps.
Proof.
  intros Ha He; unfold pure_mom; set (b := eps / 2); pose proof (ch2_pos b).
  apply Rmult_le_reg_r with (ch2 b); auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_l, Rmult_1_r by lra.
  apply ch2_mono; unfold b; nra.
Qed.

Lemma rterm_chord a eps p q : 1 < a -> 0 < eps -> 0 <= p -> 0 <= q ->
  p <= exp eps * q -> q <= exp eps * p ->
  rterm a p q * (exp eps - exp (- eps)) <=
  (exp (a * eps) - exp (- (a * eps))) * p + (exp ((1 - a) * eps) - exp ((a - 1) * eps)) * q.
Proof.
  intros Ha He Hp Hq H1 H2.
  destruct Hq as [Hq| <-].
  2:{ replace p with 0 by lra; unfold rterm; destruct (Rle_dec 0 0); lra. }
  assert (E1 : 1 < exp eps) by (rewrite <- exp_0; now apply exp_increasing).
  assert (EE : exp eps * exp (- eps) = 1) by (rewrite <- exp_plus, Rplus_opp_r, exp_0; auto).
  assert (Ei : 0 < exp (- eps)) by apply exp_pos.
  set (E := exp eps) in *; set (F := exp (- eps)) in *.
  assert (HEF : 0 < E - F) by nra.
  set (x := p / q); assert (Hx : p = x * q) by (unfold x; field; lra).
  assert (Hx1 : x <= E) by (apply Rmult_le_reg_r with q; lra).
  assert (Hx2 : F <= x).
  { apply Rmult_le_reg_r with q; auto; rewrite <- Hx; apply Rmult_le_reg_l with E; [lra|].
    rewrite <- Rmult_assoc, EE; lra. }
  set (u := (x - F) / (E - F)).
  assert (Hu0 : u * (E - F) = x - F) by (unfold u; field; lra).
  assert (Hu : 0 <= u <= 1) by (split; nra).
  pose proof (rterm_mix a u F E 1 1 Ha Hu ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as C.
  replace ((1 - u) * F + u * E) with x in C by lra; replace ((1 - u) * 1 + u * 1) with 1 in C by ring.
  assert (RE : forall s, rterm a (exp s) 1 = exp (a * s)).
  { intros s; unfold rterm; destruct (Rle_dec (exp s) 0) as [N|_]; [pose proof (exp_pos s); lra|].
    unfold Rdiv; rewrite Rinv_1, Rmult_1_r, ln_exp, <- exp_plus; f_equal; ring. }
  unfold E, F in C; rewrite !RE in C; fold E F in C.
  replace (rterm a p q) with (q * rterm a x 1).
  2:{ rewrite Rmult_comm, <- rterm_scal by lra; f_equal; lra. }
  apply (Rmult_le_compat_l (q * (E - F))) in C; [|nra].
  eapply Rle_trans; [right|eapply Rle_trans; [exact C|right]]; [ring|].
  replace ((1 - a) * eps) with (eps + - (a * eps)) by ring.
  replace ((a - 1) * eps) with (- eps + a * eps) by ring.
  rewrite !exp_plus; fold E F; replace (a * - eps) with (- (a * eps)) by ring.
  rewrite Hx.
  replace (q * (E - F) * ((1 - u) * exp (- (a * eps)) + u * exp (a * eps)))
    with (q * (((E - F) - u * (E - F)) * exp (- (a * eps)) + u * (E - F) * exp (a * eps))) by ring.
  rewrite Hu0; ring.
Qed.

Section Pure.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).

(* a non-negative combination al P - be Q sums to at most al - be *)
Lemma lsum_affine al be (P Q : dist T) l : 0 <= al -> 0 <= be ->
  (forall x, 0 <= al * P x - be * Q x) -> NoDup l ->
  lsum (fun x => al * P x - be * Q x) l <= al - be.
Proof.
  intros Ha [Hb| <-] H Hl.
  2:{ rewrite (lsum_ext _ (fun x => al * P x)), lsum_scal by (intros; ring).
      pose proof (has_sum_ub _ _ _ (pmf_sum P) Hl); nra. }
  set (g := fun x => al * P x - be * Q x) in *.
  enough (1 <= (al - lsum g l) / be) as E.
  { apply (Rmult_le_compat_l be) in E; [|lra].
    replace (be * ((al - lsum g l) / be)) with (al - lsum g l) in E by (field; lra); lra. }
  eapply has_sum_lub; [apply (pmf_sum Q)|]; intros l2 Hl2.
  apply Rmult_le_reg_l with be; auto.
  replace (be * ((al - lsum g l) / be)) with (al - lsum g l) by (field; lra).
  set (l' := nodup eqd (l ++ l2)); assert (Hl' : NoDup l') by apply NoDup_nodup.
  assert (A : lsum g l <= lsum g l').
  { apply lsum_incl; auto; intros x Hx; apply nodup_In, in_or_app; auto. }
  assert (B : lsum Q l2 <= lsum Q l').
  { apply lsum_incl; auto; [apply pmf_ge0|]; intros x Hx; apply nodup_In, in_or_app; auto. }
  assert (C : lsum g l' = al * lsum P l' - be * lsum Q l').
  { unfold g; rewrite (lsum_ext _ (fun x => al * P x + - be * Q x)), lsum_plus, !lsum_scal by (intros; ring); ring. }
  pose proof (has_sum_ub _ _ _ (pmf_sum P) Hl'); nra.
Qed.

Lemma dp_point eps (P Q : T -> R) x : dp eps 0 P Q -> P x <= exp eps * Q x.
Proof. intros H; specialize (H [x] ltac:(repeat constructor; easy)); simpl in H; lra. Qed.

Lemma pure_moment a eps (P Q : dist T) : 1 < a -> 0 <= eps ->
  dp eps 0 P Q -> dp eps 0 Q P -> moment a (pure_mom a eps) P Q.
Proof.
  intros Ha He H1 H2; split.
  { intros x Hx; pose proof (dp_point eps P Q x H1); pose proof (exp_pos eps).
    destruct (pmf_ge0 Q x) as [|E]; auto; rewrite <- E in *; lra. }
  intros l Hl; destruct He as [He| <-].
  - assert (E1 : exp (- eps) < exp eps) by (apply exp_increasing; lra).
    set (k := exp eps - exp (- eps)); assert (Hk : 0 < k) by (unfold k; lra).
    set (al := (exp (a * eps) - exp (- (a * eps))) / k).
    set (be := (exp ((a - 1) * eps) - exp ((1 - a) * eps)) / k).
    assert (Hpt : forall x, rterm a (P x) (Q x) <= al * P x - be * Q x).
    { intros x; apply Rmult_le_reg_r with k; auto.
      eapply Rle_trans; [apply (rterm_chord a eps); auto using pmf_ge0, dp_point|right].
      unfold al, be; field; lra. }
    assert (Hal : 0 <= al).
    { apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat].
      enough (exp (- (a * eps)) <= exp (a * eps)) by lra; apply exp_le; nra. }
    assert (Hbe : 0 <= be).
    { apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat].
      enough (exp ((1 - a) * eps) <= exp ((a - 1) * eps)) by lra; apply exp_le; nra. }
    eapply Rle_trans; [apply lsum_le; intros x _; apply Hpt|].
    eapply Rle_trans; [apply lsum_affine; auto; intros x|right].
    { eapply Rle_trans; [apply (rterm_ge0 a (P x) (Q x))|apply Hpt]. }
    set (b := eps / 2); set (c := (2 * a - 1) * b).
    assert (Hb : exp (- b) < exp b) by (apply exp_increasing; unfold b; lra).
    assert (Hk2 : k = (exp b - exp (- b)) * ch2 b).
    { unfold k, ch2; replace eps with (b + b) by (unfold b; field).
      replace (- (b + b)) with (- b + - b) by ring; rewrite !exp_plus; ring. }
    unfold al, be, pure_mom; fold b; fold c.
    replace (exp (a * eps)) with (exp (c + b)) by (f_equal; unfold c, b; field).
    replace (exp (- (a * eps))) with (exp (- c + - b)) by (f_equal; unfold c, b; field).
    replace (exp ((a - 1) * eps)) with (exp (c + - b)) by (f_equal; unfold c, b; field).
    replace (exp ((1 - a) * eps)) with (exp (- c + b)) by (f_equal; unfold c, b; field).
    rewrite Hk2, !exp_plus; pose proof (ch2_pos b); unfold ch2 at 3; field; lra.
  - replace (pure_mom a 0) with 1.
    2:{ unfold pure_mom, Rdiv; rewrite Rmult_0_l, Rmult_0_r; field; apply Rgt_not_eq, ch2_pos. }
    eapply Rle_trans; [|apply (has_sum_ub _ _ _ (pmf_sum P) Hl)]; right; apply lsum_ext; intros x _.
    pose proof (dp_point 0 P Q x H1); pose proof (dp_point 0 Q P x H2); rewrite exp_0 in *.
    replace (Q x) with (P x) by lra; apply rterm_diag, pmf_ge0.
Qed.
Lemma pure_mom_le a eps : 1 < a -> 0 <= eps -> pure_mom a eps <= exp ((a - 1) * (a * (eps ^ 2 / 2))).
Proof.
  intros Ha He; unfold pure_mom; set (b := eps / 2); pose proof (ch2_pos b).
  pose proof (ch2_gauss b ((2 * a - 1) * b) ltac:(unfold b; nra)) as G.
  replace (exp ((a - 1) * (a * (eps ^ 2 / 2))))
    with (ch2 b * exp (((2 * a - 1) * b * ((2 * a - 1) * b) - b * b) / 2) / ch2 b).
  - apply Rmult_le_compat_r; auto; left; now apply Rinv_0_lt_compat.
  - replace ((a - 1) * (a * (eps ^ 2 / 2))) with (((2 * a - 1) * b * ((2 * a - 1) * b) - b * b) / 2)
      by (unfold b; field).
    field; lra.
Qed.
Lemma pure_zcdp eps (P Q : dist T) : 0 <= eps -> dp eps 0 P Q -> dp eps 0 Q P -> zcdp (eps ^ 2 / 2) P Q.
Proof.
  intros He H1 H2; split.
  - apply (pure_moment 2 eps P Q); auto; lra.
  - intros a Ha; apply (moment_weaken a (pure_mom a eps)); [now apply pure_mom_le|now apply pure_moment].
Qed.
End Pure.

Definition symmetric {D} (adj : D -> D -> Prop) : Prop := forall d d', adj d d' -> adj d' d.

(** @theorem pure-to-zcdp
    adj is symmetric (both directions of every neighbouring pair count). Every eps-DP
    mechanism for adj is (eps^2 / 2)-zCDP for adj. *)
Theorem pure_mech_zcdp {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop) (M : D -> dist T) eps :
  symmetric adj -> 0 <= eps -> dp_mech adj eps 0 M -> zcdp_mech adj (eps ^ 2 / 2) M.
Proof. intros Hs He H d d' A; apply pure_zcdp; auto. Qed.

(** @theorem pure-to-renyi
    adj is symmetric. Every eps-DP mechanism for adj has, at every order a > 1, moment at
    most cosh((2a-1) eps/2) / cosh(eps/2) for adj, the moment of randomized response. *)
Theorem pure_mech_moment {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop) (M : D -> dist T) a eps :
  symmetric adj -> 1 < a -> 0 <= eps -> dp_mech adj eps 0 M -> moment_mech adj a (pure_mom a eps) M.
Proof. intros Hs Ha He H d d' A; apply pure_moment; auto. Qed.

(* ---------- advanced composition ---------- *)
Definition sqsum (es : list R) : R := rsum (map (fun e => e ^ 2) es).
Lemma sqsum_zcdp es : rsum (map (fun e => e ^ 2 / 2) es) = sqsum es / 2.
Proof. unfold sqsum; induction es as [|e es IH]; simpl; [lra|]; simpl in IH; rewrite IH; field. Qed.

(** @theorem compose-advanced
    adj is symmetric. Mechanisms 1..n, each of which sees all earlier outputs and is
    eps_i-DP for adj whatever those were. For every delta in (0,1), publishing all n
    outputs is (S/2 + sqrt(2 S ln(1/delta)), delta)-DP for adj, where S = sum eps_i^2. *)
Theorem advanced_composition {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop)
  (ms : list (list T -> D -> dist T)) (es : list R) (delta : R) :
  symmetric adj -> Forall (fun e => 0 <= e) es ->
  Forall2 (fun m e => forall past, dp_mech adj e 0 (m past)) ms es ->
  0 < sqsum es -> 0 < delta < 1 ->
  dp_mech adj (sqsum es / 2 + sqrt (2 * sqsum es * ln (1 / delta))) delta (run eqd (sequence ms [])).
Proof.
  intros Hs He H HS Hd d d' A.
  assert (Z : zcdp_mech adj (sqsum es / 2) (run eqd (sequence ms []))).
  { rewrite <- sqsum_zcdp; apply zcdp_sequence.
    clear HS; induction H as [|m e ms es Hm H IH]; simpl; constructor; inversion He; subst; auto.
    intros past; now apply pure_mech_zcdp. }
  pose proof (zcdp_dp_simple (sqsum es / 2) delta (run eqd (sequence ms []) d) (run eqd (sequence ms []) d')
    ltac:(lra) Hd (pmf_ge0 _) (pmf_ge0 _) (Z d d' A)) as G.
  replace (sqrt (2 * sqsum es * ln (1 / delta))) with (2 * sqrt (sqsum es / 2 * ln (1 / delta))); auto.
  rewrite <- (sqrt_square 2) at 1 by lra; rewrite <- sqrt_mult_alt by lra; f_equal; field; lra.
Qed.
(** @theorem compose-advanced-homogeneous
    adj is symmetric. k > 0 mechanisms, each of which sees all earlier outputs and is
    eps-DP for adj. For every delta in (0,1), publishing all k outputs is
    (eps sqrt(2 k ln(1/delta)) + k eps (e^eps - 1), delta)-DP for adj
    (the form of Dwork, Rothblum and Vadhan). *)
Theorem advanced_composition_drv {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop)
  (ms : list (list T -> D -> dist T)) (eps delta : R) :
  symmetric adj -> 0 < eps -> ms <> [] ->
  Forall (fun m => forall past, dp_mech adj eps 0 (m past)) ms -> 0 < delta < 1 ->
  let k := INR (length ms) in
  dp_mech adj (eps * sqrt (2 * k * ln (1 / delta)) + k * eps * (exp eps - 1)) delta (run eqd (sequence ms [])).
Proof.
  intros Hs He Hn H Hd k.
  assert (Hk : 0 < k) by (unfold k; apply lt_0_INR; destruct ms; [easy|simpl; lia]).
  assert (HS : sqsum (repeat eps (length ms)) = k * eps ^ 2) by (unfold sqsum; rewrite map_repeat, rsum_repeat; auto).
  assert (He2 : 0 < eps ^ 2) by (simpl; nra).
  assert (S0 : 0 < sqsum (repeat eps (length ms))) by (rewrite HS; nra).
  pose proof (advanced_composition eqd adj ms (repeat eps (length ms)) delta Hs) as G.
  intros d d' A; eapply dp_weaken; [apply pmf_ge0| |apply Rle_refl|apply G; auto].
  - rewrite HS.
    assert (L : 0 <= 2 * k * ln (1 / delta)).
    { apply Rmult_le_pos; [lra|]; rewrite <- ln_1; left; apply ln_increasing; [lra|].
      apply Rmult_lt_reg_r with delta; [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
    replace (2 * (k * eps ^ 2) * ln (1 / delta)) with (eps * eps * (2 * k * ln (1 / delta))) by ring.
    rewrite sqrt_mult_alt, sqrt_square by nra.
    enough (k * eps ^ 2 / 2 <= k * eps * (exp eps - 1)) by lra.
    pose proof (exp_ineq1_le eps).
    replace (k * eps ^ 2 / 2) with (k * eps * (eps / 2)) by field; apply Rmult_le_compat_l; nra.
  - apply Forall_forall; intros e Hi; apply repeat_spec in Hi; lra.
  - clear - H; induction H; simpl; constructor; auto.
Qed.

(* ---------- instances ---------- *)
From Assay.rules Require Import Basic.
Lemma add_remove_symmetric {U} : symmetric (@add_remove U).
Proof. intros d d'; apply add_remove_sym. Qed.
Lemma replace_one_symmetric {U} : symmetric (@replace_one U).
Proof. intros d d'; apply replace_one_sym. Qed.
Example size_zcdp : zcdp_mech add_remove ((1 / (2 / 1)) ^ 2 / 2) (fun d => laplace_vec (prat 2 1) (size_query d)).
Proof. apply (pure_mech_zcdp zvec_eq); [apply add_remove_symmetric|lra|apply size_laplace]. Qed.
(* 100 counts of scale 10 (eps = 1/10 each), delta = e^-8: 1/2 + 4 instead of 10 *)
Lemma size_laplace10 : dp_mech add_remove (1 / 10) 0 (fun d => laplace_vec (prat 10 1) (size_query d)).
Proof.
  pose proof (laplace_vec_dp _ _ 1 (prat 10 1) (proj1 size_sens)) as H.
  simpl pos in H; replace (1 / (10 / 1)) with (1 / 10) in H by field; exact H.
Qed.
Example hundred_counts : dp_mech add_remove (9 / 2) (exp (-8))
  (run zvec_eq (sequence (repeat (fun _ d => laplace_vec (prat 10 1) (size_query d)) 100) [])).
Proof.
  assert (E : sqsum (repeat (1 / 10) 100) = 1).
  { unfold sqsum; rewrite map_repeat, rsum_repeat, INR_IZR_INZ; simpl; field. }
  pose proof (advanced_composition zvec_eq add_remove (repeat (fun _ d => laplace_vec (prat 10 1) (size_query d)) 100)
    (repeat (1 / 10) 100) (exp (-8)) add_remove_symmetric) as G.
  rewrite E in G.
  replace (1 / exp (-8)) with (exp 8) in G.
  2:{ unfold Rdiv; rewrite Rmult_1_l, <- exp_Ropp; f_equal; lra. }
  rewrite ln_exp in G; replace (2 * 1 * 8) with (4 * 4) in G by ring; rewrite sqrt_square in G by lra.
  replace (9 / 2) with (1 / 2 + 4) by field; apply G; try lra.
  - apply Forall_forall; intros e Hi; apply repeat_spec in Hi; lra.
  - generalize 100%nat; intros n; induction n; simpl; constructor; auto; intros _; apply size_laplace10.
  - split; [apply exp_pos|]; rewrite <- exp_0; apply exp_increasing; lra.
Qed.
