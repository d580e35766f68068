(* Route 1 for the laws that are released: the cumulative function of any law on Z is a distribution function, so inversion
   gives that law; the discrete Laplace law in closed form; blocks with the cumulative function of its block weights. *)
From Coq Require Import Reals Lra Lia List ZArith FinFun Classical ConstructiveEpsilon.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.samplers Require Import Tape Uniform Inverse Laplace Blocks.
Import List ListNotations.
Local Open Scope R_scope.

(* ---------- the cumulative function ---------- *)
Definition upto (P : Z -> R) (k x : Z) : R := if (x <=? k)%Z then P x else 0.
Section Cum.
Variable P : dist Z.
Lemma upto_ge0 k x : 0 <= upto P k x.
Proof. unfold upto; destruct (x <=? k)%Z; [apply pmf_ge0|lra]. Qed.
Lemma upto_ub k l : NoDup l -> lsum (upto P k) l <= 1.
Proof.
  intros Hl; eapply Rle_trans; [|apply (has_sum_ub P 1 l (pmf_sum P) Hl)]; apply lsum_le; intros x _; unfold upto.
  destruct (x <=? k)%Z; [lra|apply pmf_ge0].
Qed.
Definition cum (k : Z) : R := proj1_sig (has_sum_exists (upto P k) 1 (upto_ub k)).
Lemma cum_sum k : has_sum (upto P k) (cum k).
Proof. exact (proj2_sig (has_sum_exists (upto P k) 1 (upto_ub k))). Qed.
Lemma cum_step k : cum k - cum (k - 1)%Z = P k.
Proof.
  assert (H1 : has_sum (fun x => if Z.eq_dec x k then P k else 0) (P k)).
  { assert (E : lsum (fun x => if Z.eq_dec x k then P k else 0) [k] = P k) by (simpl; destruct (Z.eq_dec k k); [ring|easy]).
    enough (X : has_sum (fun x => if Z.eq_dec x k then P k else 0) (lsum (fun x => if Z.eq_dec x k then P k else 0) [k]))
      by (rewrite E in X; exact X).
    apply (has_sum_finite Z.eq_dec); [repeat constructor; easy| |].
    - intros x; destruct (Z.eq_dec x k); [apply pmf_ge0|lra].
    - intros x N; destruct (Z.eq_dec x k) as [->|]; auto; exfalso; apply N; simpl; auto. }
  assert (H2 : has_sum (upto P k) (cum (k - 1)%Z + P k)).
  { eapply has_sum_ext; [|apply (has_sum_plus Z.eq_dec); [apply (upto_ge0 (k - 1)%Z)| |apply cum_sum|exact H1]].
    - intros x; simpl; unfold upto; destruct (Z.leb_spec x (k - 1)), (Z.leb_spec x k), (Z.eq_dec x k); subst; try lia; ring.
    - intros x; cbv beta; destruct (Z.eq_dec x k); [apply pmf_ge0|lra]. }
  rewrite (has_sum_uniq _ _ _ (cum_sum k) H2); ring.
Qed.
Lemma cum_near (e : R) : 0 < e -> exists n : nat, forall k, (Z.of_nat n <= k)%Z -> cum k > 1 - e /\ cum (- k - 1)%Z < e.
Proof.
  intros He; destruct (classic (exists l, NoDup l /\ 1 - e < lsum P l)) as [[l [Hl Hs]]|N].
  - destruct (zr_cover l) as [n Hn]; exists n; intros k Hk.
    assert (Hb : forall x, In x l -> (- k <= x <= k)%Z) by (intros x Hx; apply Hn, zr_In in Hx; lia); split.
    + eapply Rlt_le_trans; [exact Hs|]; rewrite (lsum_ext P (upto P k)); [apply (has_sum_ub _ _ _ (cum_sum k) Hl)|].
      intros x Hx; unfold upto; specialize (Hb x Hx); destruct (Z.leb_spec x k); [auto|lia].
    + enough (cum (- k - 1)%Z <= 1 - lsum P l) by lra; eapply has_sum_lub; [apply cum_sum|]; intros l' Hl'.
      enough (lsum P (filter (fun x => x <=? - k - 1)%Z l' ++ l) <= 1) as H
        by (rewrite lsum_app, lsum_filter in H; unfold upto; lra).
      apply (has_sum_ub P 1 _ (pmf_sum P)), NoDup_app2; auto using NoDup_filter.
      intros x Hx Hx'; apply filter_In in Hx; destruct Hx as [_ Hx]; apply Z.leb_le in Hx; specialize (Hb x Hx'); lia.
  - exfalso; assert (1 <= 1 - e); [|lra]; eapply has_sum_lub; [apply (pmf_sum P)|]; intros l Hl.
    destruct (Rle_dec (lsum P l) (1 - e)) as [|Hn]; auto; exfalso; apply N; exists l; split; auto; lra.
Qed.
Lemma cum_cdf : cdf cum.
Proof.
  assert (B : forall k, 0 <= cum k <= 1).
  { intros k; split; [apply (has_sum_ub _ _ [] (cum_sum k)); constructor|].
    eapply has_sum_lub; [apply cum_sum|apply upto_ub]. }
  split.
  - intros j k H; eapply has_sum_le; [apply cum_sum|apply cum_sum|]; intros x; unfold upto.
    destruct (Z.leb_spec x j), (Z.leb_spec x k); try lia; try lra; apply pmf_ge0.
  - apply is_lim_seq_spec; intros [e He]; destruct (cum_near e He) as [n Hn]; exists n; intros m Hm; simpl.
    destruct (Hn (Z.of_nat m) ltac:(lia)) as [H _]; specialize (B (Z.of_nat m)); apply Rabs_lt_between; lra.
  - apply is_lim_seq_spec; intros [e He]; destruct (cum_near e He) as [n Hn]; exists (S n); intros m Hm; simpl.
    destruct (Hn (Z.of_nat m - 1)%Z ltac:(lia)) as [_ H]; replace (- (Z.of_nat m - 1) - 1)%Z with (- Z.of_nat m)%Z in H by lia.
    specialize (B (- Z.of_nat m)%Z); apply Rabs_lt_between; lra.
Qed.
(** @theorem sampler-inverse-law
    For every law P on the integers (in particular the discrete Gaussian and the discrete Laplace law), inversion with
    the digits of its cumulative function returns k with probability exactly P(k), and stops almost surely. *)
Theorem inverse_dist digits lo hi : (forall m k, digit_of m (cum k) (digits m k)) -> (forall m, digits m (lo m) = 0%Z) ->
  (forall m, (W ^ Z.of_nat m - 1 <= digits m (hi m))%Z) -> has_law (inverse digits lo hi) P.
Proof.
  intros Hd Hlo Hhi; apply has_law_intro; [auto with smp| |apply pmf_sum].
  intros k; rewrite (mass_inverse cum digits lo hi cum_cdf Hd Hlo Hhi); apply cum_step.
Qed.
End Cum.
(* a window for the search always exists *)
Lemma window_exists F digits m : cdf F -> (forall m k, digit_of m (F k) (digits m k)) ->
  (exists n, digits m (- Z.of_nat n)%Z = 0%Z) /\ (exists n, (W ^ Z.of_nat m - 1 <= digits m (Z.of_nat n))%Z).
Proof.
  intros HF Hd; assert (HW : 0 < IZR W ^ m) by (apply pow_lt; pose proof Wr_pos; lra).
  assert (He : 0 < / IZR W ^ m) by now apply Rinv_0_lt_compat.
  pose proof HF as [Hm Ht Hb]; pose proof (cdf_01 F) as H01; split.
  - apply is_lim_seq_spec in Hb; destruct (Hb (mkposreal _ He)) as [n Hn]; specialize (Hn n (le_n n)); simpl in Hn.
    exists n; destruct (Hd m (- Z.of_nat n)%Z) as [D1 D2].
    apply Rabs_lt_between in Hn; assert (F (- Z.of_nat n)%Z < / IZR W ^ m) by lra.
    assert (0 <= F (- Z.of_nat n)%Z) by (apply H01; exact HF).
    assert (IZR W ^ m * F (- Z.of_nat n)%Z < 1).
    { rewrite <- (Rinv_r (IZR W ^ m)) by lra; apply Rmult_lt_compat_l; auto. }
    assert (IZR (digits m (- Z.of_nat n)%Z) < 1) as L1 by lra; assert (0 < IZR (digits m (- Z.of_nat n)%Z) + 1) as L2 by nra.
    rewrite <- plus_IZR in L2; apply lt_IZR in L1; apply lt_IZR in L2; lia.
  - apply is_lim_seq_spec in Ht; destruct (Ht (mkposreal _ He)) as [n Hn]; specialize (Hn n (le_n n)); simpl in Hn.
    exists n; destruct (Hd m (Z.of_nat n)) as [D1 D2]; apply Rabs_lt_between in Hn.
    assert (IZR W ^ m - 1 < IZR W ^ m * F (Z.of_nat n)).
    { replace (IZR W ^ m - 1) with (IZR W ^ m * (1 - / IZR W ^ m)) by (field; lra); apply Rmult_lt_compat_l; lra. }
    enough (IZR (W ^ Z.of_nat m - 1) < IZR (digits m (Z.of_nat n)) + 1) as X by (rewrite <- plus_IZR in X; apply lt_IZR in X; lia).
    rewrite minus_IZR, <- pow_IZR; lra.
Qed.

Definition window F (HF : cdf F) : {p : (nat -> Z) * (nat -> Z) |
  (forall m, floor_digit m (F (fst p m)) = 0%Z) /\ (forall m, (W ^ Z.of_nat m - 1 <= floor_digit m (F (snd p m)))%Z)}.
Proof.
  pose proof (fun m => window_exists F (fun m k => floor_digit m (F k)) m HF (fun m k => floor_digit_of m (F k))) as H.
  exists (fun m => - Z.of_nat (proj1_sig (constructive_indefinite_ground_description_nat
            (fun n => floor_digit m (F (- Z.of_nat n)%Z) = 0%Z) (fun n => Z.eq_dec _ _) (proj1 (H m)))),
          fun m => Z.of_nat (proj1_sig (constructive_indefinite_ground_description_nat
            (fun n => (W ^ Z.of_nat m - 1 <= floor_digit m (F (Z.of_nat n)))%Z) (fun n => Z_le_dec _ _) (proj2 (H m)))))%Z.
  simpl; split; intros m; destruct (constructive_indefinite_ground_description_nat _ _ _) as [n Hn]; exact Hn.
Defined.
(* digits and window exist for every law: the theorem is about something *)
Example inverse_every_law (P : dist Z) : exists digits lo hi, has_law (inverse digits lo hi) P.
Proof.
  destruct (window (cum P) (cum_cdf P)) as [[lo hi] [Hlo Hhi]]; simpl in *.
  exists (fun m k => floor_digit m (cum P k)), lo, hi; apply inverse_dist; auto using floor_digit_of.
Qed.

(* ---------- the discrete Laplace law in closed form ---------- *)
Definition lapF (t : R) (k : Z) : R :=
  if (k <? 0)%Z then lapw t k / (1 + exp (-1 / t)) else 1 - lapw t (k + 1) / (1 + exp (-1 / t)).
Lemma lapw_up t k : 0 < t -> (0 <= k)%Z -> lapw t (k + 1) = exp (-1 / t) * lapw t k.
Proof.
  intros Ht Hk; unfold lapw; rewrite !Z.abs_eq, plus_IZR, <- exp_plus by lia; f_equal; field; lra.
Qed.
Lemma lapF_step t k (Ht : 0 < t) : lapF t k - lapF t (k - 1) = dlap t Ht 0 k.
Proof.
  destruct (q_lt1 t Ht) as [Q0 Q1]; simpl; rewrite Z.sub_0_r; unfold lapF, lapc; set (q := exp (-1 / t)) in *.
  assert (Hs : forall x, lapw t (- x) = lapw t x) by (intros; unfold lapw; now rewrite Z.abs_opp).
  destruct (Z.ltb_spec k 0), (Z.ltb_spec (k - 1) 0); try lia.
  - rewrite <- (Hs (k - 1)%Z), <- (Hs k); replace (- (k - 1))%Z with (- k + 1)%Z by lia.
    rewrite lapw_up by (auto; lia); fold q; field; lra.
  - replace k with 0%Z by lia; rewrite lapw_up by (auto; lia); change (0 - 1)%Z with (- (0 + 1))%Z; rewrite Hs, lapw_up by (auto; lia).
    replace (lapw t 0) with 1 by (change 0%Z with (Z.of_nat 0); now rewrite lapw_pow); fold q; field; lra.
  - replace (k - 1 + 1)%Z with k by lia; rewrite lapw_up by (auto; lia); fold q; field; lra.
Qed.
Lemma lapw_lim t : 0 < t -> is_lim_seq (fun n => lapw t (Z.of_nat n)) 0.
Proof.
  intros Ht; destruct (q_lt1 t Ht); eapply is_lim_seq_ext; [intros n; symmetry; apply lapw_pow|].
  apply is_lim_seq_geom; rewrite Rabs_pos_eq; lra.
Qed.
Lemma lapF_cdf t (Ht : 0 < t) : cdf (lapF t).
Proof.
  destruct (q_lt1 t Ht) as [Q0 Q1]; set (q := exp (-1 / t)) in *; split.
  - intros j k H; replace k with (j + Z.of_nat (Z.to_nat (k - j)))%Z by lia; generalize (Z.to_nat (k - j)) as n.
    induction n as [|n IH]; [rewrite Z.add_0_r; lra|].
    pose proof (lapF_step t (j + Z.of_nat (S n)) Ht) as E; pose proof (pmf_ge0 (dlap t Ht 0) (j + Z.of_nat (S n))%Z).
    replace (j + Z.of_nat (S n) - 1)%Z with (j + Z.of_nat n)%Z in E by lia; lra.
  - apply is_lim_seq_ext with (u := fun n => 1 - lapw t (Z.of_nat (S n)) * / (1 + q)).
    + intros n; unfold lapF; destruct (Z.ltb_spec (Z.of_nat n) 0); [lia|]; fold q; unfold Rdiv; do 3 f_equal; lia.
    + replace (Finite 1) with (Finite (1 - 0 * / (1 + q))) by (f_equal; ring); apply is_lim_seq_minus'; [apply is_lim_seq_const|].
      apply (is_lim_seq_scal_r (fun n => lapw t (Z.of_nat (S n))) (/ (1 + q)) 0).
      apply (is_lim_seq_incr_1 (fun n => lapw t (Z.of_nat n))), lapw_lim, Ht.
  - apply is_lim_seq_incr_1, is_lim_seq_ext with (u := fun n => lapw t (Z.of_nat (S n)) * / (1 + q)).
    + intros n; unfold lapF; destruct (Z.ltb_spec (- Z.of_nat (S n)) 0); [|lia]; fold q; unfold lapw; now rewrite Z.abs_opp.
    + replace (Finite 0) with (Finite (0 * / (1 + q))) by (f_equal; ring).
      apply (is_lim_seq_scal_r (fun n => lapw t (Z.of_nat (S n))) (/ (1 + q)) 0).
      apply (is_lim_seq_incr_1 (fun n => lapw t (Z.of_nat n))), lapw_lim, Ht.
Qed.
(** @theorem sampler-inverse-laplace
    Inversion with the digits of F(k) = e^(k/t)/(1+q) for k < 0 and 1 - e^(-(k+1)/t)/(1+q) for k >= 0, q = e^(-1/t), has
    exactly the discrete Laplace law of scale t > 0, and stops almost surely. *)
Theorem inverse_laplace t (Ht : 0 < t) digits lo hi : (forall m k, digit_of m (lapF t k) (digits m k)) ->
  (forall m, digits m (lo m) = 0%Z) -> (forall m, (W ^ Z.of_nat m - 1 <= digits m (hi m))%Z) ->
  has_law (inverse digits lo hi) (dlap t Ht 0).
Proof.
  intros Hd Hlo Hhi; apply has_law_intro; [auto with smp| |apply pmf_sum].
  intros k; rewrite (mass_inverse (lapF t) digits lo hi (lapF_cdf t Ht) Hd Hlo Hhi); apply lapF_step.
Qed.

(* ---------- blocks ---------- *)
Section BlockCdf.
Variables (f : Z -> R) (b : Z) (T : R).
Hypothesis Hb : (0 <= b <= 63)%Z.
Hypothesis fpos : forall x, (0 <= x)%Z -> 0 < f x.
Hypothesis HT : has_sum (fun x => f (Z.abs x)) T.
Definition block_weight (j : Z) : R := if (0 <=? j)%Z then f (j * 2 ^ b) else 0.
Lemma B_pos' : (0 < 2 ^ b)%Z. Proof. apply Z.pow_pos_nonneg; lia. Qed.
Lemma block_weight_ge0 j : 0 <= block_weight j.
Proof. pose proof B_pos'; unfold block_weight; destruct (Z.leb_spec 0 j); [left; apply fpos; nia|lra]. Qed.
Lemma block_weight_ub l : NoDup l -> lsum block_weight l <= T.
Proof.
  intros Hl; pose proof B_pos'; unfold block_weight; rewrite (lsum_ext _ (fun j => if (0 <=? j)%Z then f (Z.abs (j * 2 ^ b)) else 0)).
  - rewrite <- lsum_filter, <- (lsum_map (fun j => j * 2 ^ b)%Z (fun x => f (Z.abs x))).
    apply (has_sum_ub _ _ _ HT), Injective_map_NoDup; [intros x y E; nia|now apply NoDup_filter].
  - intros j _; destruct (Z.leb_spec 0 j); auto; rewrite Z.abs_eq; auto; nia.
Qed.
Definition block_sum : R := proj1_sig (has_sum_exists block_weight T block_weight_ub).
Lemma block_sum_is : has_sum block_weight block_sum.
Proof. exact (proj2_sig (has_sum_exists block_weight T block_weight_ub)). Qed.
Lemma block_sum_pos : 0 < block_sum.
Proof.
  eapply Rlt_le_trans; [apply (fpos 0); lia|]; pose proof (has_sum_ub _ _ [0%Z] block_sum_is) as H; simpl in H.
  unfold block_weight in H; simpl in H; rewrite Rplus_0_r in H; apply H; repeat constructor; easy.
Qed.
Definition block_dist : dist Z.
Proof.
  refine {| pmf := fun j => / block_sum * block_weight j |}; pose proof block_sum_pos as H.
  - intros j; apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|apply block_weight_ge0].
  - rewrite <- (Rinv_l block_sum) by lra; apply has_sum_scal; [now apply Rinv_0_lt_compat|apply block_sum_is].
Defined.
(* the distribution function on {0, 1, ...} with weights f(j 2^b) *)
Definition block_cdf : Z -> R := cum block_dist.
Lemma block_cdf_neg j : (j < 0)%Z -> block_cdf j = 0.
Proof.
  intros Hj; eapply has_sum_uniq; [apply cum_sum|]; eapply has_sum_ext; [|apply has_sum_zero]; intros x; simpl.
  unfold upto; simpl; unfold block_weight; destruct (Z.leb_spec x j), (Z.leb_spec 0 x); try lia; ring.
Qed.
Lemma block_cdf_step j : (0 <= j)%Z -> block_cdf j - block_cdf (j - 1) = f (j * 2 ^ b) / block_sum.
Proof.
  intros Hj; unfold block_cdf; rewrite cum_step; simpl; unfold block_weight; destruct (Z.leb_spec 0 j); [|lia].
  pose proof block_sum_pos; field; lra.
Qed.
End BlockCdf.

Lemma gw_pos v x : 0 < gw v 0 x. Proof. apply exp_pos. Qed.
Lemma gw_total v (Hv : 0 < v) : has_sum (fun x => gw v 0 (Z.abs x)) (theta v Hv 0).
Proof.
  eapply has_sum_ext; [|apply theta_sum]; intros x; unfold gw; rewrite !Rminus_0_r, <- !mult_IZR, Z.abs_square; auto.
Qed.
Lemma lapw_total t (Ht : 0 < t) : has_sum (fun x => lapw t (Z.abs x)) ((1 + exp (-1 / t)) / (1 - exp (-1 / t))).
Proof. eapply has_sum_ext; [|apply (lapw_sum t Ht)]; intros x; unfold lapw; now rewrite Z.abs_involutive. Qed.

(** @theorem sampler-blocks-gaussian
    With f(x) = exp(-x^2 / (2 v)), v > 0, 0 <= b <= 63, and the digits of the cumulative function of the block weights f(j 2^b)
    and of f(x)/f(j 2^b), blocks(f, b) has exactly the discrete Gaussian law of variance parameter v, and stops almost
    surely. *)
Theorem blocks_gaussian_law v (Hv : 0 < v) b (Hb : (0 <= b <= 63)%Z) digG lo hi digr :
  let G := block_cdf (gw v 0) b (theta v Hv 0) Hb (fun x _ => gw_pos v x) (gw_total v Hv) in
  (forall m j, digit_of m (G j) (digG m j)) -> (forall m, digG m (lo m) = 0%Z) ->
  (forall m, (W ^ Z.of_nat m - 1 <= digG m (hi m))%Z) ->
  (forall x m, (0 <= x)%Z -> digit_of m (gw v 0 x / gw v 0 (x / 2 ^ b * 2 ^ b)) (digr x m)) ->
  has_law (blocks b digG lo hi digr) (gdist v Hv 0).
Proof.
  intros G HdG Hlo Hhi Hdr.
  apply (blocks_gaussian v Hv b G (block_sum (gw v 0) b _ Hb (gw_total v Hv))); auto.
  - apply block_sum_pos; intros; apply gw_pos.
  - apply cum_cdf.
  - intros j Hj; now apply block_cdf_neg.
  - intros j Hj; now apply block_cdf_step.
Qed.
(** @theorem sampler-blocks-laplace
    With f(x) = exp(-x / t), t > 0, 0 <= b <= 63, and the digits of the cumulative function of the block weights f(j 2^b) and of
    f(x)/f(j 2^b), blocks(f, b) has exactly the discrete Laplace law of scale t, and stops almost surely. *)
Theorem blocks_laplace_law t (Ht : 0 < t) b (Hb : (0 <= b <= 63)%Z) digG lo hi digr :
  let G := block_cdf (lapw t) b _ Hb (fun x _ => exp_pos _) (lapw_total t Ht) in
  (forall m j, digit_of m (G j) (digG m j)) -> (forall m, digG m (lo m) = 0%Z) ->
  (forall m, (W ^ Z.of_nat m - 1 <= digG m (hi m))%Z) ->
  (forall x m, (0 <= x)%Z -> digit_of m (lapw t x / lapw t (x / 2 ^ b * 2 ^ b)) (digr x m)) ->
  has_law (blocks b digG lo hi digr) (dlap t Ht 0).
Proof.
  intros G HdG Hlo Hhi Hdr.
  apply (blocks_laplace t Ht b G (block_sum (lapw t) b _ Hb (lapw_total t Ht))); auto.
  - apply block_sum_pos; intros; apply exp_pos.
  - apply cum_cdf.
  - intros j Hj; now apply block_cdf_neg.
  - intros j Hj; now apply block_cdf_step.
Qed.

Example blocks_gaussian_thousand (H : 0 < 1000000) :
  exists digG lo hi digr, has_law (blocks 5 digG lo hi digr) (gdist 1000000 H 0).
Proof.
  assert (Hb : (0 <= 5 <= 63)%Z) by lia.
  destruct (window (block_cdf (gw 1000000 0) 5 (theta 1000000 H 0) Hb (fun x _ => gw_pos 1000000 x) (gw_total 1000000 H))
    (cum_cdf _)) as [[lo hi] [Hlo Hhi]]; simpl fst in *; simpl snd in *.
  eexists _, lo, hi, (fun x m => floor_digit m (gw 1000000 0 x / gw 1000000 0 (x / 2 ^ 5 * 2 ^ 5))).
  eapply (blocks_gaussian_law 1000000 H 5 Hb); [intros; apply floor_digit_of|exact Hlo|exact Hhi|intros; apply floor_digit_of].
Qed.

(* the discrete Laplace law of scale 1/64 by inversion: every digit exists, and the window m + 1 is wide enough *)
Lemma small_scale : 0 < / 64. Proof. lra. Qed.
Example inverse_laplace_example : has_law
  (inverse (fun m k => floor_digit m (lapF (/ 64) k)) (fun m => - Z.of_nat (S m))%Z Z.of_nat) (dlap (/ 64) small_scale 0).
Proof.
  assert (Hq : exp (-1 / / 64) = exp (- 64)) by (f_equal; field).
  pose proof e64_01 as E64; pose proof e64_W as EW; pose proof Wr_pos as HW.
  assert (Hsmall : forall m, 0 <= IZR W ^ m * lapw (/ 64) (Z.of_nat (S m)) < 1).
  { intros m; rewrite lapw_pow, Hq; simpl.
    replace (IZR W ^ m * (exp (- 64) * exp (- 64) ^ m)) with (exp (- 64) * (exp (- 64) * IZR W) ^ m)
      by (rewrite Rpow_mult_distr; ring).
    assert (0 <= (exp (- 64) * IZR W) ^ m <= 1).
    { split; [apply pow_le; nra|]; rewrite <- (pow1 m); apply pow_incr; nra. }
    nra. }
  assert (Hd : forall y, 0 <= y < 1 -> 0 <= y / (1 + exp (- 64)) < 1).
  { intros y Hy; split; [apply Rdiv_le_0_compat; lra|]; apply Rmult_lt_reg_r with (1 + exp (- 64)); [lra|].
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra. }
  apply inverse_laplace; auto using floor_digit_of.
  - intros m; destruct (floor_digit_of m (lapF (/ 64) (- Z.of_nat (S m)))) as [H1 H2]; set (d := floor_digit m _) in *.
    unfold lapF in H1, H2; destruct (Z.ltb_spec (- Z.of_nat (S m)) 0); [|lia]; rewrite Hq in *.
    replace (lapw (/ 64) (- Z.of_nat (S m))) with (lapw (/ 64) (Z.of_nat (S m))) in * by (unfold lapw; now rewrite Z.abs_opp).
    specialize (Hd _ (Hsmall m)); unfold Rdiv in *; rewrite <- Rmult_assoc in H1, H2.
    assert (L1 : IZR d < 1) by lra; assert (L2 : 0 < IZR d + 1) by lra.
    rewrite <- plus_IZR in L2; apply lt_IZR in L1; apply lt_IZR in L2; lia.
  - intros m; destruct (floor_digit_of m (lapF (/ 64) (Z.of_nat m))) as [H1 H2]; set (d := floor_digit m _) in *.
    unfold lapF in H1, H2; destruct (Z.ltb_spec (Z.of_nat m) 0); [lia|]; rewrite Hq in *.
    replace (Z.of_nat m + 1)%Z with (Z.of_nat (S m)) in * by lia.
    specialize (Hd _ (Hsmall m)); unfold Rdiv in *; rewrite Rmult_minus_distr_l, <- Rmult_assoc in H1, H2.
    enough (IZR (W ^ Z.of_nat m - 1) < IZR d + 1) as X by (rewrite <- plus_IZR in X; apply lt_IZR in X; lia).
    rewrite minus_IZR, <- pow_IZR; lra.
Qed.
