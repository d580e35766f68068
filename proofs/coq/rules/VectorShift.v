(* Vectors with log-concave integer noise in each coordinate: a change of l1 length D is no
   worse than one coordinate that moves by D. A threshold event of the same probability
   loses at every step at least as much as any event of the vector. *)
From Coq Require Import Reals Lra Lia List ZArith FinFun.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors Neighbours Renyi Postprocess Basic OptimalApprox PLD CountsPLD.
Import ListNotations.
Local Open Scope R_scope.

Section Shift.
Variable (noise : Z -> dist Z).
Hypothesis (HC : concave_noise noise).
Notation w := (noise 0%Z).
Lemma nm m x : noise m x = w (x - m)%Z. Proof. apply HC. Qed.
Lemma wpos x : 0 < w x. Proof. apply HC. Qed.

(* ---------- half-lines ---------- *)
Definition below (m x : Z) : R := if Z_le_dec x m then w x else 0.
Lemma below_01 m x : 0 <= below m x <= w x.
Proof. unfold below; pose proof (wpos x); destruct (Z_le_dec x m); lra. Qed.
Lemma below_bound m l : NoDup l -> lsum (below m) l <= 1.
Proof.
  intros Hl; eapply Rle_trans; [apply lsum_le; intros x _; apply below_01|apply (has_sum_ub _ _ _ (pmf_sum w) Hl)].
Qed.
Definition F (m : Z) : R := proj1_sig (has_sum_exists (below m) 1 (below_bound m)).
Lemma F_sum m : has_sum (below m) (F m).
Proof. exact (proj2_sig (has_sum_exists (below m) 1 (below_bound m))). Qed.
Lemma F_shift m k : has_sum (fun x => if Z_le_dec x m then w (x - k)%Z else 0) (F (m - k)).
Proof.
  assert (H : has_sum (fun x => below (m - k) (x - k)) (F (m - k))).
  { apply (has_sum_bij (below (m - k)) (fun x => x - k)%Z (fun x => x + k)%Z); [intros; lia|intros; lia|apply F_sum]. }
  eapply has_sum_ext; [|exact H]; intros x; unfold below; simpl.
  destruct (Z_le_dec (x - k) (m - k)), (Z_le_dec x m); auto; lia.
Qed.
Lemma point_sum m c : 0 <= c -> has_sum (fun x => if Z.eq_dec x m then c else 0) c.
Proof.
  intros Hc; pose proof (has_sum_scal0 _ c 1 Hc (dret_sum Z.eq_dec m)) as H; rewrite Rmult_1_r in H.
  eapply has_sum_ext; [|exact H]; intros x; simpl; destruct (Z.eq_dec x m); ring.
Qed.
Lemma F_step m : F m = F (m - 1) + w m.
Proof.
  apply (has_sum_uniq (below m)); [apply F_sum|].
  eapply has_sum_ext; [|apply (has_sum_plus Z.eq_dec); [| |apply (F_sum (m - 1))|apply (point_sum m (w m)); left; apply wpos]].
  - intros x; unfold below; destruct (Z_le_dec x m), (Z_le_dec x (m - 1)), (Z.eq_dec x m); subst; try lia; lra.
  - intros x; apply below_01.
  - intros x; simpl; destruct (Z.eq_dec x m); [left; apply wpos|lra].
Qed.
Lemma F_mono m n : (m <= n)%Z -> F m <= F n.
Proof.
  intros H; apply (has_sum_le _ _ _ _ (F_sum m) (F_sum n)); intros x; unfold below; pose proof (wpos x).
  destruct (Z_le_dec x m), (Z_le_dec x n); try lia; lra.
Qed.
Lemma F_ge0 m : 0 <= F m. Proof. exact (has_sum_ub _ _ [] (F_sum m) (NoDup_nil _)). Qed.

(* a threshold m with F(m-1) <= al <= F(m), and the part g of the point m *)
Lemma threshold al : 0 < al < 1 -> exists m g, 0 <= g <= 1 /\ F (m - 1) + g * w m = al.
Proof.
  intros Ha.
  assert (Near : forall z, z < 1 -> exists N, z < lsum w (zr N)).
  { intros z Hz; destruct (Classical_Prop.classic (exists N, z < lsum w (zr N))) as [E|E]; auto; exfalso.
    assert (1 <= z); [|lra]; eapply has_sum_lub; [apply (pmf_sum w)|]; intros l Hl.
    destruct (zr_cover l) as [N HN]; eapply Rle_trans; [apply (lsum_incl w l (zr N)); auto; apply pmf_ge0|].
    destruct (Rle_dec (lsum w (zr N)) z) as [|NL]; auto; exfalso; apply E; exists N; lra. }
  destruct (Near al ltac:(lra)) as [N1 H1]; destruct (Near (1 - al) ltac:(lra)) as [N2 H2].
  assert (Hi : al <= F (Z.of_nat N1)).
  { eapply Rle_trans; [left; exact H1|]; eapply Rle_trans; [|apply (has_sum_ub _ _ _ (F_sum (Z.of_nat N1)) (zr_NoDup N1))].
    right; apply lsum_ext; intros x Hx; apply zr_In in Hx; unfold below; destruct (Z_le_dec x (Z.of_nat N1)); [auto|lia]. }
  assert (Lo : F (- Z.of_nat N2 - 1) < al).
  { enough (F (- Z.of_nat N2 - 1) <= 1 - lsum w (zr N2)) by lra.
    eapply has_sum_lub; [apply F_sum|]; intros l Hl.
    set (out := fun x => if Z_le_dec x (- Z.of_nat N2 - 1) then true else false).
    assert (E : lsum (below (- Z.of_nat N2 - 1)) l = lsum w (filter out l)).
    { rewrite lsum_filter; apply lsum_ext; intros x _; unfold below, out; destruct (Z_le_dec x (- Z.of_nat N2 - 1)); auto. }
    rewrite E; assert (N : NoDup (filter out l ++ zr N2)).
    { clear E; assert (Hf : NoDup (filter out l)) by now apply NoDup_filter.
      assert (D : forall x, In x (filter out l) -> ~ In x (zr N2)).
      { intros x Hx Hz; apply filter_In in Hx; destruct Hx as [_ Hx]; apply zr_In in Hz; unfold out in Hx.
        destruct (Z_le_dec x (- Z.of_nat N2 - 1)); [lia|discriminate]. }
      induction Hf as [|x k Hx Hf IH]; simpl; [apply zr_NoDup|]; constructor.
      - intros Hin; apply in_app_or in Hin; destruct Hin; [auto|apply (D x); simpl; auto].
      - apply IH; intros y Hy; apply D; simpl; auto. }
    pose proof (has_sum_ub _ _ _ (pmf_sum w) N) as S; rewrite lsum_app in S; lra. }
  (* least threshold *)
  assert (S : forall n lo, F lo < al -> al <= F (lo + Z.of_nat n) -> exists m, F (m - 1) < al <= F m).
  { induction n as [|n IH]; intros lo A B; [rewrite Z.add_0_r in B; lra|].
    destruct (Rle_dec al (F (lo + 1))) as [L|L].
    - exists (lo + 1)%Z; replace (lo + 1 - 1)%Z with lo by lia; lra.
    - apply (IH (lo + 1)%Z); [lra|]; replace (lo + 1 + Z.of_nat n)%Z with (lo + Z.of_nat (Datatypes.S n))%Z by lia; auto. }
  destruct (S (Z.to_nat (Z.of_nat N1 - (- Z.of_nat N2 - 1))) (- Z.of_nat N2 - 1)%Z Lo) as (m & A & B).
  { replace (- Z.of_nat N2 - 1 + Z.of_nat (Z.to_nat (Z.of_nat N1 - (- Z.of_nat N2 - 1))))%Z with (Z.of_nat N1) by lia; auto. }
  exists m, ((al - F (m - 1)) / w m); pose proof (wpos m); rewrite F_step in B; split.
  - split; [apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]|].
    apply Rmult_le_reg_r with (w m); auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
  - field; lra.
Qed.

(* at the likelihood ratio of its boundary, a half-line is the best event *)
Lemma best_event m (k : nat) l : NoDup l -> let c := w m / w (m - Z.of_nat k)%Z in
  lsum w l - c * lsum (noise (Z.of_nat k)) l <= F m - c * F (m - Z.of_nat k).
Proof.
  intros Hl c; pose proof (wpos m) as W1; pose proof (wpos (m - Z.of_nat k)%Z) as W2.
  assert (Hc : 0 < c) by now apply Rdiv_lt_0_compat.
  assert (Ec : c * w (m - Z.of_nat k)%Z = w m) by (unfold c; field; lra).
  set (g := fun x => w x - c * w (x - Z.of_nat k)%Z).
  assert (Glo : forall x, (x <= m)%Z -> 0 <= g x).
  { intros x Hx; unfold g; destruct HC as (_ & _ & _ & R); pose proof (R x m (Z.of_nat k) Hx ltac:(lia)) as R1.
    apply Rmult_le_reg_r with (w (m - Z.of_nat k)%Z); auto; rewrite Rmult_0_l; rewrite <- Ec in R1; nra. }
  assert (Ghi : forall x, (m <= x)%Z -> g x <= 0).
  { intros x Hx; unfold g; destruct HC as (_ & _ & _ & R); pose proof (R m x (Z.of_nat k) Hx ltac:(lia)) as R1.
    rewrite <- Ec in R1; apply Rmult_le_reg_r with (w (m - Z.of_nat k)%Z); auto; rewrite Rmult_0_l; nra. }
  set (g1 := fun x => if Z_le_dec x m then g x else 0).
  assert (G1 : forall x, 0 <= g1 x) by (intros x; unfold g1; destruct (Z_le_dec x m); [auto|lra]).
  destruct (has_sum_exists g1 1) as [G SG].
  { intros l' Hl'; eapply Rle_trans; [|apply (below_bound m l' Hl')]; apply lsum_le; intros x _.
    unfold g1, below, g; pose proof (wpos (x - Z.of_nat k)%Z); destruct (Z_le_dec x m); [nra|lra]. }
  assert (EG : F m = G + c * F (m - Z.of_nat k)).
  { apply (has_sum_uniq (below m)); [apply F_sum|].
    eapply has_sum_ext; [|apply (has_sum_plus Z.eq_dec); [exact G1| |exact SG|apply (has_sum_scal _ c _ Hc (F_shift m (Z.of_nat k)))]].
    - intros x; unfold g1, g, below; destruct (Z_le_dec x m); lra.
    - intros x; simpl; apply Rmult_le_pos; [lra|]; destruct (Z_le_dec x m); [left; apply wpos|lra]. }
  pose proof (has_sum_ub _ _ _ SG Hl) as B.
  assert (E : lsum w l - c * lsum (noise (Z.of_nat k)) l = lsum g l).
  { unfold g; rewrite (lsum_ext (fun x => w x - c * w (x - Z.of_nat k)%Z) (fun x => w x + - c * noise (Z.of_nat k) x)).
    - rewrite lsum_plus, lsum_scal; ring.
    - intros x _; rewrite (nm (Z.of_nat k) x); ring. }
  rewrite E; apply Rle_trans with (lsum g1 l); [|lra].
  apply lsum_le; intros x _; unfold g1; destruct (Z_le_dec x m); [lra|apply Ghi; lia].
Qed.

(* ---------- one coordinate of a vector moves ---------- *)
Lemma one_coordinate pre mu m n c B : 0 <= c -> 0 <= B ->
  (forall l, NoDup l -> lsum (noise m) l - c * lsum (noise n) l <= B) ->
  forall S, NoDup S -> lsum (noise_vec noise (pre ++ m :: mu)) S - c * lsum (noise_vec noise (pre ++ n :: mu)) S <= B.
Proof.
  intros Hc HB H; unfold noise_vec; induction pre as [|a pre IH]; intros S HS; cbn [app map prod_dist];
    rewrite (lsum_pairs (pmf (cons_dist Z.eq_dec _ _)) S eq_refl), (lsum_pairs (pmf (cons_dist Z.eq_dec _ _)) S eq_refl);
    pose proof (pairs_NoDup S HS) as HP; set (l := pairs S) in *; simpl;
    set (lt := nodup Z.eq_dec (map fst l));
    assert (Hlt : NoDup lt) by apply NoDup_nodup;
    assert (Hi : incl (map fst l) lt) by (intros x; apply nodup_In).
  - set (K := prod_dist (map noise mu)).
    rewrite (lsum_group Z.eq_dec (fun t u => noise m t * K u) l lt Hlt Hi), (lsum_group Z.eq_dec (fun t u => noise n t * K u) l lt Hlt Hi).
    set (g := fun t => lsum K (slice Z.eq_dec t l)).
    assert (Hg : forall t, 0 <= g t <= 1).
    { intros t; split; [apply lsum_ge0, pmf_ge0|apply (has_sum_ub _ _ _ (pmf_sum K)); now apply slice_NoDup]. }
    rewrite (lsum_ext _ (fun t => noise m t * g t)), (lsum_ext (fun t => lsum (fun u => noise n t * K u) (slice Z.eq_dec t l)) (fun t => noise n t * g t))
      by (intros t _; rewrite lsum_scal; reflexivity).
    destruct (hs_event (noise m) (noise n) c lt) as [l' Hl']; destruct (Hl' Hlt) as [N E].
    pose proof (H l' N) as B1; rewrite <- E in B1; eapply Rle_trans; [|exact B1].
    replace (lsum (fun t => noise m t * g t) lt - c * lsum (fun t => noise n t * g t) lt)
      with (lsum (fun t => noise m t * g t) lt + - c * lsum (fun t => noise n t * g t) lt) by ring.
    unfold hs; rewrite <- lsum_scal, <- lsum_plus; apply lsum_le; intros t _.
    pose proof (pp0 (noise m t - c * noise n t)); pose proof (pp1 (noise m t - c * noise n t)); specialize (Hg t); nra.
  - set (K := prod_dist (map noise (pre ++ m :: mu))); set (L := prod_dist (map noise (pre ++ n :: mu))).
    rewrite (lsum_group Z.eq_dec (fun t u => noise a t * K u) l lt Hlt Hi), (lsum_group Z.eq_dec (fun t u => noise a t * L u) l lt Hlt Hi).
    rewrite (lsum_ext _ (fun t => noise a t * lsum K (slice Z.eq_dec t l))), (lsum_ext (fun t => lsum (fun u => noise a t * L u) (slice Z.eq_dec t l)) (fun t => noise a t * lsum L (slice Z.eq_dec t l)))
      by (intros t _; rewrite lsum_scal; reflexivity).
    replace (lsum (fun t => noise a t * lsum K (slice Z.eq_dec t l)) lt - c * lsum (fun t => noise a t * lsum L (slice Z.eq_dec t l)) lt)
      with (lsum (fun t => noise a t * lsum K (slice Z.eq_dec t l)) lt + - c * lsum (fun t => noise a t * lsum L (slice Z.eq_dec t l)) lt) by ring.
    rewrite <- lsum_scal, <- lsum_plus; apply Rle_trans with (lsum (fun t => B * noise a t) lt).
    + apply lsum_le; intros t _; pose proof (IH _ (slice_NoDup Z.eq_dec t l HP)) as G; fold K L in G; pose proof (pmf_ge0 (noise a) t); nra.
    + rewrite lsum_scal; pose proof (has_sum_ub _ _ _ (pmf_sum (noise a)) Hlt); nra.
Qed.

(* ---------- the chain ---------- *)
Section Chain.
Variables (m : Z) (g : R).
Hypothesis (Hg : 0 <= g <= 1).
(* probability of the threshold event when the noise sits at s *)
Definition Phi (s : Z) : R := F (m - s - 1) + g * w (m - s)%Z.
Lemma Phi_mix s : Phi s = (1 - g) * F (m - s - 1) + g * F (m - s).
Proof. unfold Phi; rewrite (F_step (m - s)); ring. Qed.
Lemma chain_step pre mu a b s S : NoDup S -> Phi s <= lsum (noise_vec noise (pre ++ a :: mu)) S ->
  Phi (s + Z.abs (a - b)) <= lsum (noise_vec noise (pre ++ b :: mu)) S.
Proof.
  intros HS H; set (k := Z.to_nat (Z.abs (a - b))); set (m' := (m - s)%Z).
  set (c := w m' / w (m' - Z.of_nat k)%Z).
  pose proof (wpos m') as W1; pose proof (wpos (m' - Z.of_nat k)%Z) as W2.
  assert (Hc : 0 < c) by now apply Rdiv_lt_0_compat.
  assert (Ec : c * w (m' - Z.of_nat k)%Z = w m') by (unfold c; field; lra).
  pose proof (fun l Hl => best_event m' k l Hl) as Best; cbv zeta in Best; fold c in Best.
  assert (HB : 0 <= F m' - c * F (m' - Z.of_nat k)).
  { pose proof (Best [] (NoDup_nil _)) as Z0; simpl in Z0; lra. }
  pose proof (one_coordinate pre mu a b c _ (Rlt_le _ _ Hc) HB
    (any_shift noise k a b c _ HC ltac:(unfold k; lia) (Rlt_le _ _ Hc) Best) S HS) as O.
  assert (E1 : F m' - c * F (m' - Z.of_nat k) = Phi s - c * Phi (s + Z.abs (a - b))).
  { unfold Phi; replace (m - (s + Z.abs (a - b)))%Z with (m' - Z.of_nat k)%Z by (unfold m', k; lia).
    replace (m - s)%Z with m' by reflexivity.
    rewrite (F_step m'), (F_step (m' - Z.of_nat k)), <- Ec; ring. }
  rewrite E1 in O; apply Rmult_le_reg_l with c; auto; lra.
Qed.
Lemma chain_all mu : forall pre nu s S, length mu = length nu -> NoDup S ->
  Phi s <= lsum (noise_vec noise (pre ++ mu)) S -> Phi (s + absdist mu nu) <= lsum (noise_vec noise (pre ++ nu)) S.
Proof.
  induction mu as [|a mu IH]; intros pre [|b nu] s S E HS H; try discriminate.
  - simpl; rewrite Z.add_0_r; auto.
  - apply (chain_step pre mu a b s S HS) in H.
    replace (pre ++ b :: nu) with ((pre ++ [b]) ++ nu) by (rewrite <- app_assoc; reflexivity).
    replace (pre ++ b :: mu) with ((pre ++ [b]) ++ mu) in H by (rewrite <- app_assoc; reflexivity).
    cbn [absdist]; rewrite Z.add_assoc; apply IH; auto.
Qed.
End Chain.

Lemma vector_shift (D : nat) mu nu c B : length mu = length nu -> (absdist mu nu <= Z.of_nat D)%Z -> 0 <= c ->
  (forall l, NoDup l -> lsum w l - c * lsum (noise (Z.of_nat D)) l <= B) ->
  forall S, NoDup S -> lsum (noise_vec noise mu) S - c * lsum (noise_vec noise nu) S <= B.
Proof.
  intros E HD Hc HB S HS.
  assert (B0 : 0 <= B) by (pose proof (HB [] (NoDup_nil _)) as Z0; simpl in Z0; lra).
  set (al := lsum (noise_vec noise mu) S).
  assert (Q0 : 0 <= lsum (noise_vec noise nu) S) by (apply lsum_ge0, pmf_ge0).
  assert (al0 : 0 <= al) by (apply lsum_ge0, pmf_ge0).
  assert (al1 : al <= 1) by (apply (has_sum_ub _ _ _ (pmf_sum _) HS)).
  (* half-line events of one coordinate *)
  assert (Half : forall z, F z - c * F (z - Z.of_nat D) <= B).
  { intros z; enough (F z <= B + c * F (z - Z.of_nat D)) by lra; eapply has_sum_lub; [apply F_sum|]; intros l Hl.
    set (f := fun x => if Z_le_dec x z then true else false).
    pose proof (HB _ (NoDup_filter f Hl)) as G; rewrite !lsum_filter in G.
    pose proof (has_sum_ub _ _ _ (F_shift z (Z.of_nat D)) Hl) as G2.
    rewrite (lsum_ext (below z) (fun x => if f x then w x else 0)) by (intros x _; unfold below, f; destruct (Z_le_dec x z); auto).
    rewrite (lsum_ext (fun x => if Z_le_dec x z then w (x - Z.of_nat D)%Z else 0) (fun x => if f x then noise (Z.of_nat D) x else 0)) in G2
      by (intros x _; unfold f; destruct (Z_le_dec x z); auto; symmetry; apply nm).
    assert (c * lsum (fun x => if f x then noise (Z.of_nat D) x else 0) l <= c * F (z - Z.of_nat D)) by (apply Rmult_le_compat_l; auto).
    lra. }
  destruct al0 as [al0|<-]; [|nra].
  (* al < 1 is approached from below *)
  assert (Main : forall be, 0 < be < 1 -> be <= al -> be - c * lsum (noise_vec noise nu) S <= B).
  { intros be Hbe Hle; destruct (threshold be Hbe) as (m & g & Hg & Em).
    assert (P0 : Phi m g 0 <= lsum (noise_vec noise ([] ++ mu)) S).
    { unfold Phi; rewrite !Z.sub_0_r; simpl; fold al; lra. }
    pose proof (chain_all m g mu [] nu 0 S E HS P0) as P1; simpl app in P1; rewrite Z.add_0_l in P1.
    assert (Dec : Phi m g (Z.of_nat D) <= Phi m g (absdist mu nu)).
    { rewrite !Phi_mix; pose proof (F_mono (m - Z.of_nat D - 1) (m - absdist mu nu - 1) ltac:(lia));
        pose proof (F_mono (m - Z.of_nat D) (m - absdist mu nu) ltac:(lia)); nra. }
    assert (Fin : Phi m g 0 - c * Phi m g (Z.of_nat D) <= B).
    { rewrite !Phi_mix, !Z.sub_0_r; pose proof (Half (m - 1)%Z) as H1; pose proof (Half m) as H2.
      replace (m - 1 - Z.of_nat D)%Z with (m - Z.of_nat D - 1)%Z in H1 by lia; nra. }
    assert (E0 : Phi m g 0 = be) by (unfold Phi; rewrite !Z.sub_0_r; auto).
    assert (c * Phi m g (Z.of_nat D) <= c * lsum (noise_vec noise nu) S) by (apply Rmult_le_compat_l; lra).
    lra. }
  destruct (Rlt_dec al 1) as [L|L]; [apply Main; lra|].
  assert (A1 : al = 1) by lra; destruct (Rle_dec (al - c * lsum (noise_vec noise nu) S) B) as [|N]; auto; exfalso.
  set (gap := al - c * lsum (noise_vec noise nu) S - B); assert (Hgap : 0 < gap) by (unfold gap; lra).
  pose proof (Main (Rmax (1 / 2) (1 - gap / 2))) as G; unfold Rmax in G; destruct (Rle_dec (1 / 2) (1 - gap / 2)); unfold gap in *; specialize (G ltac:(lra) ltac:(lra)); lra.
Qed.
End Shift.

(** @theorem vector-profile
    The vector query f has l1 sensitivity at most D (an integer) for adj; independent discrete
    Laplace or discrete Gaussian noise (symmetric, log-concave) is added to each coordinate.
    If one noisy 0 is (eps, delta)-close to one noisy D in this direction, the noisy vector
    is (eps, delta)-DP for adj. *)
Theorem vector_profile {D} (adj : D -> D -> Prop) (f : D -> list Z) (K : nat) noise eps delta :
  concave_noise noise -> l1_sens adj f (IZR (Z.of_nat K)) ->
  dp eps delta (noise 0%Z) (noise (Z.of_nat K)) -> dp_mech adj eps delta (fun d => noise_vec noise (f d)).
Proof.
  intros HC Hf H d d' A l Hl; destruct (Hf d d' A) as [E HD]; apply le_IZR in HD.
  enough (lsum (noise_vec noise (f d)) l - exp eps * lsum (noise_vec noise (f d')) l <= delta) by lra.
  apply (vector_shift noise HC K); auto; [left; apply exp_pos|].
  intros l' Hl'; pose proof (H l' Hl'); lra.
Qed.
(** @theorem vector-noise-loss
    As vector-profile, for privacy-loss bounds: what bounds one noisy 0 against one noisy D
    bounds the noisy vector of l1 sensitivity D. *)
Theorem vector_noise_loss {D} (adj : D -> D -> Prop) (f : D -> list Z) (K : nat) noise p :
  concave_noise noise -> l1_sens adj f (IZR (Z.of_nat K)) ->
  pld_pair p (noise 0%Z) (noise (Z.of_nat K)) -> pld_mech adj p (fun d => noise_vec noise (f d)).
Proof.
  intros HC Hf H d d' A c l Hc Hl; destruct (Hf d d' A) as [E HD]; apply le_IZR in HD.
  apply (vector_shift noise HC K); auto.
Qed.
(* the histogram with Laplace noise: one record moved is one count moved by two *)
Example histogram_profile t eps delta : dp eps delta (laplace t 0) (laplace t (Z.of_nat 2)) ->
  dp_mech replace_one eps delta (fun d => laplace_vec t (histogram d)).
Proof.
  apply (vector_profile replace_one histogram 2 (laplace t)); [apply laplace_concave|].
  intros d d' A; apply (proj2 histogram_sens d d' A).
Qed.
