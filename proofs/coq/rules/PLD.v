(* Privacy-loss distributions. A finite list of atoms (weight, e^-loss) and a mass at
   infinite loss bounds a pair P, Q if P(S) - c Q(S) <= curve(c) for all events S and all
   c >= 0. Bounds of adaptively composed releases convolve; rounding losses up, weights
   up, or atoms to infinity keeps them bounds. The two directions of a neighbouring
   pair are bounded separately. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors Neighbours Basic PureToZCDP Optimal OptimalApprox.
Import ListNotations.
Local Open Scope R_scope.

Record pld := Pld { inf_mass : R; atoms : list (R * R) }.
Definition curve (p : pld) (c : R) : R := inf_mass p + hinges (atoms p) c.
Definition sound (p : pld) : Prop := 0 <= inf_mass p /\ proper (atoms p).
(* P against Q, in this direction *)
Definition pld_pair {T} (p : pld) (P Q : T -> R) : Prop :=
  forall c l, 0 <= c -> NoDup l -> lsum P l - c * lsum Q l <= curve p c.
Definition pld_mech {D T} (adj : D -> D -> Prop) (p : pld) (M : D -> dist T) : Prop :=
  forall d d', adj d d' -> pld_pair p (M d) (M d').

(* losses add, weights multiply; infinite as soon as one is *)
Definition conv (p q : pld) : pld :=
  Pld (inf_mass q + lsum fst (atoms q) * inf_mass p)
    (flat_map (fun a => map (fun b => (fst a * fst b, snd a * snd b)) (atoms p)) (atoms q)).

Lemma curve_conv p q c :
  curve (conv p q) c = inf_mass q + lsum (fun a => fst a * curve p (snd a * c)) (atoms q).
Proof.
  unfold curve, conv, hinges; cbn [inf_mass atoms].
  rewrite Rplus_assoc; f_equal; induction (atoms q) as [|a l IH]; simpl; [ring|].
  rewrite lsum_app, <- IH, lsum_map; cbn [fst snd].
  assert (E : lsum (fun b => fst a * fst b * pos_part (1 - snd a * snd b * c)) (atoms p)
    = fst a * lsum (fun b => fst b * pos_part (1 - snd b * (snd a * c))) (atoms p)).
  { rewrite <- lsum_scal; apply lsum_ext; intros b _; rewrite Rmult_assoc; do 4 f_equal; ring. }
  rewrite E; ring.
Qed.
Lemma sound_conv p q : sound p -> sound q -> sound (conv p q).
Proof.
  intros [P1 P2] [Q1 Q2]; split; cbn [conv inf_mass atoms].
  - assert (0 <= lsum fst (atoms q)).
    { clear - Q2; induction Q2 as [|a l [A _] Q2 IH]; simpl; lra. }
    nra.
  - apply Forall_forall; intros x Hx; apply in_flat_map in Hx; destruct Hx as (a & Ha & Hx).
    apply in_map_iff in Hx; destruct Hx as (b & <- & Hb).
    pose proof (proj1 (Forall_forall _ _) Q2 a Ha) as [A1 A2]; pose proof (proj1 (Forall_forall _ _) P2 b Hb) as [B1 B2].
    simpl; split; apply Rmult_le_pos; auto.
Qed.

(* ---------- one adaptive step ---------- *)
Lemma pld_joint {T V} (eqd : forall x y : T, {x = y} + {x <> y}) p q (P Q : dist T) (K L : T -> dist V) :
  sound q -> pld_pair p P Q -> (forall t, pld_pair q (K t) (L t)) ->
  pld_pair (conv p q) (joint_dist eqd P K) (joint_dist eqd Q L).
Proof.
  intros [Q1 Q2] HP HK c l Hc Hl; rewrite curve_conv.
  match goal with |- _ <= ?b => set (bound := b) end; simpl; unfold joint; subst bound.
  set (lt := nodup eqd (map fst l)).
  assert (Hlt : NoDup lt) by apply NoDup_nodup.
  assert (Hi : incl (map fst l) lt) by (intros x; apply nodup_In).
  rewrite (lsum_group eqd (fun t u => P t * K t u) l lt Hlt Hi), (lsum_group eqd (fun t u => Q t * L t u) l lt Hlt Hi).
  set (k := fun t => lsum (K t) (slice eqd t l)); set (j := fun t => lsum (L t) (slice eqd t l)).
  assert (EP : lsum (fun t => lsum (fun u => P t * K t u) (slice eqd t l)) lt
    - c * lsum (fun t => lsum (fun u => Q t * L t u) (slice eqd t l)) lt
    = lsum (fun t => P t * k t - c * (Q t * j t)) lt).
  { rewrite (lsum_ext (fun t => P t * k t - c * (Q t * j t))
      (fun t => lsum (fun u => P t * K t u) (slice eqd t l) + - c * lsum (fun u => Q t * L t u) (slice eqd t l)))
      by (intros t _; rewrite !lsum_scal; unfold k, j; ring).
    rewrite lsum_plus, lsum_scal; ring. }
  rewrite EP; clear EP; set (ws := atoms q) in *.
  assert (Pt : forall t, P t * k t - c * (Q t * j t)
    <= inf_mass q * P t + lsum (fun a => fst a * pos_part (P t - snd a * c * Q t)) ws).
  { intros t.
    assert (W0 : 0 <= lsum (fun a => fst a * pos_part (P t - snd a * c * Q t)) ws).
    { clear - Q2; induction Q2 as [|a ws [A B] Q2 IH]; simpl; [lra|].
      apply Rplus_le_le_0_compat; auto; apply Rmult_le_pos; auto; apply pp0. }
    pose proof (pmf_ge0 Q t) as Qt.
    assert (j0 : 0 <= j t) by (apply lsum_ge0, pmf_ge0).
    destruct (pmf_ge0 P t) as [Hpt|Hpt].
    - assert (Hc' : 0 <= c * Q t / P t) by (apply Rmult_le_pos; [nra|left; now apply Rinv_0_lt_compat]).
      pose proof (HK t (c * Q t / P t) _ Hc' (slice_NoDup eqd t l Hl)) as B; fold (k t) in B; fold (j t) in B.
      apply (Rmult_le_compat_l (P t)) in B; [|lra].
      replace (P t * (k t - c * Q t / P t * j t)) with (P t * k t - c * (Q t * j t)) in B by (field; lra).
      eapply Rle_trans; [exact B|right]; unfold curve, hinges; fold ws.
      rewrite Rmult_plus_distr_l, (Rmult_comm (P t) (inf_mass q)); f_equal.
      rewrite <- lsum_scal; apply lsum_ext; intros a _.
      assert (X : P t * (1 - snd a * (c * Q t / P t)) = P t - snd a * c * Q t) by (field; lra).
      rewrite <- X; replace (P t * (fst a * pos_part (1 - snd a * (c * Q t / P t))))
        with (fst a * (P t * pos_part (1 - snd a * (c * Q t / P t)))) by ring.
      f_equal; unfold pos_part; rewrite <- RmaxRmult by lra; f_equal; ring.
    - rewrite <- Hpt in *; rewrite Rmult_0_l, Rmult_0_r.
      assert (0 <= c * (Q t * j t)) by (apply Rmult_le_pos; auto; now apply Rmult_le_pos).
      lra. }
  eapply Rle_trans; [apply lsum_le; intros t _; apply Pt|].
  rewrite lsum_plus, !lsum_scal.
  assert (Ex : lsum (fun t => lsum (fun a => fst a * pos_part (P t - snd a * c * Q t)) ws) lt
    = lsum (fun a => fst a * hs P Q (snd a * c) lt) ws).
  { clear; unfold hs; induction ws as [|a ws IH]; simpl.
    - induction lt; simpl; lra.
    - rewrite lsum_plus, lsum_scal, IH; auto. }
  rewrite Ex; pose proof (has_sum_ub _ _ _ (pmf_sum P) Hlt) as PS.
  apply Rplus_le_compat; [nra|].
  apply lsum_le; intros a Ha; pose proof (proj1 (Forall_forall _ _) Q2 a Ha) as [A1 A2].
  apply Rmult_le_compat_l; auto.
  destruct (hs_event P Q (snd a * c) lt) as [l' Hl']; destruct (Hl' Hlt) as [N ->].
  apply HP; auto; now apply Rmult_le_pos.
Qed.

(* ---------- processes ---------- *)
(* a bound of some pair lies above the trivial curve *)
Definition covers (p : pld) : Prop := forall c, 0 <= c -> pos_part (1 - c) <= curve p c.
Definition pld_one : pld := Pld 0 [(1, 1)].
Fixpoint pld_total (ps : list pld) : pld := match ps with [] => pld_one | p :: ps => conv p (pld_total ps) end.
Fixpoint pld_lines {D T} (adj : D -> D -> Prop) (ps : list pld) (x : process D T) : Prop :=
  match x, ps with
  | Done, _ => True
  | Release m next, [] => False
  | Release m next, p :: ps => pld_mech adj p m /\ forall t, pld_lines adj ps (next t)
  end.
Lemma sound_total ps : Forall sound ps -> sound (pld_total ps).
Proof.
  intros H; induction H as [|p ps Hp H IH]; simpl; [|now apply sound_conv].
  split; simpl; [lra|repeat constructor; simpl; lra].
Qed.
Lemma covers_total ps : Forall sound ps -> Forall covers ps -> covers (pld_total ps).
Proof.
  intros Hs H; revert Hs; induction H as [|p ps Hp H IH]; intros Hs c Hc; simpl.
  - unfold curve, hinges; simpl; rewrite !Rmult_1_l; lra.
  - inversion Hs; subst; specialize (IH H3 c Hc); destruct (sound_total ps H3) as [S1 S2].
    rewrite curve_conv; eapply Rle_trans; [exact IH|]; unfold curve, hinges; apply Rplus_le_compat_l.
    apply lsum_le; intros a Ha; pose proof (proj1 (Forall_forall _ _) S2 a Ha) as [A1 A2].
    apply Rmult_le_compat_l; auto; apply Hp; now apply Rmult_le_pos.
Qed.

(** @theorem compose-pld
    Release number i of a process (chosen with knowledge of all earlier outputs) is bounded,
    for each ordered neighbouring pair of adj, by the privacy-loss distribution p_i. The
    transcript is bounded by their convolution, so it is (eps, delta)-DP for adj for every eps
    with delta = mass at infinity + sum over the atoms of weight * (1 - e^(eps - loss))+. *)
Theorem pld_process {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop) ps (x : process D T) :
  Forall sound ps -> Forall covers ps -> pld_lines adj ps x ->
  pld_mech adj (pld_total ps) (run eqd x) /\
  forall eps, dp_mech adj eps (curve (pld_total ps) (exp eps)) (run eqd x).
Proof.
  intros Hs Hv H; assert (G : pld_mech adj (pld_total ps) (run eqd x)).
  { revert ps Hs Hv H; induction x as [|m next IH]; intros ps Hs Hv H d d' A c l Hc Hl.
    - change (run eqd Done d') with (run eqd (@Done D T) d); set (P := run eqd Done d); clearbody P.
      pose proof (has_sum_ub _ _ _ (pmf_sum P) Hl); pose proof (lsum_ge0 P l (pmf_ge0 P)).
      pose proof (covers_total ps Hs Hv c Hc); pose proof (pp0 (1 - c)); pose proof (pp1 (1 - c)); nra.
    - destruct ps as [|p ps]; [destruct H|]; destruct H as [Hm Hn]; inversion Hs; inversion Hv; subst.
      cbn [run]; rewrite (lsum_pairs (pmf (cons_dist eqd (m d) _))), (lsum_pairs (pmf (cons_dist eqd (m d') _))) by reflexivity.
      apply (pld_joint eqd p (pld_total ps) (m d) (m d') (fun t => run eqd (next t) d) (fun t => run eqd (next t) d'));
        auto using sound_total, pairs_NoDup.
      intros t; apply IH; auto. }
  split; auto; intros eps d d' A l Hl; pose proof (G d d' A (exp eps) l ltac:(left; apply exp_pos) Hl); lra.
Qed.

(* ---------- rounding ---------- *)
Definition pld_le (p p' : pld) : Prop := forall c, 0 <= c -> curve p c <= curve p' c.
Lemma pld_pair_le {T} p p' (P Q : T -> R) : pld_le p p' -> pld_pair p P Q -> pld_pair p' P Q.
Proof. intros H HP c l Hc Hl; eapply Rle_trans; [apply HP|apply H]; auto. Qed.
Lemma pos_part_mono x y : x <= y -> pos_part x <= pos_part y.
Proof. intros H; apply pp_le; [apply pp0|]; pose proof (pp1 y); lra. Qed.

(** @theorem pld-round-up
    Raising the mass at infinity, raising weights, and raising losses (lowering e^-loss)
    keeps a privacy-loss bound a bound. *)
Theorem pld_round_up i i' l l' : i <= i' ->
  Forall2 (fun a a' => 0 <= fst a <= fst a' /\ 0 <= snd a' <= snd a) l l' -> pld_le (Pld i l) (Pld i' l').
Proof.
  intros Hi H c Hc; unfold curve, hinges; cbn [inf_mass atoms]; apply Rplus_le_compat; auto.
  induction H as [|a a' l l' [A1 A2] H IH]; simpl; [lra|]; apply Rplus_le_compat; auto.
  apply Rmult_le_compat; [lra|apply pp0|lra|]; apply pos_part_mono; nra.
Qed.
(** @theorem pld-truncate
    Moving an atom to infinite loss keeps a privacy-loss bound a bound. *)
Theorem pld_truncate i w s l : 0 <= w -> 0 <= s -> pld_le (Pld i ((w, s) :: l)) (Pld (i + w) l).
Proof.
  intros Hw Hs c Hc; unfold curve, hinges; cbn [inf_mass atoms lsum fst snd].
  assert (pos_part (1 - s * c) <= 1) by (apply pp_le; nra); nra.
Qed.
(* two atoms of the same loss are one *)
Lemma pld_merge i w w' s l : pld_le (Pld i ((w, s) :: (w', s) :: l)) (Pld i ((w + w', s) :: l)).
Proof. intros c Hc; unfold curve, hinges; cbn [inf_mass atoms lsum fst snd]; lra. Qed.

(* ---------- bounds of single releases ---------- *)
(** @theorem pld-exact
    For distributions P and Q and any finite set of outputs: one atom per output x, with
    weight P(x) and e^-loss = Q(x)/P(x), and the P-mass of all other outputs at infinity, bound
    P against Q. *)
Theorem pld_exact {T} (eqd : forall x y : T, {x = y} + {x <> y}) (P Q : dist T) (l0 : list T) :
  NoDup l0 -> (forall x, In x l0 -> 0 < P x) ->
  pld_pair (Pld (1 - lsum P l0) (map (fun x => (P x, Q x / P x)) l0)) P Q.
Proof.
  intros N0 Hpos c l Hc Hl; unfold curve, hinges; cbn [inf_mass atoms]; rewrite lsum_map; cbn [fst snd].
  rewrite (lsum_ext (fun u => P u * pos_part (1 - Q u / P u * c)) (fun u => pos_part (P u - c * Q u))).
  2:{ intros x Hx; specialize (Hpos x Hx); unfold pos_part; rewrite <- RmaxRmult by lra; f_equal; field; lra. }
  set (l' := nodup eqd (l0 ++ l)); assert (Hl' : NoDup l') by apply NoDup_nodup.
  set (inside := fun x => if in_dec eqd x l0 then true else false).
  pose proof (has_sum_ub _ _ _ (pmf_sum P) Hl') as S1.
  assert (B : lsum (fun x => pos_part (P x - c * Q x)) l <=
    lsum (fun x => if inside x then pos_part (P x - c * Q x) else P x) l').
  { eapply Rle_trans; [apply (lsum_incl _ l l'); auto; [intros; apply pp0|]|].
    - intros x Hx; apply nodup_In, in_or_app; auto.
    - apply lsum_le; intros x _; destruct (inside x); [lra|]; apply pp_le; [apply pmf_ge0|].
      pose proof (pmf_ge0 Q x); nra. }
  assert (C : lsum P l - c * lsum Q l <= lsum (fun x => pos_part (P x - c * Q x)) l).
  { replace (lsum P l - c * lsum Q l) with (lsum P l + - c * lsum Q l) by ring.
    rewrite <- lsum_scal, <- lsum_plus; apply lsum_le; intros x _; eapply Rle_trans; [|apply pp1]; lra. }
  assert (D : lsum (fun x => if inside x then pos_part (P x - c * Q x) else P x) l'
    = lsum (fun x => pos_part (P x - c * Q x)) l0 + (lsum P l' - lsum P l0)).
  { assert (F : forall f : T -> R, (forall x, 0 <= f x) -> lsum (fun x => if inside x then f x else 0) l' = lsum f l0).
    { intros f Hf; rewrite <- lsum_filter; apply Rle_antisym; apply lsum_incl; auto.
      - now apply NoDup_filter.
      - intros x Hx; apply filter_In in Hx; unfold inside in Hx; destruct (in_dec eqd x l0); tauto || easy.
      - intros x Hx; apply filter_In; split; [apply nodup_In, in_or_app; auto|].
        unfold inside; destruct (in_dec eqd x l0); easy. }
    rewrite <- (F (fun x => pos_part (P x - c * Q x))) by (intros; apply pp0).
    rewrite <- (F P) by apply pmf_ge0.
    replace (lsum P l' - lsum (fun x => if inside x then P x else 0) l')
      with (lsum P l' + -1 * lsum (fun x => if inside x then P x else 0) l') by ring.
    rewrite <- lsum_scal, <- !lsum_plus; apply lsum_ext; intros x _; destruct (inside x); ring. }
  lra.
Qed.

Lemma pair_covers {T} (eqd : forall x y : T, {x = y} + {x <> y}) p (P Q : dist T) : sound p -> pld_pair p P Q -> covers p.
Proof.
  intros Sp H c Hc; apply pp_le.
  - pose proof (H c [] Hc (NoDup_nil _)) as H0; simpl in H0; lra.
  - (* P(l) - c <= P(l) - c Q(l) <= curve, for every l *)
    enough (1 <= curve p c + c) by lra.
    eapply has_sum_lub; [apply (pmf_sum P)|]; intros l Hl.
    pose proof (H c l Hc Hl); pose proof (has_sum_ub _ _ _ (pmf_sum Q) Hl); nra.
Qed.

(** @theorem pld-approx
    A pair that is (e, dl)-close in both directions is bounded by the privacy-loss
    distribution of randomized response: mass dl at infinity, (1-dl) e^e/(1+e^e) at loss e,
    (1-dl)/(1+e^e) at loss -e. *)
Theorem pld_approx {T} (eqd : forall x y : T, {x = y} + {x <> y}) e dl (P Q : dist T) :
  0 <= e -> 0 <= dl <= 1 -> dp e dl P Q -> dp e dl Q P ->
  pld_pair (Pld dl [((1 - dl) * (exp e / (1 + exp e)), / exp e); ((1 - dl) * / (1 + exp e), exp e)]) P Q.
Proof.
  intros He Hd H1 H2 c l Hc Hl.
  pose proof (hs_dominated eqd P Q e dl He Hd H1 H2 c l Hl Hc) as D.
  eapply Rle_trans; [|eapply Rle_trans; [exact D|right]].
  - unfold hs; replace (lsum P l - c * lsum Q l) with (lsum P l + - c * lsum Q l) by ring.
    rewrite <- lsum_scal, <- lsum_plus; apply lsum_le; intros x _; eapply Rle_trans; [|apply pp1]; lra.
  - unfold curve, hinges; cbn [inf_mass atoms lsum fst snd]; pose proof (exp_pos e).
    replace (/ exp e * c) with (c / exp e) by (unfold Rdiv; ring); replace (exp e * c) with (c * exp e) by ring.
    field; lra.
Qed.

(** @theorem pld-public-coin
    M is bounded by p for adj. A step that publishes a coin and runs M only when the coin
    (probability r) says so is bounded by p with weights and infinite mass times r, plus
    an atom of weight 1 - r at loss 0. *)
Theorem pld_public_coin {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop) p r (M : D -> dist T)
  (M' : D -> dist (option T)) : 0 <= r <= 1 ->
  (forall d, M' d None = 1 - r) -> (forall d t, M' d (Some t) = r * M d t) -> pld_mech adj p M ->
  pld_mech adj (Pld (r * inf_mass p) ((1 - r, 1) :: map (fun a => (r * fst a, snd a)) (atoms p))) M'.
Proof.
  intros Hr H0 H1 H d d' A c l Hc Hl; unfold curve, hinges; cbn [inf_mass atoms lsum fst snd]; rewrite lsum_map; cbn [fst snd].
  assert (E : lsum (M' d) l - c * lsum (M' d') l <=
    (1 - r) * pos_part (1 - 1 * c) + r * (lsum (M d) (opts l) - c * lsum (M d') (opts l))).
  { assert (Sp : forall d, lsum (M' d) l = (1 - r) * lsum (fun x => match x with None => 1 | Some _ => 0 end) l + r * lsum (M d) (opts l)).
    { intros d0; clear Hl; induction l as [|[t|] l IH]; simpl; [lra| |]; rewrite IH, ?H0, ?H1; ring. }
    rewrite !Sp; set (n := lsum (fun x : option T => match x with None => 1 | Some _ => 0 end) l).
    assert (Hn : 0 <= n <= 1).
    { unfold n; clear - Hl; induction Hl as [|[t|] l Hx Hl IH]; simpl; [lra| |]; [lra|].
      assert (lsum (fun x : option T => match x with None => 1 | Some _ => 0 end) l = 0).
      { clear IH Hl; induction l as [|[t|] l IH]; simpl in *; [lra| |exfalso; tauto].
        rewrite IH by tauto; ring. }
      lra. }
    rewrite Rmult_1_l; pose proof (pp0 (1 - c)); pose proof (pp1 (1 - c)).
    assert (n * (1 - c) <= pos_part (1 - c)) by nra.
    assert ((1 - r) * (n * (1 - c)) <= (1 - r) * pos_part (1 - c)) by (apply Rmult_le_compat_l; lra).
    nra. }
  eapply Rle_trans; [exact E|].
  assert (N : NoDup (opts l)).
  { clear - Hl; induction Hl as [|[t|] l Hx Hl IH]; simpl; auto; constructor; auto; intros Hi; now apply Hx, opts_In. }
  pose proof (H d d' A c (opts l) Hc N) as B; unfold curve, hinges in B.
  rewrite (lsum_ext (fun u => r * fst u * pos_part (1 - snd u * c)) (fun u => r * (fst u * pos_part (1 - snd u * c)))), lsum_scal by (intros; ring).
  nra.
Qed.

(* ---------- instances ---------- *)
(* two 0.1-close releases, one of which fails with probability 1e-6 besides *)
Example two_steps {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop) (m1 : D -> dist T) (m2 : T -> D -> dist T) :
  dp_both adj (1 / 10) 0 m1 -> (forall t, dp_both adj (1 / 10) (powerRZ 10 (-6)) (m2 t)) ->
  let E := exp (1 / 10) in let dl := powerRZ 10 (-6) in
  let p dl := Pld dl [((1 - dl) * (E / (1 + E)), / E); ((1 - dl) * / (1 + E), E)] in
  dp_mech adj (1 / 5) (curve (pld_total [p 0; p dl]) (exp (1 / 5))) (run eqd (Release m1 (fun t => Release (m2 t) (fun _ => Done)))).
Proof.
  intros H1 H2 E dl p; assert (Hd : 0 <= dl <= 1) by (unfold dl; simpl; lra).
  assert (HE : 1 <= E) by (unfold E; pose proof (exp_ineq1_le (1 / 10)); lra).
  assert (I1 : 0 < / (1 + E)) by (apply Rinv_0_lt_compat; lra).
  assert (I2 : 0 < / E) by (apply Rinv_0_lt_compat; lra).
  assert (Sp : forall z, 0 <= z <= 1 -> sound (p z)).
  { intros z Hz; split; simpl; [lra|].
    constructor; [split|constructor; [split|constructor]]; simpl; unfold Rdiv; repeat apply Rmult_le_pos; lra. }
  assert (Cv : forall z, 0 <= z <= 1 -> covers (p z)).
  { intros z Hz c Hc; unfold curve, hinges, p; cbn [inf_mass atoms lsum fst snd].
    pose proof (pp1 (1 - / E * c)); pose proof (pp1 (1 - E * c)); pose proof (pp0 (1 - / E * c)); pose proof (pp0 (1 - E * c)).
    set (A := E / (1 + E)); set (B := / (1 + E)).
    assert (HA : 0 < A) by (unfold A, Rdiv; nra); assert (HAB : A + B = 1) by (unfold A, B; field; lra).
    assert (HAE : A * / E = B) by (unfold A, B; field; lra); assert (HBE : B * E = A) by (unfold A, B; field; lra).
    assert (V : pos_part (1 - c) <= A * pos_part (1 - / E * c) + B * pos_part (1 - E * c)).
    { apply pp_le; [unfold B; nra|].
      apply Rle_trans with (A * (1 - / E * c) + B * (1 - E * c)); [right|apply Rplus_le_compat; apply Rmult_le_compat_l; unfold B; lra].
      transitivity (A + B - (A * / E + B * E) * c); [rewrite HAE, HBE; replace (B + A) with (A + B) by ring; rewrite HAB; ring|ring]. }
    assert (pos_part (1 - c) <= 1) by (apply pp_le; lra).
    pose proof (pp0 (1 - c)); nra. }
  apply (pld_process eqd adj [p 0; p dl]).
  - constructor; [apply Sp; lra|constructor; [apply Sp; lra|constructor]].
  - constructor; [apply Cv; lra|constructor; [apply Cv; lra|constructor]].
  - simpl; split; [|intros t; split; [|auto]].
    + intros d d' A; destruct (H1 d d' A); apply (pld_approx eqd); auto; lra.
    + intros d d' A; destruct (H2 t d d' A); apply (pld_approx eqd); auto; lra.
Qed.
