(* Count vectors: neighbours change at most k counts, each by at most one. The
   privacy-loss distribution of the whole release is the k-fold convolution of that of
   one noisy count shifted by one. Poisson sampling mixes privacy-loss bounds. *)
From Coq Require Import Reals Lra Lia List ZArith FinFun.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors Neighbours Renyi Basic PureToZCDP Optimal OptimalApprox PLD Subsampling.
Import ListNotations.
Local Open Scope R_scope.

Lemma conv_one q c : curve (conv pld_one q) c = curve q c.
Proof.
  rewrite curve_conv; unfold curve at 2, hinges; f_equal; apply lsum_ext; intros a _.
  unfold curve, hinges; simpl; rewrite !Rmult_1_l; ring.
Qed.
Lemma pld_pair_refl {T} p (P : dist T) : covers p -> pld_pair p P P.
Proof.
  intros Hp c l Hc Hl; specialize (Hp c Hc); pose proof (pp0 (1 - c)); pose proof (pp1 (1 - c)).
  pose proof (has_sum_ub _ _ _ (pmf_sum P) Hl); pose proof (lsum_ge0 P l (pmf_ge0 P)); nra.
Qed.
Lemma pld_one_covers : covers pld_one.
Proof. intros c Hc; unfold curve, hinges; simpl; rewrite !Rmult_1_l; lra. Qed.
Lemma pld_one_sound : sound pld_one.
Proof. split; simpl; [lra|]; constructor; [split; simpl; lra|constructor]. Qed.
(* one-to-one renaming of outputs *)
Lemma pld_pair_rename {T} (h k : T -> T) p (P Q P' Q' : T -> R) :
  (forall x, k (h x) = x) -> (forall x, P' x = P (h x)) -> (forall x, Q' x = Q (h x)) ->
  pld_pair p P Q -> pld_pair p P' Q'.
Proof.
  intros Hk HP HQ H c l Hc Hl.
  rewrite (lsum_ext P' (fun x => P (h x))), (lsum_ext Q' (fun x => Q (h x))) by auto.
  rewrite <- (lsum_map h P), <- (lsum_map h Q); apply H; auto.
  apply Injective_map_NoDup; auto; intros x y E; rewrite <- (Hk x), <- (Hk y), E; auto.
Qed.

(* noise on integers that moves with its location and is symmetric *)
Definition symmetric_noise (noise : Z -> dist Z) : Prop :=
  (forall m x, noise m x = noise 0%Z (x - m)%Z) /\ (forall x, noise 0%Z (- x)%Z = noise 0%Z x).
Lemma gauss_symmetric v : symmetric_noise (gauss v).
Proof.
  split.
  - intros m x; simpl; assert (E : forall j, theta v (cond_pos v) (IZR j) = theta v (cond_pos v) 0)
      by (intros j; rewrite <- (theta_shift v _ 0 j); f_equal; ring).
    rewrite (E m); f_equal; unfold gw; do 3 f_equal; rewrite minus_IZR; ring.
  - intros x; simpl; f_equal; unfold gw; do 3 f_equal; rewrite opp_IZR; ring.
Qed.
Lemma laplace_symmetric t : symmetric_noise (laplace t).
Proof.
  split.
  - intros m x; simpl; f_equal; f_equal; lia.
  - intros x; simpl; f_equal; unfold lapw; do 4 f_equal; lia.
Qed.
Lemma unit_shift noise p (m n : Z) : symmetric_noise noise -> covers p ->
  pld_pair p (noise 0%Z) (noise 1%Z) -> (Z.abs (m - n) <= 1)%Z -> pld_pair p (noise m) (noise n).
Proof.
  intros [Hm Hs] Hv H Hd.
  assert (C : (n = m \/ n = m + 1 \/ n = m - 1)%Z) by lia; destruct C as [->|[->| ->]].
  - now apply pld_pair_refl.
  - apply (pld_pair_rename (fun x => x - m)%Z (fun x => x + m)%Z p (noise 0%Z) (noise 1%Z)); auto.
    + intros; lia.
    + intros x; rewrite (Hm (m + 1)%Z), (Hm 1%Z); f_equal; lia.
  - apply (pld_pair_rename (fun x => m - x)%Z (fun x => m - x)%Z p (noise 0%Z) (noise 1%Z)); auto.
    + intros; lia.
    + intros x; rewrite (Hm m), <- Hs; f_equal; lia.
    + intros x; rewrite (Hm (m - 1)%Z), (Hm 1%Z), <- Hs; f_equal; lia.
Qed.

(* number of coordinates that differ; none by more than one *)
Fixpoint changes (x y : list Z) : nat :=
  match x, y with a :: x, b :: y => (if Z.eq_dec a b then 0 else 1) + changes x y | _, _ => 0 end.
Fixpoint by_one (x y : list Z) : Prop :=
  match x, y with a :: x, b :: y => (Z.abs (a - b) <= 1)%Z /\ by_one x y | _, _ => True end.
Definition count_sens {D} (adj : D -> D -> Prop) (f : D -> list Z) (k : nat) : Prop :=
  forall d d', adj d d' -> length (f d) = length (f d') /\ by_one (f d) (f d') /\ (changes (f d) (f d') <= k)%nat.
Definition noise_vec (noise : Z -> dist Z) (mu : list Z) : dist (list Z) := prod_dist (map noise mu).

Lemma cons_pld {T} (eqd : forall x y : T, {x = y} + {x <> y}) p (P Q : dist T) (K L : T -> dist (list T)) :
  pld_pair p (joint_dist eqd P K) (joint_dist eqd Q L) -> pld_pair p (cons_dist eqd P K) (cons_dist eqd Q L).
Proof. intros H c l Hc Hl; rewrite !lsum_pairs by reflexivity; exact (H c _ Hc (pairs_NoDup l Hl)). Qed.

(** @theorem counts-pld
    Neighbours of adj change at most k coordinates of the integer vector f, each by at most
    one. Symmetric noise that moves with its location (discrete Gaussian, discrete Laplace) is
    added to each coordinate, and p bounds one noisy zero against one noisy one. Then
    the k-fold convolution of p bounds the release, in both directions. *)
Theorem counts_pld {D} (adj : D -> D -> Prop) (f : D -> list Z) k noise p :
  symmetric_noise noise -> sound p -> covers p -> pld_pair p (noise 0%Z) (noise 1%Z) ->
  count_sens adj f k -> pld_mech adj (pld_total (repeat p k)) (fun d => noise_vec noise (f d)).
Proof.
  intros Hn Hs Hv H Hf d d' A; destruct (Hf d d' A) as (E & B & C); clear Hf A.
  revert k C E B; unfold noise_vec; generalize (f d) (f d'); clear d d'.
  induction l as [|m mu IH]; intros [|n nu] k C E B; try discriminate.
  - apply (pld_pair_refl (T := list Z)), covers_total; apply Forall_forall; intros x Hx; apply repeat_spec in Hx; now subst.
  - destruct B as [B1 B2]; cbn [changes] in C; cbn [map prod_dist].
    assert (Sk : forall j, sound (pld_total (repeat p j))).
    { intros j; apply sound_total, Forall_forall; intros x Hx; apply repeat_spec in Hx; now subst. }
    apply cons_pld; destruct (Z.eq_dec m n) as [->|Ne].
    + apply (pld_pair_le (conv pld_one (pld_total (repeat p k)))).
      { intros c Hc; rewrite conv_one; lra. }
      apply pld_joint; [apply Sk|apply pld_pair_refl, pld_one_covers|].
      intros _; apply IH; auto.
    + destruct k as [|k]; [lia|]; cbn [repeat pld_total].
      apply pld_joint; [apply Sk|now apply unit_shift|].
      intros _; apply IH; auto; lia.
Qed.

(** @theorem counts-dp
    As counts-pld: for every eps the release is (eps, delta)-DP for adj with delta the
    curve of the k-fold convolution at e^eps. *)
Theorem counts_dp {D} (adj : D -> D -> Prop) (f : D -> list Z) k noise p eps :
  symmetric_noise noise -> sound p -> covers p -> pld_pair p (noise 0%Z) (noise 1%Z) ->
  count_sens adj f k -> dp_mech adj eps (curve (pld_total (repeat p k)) (exp eps)) (fun d => noise_vec noise (f d)).
Proof.
  intros Hn Hs Hv H Hf d d' A l Hl.
  pose proof (counts_pld adj f k noise p Hn Hs Hv H Hf d d' A (exp eps) l ltac:(left; apply exp_pos) Hl); lra.
Qed.
Lemma gauss_noise_vec v mu : noise_vec (gauss v) mu = gauss_vec v mu. Proof. reflexivity. Qed.
Lemma laplace_noise_vec t mu : noise_vec (laplace t) mu = laplace_vec t mu. Proof. reflexivity. Qed.

(* ---------- Poisson sampling ---------- *)
Section PoissonPLD.
Context {U T : Type} (eqd : forall x y : T, {x = y} + {x <> y}) (q : R) (Hq : 0 <= q <= 1).
Lemma pld_mix p (P1 P2 Q1 Q2 : T -> R) : pld_pair p P1 Q1 -> pld_pair p P2 Q2 -> pld_pair p (mix q P1 P2) (mix q Q1 Q2).
Proof.
  intros H1 H2 c l Hc Hl; unfold mix; rewrite !lsum_plus, !lsum_scal.
  pose proof (H1 c l Hc Hl); pose proof (H2 c l Hc Hl); nra.
Qed.
Lemma pld_pair_ext p (P Q P' Q' : T -> R) : (forall x, P x = P' x) -> (forall x, Q x = Q' x) -> pld_pair p P Q -> pld_pair p P' Q'.
Proof. intros HP HQ; apply (pld_pair_rename (fun x => x) (fun x => x)); auto. Qed.
Lemma pld_poisson_pair p (l : list U) : forall M M' : list U -> dist T,
  ((forall s, pld_pair p (mix q (M s) (M' s)) (M s)) -> pld_pair p (mix q (poisson eqd q Hq M l) (poisson eqd q Hq M' l)) (poisson eqd q Hq M l)) /\
  ((forall s, pld_pair p (M s) (mix q (M s) (M' s))) -> pld_pair p (poisson eqd q Hq M l) (mix q (poisson eqd q Hq M l) (poisson eqd q Hq M' l))).
Proof.
  induction l as [|x l IH]; intros M M'; [split; intros H; apply (H [])|].
  destruct (IH M M') as [A1 B1]; destruct (IH (fun s => M (x :: s)) (fun s => M' (x :: s))) as [A2 B2].
  cbn [poisson].
  set (a1 := poisson eqd q Hq M l) in *; set (a2 := poisson eqd q Hq (fun s => M (x :: s)) l) in *.
  set (b1 := poisson eqd q Hq M' l) in *; set (b2 := poisson eqd q Hq (fun s => M' (x :: s)) l) in *.
  assert (E : forall y, mix q (mix q a1 b1) (mix q a2 b2) y = mix q (mix_dist eqd q Hq a1 a2) (mix_dist eqd q Hq b1 b2) y).
  { intros y; simpl; unfold mix; ring. }
  split; intros H.
  - eapply pld_pair_ext; [exact E|reflexivity|]; simpl; apply pld_mix; auto.
  - eapply pld_pair_ext; [reflexivity|exact E|]; simpl; apply pld_mix; auto.
Qed.
(** @theorem pld-poisson
    For every dataset s and every s' with one record more, p bounds the mixture
    (1-q) M(s) + q M(s') against M(s), and r bounds M(s) against the mixture. Running M on a
    Poisson sample of rate q: p bounds the removal of a record (larger dataset against smaller)
    and r the addition of one. *)
Theorem pld_poisson p r (M : list U -> dist T) :
  (forall s s', adds_one s s' -> pld_pair p (mix q (M s) (M s')) (M s) /\ pld_pair r (M s) (mix q (M s) (M s'))) ->
  pld_mech (fun d d' => adds_one d' d) p (poisson eqd q Hq M) /\ pld_mech adds_one r (poisson eqd q Hq M).
Proof.
  intros H; enough (G : forall x (l1 l2 : list U) (M : list U -> dist T),
    (forall s s', adds_one s s' -> pld_pair p (mix q (M s) (M s')) (M s) /\ pld_pair r (M s) (mix q (M s) (M s'))) ->
    pld_pair p (poisson eqd q Hq M (l1 ++ x :: l2)) (poisson eqd q Hq M (l1 ++ l2)) /\
    pld_pair r (poisson eqd q Hq M (l1 ++ l2)) (poisson eqd q Hq M (l1 ++ x :: l2))).
  { split.
    - intros d d' (l1 & x & l2 & -> & ->); now apply G.
    - intros d d' (l1 & x & l2 & -> & ->); now apply G. }
  clear M H; intros x l1; induction l1 as [|z l1 IH]; intros l2 M H.
  - destruct (pld_poisson_pair p l2 M (fun s => M (x :: s))) as [A _]; destruct (pld_poisson_pair r l2 M (fun s => M (x :: s))) as [_ B].
    simpl; split.
    + apply A; intros s; apply H; exists [], x, s; auto.
    + apply B; intros s; apply H; exists [], x, s; auto.
  - destruct (IH l2 M H) as [A1 B1].
    destruct (IH l2 (fun s => M (z :: s))) as [A2 B2].
    { intros s s' (k1 & y & k2 & -> & ->); apply H; exists (z :: k1), y, k2; auto. }
    simpl; split; apply pld_mix; auto.
Qed.
End PoissonPLD.

(* ---------- instance ---------- *)
(* a histogram: one record moved changes two counts by one; noise atoms at -3..4 *)
Lemma histogram_counts : count_sens replace_one histogram 2.
Proof.
  intros d d' (l1 & x & y & l2 & -> & ->); split; [reflexivity|].
  unfold histogram, cell; rewrite !count_occ_app; split.
  - cbn [by_one]; destruct x, y; simpl; lia.
  - cbn [changes]; destruct (Z.eq_dec _ _), (Z.eq_dec _ _); simpl; lia.
Qed.
Definition unit_pld (v : posreal) : pld :=
  let l := [-3; -2; -1; 0; 1; 2; 3; 4]%Z in
  Pld (1 - lsum (gauss v 0) l) (map (fun x => (gauss v 0 x, gauss v 1 x / gauss v 0 x)) l).
Example histogram_exact v eps : dp_mech replace_one eps (curve (pld_total (repeat (unit_pld v) 2)) (exp eps))
  (fun d => gauss_vec v (histogram d)).
Proof.
  assert (GP : forall m x, 0 < gauss v m x)
    by (intros; simpl; apply Rmult_lt_0_compat; [apply Rinv_0_lt_compat, theta_pos|apply exp_pos]).
  assert (N : NoDup [-3; -2; -1; 0; 1; 2; 3; 4]%Z) by (repeat constructor; simpl; intuition discriminate).
  assert (S : sound (unit_pld v)).
  { split; cbn [unit_pld inf_mass atoms].
    - pose proof (has_sum_ub _ _ _ (pmf_sum (gauss v 0)) N); lra.
    - apply Forall_forall; intros a Ha; apply in_map_iff in Ha; destruct Ha as (x & <- & _); cbn [fst snd].
      pose proof (GP 0%Z x); pose proof (GP 1%Z x); split; [lra|].
      apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]. }
  assert (P : pld_pair (unit_pld v) (gauss v 0) (gauss v 1)) by (apply (pld_exact Z.eq_dec); auto).
  apply (counts_dp replace_one histogram 2 (gauss v)); auto using gauss_symmetric, histogram_counts.
  now apply (pair_covers Z.eq_dec (unit_pld v) (gauss v 0) (gauss v 1)).
Qed.
