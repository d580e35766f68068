(* The predicates of the ACSL contracts in mechanisms/*.h, letter for letter, and the proof that they state the executable
   samplers of this folder: if a predicate holds between positions p and q of the tape, the sampler started at p returns
   the stated value and stops at q. *)
From Coq Require Import Reals Lia List ZArith.
From Assay.samplers Require Import Tape Uniform Bernoulli BernoulliExp Geometric Laplace Gaussian Permutation.
Import List ListNotations.
Local Open Scope Z_scope.

Section Contracts.
Variable TapeWord : nat -> Z.

Definition slice (p q : nat) : list Z := map TapeWord (seq p (q - p)).
(* s started at p returns v and has read the words p, ..., q - 1 *)
Definition reads {A} (s : sampler A) (p : nat) (v : A) (q : nat) : Prop :=
  (p <= q)%nat /\ forall r, s (slice p q ++ r) = Some (v, r).

Lemma slice_app p m q : (p <= m <= q)%nat -> slice p q = slice p m ++ slice m q.
Proof.
  intros H; unfold slice; rewrite <- map_app; f_equal; replace (q - p)%nat with ((m - p) + (q - m))%nat by lia.
  rewrite seq_app; do 2 f_equal; lia.
Qed.
Lemma reads_ret {A} (v : A) p : reads (ret v) p v p.
Proof. split; [lia|]; intros r; unfold slice; rewrite Nat.sub_diag; reflexivity. Qed.
Lemma reads_bind {A B} (s : sampler A) (k : A -> sampler B) p a m b q :
  reads s p a m -> reads (k a) m b q -> reads (bind s k) p b q.
Proof.
  intros [H1 Hs] [H2 Hk]; split; [lia|]; intros r; unfold bind; rewrite (slice_app p m q), <- app_assoc, Hs by lia; auto.
Qed.
Lemma reads_map {A B} (h : A -> B) (s : sampler A) p a q : reads s p a q -> reads (smap h s) p (h a) q.
Proof. intros H; eapply reads_bind; [exact H|apply reads_ret]. Qed.
Lemma reads_word p : reads word p (TapeWord p) (S p).
Proof. split; [lia|]; intros r; unfold slice; replace (S p - p)%nat with 1%nat by lia; reflexivity. Qed.
Lemma reads_more {S A} (body : S -> sampler (S + A)) x y p m a q : (forall x, eats (body x)) ->
  reads (body x) p (inl y) m -> reads (loop body y) m a q -> reads (loop body x) p a q.
Proof.
  intros He H1 H2; pose proof (reads_bind (body x) (fun o => match o with inl y => loop body y | inr a => ret a end)
    p (inl y) m a q H1 H2) as [H3 H4].
  split; auto; intros r; rewrite loop_eq; auto.
Qed.
Lemma reads_stop {S A} (body : S -> sampler (S + A)) x p a q : (forall x, eats (body x)) ->
  reads (body x) p (inr a) q -> reads (loop body x) p a q.
Proof.
  intros He H1; pose proof (reads_bind (body x) (fun o => match o with inl y => loop body y | inr a => ret a end)
    p (inr a) q a q H1 (reads_ret a q)) as [H3 H4].
  split; auto; intros r; rewrite loop_eq; auto.
Qed.
Lemma reads_again {A} (s : sampler (option A)) p m a q : eats s ->
  reads s p None m -> reads (retry s) m a q -> reads (retry s) p a q.
Proof.
  intros He H1 H2; unfold retry; eapply reads_more; [intros; now apply eats_map| |exact H2].
  apply (reads_map again _ _ None); exact H1.
Qed.
Lemma reads_done {A} (s : sampler (option A)) p a q : eats s -> reads s p (Some a) q -> reads (retry s) p a q.
Proof.
  intros He H1; unfold retry; apply reads_stop; [intros; now apply eats_map|].
  apply (reads_map again _ _ (Some a)); exact H1.
Qed.
Lemma reads_unique {A} (s : sampler A) p v q v' q' : pd s -> reads s p v q -> reads s p v' q' -> v = v' /\ q = q'.
Proof.
  intros Hs [H1 H2] [H3 H4]; destruct (le_ge_dec q q') as [L|L].
  - specialize (H4 []); rewrite (slice_app p q q'), <- app_assoc, H2 in H4 by lia; injection H4 as -> E.
    split; auto; rewrite app_nil_r in E; apply (f_equal (@length Z)) in E; unfold slice in E; rewrite map_length, seq_length in E; simpl in E; lia.
  - specialize (H2 []); rewrite (slice_app p q' q), <- app_assoc, H4 in H2 by lia; injection H2 as -> E.
    split; auto; rewrite app_nil_r in E; apply (f_equal (@length Z)) in E; unfold slice in E; rewrite map_length, seq_length in E; simpl in E; lia.
Qed.

(* ---------- uniform.h ---------- *)
Definition UniformLimit (n : Z) : Z := 18446744073709551616 / n * n.
Definition Uniform (n : Z) (p : nat) (v : Z) (q : nat) : Prop :=
  (p < q)%nat /\ (forall i, (p <= i < q - 1)%nat -> TapeWord i >= UniformLimit n) /\
  TapeWord (q - 1) < UniformLimit n /\ v = TapeWord (q - 1) mod n.
Lemma one_word n : 1 <= n < W -> num_words n = 1%nat.
Proof.
  intros H; unfold num_words; rewrite Z.div_small; auto; split; [apply Z.log2_nonneg|].
  apply Z.log2_lt_pow2; [lia|]; rewrite W_pow in H; exact (proj2 H).
Qed.
Lemma W_lit : W = 18446744073709551616. Proof. rewrite W_pow; reflexivity. Qed.
Lemma uniform_try_1 n v : uniform_try n 1 v = if UniformLimit n <=? v then None else Some (v mod n).
Proof. unfold uniform_try, UniformLimit; rewrite Z.pow_1_r, W_lit; reflexivity. Qed.
(** @theorem contract-uniform
    If the contract predicate Uniform(n, p, v, q) holds, 1 <= n < 2^64, then uniform(n) started at p returns v and stops
    at q. *)
Theorem contract_uniform n p v q : 1 <= n < W -> Uniform n p v q -> reads (uniform n) p v q.
Proof.
  intros Hn [H1 [H2 [H3 ->]]]; unfold uniform; rewrite one_word by auto.
  remember (q - 1 - p)%nat as k eqn:Ek; revert p Ek H1 H2; induction k as [|k IH]; intros p Ek H1 H2.
  - apply reads_done; [apply eats_map, eats_words; lia|]; replace q with (S p) in * by lia.
    replace (S p - 1)%nat with p in * by lia.
    replace (Some (TapeWord p mod n)) with (uniform_try n 1 (TapeWord p))
      by (rewrite uniform_try_1; destruct (Z.leb_spec (UniformLimit n) (TapeWord p)); [lia|auto]).
    apply reads_map; eapply reads_bind; [apply reads_word|]; cbn; apply reads_ret.
  - apply reads_again with (m := S p); [apply eats_map, eats_words; lia| |apply IH; try lia; intros; apply H2; lia].
    replace None with (uniform_try n 1 (TapeWord p)).
    + apply reads_map; eapply reads_bind; [apply reads_word|]; cbn; apply reads_ret.
    + rewrite uniform_try_1; destruct (Z.leb_spec (UniformLimit n) (TapeWord p)); auto.
      specialize (H2 p ltac:(lia)); lia.
Qed.

(* ---------- bernoulli.h ---------- *)
Inductive Bernoulli (a b : Z) (p : nat) : Z -> nat -> Prop :=
| bernoulli_yes v q : Uniform b p v q -> v < a -> Bernoulli a b p 1 q
| bernoulli_no v q : Uniform b p v q -> v >= a -> Bernoulli a b p 0 q.
Inductive UnitRounds (a b : Z) (p : nat) : Z -> nat -> Prop :=
| unit_start : UnitRounds a b p 1 p
| unit_round K q r s : UnitRounds a b p K q -> Bernoulli a b q 1 r -> Uniform K r 0 s -> UnitRounds a b p (K + 1) s.
Inductive BernoulliExpUnit (a b : Z) (p : nat) : Z -> nat -> Prop :=
| unit_first K r q : UnitRounds a b p K r -> Bernoulli a b r 0 q -> BernoulliExpUnit a b p (K mod 2) q
| unit_second K r s v q : UnitRounds a b p K r -> Bernoulli a b r 1 s -> Uniform K s v q -> v <> 0 ->
    BernoulliExpUnit a b p (K mod 2) q.
Inductive Ones (p : nat) : Z -> nat -> Prop :=
| ones_none : Ones p 0 p
| ones_more g q r : Ones p g q -> BernoulliExpUnit 1 1 q 1 r -> Ones p (g + 1) r.
Inductive BernoulliExp (a b : Z) (p : nat) : Z -> nat -> Prop :=
| exp_whole g r q : Ones p g r -> g < a / b -> BernoulliExpUnit 1 1 r 0 q -> BernoulliExp a b p 0 q
| exp_rest r bit q : Ones p (a / b) r -> BernoulliExpUnit (a mod b) b r bit q -> BernoulliExp a b p bit q.

Lemma contract_bernoulli a b p bit q : 1 <= b < W -> Bernoulli a b p bit q -> reads (bernoulli a b) p (bit =? 1) q.
Proof.
  intros Hb [v q' Hu Hv|v q' Hu Hv]; apply contract_uniform in Hu; auto; apply (reads_map (fun u => u <? a)) in Hu.
  - replace (v <? a) with true in Hu by (symmetry; apply Z.ltb_lt; lia); exact Hu.
  - replace (v <? a) with false in Hu by (symmetry; apply Z.ltb_ge; lia); exact Hu.
Qed.
(* the tape is finite, so that K stays below 2^64: the C code returns ASSAY_RANGE before *)
Definition shorter (q : nat) : Prop := Z.of_nat q < W - 1.
Lemma rounds_pos a b p K q : UnitRounds a b p K q -> 1 <= K /\ K <= 1 + (Z.of_nat q - Z.of_nat p).
Proof.
  induction 1 as [|K q r s H IH Hb Hu]; [lia|]; destruct Hu as [Hu _].
  assert (q < r)%nat by (destruct Hb as [v r' [Hv _] _|v r' [Hv _] _]; auto); lia.
Qed.
Lemma contract_rounds a b p K q v e : 1 <= b < W -> shorter q -> UnitRounds a b p K q ->
  reads (loop (bexp_round a b) K) q v e -> reads (loop (bexp_round a b) 1) p v e.
Proof.
  intros Hb Hq H; induction H as [|K q r s H IH H1 H2]; auto; intros Hl.
  assert (q < r < s)%nat by (destruct H2 as [H2 _]; destruct H1 as [x r' [Hv _] _|x r' [Hv _] _]; lia).
  pose proof (rounds_pos _ _ _ _ _ H); apply IH; [unfold shorter in *; lia|].
  eapply reads_more; [auto with smp| |exact Hl]; unfold bexp_round.
  eapply reads_bind; [apply contract_bernoulli; [exact Hb|exact H1]|]; simpl.
  apply (reads_map (fun u => if u =? 0 then inl (K + 1) else inr (Z.odd K)) (uniform K) r 0 s).
  apply contract_uniform; auto; unfold shorter in Hq; lia.
Qed.
Lemma odd_mod K : (K mod 2 =? 1) = Z.odd K.
Proof. rewrite Zmod_odd; destruct (Z.odd K); auto. Qed.
(** @theorem contract-bernoulli-exp-unit
    If the contract predicate BernoulliExpUnit(a, b, p, bit, q) holds, 0 < b < 2^64 and q < 2^64 - 1, then bernoulli_exp_unit(a, b)
    started at p returns the bit and stops at q. *)
Theorem contract_bernoulli_exp_unit a b p bit q : 1 <= b < W -> shorter q -> BernoulliExpUnit a b p bit q ->
  reads (bernoulli_exp_unit a b) p (bit =? 1) q.
Proof.
  intros Hb Hq H; revert Hq; destruct H as [K r q' H1 H2|K r s v q' H1 H2 H3 H4]; intros Hq; rewrite odd_mod; unfold bernoulli_exp_unit.
  - assert (r < q')%nat by (destruct H2 as [x r' [Hv _] _|x r' [Hv _] _]; lia).
    apply (contract_rounds a b p K r); [exact Hb|unfold shorter in *; lia|exact H1|].
    apply reads_stop; [auto with smp|]; unfold bexp_round.
    eapply reads_bind; [apply contract_bernoulli; [exact Hb|exact H2]|]; simpl; apply reads_ret.
  - assert (r < s < q')%nat by (destruct H3 as [H3 _]; destruct H2 as [x r' [Hv _] _|x r' [Hv _] _]; lia).
    pose proof (rounds_pos _ _ _ _ _ H1).
    apply (contract_rounds a b p K r); [exact Hb|unfold shorter in *; lia|exact H1|].
    apply reads_stop; [auto with smp|]; unfold bexp_round.
    eapply reads_bind; [apply contract_bernoulli; [exact Hb|exact H2]|]; simpl.
    assert (HK : 1 <= K < W) by (unfold shorter in Hq; lia).
    pose proof (reads_map (fun u => if u =? 0 then inl (K + 1) else inr (Z.odd K)) _ _ _ _ (contract_uniform K s v q' HK H3)) as R.
    cbv beta in R; destruct (Z.eqb_spec v 0) in R; [contradiction|exact R].
Qed.
Lemma unit_order a b p bit q : BernoulliExpUnit a b p bit q -> (p < q)%nat.
Proof.
  assert (R : forall K r, UnitRounds a b p K r -> (p <= r)%nat).
  { induction 1 as [|K q' r s H IH Hb Hu]; [lia|]; destruct Hu as [Hu _].
    destruct Hb as [v r' [Hv _] _|v r' [Hv _] _]; lia. }
  intros [K r q' H1 H2|K r s v q' H1 H2 [H3 _] H4]; apply R in H1; destruct H2 as [x r' [Hv _] _|x r' [Hv _] _]; lia.
Qed.
Lemma ones_order p g q : Ones p g q -> (p <= q)%nat /\ 0 <= g.
Proof. induction 1 as [|g q r H IH Hu]; [lia|]; apply unit_order in Hu; lia. Qed.
(** @theorem contract-bernoulli-exp
    If the contract predicate BernoulliExp(a, b, p, bit, q) holds, 0 <= a, 0 < b < 2^64 and q < 2^64 - 1, then bernoulli_exp(a, b)
    started at p returns the bit and stops at q. *)
Theorem contract_bernoulli_exp a b p bit q : 0 <= a -> 1 <= b < W -> shorter q -> BernoulliExp a b p bit q ->
  reads (bernoulli_exp a b) p (bit =? 1) q.
Proof.
  intros Ha Hb Hq H; unfold bernoulli_exp.
  assert (L : forall g r v e, Ones p g r -> g <= a / b -> shorter r -> reads (loop (bexp_unit_step a b) (a / b - g)) r v e ->
    reads (loop (bexp_unit_step a b) (a / b)) p v e).
  { intros g r v e H1; induction H1 as [|g q' r H1 IH Hu]; intros Hg Hr Hl; [now rewrite Z.sub_0_r in Hl|].
    pose proof (unit_order _ _ _ _ _ Hu); apply IH; [lia|unfold shorter in *; lia|].
    eapply reads_more; [auto with smp| |exact Hl]; unfold bexp_unit_step.
    destruct (Z.ltb_spec 0 (a / b - g)); [|lia]; replace (a / b - (g + 1)) with (a / b - g - 1) by lia.
    apply (reads_map (fun b0 : bool => if b0 then inl (a / b - g - 1) else inr false) _ _ true).
    apply (contract_bernoulli_exp_unit 1 1 q' 1 r); auto; pose proof W_pos; lia. }
  revert Hq; destruct H as [g r q' H1 H2 H3|r bit q' H1 H3]; intros Hq; pose proof (unit_order _ _ _ _ _ H3).
  - apply (L g r); auto; [lia|unfold shorter in *; lia|]; apply reads_stop; [auto with smp|]; unfold bexp_unit_step.
    destruct (Z.ltb_spec 0 (a / b - g)); [|lia].
    apply (reads_map (fun b0 : bool => if b0 then inl (a / b - g - 1) else inr false) _ _ false).
    apply (contract_bernoulli_exp_unit 1 1 r 0 q'); auto; pose proof W_pos; lia.
  - apply (L (a / b) r); auto; [lia|unfold shorter in *; lia|]; apply reads_stop; [auto with smp|]; unfold bexp_unit_step.
    rewrite Z.sub_diag; simpl; apply reads_map; now apply contract_bernoulli_exp_unit.
Qed.

(* ---------- geometric.h ---------- *)
Inductive GeometricRejected (t : Z) (p : nat) : nat -> Prop :=
| geometric_none : GeometricRejected t p p
| geometric_more q u r s : GeometricRejected t p q -> Uniform t q u r -> BernoulliExpUnit u t r 0 s -> GeometricRejected t p s.
Inductive GeometricLow (t : Z) (p : nat) : Z -> nat -> Prop :=
| geometric_low u q0 q1 q : GeometricRejected t p q0 -> Uniform t q0 u q1 -> BernoulliExpUnit u t q1 1 q -> GeometricLow t p u q.
Inductive Geometric (s t : Z) (p : nat) : Z -> nat -> Prop :=
| geometric_value u V x q2 q3 q : GeometricLow t p u q2 -> Ones q2 V q3 -> BernoulliExpUnit 1 1 q3 0 q -> x = u + t * V ->
    Geometric s t p (x / s) q.
Definition geo_round (t : Z) := bind (uniform t) (fun u => smap (fun b : bool => if b then Some u else None) (bernoulli_exp_unit u t)).
Lemma eats_geo_round t : eats (geo_round t).
Proof. unfold geo_round; auto 7 with smp. Qed.
Lemma contract_geo_round t q u r bit s : 1 <= t < W -> shorter s -> Uniform t q u r -> BernoulliExpUnit u t r bit s ->
  reads (geo_round t) q (if bit =? 1 then Some u else None) s.
Proof.
  intros Ht Hs Hu He; eapply reads_bind; [apply contract_uniform; [exact Ht|exact Hu]|].
  apply (reads_map (fun b : bool => if b then Some u else None)); now apply contract_bernoulli_exp_unit.
Qed.
Lemma geometric_order s t p y q : Geometric s t p y q -> (p < q)%nat.
Proof.
  intros [u V x q2 q3 q' H1 H2 H3 _]; apply unit_order in H3; apply ones_order in H2.
  assert (R : forall e, GeometricRejected t p e -> (p <= e)%nat).
  { induction 1 as [|e v r z H IH [Hu _] He]; [lia|]; apply unit_order in He; lia. }
  destruct H1 as [v q0 q1 qe H4 [H5 _] H6]; apply unit_order in H6; apply R in H4; lia.
Qed.
Lemma contract_ones p g q v e : shorter q -> Ones p g q -> reads (loop vstep g) q v e -> reads (loop vstep 0) p v e.
Proof.
  intros Hq H; induction H as [|g q r H IH Hu]; auto; intros L; pose proof (unit_order _ _ _ _ _ Hu).
  apply IH; [unfold shorter in *; lia|]; eapply reads_more; [unfold vstep; auto with smp| |exact L].
  apply (reads_map (fun b : bool => if b then inl (g + 1) else inr g) _ _ true).
  apply (contract_bernoulli_exp_unit 1 1 q 1 r); auto; pose proof W_pos; lia.
Qed.
(** @theorem contract-geometric
    If the contract predicate Geometric(s, t, p, y, q) holds, 0 < t < 2^64 and q < 2^64 - 1, then geometric(s, t) started at p
    returns y and stops at q. *)
Theorem contract_geometric s t p y q : 1 <= t < W -> shorter q -> Geometric s t p y q -> reads (geometric s t) p y q.
Proof.
  intros Ht Hq H; revert Hq; destruct H as [u V x q2 q3 q' H1 H2 H3 ->]; intros Hq; pose proof (unit_order _ _ _ _ _ H3); pose proof (ones_order _ _ _ H2) as [O1 O2].
  unfold geometric; apply reads_bind with (a := u) (m := q2).
  - destruct H1 as [v q0 q1 q2 H4 H5 H6]; pose proof (unit_order _ _ _ _ _ H6).
    assert (Hl : reads (geo_u t) q0 v q2).
    { apply reads_done; [apply eats_geo_round|]; apply (contract_geo_round t q0 v q1 1 q2); auto; unfold shorter in *; lia. }
    assert (Hs0 : shorter q0) by (destruct H5 as [H5 _]; unfold shorter in *; lia).
    clear H5 H6 H2 O1; revert Hl Hs0; induction H4 as [|e w r z H4 IH H5 H6]; auto; intros Hl Hs0.
    pose proof (unit_order _ _ _ _ _ H6); apply IH; [|destruct H5 as [H5 _]; unfold shorter in *; lia].
    apply reads_again with (m := z); [apply eats_geo_round| |exact Hl].
    apply (contract_geo_round t e w r 0 z); auto.
  - apply (reads_map (fun v => (u + t * v) / s)).
    assert (L : reads (loop vstep V) q3 V q').
    { apply reads_stop; [unfold vstep; auto with smp|]; apply (reads_map (fun b : bool => if b then inl (V + 1) else inr V) _ _ false).
      apply (contract_bernoulli_exp_unit 1 1 q3 0 q'); auto; pose proof W_pos; lia. }
    change (reads (loop vstep 0) q2 V q'); apply (contract_ones q2 V q3); auto; unfold shorter in *; lia.
Qed.

(* ---------- discrete_laplace.h ---------- *)
Inductive LaplaceRejected (s t : Z) (p : nat) : nat -> Prop :=
| laplace_none : LaplaceRejected s t p p
| laplace_more q r e : LaplaceRejected s t p q -> Geometric s t q 0 r -> Bernoulli 1 2 r 1 e -> LaplaceRejected s t p e.
Inductive DiscreteLaplace (s t : Z) (p : nat) : Z -> nat -> Prop :=
| laplace_plus y q0 r q : LaplaceRejected s t p q0 -> Geometric s t q0 y r -> Bernoulli 1 2 r 0 q -> DiscreteLaplace s t p y q
| laplace_minus y q0 r q : LaplaceRejected s t p q0 -> Geometric s t q0 y r -> y <> 0 -> Bernoulli 1 2 r 1 q ->
    DiscreteLaplace s t p (- y) q.
Lemma bernoulli_order a b p bit q : Bernoulli a b p bit q -> (p < q)%nat.
Proof. intros [v r [Hv _] _|v r [Hv _] _]; auto. Qed.
Lemma contract_laplace_round s t p y r bit q : 1 <= t < W -> shorter q -> Geometric s t p y r -> Bernoulli 1 2 r bit q ->
  reads (laplace_round s t) p (signed y (bit =? 1)) q.
Proof.
  intros Ht Hq Hg Hb; pose proof (bernoulli_order _ _ _ _ _ Hb).
  eapply reads_bind; [apply contract_geometric; [exact Ht| |exact Hg]|]; [unfold shorter in *; lia|].
  apply reads_map, contract_bernoulli; auto; pose proof W_pos; lia.
Qed.
Lemma laplace_rejected s t p q0 v q : 1 <= t < W -> shorter q0 -> LaplaceRejected s t p q0 ->
  reads (discrete_laplace s t) q0 v q -> reads (discrete_laplace s t) p v q.
Proof.
  intros Ht Hq H; induction H as [|e r z H IH Hg Hb]; auto; intros Hl.
  pose proof (bernoulli_order _ _ _ _ _ Hb); pose proof (geometric_order _ _ _ _ _ Hg).
  apply IH; [unfold shorter in *; lia|]; apply reads_again with (m := z); auto with smp.
  apply (contract_laplace_round s t e 0 r 1 z); auto.
Qed.
Lemma laplace_order s t p x q : DiscreteLaplace s t p x q -> (p < q)%nat.
Proof.
  assert (R : forall e, LaplaceRejected s t p e -> (p <= e)%nat).
  { induction 1 as [|e r z H IH Hg Hb]; [lia|]; apply bernoulli_order in Hb; apply geometric_order in Hg; lia. }
  intros [y q0 r q' H1 H2 H3|y q0 r q' H1 H2 _ H3]; apply R in H1; apply bernoulli_order in H3; apply geometric_order in H2; lia.
Qed.
(** @theorem contract-discrete-laplace
    If the contract predicate DiscreteLaplace(s, t, p, x, q) holds, 0 < t < 2^64 and q < 2^64 - 1, then discrete_laplace(s, t)
    started at p returns x and stops at q. *)
Theorem contract_discrete_laplace s t p x q : 1 <= t < W -> shorter q -> DiscreteLaplace s t p x q ->
  reads (discrete_laplace s t) p x q.
Proof.
  intros Ht Hq H; revert Hq; destruct H as [y q0 r q' H1 H2 H3|y q0 r q' H1 H2 N H3]; intros Hq; pose proof (bernoulli_order _ _ _ _ _ H3);
    pose proof (geometric_order _ _ _ _ _ H2); (apply (laplace_rejected s t p q0); [auto|unfold shorter in *; lia|auto|]);
    apply reads_done; auto with smp.
  - apply (contract_laplace_round s t q0 y r 0 q'); auto.
  - replace (Some (- y)) with (signed y (1 =? 1)) by (unfold signed; simpl; destruct (Z.eqb_spec y 0); [lia|auto]).
    apply (contract_laplace_round s t q0 y r 1 q'); auto.
Qed.

(* ---------- discrete_gaussian.h ---------- *)
Definition GaussianOver (n d t y : Z) : Z := (Z.abs y * d * t - n) * (Z.abs y * d * t - n).
Definition GaussianUnder (n d t : Z) : Z := 2 * n * d * t * t.
Inductive GaussianRejected (n d t : Z) (p : nat) : nat -> Prop :=
| gaussian_none : GaussianRejected n d t p p
| gaussian_more q y r s : GaussianRejected n d t p q -> DiscreteLaplace 1 t q y r ->
    BernoulliExp (GaussianOver n d t y) (GaussianUnder n d t) r 0 s -> GaussianRejected n d t p s.
Inductive DiscreteGaussian (n d t : Z) (p : nat) : Z -> nat -> Prop :=
| gaussian_value x q0 r q : GaussianRejected n d t p q0 -> DiscreteLaplace 1 t q0 x r ->
    BernoulliExp (GaussianOver n d t x) (GaussianUnder n d t) r 1 q -> DiscreteGaussian n d t p x q.
Lemma bexp_order a b p bit q : BernoulliExp a b p bit q -> (p < q)%nat.
Proof. intros [g r q' H1 _ H3|r bit' q' H1 H3]; apply unit_order in H3; apply ones_order in H1; lia. Qed.
Lemma contract_gauss_round n d t p y r bit q : 1 <= t < W -> 1 <= GaussianUnder n d t < W -> shorter q ->
  DiscreteLaplace 1 t p y r -> BernoulliExp (GaussianOver n d t y) (GaussianUnder n d t) r bit q ->
  reads (gauss_round n d t) p (if bit =? 1 then Some y else None) q.
Proof.
  intros Ht Hu Hq Hl Hb; pose proof (bexp_order _ _ _ _ _ Hb).
  eapply reads_bind; [apply contract_discrete_laplace; [exact Ht| |exact Hl]|]; [unfold shorter in *; lia|].
  apply (reads_map (fun b : bool => if b then Some y else None)); apply contract_bernoulli_exp; auto; apply Z.square_nonneg.
Qed.
(** @theorem contract-discrete-gaussian
    With t = floor(sqrt(n/d)) + 1, 2 n d t^2 < 2^64 and q < 2^64 - 1, if the contract predicate
    DiscreteGaussian(n, d, t, p, x, q) holds then discrete_gaussian(n, d) started at p returns x and stops at q. *)
Theorem contract_discrete_gaussian n d p x q : let t := gauss_scale n d in 1 <= t < W -> 1 <= GaussianUnder n d t < W -> shorter q ->
  DiscreteGaussian n d t p x q -> reads (discrete_gaussian n d) p x q.
Proof.
  intros t Ht Hu Hq H; revert Hq; destruct H as [y q0 r q' H1 H2 H3]; intros Hq; unfold discrete_gaussian; fold t.
  pose proof (bexp_order _ _ _ _ _ H3); pose proof (laplace_order _ _ _ _ _ H2).
  assert (Hl : reads (retry (gauss_round n d t)) q0 y q').
  { apply reads_done; auto with smp; apply (contract_gauss_round n d t q0 y r 1 q'); auto. }
  assert (Hs0 : shorter q0) by (unfold shorter in *; lia); clear H2 H3 H H0; revert Hl Hs0.
  induction H1 as [|e z r' s H1 IH H4 H5]; auto; intros Hl Hs0.
  pose proof (bexp_order _ _ _ _ _ H5); pose proof (laplace_order _ _ _ _ _ H4).
  apply IH; [|unfold shorter in *; lia]; apply reads_again with (m := s); auto with smp.
  apply (contract_gauss_round n d t e z r' 0 s); auto.
Qed.

(* ---------- permutation.h ---------- *)
Inductive history := unmoved | swapped (s : history) (i j : nat).
Fixpoint place (s : history) (k : nat) : nat :=
  match s with
  | unmoved => k
  | swapped s i j => if (k =? i)%nat then place s j else if (k =? j)%nat then place s i else place s k
  end.
Inductive Swaps (n : nat) (p : nat) : nat -> history -> nat -> Prop :=
| swaps_none : Swaps n p n unmoved p
| swaps_more m s j q r : Swaps n p (m + 1) s q -> Uniform (Z.of_nat m + 1) q (Z.of_nat j) r -> Swaps n p m (swapped s m j) r.
Definition Shuffled (a : list Z) (n p q : nat) : Prop :=
  length a = n /\ exists s, Swaps n p (Nat.min n 1) s q /\ forall k, (k < n)%nat -> nth k a 0 = Z.of_nat (place s k).
Definition laid (n : nat) (s : history) : list Z := map (fun k => Z.of_nat (place s k)) (seq 0 n).
Lemma laid_swap n s m j : (m < n)%nat -> (j < n)%nat -> laid n (swapped s m j) = swap m j (laid n s).
Proof.
  intros Hm Hj; unfold swap, laid at 1; unfold laid at 2; rewrite map_length, seq_length; apply map_ext_in; intros k Hk; apply in_seq in Hk.
  unfold laid; rewrite (nth_indep _ 0 (Z.of_nat (place s 0))) by (rewrite map_length, seq_length; unfold transpose;
    destruct (Nat.eqb_spec k m), (Nat.eqb_spec k j); lia).
  rewrite (map_nth (fun k => Z.of_nat (place s k)) _ 0%nat), seq_nth; unfold transpose; simpl;
    destruct (Nat.eqb_spec k m), (Nat.eqb_spec k j); auto; lia.
Qed.
Lemma contract_swaps n p m s q v e : Z.of_nat n < W -> Swaps n p m s q -> (1 <= m <= n)%nat ->
  reads (shuffle (m - 1) (laid n s)) q v e -> reads (shuffle (n - 1) (zseq n)) p v e.
Proof.
  intros Hn H; induction H as [|m s j q r H IH Hu]; intros Hm Hl; [exact Hl|].
  assert (Hmn : (m + 1 <= n)%nat).
  { clear - H; remember (m + 1)%nat as k; clear Heqk; induction H; lia. }
  apply IH; [lia|]; replace (m + 1 - 1)%nat with (S (m - 1)) by lia; cbn [shuffle].
  replace (Z.of_nat (S (m - 1)) + 1) with (Z.of_nat m + 1) by lia; replace (S (m - 1)) with m by lia.
  assert (Hj : (j <= m)%nat).
  { destruct Hu as [_ [_ [_ Hv]]]; pose proof (Z.mod_pos_bound (TapeWord (r - 1)) (Z.of_nat m + 1) ltac:(lia)); lia. }
  eapply reads_bind; [apply contract_uniform; [|exact Hu]; lia|].
  rewrite Nat2Z.id, <- laid_swap by lia; exact Hl.
Qed.
(** @theorem contract-permutation
    If the contract predicate Shuffled(a, n, p, q) holds, n < 2^64, then permutation(n) started at p returns a and stops
    at q. *)
Theorem contract_permutation a n p q : Z.of_nat n < W -> Shuffled a n p q -> reads (permutation n) p a q.
Proof.
  intros Hn [Hl [s [H Ha]]].
  assert (E : a = laid n s).
  { apply (nth_ext a (laid n s) 0 0); [unfold laid; now rewrite map_length, seq_length|]; rewrite Hl; intros k Hk.
    rewrite Ha by auto; unfold laid.
    rewrite (nth_indep _ 0 (Z.of_nat (place s 0))) by (now rewrite map_length, seq_length).
    now rewrite (map_nth (fun k => Z.of_nat (place s k)) _ 0%nat), seq_nth. }
  unfold permutation; destruct n as [|n].
  - change (Nat.min 0 1) with 0%nat in H; inversion H; subst; [|exfalso; clear - H0; remember (0 + 1)%nat as k;
      assert (k <> 0)%nat by lia; clear Heqk; induction H0; lia].
    apply reads_ret.
  - replace (Nat.min (S n) 1) with 1%nat in H by lia; apply (contract_swaps (S n) p 1 s q a q); auto; [lia|].
    simpl; rewrite E; apply reads_ret.
Qed.
End Contracts.

(* the words 5, 2^64 - 1, 7: the second is rejected by uniform(6) (2^64 mod 6 = 4) *)
Example contract_uniform_example : reads (fun i => nth i [5; 18446744073709551615; 7] 0) (uniform 6) 1 1 3.
Proof.
  apply contract_uniform; [pose proof W_pos; rewrite W_lit; lia|]; unfold Uniform; repeat split; try lia; simpl.
  intros i Hi; replace i with 1%nat by lia; now compute.
Qed.
