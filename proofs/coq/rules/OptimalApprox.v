(* Optimal composition of (eps_i, delta_i) mechanisms, in processes: the curve of
   randomized responses, plus what the delta_i add. Advanced composition with
   deltas follows. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi Basic PureToZCDP Releases RenyiReleases Optimal.
Import ListNotations.
Local Open Scope R_scope.

Definition pos_part (x : R) : R := Rmax 0 x.
Lemma pp0 x : 0 <= pos_part x. Proof. apply Rmax_l. Qed.
Lemma pp1 x : x <= pos_part x. Proof. apply Rmax_r. Qed.
Lemma pp_le x y : 0 <= y -> x <= y -> pos_part x <= y.
Proof. intros; apply Rmax_lub; auto. Qed.

(* ---------- the curve as a combination of hinges ---------- *)
Definition hinges (ws : list (R * R)) (c : R) : R := lsum (fun p => fst p * pos_part (1 - snd p * c)) ws.
Definition proper (ws : list (R * R)) : Prop := Forall (fun p => 0 <= fst p /\ 0 <= snd p) ws.
Lemma hock_hinges es : exists ws, proper ws /\ forall c, hock es c = hinges ws c.
Proof.
  induction es as [|e es (ws & Hp & H)].
  - exists [(1, 1)]; split; [repeat constructor; simpl; lra|]; intros c; unfold hinges; simpl.
    unfold pos_part; rewrite !Rmult_1_l; ring.
  - set (E := exp e); assert (HE : 0 < E) by apply exp_pos.
    exists (map (fun p => (E / (1 + E) * fst p, snd p / E)) ws ++ map (fun p => (/ (1 + E) * fst p, snd p * E)) ws).
    assert (HI : 0 < / (1 + E)) by (apply Rinv_0_lt_compat; lra).
    assert (HJ : 0 < / E) by (apply Rinv_0_lt_compat; lra).
    split.
    + apply Forall_app; split; apply Forall_forall; intros p Hin; apply in_map_iff in Hin; destruct Hin as (p' & <- & Hin);
        pose proof (proj1 (Forall_forall _ _) Hp p' Hin) as [A B]; simpl; unfold Rdiv; split;
        repeat apply Rmult_le_pos; lra.
    + intros c; cbn [hock]; fold E; rewrite !H; unfold hinges; rewrite lsum_app, !lsum_map; simpl.
      rewrite (lsum_ext (fun u => E / (1 + E) * fst u * pos_part (1 - snd u / E * c))
        (fun u => E / (1 + E) * (fst u * pos_part (1 - snd u * (c / E))))).
      2:{ intros p _; rewrite Rmult_assoc; do 4 f_equal; unfold Rdiv; ring. }
      rewrite (lsum_ext (fun u => / (1 + E) * fst u * pos_part (1 - snd u * E * c))
        (fun u => / (1 + E) * (fst u * pos_part (1 - snd u * (c * E))))).
      2:{ intros p _; rewrite Rmult_assoc; do 4 f_equal; ring. }
      rewrite !lsum_scal; field; lra.
Qed.
Lemma hock_ge es c : Rmax 0 (1 - c) <= hock es c.
Proof.
  revert c; induction es as [|e es IH]; intros c; cbn [hock]; [apply Rle_refl|].
  set (E := exp e); assert (HE : 0 < E) by apply exp_pos.
  pose proof (IH (c / E)) as A; pose proof (IH (c * E)) as B.
  pose proof (Rmax_l 0 (1 - c / E)); pose proof (Rmax_r 0 (1 - c / E)).
  pose proof (Rmax_l 0 (1 - c * E)); pose proof (Rmax_r 0 (1 - c * E)).
  apply Rmult_le_reg_r with (1 + E); [lra|].
  replace ((E * hock es (c / E) + hock es (c * E)) / (1 + E) * (1 + E))
    with (E * hock es (c / E) + hock es (c * E)) by (field; lra).
  assert (E * (c / E) = c) by (field; lra).
  assert (E * (1 - c / E) <= E * hock es (c / E)) by (apply Rmult_le_compat_l; lra).
  unfold Rmax; destruct (Rle_dec 0 (1 - c)); nra.
Qed.

(* ---------- hockey sticks of an (eps, delta)-close pair ---------- *)
Section Pair.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).
Variables (P Q : dist T) (e dl : R).
Hypotheses (He : 0 <= e) (Hd : 0 <= dl <= 1) (HPQ : dp e dl P Q) (HQP : dp e dl Q P).
Let E := exp e.
Lemma hE : 1 <= E. Proof. unfold E; pose proof (exp_ineq1_le e); lra. Qed.
Definition hs (P Q : T -> R) (r : R) (l : list T) : R := lsum (fun t => pos_part (P t - r * Q t)) l.
Lemma hs_event (X Y : T -> R) r l : exists l', NoDup l -> NoDup l' /\ hs X Y r l = lsum X l' - r * lsum Y l'.
Proof.
  exists (filter (fun t => if Rle_dec 0 (X t - r * Y t) then true else false) l); intros Hl.
  split; [now apply NoDup_filter|]; unfold hs.
  rewrite !lsum_filter; clear Hl; induction l as [|t l IH]; simpl; [lra|]; rewrite IH.
  unfold pos_part, Rmax; destruct (Rle_dec 0 (X t - r * Y t)); lra.
Qed.
Lemma hs_mono X Y r r' l : (forall t, 0 <= Y t) -> r <= r' -> hs X Y r' l <= hs X Y r l.
Proof.
  intros HY Hr; apply lsum_le; intros t _; apply pp_le; [apply pp0|].
  eapply Rle_trans; [|apply pp1]; pose proof (HY t); nra.
Qed.
Lemma hs_E (X Y : dist T) l : dp e dl X Y -> NoDup l -> hs X Y E l <= dl.
Proof.
  intros H Hl; destruct (hs_event X Y E l) as [l' Hl']; destruct (Hl' Hl) as [N ->].
  pose proof (H l' N); unfold E; lra.
Qed.
(* for r <= 1/E, by passing to the complement *)
Lemma hs_low r l : NoDup l -> 0 < r -> r * E <= 1 -> hs P Q r l <= 1 - r + r * dl.
Proof.
  intros Hl Hr HrE.
  (* hs over l is at most hs over any larger list; let the larger list exhaust P and Q *)
  assert (I : hs P Q r l <= 1 + r * dl - r * 1); [|lra].
  enough (r * 1 <= 1 + r * dl - hs P Q r l) by lra.
  enough (1 <= (1 + r * dl - hs P Q r l) / r) as G.
  { apply (Rmult_le_compat_l r) in G; [|lra]; eapply Rle_trans; [exact G|right; field; lra]. }
  eapply has_sum_lub; [apply (pmf_sum Q)|]; intros l2 Hl2.
  set (l' := nodup eqd (l ++ l2)); assert (Hl' : NoDup l') by apply NoDup_nodup.
  assert (A : hs P Q r l <= hs P Q r l').
  { apply lsum_incl; auto; [intros; apply pp0|]; intros x Hx; apply nodup_In, in_or_app; auto. }
  assert (B : lsum Q l2 <= lsum Q l').
  { apply lsum_incl; auto; [apply pmf_ge0|]; intros x Hx; apply nodup_In, in_or_app; auto. }
  assert (C : hs P Q r l' = lsum P l' - r * lsum Q l' + r * hs Q P (/ r) l').
  { unfold hs; rewrite (lsum_ext _ (fun t => P t + (- r * Q t + r * pos_part (Q t - / r * P t)))).
    { rewrite !lsum_plus, !lsum_scal; ring. }
    intros t _.
    assert (X : r * (Q t - / r * P t) = - (P t - r * Q t)) by (field; lra).
    unfold pos_part, Rmax; destruct (Rle_dec 0 (P t - r * Q t)), (Rle_dec 0 (Q t - / r * P t)); nra. }
  assert (F : hs Q P (/ r) l' <= dl).
  { eapply Rle_trans; [|apply (hs_E Q P l' HQP Hl')]; apply hs_mono; [apply pmf_ge0|].
    apply Rmult_le_reg_l with r; auto; rewrite Rinv_r; lra. }
  pose proof (has_sum_ub _ _ _ (pmf_sum P) Hl').
  apply Rmult_le_reg_l with r; auto.
  replace (r * ((1 + r * dl - hs P Q r l) / r)) with (1 + r * dl - hs P Q r l) by (field; lra); nra.
Qed.
(* domination by randomized response that reveals itself with probability dl *)
Lemma hs_dominated r l : NoDup l -> 0 <= r ->
  hs P Q r l <= dl + (1 - dl) * ((E * pos_part (1 - r / E) + pos_part (1 - r * E)) / (1 + E)).
Proof.
  intros Hl Hr; pose proof hE as E1.
  assert (HI : 0 < / (1 + E)) by (apply Rinv_0_lt_compat; lra).
  destruct (Rle_dec E r) as [R1|R1].
  - eapply Rle_trans; [eapply Rle_trans; [apply (hs_mono P Q E r); auto; apply pmf_ge0|apply hs_E; auto]|].
    assert (0 <= (E * pos_part (1 - r / E) + pos_part (1 - r * E)) / (1 + E)).
    { apply Rmult_le_pos; [|lra]; pose proof (pp0 (1 - r / E)); pose proof (pp0 (1 - r * E)); nra. }
    nra.
  - assert (L1 : E * pos_part (1 - r / E) >= E - r).
    { pose proof (pp1 (1 - r / E)); assert (E * (r / E) = r) by (field; lra); nra. }
    destruct (Rle_dec (r * E) 1) as [R2|R2].
    + assert (Low : hs P Q r l <= 1 - r + r * dl).
      { destruct Hr as [Hr| <-]; [now apply hs_low|].
        unfold hs; rewrite (lsum_ext _ P).
        - pose proof (has_sum_ub _ _ _ (pmf_sum P) Hl); lra.
        - intros t _; unfold pos_part; rewrite Rmax_right; pose proof (pmf_ge0 P t); lra. }
      eapply Rle_trans; [exact Low|].
      apply Rle_trans with (dl + (1 - dl) * ((E - r + (1 - r * E)) / (1 + E))).
      * right; field; lra.
      * apply Rplus_le_compat_l, Rmult_le_compat_l; [lra|]; apply Rmult_le_compat_r; [lra|].
        pose proof (pp1 (1 - r * E)); lra.
    + (* between 1/E and E: convexity in r *)
      assert (HEE : 0 < E - / E).
      { assert (/ E < E); [|lra]. apply Rmult_lt_reg_l with E; [lra|]; rewrite Rinv_r by lra; nra. }
      set (w := (E - r) / (E - / E)).
      assert (Hw0 : w * (E - / E) = E - r) by (unfold w; field; split; [lra|nra]).
      assert (HrE : / E <= r).
      { apply Rmult_le_reg_l with E; [lra|]; rewrite Rinv_r by lra; nra. }
      assert (Hw : 0 <= w <= 1) by (split; nra).
      assert (Cvx : hs P Q r l <= w * hs P Q (/ E) l + (1 - w) * hs P Q E l).
      { unfold hs; rewrite <- !lsum_scal, <- lsum_plus; apply lsum_le; intros t _.
        pose proof (pp0 (P t - / E * Q t)); pose proof (pp1 (P t - / E * Q t)).
        pose proof (pp0 (P t - E * Q t)); pose proof (pp1 (P t - E * Q t)).
        apply pp_le; [apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra|].
        replace (P t - r * Q t) with (w * (P t - / E * Q t) + (1 - w) * (P t - E * Q t)).
        - apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
        - replace r with (E - w * (E - / E)) by lra; ring. }
      assert (HIE : 0 < / E) by (apply Rinv_0_lt_compat; lra).
      pose proof (hs_low (/ E) l Hl HIE ltac:(rewrite Rinv_l; lra)) as B1.
      pose proof (hs_E P Q l HPQ Hl) as B2.
      eapply Rle_trans; [exact Cvx|].
      apply Rle_trans with (w * (1 - / E + / E * dl) + (1 - w) * dl).
      { apply Rplus_le_compat; apply Rmult_le_compat_l; lra. }
      apply Rle_trans with (dl + (1 - dl) * ((E - r) / (1 + E))).
      * right; rewrite <- Hw0; field; split; lra.
      * apply Rplus_le_compat_l, Rmult_le_compat_l; [lra|]; apply Rmult_le_compat_r; [lra|].
        pose proof (pp0 (1 - r * E)); lra.
Qed.
End Pair.

(* ---------- one adaptive step ---------- *)
Lemma step_bound {T V} (eqd : forall x y : T, {x = y} + {x <> y}) e dl (P Q : dist T) (K L : T -> dist V) es A c l :
  0 <= e -> 0 <= dl <= 1 -> dp e dl P Q -> dp e dl Q P -> 0 <= A <= 1 -> 0 <= c -> NoDup l ->
  (forall t c l, 0 <= c -> NoDup l -> lsum (K t) l - c * lsum (L t) l <= A + (1 - A) * hock es c) ->
  lsum (joint_dist eqd P K) l - c * lsum (joint_dist eqd Q L) l
    <= (1 - (1 - dl) * (1 - A)) + (1 - dl) * (1 - A) * hock (e :: es) c.
Proof.
  intros He Hd HPQ HQP HA Hc Hl HK; match goal with |- _ <= ?b => set (bound := b) end; simpl; unfold joint; subst bound.
  destruct (hock_hinges es) as (ws & Hp & Hh).
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
  rewrite EP; clear EP.
  (* each output t contributes at most A P(t) + (1-A) sum_i w_i (P(t) - s_i c Q(t))+ *)
  assert (Pt : forall t, P t * k t - c * (Q t * j t)
    <= A * P t + (1 - A) * lsum (fun p => fst p * pos_part (P t - snd p * c * Q t)) ws).
  { intros t.
    assert (W0 : 0 <= lsum (fun p => fst p * pos_part (P t - snd p * c * Q t)) ws).
    { clear - Hp; induction Hp as [|p ws [A B] Hp IH]; simpl; [lra|].
      apply Rplus_le_le_0_compat; auto; apply Rmult_le_pos; auto; apply pp0. }
    pose proof (pmf_ge0 Q t) as Qt.
    assert (j0 : 0 <= j t) by (apply lsum_ge0, pmf_ge0).
    destruct (pmf_ge0 P t) as [Hpt|Hpt].
    - assert (Hc' : 0 <= c * Q t / P t) by (apply Rmult_le_pos; [nra|left; now apply Rinv_0_lt_compat]).
      pose proof (HK t (c * Q t / P t) _ Hc' (slice_NoDup eqd t l Hl)) as B; fold (k t) in B; fold (j t) in B.
      apply (Rmult_le_compat_l (P t)) in B; [|lra].
      replace (P t * (k t - c * Q t / P t * j t)) with (P t * k t - c * (Q t * j t)) in B by (field; lra).
      eapply Rle_trans; [exact B|right]; rewrite Rmult_plus_distr_l, (Rmult_comm (P t) A); f_equal.
      rewrite Hh; unfold hinges.
      replace (P t * ((1 - A) * lsum (fun p => fst p * pos_part (1 - snd p * (c * Q t / P t))) ws))
        with ((1 - A) * (P t * lsum (fun p => fst p * pos_part (1 - snd p * (c * Q t / P t))) ws)) by ring.
      f_equal; rewrite <- lsum_scal; apply lsum_ext; intros p _.
      assert (X : P t * (1 - snd p * (c * Q t / P t)) = P t - snd p * c * Q t) by (field; lra).
      rewrite <- X; replace (P t * (fst p * pos_part (1 - snd p * (c * Q t / P t))))
        with (fst p * (P t * pos_part (1 - snd p * (c * Q t / P t)))) by ring.
      f_equal; unfold pos_part; rewrite <- RmaxRmult by lra; f_equal; ring.
    - rewrite <- Hpt in *; rewrite Rmult_0_l, Rmult_0_r.
      assert (0 <= c * (Q t * j t)) by (apply Rmult_le_pos; auto; now apply Rmult_le_pos).
      assert (0 <= (1 - A) * lsum (fun p => fst p * pos_part (0 - snd p * c * Q t)) ws) by (apply Rmult_le_pos; lra).
      lra. }
  eapply Rle_trans; [apply lsum_le; intros t _; apply Pt|].
  rewrite lsum_plus, !lsum_scal.
  assert (Sw : lsum (fun t => lsum (fun p => fst p * pos_part (P t - snd p * c * Q t)) ws) lt
    <= dl * hinges ws 0 + (1 - dl) * hock (e :: es) c).
  { assert (Ex : lsum (fun t => lsum (fun p => fst p * pos_part (P t - snd p * c * Q t)) ws) lt
      = lsum (fun p => fst p * hs P Q (snd p * c) lt) ws).
    { clear; unfold hs; induction ws as [|p ws IH]; simpl.
      - induction lt; simpl; lra.
      - rewrite lsum_plus, lsum_scal, IH; auto. }
    rewrite Ex; cbn [hock]; rewrite !Hh; unfold hinges; set (E := exp e).
    assert (HE : 0 < E) by apply exp_pos.
    assert (G : lsum (fun p => fst p * hs P Q (snd p * c) lt) ws <=
      lsum (fun p => dl * (fst p * pos_part (1 - snd p * 0)) + ((1 - dl) * E / (1 + E) * (fst p * pos_part (1 - snd p * (c / E)))
        + (1 - dl) / (1 + E) * (fst p * pos_part (1 - snd p * (c * E))))) ws).
    { apply lsum_le; intros p Hin; pose proof (proj1 (Forall_forall _ _) Hp p Hin) as [B1 B2].
      pose proof (hs_dominated eqd P Q e dl He Hd HPQ HQP (snd p * c) lt Hlt ltac:(now apply Rmult_le_pos)) as D.
      fold E in D; apply (Rmult_le_compat_l (fst p)) in D; auto.
      eapply Rle_trans; [exact D|right].
      replace (pos_part (1 - snd p * 0)) with 1 by (unfold pos_part; rewrite Rmult_0_r, Rmax_right; lra).
      replace (snd p * c / E) with (snd p * (c / E)) by (unfold Rdiv; ring).
      rewrite Rmult_assoc with (r1 := snd p); field; lra. }
    eapply Rle_trans; [exact G|right]; rewrite !lsum_plus, !lsum_scal; field; lra. }
  assert (W1 : hinges ws 0 = 1).
  { rewrite <- Hh; clear; induction es as [|e es IH]; cbn [hock]; [rewrite Rmax_right; lra|].
    replace (0 / exp e) with 0 by (unfold Rdiv; ring); rewrite Rmult_0_l, IH; pose proof (exp_pos e); field; lra. }
  rewrite W1 in Sw; pose proof (has_sum_ub _ _ _ (pmf_sum P) Hlt) as PS.
  apply Rle_trans with (A * 1 + (1 - A) * (dl * 1 + (1 - dl) * hock (e :: es) c)); [|right; ring].
  apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.

(* ---------- processes ---------- *)
Definition dp_both {D T} (adj : D -> D -> Prop) e dl (m : D -> dist T) : Prop :=
  forall d d', adj d d' -> dp e dl (m d) (m d') /\ dp e dl (m d') (m d).
(* release number i is (eps_i, delta_i)-DP in both directions; may stop early *)
Fixpoint dp_lines {D T} (adj : D -> D -> Prop) (cs : list (R * R)) (p : process D T) : Prop :=
  match p, cs with
  | Done, _ => True
  | Release m next, [] => False
  | Release m next, c :: cs => dp_both adj (fst c) (snd c) m /\ forall t, dp_lines adj cs (next t)
  end.
(* 1 - (1-delta_1)...(1-delta_n) *)
Fixpoint fail (ds : list R) : R := match ds with [] => 0 | d :: ds => 1 - (1 - d) * (1 - fail ds) end.
Lemma fail_01 ds : Forall (fun d => 0 <= d <= 1) ds -> 0 <= fail ds <= 1.
Proof. intros H; induction H as [|d ds Hd H IH]; simpl; [lra|]; split; nra. Qed.
Lemma fail_le_sum ds : Forall (fun d => 0 <= d <= 1) ds -> fail ds <= rsum ds.
Proof. intros H; induction H as [|d ds Hd H IH]; simpl; [lra|]; pose proof (fail_01 ds H); nra. Qed.

(** @theorem compose-optimal-approx
    Release number i of a process (chosen with knowledge of all earlier outputs) is
    (eps_i, delta_i)-DP for adj, in both directions of every pair. The transcript is
    (eps, F + (1 - F) delta)-DP for adj for every eps, where F = 1 - (1-delta_1)...(1-delta_n)
    and delta is the exact curve at eps of independent randomized responses with
    parameters eps_1..eps_n. *)
Theorem optimal_process {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop)
  (cs : list (R * R)) (p : process D T) eps :
  Forall (fun c => 0 <= fst c /\ 0 <= snd c <= 1) cs -> dp_lines adj cs p ->
  let F := fail (map snd cs) in
  dp_mech adj eps (F + (1 - F) * hock (map fst cs) (exp eps)) (run eqd p).
Proof.
  intros Hcs Hp F d d' A.
  enough (forall c l, 0 <= c -> NoDup l -> lsum (run eqd p d) l - c * lsum (run eqd p d') l
    <= fail (map snd cs) + (1 - fail (map snd cs)) * hock (map fst cs) c) as G.
  { intros l Hl; pose proof (G (exp eps) l ltac:(left; apply exp_pos) Hl); unfold F; lra. }
  clear F; revert cs Hcs Hp; induction p as [|m next IH]; intros cs Hcs Hp c l Hc Hl.
  - change (run eqd Done d') with (run eqd (@Done D T) d); set (P := run eqd Done d); clearbody P.
    pose proof (has_sum_ub _ _ _ (pmf_sum P) Hl); pose proof (lsum_ge0 P l (pmf_ge0 P)).
    assert (HF : 0 <= fail (map snd cs) <= 1).
    { apply fail_01; clear - Hcs; induction Hcs as [|x cs Hx Hcs IHc]; simpl; constructor; auto; tauto. }
    pose proof (hock_ge (map fst cs) c); pose proof (Rmax_l 0 (1 - c)); pose proof (Rmax_r 0 (1 - c)).
    set (h := hock (map fst cs) c) in *; set (f := fail (map snd cs)) in *.
    assert (lsum P l - c * lsum P l <= Rmin 1 h).
    { apply Rmin_glb; nra. }
    pose proof (Rmin_l 1 h); pose proof (Rmin_r 1 h); nra.
  - destruct cs as [|[e dl] cs]; [destruct Hp|]; destruct Hp as [Hm Hn]; inversion Hcs as [|? ? [He Hd] Hcs']; subst.
    destruct (Hm d d' A) as [H1 H2]; simpl in He, Hd, H1, H2.
    assert (HF : 0 <= fail (map snd cs) <= 1).
    { apply fail_01; clear - Hcs'; induction Hcs' as [|x cs Hx Hcs IHc]; simpl; constructor; auto; tauto. }
    cbn [run]; rewrite (lsum_pairs (pmf (cons_dist eqd (m d) _))), (lsum_pairs (pmf (cons_dist eqd (m d') _))) by reflexivity.
    pose proof (step_bound eqd e dl (m d) (m d') (fun t => run eqd (next t) d) (fun t => run eqd (next t) d')
      (map fst cs) (fail (map snd cs)) c (pairs l) He Hd H1 H2 HF Hc (pairs_NoDup l Hl)) as S.
    cbn [map fst snd fail].
    replace (1 - (1 - (1 - dl) * (1 - fail (map snd cs)))) with ((1 - dl) * (1 - fail (map snd cs))) by ring.
    apply S; intros t c' l' Hc' Hl'; apply IH; auto.
Qed.

(* ---------- the curve is attained, and obeys every bound on randomized response ---------- *)
Lemma rr_prob e : 0 <= exp e / (1 + exp e) <= 1.
Proof.
  pose proof (exp_pos e); assert (0 < / (1 + exp e)) by (apply Rinv_0_lt_compat; lra); split.
  - unfold Rdiv; nra.
  - apply Rmult_le_reg_r with (1 + exp e); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.
Lemma rr_prob' e : 0 <= 1 - exp e / (1 + exp e) <= 1.
Proof. pose proof (rr_prob e); lra. Qed.
(* tell the truth with probability e^e / (1 + e^e) *)
Definition rr (e : R) (d : bool) : dist bool :=
  if d then coin_dist _ (rr_prob e) else coin_dist _ (rr_prob' e).
Fixpoint rrs (es : list R) : process bool bool :=
  match es with [] => Done | e :: es => Release (rr e) (fun _ => rrs es) end.
Lemma rr_pure e : 0 <= e -> dp e 0 (rr e true) (rr e false) /\ dp e 0 (rr e false) (rr e true).
Proof.
  intros He; assert (E1 : 1 <= exp e) by (pose proof (exp_ineq1_le e); lra); set (E := exp e) in *.
  assert (X : 1 - E / (1 + E) = / (1 + E)) by (field; lra).
  assert (0 < / (1 + E)) by (apply Rinv_0_lt_compat; lra).
  split; apply dp_pointwise; intros [|]; simpl; fold E; rewrite ?X; unfold Rdiv; try nra;
    replace (1 - / (1 + E)) with (E * / (1 + E)) by (field; lra); nra.
Qed.
(** @theorem compose-optimal-tight
    The curve of compose-optimal is attained: independent randomized responses with
    parameters eps_1..eps_n have an event with exactly that excess. *)
Theorem hock_attained es c : exists l, NoDup l /\
  hock es c = lsum (run Bool.bool_dec (rrs es) true) l - c * lsum (run Bool.bool_dec (rrs es) false) l.
Proof.
  revert c; induction es as [|e es IH]; intros c.
  - destruct (Rle_dec 0 (1 - c)) as [H|H].
    + exists [[]]; split; [repeat constructor; easy|]; simpl; rewrite Rmax_right by auto; lra.
    + exists []; split; [constructor|]; simpl; rewrite Rmax_left by lra; lra.
  - set (E := exp e); assert (HE : 0 < E) by apply exp_pos.
    destruct (IH (c / E)) as (l1 & N1 & E1); destruct (IH (c * E)) as (l2 & N2 & E2).
    exists (map (cons true) l1 ++ map (cons false) l2); split.
    + clear - N1 N2; induction N1 as [|x l1 Hx N1 IH]; simpl.
      * apply FinFun.Injective_map_NoDup; auto; intros x y; congruence.
      * constructor; auto; intros Hi; apply in_app_or in Hi; destruct Hi as [Hi|Hi];
          apply in_map_iff in Hi; destruct Hi as (y & Ey & Hy); inversion Ey; subst; auto.
    + cbn [hock rrs run]; fold E; rewrite E1, E2, !lsum_app, !lsum_map; simpl; fold E.
      rewrite !lsum_scal; field; lra.
Qed.
Lemma hock_zcdp es : Forall (fun e => 0 <= e) es ->
  zcdp (sqsum es / 2) (run Bool.bool_dec (rrs es) true) (run Bool.bool_dec (rrs es) false).
Proof.
  intros He; apply (zcdp_filter Bool.bool_dec (fun x y => x = true /\ y = false)); auto.
  rewrite <- sqsum_zcdp; induction He as [|e es He1 He2 IH]; [simpl; lra|].
  cbn [map rsum fold_right rrs zcdp_spends]; fold (rsum (map (fun e => e ^ 2 / 2) es)).
  exists (e ^ 2 / 2); split.
  - intros d d' [-> ->]; destruct (rr_pure e He1); now apply (pure_zcdp Bool.bool_dec).
  - intros _; replace (e ^ 2 / 2 + rsum (map (fun e => e ^ 2 / 2) es) - e ^ 2 / 2) with (rsum (map (fun e => e ^ 2 / 2) es)) by ring; auto.
Qed.
Lemma hock_le es eps delta : dp eps delta (run Bool.bool_dec (rrs es) true) (run Bool.bool_dec (rrs es) false) ->
  hock es (exp eps) <= delta.
Proof.
  intros H; destruct (hock_attained es (exp eps)) as (l & N & ->); specialize (H l N); lra.
Qed.

(** @theorem compose-advanced-approx
    Release number i of a process (chosen with knowledge of all earlier outputs) is
    (eps_i, delta_i)-DP for adj, in both directions of every pair. For every delta in
    (0,1), the transcript is (S/2 + sqrt(2 S ln(1/delta)), delta_1 + ... + delta_n + delta)-DP
    for adj, where S = sum eps_i^2. *)
Theorem advanced_process {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop)
  (cs : list (R * R)) (p : process D T) delta :
  Forall (fun c => 0 <= fst c /\ 0 <= snd c <= 1) cs -> dp_lines adj cs p ->
  let S := sqsum (map fst cs) in 0 < S -> 0 < delta < 1 ->
  dp_mech adj (S / 2 + sqrt (2 * S * ln (1 / delta))) (rsum (map snd cs) + delta) (run eqd p).
Proof.
  intros Hcs Hp S HS Hd d d' A.
  set (eps := S / 2 + sqrt (2 * S * ln (1 / delta))).
  eapply dp_weaken; [apply pmf_ge0|apply Rle_refl| |now apply (optimal_process eqd adj cs p eps)].
  assert (Hds : Forall (fun d => 0 <= d <= 1) (map snd cs)).
  { clear - Hcs; induction Hcs as [|x cs Hx Hcs IHc]; simpl; constructor; auto; tauto. }
  assert (Hes : Forall (fun e => 0 <= e) (map fst cs)).
  { clear - Hcs; induction Hcs as [|x cs Hx Hcs IHc]; simpl; constructor; auto; tauto. }
  pose proof (fail_le_sum _ Hds); pose proof (fail_01 _ Hds).
  assert (Hh : hock (map fst cs) (exp eps) <= delta).
  { apply hock_le; unfold eps.
    replace (sqrt (2 * S * ln (1 / delta))) with (2 * sqrt (S / 2 * ln (1 / delta))).
    - apply zcdp_dp_simple; [lra|exact Hd|apply pmf_ge0|apply pmf_ge0|now apply hock_zcdp].
    - rewrite <- (sqrt_square 2) at 1 by lra; rewrite <- sqrt_mult_alt by lra; f_equal; field; lra. }
  pose proof (hock_ge (map fst cs) (exp eps)); pose proof (Rmax_l 0 (1 - exp eps)).
  set (f := fail (map snd cs)) in *; set (h := hock (map fst cs) (exp eps)) in *.
  assert (0 <= f * h) by (apply Rmult_le_pos; lra).
  replace (f + (1 - f) * h) with (f + h - f * h) by ring; lra.
Qed.

(** @theorem compose-optimal-steps
    Each of at most n releases of a process (chosen with knowledge of all earlier outputs) is
    (e, dl)-DP for adj, in both directions of every pair. With k0 >= 1 the first number such
    that (2 k0 - n) e >= eps and K = sum_{k >= k0} C(n,k) (e^(k e) - e^(eps + (n-k) e)) / (1 + e^e)^n,
    the transcript is (eps, 1 - (1-dl)^n (1-K))-DP for adj. *)
Theorem optimal_steps {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop)
  (n k0 : nat) (e dl eps delta : R) (p : process D T) :
  0 <= e -> 0 <= dl <= 1 -> dp_lines adj (repeat (e, dl) n) p -> (1 <= k0 <= S n)%nat ->
  0 <= eps + IZR (Z.of_nat n - 2 * Z.of_nat (k0 - 1)) * e -> eps + IZR (Z.of_nat n - 2 * Z.of_nat k0) * e <= 0 ->
  1 - (1 - dl) ^ n * (1 - kov_delta n k0 e eps) <= delta ->
  dp_mech adj eps delta (run eqd p).
Proof.
  intros He Hdl Hp Hk0 Hlo Hhi Hd d d' A.
  assert (Hf : fail (repeat dl n) = 1 - (1 - dl) ^ n).
  { clear; induction n as [|n IH]; simpl; [lra|]; rewrite IH; ring. }
  pose proof (optimal_process eqd adj (repeat (e, dl) n) p eps) as G; cbv zeta in G.
  rewrite !map_repeat in G; cbn [fst snd] in G; rewrite Hf, (hock_kov n k0) in G; auto; try lia.
  - eapply dp_weaken; [apply pmf_ge0|apply Rle_refl| |apply G; auto].
    + eapply Rle_trans; [|exact Hd]; right; ring.
    + apply Forall_forall; intros c Hc; apply repeat_spec in Hc; subst; auto.
  - intros k Hk; eapply Rle_trans; [exact Hlo|]; apply Rplus_le_compat_l, Rmult_le_compat_r; auto.
    rewrite minus_IZR, mult_IZR, <- !INR_IZR_INZ; assert (INR k <= INR (k0 - 1)) by (apply le_INR; lia); lra.
  - intros k Hk; eapply Rle_trans; [|exact Hhi]; apply Rplus_le_compat_l, Rmult_le_compat_r; auto.
    rewrite minus_IZR, mult_IZR, <- !INR_IZR_INZ; assert (INR k0 <= INR k) by (apply le_INR; lia); lra.
Qed.

(* ---------- instances ---------- *)
From Interval Require Import Tactic.
From Assay.base Require Import PureInterval.
Lemma count_both : dp_both add_remove (1 / 10) 0 (fun d => laplace_vec (prat 10 1) (size_query d)).
Proof. intros d d' A; split; apply size_laplace10; auto; now apply add_remove_sym. Qed.
Fixpoint counts (n : nat) : process (list Z) (list Z) :=
  match n with O => Done | S n => Release (fun d => laplace_vec (prat 10 1) (size_query d)) (fun _ => counts n) end.
Lemma counts_lines n : dp_lines add_remove (repeat (1 / 10, 0) n) (counts n).
Proof. induction n; simpl; auto; split; [apply count_both|auto]. Qed.
Example counts_optimal : dp_mech add_remove 1 (7 / 1000) (run zvec_eq (counts 25)).
Proof.
  apply (optimal_steps zvec_eq add_remove 25 18 (1 / 10) 0); [lra|lra|apply counts_lines|lia|simpl; lra|simpl; lra|].
  cbv -[Rplus Rmult Rminus Rdiv Rinv Ropp Rle IZR exp ln pow]; interval with (i_prec 64).
Qed.
(* each count fails with probability 1e-6 besides *)
Example counts_advanced : dp_mech add_remove (1 / 2 + sqrt (2 * 1 * ln (1 / (1 / 10000)))) (100 * powerRZ 10 (-6) + 1 / 10000)
  (run zvec_eq (counts 100)).
Proof.
  pose proof (advanced_process zvec_eq add_remove (repeat (1 / 10, powerRZ 10 (-6)) 100) (counts 100) (1 / 10000)) as G.
  cbv zeta in G; rewrite !map_repeat in G; cbn [fst snd] in G.
  assert (E : sqsum (repeat (1 / 10) 100) = 1).
  { unfold sqsum; rewrite map_repeat, rsum_repeat, INR_IZR_INZ; simpl; field. }
  rewrite E, rsum_repeat in G; replace (INR 100) with 100 in G by (rewrite INR_IZR_INZ; reflexivity).
  assert (D0 : 0 <= powerRZ 10 (-6) <= 1) by (simpl; lra).
  apply G; try lra.
  - apply Forall_forall; intros c Hc; apply repeat_spec in Hc; subst; simpl fst; simpl snd; split; [lra|auto].
  - generalize 100%nat; intros n; induction n as [|n IH]; simpl; auto; split; auto.
    intros d d' A; destruct (count_both d d' A); simpl fst; simpl snd.
    split; (eapply dp_weaken; [apply pmf_ge0|apply Rle_refl| |eassumption]); apply D0.
Qed.
