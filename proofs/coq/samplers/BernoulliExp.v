(* Bernoulli(exp(-p/q)) from uniform integers, for every rational p/q >= 0 (CKS20, Algorithm 1). *)
From Coq Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP.
From Assay.samplers Require Import Tape Uniform Bernoulli Forsythe.
Import List ListNotations.
Local Open Scope R_scope.

(* ---------- executable part ---------- *)
Definition bexp_round (p q K : Z) : sampler (Z + bool) :=
  bind (bernoulli p q) (fun b =>
    if b then smap (fun u => if (u =? 0)%Z then inl (K + 1)%Z else inr (Z.odd K)) (uniform K)
    else ret (inr (Z.odd K))).
Definition bernoulli_exp_unit (p q : Z) : sampler bool := loop (bexp_round p q) 1%Z.
(* j whole units are left, then the remainder p mod q *)
Definition bexp_unit_step (p q j : Z) : sampler (Z + bool) :=
  if (0 <? j)%Z then smap (fun b : bool => if b then inl (j - 1)%Z else inr false) (bernoulli_exp_unit 1 1)
  else smap inr (bernoulli_exp_unit (p mod q) q).
Definition bernoulli_exp (p q : Z) : sampler bool := loop (bexp_unit_step p q) (p / q)%Z.

(* ---------- 0 <= p <= q ---------- *)
Lemma pd_round p q K : pd (bexp_round p q K). Proof. unfold bexp_round; auto 7 with smp. Qed.
Lemma eats_round p q K : eats (bexp_round p q K).
Proof. unfold bexp_round; apply eats_bind; auto with smp. Qed.
Global Hint Resolve pd_round eats_round : smp.
Lemma pd_bexp_unit p q : pd (bernoulli_exp_unit p q). Proof. unfold bernoulli_exp_unit; auto with smp. Qed.
Lemma eats_bexp_unit p q : eats (bernoulli_exp_unit p q). Proof. unfold bernoulli_exp_unit; auto with smp. Qed.
Global Hint Resolve pd_bexp_unit eats_bexp_unit : smp.

Section Unit.
Variables p q : Z.
Hypothesis Hp : (0 <= p <= q)%Z.
Hypothesis Hq : (1 <= q)%Z.
Let g := IZR p / IZR q.
Lemma g_01 : 0 <= g <= 1.
Proof.
  unfold g; destruct Hp as [H0 H1]; apply IZR_le in H0; apply IZR_le in H1; apply (IZR_le 1) in Hq; split.
  - apply Rdiv_le_0_compat; lra.
  - apply Rmult_le_reg_r with (IZR q); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.
Let v (f : bool -> R) (K : nat) : R := L (loop (bexp_round p q) (Z.of_nat K)) f.
Lemma v_01 f K : tst f -> 0 <= v f K <= 1. Proof. intros; apply L_01; auto with smp. Qed.
Lemma v_step f K : tst f -> v f (S K) = g / INR (S K) * v f (S (S K)) + (1 - g / INR (S K)) * f (Nat.odd (S K)).
Proof.
  intros Hf; unfold v at 1; rewrite L_loop by auto with smp; unfold bexp_round at 1.
  assert (Ho : Z.odd (Z.of_nat (S K)) = Nat.odd (S K)).
  { destruct (Nat.odd (S K)) eqn:E.
    - apply Z.odd_spec; apply Nat.odd_spec in E; destruct E as [m ->]; exists (Z.of_nat m); lia.
    - rewrite <- Z.negb_even; apply Bool.negb_false_iff, Z.even_spec.
      rewrite <- Nat.negb_even in E; apply Bool.negb_false_iff, Nat.even_spec in E; destruct E as [m ->]; exists (Z.of_nat m); lia. }
  set (h := fun o : Z + bool => match o with inl y => L (loop (bexp_round p q) y) f | inr a => f a end).
  assert (Hh : tst h) by (intros [y|a]; [apply L_01; auto with smp|apply Hf]).
  rewrite L_bind by auto with smp.
  rewrite L_bernoulli by (auto; apply tst_L; auto with smp).
  rewrite L_map, L_ret by auto with smp; unfold h at 2; rewrite Ho.
  rewrite L_uniform by (lia || (intro; apply Hh)).
  rewrite Nat2Z.id; change (zseq (S K)) with (zseq (1 + K)); rewrite zsum_app.
  cbn [zseq seq map lsum]; change (Z.of_nat 0) with 0%Z; rewrite (lsum_ext _ (fun _ => f (Nat.odd (S K))) (zseq K)).
  - rewrite lsum_const, zseq_len; cbn [Z.eqb h]; replace (Z.of_nat (S K) + 1)%Z with (Z.of_nat (S (S K))) by lia.
    fold (v f (S (S K))); rewrite <- INR_IZR_INZ; pose proof (S_INR K) as EK; pose proof (pos_INR K).
    fold g; rewrite EK; field; lra.
  - intros j Hj; apply zseq_In in Hj; destruct (Z.eqb_spec (Z.of_nat 1 + j) 0); [lia|]; unfold h; reflexivity.
Qed.
Lemma v_T b n : forall k, w g k * v (ind b) (S k) = T g b n k + w g (n + k) * v (ind b) (S (n + k)).
Proof.
  induction n as [|n IH]; intros k; [simpl; ring|].
  rewrite v_step by auto with smp; cbn [T]; replace (S n + k)%nat with (n + S k)%nat by lia.
  specialize (IH (S k)); rewrite wS in IH |- *.
  replace (ind b (Nat.odd (S k))) with (if Bool.eqb (Nat.odd (S k)) b then 1 else 0)
    by (unfold ind; destruct (Nat.odd (S k)), b; auto).
  replace (w g k * (g / INR (S k) * v (ind b) (S (S k)) + (1 - g / INR (S k)) * (if Bool.eqb (Nat.odd (S k)) b then 1 else 0)))
    with (w g k * (g / INR (S k)) * v (ind b) (S (S k)) + (w g k - w g k * (g / INR (S k))) * (if Bool.eqb (Nat.odd (S k)) b then 1 else 0))
    by ring.
  rewrite IH; ring.
Qed.
Lemma w_ge0 n : 0 <= w g n.
Proof. unfold w; apply Rdiv_le_0_compat; [apply pow_le, g_01|apply INR_fact_lt_0]. Qed.
Lemma v_lim b : is_lim_seq (fun n => out g b n 1) (v (ind b) 1).
Proof.
  apply is_lim_seq_ext with (u := fun n => v (ind b) 1 - w g n * v (ind b) (S n)).
  - intros n; pose proof (v_T b n 0) as H; rewrite Nat.add_0_r in H; rewrite out_1.
    replace (w g 0) with 1 in H by (unfold w; simpl; field); lra.
  - replace (Finite (v (ind b) 1)) with (Finite (v (ind b) 1 - 0)) by (f_equal; ring).
    apply is_lim_seq_minus'; [apply is_lim_seq_const|].
    apply is_lim_seq_le_le with (u := fun _ => 0) (w := w g); [|apply is_lim_seq_const|apply w_lim].
    intros n; pose proof (w_ge0 n); pose proof (v_01 (ind b) (S n) (tst_ind b)); nra.
Qed.
Lemma mass_bexp_unit b : mass (bernoulli_exp_unit p q) b = if b then exp (- g) else 1 - exp (- g).
Proof.
  change (mass (bernoulli_exp_unit p q) b) with (v (ind b) 1).
  pose proof (is_lim_seq_unique _ _ (v_lim b)) as H1; destruct b.
  - pose proof (is_lim_seq_unique _ _ (forsythe_true g g_01)) as H2; rewrite H1 in H2; now injection H2.
  - pose proof (is_lim_seq_unique _ _ (forsythe_false g g_01)) as H2; rewrite H1 in H2; now injection H2.
Qed.
End Unit.
Lemma L_bexp_unit p q f : (0 <= p <= q)%Z -> (1 <= q)%Z -> tst f ->
  L (bernoulli_exp_unit p q) f = exp (- (IZR p / IZR q)) * f true + (1 - exp (- (IZR p / IZR q))) * f false.
Proof. intros Hp Hq Hf; rewrite L_bool, !mass_bexp_unit; auto with smp. Qed.

(** @theorem sampler-bernoulli-exp-unit
    For integers 0 <= p <= q with q >= 1, bernoulli_exp_unit(p, q) is true with probability exactly exp(-p/q), and
    stops almost surely. *)
Theorem bernoulli_exp_unit_law p q : (0 <= p <= q)%Z -> (1 <= q)%Z ->
  has_law (bernoulli_exp_unit p q) (fun b => if b then exp (- (IZR p / IZR q)) else 1 - exp (- (IZR p / IZR q))).
Proof. intros Hp Hq; apply has_law_bool; auto with smp; intros f Hf; now apply L_bexp_unit. Qed.

(* ---------- every p/q >= 0 ---------- *)
Lemma pd_unit_step p q j : pd (bexp_unit_step p q j). Proof. unfold bexp_unit_step; auto with smp. Qed.
Lemma eats_unit_step p q j : eats (bexp_unit_step p q j).
Proof. unfold bexp_unit_step; destruct (0 <? j)%Z; auto with smp. Qed.
Global Hint Resolve pd_unit_step eats_unit_step : smp.
Lemma pd_bexp p q : pd (bernoulli_exp p q). Proof. unfold bernoulli_exp; auto with smp. Qed.
Lemma eats_bexp p q : eats (bernoulli_exp p q). Proof. unfold bernoulli_exp; auto with smp. Qed.
Global Hint Resolve pd_bexp eats_bexp : smp.

Lemma L_bexp p q f : (0 <= p)%Z -> (1 <= q)%Z -> tst f ->
  L (bernoulli_exp p q) f = exp (- (IZR p / IZR q)) * f true + (1 - exp (- (IZR p / IZR q))) * f false.
Proof.
  intros Hp Hq Hf; unfold bernoulli_exp.
  assert (Hr : (0 <= p mod q <= q)%Z) by (pose proof (Z.mod_pos_bound p q); lia).
  enough (H : forall n, let e := exp (- (IZR (Z.of_nat n) + IZR (p mod q) / IZR q)) in
            L (loop (bexp_unit_step p q) (Z.of_nat n)) f = e * f true + (1 - e) * f false).
  { assert (0 <= p / q)%Z by (apply Z.div_pos; lia).
    specialize (H (Z.to_nat (p / q))); rewrite Z2Nat.id in H by auto; rewrite H; cbv zeta.
    replace (IZR p / IZR q) with (IZR (p / q) + IZR (p mod q) / IZR q); auto.
    rewrite (Z.div_mod p q) at 3 by lia; rewrite plus_IZR, mult_IZR; apply (IZR_le 1) in Hq; field; lra. }
  induction n as [|n IH]; intros e; rewrite L_loop by auto with smp; unfold bexp_unit_step at 1.
  - change (0 <? Z.of_nat 0)%Z with false; cbv iota; rewrite L_map; auto with smp.
    + rewrite L_bexp_unit by auto; unfold e; simpl; rewrite Rplus_0_l; auto.
    + intros [y|a]; [apply L_01; auto with smp|apply Hf].
  - destruct (Z.ltb_spec 0 (Z.of_nat (S n))) as [_|]; [|lia].
    assert (Ht : tst (fun o : Z + bool => match o with inl y => L (loop (bexp_unit_step p q) y) f | inr a => f a end))
      by (intros [y|a]; [apply L_01; auto with smp|apply Hf]).
    rewrite L_map, L_bexp_unit by (auto with smp; try lia; intro; apply Ht).
    replace (Z.of_nat (S n) - 1)%Z with (Z.of_nat n) by lia; rewrite IH.
    assert (Ee : e = exp (- (1 / 1)) * exp (- (IZR (Z.of_nat n) + IZR (p mod q) / IZR q))).
    { unfold e; rewrite <- exp_plus, Nat2Z.inj_succ, succ_IZR; f_equal; field; apply (IZR_le 1) in Hq; lra. }
    rewrite Ee; ring.
Qed.
(** @theorem sampler-bernoulli-exp
    For integers p >= 0 and q >= 1, bernoulli_exp(p, q) is true with probability exactly exp(-p/q) (also when
    p/q > 1), and stops almost surely. *)
Theorem bernoulli_exp_law p q : (0 <= p)%Z -> (1 <= q)%Z ->
  has_law (bernoulli_exp p q) (fun b => if b then exp (- (IZR p / IZR q)) else 1 - exp (- (IZR p / IZR q))).
Proof. intros Hp Hq; apply has_law_bool; auto with smp; intros f Hf; now apply L_bexp. Qed.
Example bernoulli_exp_seven_halves : law (bernoulli_exp 7 2) true (exp (- (7 / 2))).
Proof. exact (proj1 (bernoulli_exp_law 7 2 ltac:(lia) ltac:(lia)) true). Qed.
