(* Route 1: the tape as a real number U in [0,1), read word by word and compared with the base-2^64 digits of
   real numbers; a tie reads one more word. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP DiscreteLaplace.
From Assay.samplers Require Import Tape Uniform.
Import List ListNotations.
Local Open Scope R_scope.

(* ---------- executable part ---------- *)
(* m words read, U their value: decide m U is None on a tie *)
Definition refine_step {A} (decide : nat -> Z -> option A) (x : nat * Z) : sampler ((nat * Z) + A) :=
  smap (fun w => let U := (snd x * W + w)%Z in
                 match decide (S (fst x)) U with Some a => inr a | None => inl (S (fst x), U) end) word.
Definition refine {A} (decide : nat -> Z -> option A) : sampler A := loop (refine_step decide) (O, 0%Z).

(* digits m = floor(W^m r) *)
Definition side (digits : nat -> Z) (m : nat) (U : Z) : option bool :=
  if (U =? digits m)%Z then None else Some (U <? digits m)%Z.
Definition below (digits : nat -> Z) : sampler bool := refine (side digits).

(* digits m k = floor(W^m F(k)). The least k in (a, b] with U < d k, by bisection *)
Fixpoint bisect (n : nat) (d : Z -> Z) (U a b : Z) : Z :=
  match n with
  | O => b
  | S n => if (b - a <=? 1)%Z then b
           else let c := ((a + b) / 2)%Z in if (d c <=? U)%Z then bisect n d U c b else bisect n d U a c
  end.
(* lo m and hi m enclose the search: digit 0 at lo, digit W^m - 1 or W^m at hi *)
Definition cell (digits : nat -> Z -> Z) (lo hi : nat -> Z) (m : nat) (U : Z) : option Z :=
  let d := digits m in
  if (d (hi m) <=? U)%Z then None
  else let k := bisect (Z.to_nat (Z.log2_up (hi m - lo m))) d U (lo m) (hi m) in
       if (d (k - 1) =? U)%Z then None else Some k.
Definition inverse (digits : nat -> Z -> Z) (lo hi : nat -> Z) : sampler Z := refine (cell digits lo hi).

(* ---------- the general argument ---------- *)
Lemma pd_refine_step {A} (decide : nat -> Z -> option A) x : pd (refine_step decide x).
Proof. unfold refine_step; auto with smp. Qed.
Lemma eats_refine_step {A} (decide : nat -> Z -> option A) x : eats (refine_step decide x).
Proof. unfold refine_step; auto with smp. Qed.
Global Hint Resolve pd_refine_step eats_refine_step : smp.
Lemma pd_refine {A} (decide : nat -> Z -> option A) : pd (refine decide).
Proof. unfold refine; auto with smp. Qed.
Lemma eats_refine {A} (decide : nat -> Z -> option A) : eats (refine decide).
Proof. unfold refine; auto with smp. Qed.
Global Hint Resolve pd_refine eats_refine : smp.
Lemma pd_below d : pd (below d). Proof. unfold below; auto with smp. Qed.
Lemma eats_below d : eats (below d). Proof. unfold below; auto with smp. Qed.
Lemma pd_inverse d lo hi : pd (inverse d lo hi). Proof. unfold inverse; auto with smp. Qed.
Lemma eats_inverse d lo hi : eats (inverse d lo hi). Proof. unfold inverse; auto with smp. Qed.
Global Hint Resolve pd_below eats_below pd_inverse eats_inverse : smp.

Lemma post_loop {S A} (body : S -> sampler (S + A)) (I : S -> Prop) (Q : A -> Prop) x :
  (forall x, pd (body x)) ->
  (forall x, I x -> post (body x) (fun o => match o with inl y => I y | inr a => Q a end)) ->
  I x -> post (loop body x) Q.
Proof.
  intros Hp Hb Hx l a r; unfold loop; generalize l at 2 as fuel; intros fuel; revert x l Hx.
  induction fuel as [|c fuel IH]; intros x l Hx Hl; cbn [iter]; destruct (body x l) as [[[y|b] m]|] eqn:Eb; try easy;
    pose proof (Hb x Hx _ _ _ Hl Eb) as Ho; simpl in Ho; try (intros Ef; injection Ef as <- <-; auto; fail).
  apply IH; auto; destruct (Hp x _ _ _ Eb) as [u [-> _]]; apply Forall_app in Hl; tauto.
Qed.

Definition inrange (m : nat) (U : Z) : Prop := (0 <= U < W ^ Z.of_nat m)%Z.
Lemma inrange_S m U w : inrange m U -> inW w -> inrange (S m) (U * W + w).
Proof. unfold inrange, inW; intros; rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia; pose proof W_pos; nia. Qed.

Section Refine.
Context {A : Type} (decide : nat -> Z -> option A) (f : A -> R) (c : nat -> Z -> R) (t1 t2 : nat -> Z).
Let v m U := L (loop (refine_step decide) (m, U)) f.
Hypothesis Hf : tst f.
Hypothesis c01 : forall m U, 0 <= c m U <= 1.
Hypothesis cavg : forall m U, / IZR W * lsum (fun w => c (S m) (U * W + w)%Z) words = c m U.
Hypothesis cdec : forall m U a, inrange (S m) U -> decide (S m) U = Some a -> f a = c (S m) U.
Hypothesis ctie : forall m U, inrange (S m) U -> decide (S m) U = None ->
  U = t1 (S m) \/ U = t2 (S m) \/ v (S m) U = c (S m) U.

Lemma v_refine m U : v m U = / IZR W * lsum (fun w => match decide (S m) (U * W + w) with
    Some a => f a | None => v (S m) (U * W + w)%Z end) words.
Proof.
  unfold v at 1; rewrite L_loop by auto with smp; unfold refine_step at 1.
  assert (Ht : tst (fun o : nat * Z + A => match o with inl y => L (loop (refine_step decide) y) f | inr a => f a end))
    by (intros [y|a]; [apply L_01; auto with smp|apply Hf]).
  rewrite L_map, L_word by (auto with smp; intro; apply Ht).
  f_equal; apply lsum_ext; intros w _; simpl; destruct (decide _ _); auto.
Qed.
Lemma tie_sum a t e : 0 <= e -> lsum (fun w => if Z.eq_dec (a + w) t then e else 0) words <= e.
Proof.
  intros He; rewrite (lsum_ext _ (fun w => if Z.eq_dec w (t - a) then e else 0)).
  - destruct (in_dec Z.eq_dec (t - a)%Z words) as [Hi|Hi]; [right; apply lsum_pick; auto using words_NoDup|].
    rewrite (lsum_ext _ (fun _ => 0)), lsum_const; [lra|]; intros w Hw; destruct (Z.eq_dec _ _); [subst; contradiction|auto].
  - intros w _; destruct (Z.eq_dec (a + w) t), (Z.eq_dec w (t - a)); auto; lia.
Qed.
Lemma lsum_Rabs {T} (g : T -> R) l : Rabs (lsum g l) <= lsum (fun x => Rabs (g x)) l.
Proof. induction l as [|x l IH]; simpl; [rewrite Rabs_R0; lra|]; eapply Rle_trans; [apply Rabs_triang|]; lra. Qed.
Lemma v_err n : forall m U, inrange m U -> Rabs (v m U - c m U) <= (2 * / IZR W) ^ n.
Proof.
  pose proof Winv_pos as HW; induction n as [|n IH]; intros m U HU.
  - assert (0 <= v m U <= 1) by (apply L_01; auto with smp); pose proof (c01 m U); simpl; apply Rabs_le; lra.
  - set (e := (2 * / IZR W) ^ n) in *; assert (He : 0 <= e) by (apply pow_le; lra).
    rewrite v_refine, <- cavg, <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq (/ IZR W)) by lra.
    replace (lsum _ words - lsum _ words) with (lsum (fun w => (match decide (S m) (U * W + w) with
      Some a => f a | None => v (S m) (U * W + w)%Z end) - c (S m) (U * W + w)%Z) words).
    2: { rewrite <- (Rmult_1_l (lsum (fun w => c (S m) (U * W + w)%Z) words)); unfold Rminus.
         rewrite Ropp_mult_distr_l, <- lsum_scal, <- lsum_plus; apply lsum_ext; intros; ring. }
    apply Rle_trans with (/ IZR W * (e + e)); [|simpl; fold e; right; ring].
    apply Rmult_le_compat_l; [lra|]; eapply Rle_trans; [apply lsum_Rabs|].
    eapply Rle_trans; [|apply Rplus_le_compat; [apply (tie_sum (U * W) (t1 (S m)) e He)|apply (tie_sum (U * W) (t2 (S m)) e He)]].
    rewrite <- lsum_plus; apply lsum_le; intros w Hw; apply words_In in Hw.
    pose proof (inrange_S m U w HU Hw) as HU'; set (U' := (U * W + w)%Z) in *.
    destruct (decide (S m) U') as [a|] eqn:D.
    + rewrite (cdec m U' a HU' D), Rminus_eq_0, Rabs_R0; destruct (Z.eq_dec _ _), (Z.eq_dec _ _); lra.
    + destruct (ctie m U' HU' D) as [->|[->|Ev]].
      * specialize (IH (S m) _ HU'); destruct (Z.eq_dec _ _); [|easy]; destruct (Z.eq_dec _ _); lra.
      * specialize (IH (S m) _ HU'); destruct (Z.eq_dec (t2 (S m)) (t2 (S m))); [|easy]; destruct (Z.eq_dec _ _); lra.
      * rewrite Ev, Rminus_eq_0, Rabs_R0; destruct (Z.eq_dec _ _), (Z.eq_dec _ _); lra.
Qed.
Lemma L_refine : L (refine decide) f = c 0%nat 0%Z.
Proof.
  change (v 0 0 = c 0%nat 0%Z); pose proof Wr_pos; pose proof Winv_pos.
  assert (HA : Rabs (v 0 0 - c 0%nat 0%Z) <= 0).
  { apply (is_lim_seq_le (fun _ => Rabs (v 0 0 - c 0%nat 0%Z)) (fun n => (2 * / IZR W) ^ n) (Rabs (v 0 0 - c 0%nat 0%Z)) 0).
    - intros n; apply v_err; unfold inrange; simpl; lia.
    - apply is_lim_seq_const.
    - apply is_lim_seq_geom; rewrite Rabs_pos_eq by lra.
      apply Rmult_lt_reg_r with (IZR W); [lra|]; rewrite Rmult_assoc, Rinv_l; lra. }
  pose proof (Rabs_pos (v 0 0 - c 0%nat 0%Z)); apply Rminus_diag_uniq; destruct (Req_dec (v 0 0 - c 0%nat 0%Z) 0) as [|N]; auto.
  apply Rabs_pos_lt in N; lra.
Qed.
End Refine.

(* ---------- P[U < r | the first m words are U] ---------- *)
Definition clip (n y : R) : R := if Rle_dec y 0 then 0 else if Rle_dec n y then n else y.
Definition clamp (y : R) : R := clip 1 y.
Ltac minmax := unfold clamp, clip; repeat match goal with |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b) end; try lra.
Lemma clamp_01 y : 0 <= clamp y <= 1. Proof. minmax. Qed.
Lemma clamp_1 y : 1 <= y -> clamp y = 1. Proof. intros; minmax. Qed.
Lemma clamp_0 y : y <= 0 -> clamp y = 0. Proof. intros; minmax. Qed.
Lemma clamp_id y : 0 <= y <= 1 -> clamp y = y. Proof. intros; minmax. Qed.
Lemma clamp_mono x y : x <= y -> clamp x <= clamp y. Proof. intros; minmax. Qed.
Lemma clamp_sum y n : lsum (fun w => clamp (y - IZR w)) (zseq n) = clip (INR n) y.
Proof.
  induction n as [|n IH]; [simpl; minmax|].
  rewrite zseq_S, lsum_app, IH, S_INR; simpl lsum; rewrite <- INR_IZR_INZ; pose proof (pos_INR n); minmax.
Qed.
Lemma clamp_avg y : / IZR W * lsum (fun w => clamp (IZR W * y - IZR w)) words = clamp y.
Proof.
  Transparent words. unfold words. Opaque words.
  rewrite clamp_sum, INR_IZR_INZ, Wn_W; pose proof Wr_pos.
  apply Rmult_eq_reg_l with (IZR W); [|lra]; rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
  unfold clamp, clip; repeat match goal with |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b) end; try lra; try nra.
Qed.
Definition cut (r : R) (m : nat) (U : Z) : R := clamp (IZR W ^ m * r - IZR U).
Lemma cut_avg r m U : / IZR W * lsum (fun w => cut r (S m) (U * W + w)) words = cut r m U.
Proof.
  unfold cut at 2; rewrite <- clamp_avg; f_equal; apply lsum_ext; intros w _; unfold cut; f_equal.
  rewrite plus_IZR, mult_IZR; simpl; ring.
Qed.
Lemma cut_start r : 0 <= r <= 1 -> cut r 0 0 = r.
Proof. intros H; unfold cut; simpl; rewrite clamp_id; lra. Qed.
Definition digit_of (m : nat) (r : R) (d : Z) : Prop := IZR d <= IZR W ^ m * r < IZR d + 1.
Lemma cut_below r m U d : digit_of m r d -> (U < d)%Z -> cut r m U = 1.
Proof. intros [H _] HU; assert (H1 : (U + 1 <= d)%Z) by lia; apply IZR_le in H1; rewrite plus_IZR in H1; apply clamp_1; lra. Qed.
Lemma cut_above r m U d : digit_of m r d -> (d < U)%Z -> cut r m U = 0.
Proof. intros [_ H] HU; assert (H1 : (d + 1 <= U)%Z) by lia; apply IZR_le in H1; rewrite plus_IZR in H1; apply clamp_0; lra. Qed.
Lemma digit_mono m x y d e : digit_of m x d -> digit_of m y e -> x <= y -> (d <= e)%Z.
Proof.
  intros [H1 _] [_ H2] Hxy; enough (IZR d < IZR e + 1) by (rewrite <- plus_IZR in H; apply lt_IZR in H; lia).
  assert (0 < IZR W ^ m) by (apply pow_lt; pose proof Wr_pos; lra); nra.
Qed.

(* ---------- below ---------- *)
Lemma L_below r digits f : 0 <= r <= 1 -> (forall m, digit_of m r (digits m)) -> tst f ->
  L (below digits) f = r * f true + (1 - r) * f false.
Proof.
  intros Hr Hd Hf; unfold below.
  rewrite (L_refine _ f (fun m U => cut r m U * f true + (1 - cut r m U) * f false) digits digits); auto.
  - rewrite cut_start; auto.
  - intros m U; pose proof (clamp_01 (IZR W ^ m * r - IZR U)); fold (cut r m U) in *.
    pose proof (Hf true); pose proof (Hf false); nra.
  - intros m U.
    rewrite (lsum_ext _ (fun w => (f true - f false) * cut r (S m) (U * W + w) + f false)) by (intros; ring).
    rewrite lsum_plus, lsum_scal, Rmult_plus_distr_l, words_avg, <- Rmult_assoc, (Rmult_comm (/ IZR W)), Rmult_assoc, cut_avg; ring.
  - intros m U a _; unfold side; destruct (Z.eqb_spec U (digits (S m))); [easy|]; intros E; injection E as <-.
    destruct (Z.ltb_spec U (digits (S m))).
    + rewrite (cut_below r (S m) U _ (Hd (S m))) by auto; ring.
    + rewrite (cut_above r (S m) U _ (Hd (S m))) by lia; ring.
  - intros m U _; unfold side; destruct (Z.eqb_spec U (digits (S m))); [auto|easy].
Qed.
(** @theorem sampler-below
    For every real r in [0,1] with digits m = floor(2^(64 m) r), below(r) is true with probability exactly r, and stops
    almost surely. *)
Theorem below_law r digits : 0 <= r <= 1 -> (forall m, digit_of m r (digits m)) ->
  has_law (below digits) (fun b => if b then r else 1 - r).
Proof. intros Hr Hd; apply has_law_bool; auto with smp; intros f Hf; now apply L_below. Qed.

(* ---------- inverse ---------- *)
Lemma bisect_spec d U n : forall a b, (d a <= U < d b)%Z -> (a < b)%Z -> (b - a <= 2 ^ Z.of_nat n)%Z ->
  (d (bisect n d U a b - 1) <= U < d (bisect n d U a b))%Z.
Proof.
  induction n as [|n IH]; intros a b Hd Hab Hn; cbn [bisect].
  - simpl in Hn; replace (b - 1)%Z with a by lia; lia.
  - rewrite Nat2Z.inj_succ, Z.pow_succ_r in Hn by lia.
    destruct (Z.leb_spec (b - a) 1); [replace (b - 1)%Z with a by lia; lia|].
    pose proof (Z.div_mod (a + b) 2); pose proof (Z.mod_pos_bound (a + b) 2).
    destruct (Z.leb_spec (d ((a + b) / 2)%Z) U); apply IH; lia.
Qed.
Lemma cell_spec digits lo hi m U k : (forall j k, j <= k -> digits m j <= digits m k)%Z ->
  (digits m (lo m) <= 0)%Z -> (W ^ Z.of_nat m - 1 <= digits m (hi m))%Z -> inrange m U ->
  cell digits lo hi m U = Some k <-> (digits m (k - 1) < U < digits m k)%Z.
Proof.
  intros Hm Hlo Hhi HU; unfold inrange, cell in *; destruct (Z.leb_spec (digits m (hi m)) U).
  - split; [easy|]; intros Hk; exfalso; destruct (Z_le_gt_dec (hi m) (k - 1)).
    + specialize (Hm (hi m) (k - 1)%Z ltac:(lia)); lia.
    + specialize (Hm k (hi m) ltac:(lia)); lia.
  - assert (lo m < hi m)%Z by (destruct (Z_lt_ge_dec (lo m) (hi m)); auto; specialize (Hm (hi m) (lo m) ltac:(lia)); lia).
    pose proof (bisect_spec (digits m) U (Z.to_nat (Z.log2_up (hi m - lo m))) (lo m) (hi m) ltac:(lia) ltac:(lia)) as Hb.
    rewrite Z2Nat.id in Hb by apply Z.log2_up_nonneg.
    assert (Hl : (hi m - lo m <= 2 ^ Z.log2_up (hi m - lo m))%Z).
    { destruct (Z.eq_dec (hi m - lo m) 1) as [->|]; [now compute|apply Z.log2_up_spec; lia]. }
    specialize (Hb Hl); set (b := bisect _ _ _ _ _) in *.
    assert (Hk : (digits m (k - 1) < U < digits m k)%Z -> k = b).
    { intros Hk; destruct (Z_le_gt_dec b (k - 1)); [specialize (Hm b (k - 1)%Z ltac:(lia)); lia|].
      destruct (Z_le_gt_dec k (b - 1)); [specialize (Hm k (b - 1)%Z ltac:(lia)); lia|lia]. }
    destruct (Z.eqb_spec (digits m (b - 1)%Z) U); split; try easy.
    + intros H'; rewrite (Hk H') in H'; lia.
    + intros E; injection E as <-; lia.
    + intros H'; now rewrite (Hk H').
Qed.

(* F is a distribution function on Z *)
Record cdf (F : Z -> R) : Prop := {
  cdf_mono : forall j k, (j <= k)%Z -> F j <= F k;
  cdf_top : is_lim_seq (fun n => F (Z.of_nat n)) 1;
  cdf_bot : is_lim_seq (fun n => F (- Z.of_nat n)%Z) 0 }.
Lemma cdf_01 F k : cdf F -> 0 <= F k <= 1.
Proof.
  intros [Hm Ht Hb]; split.
  - eapply Rle_trans; [apply (is_lim_seq_decr_compare (fun n => F (- Z.of_nat n)%Z) 0 Hb) with (n := Z.to_nat (- k));
      intros n; apply Hm; lia|]; apply Hm; lia.
  - eapply Rle_trans; [|apply (is_lim_seq_incr_compare (fun n => F (Z.of_nat n)) 1 Ht) with (n := Z.to_nat k);
      intros n; apply Hm; lia]; apply Hm; lia.
Qed.
Lemma cdf_zr F n : lsum (fun k => F k - F (k - 1)%Z) (zr n) = F (Z.of_nat n) - F (- Z.of_nat (S n))%Z.
Proof.
  induction n as [|n IH]; cbn [zr lsum]; [simpl; ring|]; rewrite IH.
  replace (Z.of_nat (S n) - 1)%Z with (Z.of_nat n) by lia.
  replace (- Z.of_nat (S n) - 1)%Z with (- Z.of_nat (S (S n)))%Z by lia; ring.
Qed.
Lemma cdf_sum F : cdf F -> has_sum (fun k => F k - F (k - 1)%Z) 1.
Proof.
  intros [Hm Ht Hb]; apply has_sum_Z; [intros k; specialize (Hm (k - 1)%Z k ltac:(lia)); lra|].
  eapply is_lim_seq_ext; [intros n; symmetry; apply cdf_zr|].
  replace (Finite 1) with (Finite (1 - 0)) by (f_equal; ring); apply is_lim_seq_minus'; auto.
  apply (is_lim_seq_incr_1 (fun n => F (- Z.of_nat n)%Z)); auto.
Qed.

Section Inverse.
Variables (F : Z -> R) (digits : nat -> Z -> Z) (lo hi : nat -> Z).
Hypothesis HF : cdf F.
Hypothesis Hd : forall m k, digit_of m (F k) (digits m k).
Hypothesis Hlo : forall m, digits m (lo m) = 0%Z.
Hypothesis Hhi : forall m, (W ^ Z.of_nat m - 1 <= digits m (hi m))%Z.
Lemma dig_mono m j k : (j <= k)%Z -> (digits m j <= digits m k)%Z.
Proof. intros H; eapply digit_mono; [apply Hd|apply Hd|now apply (cdf_mono F HF)]. Qed.
Lemma cell_iff m U k : inrange m U -> cell digits lo hi m U = Some k <-> (digits m (k - 1) < U < digits m k)%Z.
Proof. intros H; apply cell_spec; auto; [apply dig_mono|rewrite Hlo; lia]. Qed.
Lemma dig_up m k U w : inW w -> (digits m k < U)%Z -> (digits (S m) k < U * W + w)%Z.
Proof.
  intros [Hw _] H; apply lt_IZR; destruct (Hd m k) as [_ H1]; destruct (Hd (S m) k) as [H2 _].
  assert (H3 : (digits m k + 1 <= U)%Z) by lia; apply IZR_le in H3; apply IZR_le in Hw; rewrite plus_IZR in *; rewrite mult_IZR.
  simpl in H2; pose proof Wr_pos; nra.
Qed.
Lemma dig_down m k U w : inW w -> (U < digits m k)%Z -> (U * W + w < digits (S m) k)%Z.
Proof.
  intros [_ Hw] H; destruct (Hd m k) as [H1 _]; destruct (Hd (S m) k) as [_ H2].
  assert (H3 : (U + 1 <= digits m k)%Z) by lia; assert (H4 : (w + 1 <= W)%Z) by lia.
  enough (IZR (U * W + w + 1) < IZR (digits (S m) k) + 1) as H5 by (rewrite <- plus_IZR in H5; apply lt_IZR in H5; lia).
  apply IZR_le in H3; apply IZR_le in H4; rewrite !plus_IZR, mult_IZR in *; simpl in H2; pose proof Wr_pos; nra.
Qed.
(* outside [digit(k-1), digit(k)] the result k is out of reach *)
Lemma far m U k : inrange m U -> (digits m k < U \/ U < digits m (k - 1))%Z ->
  L (loop (refine_step (cell digits lo hi)) (m, U)) (ind k) = 0.
Proof.
  intros HU Hk; rewrite (L_post _ (fun j => j <> k) (ind k) (fun _ => 0)); [apply L_0| |intros j Hj; now apply ind_ne].
  apply (post_loop _ (fun x => inrange (fst x) (snd x) /\
    (digits (fst x) k < snd x \/ snd x < digits (fst x) (k - 1))%Z)); auto with smp.
  clear m U HU Hk; intros [m U] [HU Hk] l o r Hl; unfold refine_step, smap, bind, word, ret; simpl in *.
  destruct l as [|w l]; [easy|]; intros E; injection E as <- <-; inversion Hl as [|? ? Hw]; subst.
  pose proof (inrange_S m U w HU Hw) as HU'.
  assert (Hk' : (digits (S m) k < U * W + w \/ U * W + w < digits (S m) (k - 1))%Z)
    by (destruct Hk; [left; now apply dig_up|right; now apply dig_down]).
  destruct (cell digits lo hi (S m) (U * W + w)) as [j|] eqn:Ec; simpl; auto.
  apply cell_iff in Ec; auto; intros ->; lia.
Qed.
Lemma mass_inverse k : mass (inverse digits lo hi) k = F k - F (k - 1)%Z.
Proof.
  unfold mass, inverse.
  assert (Hkk : F (k - 1)%Z <= F k) by (apply (cdf_mono F HF); lia).
  rewrite (L_refine _ (ind k) (fun m U => cut (F k) m U - cut (F (k - 1)%Z) m U)
    (fun m => digits m k) (fun m => digits m (k - 1)%Z)); auto with smp.
  - rewrite !cut_start by (now apply cdf_01); auto.
  - intros m U; unfold cut.
    assert (clamp (IZR W ^ m * F (k - 1)%Z - IZR U) <= clamp (IZR W ^ m * F k - IZR U)).
    { apply clamp_mono; apply Rplus_le_compat_r, Rmult_le_compat_l; auto; apply pow_le; pose proof Wr_pos; lra. }
    pose proof (clamp_01 (IZR W ^ m * F k - IZR U)); pose proof (clamp_01 (IZR W ^ m * F (k - 1)%Z - IZR U)); lra.
  - intros m U; rewrite (lsum_ext _ (fun w => cut (F k) (S m) (U * W + w) + -1 * cut (F (k - 1)%Z) (S m) (U * W + w))) by (intros; ring).
    rewrite lsum_plus, lsum_scal, Rmult_plus_distr_l, cut_avg, <- (cut_avg (F (k - 1)%Z)); ring.
  - intros m U j HU Ec; apply cell_iff in Ec; auto; destruct (Z.eq_dec j k) as [->|N].
    + rewrite ind_eq, (cut_below _ _ _ _ (Hd _ _)), (cut_above _ _ _ _ (Hd _ (k - 1)%Z)) by lia; ring.
    + rewrite ind_ne by auto; destruct (Z_lt_ge_dec j k).
      * pose proof (dig_mono (S m) j (k - 1) ltac:(lia)); pose proof (dig_mono (S m) j k ltac:(lia)).
        rewrite (cut_below _ _ _ _ (Hd _ k)), (cut_below _ _ _ _ (Hd _ (k - 1)%Z)) by lia; ring.
      * pose proof (dig_mono (S m) k (j - 1) ltac:(lia)); pose proof (dig_mono (S m) (k - 1) (j - 1) ltac:(lia)).
        rewrite (cut_above _ _ _ _ (Hd _ k)), (cut_above _ _ _ _ (Hd _ (k - 1)%Z)) by lia; ring.
  - intros m U HU Ec; destruct (Z.eq_dec U (digits (S m) k)); auto; destruct (Z.eq_dec U (digits (S m) (k - 1)%Z)); auto.
    right; right.
    assert (H2 : (digits (S m) k < U \/ U < digits (S m) (k - 1))%Z).
    { destruct (Z_lt_ge_dec (digits (S m) (k - 1)%Z) U) as [H1|]; [|lia].
      destruct (Z_lt_ge_dec U (digits (S m) k)) as [H2|]; [|lia].
      exfalso; assert (cell digits lo hi (S m) U = Some k) by (apply cell_iff; auto); congruence. }
    rewrite far by auto; pose proof (dig_mono (S m) (k - 1) k ltac:(lia)); destruct H2.
    + rewrite (cut_above _ _ _ _ (Hd _ k)), (cut_above _ _ _ _ (Hd _ (k - 1)%Z)) by lia; ring.
    + rewrite (cut_below _ _ _ _ (Hd _ k)), (cut_below _ _ _ _ (Hd _ (k - 1)%Z)) by lia; ring.
Qed.
(** @theorem sampler-inverse
    For every distribution function F on the integers (nondecreasing, limits 0 and 1) with digits m k =
    floor(2^(64 m) F(k)) and any search window whose ends have digits 0 and at least 2^(64 m) - 1, inverse(F) returns k
    with probability exactly F(k) - F(k-1), and stops almost surely. *)
Theorem inverse_law : has_law (inverse digits lo hi) (fun k => F k - F (k - 1)%Z).
Proof. apply has_law_intro; auto with smp; [apply mass_inverse|now apply cdf_sum]. Qed.
End Inverse.
(** @theorem sampler-inverse-cell
    With m words of value U the inverse sampler is decided exactly when U is strictly between two neighbouring
    digits, digits m (k-1) < U < digits m k, and then it returns this k. The window does not matter. *)
Theorem inverse_cell F digits lo hi m U k : cdf F -> (forall m k, digit_of m (F k) (digits m k)) ->
  (forall m, digits m (lo m) = 0%Z) -> (forall m, (W ^ Z.of_nat m - 1 <= digits m (hi m))%Z) -> inrange m U ->
  cell digits lo hi m U = Some k <-> (digits m (k - 1) < U < digits m k)%Z.
Proof. intros HF Hd Hlo Hhi; now apply (cell_iff F digits lo hi HF Hd Hlo Hhi). Qed.

(* ---------- examples ---------- *)
(* r = p/q: digits by integer division *)
Definition rat_digits (p q : Z) (m : nat) : Z := (W ^ Z.of_nat m * p / q)%Z.
Lemma rat_digit p q m : (1 <= q)%Z -> digit_of m (IZR p / IZR q) (rat_digits p q m).
Proof.
  intros Hq; unfold digit_of, rat_digits; rewrite pow_IZR.
  set (M := (W ^ Z.of_nat m)%Z); pose proof (Z.div_mod (M * p) q ltac:(lia)) as E; pose proof (Z.mod_pos_bound (M * p) q ltac:(lia)) as B.
  apply (f_equal IZR) in E; rewrite plus_IZR, !mult_IZR in E; destruct B as [B1 B2]; apply IZR_le in B1; apply IZR_lt in B2.
  apply (IZR_le 1) in Hq; set (D := (M * p / q)%Z) in *.
  replace (IZR M * (IZR p / IZR q)) with (IZR M * IZR p / IZR q) by (field; lra); rewrite E.
  replace ((IZR q * IZR D + IZR (M * p mod q)) / IZR q) with (IZR D + IZR (M * p mod q) / IZR q) by (field; lra).
  assert (0 <= IZR (M * p mod q) / IZR q < 1); [|lra]; split; [apply Rdiv_le_0_compat; lra|].
  apply Rmult_lt_reg_r with (IZR q); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.
Example below_third : law (below (rat_digits 1 3)) true (1 / 3).
Proof.
  refine (proj1 (below_law (1 / 3) (rat_digits 1 3) _ _) true); [lra|intros m; apply (rat_digit 1 3); lia].
Qed.
(* a table: F(0) = 1/3, F(1) = 1/2, F(2) = 1 *)
Definition ex_num (k : Z) : Z := if (k <? 0)%Z then 0%Z else if (k <? 1)%Z then 2%Z else if (k <? 2)%Z then 3%Z else 6%Z.
Lemma ex_cdf : cdf (fun k => IZR (ex_num k) / 6).
Proof.
  split.
  - intros j k H; apply Rmult_le_compat_r; [lra|]; apply IZR_le; unfold ex_num.
    destruct (Z.ltb_spec j 0), (Z.ltb_spec k 0), (Z.ltb_spec j 1), (Z.ltb_spec k 1), (Z.ltb_spec j 2), (Z.ltb_spec k 2); lia.
  - apply is_lim_seq_incr_1, is_lim_seq_incr_1; apply is_lim_seq_ext with (u := fun _ => 1); [|apply is_lim_seq_const]; intros n.
    replace (ex_num (Z.of_nat (S (S n)))) with 6%Z; [lra|]; unfold ex_num.
    destruct (Z.ltb_spec (Z.of_nat (S (S n))) 0), (Z.ltb_spec (Z.of_nat (S (S n))) 1), (Z.ltb_spec (Z.of_nat (S (S n))) 2); lia.
  - apply is_lim_seq_incr_1; apply is_lim_seq_ext with (u := fun _ => 0); [|apply is_lim_seq_const]; intros n.
    replace (ex_num (- Z.of_nat (S n))) with 0%Z; [lra|]; unfold ex_num; destruct (Z.ltb_spec (- Z.of_nat (S n)) 0); lia.
Qed.
Example inverse_table : law (inverse (fun m k => rat_digits (ex_num k) 6 m) (fun _ => -1)%Z (fun _ => 2)%Z) 1%Z (1 / 6).
Proof.
  replace (1 / 6) with (IZR (ex_num 1) / 6 - IZR (ex_num (1 - 1)) / 6) by (change (ex_num 1) with 3%Z; change (ex_num (1 - 1)) with 2%Z; lra).
  refine (proj1 (inverse_law (fun k => IZR (ex_num k) / 6) (fun m k => rat_digits (ex_num k) 6 m) _ _ ex_cdf _ _ _) 1%Z).
  - intros m k; apply rat_digit; lia.
  - intros m; unfold rat_digits; change (ex_num (-1)) with 0%Z; now rewrite Z.mul_0_r.
  - intros m; unfold rat_digits; change (ex_num 2) with 6%Z; rewrite Z.div_mul; lia.
Qed.
