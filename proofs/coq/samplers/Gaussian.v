(* discrete_gaussian(n, d), sigma^2 = n/d: rejection from the discrete Laplace (CKS20, Algorithm 3). *)
From Coq Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.samplers Require Import Tape Uniform Bernoulli BernoulliExp Geometric Laplace Rejection.
Import List ListNotations.
Local Open Scope R_scope.

(* ---------- executable part ---------- *)
Definition gauss_scale (n d : Z) : Z := (Z.sqrt (n / d) + 1)%Z.
Definition gauss_round (n d t : Z) : sampler (option Z) :=
  bind (discrete_laplace 1 t) (fun y =>
    smap (fun b : bool => if b then Some y else None)
      (bernoulli_exp ((Z.abs y * d * t - n) * (Z.abs y * d * t - n)) (2 * n * d * t * t))).
Definition discrete_gaussian (n d : Z) : sampler Z := retry (gauss_round n d (gauss_scale n d)).

Lemma pd_gauss_round n d t : pd (gauss_round n d t). Proof. unfold gauss_round; auto with smp. Qed.
Lemma eats_gauss_round n d t : eats (gauss_round n d t). Proof. unfold gauss_round; auto with smp. Qed.
Global Hint Resolve pd_gauss_round eats_gauss_round : smp.
Lemma pd_gaussian n d : pd (discrete_gaussian n d). Proof. unfold discrete_gaussian; auto with smp. Qed.
Lemma eats_gaussian n d : eats (discrete_gaussian n d). Proof. unfold discrete_gaussian; auto with smp. Qed.
Global Hint Resolve pd_gaussian eats_gaussian : smp.

(* floor(sqrt(n/d)) is the integer square root of floor(n/d) *)
Lemma gauss_scale_spec n d : (1 <= n)%Z -> (1 <= d)%Z ->
  let r := (gauss_scale n d - 1)%Z in (0 <= r)%Z /\ (d * (r * r) <= n < d * ((r + 1) * (r + 1)))%Z.
Proof.
  intros Hn Hd; unfold gauss_scale; rewrite Z.add_simpl_r; cbv zeta.
  assert (H0 : (0 <= n / d)%Z) by (apply Z.div_pos; lia).
  pose proof (Z.sqrt_spec _ H0); pose proof (Z.sqrt_nonneg (n / d)); unfold Z.succ in *.
  set (r := Z.sqrt (n / d)) in *.
  pose proof (Z.div_mod n d ltac:(lia)); pose proof (Z.mod_pos_bound n d ltac:(lia)); nia.
Qed.

Section Gaussian.
Variables n d t : Z.
Hypothesis Hn : (1 <= n)%Z.
Hypothesis Hd : (1 <= d)%Z.
Hypothesis Ht : (1 <= t)%Z.
Let v := IZR n / IZR d.
Lemma var_pos : 0 < v. Proof. now apply ratio_pos. Qed.
Lemma tr_pos : 0 < IZR t. Proof. apply (IZR_lt 0); lia. Qed.
Lemma accept_exp y :
  exp (- (IZR ((Z.abs y * d * t - n) * (Z.abs y * d * t - n)) / IZR (2 * n * d * t * t))) = gacc v (IZR t) y.
Proof.
  unfold gacc, v; f_equal; rewrite !mult_IZR, !minus_IZR, !mult_IZR.
  assert (0 < IZR n) by (apply (IZR_lt 0); lia); assert (0 < IZR d) by (apply (IZR_lt 0); lia); pose proof tr_pos.
  field; lra.
Qed.
Lemma L_gauss_round f : tst f -> L (gauss_round n d t) f =
  L (discrete_laplace 1 t) (fun y => gacc v (IZR t) y * f (Some y) + (1 - gacc v (IZR t) y) * f None).
Proof.
  intros Hf; unfold gauss_round; rewrite L_bind by auto with smp; apply L_fext; intros y.
  rewrite L_map, L_bexp, accept_exp; auto with smp; try (intro; apply Hf); [apply Z.square_nonneg|].
  assert (1 <= n * d)%Z by nia; assert (1 <= t * t)%Z by nia; nia.
Qed.
Lemma mass_gauss_round x : mass (gauss_round n d t) (Some x) = dlap (IZR t) tr_pos 0 x * gacc v (IZR t) x.
Proof.
  pose proof (gacc_01 v (IZR t) var_pos) as G.
  unfold mass; rewrite L_gauss_round by auto with smp; rewrite <- (mass_laplace_1 t Ht).
  rewrite Rmult_comm; unfold mass; rewrite <- L_scal by auto with smp; apply L_fext; intros y.
  unfold ind; destruct (eqd (Some y) (Some x)) as [E|E], (eqd None (Some x)), (eqd y x); try easy; try (injection E; easy); subst; try easy; ring.
Qed.
Lemma mass_gauss_None : mass (gauss_round n d t) None = 1 - gk v (IZR t) * theta v var_pos 0.
Proof.
  pose proof (gacc_01 v (IZR t) var_pos) as G.
  unfold mass; rewrite L_gauss_round by auto with smp.
  rewrite (L_fext _ _ (fun y => 1 + -1 * gacc v (IZR t) y)) by (intros y; unfold ind; simpl; ring).
  assert (HA : L (discrete_laplace 1 t) (gacc v (IZR t)) = gk v (IZR t) * theta v var_pos 0).
  { eapply has_sum_uniq; [apply L_sum; auto with smp|].
    eapply has_sum_ext; [|apply (acc_total v (IZR t) var_pos tr_pos)]; intros x; simpl; now rewrite (mass_laplace_1 t Ht tr_pos). }
  assert (H1 : L (discrete_laplace 1 t) (fun _ => 1) = 1)
    by (apply (has_law_mass _ (pd_laplace 1 t) _ (discrete_laplace_law 1 t ltac:(lia) Ht))).
  (* 1 = (1 - acc) + acc *)
  assert (HT : tst (fun y => 1 + -1 * gacc v (IZR t) y)) by (intros y; specialize (G y); lra).
  assert (HP := L_plus (discrete_laplace 1 t) _ (gacc v (IZR t)) (pd_laplace 1 t) HT G).
  rewrite (L_fext _ _ (fun _ => 1)) in HP by (intros; ring); lra.
Qed.
Lemma mass_gauss_loop x : mass (retry (gauss_round n d t)) x = gdist v var_pos 0 x.
Proof.
  pose proof (gk_pos v (IZR t) tr_pos) as K; pose proof (theta_pos v var_pos 0) as Th.
  assert (HA : 0 < gk v (IZR t) * theta v var_pos 0) by now apply Rmult_lt_0_compat.
  assert (Hl : law (retry (gauss_round n d t)) x (mass (gauss_round n d t) (Some x) / (1 - mass (gauss_round n d t) None))).
  { apply retry_law; auto with smp; try (apply law_mass; auto with smp); rewrite mass_gauss_None; lra. }
  rewrite (law_uniq _ (pd_retry _ (pd_gauss_round n d t) (eats_gauss_round n d t)) x _ Hl), mass_gauss_round, mass_gauss_None.
  rewrite prop_acc by apply var_pos; simpl; field; lra.
Qed.
End Gaussian.
(** @theorem sampler-discrete-gaussian
    For integers n, d >= 1, discrete_gaussian(n, d) has exactly the discrete Gaussian law of variance parameter
    sigma^2 = n/d and mean 0, P[x] proportional to exp(-x^2 d / (2 n)), and stops almost surely. *)
Theorem discrete_gaussian_law n d (Hn : (1 <= n)%Z) (Hd : (1 <= d)%Z) :
  has_law (discrete_gaussian n d) (gdist (IZR n / IZR d) (var_pos n d Hn Hd) 0).
Proof.
  assert (Ht : (1 <= gauss_scale n d)%Z) by (unfold gauss_scale; pose proof (Z.sqrt_nonneg (n / d)); lia).
  apply has_law_intro; auto with smp; [intros x; apply mass_gauss_loop; auto|apply pmf_sum].
Qed.
Example discrete_gaussian_var_ten_thirds :
  law (discrete_gaussian 10 3) (-4)%Z (gdist (10 / 3) (var_pos 10 3 ltac:(lia) ltac:(lia)) 0 (-4)%Z).
Proof. exact (proj1 (discrete_gaussian_law 10 3 ltac:(lia) ltac:(lia)) (-4)%Z). Qed.
