(* discrete_laplace(s, t), scale t/s: a geometric value with a fair sign; "minus zero" is drawn again. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP DiscreteLaplace.
From Assay.samplers Require Import Tape Uniform Bernoulli BernoulliExp Geometric.
Import List ListNotations.
Local Open Scope R_scope.

(* ---------- executable part ---------- *)
Definition signed (y : Z) (b : bool) : option Z :=
  if (b && (y =? 0)%Z)%bool then None else Some (if b then - y else y)%Z.
Definition laplace_round (s t : Z) : sampler (option Z) :=
  bind (geometric s t) (fun y => smap (signed y) (bernoulli 1 2)).
Definition discrete_laplace (s t : Z) : sampler Z := retry (laplace_round s t).

Lemma pd_laplace_round s t : pd (laplace_round s t). Proof. unfold laplace_round; auto with smp. Qed.
Lemma eats_laplace_round s t : eats (laplace_round s t). Proof. unfold laplace_round; auto with smp. Qed.
Global Hint Resolve pd_laplace_round eats_laplace_round : smp.
Lemma pd_laplace s t : pd (discrete_laplace s t). Proof. unfold discrete_laplace; auto with smp. Qed.
Lemma eats_laplace s t : eats (discrete_laplace s t). Proof. unfold discrete_laplace; auto with smp. Qed.
Global Hint Resolve pd_laplace eats_laplace : smp.

Section Laplace.
Variables s t : Z.
Hypothesis Hs : (1 <= s)%Z.
Hypothesis Ht : (1 <= t)%Z.
Lemma scale_pos : 0 < IZR t / IZR s. Proof. now apply ratio_pos. Qed.

Lemma L_round f : tst f -> L (laplace_round s t) f =
  L (geometric s t) (fun y => / 2 * f (signed y true) + / 2 * f (signed y false)).
Proof.
  intros Hf; unfold laplace_round; rewrite L_bind by auto with smp; apply L_fext; intros y.
  rewrite L_map, L_bernoulli by (auto with smp; try lia; intro; apply Hf); lra.
Qed.
Lemma mass_round x : mass (laplace_round s t) (Some x) = / 2 * geom s t (Z.abs x).
Proof.
  unfold mass; rewrite L_round by auto with smp.
  rewrite <- (mass_geometric s t (Z.abs x)) by auto.
  assert (Hn : forall y, (y < 0)%Z -> mass (geometric s t) y = 0).
  { intros y Hy; rewrite mass_geometric by auto; unfold geom; destruct (Z.leb_spec 0 y); [lia|auto]. }
  assert (Hv : forall y, / 2 * ind (Some x) (signed y true) + / 2 * ind (Some x) (signed y false)
               = / 2 * (if Z.eq_dec x 0 then ind x y else ind x y + ind (- x)%Z y)).
  { intros y; unfold signed, ind; simpl andb; destruct (Z.eqb_spec y 0); subst; destruct (Z.eq_dec x 0); subst;
      repeat match goal with |- context [eqd ?a ?b] => destruct (eqd a b) end; try lra; exfalso; try congruence;
      repeat match goal with H : Some _ = Some _ |- _ => injection H as H end; try lia;
      repeat match goal with H : Some _ <> Some _ |- _ => apply H; f_equal; lia end. }
  rewrite (L_fext _ _ _ Hv); destruct (Z.eq_dec x 0) as [->|N].
  - rewrite L_scal by auto with smp; reflexivity.
  - rewrite L_scal; auto with smp; [|intros y; unfold ind; destruct (eqd y x), (eqd y (- x)%Z); try lra; lia].
    f_equal; rewrite L_plus by auto with smp; change (mass (geometric s t) x + mass (geometric s t) (- x)%Z = mass (geometric s t) (Z.abs x)).
    destruct (Z.abs_spec x) as [[H ->]|[H ->]]; [rewrite (Hn (- x)%Z) by lia|rewrite (Hn x) by lia]; ring.
Qed.
Lemma mass_round_None : mass (laplace_round s t) None = / 2 * geom s t 0.
Proof.
  unfold mass; rewrite L_round by auto with smp.
  rewrite <- (mass_geometric s t 0) by auto; unfold mass; rewrite <- L_scal by auto with smp.
  apply L_fext; intros y; unfold signed, ind; simpl andb; destruct (Z.eqb_spec y 0); subst;
    repeat match goal with |- context [eqd ?a ?b] => destruct (eqd a b) end; try lra; congruence.
Qed.
Lemma lap_weight x : exp (- (IZR (Z.abs x) * (IZR s / IZR t))) = lapw (IZR t / IZR s) x.
Proof.
  unfold lapw; f_equal; apply (IZR_le 1) in Hs; apply (IZR_le 1) in Ht; field; lra.
Qed.
Lemma mass_laplace x : mass (discrete_laplace s t) x = dlap (IZR t / IZR s) scale_pos 0 x.
Proof.
  destruct (exp_lt1 _ (ratio_pos s t Hs Ht)) as [H0 H1].
  assert (Hl : law (discrete_laplace s t) x (mass (laplace_round s t) (Some x) / (1 - mass (laplace_round s t) None))).
  { apply retry_law; auto with smp; try (apply law_mass; auto with smp).
    rewrite mass_round_None; unfold geom; simpl; rewrite Rmult_0_l, Ropp_0, exp_0; lra. }
  rewrite (law_uniq _ (pd_laplace s t) x _ Hl), mass_round, mass_round_None.
  simpl pmf; rewrite Z.sub_0_r, <- lap_weight; unfold geom, lapc.
  replace (-1 / (IZR t / IZR s)) with (- (IZR s / IZR t))
    by (apply (IZR_le 1) in Hs; apply (IZR_le 1) in Ht; field; lra).
  destruct (Z.leb_spec 0 (Z.abs x)); [|lia]; simpl; rewrite Rmult_0_l, Ropp_0, exp_0; field; lra.
Qed.
(** @theorem sampler-discrete-laplace
    For integers s, t >= 1, discrete_laplace(s, t) has exactly the discrete Laplace law of scale t/s and mean 0,
    P[x] = (1 - e^(-s/t)) / (1 + e^(-s/t)) e^(-|x| s/t), and stops almost surely. *)
Theorem discrete_laplace_law : has_law (discrete_laplace s t) (dlap (IZR t / IZR s) scale_pos 0).
Proof. apply has_law_intro; auto with smp; [apply mass_laplace|apply pmf_sum]. Qed.
End Laplace.
Lemma mass_laplace_1 t (Ht : (1 <= t)%Z) (H : 0 < IZR t) x : mass (discrete_laplace 1 t) x = dlap (IZR t) H 0 x.
Proof.
  rewrite (mass_laplace 1 t ltac:(lia) Ht); simpl; replace (IZR t / 1) with (IZR t) by field; auto.
Qed.
Example discrete_laplace_half : law (discrete_laplace 1 2) (-3)%Z (dlap 2 Rlt_0_2 0 (-3)%Z).
Proof.
  pose proof (proj1 (discrete_laplace_law 1 2 ltac:(lia) ltac:(lia)) (-3)%Z) as H; simpl in *.
  replace (2 / 1) with 2 in H by field; exact H.
Qed.
