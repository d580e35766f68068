(* Post-processing: whatever is computed from the output of a mechanism, with
   or without fresh randomness, without looking at the data again. *)
From Coq Require Import Reals Lra Lia List.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Renyi Neighbours.
Import ListNotations.
Local Open Scope R_scope.

Lemma has_sum_scal0 {T} (f : T -> R) c s : 0 <= c -> has_sum f s -> has_sum (fun x => c * f x) (c * s).
Proof.
  intros [Hc| <-] H; [now apply has_sum_scal|].
  rewrite Rmult_0_l; eapply has_sum_ext; [|apply has_sum_zero]; intros; simpl; ring.
Qed.

Section Bind.
Context {T U : Type} (eqd : forall x y : T, {x = y} + {x <> y}) (eqU : forall x y : U, {x = y} + {x <> y}).

(* the output distribution of: draw t from P, then draw from K t *)
Lemma bind_bound (P : dist T) (K : T -> dist U) u l : NoDup l -> lsum (fun t => P t * K t u) l <= 1.
Proof.
  intros Hl; eapply Rle_trans; [|apply (has_sum_ub _ _ _ (pmf_sum P) Hl)].
  apply lsum_le; intros t _; pose proof (pmf_ge0 P t).
  assert (K t u <= 1).
  { pose proof (has_sum_ub _ _ [u] (pmf_sum (K t)) ltac:(repeat constructor; easy)) as H1; simpl in H1; lra. }
  nra.
Qed.
Definition bind_pmf (P : dist T) (K : T -> dist U) (u : U) : R :=
  proj1_sig (has_sum_exists (fun t => P t * K t u) 1 (fun l Hl => bind_bound P K u l Hl)).
Lemma bind_pmf_is_bind (P : dist T) (K : T -> dist U) : is_bind P (fun t => K t) (bind_pmf P K).
Proof. intros u; exact (proj2_sig (has_sum_exists _ 1 (fun l Hl => bind_bound P K u l Hl))). Qed.
Lemma bind_pmf_ge0 P K u : 0 <= bind_pmf P K u.
Proof. exact (has_sum_ub _ _ [] (bind_pmf_is_bind P K u) (NoDup_nil _)). Qed.
Lemma bind_pmf_sum P K : has_sum (bind_pmf P K) 1.
Proof.
  apply has_sum_intro.
  - intros l Hl; eapply has_sum_lub; [apply (bind_finite eqd P K _ l (bind_pmf_is_bind P K))|].
    intros lt Hlt; eapply Rle_trans; [|apply (has_sum_ub _ _ _ (pmf_sum P) Hlt)].
    apply lsum_le; intros t _; pose proof (pmf_ge0 P t).
    pose proof (has_sum_ub _ _ _ (pmf_sum (K t)) Hl); nra.
  - intros b Hb; eapply has_sum_lub; [apply (joint_sum eqd P K)|]; intros l Hl.
    set (sw := map (fun p : T * U => (snd p, fst p)) l).
    assert (Hsw : NoDup sw).
    { apply FinFun.Injective_map_NoDup; auto; intros [x y] [x' y'] E; simpl in E; congruence. }
    assert (E : lsum (joint P (fun t => K t)) l = lsum (fun p => P (snd p) * K (snd p) (fst p)) sw)
      by (unfold sw; rewrite lsum_map; reflexivity).
    rewrite E; set (lu := nodup eqU (map fst sw)).
    rewrite (lsum_group eqU (fun u t => P t * K t u) sw lu) by
      (try apply NoDup_nodup; intros x Hx; now apply nodup_In).
    eapply Rle_trans; [|apply (Hb lu (NoDup_nodup _ _))].
    apply lsum_le; intros u _.
    apply (has_sum_ub _ _ _ (bind_pmf_is_bind P K u)); now apply slice_NoDup.
Qed.
Definition bind_dist (P : dist T) (K : T -> dist U) : dist U :=
  {| pmf := bind_pmf P K; pmf_ge0 := bind_pmf_ge0 P K; pmf_sum := bind_pmf_sum P K |}.

(* weighted sums of output probabilities *)
Lemma bind_weighted (P : dist T) (K : T -> dist U) P' (w : U -> R) (l : list U) :
  (forall u, 0 <= w u) -> is_bind P (fun t => K t) P' ->
  has_sum (fun t => P t * lsum (fun u => w u * K t u) l) (lsum (fun u => w u * P' u) l).
Proof.
  intros Hw H; induction l as [|u l IH]; simpl.
  - eapply has_sum_ext; [|apply has_sum_zero]; intros; simpl; ring.
  - eapply has_sum_ext; [|apply (has_sum_plus eqd); [| |apply (has_sum_scal0 _ (w u) _ (Hw u) (H u))|apply IH]].
    + intros; simpl; ring.
    + intros; apply Rmult_le_pos; auto; apply Rmult_le_pos; apply pmf_ge0.
    + intros; apply Rmult_le_pos; [apply pmf_ge0|apply lsum_ge0; intros; apply Rmult_le_pos; auto; apply pmf_ge0].
Qed.

Lemma bind_abs_cont (P Q : dist T) (K : T -> dist U) P' Q' :
  (forall t, 0 < P t -> 0 < Q t) -> is_bind P (fun t => K t) P' -> is_bind Q (fun t => K t) Q' ->
  forall u, 0 < P' u -> 0 < Q' u.
Proof.
  intros H0 HP HQ u Hu; destruct (Rle_dec (Q' u) 0) as [N|]; [exfalso|lra].
  enough (P' u <= 0) by lra; eapply has_sum_lub; [apply HP|]; intros l _.
  apply Rle_trans with (lsum (fun _ => 0 * 0) l); [|rewrite lsum_scal; lra].
  apply lsum_le; intros t _.
  pose proof (has_sum_ub _ _ [t] (HQ u) ltac:(repeat constructor; easy)) as H1; simpl in H1.
  pose proof (pmf_ge0 P t) as [Hp|Hp]; [|rewrite <- Hp; lra].
  pose proof (H0 t Hp); pose proof (pmf_ge0 (K t) u).
  assert (K t u = 0) by nra; rewrite H3; lra.
Qed.

Lemma moment_bind a m (P Q : dist T) (K : T -> dist U) P' Q' : 1 < a ->
  moment a m P Q -> is_bind P (fun t => K t) P' -> is_bind Q (fun t => K t) Q' -> moment a m P' Q'.
Proof.
  intros Ha [H0 H] HP HQ; pose proof (bind_abs_cont P Q K P' Q' H0 HP HQ) as H0'; split; auto.
  intros l Hl.
  set (s := fun u => ln (P' u / Q' u)).
  set (A := fun u => a * exp ((a - 1) * s u)); set (B := fun u => (a - 1) * exp (a * s u)).
  assert (HA : forall u, 0 <= A u) by (intros; apply Rmult_le_pos; [lra|left; apply exp_pos]).
  assert (HB : forall u, 0 <= B u) by (intros; apply Rmult_le_pos; [lra|left; apply exp_pos]).
  set (A' := fun u => if Rle_dec (P' u) 0 then 0 else A u).
  set (B' := fun u => if Rle_dec (P' u) 0 then 0 else B u).
  assert (HA' : forall u, 0 <= A' u) by (intros; unfold A'; destruct (Rle_dec _ _); auto; lra).
  assert (HB' : forall u, 0 <= B' u) by (intros; unfold B'; destruct (Rle_dec _ _); auto; lra).
  rewrite (lsum_ext _ (fun u => A' u * P' u + - 1 * (B' u * Q' u))).
  2:{ intros u _; unfold A', B'; destruct (Rle_dec (P' u) 0) as [N|N].
      - unfold rterm; destruct (Rle_dec (P' u) 0); [lra|easy].
      - rewrite rterm_touch by (try apply H0'; lra); unfold A, B, s; ring. }
  rewrite lsum_plus, lsum_scal.
  enough (lsum (fun u => A' u * P' u) l <= m + lsum (fun u => B' u * Q' u) l) by lra.
  eapply has_sum_lub; [apply (bind_weighted P K P' A' l HA' HP)|]; intros lt Hlt.
  pose proof (has_sum_ub _ _ _ (bind_weighted Q K Q' B' l HB' HQ) Hlt) as HQ1.
  enough (lsum (fun t => P t * lsum (fun u => A' u * K t u) l) lt
          + - 1 * lsum (fun t => Q t * lsum (fun u => B' u * K t u) l) lt <= m) by lra.
  eapply Rle_trans; [|apply (H lt Hlt)].
  rewrite <- lsum_scal, <- lsum_plus; apply lsum_le; intros t _.
  rewrite <- !lsum_scal, <- lsum_plus.
  apply Rle_trans with (rterm a (P t) (Q t) * lsum (K t) l).
  - rewrite <- lsum_scal; apply lsum_le; intros u _.
    rewrite <- rterm_scal by (auto using pmf_ge0).
    unfold A', B'; destruct (Rle_dec (P' u) 0) as [N|N].
    + eapply Rle_trans; [|apply rterm_ge0]; lra.
    + eapply Rle_trans; [|apply (rterm_tangent a (s u)); auto].
      * unfold A, B; lra.
      * apply Rmult_le_pos; apply pmf_ge0.
      * apply Rmult_le_pos; apply pmf_ge0.
      * intros Hp; pose proof (pmf_ge0 P t); pose proof (pmf_ge0 (K t) u).
        apply Rmult_lt_0_compat; [apply H0|]; nra.
  - pose proof (rterm_ge0 a (P t) (Q t)).
    pose proof (has_sum_ub _ _ _ (pmf_sum (K t)) Hl); nra.
Qed.
End Bind.

(* ---------- for mechanisms ---------- *)
(** @theorem postprocess
    If M is (eps, delta)-DP for adj, then so is: run M, then draw from K(output), for
    every randomised function K of the output alone. *)
Theorem dp_mech_postprocess {D T U} eqT eqU (adj : D -> D -> Prop) eps delta (M : D -> dist T) (K : T -> dist U) :
  dp_mech adj eps delta M -> dp_mech adj eps delta (fun d => bind_dist eqT eqU (M d) K).
Proof.
  intros H d d' A; apply (dp_postprocess eqT eps delta (M d) (M d') K); [now apply H| |]; apply bind_pmf_is_bind.
Qed.
(** @theorem postprocess-renyi
    If M has Renyi divergence of order a > 1 at most e for adj, then so has: run M,
    then draw from K(output), for every randomised function K of the output alone. *)
Theorem renyi_mech_postprocess {D T U} eqT eqU (adj : D -> D -> Prop) a e (M : D -> dist T) (K : T -> dist U) :
  1 < a -> renyi_mech adj a e M -> renyi_mech adj a e (fun d => bind_dist eqT eqU (M d) K).
Proof.
  intros Ha H d d' A; apply (moment_bind eqT a _ (M d) (M d') K); auto; [now apply H| |]; apply bind_pmf_is_bind.
Qed.
(** @theorem postprocess-zcdp
    If M is rho-zCDP for adj, then so is: run M, then draw from K(output), for every
    randomised function K of the output alone. *)
Theorem zcdp_mech_postprocess {D T U} eqT eqU (adj : D -> D -> Prop) rho (M : D -> dist T) (K : T -> dist U) :
  zcdp_mech adj rho M -> zcdp_mech adj rho (fun d => bind_dist eqT eqU (M d) K).
Proof.
  intros H d d' A; specialize (H d d' A); apply zcdp_renyi in H; destruct H as [H0 H]; apply zcdp_renyi; split.
  - apply (bind_abs_cont (M d) (M d') K); auto; apply bind_pmf_is_bind.
  - intros a Ha; apply (moment_bind eqT a _ (M d) (M d') K); auto; [now apply H| |]; apply bind_pmf_is_bind.
Qed.

(* publish only the sign of the first noisy cell *)
Example histogram_sign : zcdp_mech replace_one (2 / (2 * (100 / 1)))
  (fun d => bind_dist (leqd BinInt.Z.eq_dec) Bool.bool_dec (gauss_vec (prat 100 1) (histogram d))
     (fun out => dret Bool.bool_dec (BinInt.Z.leb 0 (hd BinInt.Z0 out)))).
Proof. apply zcdp_mech_postprocess, histogram_gauss. Qed.
