(* Integer vectors with independent noise in each coordinate:
   discrete Gaussian with l2 sensitivity, discrete Laplace with l1 sensitivity. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process.
Import ListNotations.
Local Open Scope R_scope.

(* n/d as a positive real *)
Definition prat (n d : positive) : posreal.
Proof.
  refine (mkposreal (IZR (Zpos n) / IZR (Zpos d)) _).
  apply Rdiv_lt_0_compat; apply IZR_lt; reflexivity.
Defined.

(* decidable equality of outputs *)
Definition zvec_eq : forall x y : list Z, {x = y} + {x <> y} := list_eq_dec Z.eq_dec.

Fixpoint prod_dist (ps : list (dist Z)) : dist (list Z) :=
  match ps with
  | [] => dret (leqd Z.eq_dec) []
  | p :: ps => cons_dist Z.eq_dec p (fun _ => prod_dist ps)
  end.

(* ---------- distances ---------- *)
Fixpoint sqdist (x y : list Z) : Z :=
  match x, y with
  | a :: x, b :: y => (a - b) * (a - b) + sqdist x y
  | _, _ => 0
  end%Z.
Fixpoint absdist (x y : list Z) : Z :=
  match x, y with
  | a :: x, b :: y => Z.abs (a - b) + absdist x y
  | _, _ => 0
  end%Z.
(* sum_i (x_i - y_i)^2 / (2 v_i) *)
Fixpoint sqcost (vs : list posreal) (x y : list Z) : R :=
  match vs, x, y with
  | v :: vs, a :: x, b :: y => IZR ((a - b) * (a - b)) / (2 * v) + sqcost vs x y
  | _, _, _ => 0
  end.
Lemma sqdist_pos x y : (0 <= sqdist x y)%Z.
Proof.
  revert y; induction x as [|a x IH]; destruct y as [|b y]; simpl; try lia.
  specialize (IH y); pose proof (Z.square_nonneg (a - b)); lia.
Qed.

(* sensitivity of a query f for the neighbour relation adj; the number of
   coordinates is the same for neighbours (it is public) *)
Definition l2sq_sens {D} (adj : D -> D -> Prop) (f : D -> list Z) (D2 : R) : Prop :=
  forall d d', adj d d' -> length (f d) = length (f d') /\ IZR (sqdist (f d) (f d')) <= D2.
Definition l1_sens {D} (adj : D -> D -> Prop) (f : D -> list Z) (D1 : R) : Prop :=
  forall d d', adj d d' -> length (f d) = length (f d') /\ IZR (absdist (f d) (f d')) <= D1.

(* ---------- discrete Gaussian ---------- *)
(* one coordinate m + noise, noise with variance parameter v = sigma^2 *)
Definition gauss (v : posreal) (m : Z) : dist Z := gdist v (cond_pos v) (IZR m).
Definition gauss_vec (v : posreal) (mu : list Z) : dist (list Z) := prod_dist (map (gauss v) mu).
Fixpoint gauss_vecs (vs : list posreal) (mu : list Z) : dist (list Z) :=
  match vs, mu with
  | v :: vs, m :: mu => cons_dist Z.eq_dec (gauss v m) (fun _ => gauss_vecs vs mu)
  | _, _ => dret (leqd Z.eq_dec) []
  end.

Lemma gauss_zcdp (v : posreal) m n :
  zcdp (IZR ((m - n) * (m - n)) / (2 * v)) (gauss v m) (gauss v n).
Proof.
  replace (IZR ((m - n) * (m - n))) with (IZR (Z.abs (m - n)) ^ 2).
  - apply dgauss_zcdp, Z.le_refl.
  - simpl; rewrite Rmult_1_r, <- mult_IZR; f_equal; nia.
Qed.
Lemma gauss_vecs_zcdp vs mu nu : length mu = length nu ->
  zcdp (sqcost vs mu nu) (gauss_vecs vs mu) (gauss_vecs vs nu).
Proof.
  revert mu nu; induction vs as [|v vs IH]; intros [|m mu] [|n nu] E; try discriminate;
    try (apply zcdp_refl; simpl; lra).
  apply cons_zcdp; [apply gauss_zcdp|intros _; apply IH; now inversion E].
Qed.
Lemma gauss_vec_vecs v mu : gauss_vec v mu = gauss_vecs (repeat v (length mu)) mu.
Proof. induction mu as [|m mu IH]; simpl; auto; unfold gauss_vec in *; simpl; rewrite IH; auto. Qed.
Lemma sqcost_common v mu nu : length mu = length nu ->
  sqcost (repeat v (length mu)) mu nu = IZR (sqdist mu nu) / (2 * v).
Proof.
  revert nu; induction mu as [|m mu IH]; intros [|n nu] E; try discriminate; simpl; [lra|].
  rewrite IH, plus_IZR by now inversion E.
  pose proof (cond_pos v); field; lra.
Qed.

(** @theorem gaussian-vector-zcdp
    The vector query f has squared l2 sensitivity at most D2 for the neighbour
    relation adj. Adding independent discrete Gaussian noise with parameter
    sigma^2 to each coordinate is (D2 / (2 sigma^2))-zCDP for adj. *)
Theorem gauss_vec_zcdp {D} (adj : D -> D -> Prop) (f : D -> list Z) (D2 : R) (sigma2 : posreal) :
  l2sq_sens adj f D2 -> zcdp_mech adj (D2 / (2 * sigma2)) (fun d => gauss_vec sigma2 (f d)).
Proof.
  intros Hf d d' A; destruct (Hf d d' A) as [E HD]; pose proof (cond_pos sigma2).
  apply (zcdp_weaken (IZR (sqdist (f d) (f d')) / (2 * sigma2))).
  - apply Rmult_le_compat_r; auto; left; apply Rinv_0_lt_compat; lra.
  - rewrite <- sqcost_common, gauss_vec_vecs, gauss_vec_vecs, <- E by auto; now apply gauss_vecs_zcdp.
Qed.

(** @theorem gaussian-coordinates-zcdp
    Discrete Gaussian noise with its own parameter sigma_i^2 in each coordinate
    is rho-zCDP for adj as soon as sum_i (f(d)_i - f(d')_i)^2 / (2 sigma_i^2) <= rho
    for all neighbours d, d'. *)
Theorem gauss_vecs_mech {D} (adj : D -> D -> Prop) (f : D -> list Z) (sigmas : list posreal) (rho : R) :
  (forall d d', adj d d' -> length (f d) = length (f d') /\ sqcost sigmas (f d) (f d') <= rho) ->
  zcdp_mech adj rho (fun d => gauss_vecs sigmas (f d)).
Proof.
  intros Hf d d' A; destruct (Hf d d' A) as [E HD].
  eapply zcdp_weaken; [exact HD|]; now apply gauss_vecs_zcdp.
Qed.

(* ---------- discrete Laplace ---------- *)
(* one coordinate m + noise, noise with P(x) proportional to exp(-|x|/t) *)
Definition laplace (t : posreal) (m : Z) : dist Z := dlap t (cond_pos t) m.
Definition laplace_vec (t : posreal) (mu : list Z) : dist (list Z) := prod_dist (map (laplace t) mu).

Lemma laplace_dp (t : posreal) m n : dp (IZR (Z.abs (m - n)) / t) 0 (laplace t m) (laplace t n).
Proof.
  apply dp_pointwise; intros x; simpl; pose proof (cond_pos t) as Ht.
  replace (exp (IZR (Z.abs (m - n)) / t) * (lapc t * lapw t (x - n)))
    with (lapc t * (exp (IZR (Z.abs (m - n)) / t) * lapw t (x - n))) by ring.
  apply Rmult_le_compat_l; [left; now apply lapc_pos|]; unfold lapw; rewrite <- exp_plus; apply exp_le.
  unfold Rdiv; rewrite <- Rmult_plus_distr_r; apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
  enough (IZR (Z.abs (x - n)) <= IZR (Z.abs (x - m)) + IZR (Z.abs (m - n))) by lra.
  rewrite <- plus_IZR; apply IZR_le; lia.
Qed.

(** @theorem laplace-vector
    The vector query f has l1 sensitivity at most D1 for adj. Adding independent
    discrete Laplace noise of scale t to each coordinate is (D1 / t)-DP for adj. *)
Theorem laplace_vec_dp {D} (adj : D -> D -> Prop) (f : D -> list Z) (D1 : R) (t : posreal) :
  l1_sens adj f D1 -> dp_mech adj (D1 / t) 0 (fun d => laplace_vec t (f d)).
Proof.
  intros Hf d d' A; destruct (Hf d d' A) as [E HD]; pose proof (cond_pos t).
  apply (dp_weaken (IZR (absdist (f d) (f d')) / t) 0); [apply pmf_ge0| |apply Rle_refl|].
  - apply Rmult_le_compat_r; auto; left; apply Rinv_0_lt_compat; lra.
  - clear HD A; revert E; generalize (f d) (f d'); clear; unfold laplace_vec.
    induction l as [|m mu IH]; intros [|n nu] E; try discriminate.
    + apply dp_refl; [apply pmf_ge0|simpl; lra|lra].
    + cbn [absdist map prod_dist]; rewrite plus_IZR, Rdiv_plus_distr.
      rewrite <- (Rplus_0_r 0) at 1.
      apply cons_dp; [lra|apply laplace_dp|intros _; apply IH; now inversion E].
Qed.

(* ---------- instances ---------- *)
(* a histogram of two cells under "one record moves": l2^2 <= 2, l1 <= 2 *)
Definition cell (b : bool) (l : list bool) : Z := Z.of_nat (count_occ Bool.bool_dec l b).
Definition histogram (l : list bool) : list Z := [cell true l; cell false l].
From Assay.rules Require Import Neighbours.
Lemma histogram_sens : l2sq_sens replace_one histogram 2 /\ l1_sens replace_one histogram 2.
Proof.
  split; intros d d' (l1 & x & y & l2 & -> & ->); (split; [reflexivity|]); apply IZR_le;
    unfold histogram, cell; simpl; rewrite !count_occ_app; destruct x, y; simpl; lia.
Qed.
Example histogram_gauss : zcdp_mech replace_one (2 / (2 * (100 / 1))) (fun d => gauss_vec (prat 100 1) (histogram d)).
Proof. apply (gauss_vec_zcdp _ _ 2 (prat 100 1)), histogram_sens. Qed.
Example histogram_laplace : dp_mech replace_one (2 / (4 / 1)) 0 (fun d => laplace_vec (prat 4 1) (histogram d)).
Proof. apply (laplace_vec_dp _ _ 2 (prat 4 1)), histogram_sens. Qed.
(* the cell of "yes" with sigma^2 = 50, the other with 200: 1/100 + 1/400 *)
Example histogram_split : zcdp_mech replace_one (1 / 100 + 1 / 400) (fun d => gauss_vecs [prat 50 1; prat 200 1] (histogram d)).
Proof.
  apply gauss_vecs_mech; intros d d' (l1 & x & y & l2 & -> & ->); split; [reflexivity|].
  unfold histogram, cell; rewrite !count_occ_app.
  assert (C : forall b, ((Z.of_nat (count_occ Bool.bool_dec l1 b + count_occ Bool.bool_dec (x :: l2) b)
    - Z.of_nat (count_occ Bool.bool_dec l1 b + count_occ Bool.bool_dec (y :: l2) b))
    * (Z.of_nat (count_occ Bool.bool_dec l1 b + count_occ Bool.bool_dec (x :: l2) b)
    - Z.of_nat (count_occ Bool.bool_dec l1 b + count_occ Bool.bool_dec (y :: l2) b)) <= 1)%Z).
  { intros b; destruct b, x, y; simpl; lia. }
  pose proof (IZR_le _ _ (C true)); pose proof (IZR_le _ _ (C false)); cbn [sqcost]; simpl pos; lra.
Qed.
