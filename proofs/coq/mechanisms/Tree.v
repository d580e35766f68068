(* The binary-tree counter.
   Leaves 0..K-1, one per time step; node (h, j) covers the leaves i with
   floor(i / 2^h) = j.  One record is one leaf.  Every node gets noise once;
   every prefix sum is a sum of few noisy nodes. *)
From Coq Require Import Reals Lra Lia List ZArith Bool.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors Neighbours Renyi.
From Assay.mechanisms Require Import Laplace.
Import ListNotations.
Local Open Scope nat_scope.

(* ---------- sums of integers ---------- *)
Definition zs {A} (f : A -> Z) (l : list A) : Z := fold_right (fun a s => (f a + s)%Z) 0%Z l.
Lemma zs_app {A} (f : A -> Z) l l' : zs f (l ++ l') = (zs f l + zs f l')%Z.
Proof. induction l as [|a l IH]; simpl; [lia|]; rewrite IH; lia. Qed.
Lemma zs_plus {A} (f g : A -> Z) l : zs (fun a => (f a + g a)%Z) l = (zs f l + zs g l)%Z.
Proof. induction l as [|a l IH]; simpl; [lia|]; rewrite IH; lia. Qed.
Lemma zs_ext {A} (f g : A -> Z) l : (forall a, f a = g a) -> zs f l = zs g l.
Proof. intros H; induction l as [|a l IH]; simpl; [lia|]; rewrite IH, H; lia. Qed.
Lemma zs_map {A B} (h : A -> B) (f : B -> Z) l : zs f (map h l) = zs (fun a => f (h a)) l.
Proof. induction l as [|a l IH]; simpl; [lia|]; rewrite IH; lia. Qed.
Lemma zs_zero {A} (l : list A) : zs (fun _ => 0%Z) l = 0%Z.
Proof. induction l as [|a l IH]; simpl; lia. Qed.
Lemma zs_ge0 {A} (f : A -> Z) l : (forall a, (0 <= f a)%Z) -> (0 <= zs f l)%Z.
Proof. intros H; induction l as [|a l IH]; simpl; [lia|]; specialize (H a); lia. Qed.
Lemma zs_prod {A B} (F : A * B -> Z) l l' : zs F (list_prod l l') = zs (fun a => zs (fun b => F (a, b)) l') l.
Proof. induction l as [|a l IH]; simpl; [reflexivity|]; rewrite zs_app, zs_map, IH; auto. Qed.
(* the number of a in l with p a *)
Definition count {A} (p : A -> bool) (l : list A) : nat := length (filter p l).
Lemma count_app {A} (p : A -> bool) l l' : count p (l ++ l') = count p l + count p l'.
Proof. unfold count; rewrite filter_app, app_length; auto. Qed.
Lemma zs_if {A} (p : A -> bool) (c : Z) l : zs (fun a => if p a then c else 0%Z) l = (Z.of_nat (count p l) * c)%Z.
Proof.
  unfold count; induction l as [|a l IH]; [reflexivity|].
  change (zs (fun a => if p a then c else 0%Z) (a :: l)) with ((if p a then c else 0) + zs (fun a => if p a then c else 0%Z) l)%Z.
  rewrite IH; cbn [filter]; destruct (p a); cbn [length]; rewrite ?Nat2Z.inj_succ; ring.
Qed.

Lemma count_cons {A} (p : A -> bool) a l : count p (a :: l) = (if p a then 1 else 0) + count p l.
Proof. unfold count; simpl; destruct (p a); auto. Qed.
Lemma count_le {A} (p : A -> bool) l : count p l <= length l.
Proof. unfold count; induction l as [|a l IH]; simpl; [lia|]; destruct (p a); simpl; lia. Qed.

(* ---------- nodes ---------- *)
Definition node := (nat * nat)%type.
Definition covers (n : node) (i : nat) : bool := Nat.eqb (i / 2 ^ fst n) (snd n).
(* all nodes of levels 0..floor(log2 K) that contain a leaf below K *)
Definition level_nodes (K h : nat) : list node := map (pair h) (seq 0 (S ((K - 1) / 2 ^ h))).
Definition nodes (K : nat) : list node := flat_map (level_nodes K) (seq 0 (S (Nat.log2 K))).

Lemma pow2_pos h : 0 < 2 ^ h.
Proof. apply Nat.neq_0_lt_0, Nat.pow_nonzero; lia. Qed.
Lemma filter_seq a s n : length (filter (Nat.eqb a) (seq s n)) = if (s <=? a) && (a <? s + n) then 1 else 0.
Proof.
  revert s; induction n as [|n IH]; intros s; cbn [seq filter].
  - destruct (Nat.leb_spec s a), (Nat.ltb_spec a (s + 0)); simpl; lia.
  - destruct (Nat.eqb_spec a s) as [->|N]; cbn [length]; rewrite IH.
    + destruct (Nat.leb_spec (S s) s), (Nat.leb_spec s s), (Nat.ltb_spec s (s + S n)); simpl; lia.
    + destruct (Nat.leb_spec (S s) a), (Nat.leb_spec s a), (Nat.ltb_spec a (S s + n)), (Nat.ltb_spec a (s + S n)); simpl; lia.
Qed.
Lemma level_touched K h i :
  count (fun n => covers n i) (level_nodes K h) <= 1 /\
  (i < K -> count (fun n => covers n i) (level_nodes K h) = 1).
Proof.
  unfold count, level_nodes.
  assert (E : forall l, filter (fun n => covers n i) (map (pair h) l) = map (pair h) (filter (Nat.eqb (i / 2 ^ h)) l)).
  { induction l as [|j l IH]; simpl; auto; unfold covers at 1; simpl; destruct (Nat.eqb (i / 2 ^ h) j); simpl; rewrite IH; auto. }
  rewrite E, map_length, filter_seq; split.
  { destruct (_ && _); lia. }
  intros Hi; assert (i / 2 ^ h <= (K - 1) / 2 ^ h) by (apply Nat.div_le_mono; [pose proof (pow2_pos h)|]; lia).
  destruct (Nat.leb_spec 0 (i / 2 ^ h)), (Nat.ltb_spec (i / 2 ^ h) (0 + S ((K - 1) / 2 ^ h))); simpl; lia.
Qed.

(** @theorem tree-nodes
    Among all nodes of the dyadic tree over K leaves (levels 0 to floor(log2 K))
    exactly floor(log2 K) + 1 contain a given leaf i < K, one on each level. *)
Theorem tree_nodes K i : i < K -> count (fun n => covers n i) (nodes K) = Nat.log2 K + 1.
Proof.
  intros Hi; unfold nodes.
  assert (G : forall l, count (fun n => covers n i) (flat_map (level_nodes K) l) = length l).
  { induction l as [|h l IH]; cbn [flat_map length]; auto; rewrite count_app, IH, (proj2 (level_touched K h i) Hi); auto. }
  rewrite G, seq_length; lia.
Qed.

(* ---------- node values ---------- *)
(* sum of f over the leaves i of d (numbered from s) with p i *)
Fixpoint isum {X} (p : nat -> bool) (f : X -> Z) (s : nat) (d : list X) : Z :=
  match d with [] => 0%Z | x :: d => ((if p s then f x else 0) + isum p f (S s) d)%Z end.
Lemma isum_replace {X} p (f : X -> Z) s l1 x y l2 :
  (isum p f s (l1 ++ x :: l2) - isum p f s (l1 ++ y :: l2))%Z = if p (s + length l1) then (f x - f y)%Z else 0%Z.
Proof.
  revert s; induction l1 as [|a l1 IH]; intros s; simpl.
  - rewrite Nat.add_0_r; destruct (p s); lia.
  - specialize (IH (S s)); replace (s + S (length l1)) with (S s + length l1) by lia.
    rewrite <- IH; lia.
Qed.

(* A record x contributes the integer vector phi x 0, ..., phi x (m-1). *)
Section Contribution.
Context {X : Type} (phi : X -> nat -> Z) (m : nat).
Definition l1leaf (x y : X) : Z := zs (fun c => Z.abs (phi x c - phi y c)) (seq 0 m).
Definition l2leaf (x y : X) : Z := zs (fun c => (phi x c - phi y c) * (phi x c - phi y c))%Z (seq 0 m).
(* coordinate c of node n *)
Definition value (d : list X) (nc : node * nat) : Z := isum (covers (fst nc)) (fun x => phi x (snd nc)) 0 d.
Definition cells (K : nat) : list (node * nat) := list_prod (nodes K) (seq 0 m).
(* every coordinate of every node *)
Definition tree_query (K : nat) (d : list X) : list Z := map (value d) (cells K).

Lemma absdist_map {A} (f g : A -> Z) l : absdist (map f l) (map g l) = zs (fun a => Z.abs (f a - g a)) l.
Proof. induction l as [|a l IH]; simpl; auto; rewrite IH; auto. Qed.
Lemma sqdist_map {A} (f g : A -> Z) l : sqdist (map f l) (map g l) = zs (fun a => (f a - g a) * (f a - g a))%Z l.
Proof. induction l as [|a l IH]; simpl; auto; rewrite IH; auto. Qed.
Lemma value_replace l1 x y l2 nc :
  (value (l1 ++ x :: l2) nc - value (l1 ++ y :: l2) nc)%Z
  = if covers (fst nc) (length l1) then (phi x (snd nc) - phi y (snd nc))%Z else 0%Z.
Proof. exact (isum_replace (covers (fst nc)) (fun x => phi x (snd nc)) 0 l1 x y l2). Qed.
(* what the nodes ns cost when leaf i changes from x to y *)
Lemma l1_nodes ns i x y :
  zs (fun nc => Z.abs (if covers (fst nc) i then (phi x (snd nc) - phi y (snd nc))%Z else 0%Z)) (list_prod ns (seq 0 m))
  = (Z.of_nat (count (fun n => covers n i) ns) * l1leaf x y)%Z.
Proof.
  rewrite zs_prod, <- zs_if; apply zs_ext; intros n; simpl; unfold l1leaf.
  destruct (covers n i); [reflexivity|]; etransitivity; [|apply (zs_zero (seq 0 m))]; apply zs_ext; reflexivity.
Qed.
Lemma l2_nodes ns i x y :
  zs (fun nc => let e := if covers (fst nc) i then (phi x (snd nc) - phi y (snd nc))%Z else 0%Z in (e * e)%Z)
    (list_prod ns (seq 0 m))
  = (Z.of_nat (count (fun n => covers n i) ns) * l2leaf x y)%Z.
Proof.
  rewrite zs_prod, <- zs_if; apply zs_ext; intros n; simpl; unfold l2leaf.
  destruct (covers n i); [reflexivity|]; etransitivity; [|apply (zs_zero (seq 0 m))]; apply zs_ext; reflexivity.
Qed.

(* the data is K records, K public; one of them is replaced *)
Definition replace_of (K : nat) (d d' : list X) : Prop := replace_one d d' /\ length d = K.
Lemma tree_distances K d d' : replace_of K d d' -> exists x y,
  absdist (tree_query K d) (tree_query K d') = ((Z.of_nat (Nat.log2 K) + 1) * l1leaf x y)%Z /\
  sqdist (tree_query K d) (tree_query K d') = ((Z.of_nat (Nat.log2 K) + 1) * l2leaf x y)%Z.
Proof.
  intros [(l1 & x & y & l2 & -> & ->) HK]; exists x, y.
  rewrite app_length in HK; simpl in HK.
  assert (C := tree_nodes K (length l1) ltac:(lia)).
  unfold tree_query; rewrite absdist_map, sqdist_map; split.
  - rewrite (zs_ext _ _ (cells K) (fun nc => f_equal Z.abs (value_replace l1 x y l2 nc))); unfold cells; rewrite l1_nodes, C; lia.
  - rewrite (zs_ext _ _ (cells K) (fun nc => f_equal (fun e => (e * e)%Z) (value_replace l1 x y l2 nc))); unfold cells.
    rewrite l2_nodes, C; lia.
Qed.
Lemma tree_l1 K c : (forall x y, (l1leaf x y <= c)%Z) ->
  l1_sens (replace_of K) (tree_query K) (IZR (c * (Z.of_nat (Nat.log2 K) + 1))).
Proof.
  intros Hc d d' A; split; [unfold tree_query; now rewrite !map_length|].
  destruct (tree_distances K d d' A) as (x & y & -> & _); apply IZR_le; specialize (Hc x y); nia.
Qed.
Lemma tree_l2 K c2 : (forall x y, (l2leaf x y <= c2)%Z) ->
  l2sq_sens (replace_of K) (tree_query K) (IZR (c2 * (Z.of_nat (Nat.log2 K) + 1))).
Proof.
  intros Hc d d' A; split; [unfold tree_query; now rewrite !map_length|].
  destruct (tree_distances K d d' A) as (x & y & _ & ->); apply IZR_le; specialize (Hc x y); nia.
Qed.

Local Open Scope R_scope.
(** @theorem tree-laplace
    K records, each contributing an integer vector; replacing one record changes its
    vector by at most c in l1. Releasing every node sum of the tree with discrete
    Laplace noise of scale t is (c (floor(log2 K) + 1) / t)-DP when one of the K
    records is replaced (K is public). *)
Theorem tree_laplace K c (t : posreal) : (forall x y, (l1leaf x y <= c)%Z) ->
  dp_mech (replace_of K) (IZR (c * (Z.of_nat (Nat.log2 K) + 1)) / t) 0 (fun d => laplace_vec t (tree_query K d)).
Proof. intros Hc; now apply laplace_vec_dp, tree_l1. Qed.
(** @theorem tree-gaussian
    The same with discrete Gaussian noise: if replacing one record changes its vector
    by at most c2 in squared l2, releasing every node sum is
    (c2 (floor(log2 K) + 1) / (2 sigma^2))-zCDP. *)
Theorem tree_gaussian K c2 (sigma2 : posreal) : (forall x y, (l2leaf x y <= c2)%Z) ->
  zcdp_mech (replace_of K) (IZR (c2 * (Z.of_nat (Nat.log2 K) + 1)) / (2 * sigma2)) (fun d => gauss_vec sigma2 (tree_query K d)).
Proof. intros Hc; now apply gauss_vec_zcdp, tree_l2. Qed.
End Contribution.

(* ---------- prefix sums ---------- *)
(* one node for each bit of t that is 1 *)
Definition bit_nodes (t L : nat) : list node :=
  map (fun h => (h, t / 2 ^ h - 1)) (filter (fun h => Nat.odd (t / 2 ^ h)) (seq 0 L)).
Definition prefix_nodes (t : nat) : list node := bit_nodes t (S (Nat.log2 t)).

Lemma bit_nodes_cover i t L :
  zs (fun n => if covers n i then 1%Z else 0%Z) (bit_nodes t L)
  = if (t / 2 ^ L <=? i / 2 ^ L) && (i <? t) then 1%Z else 0%Z.
Proof.
  induction L as [|L IH].
  - unfold bit_nodes; cbn [seq filter map zs fold_right]; rewrite Nat.pow_0_r, !Nat.div_1_r; destruct (Nat.leb_spec t i), (Nat.ltb_spec i t); simpl; lia.
  - unfold bit_nodes in *; rewrite seq_S, filter_app, map_app, zs_app, IH.
    cbn [filter Nat.add]; replace (2 ^ S L) with (2 ^ L * 2) by (simpl; lia).
    pose proof (pow2_pos L); rewrite <- !Nat.div_div by lia.
    set (a := i / 2 ^ L); set (b := t / 2 ^ L).
    assert (Hlt : i < t -> a <= b) by (intros; apply Nat.div_le_mono; lia).
    assert (Hge : t <= i -> b <= a) by (intros; apply Nat.div_le_mono; lia).
    pose proof (Nat.div_mod a 2 ltac:(lia)); pose proof (Nat.div_mod b 2 ltac:(lia)).
    pose proof (Nat.mod_upper_bound a 2 ltac:(lia)); pose proof (Nat.mod_upper_bound b 2 ltac:(lia)).
    destruct (Nat.odd b) eqn:O; cbn [map zs fold_right].
    + unfold covers; cbn [fst snd]; fold a; fold b.
      assert (b mod 2 = 1) by (apply Nat.odd_spec in O; destruct O as [k Hk]; rewrite Hk in *; lia).
      destruct (Nat.leb_spec b a), (Nat.ltb_spec i t), (Nat.leb_spec (b / 2) (a / 2)), (Nat.eqb_spec a (b - 1)); simpl; lia.
    + assert (b mod 2 = 0).
      { rewrite <- Nat.negb_even in O; apply negb_false_iff, Nat.even_spec in O; destruct O as [k Hk]; rewrite Hk in *; lia. }
      destruct (Nat.leb_spec b a), (Nat.ltb_spec i t), (Nat.leb_spec (b / 2) (a / 2)); simpl; lia.
Qed.
Lemma isum_nodes {X} (p : nat -> bool) (f : X -> Z) (ns : list node) : (forall i, zs (fun n => if covers n i then 1%Z else 0%Z) ns = if p i then 1%Z else 0%Z) ->
  forall s d, zs (fun n => isum (covers n) f s d) ns = isum p f s d.
Proof.
  intros H s d; revert s; induction d as [|x d IH]; intros s; simpl; [apply zs_zero|].
  rewrite zs_plus, IH; f_equal.
  rewrite zs_if; specialize (H s); rewrite zs_if in H; destruct (p s); nia.
Qed.

(** @theorem tree-prefix
    For every 1 <= t <= K the sum over the first t records is the sum of at most
    floor(log2 K) + 1 nodes of the tree over K leaves, in every coordinate: every
    prefix sum is a post-processing of that many released nodes. *)
Theorem tree_prefix {X} K t : 1 <= t <= K ->
  incl (prefix_nodes t) (nodes K) /\ length (prefix_nodes t) <= Nat.log2 K + 1 /\
  forall (f : X -> Z) d, isum (fun i => i <? t) f 0 d = zs (fun n => isum (covers n) f 0 d) (prefix_nodes t).
Proof.
  intros Ht; assert (HL : Nat.log2 t <= Nat.log2 K) by (apply Nat.log2_le_mono; lia).
  split; [|split].
  - intros n Hn; apply in_map_iff in Hn; destruct Hn as (h & <- & Hh).
    apply filter_In in Hh; destruct Hh as [Hh O]; apply in_seq in Hh.
    apply in_flat_map; exists h; split; [apply in_seq; lia|].
    apply in_map, in_seq; split; [lia|].
    pose proof (pow2_pos h); pose proof (Nat.mul_div_le t (2 ^ h) ltac:(lia)).
    assert (t / 2 ^ h <> 0) by (intros E; rewrite E in O; discriminate).
    assert (t / 2 ^ h - 1 <= (K - 1) / 2 ^ h); [|lia].
    apply Nat.div_le_lower_bound; [lia|nia].
  - unfold prefix_nodes, bit_nodes; rewrite map_length.
    pose proof (count_le (fun h => Nat.odd (t / 2 ^ h)) (seq 0 (S (Nat.log2 t)))) as F.
    rewrite seq_length in F; unfold count in F; lia.
  - intros f d; symmetry; apply isum_nodes; intros i; unfold prefix_nodes; rewrite bit_nodes_cover.
    assert (E : t / 2 ^ S (Nat.log2 t) = 0) by (apply Nat.div_small, Nat.log2_spec; lia).
    rewrite E; reflexivity.
Qed.

Local Open Scope R_scope.
(* ---------- instances ---------- *)
(* 1000 people, one bit each: 10 nodes a person, eps = 10/20 *)
Example thousand_bits : dp_mech (replace_of 1000) (10 / (20 / 1)) 0
  (fun d => laplace_vec (prat 20 1) (tree_query (fun (b : bool) (_ : nat) => if b then 1%Z else 0%Z) 1 1000 d)).
Proof.
  pose proof (tree_laplace (fun (b : bool) (_ : nat) => if b then 1%Z else 0%Z) 1 1000 1 (prat 20 1)) as H.
  assert (E : (1 * (Z.of_nat (Nat.log2 1000) + 1) = 10)%Z) by reflexivity; rewrite E in H.
  apply H; intros [|] [|]; vm_compute; discriminate.
Qed.
(* the first 13 = 8 + 4 + 1 records are 3 of the nodes over 1000 leaves *)
Example thirteen : prefix_nodes 13 = [(0, 12); (2, 2); (3, 0)]%nat.
Proof. reflexivity. Qed.
