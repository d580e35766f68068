(* Above threshold (sparse vector) with discrete Laplace noise.

   One noisy threshold T + z; then query after query, each with fresh noise,
   until the first noisy answer at or above the noisy threshold.  The output is
   the number of queries answered "below".  Before it stops the mechanism has
   said nothing but "below", so the i-th query of an adaptive analyst is a fixed
   function of the data (ask_is_loop): a list of queries covers every adaptive
   choice. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi Postprocess.
From Assay.mechanisms Require Import Laplace.
Import ListNotations.
Local Open Scope R_scope.

(* one more than a draw from P *)
Definition succ_pmf (P : nat -> R) (k : nat) : R := match k with O => 0 | S k => P k end.
Definition succ_dist (P : dist nat) : dist nat.
Proof.
  refine {| pmf := succ_pmf P |}.
  - intros [|k]; simpl; [lra|apply pmf_ge0].
  - apply (has_sum_image _ S (fun k => match k with O => None | S k => Some k end)).
    + intros [|k]; simpl; [lra|apply pmf_ge0].
    + reflexivity.
    + intros [|k] u E; inversion E; auto.
    + intros [|k] E; [reflexivity|discriminate].
    + apply (pmf_sum P).
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

Section AboveThreshold.
Variables t1 t2 : posreal.   (* noise scales: threshold, queries *)
Variable T : Z.              (* the public threshold *)

Fixpoint at_loop (z : Z) (qs : list Z) : dist nat :=
  match qs with
  | [] => dret Nat.eq_dec O
  | q :: qs => bind_dist Z.eq_dec Nat.eq_dec (laplace t2 q)
      (fun a => if (T + z <=? a)%Z then dret Nat.eq_dec O else succ_dist (at_loop z qs))
  end.
(* number of queries before the first noisy answer >= the noisy threshold;
   length qs if there is none *)
Definition above_threshold (qs : list Z) : dist nat :=
  bind_dist Z.eq_dec Nat.eq_dec (laplace t1 0) (fun z => at_loop z qs).

(* Move the threshold by s and the noise of the last query by at most w. *)
Lemma at_loop_couple (s w : Z) qs qs' : (0 <= w)%Z ->
  Forall2 (fun q q' => q' <= q + s /\ q - q' + s <= w /\ 0 <= q - q' + s)%Z qs qs' ->
  forall z k, at_loop z qs k <= exp (IZR w / t2) * at_loop (z + s) qs' k.
Proof.
  intros Hw H; pose proof (cond_pos t2) as Ht.
  assert (Hc : 1 <= exp (IZR w / t2)).
  { pose proof (exp_ineq1_le (IZR w / t2)); assert (0 <= IZR w / t2); [|lra].
    apply Rmult_le_pos; [now apply IZR_le|left; now apply Rinv_0_lt_compat]. }
  induction H as [|q q' qs qs' Hq H IH]; intros z k; cbn [at_loop].
  - pose proof (pmf_ge0 (dret Nat.eq_dec O) k); nra.
  - destruct k as [|k].
    + (* the last query: move its noise by q - q' + s *)
      apply (bind_couple _ _ _ _ _ _ s); [lra|]; intros a.
      destruct (Z.leb_spec (T + z) a) as [Ha|Ha]; destruct (Z.leb_spec (T + (z + s)) (a + s)) as [Hb|Hb]; try lia.
      * pose proof (laplace_move t2 q q' a s) as H1.
        assert (H2 : exp (IZR (Z.abs (s + q - q')) / t2) <= exp (IZR w / t2))
          by (apply exp_le, div_le; auto; apply IZR_le; lia).
        pose proof (pmf_ge0 (laplace t2 q') (a + s)%Z).
        simpl (dret Nat.eq_dec O O); rewrite !Rmult_1_r; nra.
      * simpl (succ_dist _ O); lra.
    + (* an earlier query: keep its noise *)
      apply (bind_couple _ _ _ _ _ _ (q' - q)); [lra|]; intros a.
      pose proof (laplace_move t2 q q' a (q' - q)) as H1.
      replace (q' - q + q - q')%Z with 0%Z in H1 by ring; replace (IZR (Z.abs 0) / t2) with 0 in H1 by (simpl; lra).
      rewrite exp_0, Rmult_1_l in H1.
      pose proof (pmf_ge0 (laplace t2 q) a); pose proof (pmf_ge0 (laplace t2 q') (a + (q' - q))%Z).
      destruct (Z.leb_spec (T + z) a) as [Ha|Ha]; destruct (Z.leb_spec (T + (z + s)) (a + (q' - q))) as [Hb|Hb]; try lia.
      * simpl (dret Nat.eq_dec O (S k)); nra.
      * simpl (dret Nat.eq_dec O (S k)); rewrite Rmult_0_r; apply Rmult_le_pos; [lra|].
        apply Rmult_le_pos; auto; apply pmf_ge0.
      * simpl (succ_dist (at_loop _ _) (S k)).
        pose proof (IH z k); pose proof (pmf_ge0 (at_loop z qs) k); pose proof (pmf_ge0 (at_loop (z + s) qs') k).
        apply Rle_trans with (laplace t2 q' (a + (q' - q))%Z * (exp (IZR w / t2) * at_loop (z + s) qs' k)).
        -- apply Rmult_le_compat; auto.
        -- right; ring.
Qed.
Lemma above_threshold_couple (s w : Z) qs qs' : (0 <= w)%Z ->
  Forall2 (fun q q' => q' <= q + s /\ q - q' + s <= w /\ 0 <= q - q' + s)%Z qs qs' ->
  dp (IZR (Z.abs s) / t1 + IZR w / t2) 0 (above_threshold qs) (above_threshold qs').
Proof.
  intros Hw H; apply dp_pointwise; intros k; unfold above_threshold; rewrite exp_plus.
  apply (bind_couple _ _ _ _ _ _ s); [apply Rmult_lt_0_compat; apply exp_pos|]; intros z.
  pose proof (laplace_move t1 0 0 z s) as H1; replace (s + 0 - 0)%Z with s in H1 by ring.
  pose proof (at_loop_couple s w qs qs' Hw H z k) as H2.
  apply Rle_trans with ((exp (IZR (Z.abs s) / t1) * laplace t1 0 (z + s)%Z) * (exp (IZR w / t2) * at_loop (z + s) qs' k)).
  - apply Rmult_le_compat; auto; apply pmf_ge0.
  - right; ring.
Qed.

(* f d is the list of answers to the queries; their number is public *)
Definition each_sens {D} (adj : D -> D -> Prop) (f : D -> list Z) (Delta : Z) : Prop :=
  forall d d', adj d d' -> Forall2 (fun q q' => (Z.abs (q - q') <= Delta)%Z) (f d) (f d').
(* between neighbours all answers move in the same direction *)
Definition each_sens_monotone {D} (adj : D -> D -> Prop) (f : D -> list Z) (Delta : Z) : Prop :=
  forall d d', adj d d' ->
    Forall2 (fun q q' => (q <= q' <= q + Delta)%Z) (f d) (f d') \/
    Forall2 (fun q q' => (q' <= q <= q' + Delta)%Z) (f d) (f d').

Lemma Forall2_impl2 {A B} (P Q : A -> B -> Prop) l l' :
  (forall x y, P x y -> Q x y) -> Forall2 P l l' -> Forall2 Q l l'.
Proof. intros HI H; induction H; constructor; auto. Qed.

Theorem above_threshold_dp {D} (adj : D -> D -> Prop) (f : D -> list Z) (Delta : Z) :
  (0 <= Delta)%Z -> each_sens adj f Delta ->
  dp_mech adj (IZR Delta / t1 + 2 * IZR Delta / t2) 0 (fun d => above_threshold (f d)).
Proof.
  intros HD Hf d d' A.
  pose proof (above_threshold_couple Delta (2 * Delta) (f d) (f d') ltac:(lia)) as H.
  rewrite mult_IZR, Z.abs_eq in H by auto; apply H.
  eapply Forall2_impl2; [|apply (Hf d d' A)]; intros q q'; cbv beta; lia.
Qed.
Theorem above_threshold_monotone_dp {D} (adj : D -> D -> Prop) (f : D -> list Z) (Delta : Z) :
  (0 <= Delta)%Z -> each_sens_monotone adj f Delta ->
  dp_mech adj (IZR Delta / t1 + IZR Delta / t2) 0 (fun d => above_threshold (f d)).
Proof.
  intros HD Hf d d' A; destruct (Hf d d' A) as [H|H].
  - pose proof (above_threshold_couple Delta Delta (f d) (f d') HD) as G.
    rewrite Z.abs_eq in G by auto; apply G.
    eapply Forall2_impl2; [|apply H]; intros q q'; cbv beta; lia.
  - pose proof (above_threshold_couple 0 Delta (f d) (f d') HD) as G.
    apply (dp_weaken (IZR (Z.abs 0) / t1 + IZR Delta / t2) 0); [apply pmf_ge0| |lra|].
    + apply Rplus_le_compat_r, div_le; [apply cond_pos|apply IZR_le; simpl; lia].
    + apply G; eapply Forall2_impl2; [|apply H]; intros q q'; cbv beta; lia.
Qed.
End AboveThreshold.

(* scale n/eps as a positive real *)
Lemma over_pos (n : positive) (eps : posreal) : 0 < IZR (Zpos n) / eps.
Proof. apply Rdiv_lt_0_compat; [apply IZR_lt; reflexivity|apply cond_pos]. Qed.
Definition over (n : positive) (eps : posreal) : posreal := mkposreal _ (over_pos n eps).

(** @theorem sparse-vector
    Above threshold: threshold noise of scale 2/eps, query noise of scale 4/eps
    (discrete Laplace), any number of integer queries, each of sensitivity 1 for
    adj and chosen adaptively; it stops at the first noisy answer at or above the
    noisy threshold. The whole run is eps-DP for adj, for every eps > 0 and every
    public threshold T. *)
Theorem sparse_vector {D} (adj : D -> D -> Prop) (f : D -> list Z) (eps : posreal) (T : Z) :
  each_sens adj f 1 ->
  dp_mech adj eps 0 (fun d => above_threshold (over 2 eps) (over 4 eps) T (f d)).
Proof.
  intros Hf; pose proof (cond_pos eps).
  replace (pos eps) with (1 / over 2 eps + 2 * 1 / over 4 eps) at 1 by (simpl; field; lra).
  apply (above_threshold_dp _ _ T adj f 1); [lia|exact Hf].
Qed.
(** @theorem sparse-vector-monotone
    The same with query noise of scale 2/eps, if between neighbours all query
    answers change in the same direction (e.g. counts when one record is added):
    eps-DP for adj. *)
Theorem sparse_vector_monotone {D} (adj : D -> D -> Prop) (f : D -> list Z) (eps : posreal) (T : Z) :
  each_sens_monotone adj f 1 ->
  dp_mech adj eps 0 (fun d => above_threshold (over 2 eps) (over 2 eps) T (f d)).
Proof.
  intros Hf; pose proof (cond_pos eps).
  replace (pos eps) with (1 / over 2 eps + 1 / over 2 eps) at 1 by (simpl; field; lra).
  apply (above_threshold_monotone_dp _ _ T adj f 1); [lia|exact Hf].
Qed.
(** @theorem sparse-vector-scales
    Above threshold with any scales t1 (threshold) and t2 (queries) and queries of
    sensitivity Delta is (Delta/t1 + 2 Delta/t2)-DP for adj. *)
Theorem sparse_vector_scales {D} (adj : D -> D -> Prop) (f : D -> list Z) (Delta : Z) (t1 t2 : posreal) (T : Z) :
  (0 <= Delta)%Z -> each_sens adj f Delta ->
  dp_mech adj (IZR Delta / t1 + 2 * IZR Delta / t2) 0 (fun d => above_threshold t1 t2 T (f d)).
Proof. apply above_threshold_dp. Qed.

(** @theorem sparse-vector-monotone-scales
    Above threshold with any scales t1, t2 and queries that move in the same direction
    by at most Delta between neighbours is (Delta/t1 + Delta/t2)-DP for adj. *)
Theorem sparse_vector_monotone_scales {D} (adj : D -> D -> Prop) (f : D -> list Z) (Delta : Z) (t1 t2 : posreal) (T : Z) :
  (0 <= Delta)%Z -> each_sens_monotone adj f Delta ->
  dp_mech adj (IZR Delta / t1 + IZR Delta / t2) 0 (fun d => above_threshold t1 t2 T (f d)).
Proof. apply above_threshold_monotone_dp. Qed.

(* ---------- the analyst at work ---------- *)
(* strategy past d: the answer on d to the query that the analyst asks after the
   answers past (true: above).  At most n queries. *)
Section Analyst.
Context {D : Type} (t1 t2 : posreal) (T : Z) (strategy : list bool -> D -> Z).
Fixpoint ask (z : Z) (past : list bool) (n : nat) (d : D) : dist nat :=
  match n with
  | O => dret Nat.eq_dec O
  | S n => bind_dist Z.eq_dec Nat.eq_dec (laplace t2 (strategy past d))
      (fun a => if (T + z <=? a)%Z then dret Nat.eq_dec O else succ_dist (ask z (past ++ [false]) n d))
  end.
Definition interact (n : nat) (d : D) : dist nat :=
  bind_dist Z.eq_dec Nat.eq_dec (laplace t1 0) (fun z => ask z [] n d).
Fixpoint asked (past : list bool) (n : nat) (d : D) : list Z :=
  match n with O => [] | S n => strategy past d :: asked (past ++ [false]) n d end.
Lemma ask_is_loop z n d : forall past, ask z past n d = at_loop t2 T z (asked past n d).
Proof. induction n as [|n IH]; intros past; simpl; auto; rewrite IH; auto. Qed.
Lemma interact_dp e (adj : D -> D -> Prop) n :
  dp_mech adj e 0 (fun d => above_threshold t1 t2 T (asked [] n d)) -> dp_mech adj e 0 (interact n).
Proof.
  intros H d d' A l Hl; specialize (H d d' A l Hl); unfold above_threshold in H; unfold interact.
  rewrite (lsum_ext _ (bind_dist Z.eq_dec Nat.eq_dec (laplace t1 0) (fun z => at_loop t2 T z (asked [] n d)))),
    (lsum_ext (bind_dist Z.eq_dec Nat.eq_dec (laplace t1 0) (fun z => ask z [] n d'))
       (bind_dist Z.eq_dec Nat.eq_dec (laplace t1 0) (fun z => at_loop t2 T z (asked [] n d')))); auto.
  - intros u _; simpl; eapply has_sum_uniq; [apply bind_pmf_is_bind|].
    eapply has_sum_ext; [|apply bind_pmf_is_bind]; intros z; cbv beta; rewrite ask_is_loop; reflexivity.
  - intros u _; simpl; eapply has_sum_uniq; [apply bind_pmf_is_bind|].
    eapply has_sum_ext; [|apply bind_pmf_is_bind]; intros z; cbv beta; rewrite ask_is_loop; reflexivity.
Qed.
End Analyst.

(** @theorem sparse-vector-adaptive
    The same with the analyst inside: before each query she sees all answers so far and
    chooses any integer query of sensitivity 1 for adj; at most n queries, n arbitrary.
    With threshold noise of scale 2/eps and query noise of scale 4/eps the transcript
    is eps-DP for adj. *)
Theorem sparse_vector_adaptive {D} (adj : D -> D -> Prop) (strategy : list bool -> D -> Z) (eps : posreal) (T : Z) n :
  (forall past, sens adj (strategy past) 1) ->
  dp_mech adj eps 0 (interact (over 2 eps) (over 4 eps) T strategy n).
Proof.
  intros Hs; apply interact_dp, sparse_vector; intros d d' A; generalize (@nil bool).
  induction n as [|n IH]; intros past; simpl; constructor; auto; now apply Hs.
Qed.

(* ---------- instance ---------- *)
(* how many records exceed 0, 1, ..., 9: ten counts, threshold 20, eps = 1/10 *)
Definition exceed (d : list Z) (c : Z) : Z := Z.of_nat (length (filter (fun x => (c <? x)%Z) d)).
Definition ten_counts (d : list Z) : list Z := map (exceed d) [0; 1; 2; 3; 4; 5; 6; 7; 8; 9]%Z.
Lemma exceed_step l1 x l2 c : (exceed (l1 ++ l2) c <= exceed (l1 ++ x :: l2) c <= exceed (l1 ++ l2) c + 1)%Z.
Proof.
  unfold exceed; rewrite !filter_app, !app_length; simpl.
  destruct (c <? x)%Z; simpl; lia.
Qed.
Lemma ten_counts_monotone : each_sens_monotone add_remove ten_counts 1.
Proof.
  intros d d' [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; [left|right]; unfold ten_counts;
    repeat (apply Forall2_cons; [apply exceed_step|]); constructor.
Qed.
Lemma ten_counts_sens : each_sens add_remove ten_counts 1.
Proof.
  intros d d' A; destruct (ten_counts_monotone d d' A) as [H|H];
    (eapply Forall2_impl2; [|apply H]); intros q q'; cbv beta; lia.
Qed.
Example first_large_count : dp_mech add_remove (prat 1 10) 0
  (fun d => above_threshold (over 2 (prat 1 10)) (over 4 (prat 1 10)) 20 (ten_counts d)).
Proof. apply sparse_vector, ten_counts_sens. Qed.
Example first_large_count_monotone : dp_mech add_remove (prat 1 10) 0
  (fun d => above_threshold (over 2 (prat 1 10)) (over 2 (prat 1 10)) 20 (ten_counts d)).
Proof. apply sparse_vector_monotone, ten_counts_monotone. Qed.
(* the next cut depends on the answers so far *)
Example adaptive_cuts n : dp_mech (@add_remove Z) (prat 1 10) 0
  (interact (over 2 (prat 1 10)) (over 4 (prat 1 10)) 20 (fun past d => exceed d (Z.of_nat (length past) ^ 2)) n).
Proof.
  apply sparse_vector_adaptive; intros past d d' [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)];
    pose proof (exceed_step l1 x l2 (Z.of_nat (length past) ^ 2)); lia.
Qed.
