(* One integer query with noise on the integers: discrete Laplace (also known
   as the two-sided geometric mechanism) and discrete Gaussian. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors Neighbours.
Import ListNotations.
Local Open Scope R_scope.

(* sensitivity of an integer query: neighbours differ by at most Delta *)
Definition sens {D} (adj : D -> D -> Prop) (f : D -> Z) (Delta : Z) : Prop :=
  forall d d', adj d d' -> (Z.abs (f d - f d') <= Delta)%Z.

Lemma div_le a b t : 0 < t -> a <= b -> a / t <= b / t.
Proof. intros Ht H; apply Rmult_le_compat_r; auto; left; now apply Rinv_0_lt_compat. Qed.

(* one step to the left or right costs a factor exp(1/t) *)
Lemma lapw_shift t x k : 0 < t -> lapw t x <= exp (IZR (Z.abs k) / t) * lapw t (x + k).
Proof.
  intros Ht; unfold lapw; rewrite <- exp_plus; apply exp_le.
  unfold Rdiv; rewrite <- Rmult_plus_distr_r; apply div_le; auto.
  assert (IZR (Z.abs (x + k)) <= IZR (Z.abs x) + IZR (Z.abs k)); [|lra].
  rewrite <- plus_IZR; apply IZR_le; lia.
Qed.

(** @theorem laplace-scalar
    An integer query f whose values on neighbours (relation adj) differ by at
    most Delta. Releasing f(d) plus discrete Laplace noise of scale t, i.e.
    P(x) proportional to exp(-|x|/t), is (Delta/t)-DP for adj, for every real t > 0. *)
Theorem laplace_scalar {D} (adj : D -> D -> Prop) (f : D -> Z) (Delta : Z) (t : posreal) :
  sens adj f Delta -> dp_mech adj (IZR Delta / t) 0 (fun d => laplace t (f d)).
Proof.
  intros Hf d d' A; pose proof (cond_pos t).
  apply (dp_weaken (IZR (Z.abs (f d - f d')) / t) 0); [apply pmf_ge0| |lra|apply laplace_dp].
  apply div_le; auto; apply IZR_le; auto.
Qed.

(* The geometric mechanism: P(x) = (1-r)/(1+r) r^|x|. *)
Definition geo_scale (r : R) : R := -1 / ln r.
Lemma geo_scale_pos r : 0 < r < 1 -> 0 < geo_scale r.
Proof.
  intros Hr; assert (ln r < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
  unfold geo_scale; replace (-1 / ln r) with (1 / - ln r) by (field; lra); apply Rdiv_lt_0_compat; lra.
Qed.
Definition geometric (r : R) (Hr : 0 < r < 1) (m : Z) : dist Z := dlap (geo_scale r) (geo_scale_pos r Hr) m.
Lemma geometric_pmf r Hr m x :
  geometric r Hr m x = (1 - r) / (1 + r) * r ^ Z.abs_nat (x - m).
Proof.
  assert (ln r < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (E : exp (-1 / geo_scale r) = r).
  { unfold geo_scale; replace (-1 / (-1 / ln r)) with (ln r) by (field; lra); apply exp_ln; lra. }
  simpl; unfold lapc; rewrite E; f_equal.
  rewrite <- E at 2; rewrite <- lapw_pow; unfold lapw; rewrite Zabs2Nat.id_abs, Z.abs_involutive; reflexivity.
Qed.

(** @theorem geometric
    The geometric mechanism adds integer noise x with probability
    (1-r)/(1+r) r^|x|, 0 < r < 1. For an integer query of sensitivity Delta it
    is (Delta ln(1/r))-DP for adj. *)
Theorem geometric_dp {D} (adj : D -> D -> Prop) (f : D -> Z) (Delta : Z) (r : R) (Hr : 0 < r < 1) :
  sens adj f Delta -> dp_mech adj (IZR Delta * ln (1 / r)) 0 (fun d => geometric r Hr (f d)).
Proof.
  intros Hf; assert (ln r < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (E : IZR Delta * ln (1 / r) = IZR Delta / geo_scale r).
  { rewrite ln_div, ln_1 by lra; unfold geo_scale; field; lra. }
  rewrite E; apply (laplace_scalar adj f Delta (mkposreal _ (geo_scale_pos r Hr))), Hf.
Qed.

(** @theorem gaussian-scalar-zcdp
    An integer query f whose values on neighbours differ by at most Delta.
    Releasing f(d) plus discrete Gaussian noise with parameter sigma^2, i.e.
    P(x) proportional to exp(-x^2/(2 sigma^2)), is (Delta^2/(2 sigma^2))-zCDP for adj. *)
Theorem gaussian_scalar {D} (adj : D -> D -> Prop) (f : D -> Z) (Delta : Z) (sigma2 : posreal) :
  sens adj f Delta -> zcdp_mech adj (IZR Delta ^ 2 / (2 * sigma2)) (fun d => gauss sigma2 (f d)).
Proof. intros Hf d d' A; apply dgauss_zcdp, Hf, A. Qed.

(* ---------- instances ---------- *)
(* the number of records; one record added or removed: Delta = 1 *)
Definition size {U} (l : list U) : Z := Z.of_nat (length l).
Lemma size_sens {U} : sens (@add_remove U) size 1.
Proof. intros d d' [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; unfold size; rewrite !app_length; simpl; lia. Qed.
Example count_half : dp_mech (@add_remove Z) (1 / (2 / 1)) 0 (fun d => laplace (prat 2 1) (size d)).
Proof. apply (laplace_scalar _ _ 1 (prat 2 1)), size_sens. Qed.
Lemma r_half : 0 < 1 / 2 < 1. Proof. lra. Qed.
Example count_ln2 : dp_mech (@add_remove Z) (1 * ln (1 / (1 / 2))) 0 (fun d => geometric (1 / 2) r_half (size d)).
Proof. apply (geometric_dp _ _ 1), size_sens. Qed.
Example count_gauss : zcdp_mech (@add_remove Z) (1 ^ 2 / (2 * (50 / 1))) (fun d => gauss (prat 50 1) (size d)).
Proof. apply (gaussian_scalar _ _ 1 (prat 50 1)), size_sens. Qed.
