(* Privacy-loss bounds of sampled and discretised releases, under the names by which
   accounts cite them. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors Neighbours Renyi Basic PureToZCDP Optimal OptimalApprox PLD Subsampling WithoutReplacement CountsPLD VectorShift.
Import ListNotations.
Local Open Scope R_scope.

(** @theorem dominating-pair-composition
    Releases of a process (each chosen with knowledge of all earlier outputs) are bounded,
    for each ordered neighbouring pair of adj, by privacy-loss distributions p_1..p_n. The
    transcript is bounded by their convolution. *)
Theorem dominating_pair_composition {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop) ps (x : process D T) :
  Forall sound ps -> Forall covers ps -> pld_lines adj ps x -> pld_mech adj (pld_total ps) (run eqd x).
Proof. intros Hs Hv H; now apply pld_process. Qed.

(** @theorem response-dominates
    A mechanism that is (e, dl)-DP for adj in both directions is bounded for adj by the
    privacy-loss distribution of randomized response that reveals itself with probability
    dl. *)
Theorem response_dominates {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop) e dl (M : D -> dist T) :
  0 <= e -> 0 <= dl <= 1 -> dp_both adj e dl M ->
  pld_mech adj (Pld dl [((1 - dl) * (exp e / (1 + exp e)), / exp e); ((1 - dl) * / (1 + exp e), exp e)]) M.
Proof. intros He Hd H d d' A; destruct (H d d' A); now apply pld_approx. Qed.

(** @theorem scalar-noise-loss
    The integer query f changes by at most K between neighbours of adj; the noise is
    discrete Gaussian or discrete Laplace. For every finite set of outputs: one atom per
    output x with weight noise_0(x) and e^-loss = noise_K(x) / noise_0(x), and the remaining
    mass at infinity, bound the noisy query for adj. *)
Theorem scalar_noise_loss {D} (adj : D -> D -> Prop) (f : D -> Z) (K : nat) noise (l0 : list Z) :
  concave_noise noise -> (forall d d', adj d d' -> (Z.abs (f d - f d') <= Z.of_nat K)%Z) -> NoDup l0 ->
  pld_mech adj (Pld (1 - lsum (noise 0%Z) l0) (map (fun x => (noise 0%Z x, noise (Z.of_nat K) x / noise 0%Z x)) l0))
    (fun d => noise (f d)).
Proof.
  intros HC Hf N d d' A; apply (bounded_shift noise _ K); auto.
  apply (pld_exact Z.eq_dec); auto; intros x _; apply HC.
Qed.

(** @theorem discrete-noise-loss
    The integer vector query f has l1 sensitivity at most K for adj; independent discrete
    Laplace or discrete Gaussian noise is added to each coordinate. For every finite set of
    integers: one atom per integer x with weight noise_0(x) and e^-loss = noise_K(x) / noise_0(x),
    and the remaining mass at infinity, bound the noisy vector for adj. *)
Theorem discrete_noise_loss {D} (adj : D -> D -> Prop) (f : D -> list Z) (K : nat) noise (l0 : list Z) :
  concave_noise noise -> l1_sens adj f (IZR (Z.of_nat K)) -> NoDup l0 ->
  pld_mech adj (Pld (1 - lsum (noise 0%Z) l0) (map (fun x => (noise 0%Z x, noise (Z.of_nat K) x / noise 0%Z x)) l0))
    (fun d => noise_vec noise (f d)).
Proof.
  intros HC Hf N; apply (vector_noise_loss adj f K); auto.
  apply (pld_exact Z.eq_dec); auto; intros x _; apply HC.
Qed.
Lemma small_l2 x y (k : nat) : (k <= 3)%nat -> length x = length y -> (sqdist x y <= Z.of_nat k)%Z ->
  within_each 1 x y /\ (changes x y <= k)%nat.
Proof.
  intros Hk; revert y k Hk; induction x as [|a x IH]; intros [|b y] k Hk E H; try discriminate; cbn [within_each changes]; [split; [exact I|lia]|].
  cbn [sqdist] in H; pose proof (sqdist_pos x y) as S0.
  destruct (Z.eq_dec a b) as [->|Ne].
  - rewrite Z.sub_diag in *; destruct (IH y k Hk ltac:(now inversion E) ltac:(lia)); split; [split; [simpl; lia|auto]|lia].
  - assert (A : (Z.abs (a - b) = 1)%Z) by nia.
    assert (A2 : ((a - b) * (a - b) = 1)%Z) by nia.
    destruct k as [|k]; [lia|].
    destruct (IH y k ltac:(lia) ltac:(now inversion E) ltac:(lia)); split; [split; [simpl; lia|auto]|lia].
Qed.
(** @theorem small-l2-noise-loss
    The integer vector query f has squared l2 sensitivity at most k <= 3 for adj: a change is
    at most k ones. Independent discrete Gaussian (or Laplace) noise is added, and p bounds one
    noisy 0 against one noisy 1. The k-fold convolution of p bounds the noisy vector for adj. *)
Theorem small_l2_noise_loss {D} (adj : D -> D -> Prop) (f : D -> list Z) (k : nat) noise p :
  (k <= 3)%nat -> concave_noise noise -> sound p -> covers p -> pld_pair p (noise 0%Z) (noise (Z.of_nat 1)) ->
  l2sq_sens adj f (IZR (Z.of_nat k)) -> pld_mech adj (pld_total (repeat p k)) (fun d => noise_vec noise (f d)).
Proof.
  intros Hk HC Hs Hv H Hf; apply (counts_pld adj f k 1); auto; intros d d' A; destruct (Hf d d' A) as [E HD].
  apply le_IZR in HD; split; auto; now apply small_l2.
Qed.

(** @theorem poisson-pure
    M is eps-DP when one record is added or removed. On a Poisson sample of rate q, its moment
    of order a > 1 is at most that of randomized response at ln(1 + q (e^eps - 1)). *)
Theorem poisson_pure {U T} (eqd : forall x y : T, {x = y} + {x <> y}) q (Hq : 0 <= q <= 1) a eps (M : list U -> dist T) :
  1 < a -> 0 <= eps -> dp_mech add_remove eps 0 M ->
  moment_mech add_remove a (pure_mom a (amplified q eps)) (poisson eqd q Hq M).
Proof.
  intros Ha He H; apply (pure_mech_moment eqd); auto using amplified_pos.
  - intros d d'; apply add_remove_sym.
  - pose proof (poisson_amplification eqd q Hq eps 0 M He ltac:(lra) H) as G; rewrite Rmult_0_r in G; exact G.
Qed.

(* ---------- sampling never hurts ---------- *)
Lemma zcdp_moments {T} rho (P Q : T -> R) :
  (forall a, 1 < a -> moment a (exp ((a - 1) * (a * rho))) P Q) -> zcdp rho P Q.
Proof. intros H; split; [apply (H 2); lra|intros a Ha; apply (H a Ha)]. Qed.
Lemma mom_ge1 a rho : 1 < a -> 0 <= rho -> 1 <= exp ((a - 1) * (a * rho)).
Proof.
  intros Ha Hr; pose proof (exp_ineq1_le ((a - 1) * (a * rho))).
  assert (0 <= (a - 1) * (a * rho)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]); lra.
Qed.
(** @theorem sampling-no-worse
    M is rho-zCDP when one record is added or removed: so is M on a Poisson sample. M is
    rho-zCDP when one record is replaced: so is M on a random batch of b records. *)
Theorem sampling_no_worse {U T} (eqd : forall x y : T, {x = y} + {x <> y}) rho (M : list U -> dist T) : 0 <= rho ->
  (forall q (Hq : 0 <= q <= 1), zcdp_mech add_remove rho M -> zcdp_mech add_remove rho (poisson eqd q Hq M)) /\
  (forall b, zcdp_mech replace_one rho M -> zcdp_mech replace_one rho (wor eqd b M)).
Proof.
  intros Hr; split.
  - intros q Hq H d d' A; apply zcdp_moments; intros a Ha; apply (poisson_moment eqd q Hq a _ M); auto; intros s s' S.
    assert (M1 := mom_ge1 a rho Ha Hr); set (m := exp ((a - 1) * (a * rho))) in *.
    assert (E : forall y, mix q (M s) (M s) y = M s y) by (intros; unfold mix; ring).
    assert (W : (1 - q) * 1 + q * m <= m) by nra.
    split; apply (moment_weaken a _ m _ _ W).
    + eapply moment_ext; [reflexivity|exact E|]; apply moment_mix; auto using pmf_ge0, moment_refl.
      apply zcdp_moment; auto; apply H; right; auto.
    + eapply moment_ext; [exact E|reflexivity|]; apply moment_mix; auto using pmf_ge0, moment_refl.
      apply zcdp_moment; auto; apply H; left; auto.
  - intros b H d d' (l1 & x & y & l2 & -> & ->); apply zcdp_moments; intros a Ha.
    assert (M1 := mom_ge1 a rho Ha Hr); set (m := exp ((a - 1) * (a * rho))) in *.
    assert (Same : forall q (P1 P2 Q1 Q2 : dist T), 0 <= q <= 1 -> moment a m P1 Q1 -> moment a m P2 Q2 -> moment a m (mix q P1 P2) (mix q Q1 Q2)).
    { intros q P1 P2 Q1 Q2 Hq A B; replace m with ((1 - q) * m + q * m) by ring; apply moment_mix; auto; apply pmf_ge0. }
    assert (G : forall l b (N N' : list U -> dist T), (forall s, moment a m (N s) (N' s)) -> moment a m (wor eqd b N l) (wor eqd b N' l)).
    { induction l as [|z l IH]; intros b' N N' HN; [apply HN|]; simpl.
      apply Same; [apply rate_01|auto|]; apply IH; intros s; apply HN. }
    assert (K : forall l1 b (N : list U -> dist T), (forall s s', replace_one s s' -> moment a m (N s) (N s')) ->
      moment a m (wor eqd b N (l1 ++ x :: l2)) (wor eqd b N (l1 ++ y :: l2))).
    { clear l1; induction l1 as [|z l1 IH]; intros b' N HN; simpl.
      - apply Same; [apply rate_01| |].
        + apply (moment_weaken a 1); auto; apply moment_refl.
        + apply G; intros s; apply HN; exists [], x, y, s; auto.
      - replace (length (l1 ++ x :: l2)) with (length (l1 ++ y :: l2)) by (rewrite !app_length; reflexivity).
        apply Same; [apply rate_01|apply IH; auto|]; apply IH.
        intros s s' (k1 & u & v & k2 & -> & ->); apply HN; exists (z :: k1), u, v, k2; auto. }
    apply K; intros s s' S; apply zcdp_moment; auto.
Qed.

(* ---------- Poisson sampling of a privacy-loss bound ---------- *)
Definition qmass (p : pld) : R := lsum (fun a => fst a * snd a) (atoms p).   (* mass under Q *)
Definition pmass (p : pld) : R := inf_mass p + lsum fst (atoms p).           (* mass under P *)
(* (1-q) Q + q P against Q *)
Definition sampled_remove (q : R) (p : pld) : pld :=
  Pld (q * inf_mass p)
    (((1 - q) * (1 - qmass p), / (1 - q)) ::
     map (fun a => (fst a * ((1 - q) * snd a + q), snd a / ((1 - q) * snd a + q))) (atoms p)).
(* P against (1-q) P + q Q *)
Definition sampled_add (q : R) (p : pld) : pld :=
  Pld 0 ((inf_mass p, 1 - q) :: map (fun a => (fst a, 1 - q + q * snd a)) (atoms p)).

Lemma pp_scale k x : 0 <= k -> k * pos_part x = pos_part (k * x).
Proof. intros Hk; unfold pos_part; rewrite <- RmaxRmult by auto; f_equal; ring. Qed.
Lemma lsum_pp_ge (f : R * R -> R) l : lsum f l <= lsum (fun a => pos_part (f a)) l.
Proof. apply lsum_le; intros; apply pp1. Qed.

Lemma sampled_remove_ok {T} q p (P0 P1 : dist T) : 0 < q < 1 -> sound p -> 1 <= pmass p -> qmass p <= 1 ->
  pld_pair p P1 P0 -> pld_pair (sampled_remove q p) (mix q P0 P1) P0.
Proof.
  intros Hq [S1 S2] Hm Hb H c l Hc Hl.
  assert (At : curve (sampled_remove q p) c = q * inf_mass p + ((1 - qmass p) * pos_part (1 - q - c)
    + lsum (fun a => pos_part (q * fst a - (c - (1 - q)) * (fst a * snd a))) (atoms p))).
  { unfold curve, hinges, sampled_remove; cbn [inf_mass atoms lsum fst snd]; rewrite lsum_map; cbn [fst snd]; do 2 f_equal.
    - rewrite (Rmult_comm (1 - q)), Rmult_assoc, pp_scale by lra; do 2 f_equal; field; lra.
    - apply lsum_ext; intros a Ha; pose proof (proj1 (Forall_forall _ _) S2 a Ha) as [A1 A2].
      assert (0 < (1 - q) * snd a + q) by nra.
      rewrite pp_scale by (apply Rmult_le_pos; lra); f_equal; field; lra. }
  rewrite At; unfold mix; rewrite lsum_plus, !lsum_scal.
  pose proof (has_sum_ub _ _ _ (pmf_sum P0) Hl) as X0; pose proof (has_sum_ub _ _ _ (pmf_sum P1) Hl) as X1.
  pose proof (lsum_ge0 P0 l (pmf_ge0 P0)) as X2; pose proof (lsum_ge0 P1 l (pmf_ge0 P1)) as X3.
  destruct (Rle_dec (1 - q) c) as [L|L].
  - (* q (P1 - c' P0), c' = (c - (1-q))/q *)
    set (c' := (c - (1 - q)) / q).
    assert (Hc' : 0 <= c') by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
    assert (Ec : q * c' = c - (1 - q)) by (unfold c'; field; lra).
    pose proof (H c' l Hc' Hl) as B; apply (Rmult_le_compat_l q) in B; [|lra].
    unfold curve, hinges in B; rewrite Rmult_plus_distr_l in B.
    assert (E2 : q * lsum (fun a => fst a * pos_part (1 - snd a * c')) (atoms p)
      = lsum (fun a => pos_part (q * fst a - (c - (1 - q)) * (fst a * snd a))) (atoms p)).
    { rewrite <- lsum_scal; apply lsum_ext; intros a Ha; pose proof (proj1 (Forall_forall _ _) S2 a Ha) as [A1 A2].
      rewrite <- Rmult_assoc, pp_scale by (apply Rmult_le_pos; lra); f_equal; rewrite <- Ec; ring. }
    rewrite E2 in B; pose proof (pp0 (1 - q - c)).
    assert (0 <= (1 - qmass p) * pos_part (1 - q - c)) by (apply Rmult_le_pos; lra).
    assert (q * (lsum P1 l - c' * lsum P0 l) = q * lsum P1 l - (c - (1 - q)) * lsum P0 l) by (rewrite <- Ec; ring).
    lra.
  - pose proof (lsum_pp_ge (fun a => q * fst a - (c - (1 - q)) * (fst a * snd a)) (atoms p)) as G.
    rewrite (lsum_ext (fun a => q * fst a - (c - (1 - q)) * (fst a * snd a)) (fun a => q * fst a + (1 - q - c) * (fst a * snd a))) in G by (intros; ring).
    rewrite lsum_plus, !lsum_scal in G; fold (qmass p) in G.
    replace (pos_part (1 - q - c)) with (1 - q - c) by (unfold pos_part; rewrite Rmax_right; lra).
    assert (q * 1 <= q * pmass p) by (apply Rmult_le_compat_l; lra); unfold pmass in *.
    assert ((1 - q - c) * lsum P0 l <= (1 - q - c) * 1) by (apply Rmult_le_compat_l; lra).
    assert (q * lsum P1 l <= q * 1) by (apply Rmult_le_compat_l; lra).
    nra.
Qed.
Lemma sampled_add_ok {T} q p (P0 P1 : dist T) : 0 < q < 1 -> sound p ->
  pld_pair p P0 P1 -> pld_pair (sampled_add q p) P0 (mix q P0 P1).
Proof.
  intros Hq [S1 S2] H c l Hc Hl; unfold mix; rewrite lsum_plus, !lsum_scal.
  unfold curve, hinges, sampled_add; cbn [inf_mass atoms lsum fst snd]; rewrite lsum_map; cbn [fst snd].
  pose proof (lsum_ge0 P0 l (pmf_ge0 P0)) as X2; pose proof (lsum_ge0 P1 l (pmf_ge0 P1)) as X3.
  set (k := 1 - c * (1 - q)); destruct (Rle_dec k 0) as [L|L].
  - assert (0 <= lsum (fun u => fst u * pos_part (1 - (1 - q + q * snd u) * c)) (atoms p)).
    { clear - S2; induction S2 as [|a l [A B] S2 IH]; simpl; [lra|]; apply Rplus_le_le_0_compat; auto; apply Rmult_le_pos; auto; apply pp0. }
    assert (0 <= inf_mass p * pos_part (1 - (1 - q) * c)) by (apply Rmult_le_pos; auto; apply pp0).
    assert (k * lsum P0 l <= 0) by (unfold k in *; nra).
    assert (0 <= c * (q * lsum P1 l)) by (apply Rmult_le_pos; nra).
    unfold k in *; nra.
  - assert (Hk : 0 < k) by lra; set (c' := c * q / k).
    assert (Hc' : 0 <= c') by (apply Rmult_le_pos; [nra|left; now apply Rinv_0_lt_compat]).
    assert (Ec : k * c' = c * q) by (unfold c'; field; lra).
    pose proof (H c' l Hc' Hl) as B; apply (Rmult_le_compat_l k) in B; [|lra].
    unfold curve, hinges in B; rewrite Rmult_plus_distr_l in B.
    assert (E2 : k * lsum (fun a => fst a * pos_part (1 - snd a * c')) (atoms p)
      = lsum (fun u => fst u * pos_part (1 - (1 - q + q * snd u) * c)) (atoms p)).
    { rewrite <- lsum_scal; apply lsum_ext; intros a _.
      replace (k * (fst a * pos_part (1 - snd a * c'))) with (fst a * (k * pos_part (1 - snd a * c'))) by ring.
      rewrite pp_scale by lra; do 2 f_equal; replace (k * (1 - snd a * c')) with (k - snd a * (k * c')) by ring.
      rewrite Ec; unfold k; ring. }
    rewrite E2 in B; replace (pos_part (1 - (1 - q) * c)) with k by (unfold pos_part, k in *; rewrite Rmax_right; lra).
    assert (k * (lsum P0 l - c' * lsum P1 l) = k * lsum P0 l - c * q * lsum P1 l) by (rewrite <- Ec; ring).
    unfold k in *; nra.
Qed.

(** @theorem poisson-dominating-pair
    p bounds M(s') against M(s), and r bounds M(s) against M(s'), for every s' with one record
    more than s; p has mass at least 1 on its first side and at most 1 on its second.
    On a Poisson sample of rate q, 0 < q < 1: the pair ((1-q) Q + q P, Q) made from p bounds
    the removal of a record, and the pair (P, (1-q) P + q Q) made from r the addition of one. *)
Theorem poisson_dominating_pair {U T} (eqd : forall x y : T, {x = y} + {x <> y}) q (Hq : 0 <= q <= 1) p r (M : list U -> dist T) :
  0 < q < 1 -> sound p -> 1 <= pmass p -> qmass p <= 1 -> sound r ->
  pld_mech (fun d d' => adds_one d' d) p M -> pld_mech adds_one r M ->
  pld_mech (fun d d' => adds_one d' d) (sampled_remove q p) (poisson eqd q Hq M) /\
  pld_mech adds_one (sampled_add q r) (poisson eqd q Hq M).
Proof.
  intros H0 Sp Hm Hb Sr Hp Hr; apply pld_poisson; intros s s' A; split.
  - apply sampled_remove_ok; auto.
  - apply sampled_add_ok; auto.
Qed.

(* ---------- sampling without replacement ---------- *)
(* from c to 1/c: the complement of an event *)
Lemma complement_curve {T} (eqd : forall x y : T, {x = y} + {x <> y}) (P Q : dist T) r B : 0 < r ->
  (forall l, NoDup l -> lsum Q l - / r * lsum P l <= B) ->
  forall l, NoDup l -> lsum P l - r * lsum Q l <= 1 - r + r * B.
Proof.
  intros Hr HB l Hl; enough (hs P Q r l <= 1 - r + r * B).
  { eapply Rle_trans; [|exact H]; unfold hs; replace (lsum P l - r * lsum Q l) with (lsum P l + - r * lsum Q l) by ring.
    rewrite <- lsum_scal, <- lsum_plus; apply lsum_le; intros x _; eapply Rle_trans; [|apply pp1]; lra. }
  enough (r * 1 <= 1 + r * B - hs P Q r l) by lra.
  enough (1 <= (1 + r * B - hs P Q r l) / r) as G.
  { apply (Rmult_le_compat_l r) in G; [|lra]; eapply Rle_trans; [exact G|right; field; lra]. }
  eapply has_sum_lub; [apply (pmf_sum Q)|]; intros l2 Hl2.
  set (l' := nodup eqd (l ++ l2)); assert (Hl' : NoDup l') by apply NoDup_nodup.
  assert (A : hs P Q r l <= hs P Q r l').
  { apply lsum_incl; auto; [intros; apply pp0|]; intros x Hx; apply nodup_In, in_or_app; auto. }
  assert (B2 : lsum Q l2 <= lsum Q l').
  { apply lsum_incl; auto; [apply pmf_ge0|]; intros x Hx; apply nodup_In, in_or_app; auto. }
  assert (C : hs P Q r l' = lsum P l' - r * lsum Q l' + r * hs Q P (/ r) l').
  { unfold hs; rewrite (lsum_ext _ (fun t => P t + (- r * Q t + r * pos_part (Q t - / r * P t)))).
    { rewrite !lsum_plus, !lsum_scal; ring. }
    intros t _; assert (X : r * (Q t - / r * P t) = - (P t - r * Q t)) by (field; lra).
    unfold pos_part, Rmax; destruct (Rle_dec 0 (P t - r * Q t)), (Rle_dec 0 (Q t - / r * P t)); nra. }
  assert (F : hs Q P (/ r) l' <= B).
  { destruct (hs_event Q P (/ r) l') as [l3 Hl3]; destruct (Hl3 Hl') as [N ->]; now apply HB. }
  pose proof (has_sum_ub _ _ _ (pmf_sum P) Hl').
  apply Rmult_le_reg_l with r; auto.
  replace (r * ((1 + r * B - hs P Q r l) / r)) with (1 + r * B - hs P Q r l) by (field; lra); nra.
Qed.

(** @theorem without-replacement-dominating-pair
    M depends on the set of its records, not on their order, and p bounds it when one record
    is replaced. On a uniformly random b >= 1 of the n records, with q = b/n, the excess
    P(S) - c Q(S) of a replaced record is at most q curve_p(1 + (c-1)/q) for c >= 1, and at
    most 1 - c + c q curve_p(1 + (1/c - 1)/q) for 0 < c < 1. *)
Theorem wor_dominating_pair {U T} (eqd : forall x y : T, {x = y} + {x <> y}) b n p (M : list U -> dist T) :
  (1 <= b)%nat -> (b <= n)%nat -> unordered M -> pld_mech replace_one p M ->
  let q := INR b / INR n in
  forall d d', length d = n -> replace_one d d' -> forall c l, NoDup l ->
  (1 <= c -> lsum (wor eqd b M d) l - c * lsum (wor eqd b M d') l <= q * curve p (1 + (c - 1) / q)) /\
  (0 < c < 1 -> lsum (wor eqd b M d) l - c * lsum (wor eqd b M d') l <= 1 - c + c * (q * curve p (1 + (/ c - 1) / q))).
Proof.
  intros Hb Hn HM Hp q.
  assert (Hq : 0 < q) by (apply Rdiv_lt_0_compat; apply lt_0_INR; lia).
  assert (Hq1 : q <= 1) by (unfold q; rewrite <- rate_eq by lia; apply rate_01).
  assert (Main : forall d d' c l, length d = n -> replace_one d d' -> NoDup l -> 1 <= c ->
    lsum (wor eqd b M d) l - c * lsum (wor eqd b M d') l <= q * curve p (1 + (c - 1) / q)).
  { intros d d' c l Hd A Hl Hc; set (al := 1 + (c - 1) / q).
    assert (Hal : 1 <= al) by (unfold al; assert (0 <= (c - 1) / q) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]); lra).
    assert (E : exp (ln al) = al) by (apply exp_ln; lra).
    assert (L0 : 0 <= ln al).
    { destruct Hal as [Hal| <-]; [rewrite <- ln_1; left; apply ln_increasing; lra|rewrite ln_1; lra]. }
    assert (C0 : 0 <= curve p al).
    { pose proof (Hp d d' A al [] ltac:(lra) (NoDup_nil _)) as Z; simpl in Z; lra. }
    assert (DP : dp_mech replace_one (ln al) (curve p al) M).
    { intros s s' S l' Hl'; rewrite E; pose proof (Hp s s' S al l' ltac:(lra) Hl'); lra. }
    pose proof (wor_amplification eqd b n (ln al) (curve p al) M ltac:(lia) Hn L0 C0 HM DP d d' (conj Hd A) l Hl) as G.
    fold q in G; rewrite amplified_exp, E in G by lra.
    replace (1 + q * (al - 1)) with c in G by (unfold al; field; lra); lra. }
  intros d d' Hd A c l Hl; split; intros Hc; [now apply Main|].
  apply (complement_curve eqd (wor eqd b M d) (wor eqd b M d') c); auto; [lra|].
  intros l' Hl'; apply (Main d' d (/ c) l'); auto.
  - rewrite <- (replace_one_length d d' A); auto.
  - now apply replace_one_sym.
  - rewrite <- Rinv_1; apply Rinv_le_contravar; lra.
Qed.

(* ---------- connecting the dots ---------- *)
Lemma hinge_affine s u v w : 0 <= w <= 1 -> u <= v -> (s * v <= 1 \/ 1 <= s * u) -> 0 <= s ->
  pos_part (1 - s * ((1 - w) * u + w * v)) = (1 - w) * pos_part (1 - s * u) + w * pos_part (1 - s * v).
Proof.
  intros Hw Huv H Hs.
  assert (s * u <= s * v) by (apply Rmult_le_compat_l; auto).
  unfold pos_part; destruct H as [H|H].
  - rewrite !Rmax_right; nra.
  - rewrite !Rmax_left; nra.
Qed.
Lemma curve_affine p u v w : sound p -> 0 <= w <= 1 -> u <= v ->
  Forall (fun a => snd a * v <= 1 \/ 1 <= snd a * u) (atoms p) ->
  curve p ((1 - w) * u + w * v) = (1 - w) * curve p u + w * curve p v.
Proof.
  intros [S1 S2] Hw Huv H; unfold curve, hinges.
  assert (E : lsum (fun a => fst a * pos_part (1 - snd a * ((1 - w) * u + w * v))) (atoms p)
    = (1 - w) * lsum (fun a => fst a * pos_part (1 - snd a * u)) (atoms p) + w * lsum (fun a => fst a * pos_part (1 - snd a * v)) (atoms p)).
  { rewrite <- !lsum_scal, <- lsum_plus; apply lsum_ext; intros a Ha.
    pose proof (proj1 (Forall_forall _ _) S2 a Ha) as [A1 A2]; pose proof (proj1 (Forall_forall _ _) H a Ha).
    rewrite hinge_affine by auto; ring. }
  rewrite E; ring.
Qed.
(* the intervals between neighbouring dots: 0 = g_0 <= g_1 <= ... <= g_n *)
Fixpoint dots (p : pld) (u : R) (g : list R) : Prop :=
  match g with
  | [] => forall c, u <= c -> curve p c = curve p u
  | v :: g => u <= v /\ Forall (fun a => snd a * v <= 1 \/ 1 <= snd a * u) (atoms p) /\ dots p v g
  end.
(** @theorem connect-the-dots
    The kinks of a privacy-loss curve lie on a grid 0 <= g_1 <= ... <= g_n, beyond which the
    curve is constant. If the curve is above the excess P(S) - c Q(S) of all events at c = 0
    and at every grid point, it is above it at every c >= 0: it bounds P against Q. *)
Theorem connect_the_dots {T} p (g : list R) (P Q : dist T) : sound p -> dots p 0 g ->
  (forall c l, In c (0 :: g) -> NoDup l -> lsum P l - c * lsum Q l <= curve p c) -> pld_pair p P Q.
Proof.
  intros Sp Hg H c l Hc Hl; revert Hg H Hc; generalize 0; induction g as [|v g IH]; intros u Hg H Hc.
  - rewrite (Hg c Hc); eapply Rle_trans; [|apply (H u l); simpl; auto].
    pose proof (lsum_ge0 Q l (pmf_ge0 Q)); nra.
  - destruct Hg as (Huv & Ha & Hg); destruct (Rle_dec v c) as [L|L].
    + apply (IH v); auto; intros c' l' Hi; apply H; simpl in *; tauto.
    + destruct Huv as [Huv| ->]; [|lra].
      set (w := (c - u) / (v - u)).
      assert (Ew : w * (v - u) = c - u) by (unfold w; field; lra).
      assert (Hw : 0 <= w <= 1) by (split; nra).
      replace c with ((1 - w) * u + w * v) by lra.
      rewrite curve_affine by (auto; lra).
      pose proof (H u l ltac:(simpl; auto) Hl); pose proof (H v l ltac:(simpl; auto) Hl).
      replace (lsum P l - ((1 - w) * u + w * v) * lsum Q l)
        with ((1 - w) * (lsum P l - u * lsum Q l) + w * (lsum P l - v * lsum Q l)) by ring.
      apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.

(* ---------- instances ---------- *)
(* a count with Laplace noise of scale 10: eps = 1/10 *)
Definition response (e : R) : pld := Pld 0 [((1 - 0) * (exp e / (1 + exp e)), / exp e); ((1 - 0) * / (1 + exp e), exp e)].
Example count_response : pld_mech add_remove (response (1 / 10)) (fun d => laplace_vec (prat 10 1) (size_query d)).
Proof. apply (response_dominates zvec_eq); [lra|lra|apply count_both]. Qed.
Lemma response_sound e : sound (response e).
Proof.
  pose proof (exp_pos e); assert (0 < / (1 + exp e)) by (apply Rinv_0_lt_compat; lra); assert (0 < / exp e) by (apply Rinv_0_lt_compat; lra).
  split; simpl; [lra|]; constructor; [split|constructor; [split|constructor]]; simpl; unfold Rdiv; repeat apply Rmult_le_pos; lra.
Qed.
Lemma response_mass e : pmass (response e) = 1 /\ qmass (response e) = 1.
Proof. pose proof (exp_pos e); unfold pmass, qmass; simpl; split; field; lra. Qed.
(* the same count on a 10% sample: both directions *)
Example sampled_count_pld :
  pld_mech (fun d d' => adds_one d' d) (sampled_remove (1 / 10) (response (1 / 10)))
    (poisson zvec_eq (1 / 10) tenth (fun d => laplace_vec (prat 10 1) (size_query d))) /\
  pld_mech adds_one (sampled_add (1 / 10) (response (1 / 10)))
    (poisson zvec_eq (1 / 10) tenth (fun d => laplace_vec (prat 10 1) (size_query d))).
Proof.
  destruct (response_mass (1 / 10)) as [M1 M2].
  apply poisson_dominating_pair; auto using response_sound; try lra.
  - intros d d' A; apply count_response; right; auto.
  - intros d d' A; apply count_response; left; auto.
Qed.
(* a count that changes by at most 3, sigma^2 = 25, atoms at -2..5 *)
Example count_by_three (f : list Z -> Z) : (forall d d', add_remove d d' -> (Z.abs (f d - f d') <= Z.of_nat 3)%Z) ->
  let l := [-2; -1; 0; 1; 2; 3; 4; 5]%Z in let v := prat 25 1 in
  pld_mech add_remove (Pld (1 - lsum (gauss v 0) l) (map (fun x => (gauss v 0 x, gauss v (Z.of_nat 3) x / gauss v 0 x)) l)) (fun d => gauss v (f d)).
Proof.
  intros H l v; apply scalar_noise_loss; auto using gauss_concave; repeat constructor; simpl; intuition discriminate.
Qed.
Example sampled_count_moment : moment_mech add_remove 8 (pure_mom 8 (amplified (1 / 10) (1 / 10)))
  (poisson zvec_eq (1 / 10) tenth (fun d => laplace_vec (prat 10 1) (size_query d))).
Proof. apply poisson_pure; [lra|lra|apply size_laplace10]. Qed.
Example batch_zcdp : zcdp_mech replace_one (2 / (2 * (100 / 1))) (wor zvec_eq 100 (fun d => gauss_vec (prat 100 1) (histogram d))).
Proof. apply sampling_no_worse; [lra|apply histogram_gauss]. Qed.
(* a batch of 100 of 1000 records, histogram with scale 4 (eps = 1/2) *)
Example batch_curve d d' l : length d = 1000%nat -> replace_one d d' -> NoDup l ->
  let M := fun d => laplace_vec (prat 4 1) (histogram d) in
  lsum (wor zvec_eq 100 M d) l - 1 * lsum (wor zvec_eq 100 M d') l <=
    INR 100 / INR 1000 * curve (response (2 / (4 / 1))) (1 + (1 - 1) / (INR 100 / INR 1000)).
Proof.
  intros Hd A Hl M; apply (wor_dominating_pair zvec_eq 100 1000 (response (2 / (4 / 1))) M); auto; try lia; try lra.
  - apply histogram_unordered.
  - apply (response_dominates zvec_eq); [lra|lra|].
    intros s s' B; split; apply histogram_laplace; auto; now apply replace_one_sym.
Qed.
(* a coin against itself, grid {1} *)
Example coin_dots : pld_pair pld_one (coin_dist (1 / 2) half) (coin_dist (1 / 2) half).
Proof.
  apply (connect_the_dots pld_one [1]).
  - apply pld_one_sound.
  - split; [lra|split; [constructor; [simpl; lra|constructor]|]]; intros c Hc.
    unfold curve, hinges; simpl; unfold pos_part; rewrite !Rmax_left; lra.
  - intros c l Hc Hl; apply pld_pair_refl; auto using pld_one_covers; simpl in Hc; intuition lra.
Qed.
(* the histogram of l1 sensitivity 2, Laplace noise of scale 4, atoms at -2..4 *)
Example histogram_loss : let l := [-2; -1; 0; 1; 2; 3; 4]%Z in let t := prat 4 1 in
  pld_mech replace_one (Pld (1 - lsum (laplace t 0) l) (map (fun x => (laplace t 0 x, laplace t (Z.of_nat 2) x / laplace t 0 x)) l))
    (fun d => laplace_vec t (histogram d)).
Proof.
  intros l t; apply (discrete_noise_loss replace_one histogram 2 (laplace t)); auto using laplace_concave.
  - intros d d' A; apply (proj2 histogram_sens d d' A).
  - repeat constructor; simpl; intuition discriminate.
Qed.
