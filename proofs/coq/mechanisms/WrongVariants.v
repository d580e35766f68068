(* Wrong statements, refuted.  Each looks like a theorem of this directory with
   one constant or one noise missing. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi Postprocess.
From Assay.mechanisms Require Import Finite Laplace SparseVector Exponential Tree.
Import ListNotations.
Local Open Scope R_scope.

Lemma exp_lt_1 x y : x < y -> exp x < exp y.
Proof. apply exp_increasing. Qed.
Lemma dp_at {T} eps (P Q : T -> R) x : dp eps 0 P Q -> P x <= exp eps * Q x.
Proof. intros H; specialize (H [x] ltac:(repeat constructor; easy)); simpl in H; lra. Qed.

(* ---------- sensitivity halved ---------- *)
Lemma half_pos_scale (Delta : positive) (eps : posreal) : 0 < IZR (Zpos Delta) / (2 * eps).
Proof. pose proof (cond_pos eps); apply Rdiv_lt_0_compat; [apply IZR_lt; reflexivity|lra]. Qed.
(** @theorem wrong-laplace-half-sensitivity
    Counterexample: noise of scale Delta/(2 eps), i.e. calibrated to half of the
    sensitivity Delta, is not eps-DP, for any Delta >= 1 and eps > 0. *)
Theorem laplace_half_sensitivity_false (Delta : positive) (eps : posreal) :
  ~ (forall (f : bool -> Z), sens (fun _ _ => True) f (Zpos Delta) ->
     dp_mech (fun _ _ => True) eps 0 (fun d => laplace (mkposreal _ (half_pos_scale Delta eps)) (f d))).
Proof.
  intros H; pose proof (cond_pos eps) as He.
  specialize (H (fun b => if b then 0%Z else Zpos Delta)).
  assert (S : sens (fun _ _ => True) (fun b : bool => if b then 0%Z else Zpos Delta) (Zpos Delta))
    by (intros [|] [|] _; lia).
  pose proof (dp_at _ _ _ 0%Z (H S true false I)) as G; cbn [laplace dlap pmf] in G.
  simpl pos in G; set (t := IZR (Zpos Delta) / (2 * eps)) in *.
  assert (Ht : 0 < t) by apply half_pos_scale.
  unfold lapw in G; change (Z.abs (0 - 0)) with 0%Z in G; change (Z.abs (0 - Zpos Delta)) with (Zpos Delta) in G.
  replace (- 0 / t) with 0 in G by (unfold Rdiv; ring); rewrite exp_0 in G.
  replace (- IZR (Zpos Delta) / t) with (- (2 * eps)) in G
    by (unfold t; field; split; [lra|apply Rgt_not_eq, IZR_lt; reflexivity]).
  pose proof (lapc_pos t Ht) as Hl.
  assert (E : exp eps * exp (- (2 * eps)) = exp (- eps)) by (rewrite <- exp_plus; f_equal; ring).
  assert (exp (- eps) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  nra.
Qed.

(* ---------- sparse vector without threshold noise ---------- *)
Section NoThresholdNoise.
Variables (t : posreal) (T : Z).
(* probability that a query with true answer q is declared below *)
Definition is_below (q : Z) (b : R) : Prop :=
  has_sum (fun a => laplace t q a * (if (T <=? a)%Z then 0 else 1)) b.
Lemma below_exists q : exists b, is_below q b.
Proof.
  destruct (has_sum_exists (fun a => laplace t q a * (if (T <=? a)%Z then 0 else 1)) 1) as [b Hb]; [|exists b; exact Hb].
  intros l Hl; eapply Rle_trans; [|apply (has_sum_ub _ _ _ (pmf_sum (laplace t q)) Hl)].
  apply lsum_le; intros a _; pose proof (pmf_ge0 (laplace t q) a); destruct (T <=? a)%Z; lra.
Qed.
(* no noise on the threshold: z = 0.  Every question asks for the same value. *)
Definition value_of (_ : list bool) (d : bool) : Z := if d then 1%Z else 0%Z.
Lemma all_below d b n : is_below (value_of [] d) b ->
  forall past, ask t value_of (fun _ => T) 0 1 past n d (repeat false n) = b ^ n.
Proof.
  intros Hb; induction n as [|n IH]; intros past; [reflexivity|].
  cbn [repeat ask]; rewrite Z.add_0_r; change (value_of past d) with (value_of [] d).
  eapply has_sum_uniq; [apply bind_pmf_is_bind|].
  replace (b ^ S n) with (b ^ n * b) by (simpl; ring).
  assert (H0 : 0 <= b).
  { pose proof (has_sum_ub _ _ [] Hb (NoDup_nil _)); simpl in H; lra. }
  eapply has_sum_ext; [|apply (has_sum_scal0 _ (b ^ n) b (pow_le b n H0) Hb)].
  intros a; cbv beta; destruct (T <=? a)%Z.
  - simpl (prefix_dist true _ _); ring.
  - simpl (prefix_dist false _ _); rewrite IH; ring.
Qed.
Lemma below_step b0 b1 : is_below 0 b0 -> is_below 1 b1 -> b0 = b1 + laplace t 0 (T - 1)%Z /\ 0 < b1 <= 1.
Proof.
  intros H0 H1.
  assert (Hs : has_sum (fun a => laplace t 0 a * (if (T - 1 <=? a)%Z then 0 else 1)) b1).
  { eapply has_sum_ext; [|apply (has_sum_bij (fun a => laplace t 1 a * (if (T <=? a)%Z then 0 else 1))
      (fun a => (a + 1)%Z) (fun a => (a - 1)%Z) b1); [intros; lia|intros; lia|exact H1]].
    intros a; simpl; replace (a + 1 - 1)%Z with (a - 0)%Z by ring.
    destruct (Z.leb_spec T (a + 1)), (Z.leb_spec (T - 1) a); try lia; reflexivity. }
  split; [|split].
  - eapply has_sum_uniq; [exact H0|].
    eapply has_sum_ext; [|apply (has_sum_plus Z.eq_dec _ (fun a => if Z.eq_dec a (T - 1) then laplace t 0 a else 0) _ _) with (3 := Hs)].
    + intros a; cbv beta; destruct (Z.leb_spec T a), (Z.leb_spec (T - 1) a), (Z.eq_dec a (T - 1)); try lia; lra.
    + intros a; pose proof (pmf_ge0 (laplace t 0) a); destruct (T - 1 <=? a)%Z; lra.
    + intros a; pose proof (pmf_ge0 (laplace t 0) a); destruct (Z.eq_dec a (T - 1)); lra.
    + apply (has_sum_finite_eq Z.eq_dec _ [(T - 1)%Z]).
      * cbn [lsum]; destruct (Z.eq_dec (T - 1) (T - 1)); [lra|easy].
      * repeat constructor; easy.
      * intros a; pose proof (pmf_ge0 (laplace t 0) a); destruct (Z.eq_dec a (T - 1)); lra.
      * intros a N; destruct (Z.eq_dec a (T - 1)) as [->|]; [exfalso; apply N; simpl; auto|reflexivity].
  - pose proof (has_sum_ub _ _ [(T - 2)%Z] Hs ltac:(repeat constructor; easy)) as G; cbn [lsum] in G.
    destruct (Z.leb_spec (T - 1) (T - 2)); [lia|].
    assert (0 < laplace t 0 (T - 2)%Z) by (simpl; apply Rmult_lt_0_compat; [apply lapc_pos, cond_pos|apply exp_pos]); lra.
  - eapply has_sum_lub; [exact Hs|]; intros l Hl.
    eapply Rle_trans; [|apply (has_sum_ub _ _ _ (pmf_sum (laplace t 0)) Hl)].
    apply lsum_le; intros a _; pose proof (pmf_ge0 (laplace t 0) a); destruct (T - 1 <=? a)%Z; lra.
Qed.
Lemma bernoulli_pow x n : 0 <= x -> 1 + INR n * x <= (1 + x) ^ n.
Proof.
  intros Hx; induction n as [|n IH]; [simpl; lra|].
  rewrite S_INR; cbn [pow]; pose proof (pos_INR n); nra.
Qed.

(** @theorem wrong-sparse-vector-no-threshold-noise
    Counterexample: above threshold without noise on the threshold is not eps-DP for
    any eps, whatever the scale of the query noise: for every eps there are a number of
    queries of sensitivity 1 and two neighbours whose output laws differ by more. *)
Theorem sparse_vector_no_threshold_noise_false (eps : R) :
  (forall past, sens (fun _ _ => True) (value_of past) 1) /\
  exists n, ~ dp_mech (fun _ _ => True) eps 0 (ask t value_of (fun _ => T) 0 1 [] n).
Proof.
  split; [intros past [|] [|] _; simpl; lia|].
  destruct (below_exists 0) as [b0 H0], (below_exists 1) as [b1 H1].
  destruct (below_step b0 b1 H0 H1) as [E [Hb Hb1]].
  set (p := laplace t 0 (T - 1)%Z) in *.
  assert (Hp : 0 < p) by (unfold p; simpl; apply Rmult_lt_0_compat; [apply lapc_pos, cond_pos|apply exp_pos]).
  pose proof (exp_pos eps) as Hx; destruct (archimed (exp eps / p)) as [Hu _].
  assert (0 < exp eps / p) by now apply Rdiv_lt_0_compat.
  set (n := Z.to_nat (up (exp eps / p))).
  assert (En : INR n = IZR (up (exp eps / p))).
  { unfold n; rewrite INR_IZR_INZ, Z2Nat.id; auto; apply le_IZR; lra. }
  assert (Hn : exp eps < INR n * p).
  { assert (G : exp eps / p < INR n) by (rewrite En; lra).
    apply (Rmult_lt_compat_r p _ _ Hp) in G; unfold Rdiv in G; rewrite Rmult_assoc, Rinv_l, Rmult_1_r in G by lra; exact G. }
  clearbody n; clear En.
  exists n; intros M; pose proof (dp_at _ _ _ (repeat false n) (M false true I)) as G; cbv beta in G.
  rewrite (all_below false b0 n H0), (all_below true b1 n H1) in G.
  assert (Hr : b1 * (1 + p) <= b0) by nra.
  assert (b1 ^ n * (1 + p) ^ n <= b0 ^ n) by (rewrite <- Rpow_mult_distr; apply pow_incr; nra).
  pose proof (bernoulli_pow p n ltac:(lra)); pose proof (pow_lt b1 n Hb); nra.
Qed.
End NoThresholdNoise.

(* ---------- tree with one node too few ---------- *)
Definition one_bit (b : bool) (_ : nat) : Z := if b then 1%Z else 0%Z.
(** @theorem wrong-tree-one-node-fewer
    Counterexample: with K = 4 leaves, leaf 0 lies in 3 nodes, not in floor(log2 4) = 2,
    and releasing the tree of one-bit records with discrete Laplace noise of scale t
    is not (floor(log2 K)/t)-DP, for any t. *)
Theorem tree_one_node_fewer_false (t : posreal) :
  (Nat.log2 4 < count (fun n => covers n 0) (nodes 4))%nat /\
  (forall x y, (l1leaf one_bit 1 x y <= 1)%Z) /\
  ~ dp_mech (replace_of 4) (IZR (1 * Z.of_nat (Nat.log2 4)) / t) 0
      (fun d => laplace_vec t (tree_query one_bit 1 4 d)).
Proof.
  split; [vm_compute; lia|split; [intros [|] [|]; vm_compute; discriminate|]]; intros H.
  set (d := [false; false; false; false]); set (d' := [true; false; false; false]).
  assert (A : replace_of 4 d d').
  { split; [exists [], false, true, [false; false; false]; auto|reflexivity]. }
  pose proof (dp_at _ _ _ (tree_query one_bit 1 4 d) (H d d' A)) as G; cbv beta in G.
  pose proof (cond_pos t) as Ht; pose proof (lapc_pos t Ht) as Hl.
  rewrite !laplace_vec_pmf in G by reflexivity.
  replace (absdist (tree_query one_bit 1 4 d) (tree_query one_bit 1 4 d)) with 0%Z in G by reflexivity.
  replace (absdist (tree_query one_bit 1 4 d') (tree_query one_bit 1 4 d)) with 3%Z in G by reflexivity.
  replace (1 * Z.of_nat (Nat.log2 4))%Z with 2%Z in G by reflexivity.
  pose proof (pow_lt (lapc t) (length (tree_query one_bit 1 4 d)) Hl) as Hc.
  set (c := lapc t ^ length (tree_query one_bit 1 4 d)) in *.
  replace (Ropp 0 / t) with 0 in G by (unfold Rdiv; ring); rewrite exp_0 in G.
  assert (E : exp (2 / t) * exp (Ropp 3 / t) = exp (-1 / t)) by (rewrite <- exp_plus; f_equal; unfold Rdiv; ring).
  assert (Hq := proj2 (q_lt1 t Ht)).
  assert (c <= c * exp (-1 / t)) by (rewrite <- E; lra); nra.
Qed.
