(* Sparse vector with discrete Laplace noise.

   One noise z for the threshold, drawn once.  Then question after question, each
   with fresh noise: the answer is the bit [query + noise >= threshold + z].  The
   analyst chooses the next query and the next threshold after seeing all earlier
   answers.  It ends after c answers "above", or after n questions. *)
From Coq Require Import Reals Lra Lia List ZArith Bool.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi Postprocess.
From Assay.mechanisms Require Import Laplace.
Import ListNotations.
Local Open Scope R_scope.

Definition beq : forall x y : list bool, {x = y} + {x <> y} := leqd bool_dec.

(* the answer b, then a draw from P *)
Definition prefix_pmf (b : bool) (P : list bool -> R) (l : list bool) : R :=
  match l with [] => 0 | x :: l => if bool_dec x b then P l else 0 end.
Definition prefix_dist (b : bool) (P : dist (list bool)) : dist (list bool).
Proof.
  refine {| pmf := prefix_pmf b P |}.
  - intros [|x l]; simpl; [lra|]; destruct (bool_dec x b); [apply pmf_ge0|lra].
  - apply (has_sum_image _ (cons b) (fun l => match l with [] => None | x :: l => if bool_dec x b then Some l else None end)).
    + intros [|x l]; simpl; [lra|]; destruct (bool_dec x b); [apply pmf_ge0|lra].
    + intros l; destruct (bool_dec b b); easy.
    + intros [|x l] u E; [discriminate|]; destruct (bool_dec x b) as [->|]; inversion E; auto.
    + intros [|x l] E; [reflexivity|]; simpl; destruct (bool_dec x b); [discriminate|reflexivity].
    + eapply has_sum_ext; [|apply (pmf_sum P)]; intros l; simpl; destruct (bool_dec b b); easy.
Defined.

(* comparing two binds along a shift of the inner draw *)
Lemma bind_couple {U} (eqU : forall x y : U, {x = y} + {x <> y}) (P Q : dist Z) (K L : Z -> dist U) (u : U) (s : Z) c :
  0 < c -> (forall a, P a * K a u <= c * (Q (a + s)%Z * L (a + s)%Z u)) ->
  bind_dist Z.eq_dec eqU P K u <= c * bind_dist Z.eq_dec eqU Q L u.
Proof.
  intros Hc H; simpl.
  eapply has_sum_le; [apply (bind_pmf_is_bind P K u)| |exact H].
  apply (has_sum_scal (fun a => Q (a + s)%Z * L (a + s)%Z u)); auto.
  apply (has_sum_bij (fun a => Q a * L a u) (fun a => (a + s)%Z) (fun a => (a - s)%Z)); [intros; lia|intros; lia|].
  apply (bind_pmf_is_bind Q L u).
Qed.
Lemma laplace_move (t : posreal) m n a s :
  laplace t m a <= exp (IZR (Z.abs (s + m - n)) / t) * laplace t n (a + s)%Z.
Proof.
  simpl; pose proof (cond_pos t) as Ht; pose proof (lapc_pos t Ht).
  pose proof (lapw_shift t (a - m) (s + m - n) Ht) as H1.
  replace (a - m + (s + m - n))%Z with (a + s - n)%Z in H1 by ring.
  apply (Rmult_le_compat_l (lapc t)) in H1; lra.
Qed.

Section SparseVector.
Context {D : Type}.
Variables t1 t2 : posreal.              (* noise scales: threshold, queries *)
Variable query : list bool -> D -> Z.   (* the next query after these answers *)
Variable threshold : list bool -> Z.    (* its public threshold *)

(* z: threshold noise; c: answers "above" left; n: questions left *)
Fixpoint ask (z : Z) (c : nat) (past : list bool) (n : nat) (d : D) : dist (list bool) :=
  match n, c with
  | S n, S c' => bind_dist Z.eq_dec beq (laplace t2 (query past d))
      (fun a => if (threshold past + z <=? a)%Z
                then prefix_dist true (ask z c' (past ++ [true]) n d)
                else prefix_dist false (ask z c (past ++ [false]) n d))
  | _, _ => dret beq []
  end.
(* all answers of one run *)
Definition svt (c n : nat) (d : D) : dist (list bool) :=
  bind_dist Z.eq_dec beq (laplace t1 0) (fun z => ask z c [] n d).

(* Move the threshold by s, and the noise of each query answered "above" by at
   most w. *)
Definition close (s w : Z) (d d' : D) : Prop := forall past, let e := (query past d - query past d' + s)%Z in (0 <= e <= w)%Z.
Lemma ask_couple (s w : Z) d d' : (0 <= w)%Z -> close s w d d' ->
  forall n z c past l, ask z c past n d l <= exp (IZR w / t2) ^ c * ask (z + s) c past n d' l.
Proof.
  intros Hw H; pose proof (cond_pos t2) as Ht.
  assert (Hc : 1 <= exp (IZR w / t2)).
  { pose proof (exp_ineq1_le (IZR w / t2)); assert (0 <= IZR w / t2); [|lra].
    apply Rmult_le_pos; [now apply IZR_le|left; now apply Rinv_0_lt_compat]. }
  set (E := exp (IZR w / t2)) in *.
  assert (Hpow : forall c, 1 <= E ^ c) by (intros c; now apply pow_R1_Rle).
  assert (H0 : forall c l, dret beq [] l <= E ^ c * dret beq [] l).
  { intros c l; specialize (Hpow c); pose proof (pmf_ge0 (dret beq []) l); nra. }
  induction n as [|n IH]; intros z c past l; [apply H0|]; destruct c as [|c]; [apply H0|].
  cbn [ask]; specialize (H past); cbv zeta in H; set (q := query past d) in *; set (q' := query past d') in *.
  assert (HE : 0 < E ^ S c) by (specialize (Hpow (S c)); lra).
  destruct l as [|[|] l].
  - (* no answer: impossible here *)
    apply (bind_couple _ _ _ _ _ _ 0); auto; intros a.
    destruct (threshold past + z <=? a)%Z, (threshold past + (z + s) <=? a + 0)%Z; simpl (prefix_dist _ _ []); lra.
  - (* "above": move the noise by q - q' + s *)
    apply (bind_couple _ _ _ _ _ _ s); auto; intros a.
    destruct (Z.leb_spec (threshold past + z) a) as [Ha|Ha];
      destruct (Z.leb_spec (threshold past + (z + s)) (a + s)) as [Hb|Hb]; try lia.
    + pose proof (laplace_move t2 q q' a s) as H1.
      assert (H2 : exp (IZR (Z.abs (s + q - q')) / t2) <= E) by (apply exp_le, div_le; auto; apply IZR_le; lia).
      pose proof (pmf_ge0 (laplace t2 q') (a + s)%Z) as H3; pose proof (pmf_ge0 (laplace t2 q) a) as H4.
      pose proof (IH z c (past ++ [true]) l) as H5; pose proof (pmf_ge0 (ask z c (past ++ [true]) n d) l) as H6.
      simpl (prefix_dist true _ _).
      apply Rle_trans with ((E * laplace t2 q' (a + s)%Z) * (E ^ c * ask (z + s) c (past ++ [true]) n d' l)).
      * apply Rmult_le_compat; auto; eapply Rle_trans; [exact H1|]; now apply Rmult_le_compat_r.
      * right; simpl; ring.
    + simpl (prefix_dist false _ _); lra.
  - (* "below": keep the noise *)
    apply (bind_couple _ _ _ _ _ _ (q' - q)); auto; intros a.
    pose proof (laplace_move t2 q q' a (q' - q)) as H1.
    replace (q' - q + q - q')%Z with 0%Z in H1 by ring; replace (IZR (Z.abs 0) / t2) with 0 in H1 by (simpl; lra).
    rewrite exp_0, Rmult_1_l in H1.
    pose proof (pmf_ge0 (laplace t2 q) a); pose proof (pmf_ge0 (laplace t2 q') (a + (q' - q))%Z).
    destruct (Z.leb_spec (threshold past + z) a) as [Ha|Ha];
      destruct (Z.leb_spec (threshold past + (z + s)) (a + (q' - q))) as [Hb|Hb]; try lia.
    + simpl (prefix_dist true _ _); lra.
    + simpl (prefix_dist true _ _); rewrite Rmult_0_r; apply Rmult_le_pos; [lra|].
      apply Rmult_le_pos; auto; apply pmf_ge0.
    + simpl (prefix_dist false _ _).
      pose proof (IH z (S c) (past ++ [false]) l) as H5; pose proof (pmf_ge0 (ask z (S c) (past ++ [false]) n d) l).
      apply Rle_trans with (laplace t2 q' (a + (q' - q))%Z * (E ^ S c * ask (z + s) (S c) (past ++ [false]) n d' l)).
      * apply Rmult_le_compat; auto.
      * right; ring.
Qed.
Lemma svt_couple (s w : Z) c n d d' : (0 <= w)%Z -> close s w d d' ->
  dp (IZR (Z.abs s) / t1 + INR c * IZR w / t2) 0 (svt c n d) (svt c n d').
Proof.
  intros Hw H; apply dp_pointwise; intros l; unfold svt.
  assert (E : exp (INR c * IZR w / t2) = exp (IZR w / t2) ^ c).
  { induction c as [|c IHc]; [simpl; rewrite Rmult_0_l; unfold Rdiv; rewrite Rmult_0_l; apply exp_0|].
    rewrite S_INR; cbn [pow]; rewrite <- IHc, <- exp_plus; f_equal; unfold Rdiv; ring. }
  rewrite exp_plus, E.
  apply (bind_couple _ _ _ _ _ _ s); [apply Rmult_lt_0_compat; [apply exp_pos|apply pow_lt, exp_pos]|]; intros z.
  pose proof (laplace_move t1 0 0 z s) as H1; replace (s + 0 - 0)%Z with s in H1 by ring.
  pose proof (ask_couple s w d d' Hw H n z c [] l) as H2.
  apply Rle_trans with ((exp (IZR (Z.abs s) / t1) * laplace t1 0 (z + s)%Z) * (exp (IZR w / t2) ^ c * ask (z + s) c [] n d' l)).
  - apply Rmult_le_compat; auto; apply pmf_ge0.
  - right; ring.
Qed.
End SparseVector.

(* between neighbours all queries, whatever was answered before, move in the same
   direction, by at most Delta *)
Definition monotone_sens {D} (adj : D -> D -> Prop) (query : list bool -> D -> Z) (Delta : Z) : Prop :=
  forall d d', adj d d' ->
    (forall past, (query past d <= query past d' <= query past d + Delta)%Z) \/
    (forall past, (query past d' <= query past d <= query past d' + Delta)%Z).

(** @theorem sparse-vector
    Sparse vector: discrete Laplace noise of scale t1 on the threshold, drawn once, and
    of scale t2 on every query; it stops after c answers "above" or n answers, n
    arbitrary. Each query and threshold is chosen after seeing all earlier answers; each
    query has sensitivity Delta for adj. All answers together are
    (Delta/t1 + 2 c Delta/t2)-DP for adj. *)
Theorem sparse_vector {D} (adj : D -> D -> Prop) (query : list bool -> D -> Z) threshold (Delta : Z) (t1 t2 : posreal) c n :
  (0 <= Delta)%Z -> (forall past, sens adj (query past) Delta) ->
  dp_mech adj (IZR Delta / t1 + 2 * INR c * IZR Delta / t2) 0 (svt t1 t2 query threshold c n).
Proof.
  intros HD Hq d d' A; pose proof (svt_couple t1 t2 query threshold Delta (2 * Delta) c n d d' ltac:(lia)) as H.
  rewrite mult_IZR, Z.abs_eq in H by auto.
  replace (2 * INR c * IZR Delta) with (INR c * (2 * IZR Delta)) by ring; apply H.
  intros past; specialize (Hq past d d' A); cbv zeta; lia.
Qed.
(** @theorem sparse-vector-monotone
    The same, if between neighbours all queries move in the same direction, by at most
    Delta (e.g. counts when one record is added): (Delta/t1 + c Delta/t2)-DP for adj. *)
Theorem sparse_vector_monotone {D} (adj : D -> D -> Prop) (query : list bool -> D -> Z) threshold (Delta : Z) (t1 t2 : posreal) c n :
  (0 <= Delta)%Z -> monotone_sens adj query Delta ->
  dp_mech adj (IZR Delta / t1 + INR c * IZR Delta / t2) 0 (svt t1 t2 query threshold c n).
Proof.
  intros HD Hq d d' A; destruct (Hq d d' A) as [H|H].
  - pose proof (svt_couple t1 t2 query threshold Delta Delta c n d d' HD) as G.
    rewrite Z.abs_eq in G by auto; apply G; intros past; specialize (H past); cbv zeta; lia.
  - apply (dp_weaken (IZR (Z.abs 0) / t1 + INR c * IZR Delta / t2) 0); [apply pmf_ge0| |lra|].
    + apply Rplus_le_compat_r, div_le; [apply cond_pos|apply IZR_le; simpl; lia].
    + apply svt_couple; auto; intros past; specialize (H past); cbv zeta; lia.
Qed.

(* scale n/eps as a positive real *)
Lemma over_pos (n : positive) (eps : posreal) : 0 < IZR (Zpos n) / eps.
Proof. apply Rdiv_lt_0_compat; [apply IZR_lt; reflexivity|apply cond_pos]. Qed.
Definition over (n : positive) (eps : posreal) : posreal := mkposreal _ (over_pos n eps).

(** @theorem above-threshold
    Above threshold: stop at the first answer "above". With threshold noise of scale
    2/eps, query noise of scale 4/eps and adaptive queries of sensitivity 1, any number
    of them, the answers are eps-DP for adj. *)
Theorem above_threshold {D} (adj : D -> D -> Prop) (query : list bool -> D -> Z) threshold (eps : posreal) n :
  (forall past, sens adj (query past) 1) ->
  dp_mech adj eps 0 (svt (over 2 eps) (over 4 eps) query threshold 1 n).
Proof.
  intros Hq; pose proof (cond_pos eps).
  replace (pos eps) with (1 / over 2 eps + 2 * INR 1 * 1 / over 4 eps) at 1 by (simpl; field; lra).
  apply (sparse_vector adj query threshold 1); [lia|exact Hq].
Qed.
(** @theorem above-threshold-monotone
    Above threshold with scale 2/eps on both sides is eps-DP for adj if between
    neighbours all queries move in the same direction, by at most 1. *)
Theorem above_threshold_monotone {D} (adj : D -> D -> Prop) (query : list bool -> D -> Z) threshold (eps : posreal) n :
  monotone_sens adj query 1 ->
  dp_mech adj eps 0 (svt (over 2 eps) (over 2 eps) query threshold 1 n).
Proof.
  intros Hq; pose proof (cond_pos eps).
  replace (pos eps) with (1 / over 2 eps + INR 1 * 1 / over 2 eps) at 1 by (simpl; field; lra).
  apply (sparse_vector_monotone adj query threshold 1); [lia|exact Hq].
Qed.

(* ---------- instances ---------- *)
(* how many records exceed c *)
Definition exceed (d : list Z) (c : Z) : Z := Z.of_nat (length (filter (fun x => (c <? x)%Z) d)).
Lemma exceed_step l1 x l2 c : (exceed (l1 ++ l2) c <= exceed (l1 ++ x :: l2) c <= exceed (l1 ++ l2) c + 1)%Z.
Proof.
  unfold exceed; rewrite !filter_app, !app_length; simpl.
  destruct (c <? x)%Z; simpl; lia.
Qed.
(* the cut grows with the number of questions and falls after each "above" *)
Definition next_cut (past : list bool) : Z := (Z.of_nat (length past) - 3 * Z.of_nat (count_occ bool_dec past true))%Z.
Lemma next_cut_monotone : monotone_sens add_remove (fun past d => exceed d (next_cut past)) 1.
Proof.
  intros d d' [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; [left|right]; intros past; apply exceed_step.
Qed.
Lemma next_cut_sens past : sens add_remove (fun d => exceed d (next_cut past)) 1.
Proof.
  intros d d' A; destruct (next_cut_monotone d d' A) as [H|H]; specialize (H past); cbv beta in H; lia.
Qed.
(* threshold 20, eps = 1/10, a thousand adaptive questions *)
Example first_large_count : dp_mech add_remove (prat 1 10) 0
  (svt (over 2 (prat 1 10)) (over 4 (prat 1 10)) (fun past d => exceed d (next_cut past)) (fun _ => 20%Z) 1 1000).
Proof. apply above_threshold, next_cut_sens. Qed.
Example first_large_count_monotone : dp_mech add_remove (prat 1 10) 0
  (svt (over 2 (prat 1 10)) (over 2 (prat 1 10)) (fun past d => exceed d (next_cut past)) (fun _ => 20%Z) 1 1000).
Proof. apply above_threshold_monotone, next_cut_monotone. Qed.
(* three positives, scales 10 and 60: 1/10 + 2 * 3 / 60 = 1/5 *)
Example three_large_counts : dp_mech add_remove (1 / (10 / 1) + 2 * INR 3 * 1 / (60 / 1)) 0
  (svt (prat 10 1) (prat 60 1) (fun past d => exceed d (next_cut past)) (fun _ => 20%Z) 3 1000).
Proof. apply (sparse_vector _ _ _ 1 (prat 10 1) (prat 60 1)); [lia|apply next_cut_sens]. Qed.
