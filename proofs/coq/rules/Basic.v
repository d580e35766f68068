(* Basic composition, groups of records, disjoint parts, and the passage from
   add/remove to replace-one neighbours. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors Neighbours Renyi.
Import ListNotations.
Local Open Scope R_scope.

(* ---------- basic adaptive composition ---------- *)
Fixpoint dp_spends {D T} (adj : D -> D -> Prop) (p : process D T) (e0 d0 : R) : Prop :=
  match p with
  | Done => 0 <= e0 /\ 0 <= d0
  | Release m next => exists e d, 0 <= d0 - d /\ dp_mech adj e d m /\
      forall t, dp_spends adj (next t) (e0 - e) (d0 - d)
  end.

(** @theorem dp-filter
    If along every branch of a fully adaptive process the (eps_i, delta_i) of its
    releases (for neighbours adj) sum to at most (eps, delta), then the whole transcript
    is (eps, delta)-DP for adj. The parameters may depend on earlier outputs. *)
Theorem dp_filter {D T} eqd (adj : D -> D -> Prop) (p : process D T) :
  forall eps delta, dp_spends adj p eps delta -> dp_mech adj eps delta (run eqd p).
Proof.
  induction p as [|m next IH]; intros e0 d0 H d d' A.
  - destruct H; apply (dp_refl e0 d0 (dret (leqd eqd) [])); auto; apply pmf_ge0.
  - destruct H as (e & dl & Hd & Hm & Hn).
    replace e0 with (e + (e0 - e)) by ring; replace d0 with (dl + (d0 - dl)) by ring.
    apply (cons_dp eqd e dl (e0 - e) (d0 - dl) (m d) (m d')); auto.
    intros t; apply (IH t (e0 - e) (d0 - dl)); auto.
Qed.

(** @theorem compose-basic
    Mechanisms 1..n, each of which sees the data and all earlier outputs and is
    (eps_i, delta_i)-DP for adj whatever those outputs were: publishing all n outputs is
    (sum eps_i, sum delta_i)-DP for adj. *)
Theorem dp_sequence {D T} eqd (adj : D -> D -> Prop) (ms : list (list T -> D -> dist T)) (costs : list (R * R)) :
  Forall (fun c => 0 <= snd c) costs ->
  Forall2 (fun m c => forall past, dp_mech adj (fst c) (snd c) (m past)) ms costs ->
  dp_mech adj (rsum (map fst costs)) (rsum (map snd costs)) (run eqd (sequence ms [])).
Proof.
  intros H0 H; apply dp_filter; generalize (@nil T).
  induction H as [|m c ms costs Hm H IH]; intros past; simpl; [lra|].
  inversion H0 as [|? ? Hc Hcs]; subst.
  assert (0 <= rsum (map snd costs)).
  { clear - Hcs; induction Hcs as [|c l Hc Hcs IH]; simpl; lra. }
  exists (fst c), (snd c); split; [lra|split; [apply Hm|]]; intros t.
  replace (fst c + rsum (map fst costs) - fst c) with (rsum (map fst costs)) by ring.
  replace (snd c + rsum (map snd costs) - snd c) with (rsum (map snd costs)) by ring; auto.
Qed.

(** @theorem compose-basic-homogeneous
    n mechanisms, each of which sees all earlier outputs and is (eps, delta)-DP for adj:
    publishing all n outputs is (n eps, n delta)-DP for adj. *)
Theorem dp_sequence_same {D T} eqd (adj : D -> D -> Prop) (ms : list (list T -> D -> dist T)) eps delta :
  0 <= delta -> Forall (fun m => forall past, dp_mech adj eps delta (m past)) ms ->
  dp_mech adj (INR (length ms) * eps) (INR (length ms) * delta) (run eqd (sequence ms [])).
Proof.
  intros Hd H.
  pose proof (dp_sequence eqd adj ms (repeat (eps, delta) (length ms))) as S.
  rewrite !map_repeat, !rsum_repeat in S; apply S; clear S.
  - apply Forall_forall; intros c Hc; apply repeat_spec in Hc; subst; exact Hd.
  - induction H; simpl; constructor; auto.
Qed.

(* ---------- groups: chains of k neighbouring steps ---------- *)
Inductive chain {D} (adj : D -> D -> Prop) : nat -> D -> D -> Prop :=
| chain_0 d : chain adj 0 d d
| chain_S n d c d' : adj d c -> chain adj n c d' -> chain adj (S n) d d'.

Lemma dp_trans {T} e1 d1 e2 d2 (P S Q : T -> R) :
  dp e1 d1 P S -> dp e2 d2 S Q -> dp (e1 + e2) (d1 + exp e1 * d2) P Q.
Proof.
  intros H1 H2 l Hl; pose proof (H1 l Hl); pose proof (H2 l Hl) as H3.
  apply (Rmult_le_compat_l (exp e1)) in H3; [|left; apply exp_pos].
  rewrite exp_plus; lra.
Qed.
(* 1 + e^eps + ... + e^((k-1) eps) *)
Fixpoint geom (eps : R) (k : nat) : R :=
  match k with O => 0 | S k => 1 + exp eps * geom eps k end.
Lemma geom_closed eps k : eps <> 0 -> geom eps k = (exp (INR k * eps) - 1) / (exp eps - 1).
Proof.
  intros He; assert (exp eps - 1 <> 0).
  { intros E; apply He, exp_inv; rewrite exp_0; lra. }
  induction k as [|k IH]; [simpl; rewrite Rmult_0_l, exp_0; field; auto|].
  cbn [geom]; rewrite IH, S_INR, Rmult_plus_distr_r, exp_plus, Rmult_1_l; field; auto.
Qed.

(** @theorem group-approx
    M is (eps, delta)-DP for adj. For datasets that k steps of adj connect (k records
    of one group), M is (k eps, delta (1 + e^eps + ... + e^((k-1) eps)))-DP. *)
Theorem group_approx {D T} (adj : D -> D -> Prop) (M : D -> dist T) eps delta k :
  dp_mech adj eps delta M -> dp_mech (chain adj k) (INR k * eps) (delta * geom eps k) M.
Proof.
  intros H d d' C; induction C as [d|n d c d' A C IH].
  - simpl; rewrite Rmult_0_l, Rmult_0_r; apply dp_refl; [apply pmf_ge0|lra|lra].
  - rewrite S_INR; cbn [geom].
    replace ((INR n + 1) * eps) with (eps + INR n * eps) by ring.
    replace (delta * (1 + exp eps * geom eps n)) with (delta + exp eps * (delta * geom eps n)) by ring.
    apply (dp_trans _ _ _ _ (M d) (M c) (M d')); auto.
Qed.

(** @theorem group-pure
    M is eps-DP for adj. For datasets that k steps of adj connect, M is (k eps)-DP. *)
Theorem group_pure {D T} (adj : D -> D -> Prop) (M : D -> dist T) eps k :
  dp_mech adj eps 0 M -> dp_mech (chain adj k) (INR k * eps) 0 M.
Proof.
  intros H; pose proof (group_approx adj M eps 0 k H) as G; rewrite Rmult_0_l in G; exact G.
Qed.

(* zCDP: the square root of rho is a distance (Hoelder's inequality) *)
Lemma rterm_holder a p x y z (M1 M2 : R) : 1 < a -> 1 < p -> 0 < M1 -> 0 < M2 ->
  0 <= x -> 0 <= y -> 0 <= z -> (0 < x -> 0 < y) -> (0 < y -> 0 < z) ->
  rterm a x z <= exp (/ p * ln M1 + (1 - / p) * ln M2)
    * (/ p * (rterm (a * p) x y / M1) + (1 - / p) * (rterm (1 + (a - 1) * (p / (p - 1))) y z / M2)).
Proof.
  intros Ha Hp H1 H2 Hx Hy Hz Hxy Hyz.
  assert (Hip : 0 < / p < 1).
  { split; [apply Rinv_0_lt_compat; lra|]; rewrite <- Rinv_1; apply Rinv_lt_contravar; lra. }
  unfold rterm at 1; destruct (Rle_dec x 0) as [|Nx].
  { apply Rmult_le_pos; [left; apply exp_pos|].
    apply Rplus_le_le_0_compat; apply Rmult_le_pos; try lra; apply Rmult_le_pos;
      try apply rterm_ge0; left; now apply Rinv_0_lt_compat. }
  assert (x0 : 0 < x) by lra; assert (y0 := Hxy x0); assert (z0 := Hyz y0).
  unfold rterm; destruct (Rle_dec x 0); [easy|]; destruct (Rle_dec y 0); [lra|].
  set (X := ln x + (a * p - 1) * (ln x - ln y)).
  set (Y := ln y + (a - 1) * (p / (p - 1)) * (ln y - ln z)).
  replace (x * exp ((a * p - 1) * ln (x / y)) / M1) with (exp (X - ln M1)).
  2:{ unfold X, Rminus at 1; rewrite 2!exp_plus, exp_Ropp, !exp_ln, ln_div by auto; reflexivity. }
  replace (y * exp ((1 + (a - 1) * (p / (p - 1)) - 1) * ln (y / z)) / M2) with (exp (Y - ln M2)).
  2:{ replace (1 + (a - 1) * (p / (p - 1)) - 1) with ((a - 1) * (p / (p - 1))) by ring.
      unfold Y, Rminus at 1; rewrite 2!exp_plus, exp_Ropp, !exp_ln, ln_div by auto; reflexivity. }
  pose proof (exp_convex (/ p) (X - ln M1) (Y - ln M2) ltac:(lra)) as C.
  apply (Rmult_le_compat_l (exp (/ p * ln M1 + (1 - / p) * ln M2))) in C; [|left; apply exp_pos].
  eapply Rle_trans; [|exact C]; right; rewrite <- exp_plus, ln_div by auto.
  rewrite <- (exp_ln x) at 1 by auto; rewrite <- exp_plus; f_equal; unfold X, Y; field; lra.
Qed.
Lemma moment_triangle {T} a p M1 M2 (P S Q : T -> R) : 1 < a -> 1 < p -> 0 < M1 -> 0 < M2 ->
  (forall x, 0 <= P x) -> (forall x, 0 <= S x) -> (forall x, 0 <= Q x) ->
  moment (a * p) M1 P S -> moment (1 + (a - 1) * (p / (p - 1))) M2 S Q ->
  moment a (exp (/ p * ln M1 + (1 - / p) * ln M2)) P Q.
Proof.
  intros Ha Hp H1 H2 HP HS HQ [A1 B1] [A2 B2]; split; auto; intros l Hl.
  eapply Rle_trans; [apply lsum_le; intros x _; apply (rterm_holder a p (P x) (S x) (Q x) M1 M2); auto|].
  rewrite lsum_scal; set (c := exp _); assert (0 < c) by apply exp_pos.
  rewrite <- (Rmult_1_r c) at 2; apply Rmult_le_compat_l; [lra|].
  assert (Hip : 0 < / p < 1).
  { split; [apply Rinv_0_lt_compat; lra|]; rewrite <- Rinv_1; apply Rinv_lt_contravar; lra. }
  rewrite lsum_plus, !lsum_scal.
  assert (D : forall M f, 0 < M -> lsum f l <= M -> lsum (fun x : T => f x / M) l <= 1).
  { intros M f HM Hf; rewrite (lsum_ext _ (fun x => / M * f x)), lsum_scal by (intros; unfold Rdiv; ring).
    apply Rmult_le_reg_l with M; auto; rewrite <- Rmult_assoc, Rinv_r; lra. }
  pose proof (D M1 _ H1 (B1 l Hl)); pose proof (D M2 _ H2 (B2 l Hl)); nra.
Qed.
Theorem zcdp_triangle {T} r1 r2 (P S Q : T -> R) : 0 < r1 -> 0 < r2 ->
  (forall x, 0 <= P x) -> (forall x, 0 <= S x) -> (forall x, 0 <= Q x) ->
  zcdp (r1 * r1) P S -> zcdp (r2 * r2) S Q -> zcdp ((r1 + r2) * (r1 + r2)) P Q.
Proof.
  intros H1 H2 HP HS HQ [A1 B1] [A2 B2]; split; auto; intros a Ha.
  set (x := (a - 1) / a * (r2 / r1)).
  assert (Hx : 0 < x) by (apply Rmult_lt_0_compat; apply Rdiv_lt_0_compat; lra).
  set (p := 1 + x); assert (Hp : 1 < p) by (unfold p; lra).
  assert (Ho1 : 1 < a * p) by nra.
  assert (Ho2 : 1 < 1 + (a - 1) * (p / (p - 1))).
  { assert (0 < p / (p - 1)) by (apply Rdiv_lt_0_compat; lra); nra. }
  destruct (moment_triangle a p (exp ((a * p - 1) * (a * p * (r1 * r1))))
    (exp ((1 + (a - 1) * (p / (p - 1)) - 1) * ((1 + (a - 1) * (p / (p - 1))) * (r2 * r2)))) P S Q)
    as [_ B]; auto; try apply exp_pos; try (split; auto; fail).
  intros l Hl; eapply Rle_trans; [apply (B l Hl)|]; apply exp_le; rewrite !ln_exp.
  right; unfold p, x; field; repeat split; try lra; nra.
Qed.

(** @theorem group-zcdp
    M is rho-zCDP for adj. For datasets that k steps of adj connect, M is
    (k^2 rho)-zCDP. *)
Theorem group_zcdp {D T} (adj : D -> D -> Prop) (M : D -> dist T) rho k :
  0 < rho -> zcdp_mech adj rho M -> zcdp_mech (chain adj k) (INR k ^ 2 * rho) M.
Proof.
  intros Hr H d d' C; induction C as [d|n d c d' A C IH].
  - simpl; rewrite !Rmult_0_l; apply zcdp_refl; lra.
  - assert (Hs : 0 < sqrt rho) by now apply sqrt_lt_R0.
    assert (Es : sqrt rho * sqrt rho = rho) by (apply sqrt_sqrt; lra).
    set (s := sqrt rho) in *; clearbody s.
    destruct n as [|n].
    + replace (INR 1 ^ 2 * rho) with rho by (simpl; ring); inversion C; subst; auto.
    + assert (Hn : 0 < INR (S n)) by (apply lt_0_INR; lia).
      replace (INR (S (S n)) ^ 2 * rho)
        with ((s + INR (S n) * s) * (s + INR (S n) * s)).
      2:{ rewrite (S_INR (S n)), <- Es; ring. }
      apply (zcdp_triangle _ _ (M d) (M c) (M d')); auto using pmf_ge0.
      * now apply Rmult_lt_0_compat.
      * rewrite Es; now apply H.
      * replace (INR (S n) * s * (INR (S n) * s)) with (INR (S n) ^ 2 * rho) by (rewrite <- Es; ring); auto.
Qed.

(* ---------- replace-one from add/remove ---------- *)
Lemma replace_chain {U} (d d' : list U) : replace_one d d' -> chain add_remove 2 d d'.
Proof.
  intros H; destruct (replace_one_two_steps d d' H) as (c & A & B).
  repeat (econstructor; eauto).
Qed.
(** @theorem replace-from-addremove
    M is (eps, delta)-DP when one record is added or removed. When one record is
    replaced it is (2 eps, (1 + e^eps) delta)-DP. *)
Theorem replace_from_addremove {U T} (M : list U -> dist T) eps delta :
  dp_mech add_remove eps delta M -> dp_mech replace_one (2 * eps) ((1 + exp eps) * delta) M.
Proof.
  intros H d d' A; pose proof (group_approx add_remove M eps delta 2 H d d' (replace_chain d d' A)) as G.
  simpl in G; replace (1 + 1) with 2 in G by ring.
  replace (delta * (1 + exp eps * (1 + exp eps * 0))) with ((1 + exp eps) * delta) in G by ring; exact G.
Qed.
(** @theorem replace-from-addremove-zcdp
    M is rho-zCDP when one record is added or removed. When one record is replaced
    it is (4 rho)-zCDP. *)
Theorem replace_from_addremove_zcdp {U T} (M : list U -> dist T) rho :
  0 < rho -> zcdp_mech add_remove rho M -> zcdp_mech replace_one (4 * rho) M.
Proof.
  intros Hr H d d' A; pose proof (group_zcdp add_remove M rho 2 Hr H d d' (replace_chain d d' A)) as G.
  simpl in G; replace ((1 + 1) * ((1 + 1) * 1) * rho) with (4 * rho) in G by ring; exact G.
Qed.

(** @theorem replace-from-addremove-renyi
    When one record is added or removed, M has moments at most m1 at order 2a and m2 at order
    2a-1, for some a > 1. When one record is replaced, its moment of order a is at most
    sqrt(m1 m2). *)
Theorem replace_from_addremove_renyi {U T} (M : list U -> dist T) a m1 m2 :
  1 < a -> 0 < m1 -> 0 < m2 -> moment_mech add_remove (2 * a) m1 M -> moment_mech add_remove (2 * a - 1) m2 M ->
  moment_mech replace_one a (sqrt (m1 * m2)) M.
Proof.
  intros Ha H1 H2 A1 A2 d d' A; destruct (replace_one_two_steps d d' A) as (c & B1 & B2).
  replace (sqrt (m1 * m2)) with (exp (/ 2 * ln m1 + (1 - / 2) * ln m2)).
  - apply (moment_triangle a 2 m1 m2 (M d) (M c) (M d')); auto using pmf_ge0; try lra.
    + replace (a * 2) with (2 * a) by ring; now apply A1.
    + replace (1 + (a - 1) * (2 / (2 - 1))) with (2 * a - 1) by field; now apply A2.
  - rewrite <- (Rpower_sqrt (m1 * m2)) by nra; unfold Rpower; rewrite ln_mult by auto; f_equal; lra.
Qed.

(* ---------- disjoint parts ---------- *)
(* the data come in parts; neighbours differ in one part only, by adj *)
Definition in_one_part {E} (adj : E -> E -> Prop) (d d' : nat -> E) : Prop :=
  exists i, adj (d i) (d' i) /\ forall j, j <> i -> d j = d' j.
(* mechanism number j sees part j and all earlier outputs *)
Definition part_mechs {E T} (M : nat -> list T -> E -> dist T) (k : nat) : list (list T -> (nat -> E) -> dist T) :=
  map (fun j past d => M j past (d j)) (seq 0 k).

Lemma rsum_indicator i x s k : 0 <= x -> rsum (map (fun j => if Nat.eq_dec j i then x else 0) (seq s k)) <= x /\
  ((i < s)%nat -> rsum (map (fun j => if Nat.eq_dec j i then x else 0) (seq s k)) = 0).
Proof.
  intros Hx; revert s; induction k as [|k IH]; intros s; simpl; [lra|].
  destruct (IH (S s)) as [A B]; destruct (Nat.eq_dec s i) as [->|N].
  - split; [rewrite B by lia; lra|intros; lia].
  - split; [lra|intros; rewrite B by lia; lra].
Qed.

(** @theorem parallel
    The data come in k disjoint parts; neighbours differ in one part only, there by adj.
    One mechanism per part, each of which sees its part and all earlier outputs and is
    (eps, delta)-DP for adj: all k outputs together are (eps, delta)-DP. *)
Theorem parallel {E T} eqd (adj : E -> E -> Prop) (M : nat -> list T -> E -> dist T) k eps delta :
  0 <= eps -> 0 <= delta -> (forall j past, dp_mech adj eps delta (M j past)) ->
  dp_mech (in_one_part adj) eps delta (run eqd (sequence (part_mechs M k) [])).
Proof.
  intros He Hd H d d' (i & A & N).
  set (cost := fun j => if Nat.eq_dec j i then (eps, delta) else (0, 0)).
  pose proof (dp_sequence eqd (fun x y => x = d /\ y = d') (part_mechs M k) (map cost (seq 0 k))) as S.
  eapply dp_weaken; [apply pmf_ge0| | |apply S; auto].
  - rewrite map_map, (map_ext _ (fun j => if Nat.eq_dec j i then eps else 0))
      by (intros j; unfold cost; destruct (Nat.eq_dec j i); auto); now apply rsum_indicator.
  - rewrite map_map, (map_ext _ (fun j => if Nat.eq_dec j i then delta else 0))
      by (intros j; unfold cost; destruct (Nat.eq_dec j i); auto); now apply rsum_indicator.
  - apply Forall_forall; intros c Hc; apply in_map_iff in Hc; destruct Hc as (j & <- & _).
    unfold cost; destruct (Nat.eq_dec j i); simpl; lra.
  - unfold part_mechs; generalize (seq 0 k); induction l as [|j l IH]; simpl; constructor; auto.
    intros past x y [-> ->]; unfold cost; destruct (Nat.eq_dec j i) as [->|Nj]; simpl.
    + now apply H.
    + rewrite (N j Nj); apply dp_refl; [apply pmf_ge0|lra|lra].
Qed.
(** @theorem parallel-zcdp
    As parallel, for zCDP: one rho-zCDP mechanism per disjoint part, each of which may
    see all earlier outputs, is rho-zCDP in all. *)
Theorem parallel_zcdp {E T} eqd (adj : E -> E -> Prop) (M : nat -> list T -> E -> dist T) k rho :
  0 <= rho -> (forall j past, zcdp_mech adj rho (M j past)) ->
  zcdp_mech (in_one_part adj) rho (run eqd (sequence (part_mechs M k) [])).
Proof.
  intros Hr H d d' (i & A & N).
  set (cost := fun j => if Nat.eq_dec j i then rho else 0).
  pose proof (zcdp_sequence eqd (fun x y => x = d /\ y = d') (part_mechs M k) (map cost (seq 0 k))) as S.
  eapply zcdp_weaken; [|apply S; auto]; [now apply rsum_indicator|].
  unfold part_mechs; generalize (seq 0 k); induction l as [|j l IH]; simpl; constructor; auto.
  intros past x y [-> ->]; unfold cost; destruct (Nat.eq_dec j i) as [->|Nj]; simpl.
  - now apply H.
  - rewrite (N j Nj); apply zcdp_refl; lra.
Qed.

(* records are put into parts by a public function of their content *)
Definition split_by {U} (part : U -> nat) (d : list U) (j : nat) : list U :=
  filter (fun x => if Nat.eq_dec (part x) j then true else false) d.
Lemma split_add_remove {U} (part : U -> nat) (d d' : list U) :
  add_remove d d' -> in_one_part add_remove (split_by part d) (split_by part d').
Proof.
  assert (G : forall l1 (x : U) l2, let i := part x in
    adds_one (split_by part (l1 ++ l2) i) (split_by part (l1 ++ x :: l2) i) /\
    forall j, j <> i -> split_by part (l1 ++ l2) j = split_by part (l1 ++ x :: l2) j).
  { intros l1 x l2 i; unfold split_by; split.
    - exists (split_by part l1 i), x, (split_by part l2 i); unfold split_by; rewrite !filter_app; simpl.
      destruct (Nat.eq_dec (part x) i); [auto|easy].
    - intros j Hj; rewrite !filter_app; simpl; destruct (Nat.eq_dec (part x) j); [subst; easy|auto]. }
  intros [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; destruct (G l1 x l2) as [A B];
    exists (part x); split; [left; auto|auto|right; auto|intros j Hj; symmetry; auto].
Qed.
(** @theorem parallel-partition
    A public function puts each record into one of k parts. One mechanism per part, each
    of which sees its part and all earlier outputs and is (eps, delta)-DP when one record
    is added or removed: all k outputs together are (eps, delta)-DP when one record is
    added or removed. *)
Theorem parallel_partition {U T} eqd (part : U -> nat) (M : nat -> list T -> list U -> dist T) k eps delta :
  0 <= eps -> 0 <= delta -> (forall j past, dp_mech add_remove eps delta (M j past)) ->
  dp_mech add_remove eps delta (fun d => run eqd (sequence (part_mechs M k) []) (split_by part d)).
Proof. intros He Hd H d d' A; apply (parallel eqd add_remove M k eps delta); auto; now apply split_add_remove. Qed.

(* ---------- instances ---------- *)
Definition size_query (d : list Z) : list Z := [Z.of_nat (length d)].
Lemma size_sens : l1_sens add_remove size_query 1 /\ l2sq_sens add_remove size_query 1.
Proof.
  split; intros d d' [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; (split; [reflexivity|]); apply IZR_le;
    unfold size_query; simpl; rewrite !app_length; simpl; lia.
Qed.
Lemma size_laplace : dp_mech add_remove (1 / (2 / 1)) 0 (fun d => laplace_vec (prat 2 1) (size_query d)).
Proof. apply (laplace_vec_dp _ _ 1 (prat 2 1)), size_sens. Qed.
(* ten counts of scale 2: 10 * 1/2; one count, a group of three: 3 * 1/2;
   replaced: 1; seven disjoint parts: 1/2 *)
Example ten_counts : dp_mech add_remove (INR 10 * (1 / (2 / 1))) (INR 10 * 0)
  (run zvec_eq (sequence (repeat (fun _ d => laplace_vec (prat 2 1) (size_query d)) 10) [])).
Proof.
  apply (dp_sequence_same zvec_eq add_remove (repeat _ 10)); [lra|].
  apply Forall_forall; intros m Hm; apply repeat_spec in Hm; subst m; intros _; apply size_laplace.
Qed.
Example count_of_three : dp_mech (chain add_remove 3) (INR 3 * (1 / (2 / 1))) 0 (fun d => laplace_vec (prat 2 1) (size_query d)).
Proof. apply group_pure, size_laplace. Qed.
Example count_replaced : dp_mech replace_one (2 * (1 / (2 / 1))) ((1 + exp (1 / (2 / 1))) * 0) (fun d => laplace_vec (prat 2 1) (size_query d)).
Proof. apply replace_from_addremove, size_laplace. Qed.
Example counts_of_parts : dp_mech add_remove (1 / (2 / 1)) 0
  (fun d => run zvec_eq (sequence (part_mechs (fun _ _ d => laplace_vec (prat 2 1) (size_query d)) 7) [])
     (split_by (fun x => Z.to_nat (x mod 7)) d)).
Proof. apply parallel_partition; [lra|lra|]; intros _ _; apply size_laplace. Qed.
Example count_group_zcdp : zcdp_mech (chain add_remove 5) (INR 5 ^ 2 * (1 / (2 * (50 / 1))))
  (fun d => gauss_vec (prat 50 1) (size_query d)).
Proof. apply group_zcdp; [lra|]; apply (gauss_vec_zcdp _ _ 1 (prat 50 1)), size_sens. Qed.
(* the second query depends on the first answer *)
Example two_counts : dp_mech add_remove (1 / (2 / 1) + (1 / (2 / 1) + 0)) (0 + (0 + 0))
  (run zvec_eq (sequence [fun _ d => laplace_vec (prat 2 1) (size_query d);
     fun past d => laplace_vec (prat 2 1) (size_query (if (hd 0 (hd [] past) <? 0)%Z then map Z.opp d else d))] [])).
Proof.
  apply (dp_sequence zvec_eq add_remove _ [(1 / (2 / 1), 0); (1 / (2 / 1), 0)]); [repeat constructor; simpl; lra|].
  constructor; [intros _; apply size_laplace|constructor; [|constructor]].
  intros past d d' A; destruct (hd 0 (hd [] past) <? 0)%Z; apply size_laplace; auto.
  destruct A as [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; [left|right]; rewrite !map_app; simpl;
    exists (map Z.opp l1), (Z.opp x), (map Z.opp l2); auto.
Qed.
Example count_replaced_zcdp : zcdp_mech replace_one (4 * (1 / (2 * (50 / 1)))) (fun d => gauss_vec (prat 50 1) (size_query d)).
Proof. apply replace_from_addremove_zcdp; [lra|]; apply (gauss_vec_zcdp _ _ 1 (prat 50 1)), size_sens. Qed.
Example count_replaced_renyi : moment_mech replace_one 2
  (sqrt (exp ((2 * 2 - 1) * (2 * 2 * (1 / (2 * (50 / 1))))) * exp ((2 * 2 - 1 - 1) * ((2 * 2 - 1) * (1 / (2 * (50 / 1)))))))
  (fun d => gauss_vec (prat 50 1) (size_query d)).
Proof.
  apply replace_from_addremove_renyi; try lra; try apply exp_pos;
    intros d d' A; apply zcdp_moment; try lra; apply (gauss_vec_zcdp add_remove size_query 1 (prat 50 1)); auto; apply size_sens.
Qed.
Example counts_of_parts_zcdp : zcdp_mech (in_one_part add_remove) (1 / (2 * (50 / 1)))
  (run zvec_eq (sequence (part_mechs (fun _ _ d => gauss_vec (prat 50 1) (size_query d)) 7) [])).
Proof. apply parallel_zcdp; [lra|]; intros _ _; apply (gauss_vec_zcdp _ _ 1 (prat 50 1)), size_sens. Qed.
Example count_group_approx : dp_mech (chain add_remove 2) (INR 2 * (1 / (2 / 1))) (0 * geom (1 / (2 / 1)) 2)
  (fun d => laplace_vec (prat 2 1) (size_query d)).
Proof. apply group_approx, size_laplace. Qed.
