(* A histogram whose keys are not known beforehand.

   Every key that may occur has a count; a key of count 0 is not in the data and
   is never shown.  Every other key gets discrete Laplace noise and is shown, with
   its noisy count, if that reaches a threshold. *)
From Coq Require Import Reals Lra Lia List ZArith Bool.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi Postprocess.
From Assay.mechanisms Require Import Laplace SparseVector.
Import ListNotations.
Local Open Scope R_scope.

Definition oeq : forall x y : option Z, {x = y} + {x <> y}. Proof. decide equality; apply Z.eq_dec. Qed.

(* what is shown of one key *)
Definition shown (T y : Z) : option Z := if (T <=? y)%Z then Some y else None.
Definition key_cell (t : posreal) (T c : Z) : dist (option Z) :=
  if Z.eq_dec c 0 then dret oeq None else bind_dist Z.eq_dec oeq (laplace t c) (fun y => dret oeq (shown T y)).
Fixpoint keys (t : posreal) (T : Z) (counts : list Z) : dist (list (option Z)) :=
  match counts with
  | [] => dret (leqd oeq) []
  | c :: counts => cons_dist oeq (key_cell t T c) (fun _ => keys t T counts)
  end.

(* One person more: at most k keys, each by at most m. *)
Definition changed (c c' : list Z) : nat := length (filter (fun p => negb (fst p =? snd p)%Z) (combine c c')).
Definition brings (m : Z) (k : nat) (c c' : list Z) : Prop :=
  Forall2 (fun x y => (0 <= x <= y)%Z /\ (y <= x + m)%Z) c c' /\ (changed c c' <= k)%nat.
Definition one_person (m : Z) (k : nat) (c c' : list Z) : Prop := brings m k c c' \/ brings m k c' c.

(* ---------- lists of options ---------- *)
Lemma lsum_options (P : option Z -> R) l : NoDup l ->
  lsum P l = (if in_dec oeq None l then P None else 0) + lsum (fun y => P (Some y)) (opts l).
Proof.
  induction l as [|x l IH]; intros Hl; [simpl; lra|]; inversion Hl as [|? ? Hx Hn]; subst; specialize (IH Hn).
  cbn [lsum opts]; rewrite IH; destruct x as [y|]; cbn [lsum].
  - destruct (in_dec oeq None (Some y :: l)) as [[E|H]|H], (in_dec oeq None l) as [H'|H']; try discriminate; try lra; try contradiction.
    exfalso; apply H; now right.
  - destruct (in_dec oeq None (None :: l)) as [H|H]; [|exfalso; apply H; now left].
    destruct (in_dec oeq None l); [contradiction|lra].
Qed.
Lemma opts_NoDup (l : list (option Z)) : NoDup l -> NoDup (opts l).
Proof.
  induction l as [|x l IH]; intros Hl; [constructor|]; inversion Hl as [|? ? Hx Hn]; subst; destruct x as [y|]; cbn [opts]; auto.
  constructor; auto; intros H; apply Hx; now apply opts_In.
Qed.

(* a law that shows something with probability at most p is p-close to showing nothing *)
Section Rare.
Variable P : dist (option Z).
Variable p : R.
Hypothesis Hp : forall l, NoDup l -> lsum (fun y => P (Some y)) l <= p.
Lemma rare_none : 1 <= P None + p.
Proof.
  apply (has_sum_lub _ _ _ (pmf_sum P)); intros l Hl; rewrite lsum_options by auto.
  pose proof (Hp _ (opts_NoDup l Hl)); pose proof (pmf_ge0 P None); destruct (in_dec oeq None l); lra.
Qed.
Lemma rare_dp : dp 0 p (dret oeq None) P /\ dp 0 p P (dret oeq None).
Proof.
  pose proof rare_none as H1; pose proof (Hp [] (NoDup_nil _)) as H0; simpl in H0.
  assert (Hd : forall l, NoDup l -> lsum (dret oeq None) l = if in_dec oeq None l then 1 else 0).
  { intros l Hl; rewrite lsum_options by auto; rewrite (lsum_ext _ (fun _ => 0 * 0)), lsum_scal by (intros y _; simpl; destruct (oeq (Some y) None); [discriminate|lra]).
    simpl; destruct (oeq None None); [|easy]; destruct (in_dec oeq None l); lra. }
  split; intros l Hl; rewrite exp_0, Hd by auto; rewrite (lsum_options P) by auto; pose proof (Hp _ (opts_NoDup l Hl));
    assert (0 <= lsum (fun y => P (Some y)) (opts l)) by (apply lsum_ge0; intros; apply pmf_ge0);
    pose proof (has_sum_ub _ _ [None] (pmf_sum P) ltac:(repeat constructor; easy)) as Hu; simpl in Hu;
    destruct (in_dec oeq None l); lra.
Qed.
End Rare.

(* ---------- the tail of the noise ---------- *)
Lemma geometric_part q j n : 0 < q < 1 -> lsum (fun i => q ^ (j + i)) (seq 0 n) = q ^ j * (1 - q ^ n) / (1 - q).
Proof.
  intros Hq; induction n as [|n IH]; [simpl; field; lra|].
  rewrite seq_S, lsum_app, IH; cbn [lsum Nat.add]; rewrite pow_add; simpl; field; lra.
Qed.
Lemma laplace_tail (t : posreal) (j : nat) l : NoDup l -> (forall y, In y l -> (Z.of_nat j <= y)%Z) ->
  lsum (laplace t 0) l <= exp (-1 / t) ^ j / (1 + exp (-1 / t)).
Proof.
  intros Hl Hj; pose proof (cond_pos t) as Ht; pose proof (q_lt1 t Ht) as Hq; set (q := exp (-1 / t)) in *.
  assert (Hn : exists n, incl l (map (fun i => Z.of_nat (j + i)) (seq 0 n))).
  { clear Hl; induction l as [|x l IH]; [exists O; intros z []|].
    destruct IH as [n Hi]; [intros; apply Hj; now right|]; pose proof (Hj x ltac:(now left)) as Hx.
    exists (Nat.max n (S (Z.to_nat x - j))); intros z [<-|Hz].
    - apply in_map_iff; exists (Z.to_nat x - j)%nat; rewrite in_seq; lia.
    - apply Hi, in_map_iff in Hz; destruct Hz as [i [<- Hs]]; apply in_map_iff; exists i; rewrite in_seq in *; lia. }
  destruct Hn as [n Hn].
  apply Rle_trans with (lsum (laplace t 0) (map (fun i => Z.of_nat (j + i)) (seq 0 n))).
  - apply lsum_incl; auto; intros; apply pmf_ge0.
  - rewrite lsum_map, (lsum_ext _ (fun i => lapc t * q ^ (j + i))).
    + rewrite lsum_scal, geometric_part by auto; unfold lapc; fold q.
      assert (0 < q ^ j) by (apply pow_lt; lra); assert (0 < q ^ n) by (apply pow_lt; lra).
      apply (Rmult_le_reg_r (1 + q)); [lra|]; unfold Rdiv; rewrite (Rmult_assoc (q ^ j) (/ (1 + q))), Rinv_l, Rmult_1_r by lra.
      replace ((1 - q) * / (1 + q) * (q ^ j * (1 - q ^ n) * / (1 - q)) * (1 + q)) with (q ^ j * (1 - q ^ n)) by (field; lra); nra.
    + intros i _; simpl; rewrite Z.sub_0_r, lapw_pow; reflexivity.
Qed.

(* ---------- one key ---------- *)
Lemma key_cell_some (t : posreal) T c y : c <> 0%Z -> key_cell t T c (Some y) = if (T <=? y)%Z then laplace t c y else 0.
Proof.
  intros Hc; unfold key_cell; destruct (Z.eq_dec c 0); [contradiction|].
  eapply has_sum_uniq; [apply (bind_pmf_is_bind (laplace t c) (fun a => dret oeq (shown T a)) (Some y))|].
  set (v := if (T <=? y)%Z then laplace t c y else 0).
  assert (Hv : 0 <= v) by (unfold v; destruct (T <=? y)%Z; [apply pmf_ge0|lra]).
  rewrite <- (Rmult_1_r v); eapply has_sum_ext; [|apply (has_sum_scal0 (fun x => if Z.eq_dec x y then 1 else 0) v 1 Hv), (dret_sum Z.eq_dec y)]; unfold v; clear v Hv.
  - intros a; simpl; unfold shown; destruct (Z.eq_dec a y) as [->|N].
    + destruct (T <=? y)%Z; [destruct (oeq (Some y) (Some y)); [ring|easy]|destruct (oeq (Some y) None); [discriminate|ring]].
    + destruct (T <=? a)%Z; [destruct (oeq (Some y) (Some a)); [congruence|ring]|destruct (oeq (Some y) None); [discriminate|ring]].
Qed.
Section OneKey.
Variable t : posreal.
Variables T m : Z.
Variable p : R.
Hypothesis Hm : (0 <= m)%Z.
Hypothesis Hp : forall l, NoDup l -> (forall y, In y l -> (T - m <= y)%Z) -> lsum (laplace t 0) l <= p.
Lemma p_ge0 : 0 <= p. Proof. apply (Hp [] (NoDup_nil _)); intros y []. Qed.
Lemma new_key c : (0 < c <= m)%Z -> forall l, NoDup l -> lsum (fun y => key_cell t T c (Some y)) l <= p.
Proof.
  intros Hc l Hl.
  rewrite (lsum_ext _ (fun y => if (T <=? y)%Z then laplace t c y else 0)) by (intros; apply key_cell_some; lia).
  rewrite <- lsum_filter.
  rewrite (lsum_ext _ (fun y => laplace t 0 (y - c)%Z)) by (intros; simpl; rewrite Z.sub_0_r; reflexivity).
  rewrite <- (lsum_map (fun y => (y - c)%Z)).
  apply Hp.
  - apply FinFun.Injective_map_NoDup; [intros x y; lia|now apply NoDup_filter].
  - intros y Hy; apply in_map_iff in Hy; destruct Hy as [x [<- Hx]]; apply filter_In in Hx; destruct Hx as [_ Hx]; apply Z.leb_le in Hx; lia.
Qed.
Lemma key_cell_dp c c' : (0 <= c)%Z -> (0 <= c')%Z -> (Z.abs (c - c') <= m)%Z ->
  dp (if (c =? c')%Z then 0 else IZR m / t) (if (c =? c')%Z then 0 else p) (key_cell t T c) (key_cell t T c').
Proof.
  intros H0 H0' Hd; pose proof (cond_pos t) as Ht; pose proof p_ge0 as Hp0.
  destruct (Z.eqb_spec c c') as [->|N]; [apply dp_refl; [apply pmf_ge0|lra|lra]|].
  assert (He : 0 <= IZR m / t) by (apply (IZR_le 0) in Hm; apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
  destruct (Z.eq_dec c 0) as [->|Hc]; [|destruct (Z.eq_dec c' 0) as [->|Hc']].
  - apply (dp_weaken 0 p); auto; [apply pmf_ge0|lra|].
    apply (rare_dp (key_cell t T c') p); apply new_key; lia.
  - apply (dp_weaken 0 p); auto; [apply pmf_ge0|lra|].
    apply (rare_dp (key_cell t T c) p); apply new_key; lia.
  - apply (dp_weaken (IZR (Z.abs (c - c')) / t) 0); auto; [apply pmf_ge0| |].
    + apply div_le; auto; now apply IZR_le.
    + unfold key_cell; destruct (Z.eq_dec c 0), (Z.eq_dec c' 0); try contradiction.
      apply (dp_postprocess Z.eq_dec _ 0 (laplace t c) (laplace t c') (fun y => dret oeq (shown T y)));
        [apply laplace_dp| |]; apply bind_pmf_is_bind.
Qed.
Lemma keys_dp c c' : Forall2 (fun x y => (0 <= x)%Z /\ (0 <= y)%Z /\ (Z.abs (x - y) <= m)%Z) c c' ->
  dp (INR (changed c c') * (IZR m / t)) (INR (changed c c') * p) (keys t T c) (keys t T c').
Proof.
  intros H; induction H as [|x y c c' (Hx & Hy & Hd) H IH].
  - simpl; rewrite !Rmult_0_l; apply dp_refl; [apply (pmf_ge0 (dret (leqd oeq) []))|lra|lra].
  - cbn [keys]; replace (changed (x :: c) (y :: c')) with ((if (x =? y)%Z then 0 else 1) + changed c c')%nat
      by (unfold changed; simpl; destruct (x =? y)%Z; reflexivity).
    assert (Hd2 : 0 <= INR (changed c c') * p) by (apply Rmult_le_pos; [apply pos_INR|apply p_ge0]).
    pose proof (cons_dp oeq _ _ _ _ (key_cell t T x) (key_cell t T y) (fun _ => keys t T c) (fun _ => keys t T c')
      Hd2 (key_cell_dp x y Hx Hy Hd) (fun _ => IH)) as G.
    eapply dp_weaken; [| | |exact G]; [apply pmf_ge0| |]; right; rewrite plus_INR; destruct (x =? y)%Z; simpl; ring.
Qed.
End OneKey.

(** @theorem keys-threshold
    A histogram of unknown keys: keys of count 0 are never shown; every other count gets discrete Laplace noise of scale t
    and is shown if the sum reaches T. If a person adds at most m to each of at most k keys, T >= m and
    T - m >= t ln(k/delta), then all that is shown is (k m/t, delta)-DP for one person added or removed. *)
Theorem keys_threshold (t : posreal) (m T : Z) (k : nat) (delta : R) :
  (0 <= m)%Z -> (m <= T)%Z -> (0 < k)%nat -> 0 < delta -> t * ln (INR k / delta) <= IZR (T - m) ->
  dp_mech (one_person m k) (INR k * IZR m / t) delta (keys t T).
Proof.
  intros Hm HT Hk Hd Hl c c' A; pose proof (cond_pos t) as Ht; pose proof (q_lt1 t Ht) as Hq.
  apply lt_INR in Hk as HkR; simpl in HkR.
  set (p := delta / INR k).
  assert (Hp0 : 0 < p) by (apply Rdiv_lt_0_compat; auto).
  assert (Hp : forall l, NoDup l -> (forall y, In y l -> (T - m <= y)%Z) -> lsum (laplace t 0) l <= p).
  { intros l Hn Hy; eapply Rle_trans; [apply (laplace_tail t (Z.to_nat (T - m))); auto; intros y Hi; specialize (Hy y Hi); lia|].
    apply Rle_trans with (exp (-1 / t) ^ Z.to_nat (T - m)).
    - assert (0 < exp (-1 / t) ^ Z.to_nat (T - m)) by (apply pow_lt; lra).
      apply (Rmult_le_reg_r (1 + exp (-1 / t))); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra.
    - rewrite <- lapw_pow; unfold lapw; rewrite Z2Nat.id by lia; rewrite Z.abs_eq by lia.
      replace p with (exp (ln p)) by now apply exp_ln.
      apply exp_le; unfold p.
      assert (E : ln (delta / INR k) = - ln (INR k / delta)).
      { replace (delta / INR k) with (/ (INR k / delta)) by (field; lra); apply ln_Rinv; now apply Rdiv_lt_0_compat. }
      rewrite E; unfold Rdiv; rewrite <- Ropp_mult_distr_l; apply Ropp_le_contravar.
      apply (Rmult_le_reg_l t); auto; replace (t * (IZR (T - m) * / t)) with (IZR (T - m)) by (field; lra); exact Hl. }
  assert (G : forall a b, brings m k a b \/ brings m k b a ->
    Forall2 (fun x y => (0 <= x)%Z /\ (0 <= y)%Z /\ (Z.abs (x - y) <= m)%Z) a b /\ (changed a b <= k)%nat).
  { intros a b [[H1 H2]|[H1 H2]].
    - split; auto; induction H1; constructor; [lia|]; apply IHForall2; eapply Nat.le_trans; [|exact H2]; unfold changed; simpl; destruct (negb _); simpl; lia.
    - assert (Hc : changed a b = changed b a).
      { clear H2; unfold changed; induction H1; simpl; auto; rewrite (Z.eqb_sym y x); destruct (negb _); simpl; auto. }
      split; [|lia]; clear Hc H2; induction H1; constructor; [lia|auto]. }
  destruct (G c c' A) as [H1 H2].
  apply (dp_weaken (INR (changed c c') * (IZR m / t)) (INR (changed c c') * p)); [apply pmf_ge0| | |now apply keys_dp].
  - apply le_INR in H2; apply (IZR_le 0) in Hm; assert (0 <= IZR m / t) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
    replace (INR k * IZR m / t) with (INR k * (IZR m / t)) by (unfold Rdiv; ring); apply Rmult_le_compat_r; auto.
  - apply le_INR in H2; replace delta with (INR k * p) by (unfold p; field; lra); apply Rmult_le_compat_r; lra.
Qed.

(* a person visits one ward: scale 1, delta 1/10, threshold 1 + 5 *)
Example one_ward : dp_mech (one_person 1 1) (INR 1 * IZR 1 / mkposreal 1 Rlt_0_1) (1 / 10) (keys (mkposreal 1 Rlt_0_1) 6).
Proof.
  apply keys_threshold; try lia; [lra|]; simpl.
  rewrite Rmult_1_l; replace (1 / (1 / 10)) with 10 by field.
  apply Rle_trans with (ln (exp 5)); [|rewrite ln_exp; simpl; lra].
  apply Rcomplements.ln_le; [lra|].
  assert (E : 5 / 2 + 1 <= exp (5 / 2)) by (pose proof (exp_ineq1_le (5 / 2)); lra).
  replace 5 with (5 / 2 + 5 / 2) at 1 by field; rewrite exp_plus; nra.
Qed.
