(* The binary-tree counter as a stream: nodes are released as they are closed, and
   what a record contributes may depend on everything released before. *)
From Coq Require Import Reals Lra Lia List ZArith Bool.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors Neighbours Renyi Basic.
From Assay.mechanisms Require Import Laplace Tree.
Import ListNotations.
Local Open Scope nat_scope.

(* Time step s: record s arrives; what it contributes may depend on everything
   released so far (a user reacts to the policy that she is shown).  Then the
   nodes that are due are released with fresh noise, and so on.  A dataset d
   is a stream: leaf d s past is the contribution of record s. *)
Section Stream.
Context {D : Type} (leaf : D -> nat -> list Z -> nat -> Z) (m : nat).
Let phi (x : nat -> Z) := x.
Variable noise : node -> Z -> dist Z.   (* the noise of a node may depend on the node *)
Fixpoint release_cells (cs : list (node * nat)) (acc : D -> list (nat -> Z)) (past : list Z)
  (next : list Z -> process D Z) : process D Z :=
  match cs with
  | [] => next past
  | nc :: cs => Release (fun d => noise (fst nc) (value phi (acc d) nc)) (fun y => release_cells cs acc (past ++ [y]) next)
  end.
(* sched: the nodes due after each record *)
Fixpoint stream (s : nat) (sched : list (list node)) (acc : D -> list (nat -> Z)) (past : list Z) : process D Z :=
  match sched with
  | [] => Done
  | ns :: sched =>
      let acc' := fun d => acc d ++ [leaf d s past] in
      release_cells (list_prod ns (seq 0 m)) acc' past (fun past => stream (S s) sched acc' past)
  end.

(* two streams differ in one record: given the same released past, all records
   but number i are the same, and record i differs by at most c *)
Definition one_record (dist_xy : (nat -> Z) -> (nat -> Z) -> Z) (c : Z) (d d' : D) : Prop :=
  exists i, forall past, (dist_xy (leaf d i past) (leaf d' i past) <= c)%Z /\
    forall s, s <> i -> leaf d s past = leaf d' s past.

(* up to now the two streams are equal (and i is still to come), or they differ
   exactly in record i *)
Definition apart (dist_xy : (nat -> Z) -> (nat -> Z) -> Z) (c : Z) (i s : nat) (a a' : list (nat -> Z)) : Prop :=
  length a = s /\
  ((a = a' /\ s <= i) \/
   exists l1 x y l2, a = l1 ++ x :: l2 /\ a' = l1 ++ y :: l2 /\ length l1 = i /\ (dist_xy x y <= c)%Z).
Lemma apart_step dxy c i s a a' x y : apart dxy c i s a a' ->
  (dxy x y <= c)%Z -> (s <> i -> x = y) -> apart dxy c i (S s) (a ++ [x]) (a' ++ [y]).
Proof.
  intros [HL H] Hc Hxy; split; [rewrite app_length; simpl; lia|].
  destruct H as [[<- Hi]|(l1 & u & v & l2 & -> & -> & Hl & Huv)].
  - destruct (Nat.eq_dec s i) as [->|N].
    + right; exists a, x, y, []; auto.
    + left; rewrite (Hxy N); split; [reflexivity|lia].
  - right; exists l1, u, v, (l2 ++ [x]); rewrite app_length in HL; simpl in HL.
    assert (s <> i) by lia; rewrite <- (Hxy H), <- !app_assoc; auto.
Qed.
End Stream.

Local Open Scope R_scope.
Section Budget.
Context {D : Type} (leaf : D -> nat -> list Z -> nat -> Z) (m : nat).
Let phi (x : nat -> Z) := x.
Variables d0 d0' : D.
Let pair_adj (d d' : D) : Prop := d = d0 /\ d' = d0'.

Lemma cells_dp (t : node -> posreal) cs acc next : forall past e,
  (forall past, dp_spends pair_adj (next past)
     (e - lsum (fun nc => IZR (Z.abs (value phi (acc d0) nc - value phi (acc d0') nc)) * / t (fst nc)) cs) 0) ->
  dp_spends pair_adj (release_cells (fun n => laplace (t n)) cs acc past next) e 0.
Proof.
  induction cs as [|nc cs IH]; intros past e H; simpl in *.
  - specialize (H past); rewrite Rminus_0_r in H; exact H.
  - exists (IZR (Z.abs (value phi (acc d0) nc - value phi (acc d0') nc)) / t (fst nc)), 0; split; [lra|split].
    + intros d d' [-> ->]; apply laplace_dp.
    + intros y; rewrite Rminus_0_r; apply IH; intros past'; specialize (H past').
      match goal with |- dp_spends _ _ ?r _ => match type of H with dp_spends _ _ ?r' _ =>
        replace r with r' by (unfold Rdiv; ring) end end; exact H.
Qed.
Lemma cells_zcdp (v : node -> posreal) cs acc next : forall past r,
  (forall past, zcdp_spends pair_adj (next past)
     (r - lsum (fun nc => IZR (let e := (value phi (acc d0) nc - value phi (acc d0') nc)%Z in (e * e)%Z) * / (2 * v (fst nc))) cs)) ->
  zcdp_spends pair_adj (release_cells (fun n => gauss (v n)) cs acc past next) r.
Proof.
  induction cs as [|nc cs IH]; intros past r H; simpl in *.
  - specialize (H past); rewrite Rminus_0_r in H; exact H.
  - exists (let e := (value phi (acc d0) nc - value phi (acc d0') nc)%Z in IZR (e * e) / (2 * v (fst nc))); split.
    + intros d d' [-> ->]; apply gauss_zcdp.
    + intros y; apply IH; intros past'; specialize (H past'); cbv zeta in *.
      match goal with |- zcdp_spends _ _ ?a => match type of H with zcdp_spends _ _ ?b =>
        replace a with b by (unfold Rdiv; ring) end end; exact H.
Qed.

(* the cost of the nodes ns when leaf i changes by c, the unit cost of node n being w n *)
Definition weight (w : node -> R) (i : nat) (ns : list node) : R := lsum (fun n => if covers n i then w n else 0) ns.
Lemma IZR_zs {A} (f : A -> Z) l : IZR (zs f l) = lsum (fun a => IZR (f a)) l.
Proof. induction l as [|a l IH]; simpl; auto; rewrite plus_IZR, IH; auto. Qed.
Lemma lsum_prod {A B} (F : A * B -> R) l l' : lsum F (list_prod l l') = lsum (fun a => lsum (fun b => F (a, b)) l') l.
Proof. induction l as [|a l IH]; simpl; [reflexivity|]; rewrite lsum_app, lsum_map, IH; auto. Qed.
(* h: the cost of one coordinate that moves by e *)
Lemma apart_cost (h : Z -> Z) dxy c i s a a' ns (w : node -> R) : h 0%Z = 0%Z -> (forall n, 0 <= w n) -> (0 <= c)%Z ->
  (forall x y, dxy x y = zs (fun k => h (phi x k - phi y k)%Z) (seq 0 m)) ->
  apart dxy c i s a a' ->
  lsum (fun nc => IZR (h (value phi a nc - value phi a' nc)%Z) * w (fst nc)) (list_prod ns (seq 0 m)) <= IZR c * weight w i ns.
Proof.
  intros H0 Hw Hc Hd [_ Ha]; unfold weight; rewrite lsum_prod, <- lsum_scal; apply lsum_le; intros n _.
  assert (Hc' : 0 <= IZR c) by now apply IZR_le.
  destruct Ha as [[<- _]|(l1 & x & y & l2 & -> & -> & <- & H)].
  - rewrite (lsum_ext _ (fun _ => 0 * 0)), lsum_scal by (intros; rewrite Z.sub_diag, H0; ring).
    specialize (Hw n); destruct (covers n i); nra.
  - rewrite (lsum_ext _ (fun k => w n * IZR (if covers n (length l1) then h (phi x k - phi y k)%Z else 0%Z))), lsum_scal.
    + specialize (Hw n); destruct (covers n (length l1)).
      * rewrite <- IZR_zs, <- Hd; apply IZR_le in H; nra.
      * rewrite (lsum_ext _ (fun _ => 0 * 0)), lsum_scal by (intros; ring); lra.
    + intros k _; rewrite value_replace; cbn [fst snd]; destruct (covers n (length l1)); rewrite ?H0; ring.
Qed.
Lemma weight_app w i l l' : weight w i (l ++ l') = weight w i l + weight w i l'.
Proof. apply lsum_app. Qed.

Lemma stream_dp (t : node -> posreal) c i sched : (0 <= c)%Z ->
  (forall past, (l1leaf phi m (leaf d0 i past) (leaf d0' i past) <= c)%Z /\
    forall s, s <> i -> leaf d0 s past = leaf d0' s past) ->
  forall s acc past e, apart (l1leaf phi m) c i s (acc d0) (acc d0') ->
  IZR c * weight (fun n => / t n) i (concat sched) <= e ->
  dp_spends pair_adj (stream leaf m (fun n => laplace (t n)) s sched acc past) e 0.
Proof.
  intros Hc Hi; induction sched as [|ns sched IH]; intros s acc past e Ha He; simpl in *.
  - split; [|lra]; unfold weight in He; simpl in He; lra.
  - rewrite weight_app in He.
    assert (Ha' : apart (l1leaf phi m) c i (S s) (acc d0 ++ [leaf d0 s past]) (acc d0' ++ [leaf d0' s past])).
    { destruct (Hi past) as [H1 H2]; apply apart_step; auto.
      destruct (Nat.eq_dec s i) as [->|N]; auto; rewrite (H2 s N).
      unfold l1leaf; rewrite (zs_ext _ (fun _ => 0%Z)), zs_zero by (intros; lia); lia. }
    apply (cells_dp t); intros past'; apply IH; [exact Ha'|].
    pose proof (apart_cost Z.abs (l1leaf phi m) c i (S s) _ _ ns (fun n => / t n) eq_refl
      (fun n => Rlt_le _ _ (Rinv_0_lt_compat _ (cond_pos (t n)))) Hc (fun _ _ => eq_refl) Ha') as C; lra.
Qed.
Lemma stream_zcdp (v : node -> posreal) c i sched : (0 <= c)%Z ->
  (forall past, (l2leaf phi m (leaf d0 i past) (leaf d0' i past) <= c)%Z /\
    forall s, s <> i -> leaf d0 s past = leaf d0' s past) ->
  forall s acc past e, apart (l2leaf phi m) c i s (acc d0) (acc d0') ->
  IZR c * weight (fun n => / (2 * v n)) i (concat sched) <= e ->
  zcdp_spends pair_adj (stream leaf m (fun n => gauss (v n)) s sched acc past) e.
Proof.
  intros Hc Hi; induction sched as [|ns sched IH]; intros s acc past e Ha He; simpl in *.
  - unfold weight in He; simpl in He; lra.
  - rewrite weight_app in He.
    assert (Ha' : apart (l2leaf phi m) c i (S s) (acc d0 ++ [leaf d0 s past]) (acc d0' ++ [leaf d0' s past])).
    { destruct (Hi past) as [H1 H2]; apply apart_step; auto.
      destruct (Nat.eq_dec s i) as [->|N]; auto; rewrite (H2 s N).
      unfold l2leaf; rewrite (zs_ext _ (fun _ => 0%Z)), zs_zero by (intros; now rewrite Z.sub_diag); lia. }
    apply (cells_zcdp v); intros past'; apply IH; [exact Ha'|].
    assert (Hw : forall n, 0 <= / (2 * v n)) by (intros n; left; apply Rinv_0_lt_compat; pose proof (cond_pos (v n)); lra).
    pose proof (apart_cost (fun e => (e * e)%Z) (l2leaf phi m) c i (S s) _ _ ns (fun n => / (2 * v n)) eq_refl
      Hw Hc (fun _ _ => eq_refl) Ha') as C; cbv beta zeta in *; lra.
Qed.
End Budget.

(* the nodes that end with record s (counted from 0), and among them the largest
   one, the only one that prefix sums need: its index is even *)
Definition ends (s : nat) (n : node) : bool := Nat.eqb (S (snd n) * 2 ^ fst n) (S s).
Definition due (K s : nat) : list node := filter (ends s) (nodes K).
Definition closed (K s : nat) : list node := filter (fun n => Nat.even (snd n)) (due K s).
Definition all_nodes (K : nat) : list (list node) := map (due K) (seq 0 K).
Definition closing (K : nat) : list (list node) := map (closed K) (seq 0 K).
(* no leaf lies in more than L nodes of the schedule *)
Definition touches_at_most (sched : list (list node)) (L : nat) : Prop :=
  forall i, (count (fun n => covers n i) (concat sched) <= L)%nat.
Lemma count_one {A} (q : A -> bool) l : NoDup l -> (forall a b, q a = true -> q b = true -> a = b) -> (count q l <= 1)%nat.
Proof.
  intros Hl Hq; induction Hl as [|a l Ha Hl IH]; [unfold count; simpl; lia|].
  unfold count in *; simpl; destruct (q a) eqn:E; simpl; [|lia].
  enough (length (filter q l) = 0)%nat by lia.
  destruct (filter q l) as [|b r] eqn:F; auto; exfalso.
  assert (Hb : In b (filter q l)) by (rewrite F; simpl; auto).
  apply filter_In in Hb; destruct Hb as [Hb Eb]; apply Ha; rewrite (Hq a b); auto.
Qed.
Lemma count_split {A B} (p : A -> bool) (f : B -> A -> bool) n ns l :
  count p (concat (map (fun s => filter (f s) (n :: ns)) l))
  = ((if p n then count (fun s => f s n) l else 0) + count p (concat (map (fun s => filter (f s) ns) l)))%nat.
Proof.
  induction l as [|s l IH]; cbn [map concat]; [unfold count; simpl; destruct (p n); lia|].
  rewrite !count_app, IH; unfold count; cbn [filter].
  destruct (f s n); cbn [filter]; destruct (p n); cbn [length]; lia.
Qed.
(* every node is due at most once *)
Lemma all_nodes_count K i : (count (fun n => covers n i) (concat (all_nodes K)) <= count (fun n => covers n i) (nodes K))%nat.
Proof.
  unfold all_nodes, due; induction (nodes K) as [|n ns IH].
  - induction (seq 0 K) as [|s l IHl]; simpl; auto.
  - rewrite (count_split _ ends).
    assert (count (fun s => ends s n) (seq 0 K) <= 1)%nat.
    { unfold ends; apply count_one; [apply seq_NoDup|]; intros a b Ea Eb; apply Nat.eqb_eq in Ea, Eb; lia. }
    rewrite (count_cons (fun n => covers n i) n ns); destruct (covers n i); [exact (Nat.add_le_mono _ _ _ _ H IH)|exact IH].
Qed.
Lemma nodes_touched K i : (count (fun n => covers n i) (nodes K) <= Nat.log2 K + 1)%nat.
Proof.
  unfold nodes.
  assert (G : forall l, (count (fun n => covers n i) (flat_map (level_nodes K) l) <= length l)%nat).
  { induction l as [|h l IH]; cbn [flat_map length]; auto; rewrite count_app; pose proof (proj1 (level_touched K h i)); lia. }
  specialize (G (seq 0 (S (Nat.log2 K)))); rewrite seq_length in G; lia.
Qed.
Lemma all_nodes_touch K : touches_at_most (all_nodes K) (Nat.log2 K + 1).
Proof. intros i; pose proof (all_nodes_count K i); pose proof (nodes_touched K i); lia. Qed.
Lemma count_filter {A} (p q : A -> bool) l : (count p (filter q l) <= count p l)%nat.
Proof. induction l as [|a l IH]; simpl; auto; destruct (q a); rewrite ?count_cons; lia. Qed.
Lemma closing_touch K : touches_at_most (closing K) (Nat.log2 K + 1).
Proof.
  intros i; eapply Nat.le_trans; [|apply (all_nodes_touch K i)]; unfold closing, all_nodes.
  induction (seq 0 K) as [|s l IH]; simpl; auto; rewrite !count_app.
  apply Nat.add_le_mono; [apply count_filter|exact IH].
Qed.
(* the nodes of a prefix sum are closed by then *)
Lemma prefix_closed K t n : (1 <= t <= K)%nat -> In n (prefix_nodes t) -> exists s, (s < t)%nat /\ In n (closed K s).
Proof.
  intros Ht Hn; pose proof (proj1 (@tree_prefix unit K t Ht) n Hn) as HK.
  apply in_map_iff in Hn; destruct Hn as (h & <- & Hh); apply filter_In in Hh; destruct Hh as [_ O].
  pose proof (pow2_pos h); pose proof (Nat.mul_div_le t (2 ^ h) ltac:(lia)).
  assert (t / 2 ^ h <> 0)%nat by (intros E; rewrite E in O; discriminate).
  set (b := (t / 2 ^ h)%nat) in *; exists (b * 2 ^ h - 1)%nat; split; [nia|].
  apply filter_In; split; [apply filter_In; split; [exact HK|]|].
  - unfold ends; cbn [fst snd]; apply Nat.eqb_eq; replace (S (b - 1)) with b by lia; nia.
  - cbn [snd]; replace b with (S (b - 1)) in O by lia; rewrite Nat.odd_succ in O; exact O.
Qed.

(* the transcript of a stream under a schedule; the records are leaves 1, 2, ...
   if skip is true (leaf 0 stays empty), else 0, 1, ... *)
Definition start (skip : bool) : list (nat -> Z) := if skip then [fun _ => 0%Z] else [].
Definition counter_from {D} (skip : bool) (leaf : D -> nat -> list Z -> nat -> Z) (m : nat) (sched : list (list node))
  (noise : node -> Z -> dist Z) (d : D) : dist (list Z) :=
  run Z.eq_dec (stream leaf m noise (length (start skip)) sched (fun _ => start skip) []) d.
Lemma start_apart dxy c i skip : (forall x, dxy x x = 0%Z) -> (0 <= c)%Z ->
  apart dxy c i (length (start skip)) (start skip) (start skip).
Proof.
  intros H0 Hc; split; auto; destruct skip; [|left; split; [reflexivity|simpl; lia]].
  destruct i as [|i]; [right|left; split; [reflexivity|simpl; lia]].
  exists [], (fun _ => 0%Z), (fun _ => 0%Z), []; rewrite H0; auto.
Qed.
Lemma counter_dp {D} skip (leaf : D -> nat -> list Z -> nat -> Z) m sched c B (t : node -> posreal) :
  (forall i, weight (fun n => / t n) i (concat sched) <= B) -> (0 <= c)%Z ->
  dp_mech (one_record leaf (l1leaf (fun x => x) m) c) (IZR c * B) 0 (counter_from skip leaf m sched (fun n => laplace (t n))).
Proof.
  intros HB Hc d d' [i Hi].
  apply (dp_filter Z.eq_dec (fun x y => x = d /\ y = d')); auto.
  apply (stream_dp leaf m d d' t c i sched); auto.
  - apply start_apart; auto; intros x; unfold l1leaf; rewrite (zs_ext _ (fun _ => 0%Z)), zs_zero by (intros; lia); lia.
  - apply Rmult_le_compat_l; [now apply IZR_le|apply HB].
Qed.
Lemma counter_zcdp {D} skip (leaf : D -> nat -> list Z -> nat -> Z) m sched c2 B (v : node -> posreal) :
  (forall i, weight (fun n => / (2 * v n)) i (concat sched) <= B) -> (0 <= c2)%Z ->
  zcdp_mech (one_record leaf (l2leaf (fun x => x) m) c2) (IZR c2 * B) (counter_from skip leaf m sched (fun n => gauss (v n))).
Proof.
  intros HB Hc d d' [i Hi].
  apply (zcdp_filter Z.eq_dec (fun x y => x = d /\ y = d')); auto.
  apply (stream_zcdp leaf m d d' v c2 i sched); auto.
  - apply start_apart; auto; intros x; unfold l2leaf; rewrite (zs_ext _ (fun _ => 0%Z)), zs_zero by (intros; now rewrite Z.sub_diag); lia.
  - apply Rmult_le_compat_l; [now apply IZR_le|apply HB].
Qed.
(* the same noise on every node *)
Lemma weight_const (w : R) i ns : weight (fun _ => w) i ns = INR (count (fun n => covers n i) ns) * w.
Proof.
  unfold weight; induction ns as [|n ns IH]; [simpl; ring|]; cbn [lsum]; rewrite IH, count_cons, plus_INR.
  destruct (covers n i); simpl; ring.
Qed.
Lemma weight_touch (w : R) sched L i : 0 <= w -> touches_at_most sched L -> weight (fun _ => w) i (concat sched) <= INR L * w.
Proof. intros Hw H; rewrite weight_const; apply Rmult_le_compat_r; auto; apply le_INR, H. Qed.
Lemma IZR_levels c L : IZR (c * Z.of_nat L) = IZR c * INR L.
Proof. rewrite mult_IZR, <- INR_IZR_INZ; reflexivity. Qed.
Definition counter {D} (leaf : D -> nat -> list Z -> nat -> Z) (m : nat) (sched : list (list node)) (noise : Z -> dist Z) :=
  counter_from false leaf m sched (fun _ => noise).

(** @theorem tree-laplace-adaptive
    Continual release: at each of K steps a record arrives, whose contribution (an
    integer vector of m coordinates) may depend on everything released before; then
    the node that the step closes is released with discrete Laplace noise of scale t.
    If two streams differ in one step, by at most c in l1 given the same past, the whole
    transcript is (c (floor(log2 K) + 1) / t)-DP. *)
Theorem tree_laplace_adaptive {D} (leaf : D -> nat -> list Z -> nat -> Z) m K c (t : posreal) : (0 <= c)%Z ->
  dp_mech (one_record leaf (l1leaf (fun x => x) m) c) (IZR (c * Z.of_nat (Nat.log2 K + 1)) / t) 0
    (counter leaf m (closing K) (laplace t)).
Proof.
  intros Hc; rewrite IZR_levels; unfold Rdiv; rewrite Rmult_assoc.
  apply (counter_dp false leaf m (closing K) c _ (fun _ => t)); auto; intros i.
  apply weight_touch; [left; apply Rinv_0_lt_compat, cond_pos|apply closing_touch].
Qed.
(** @theorem tree-gaussian-adaptive
    The same with discrete Gaussian noise: if two streams differ in one step, by at
    most c2 in squared l2 given the same past, the whole transcript is
    (c2 (floor(log2 K) + 1) / (2 sigma^2))-zCDP. *)
Theorem tree_gaussian_adaptive {D} (leaf : D -> nat -> list Z -> nat -> Z) m K c2 (sigma2 : posreal) : (0 <= c2)%Z ->
  zcdp_mech (one_record leaf (l2leaf (fun x => x) m) c2) (IZR (c2 * Z.of_nat (Nat.log2 K + 1)) / (2 * sigma2))
    (counter leaf m (closing K) (gauss sigma2)).
Proof.
  intros Hc; rewrite IZR_levels; unfold Rdiv; rewrite Rmult_assoc.
  apply (counter_zcdp false leaf m (closing K) c2 _ (fun _ => sigma2)); auto; intros i.
  apply weight_touch; [left; apply Rinv_0_lt_compat; pose proof (cond_pos sigma2); lra|apply closing_touch].
Qed.

(* ---------- no horizon ---------- *)
(* Records are leaves 1, 2, 3, ...; epoch e is leaves 2^e .. 2^(e+1) - 1, with a
   dyadic tree of e + 1 levels of its own: the nodes (h, j), j >= 1, with
   h + log2 j = e.  Noise grows with the number of levels. *)
Definition epoch (n : node) : nat := fst n + Nat.log2 (snd n).
Lemma grow_pos (b : posreal) n : 0 < b * INR (epoch n + 1).
Proof. apply Rmult_lt_0_compat; [apply cond_pos|apply lt_0_INR; lia]. Qed.
Definition grow (b : posreal) (n : node) : posreal := mkposreal _ (grow_pos b n).
Lemma covers_epoch n i : (1 <= snd n)%nat -> covers n i = true ->
  epoch n = Nat.log2 i /\ n = (fst n, (i / 2 ^ fst n)%nat) /\ (fst n <= Nat.log2 i)%nat.
Proof.
  destruct n as [h j]; unfold covers, epoch; cbn [fst snd]; intros Hj C; apply Nat.eqb_eq in C.
  pose proof (pow2_pos h); pose proof (Nat.mul_div_le i (2 ^ h) ltac:(lia)).
  assert (Hi : (2 ^ h <= i)%nat) by nia.
  assert (Hh : (h <= Nat.log2 i)%nat) by (apply Nat.log2_le_pow2; lia).
  split; [|split; [rewrite C; reflexivity|exact Hh]].
  rewrite <- C, <- Nat.shiftr_div_pow2, Nat.log2_shiftr; clear - Hh; lia.
Qed.
Lemma epoch_weight (w : R) ns i : 0 < w -> NoDup ns -> (forall n, In n ns -> (1 <= snd n)%nat) ->
  weight (fun n => w * / INR (epoch n + 1)) i ns <= w.
Proof.
  intros Hw Hns Hj; set (L := INR (Nat.log2 i + 1)).
  assert (HL : 0 < L) by (apply lt_0_INR; lia).
  assert (E : weight (fun n => w * / INR (epoch n + 1)) i ns = weight (fun _ => w * / L) i ns).
  { unfold weight; apply lsum_ext; intros n Hn; destruct (covers n i) eqn:C; auto.
    rewrite (proj1 (covers_epoch n i (Hj n Hn) C)); reflexivity. }
  rewrite E, weight_const.
  assert (HC : (count (fun n => covers n i) ns <= Nat.log2 i + 1)%nat).
  { unfold count; replace (Nat.log2 i + 1)%nat with (length (map (fun h => (h, (i / 2 ^ h)%nat)) (seq 0 (S (Nat.log2 i)))))
      by (rewrite map_length, seq_length; lia).
    apply NoDup_incl_length; [now apply NoDup_filter|].
    intros n Hn; apply filter_In in Hn; destruct Hn as [Hn C].
    destruct (covers_epoch n i (Hj n Hn) C) as (_ & En & Hh); rewrite En.
    apply (in_map (fun h => (h, (i / 2 ^ h)%nat))), in_seq; clear - Hh; lia. }
  apply le_INR in HC; fold L in HC.
  apply Rle_trans with (L * (w * / L)); [|right; field; lra].
  apply Rmult_le_compat_r; auto; left; apply Rmult_lt_0_compat; auto; now apply Rinv_0_lt_compat.
Qed.

(** @theorem tree-laplace-unbounded
    Continual release without a horizon: records are leaves 1, 2, ...; epoch e consists
    of leaves 2^e to 2^(e+1) - 1 with a tree of its own, and its nodes get discrete
    Laplace noise of scale b (e + 1). Any nodes of these trees may be released, each
    once, after any step; contributions may depend on everything released before. If
    two streams differ in one step by at most c in l1, the transcript is (c/b)-DP. *)
Theorem tree_laplace_unbounded {D} (leaf : D -> nat -> list Z -> nat -> Z) m sched c (b : posreal) : (0 <= c)%Z ->
  NoDup (concat sched) -> (forall n, In n (concat sched) -> (1 <= snd n)%nat) ->
  dp_mech (one_record leaf (l1leaf (fun x => x) m) c) (IZR c / b) 0
    (counter_from true leaf m sched (fun n => laplace (grow b n))).
Proof.
  intros Hc Hd Hj; pose proof (cond_pos b) as Hb.
  apply (counter_dp true leaf m sched c (/ b) (grow b)); auto; intros i.
  eapply Rle_trans; [right|apply (epoch_weight (/ b) (concat sched) i); auto; now apply Rinv_0_lt_compat].
  apply lsum_ext; intros n _; destruct (covers n i); auto; simpl pos.
  assert (0 < INR (epoch n + 1)) by (apply lt_0_INR; lia); field; lra.
Qed.
(** @theorem tree-gaussian-unbounded
    The same with discrete Gaussian noise of parameter sigma^2 (e + 1) in epoch e: if two
    streams differ in one step by at most c2 in squared l2, the transcript is
    (c2/(2 sigma^2))-zCDP. *)
Theorem tree_gaussian_unbounded {D} (leaf : D -> nat -> list Z -> nat -> Z) m sched c2 (sigma2 : posreal) : (0 <= c2)%Z ->
  NoDup (concat sched) -> (forall n, In n (concat sched) -> (1 <= snd n)%nat) ->
  zcdp_mech (one_record leaf (l2leaf (fun x => x) m) c2) (IZR c2 / (2 * sigma2))
    (counter_from true leaf m sched (fun n => gauss (grow sigma2 n))).
Proof.
  intros Hc Hd Hj; pose proof (cond_pos sigma2) as Hb.
  apply (counter_zcdp true leaf m sched c2 (/ (2 * sigma2)) (grow sigma2)); auto; intros i.
  eapply Rle_trans; [right|apply (epoch_weight (/ (2 * sigma2)) (concat sched) i); auto; apply Rinv_0_lt_compat; lra].
  apply lsum_ext; intros n _; destruct (covers n i); auto; simpl pos.
  assert (0 < INR (epoch n + 1)) by (apply lt_0_INR; lia); field; lra.
Qed.

(* ---------- instances ---------- *)
(* 1000 episodes, each a count vector in {0,1}^4 chosen after seeing the past; sigma^2 = 200 *)
Definition clip01 (z : Z) : Z := Z.max 0 (Z.min 1 z).
Lemma clip01_sq a b : ((clip01 a - clip01 b) * (clip01 a - clip01 b) <= 1)%Z.
Proof. assert (-1 <= clip01 a - clip01 b <= 1)%Z by (unfold clip01; lia); nia. Qed.
Example thousand_episodes (reply : Z -> list Z -> nat -> Z) :
  zcdp_mech (fun d d' : nat -> Z => exists i, forall s, s <> i -> d s = d' s) (40 / (2 * (200 / 1)))
    (counter (fun (d : nat -> Z) s past c => clip01 (reply (d s) past c)) 4 (closing 1000) (gauss (prat 200 1))).
Proof.
  intros d d' [i H].
  pose proof (tree_gaussian_adaptive (fun (d : nat -> Z) s past c => clip01 (reply (d s) past c)) 4 1000 4 (prat 200 1)) as G.
  assert (E : (4 * Z.of_nat (Nat.log2 1000 + 1) = 40)%Z) by reflexivity; rewrite E in G.
  apply G; [lia|]; exists i; intros past; split.
  - unfold l2leaf; cbn [seq zs fold_right].
    assert (Q := fun c => clip01_sq (reply (d i) past c) (reply (d' i) past c)).
    pose proof (Q 0%nat); pose proof (Q 1%nat); pose proof (Q 2%nat); pose proof (Q 3%nat); lia.
  - intros s N; rewrite (H s N); reflexivity.
Qed.
(* of the nodes over 8 leaves, step 4 (number 3) closes only the one of level 2 *)
Example step_four : closed 8 3 = [(2, 0)]%nat.
Proof. reflexivity. Qed.
(* steps 1, 2, 3 close nodes of epochs 0, 1, 1: leaf 1, leaf 2, leaves 2-3 *)
Example three_steps (reply : Z -> list Z -> nat -> Z) :
  dp_mech (fun d d' : nat -> Z => exists i, forall s, s <> i -> d s = d' s) (1 / (8 / 1)) 0
    (counter_from true (fun (d : nat -> Z) s past c => clip01 (reply (d s) past c)) 1
       [[(0, 1)]; [(0, 2)]; [(1, 1)]]%nat (fun n => laplace (grow (prat 8 1) n))).
Proof.
  intros d d' [i H]; apply (tree_laplace_unbounded _ 1 _ 1 (prat 8 1)); try lia.
  - repeat constructor; simpl; intuition congruence.
  - simpl; intros n [<-|[<-|[<-|[]]]]; simpl; lia.
  - exists i; intros past; split; [|intros s N; rewrite (H s N); reflexivity].
    unfold l1leaf, clip01; cbn [seq zs fold_right]; lia.
Qed.
