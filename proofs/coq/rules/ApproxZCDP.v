(* zCDP up to a failure probability delta: zCDP releases and (eps, delta) releases in one
   process. An (eps, delta)-close pair contains an eps-close pair of sub-distributions that
   carries all but delta of the mass. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi Postprocess Basic PureToZCDP OptimalApprox.
Import ListNotations.
Local Open Scope R_scope.

(* on every finite set, all but delta of P is under a part p that is rho-zCDP against
   a part q of Q *)
Definition azcdp {T} (rho delta : R) (P Q : T -> R) : Prop :=
  forall l, NoDup l -> exists p q : T -> R,
    (forall x, 0 <= p x <= P x) /\ (forall x, 0 <= q x <= Q x) /\
    lsum P l <= lsum p l + delta /\ zcdp rho p q.

Lemma zcdp_azcdp {T} rho (P Q : dist T) : zcdp rho P Q -> azcdp rho 0 P Q.
Proof.
  intros H l Hl; exists P, Q; split; [|split; [|split]]; auto; try lra;
    intros x; [pose proof (pmf_ge0 P x)|pose proof (pmf_ge0 Q x)]; lra.
Qed.
Lemma azcdp_dp {T} rho delta a eps (P Q : T -> R) : 1 < a -> azcdp rho delta P Q ->
  dp eps (delta + exp ((a - 1) * (a * rho - eps)) / (a - 1) * exp (a * ln (1 - 1 / a))) P Q.
Proof.
  intros Ha H l Hl; destruct (H l Hl) as (p & q & Hp & Hq & Hs & Hz).
  pose proof (zcdp_dp rho a eps p q Ha (fun x => proj1 (Hp x)) (fun x => proj1 (Hq x)) Hz l Hl) as D.
  assert (lsum q l <= lsum Q l) by (apply lsum_le; intros x _; apply Hq).
  assert (exp eps * lsum q l <= exp eps * lsum Q l) by (apply Rmult_le_compat_l; [left; apply exp_pos|auto]).
  lra.
Qed.

(* ---------- composition ---------- *)
Lemma zcdp_joint_fun {T U} (eqd : forall x y : T, {x = y} + {x <> y}) r1 r2 (p q : T -> R) (k l : T -> U -> R) :
  (forall x, 0 <= p x) -> (forall t u, 0 <= k t u) -> zcdp r1 p q -> (forall t, zcdp r2 (k t) (l t)) ->
  zcdp (r1 + r2) (joint p k) (joint q l).
Proof.
  intros Hp Hk [P0 P1] HK; split.
  - intros [t u] H; unfold joint in *; simpl in *; destruct (HK t) as [K0 _].
    pose proof (Hp t); pose proof (Hk t u); apply Rmult_lt_0_compat; [apply P0|apply K0]; nra.
  - intros a Ha l0 Hl; unfold joint.
    rewrite (lsum_group eqd (fun t u => rterm a (p t * k t u) (q t * l t u)) l0 _ (NoDup_nodup eqd (map fst l0)))
      by (intros x; apply nodup_In).
    replace (exp ((a - 1) * (a * (r1 + r2)))) with (exp ((a - 1) * (a * r2)) * exp ((a - 1) * (a * r1)))
      by (rewrite <- exp_plus; f_equal; ring).
    eapply Rle_trans; [|apply Rmult_le_compat_l; [left; apply exp_pos|apply (P1 a Ha _ (NoDup_nodup eqd (map fst l0)))]].
    rewrite <- lsum_scal; apply lsum_le; intros t _; destruct (HK t) as [K0 K1].
    rewrite (lsum_ext _ (fun u => rterm a (p t) (q t) * rterm a (k t u) (l t u))), lsum_scal.
    + rewrite Rmult_comm; apply Rmult_le_compat_r; [apply rterm_ge0|apply K1; auto; now apply slice_NoDup].
    + intros u _; apply rterm_mul; auto.
Qed.
Lemma zcdp_zero {T} r (q : T -> R) : zcdp r (fun _ => 0) q.
Proof.
  split; [intros; lra|]; intros a Ha l Hl; rewrite (lsum_ext _ (fun _ => 0 * 0)), lsum_scal.
  - rewrite Rmult_0_l; left; apply exp_pos.
  - intros x _; unfold rterm; destruct (Rle_dec 0 0); lra.
Qed.
(* one choice of parts for finitely many first outputs *)
Lemma azcdp_choose {T U} (eqd : forall x y : T, {x = y} + {x <> y}) r dl (K L : T -> dist U) (sl : T -> list U) lt :
  (forall t, azcdp r dl (K t) (L t)) -> (forall t, NoDup (sl t)) ->
  exists k l : T -> U -> R, (forall t u, 0 <= k t u <= K t u) /\ (forall t u, 0 <= l t u <= L t u) /\
    (forall t, In t lt -> lsum (K t) (sl t) <= lsum (k t) (sl t) + dl) /\ (forall t, zcdp r (k t) (l t)).
Proof.
  intros H Hs; induction lt as [|t0 lt (k & l & A & B & C & D)].
  - exists (fun _ _ => 0), (fun t u => 0); repeat split; try lra; try apply pmf_ge0; try easy; apply zcdp_zero.
  - destruct (H t0 (sl t0) (Hs t0)) as (k0 & l0 & A0 & B0 & C0 & D0).
    exists (fun t => if eqd t t0 then k0 else k t), (fun t => if eqd t t0 then l0 else l t).
    split; [|split; [|split]].
    + intros t u; destruct (eqd t t0) as [->|]; auto.
    + intros t u; destruct (eqd t t0) as [->|]; auto.
    + intros t Ht; destruct (eqd t t0) as [->|N]; auto; destruct Ht as [E|Ht]; [congruence|auto].
    + intros t; destruct (eqd t t0) as [->|]; auto.
Qed.
Lemma azcdp_joint {T U} (eqd : forall x y : T, {x = y} + {x <> y}) r1 d1 r2 d2 (P Q : dist T) (K L : T -> dist U) :
  0 <= d2 -> azcdp r1 d1 P Q -> (forall t, azcdp r2 d2 (K t) (L t)) ->
  azcdp (r1 + r2) (d1 + d2) (joint_dist eqd P K) (joint_dist eqd Q L).
Proof.
  intros Hd HP HK l Hl; set (lt := nodup eqd (map fst l)).
  assert (Hlt : NoDup lt) by apply NoDup_nodup.
  assert (Hi : incl (map fst l) lt) by (intros x; apply nodup_In).
  destruct (HP lt Hlt) as (p & q & Ap & Aq & As & Az).
  destruct (azcdp_choose eqd r2 d2 K L (fun t => slice eqd t l) lt HK (fun t => slice_NoDup eqd t l Hl)) as (k & j & Bk & Bj & Bs & Bz).
  exists (joint p k), (joint q j); split; [|split; [|split]].
  - intros [t u]; simpl; unfold joint; simpl; destruct (Ap t), (Bk t u); split; [now apply Rmult_le_pos|now apply Rmult_le_compat].
  - intros [t u]; simpl; unfold joint; simpl; destruct (Aq t), (Bj t u); split; [now apply Rmult_le_pos|now apply Rmult_le_compat].
  - simpl; unfold joint.
    rewrite (lsum_group eqd (fun t u => P t * K t u) l lt Hlt Hi), (lsum_group eqd (fun t u => p t * k t u) l lt Hlt Hi).
    apply Rle_trans with (lsum (fun t => lsum (fun u => p t * k t u) (slice eqd t l) + (d2 * P t + (P t + -1 * p t))) lt).
    + apply lsum_le; intros t Ht; rewrite !lsum_scal; specialize (Bs t Ht); destruct (Ap t) as [p0 p1].
      pose proof (has_sum_ub _ _ _ (pmf_sum (K t)) (slice_NoDup eqd t l Hl)) as K1.
      pose proof (lsum_ge0 (K t) (slice eqd t l) (pmf_ge0 (K t))) as K0.
      set (x := lsum (K t) (slice eqd t l)) in *; set (y := lsum (k t) (slice eqd t l)) in *.
      assert (p t * x <= p t * (y + d2)) by (apply Rmult_le_compat_l; lra).
      assert ((P t - p t) * x <= (P t - p t) * 1) by (apply Rmult_le_compat_l; lra).
      assert (p t * d2 <= P t * d2) by (apply Rmult_le_compat_r; lra); lra.
    + rewrite !lsum_plus, !lsum_scal; pose proof (has_sum_ub _ _ _ (pmf_sum P) Hlt); nra.
  - apply zcdp_joint_fun; auto; [intros x; apply Ap|intros t u; apply Bk].
Qed.
Lemma azcdp_cons {T} (eqd : forall x y : T, {x = y} + {x <> y}) r dl (P Q : dist T) (K L : T -> dist (list T)) :
  azcdp r dl (joint_dist eqd P K) (joint_dist eqd Q L) -> azcdp r dl (cons_dist eqd P K) (cons_dist eqd Q L).
Proof.
  intros H l Hl; destruct (H _ (pairs_NoDup l Hl)) as (p & q & Hp & Hq & Hs & [Z0 Z1]).
  set (lift := fun (f : T * list T -> R) (l : list T) => match l with [] => 0 | t :: l => f (t, l) end).
  exists (lift p), (lift q); split; [|split; [|split]].
  - intros [|t x]; simpl; [lra|apply (Hp (t, x))].
  - intros [|t x]; simpl; [lra|apply (Hq (t, x))].
  - rewrite !lsum_pairs by reflexivity; eapply Rle_trans; [exact Hs|]; right; f_equal.
    apply lsum_ext; intros [t x] _; reflexivity.
  - split; [intros [|t x] Hx; simpl in *; [lra|now apply Z0]|].
    intros a Ha l' Hl'; rewrite lsum_pairs.
    + rewrite (lsum_ext _ (fun y => rterm a (p y) (q y))); [apply Z1; auto; now apply pairs_NoDup|].
      intros [t x] _; reflexivity.
    + simpl; unfold rterm; destruct (Rle_dec 0 0); lra.
Qed.

(* ---------- the split of an (eps, delta)-close pair ---------- *)
Section Split.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).
Lemma part_sum (P : dist T) (p : T -> R) : (forall x, 0 <= p x <= P x) -> {s | has_sum p s}.
Proof.
  intros H; apply (has_sum_exists p 1); intros l Hl.
  eapply Rle_trans; [apply lsum_le; intros x _; apply H|apply (has_sum_ub _ _ _ (pmf_sum P) Hl)].
Qed.
Lemma part_rest (P : dist T) (p : T -> R) s l : (forall x, 0 <= p x <= P x) -> has_sum p s -> NoDup l ->
  lsum P l <= lsum p l + (1 - s).
Proof.
  intros H Hs Hl; enough (s <= 1 - (lsum P l - lsum p l)) by lra.
  eapply has_sum_lub; [exact Hs|]; intros l2 Hl2.
  set (l' := nodup eqd (l ++ l2)); assert (Hl' : NoDup l') by apply NoDup_nodup.
  assert (A : lsum (fun x => P x + -1 * p x) l <= lsum (fun x => P x + -1 * p x) l').
  { apply lsum_incl; auto; [intros x; specialize (H x); lra|]; intros x Hx; apply nodup_In, in_or_app; auto. }
  assert (B : lsum p l2 <= lsum p l').
  { apply lsum_incl; auto; [intros x; apply H|]; intros x Hx; apply nodup_In, in_or_app; auto. }
  rewrite !lsum_plus, !lsum_scal in A; pose proof (has_sum_ub _ _ _ (pmf_sum P) Hl'); lra.
Qed.
(* two parts of the same mass, each at most E times the other *)
Lemma parts_zcdp e (p q : T -> R) s : 0 <= e -> (forall x, 0 <= p x) -> (forall x, 0 <= q x) ->
  has_sum p s -> has_sum q s -> s <= 1 -> (forall x, p x <= exp e * q x) -> (forall x, q x <= exp e * p x) ->
  zcdp (e ^ 2 / 2) p q.
Proof.
  intros He Hp Hq Sp Sq Hs1 H1 H2.
  assert (s0 : 0 <= s) by (pose proof (has_sum_ub _ _ [] Sp (NoDup_nil _)) as Z; simpl in Z; lra).
  destruct s0 as [s0|E0].
  - assert (Si : 0 < / s) by now apply Rinv_0_lt_compat.
    assert (G : forall f, (forall x, 0 <= f x) -> has_sum f s -> exists d : dist T, forall x, d x = / s * f x).
    { intros f Hf Sf; assert (S : has_sum (fun x => / s * f x) 1).
      { rewrite <- (Rinv_l s) by lra; now apply has_sum_scal. }
      exists {| pmf := fun x => / s * f x; pmf_ge0 := fun x => Rmult_le_pos _ _ (Rlt_le _ _ Si) (Hf x); pmf_sum := S |}.
      reflexivity. }
    destruct (G p Hp Sp) as [P EP]; destruct (G q Hq Sq) as [Q EQ].
    assert (Z : zcdp (e ^ 2 / 2) P Q).
    { apply (pure_zcdp eqd); auto; apply dp_pointwise; intros x; rewrite EP, EQ.
      - specialize (H1 x); apply (Rmult_le_compat_l (/ s)) in H1; lra.
      - specialize (H2 x); apply (Rmult_le_compat_l (/ s)) in H2; lra. }
    destruct Z as [Z0 Z1]; split.
    + intros x Hx; specialize (Z0 x); rewrite EP, EQ in Z0; assert (0 < / s * p x) by (apply Rmult_lt_0_compat; auto).
      specialize (Z0 H); destruct (Hq x) as [|E]; auto; rewrite <- E in Z0; lra.
    + intros a Ha l Hl; specialize (Z1 a Ha l Hl).
      rewrite (lsum_ext _ (fun x => s * rterm a (P x) (Q x))), lsum_scal.
      * pose proof (exp_pos ((a - 1) * (a * (e ^ 2 / 2)))).
        apply Rle_trans with (s * exp ((a - 1) * (a * (e ^ 2 / 2)))); [apply Rmult_le_compat_l; lra|nra].
      * intros x _; rewrite EP, EQ, Rmult_comm, <- rterm_scal.
        -- f_equal; field; lra.
        -- lra.
        -- apply Rmult_le_pos; [lra|auto].
        -- intros Hx; apply Rmult_lt_0_compat; auto; assert (0 < p x) by nra.
           specialize (H1 x); pose proof (exp_pos e); destruct (Hq x) as [|E]; auto; rewrite <- E in H1; lra.
  - assert (Z : forall (f : T -> R) x, (forall x, 0 <= f x) -> has_sum f s -> f x = 0).
    { intros f x Hf Sf; pose proof (has_sum_ub _ _ [x] Sf ltac:(repeat constructor; easy)) as B; simpl in B; specialize (Hf x); lra. }
    split; [intros x Hx; rewrite (Z p x Hp Sp) in Hx; lra|].
    intros a Ha l Hl; rewrite (lsum_ext _ (fun _ => 0 * 0)), lsum_scal.
    + rewrite Rmult_0_l; left; apply exp_pos.
    + intros x _; rewrite (Z p x Hp Sp); unfold rterm; destruct (Rle_dec 0 0); lra.
Qed.
Lemma half_split e dl (P Q : dist T) : 0 <= e -> dp e dl P Q -> dp e dl Q P ->
  exists p q s, (forall x, 0 <= p x <= P x) /\ (forall x, 0 <= q x <= Q x) /\ has_sum p s /\ has_sum q s /\
    1 - dl <= s <= 1 /\ (forall x, p x <= exp e * q x) /\ (forall x, q x <= exp e * p x).
Proof.
  intros He H1 H2; assert (E1 : 1 <= exp e) by (pose proof (exp_ineq1_le e); lra); set (E := exp e) in *.
  set (p0 := fun x => Rmin (P x) (E * Q x)); set (q0 := fun x => Rmin (Q x) (E * P x)).
  assert (Bp : forall x, 0 <= p0 x <= P x).
  { intros x; pose proof (pmf_ge0 P x); pose proof (pmf_ge0 Q x); split; [apply Rmin_glb; nra|apply Rmin_l]. }
  assert (Bq : forall x, 0 <= q0 x <= Q x).
  { intros x; pose proof (pmf_ge0 P x); pose proof (pmf_ge0 Q x); split; [apply Rmin_glb; nra|apply Rmin_l]. }
  assert (EE : forall z, 0 <= z -> z <= E * (E * z)).
  { intros z Hz; rewrite <- Rmult_assoc, <- (Rmult_1_l z) at 1; apply Rmult_le_compat_r; nra. }
  assert (C1 : forall x, p0 x <= E * q0 x).
  { intros x; unfold p0, q0, Rmin; specialize (EE (P x) (pmf_ge0 P x)) as EP; specialize (EE (Q x) (pmf_ge0 Q x)) as EQ;
      destruct (Rle_dec (P x) (E * Q x)), (Rle_dec (Q x) (E * P x)); lra. }
  assert (C2 : forall x, q0 x <= E * p0 x).
  { intros x; unfold p0, q0, Rmin; specialize (EE (P x) (pmf_ge0 P x)) as EP; specialize (EE (Q x) (pmf_ge0 Q x)) as EQ;
      destruct (Rle_dec (P x) (E * Q x)), (Rle_dec (Q x) (E * P x)); lra. }
  destruct (part_sum P p0 Bp) as [A SA]; destruct (part_sum Q q0 Bq) as [B SB].
  assert (Full : forall (X Y : dist T) f s, dp e dl X Y -> (forall x, f x = Rmin (X x) (E * Y x)) -> has_sum f s -> 1 - dl <= s).
  { intros X Y f s HX Hf Sf; enough (1 <= s + dl) by lra; eapply has_sum_lub; [apply (pmf_sum X)|]; intros l Hl.
    pose proof (hs_E e dl X Y l HX Hl) as G; unfold hs in G.
    pose proof (has_sum_ub _ _ _ Sf Hl).
    assert (lsum X l <= lsum f l + lsum (fun t => pos_part (X t - exp e * Y t)) l); [|lra].
    rewrite <- lsum_plus; apply lsum_le; intros x _; rewrite Hf; unfold pos_part, Rmin, Rmax, E.
    destruct (Rle_dec (X x) (exp e * Y x)), (Rle_dec 0 (X x - exp e * Y x)); lra. }
  assert (HA : 1 - dl <= A) by (apply (Full P Q p0); auto).
  assert (HB : 1 - dl <= B) by (apply (Full Q P q0); auto).
  assert (A1 : A <= 1) by (apply (has_sum_le p0 P); auto; [apply pmf_sum|apply Bp]).
  assert (B1 : B <= 1) by (apply (has_sum_le q0 Q); auto; [apply pmf_sum|apply Bq]).
  set (m := fun x => Rmin (p0 x) (q0 x)).
  assert (Bm : forall x, 0 <= m x <= P x).
  { intros x; specialize (Bp x); specialize (Bq x); unfold m, Rmin; destruct (Rle_dec (p0 x) (q0 x)); lra. }
  assert (Mp : forall x, m x <= p0 x) by (intros; apply Rmin_l); assert (Mq : forall x, m x <= q0 x) by (intros; apply Rmin_r).
  assert (Em : forall x, p0 x <= E * m x /\ q0 x <= E * m x).
  { intros x; specialize (C1 x); specialize (C2 x); specialize (Bp x); specialize (Bq x).
    unfold m, Rmin; destruct (Rle_dec (p0 x) (q0 x)); split; nra. }
  destruct (part_sum P m Bm) as [C SC].
  assert (CA : C <= A) by (apply (has_sum_le m p0); auto); assert (CB : C <= B) by (apply (has_sum_le m q0); auto).
  (* move the heavier part towards the minimum until the masses agree *)
  assert (Move : forall f X Y (g : T -> R), has_sum f X -> has_sum g Y -> (forall x, m x <= f x) -> C <= Y -> Y <= X -> (forall x, 0 <= f x) ->
    exists f', (forall x, m x <= f' x <= f x) /\ has_sum f' Y).
  { intros f X Y g Sf Sg Hmf HCY HYX Hf0; destruct (Req_dec X C) as [E0|N0].
    - exists f; split; [intros x; specialize (Hmf x); lra|]; replace Y with X by lra; auto.
    - set (th := (X - Y) / (X - C)).
      assert (HXC : 0 < X - C) by lra.
      assert (Eth : th * (X - C) = X - Y) by (unfold th; field; lra).
      assert (Hth : 0 <= th <= 1) by (split; nra).
      exists (fun x => (1 - th) * f x + th * m x); split.
      + intros x; specialize (Hmf x); split; nra.
      + replace Y with ((1 - th) * X + th * C) by lra; apply (has_sum_plus eqd).
        * intros x; apply Rmult_le_pos; [lra|auto].
        * intros x; apply Rmult_le_pos; [lra|apply Bm].
        * apply has_sum_scal0; [lra|auto].
        * apply has_sum_scal0; [lra|auto]. }
  destruct (Rle_dec B A) as [L|L].
  - destruct (Move p0 A B q0 SA SB Mp CB L) as (p & Hp & Sp); [intros x; apply Bp|].
    exists p, q0, B.
    split; [intros x; specialize (Hp x); specialize (Bm x); specialize (Bp x); lra|].
    split; [exact Bq|split; [exact Sp|split; [exact SB|split; [lra|split]]]]; intros x; specialize (Hp x).
    + specialize (C1 x); lra.
    + destruct (Em x) as [_ Ex]; assert (E * m x <= E * p x) by (apply Rmult_le_compat_l; lra); lra.
  - destruct (Move q0 B A p0 SB SA Mq CA ltac:(lra)) as (q & Hq & Sq); [intros x; apply Bq|].
    exists p0, q, A.
    split; [exact Bp|].
    split; [intros x; specialize (Hq x); specialize (Bm x); specialize (Bq x); lra|].
    split; [exact SA|split; [exact Sq|split; [lra|split]]]; intros x; specialize (Hq x).
    + destruct (Em x) as [Ex _]; assert (E * m x <= E * q x) by (apply Rmult_le_compat_l; lra); lra.
    + specialize (C2 x); lra.
Qed.
(** @theorem approximate-split
    A pair that is (e, dl)-close in both directions contains, up to mass dl, a pair that is
    e-close, hence (e^2/2)-zCDP: it is (e^2/2)-zCDP except with probability dl. *)
Theorem approximate_split e dl (P Q : dist T) : 0 <= e -> dp e dl P Q -> dp e dl Q P -> azcdp (e ^ 2 / 2) dl P Q.
Proof.
  intros He H1 H2 l Hl; destruct (half_split e dl P Q He H1 H2) as (p & q & s & Hp & Hq & Sp & Sq & Hs & C1 & C2).
  exists p, q; split; [|split; [|split]]; auto.
  - pose proof (part_rest P p s l Hp Sp Hl); lra.
  - apply (parts_zcdp e p q s); auto; try (intros x; apply Hp); try (intros x; apply Hq); lra.
Qed.
End Split.

(* ---------- processes ---------- *)
Definition azcdp_mech {D T} (adj : D -> D -> Prop) rho delta (M : D -> dist T) : Prop :=
  forall d d', adj d d' -> azcdp rho delta (M d) (M d').
Fixpoint azcdp_spends {D T} (adj : D -> D -> Prop) (p : process D T) (r0 d0 : R) : Prop :=
  match p with
  | Done => 0 <= r0 /\ 0 <= d0
  | Release m next => exists r dl, 0 <= d0 - dl /\ azcdp_mech adj r dl m /\
      forall t, azcdp_spends adj (next t) (r0 - r) (d0 - dl)
  end.
(** @theorem compose-approx-zcdp
    Along every branch of a fully adaptive process the releases are rho_i-zCDP except with
    probability delta_i for adj (zCDP: delta_i = 0; (eps_i, delta_i)-DP in both directions:
    rho_i = eps_i^2/2), the rho_i sum to at most rho and the delta_i to at most delta. For every
    order a > 1, the transcript is
    (eps, delta + exp((a-1)(a rho - eps)) / (a-1) * (1 - 1/a)^a)-DP for adj. *)
Theorem approx_zcdp_process {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop) (p : process D T) rho delta a eps :
  1 < a -> azcdp_spends adj p rho delta ->
  dp_mech adj eps (delta + exp ((a - 1) * (a * rho - eps)) / (a - 1) * exp (a * ln (1 - 1 / a))) (run eqd p).
Proof.
  intros Ha H; enough (G : azcdp_mech adj rho delta (run eqd p)) by (intros d d' A; now apply azcdp_dp, G).
  revert rho delta H; induction p as [|m next IH]; intros r0 d0 H d d' A.
  - destruct H as [Hr Hd]; intros l Hl; set (P := run eqd Done d).
    destruct (zcdp_azcdp r0 P P (zcdp_refl r0 P Hr) l Hl) as (p & q & X1 & X2 & X3 & X4).
    exists p, q; split; [|split; [|split]]; auto; change (run eqd Done d) with P; lra.
  - destruct H as (r & dl & Hd & Hm & Hn).
    replace r0 with (r + (r0 - r)) by ring; replace d0 with (dl + (d0 - dl)) by ring.
    apply (azcdp_cons eqd (r + (r0 - r)) (dl + (d0 - dl)) (m d) (m d')), azcdp_joint; auto.
    intros t; apply (IH t (r0 - r) (d0 - dl)); auto.
Qed.

(* a Gaussian count (rho = 1/200) and a (1/10, 1e-6)-DP release chosen from its answer *)
Example mixed {D} (adj : D -> D -> Prop) (m1 : D -> dist (list Z)) (m2 : list Z -> D -> dist (list Z)) :
  zcdp_mech adj (1 / 200) m1 -> (forall t, dp_both adj (1 / 10) (powerRZ 10 (-6)) (m2 t)) ->
  dp_mech adj 1 (powerRZ 10 (-6) + exp ((10 - 1) * (10 * (1 / 100) - 1)) / (10 - 1) * exp (10 * ln (1 - 1 / 10)))
    (run zvec_eq (Release m1 (fun t => Release (m2 t) (fun _ => Done)))).
Proof.
  intros H1 H2; assert (D0 : 0 <= powerRZ 10 (-6)) by (simpl; lra).
  apply approx_zcdp_process; [lra|]; exists (1 / 200), 0; split; [lra|split].
  - intros d d' A; now apply zcdp_azcdp, H1.
  - intros t; exists ((1 / 10) ^ 2 / 2), (powerRZ 10 (-6)); split; [lra|split].
    + intros d d' A; destruct (H2 t d d' A); apply (approximate_split zvec_eq); auto; lra.
    + intros _; split; simpl; lra.
Qed.
