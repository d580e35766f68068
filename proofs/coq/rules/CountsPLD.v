(* Count vectors: neighbours change at most k counts, each by at most K. The
   privacy-loss distribution of the whole release is the k-fold convolution of that of
   one noisy count shifted by K: no smaller shift is worse. Poisson sampling mixes
   privacy-loss bounds. *)
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
(* moreover positive, smaller further out, and with monotone likelihood ratio *)
Definition concave_noise (noise : Z -> dist Z) : Prop :=
  symmetric_noise noise /\ (forall x, 0 < noise 0%Z x) /\
  (forall x y, (Z.abs x <= Z.abs y)%Z -> noise 0%Z y <= noise 0%Z x) /\
  (forall x y k, (x <= y)%Z -> (0 <= k)%Z -> noise 0%Z y * noise 0%Z (x - k)%Z <= noise 0%Z x * noise 0%Z (y - k)%Z).
Lemma gauss_concave v : concave_noise (gauss v).
Proof.
  split; [apply gauss_symmetric|]; pose proof (cond_pos v) as Hv.
  assert (HT : 0 < / theta v (cond_pos v) 0) by (apply Rinv_0_lt_compat, theta_pos).
  split; [|split]; [intros x|intros x y H|intros x y k Hxy Hk]; simpl; set (t := / theta v (cond_pos v) 0) in *.
  - apply Rmult_lt_0_compat; [auto|apply exp_pos].
  - apply Rmult_le_compat_l; [lra|]; unfold gw; apply exp_le; rewrite !Rminus_0_r.
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]; apply Ropp_le_contravar.
    rewrite <- !mult_IZR; apply IZR_le; nia.
  - replace (t * gw v 0 y * (t * gw v 0 (x - k))) with (t * t * (gw v 0 y * gw v 0 (x - k))) by ring.
    replace (t * gw v 0 x * (t * gw v 0 (y - k))) with (t * t * (gw v 0 x * gw v 0 (y - k))) by ring.
    apply Rmult_le_compat_l; [nra|]; unfold gw; rewrite <- !exp_plus; apply exp_le; rewrite !Rminus_0_r.
    unfold Rdiv; rewrite <- !Rmult_plus_distr_r; apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
    rewrite <- !mult_IZR, <- !opp_IZR, <- !plus_IZR; apply IZR_le; nia.
Qed.
Lemma laplace_concave t : concave_noise (laplace t).
Proof.
  split; [apply laplace_symmetric|]; pose proof (cond_pos t) as Ht.
  assert (HC := lapc_pos t Ht).
  split; [|split]; [intros x|intros x y H|intros x y k Hxy Hk]; simpl; rewrite ?Z.sub_0_r.
  - apply Rmult_lt_0_compat; [auto|apply exp_pos].
  - apply Rmult_le_compat_l; [lra|]; unfold lapw; apply exp_le.
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]; apply Ropp_le_contravar, IZR_le; lia.
  - replace (lapc t * lapw t y * (lapc t * lapw t (x - k))) with (lapc t * lapc t * (lapw t y * lapw t (x - k))) by ring.
    replace (lapc t * lapw t x * (lapc t * lapw t (y - k))) with (lapc t * lapc t * (lapw t x * lapw t (y - k))) by ring.
    apply Rmult_le_compat_l; [nra|]; unfold lapw; rewrite <- !exp_plus; apply exp_le.
    unfold Rdiv; rewrite <- !Rmult_plus_distr_r; apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
    rewrite <- !opp_IZR, <- !plus_IZR; apply IZR_le; lia.
Qed.

(* m, m-1, ..., m-n *)
Definition down (m : Z) (n : nat) : list Z := map (fun i => m - Z.of_nat i)%Z (seq 0 (S n)).
Lemma down_NoDup m n : NoDup (down m n).
Proof. apply Injective_map_NoDup; [intros x y; lia|apply seq_NoDup]. Qed.
Lemma down_In m n x : In x (down m n) <-> (m - Z.of_nat n <= x <= m)%Z.
Proof.
  unfold down; rewrite in_map_iff; split.
  - intros (i & <- & Hi); apply in_seq in Hi; lia.
  - intros H; exists (Z.to_nat (m - x)); split; [lia|apply in_seq; lia].
Qed.
Lemma lsum_cons_snoc (f : nat -> R) n : lsum f (seq 0 (S n)) = f 0%nat + lsum (fun i => f (S i)) (seq 0 n).
Proof. simpl; f_equal; rewrite <- seq_shift, lsum_map; reflexivity. Qed.
Lemma down_shift (w : Z -> R) m n : (forall x y, (Z.abs x <= Z.abs y)%Z -> w y <= w x) -> forall j : nat,
  (2 * Z.abs m + 2 * Z.of_nat j <= Z.of_nat n)%Z ->
  lsum (fun x => w (x - Z.of_nat (S j))%Z) (down m n) <= lsum (fun x => w (x - Z.of_nat j)%Z) (down m n).
Proof.
  intros Hw j Hn; unfold down; rewrite !lsum_map.
  rewrite (lsum_cons_snoc (fun i => w (m - Z.of_nat i - Z.of_nat j)%Z)).
  rewrite seq_S, lsum_app; cbn [lsum].
  rewrite (lsum_ext (fun u => w (m - Z.of_nat u - Z.of_nat (S j))%Z) (fun i => w (m - Z.of_nat (S i) - Z.of_nat j)%Z))
    by (intros i _; f_equal; lia).
  assert (w (m - Z.of_nat (0 + n) - Z.of_nat (S j))%Z <= w (m - Z.of_nat 0 - Z.of_nat j)%Z) by (apply Hw; lia).
  lra.
Qed.

(* the worst shift is the largest one *)
Lemma largest_shift noise (k K : nat) c B : concave_noise noise -> (k <= K)%nat -> 0 <= c ->
  (forall l, NoDup l -> lsum (noise 0%Z) l - c * lsum (noise (Z.of_nat K)) l <= B) ->
  forall l, NoDup l -> lsum (noise 0%Z) l - c * lsum (noise (Z.of_nat k)) l <= B.
Proof.
  intros ([Hm Hs] & Hp & Hu & Hr) HkK Hc HB l Hl.
  set (w := noise 0%Z) in *.
  set (g := fun x => w x - c * w (x - Z.of_nat k)%Z).
  assert (E : lsum w l - c * lsum (noise (Z.of_nat k)) l = lsum g l).
  { unfold g; rewrite (lsum_ext (fun x => w x - c * w (x - Z.of_nat k)%Z) (fun x => w x + - c * noise (Z.of_nat k) x)).
    - rewrite lsum_plus, lsum_scal; ring.
    - intros x _; rewrite (Hm (Z.of_nat k) x); unfold w; ring. }
  rewrite E.
  set (good := fun x => if Rlt_dec 0 (g x) then true else false).
  assert (G1 : lsum g l <= lsum g (filter good l)).
  { rewrite lsum_filter; apply lsum_le; intros x _; unfold good; destruct (Rlt_dec 0 (g x)); lra. }
  destruct (filter good l) as [|x0 l0] eqn:F.
  { simpl in G1; specialize (HB [] (NoDup_nil _)); simpl in HB; lra. }
  rewrite <- F in *; clear x0 l0 F.
  (* largest good point *)
  assert (Hmax : exists m, (0 < g m \/ filter good l = []) /\ forall x, In x (filter good l) -> (x <= m)%Z).
  { assert (A : forall y, In y (filter good l) -> 0 < g y).
    { intros y Hy; apply filter_In in Hy; destruct Hy as [_ Hy]; unfold good in Hy; destruct (Rlt_dec 0 (g y)); easy. }
    revert A; generalize (filter good l); induction l0 as [|y l0 IH]; intros A.
    - exists 0%Z; split; [right; auto|easy].
    - destruct IH as (m & Hg & Hi); [intros z Hz; apply A; simpl; auto|].
      destruct Hg as [Hg| ->].
      + destruct (Z_le_dec y m) as [L|L].
        * exists m; split; [auto|]; intros z [<-|Hz]; auto.
        * exists y; split; [left; apply A; simpl; auto|]; intros z [<-|Hz]; [lia|specialize (Hi z Hz); lia].
      + exists y; split; [left; apply A; simpl; auto|]; intros z [<-|[]]; lia. }
  destruct Hmax as (m & [Hg|Hg] & Hi).
  2:{ rewrite Hg in G1; simpl in G1; specialize (HB [] (NoDup_nil _)); simpl in HB; lra. }
  (* every point below m is good *)
  assert (Hlow : forall x, (x <= m)%Z -> 0 <= g x).
  { intros x Hx; unfold g in *; pose proof (Hr x m (Z.of_nat k) Hx ltac:(lia)) as R1.
    pose proof (Hp m) as P1; pose proof (Hp (m - Z.of_nat k)%Z) as P2; pose proof (Hp (x - Z.of_nat k)%Z) as P3.
    apply Rmult_le_reg_r with (w (m - Z.of_nat k)%Z); auto; rewrite Rmult_0_l.
    assert (c * w (m - Z.of_nat k)%Z * w (x - Z.of_nat k)%Z <= w m * w (x - Z.of_nat k)%Z) by (apply Rmult_le_compat_r; lra).
    nra. }
  destruct (zr_cover (filter good l)) as [b Hb].
  set (n := Z.to_nat (2 * Z.abs m + 2 * Z.of_nat K + Z.of_nat b)).
  assert (Hincl : incl (filter good l) (down m n)).
  { intros x Hx; apply down_In; split; [|auto]; specialize (Hb x Hx); apply zr_In in Hb; unfold n; lia. }
  assert (G2 : lsum g (filter good l) <= lsum g (down m n)).
  { assert (N1 : NoDup (filter good l)) by now apply NoDup_filter.
    set (g' := fun x => Rmax 0 (g x)).
    apply Rle_trans with (lsum g' (filter good l)); [apply lsum_le; intros; apply Rmax_r|].
    apply Rle_trans with (lsum g' (down m n)); [apply lsum_incl; auto; intros; apply Rmax_l|].
    right; apply lsum_ext; intros x Hx; apply down_In in Hx; apply Rmax_right, Hlow; lia. }
  (* a larger shift leaves less of Q below m *)
  assert (G3 : lsum (fun x => w (x - Z.of_nat K)%Z) (down m n) <= lsum (fun x => w (x - Z.of_nat k)%Z) (down m n)).
  { replace K with (k + (K - k))%nat by lia; assert (Hd : (k + (K - k) <= K)%nat) by lia; revert Hd.
    induction (K - k)%nat as [|j IH]; intros Hd; [rewrite Nat.add_0_r; lra|].
    eapply Rle_trans; [|apply IH; lia]; rewrite Nat.add_succ_r; apply down_shift; auto; unfold n; lia. }
  specialize (HB (down m n) (down_NoDup m n)).
  assert (E2 : lsum g (down m n) = lsum w (down m n) - c * lsum (fun x => w (x - Z.of_nat k)%Z) (down m n)).
  { unfold g; rewrite (lsum_ext (fun x => w x - c * w (x - Z.of_nat k)%Z) (fun x => w x + - c * w (x - Z.of_nat k)%Z)) by (intros; ring).
    rewrite lsum_plus, lsum_scal; ring. }
  rewrite (lsum_ext (noise (Z.of_nat K)) (fun x => w (x - Z.of_nat K)%Z)) in HB by (intros; apply Hm).
  assert (c * lsum (fun x => w (x - Z.of_nat K)%Z) (down m n) <= c * lsum (fun x => w (x - Z.of_nat k)%Z) (down m n))
    by (apply Rmult_le_compat_l; auto).
  lra.
Qed.
Lemma any_shift noise (K : nat) (m n : Z) c B : concave_noise noise -> (Z.abs (m - n) <= Z.of_nat K)%Z -> 0 <= c ->
  (forall l, NoDup l -> lsum (noise 0%Z) l - c * lsum (noise (Z.of_nat K)) l <= B) ->
  forall l, NoDup l -> lsum (noise m) l - c * lsum (noise n) l <= B.
Proof.
  intros HC Hd Hc HB l Hl; pose proof HC as ([Hm Hs] & _).
  set (k := Z.to_nat (Z.abs (m - n))); pose proof (largest_shift noise k K c B HC ltac:(lia) Hc HB) as G.
  destruct (Z_le_dec m n) as [L|L].
  - set (h := fun x => (x - m)%Z).
    rewrite (lsum_ext (noise m) (fun x => noise 0%Z (h x))), (lsum_ext (noise n) (fun x => noise (Z.of_nat k) (h x))).
    + rewrite <- (lsum_map h (noise 0%Z)), <- (lsum_map h (noise (Z.of_nat k))).
      apply G, Injective_map_NoDup; auto; intros x y; unfold h; lia.
    + intros x _; rewrite (Hm n), (Hm (Z.of_nat k)); f_equal; unfold h, k; lia.
    + intros x _; apply Hm.
  - set (h := fun x => (m - x)%Z).
    rewrite (lsum_ext (noise m) (fun x => noise 0%Z (h x))), (lsum_ext (noise n) (fun x => noise (Z.of_nat k) (h x))).
    + rewrite <- (lsum_map h (noise 0%Z)), <- (lsum_map h (noise (Z.of_nat k))).
      apply G, Injective_map_NoDup; auto; intros x y; unfold h; lia.
    + intros x _; rewrite (Hm n), (Hm (Z.of_nat k)), <- Hs; f_equal; unfold h, k; lia.
    + intros x _; rewrite (Hm m), <- Hs; f_equal; unfold h; lia.
Qed.

(** @theorem scalar-profile
    The integer query f changes by at most K between neighbours of adj, and the noise is
    discrete Gaussian or discrete Laplace (symmetric, log-concave). If one noisy 0 is
    (eps, delta)-close to one noisy K in this direction, the noisy query is (eps, delta)-DP
    for adj: the exact curve of the shift K is the curve of the mechanism. *)
Theorem scalar_profile {D} (adj : D -> D -> Prop) (f : D -> Z) (K : nat) noise eps delta :
  concave_noise noise -> (forall d d', adj d d' -> (Z.abs (f d - f d') <= Z.of_nat K)%Z) ->
  dp eps delta (noise 0%Z) (noise (Z.of_nat K)) -> dp_mech adj eps delta (fun d => noise (f d)).
Proof.
  intros HC Hf H d d' A l Hl.
  enough (lsum (noise (f d)) l - exp eps * lsum (noise (f d')) l <= delta) by lra.
  apply (any_shift noise K (f d) (f d') (exp eps) delta); auto; [left; apply exp_pos|].
  intros l' Hl'; pose proof (H l' Hl'); lra.
Qed.
Lemma bounded_shift noise p (K : nat) (m n : Z) : concave_noise noise ->
  pld_pair p (noise 0%Z) (noise (Z.of_nat K)) -> (Z.abs (m - n) <= Z.of_nat K)%Z -> pld_pair p (noise m) (noise n).
Proof.
  intros HC H Hd c l Hc Hl; apply (any_shift noise K m n c (curve p c)); auto.
Qed.

(* number of coordinates that differ; none by more than K *)
Fixpoint changes (x y : list Z) : nat :=
  match x, y with a :: x, b :: y => (if Z.eq_dec a b then 0 else 1) + changes x y | _, _ => 0 end.
Fixpoint within_each (K : nat) (x y : list Z) : Prop :=
  match x, y with a :: x, b :: y => (Z.abs (a - b) <= Z.of_nat K)%Z /\ within_each K x y | _, _ => True end.
Definition count_sens {D} (adj : D -> D -> Prop) (f : D -> list Z) (k K : nat) : Prop :=
  forall d d', adj d d' -> length (f d) = length (f d') /\ within_each K (f d) (f d') /\ (changes (f d) (f d') <= k)%nat.
Definition noise_vec (noise : Z -> dist Z) (mu : list Z) : dist (list Z) := prod_dist (map noise mu).

Lemma cons_pld {T} (eqd : forall x y : T, {x = y} + {x <> y}) p (P Q : dist T) (K L : T -> dist (list T)) :
  pld_pair p (joint_dist eqd P K) (joint_dist eqd Q L) -> pld_pair p (cons_dist eqd P K) (cons_dist eqd Q L).
Proof. intros H c l Hc Hl; rewrite !lsum_pairs by reflexivity; exact (H c _ Hc (pairs_NoDup l Hl)). Qed.

(** @theorem counts-pld
    Neighbours of adj change at most k coordinates of the integer vector f, each by at most
    K. Discrete Gaussian or discrete Laplace noise (symmetric, log-concave) is added to each
    coordinate, and p bounds one noisy 0 against one noisy K. Then the k-fold convolution
    of p bounds the release, in both directions. *)
Theorem counts_pld {D} (adj : D -> D -> Prop) (f : D -> list Z) k K noise p :
  concave_noise noise -> sound p -> covers p -> pld_pair p (noise 0%Z) (noise (Z.of_nat K)) ->
  count_sens adj f k K -> pld_mech adj (pld_total (repeat p k)) (fun d => noise_vec noise (f d)).
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
      apply pld_joint; [apply Sk|now apply (bounded_shift noise p K)|].
      intros _; apply IH; auto; lia.
Qed.

(** @theorem counts-dp
    As counts-pld: for every eps the release is (eps, delta)-DP for adj with delta the
    curve of the k-fold convolution at e^eps. *)
Theorem counts_dp {D} (adj : D -> D -> Prop) (f : D -> list Z) k K noise p eps :
  concave_noise noise -> sound p -> covers p -> pld_pair p (noise 0%Z) (noise (Z.of_nat K)) ->
  count_sens adj f k K -> dp_mech adj eps (curve (pld_total (repeat p k)) (exp eps)) (fun d => noise_vec noise (f d)).
Proof.
  intros Hn Hs Hv H Hf d d' A l Hl.
  pose proof (counts_pld adj f k K noise p Hn Hs Hv H Hf d d' A (exp eps) l ltac:(left; apply exp_pos) Hl); lra.
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
Lemma histogram_counts : count_sens replace_one histogram 2 1.
Proof.
  intros d d' (l1 & x & y & l2 & -> & ->); split; [reflexivity|].
  unfold histogram, cell; rewrite !count_occ_app; split.
  - cbn [within_each]; destruct x, y; simpl; lia.
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
  apply (counts_dp replace_one histogram 2 1 (gauss v)); auto using gauss_concave, histogram_counts.
  now apply (pair_covers Z.eq_dec (unit_pld v) (gauss v 0) (gauss v 1)).
Qed.
