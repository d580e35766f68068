(* bernoulli(p, q) = uniform(q) < p. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP.
From Assay.samplers Require Import Tape Uniform.
Import List ListNotations.
Local Open Scope R_scope.

Definition bernoulli (p q : Z) : sampler bool := smap (fun u => u <? p)%Z (uniform q).

Lemma pd_bernoulli p q : pd (bernoulli p q). Proof. unfold bernoulli; auto with smp. Qed.
Lemma eats_bernoulli p q : eats (bernoulli p q). Proof. unfold bernoulli; auto with smp. Qed.
Global Hint Resolve pd_bernoulli eats_bernoulli : smp.

Lemma L_bernoulli p q f : (0 <= p <= q)%Z -> (1 <= q)%Z -> tst f ->
  L (bernoulli p q) f = IZR p / IZR q * f true + (1 - IZR p / IZR q) * f false.
Proof.
  intros Hp Hq Hf; unfold bernoulli; rewrite L_map, L_uniform by (auto with smp; intro; apply Hf).
  replace (Z.to_nat q) with (Z.to_nat p + Z.to_nat (q - p))%nat by lia; rewrite zsum_app.
  rewrite (lsum_ext _ (fun _ => f true) (zseq (Z.to_nat p))), (lsum_ext _ (fun _ => f false) (zseq (Z.to_nat (q - p)))).
  - rewrite !lsum_const, !zseq_len, !INR_IZR_INZ, !Z2Nat.id, minus_IZR by lia.
    apply (IZR_le 1) in Hq; field; lra.
  - intros j Hj; apply zseq_In in Hj; f_equal; apply Z.ltb_ge; lia.
  - intros j Hj; apply zseq_In in Hj; f_equal; apply Z.ltb_lt; lia.
Qed.

(** @theorem sampler-bernoulli
    For integers 0 <= p <= q with q >= 1, bernoulli(p, q) is true with probability exactly p/q, and stops almost
    surely. *)
Theorem bernoulli_law p q : (0 <= p <= q)%Z -> (1 <= q)%Z ->
  has_law (bernoulli p q) (fun b => if b then IZR p / IZR q else 1 - IZR p / IZR q).
Proof. intros Hp Hq; apply has_law_bool; auto with smp; intros f Hf; now apply L_bernoulli. Qed.
Example bernoulli_third : law (bernoulli 1 3) true (1 / 3).
Proof. exact (proj1 (bernoulli_law 1 3 ltac:(lia) ltac:(lia)) true). Qed.

(* ---------- the rules of Tape.v on dice ---------- *)
Example two_coins : exists p,
  has_sum (fun a : bool => (if a then 1 / 2 else 1 - 1 / 2) * (if a then 1 / 2 else 0)) p /\
  law (bind (bernoulli 1 2) (fun a => if a then bernoulli 1 2 else ret false)) true p.
Proof.
  apply (bind_law _ _ (fun a : bool => if a then 1 / 2 else 1 - 1 / 2) (fun a : bool => if a then 1 / 2 else 0)); auto with smp.
  - intros a; exact (proj1 (bernoulli_law 1 2 ltac:(lia) ltac:(lia)) a).
  - intros [|]; [exact (proj1 (bernoulli_law 1 2 ltac:(lia) ltac:(lia)) true)|].
    replace 0 with (mass (ret false) true) by (unfold mass; rewrite L_ret; reflexivity); apply law_mass; auto with smp.
Qed.
Definition three_of_four : sampler (option Z) := smap (fun u => if (u <? 3)%Z then Some u else None) (uniform 4).
Lemma three_of_four_law o : law three_of_four o (match o with Some x => if ((0 <=? x) && (x <? 3))%Z%bool then / 4 else 0 | None => / 4 end).
Proof.
  assert (P : pd three_of_four) by (unfold three_of_four; auto with smp).
  replace (match o with Some x => _ | None => _ end) with (mass three_of_four o); [now apply law_mass|].
  unfold mass, three_of_four; rewrite L_map, L_uniform by (auto with smp; try lia; intro; apply tst_ind).
  change (Z.to_nat 4) with 4%nat; cbn [zseq seq map lsum Z.of_nat Pos.of_succ_nat Pos.succ Z.ltb Z.compare Pos.compare Pos.compare_cont].
  destruct o as [x|]; unfold ind; [|repeat match goal with |- context [eqd ?a ?b] => destruct (eqd a b) end; try congruence; lra].
  destruct (Z.leb_spec 0 x), (Z.ltb_spec x 3); simpl andb; cbv iota;
    repeat match goal with |- context [eqd ?a ?b] => destruct (eqd a b) end; try congruence; try lra;
    repeat match goal with H : Some _ = Some _ |- _ => injection H as H end; try lia;
    exfalso; assert (x = 0 \/ x = 1 \/ x = 2)%Z as [->|[->| ->]] by lia; congruence.
Qed.
Example three_sided_die : law (retry three_of_four) 1%Z (/ 4 / (1 - / 4)).
Proof.
  apply retry_law; try (unfold three_of_four; auto with smp; fail); [exact (three_of_four_law (Some 1%Z))|exact (three_of_four_law None)|lra].
Qed.
Example three_sided_die_rounds : law (retry_rounds three_of_four) (1%Z, 2%nat) ((/ 4) ^ 2 * / 4).
Proof.
  apply retry_rounds_law; try (unfold three_of_four; auto with smp; fail); [exact (three_of_four_law (Some 1%Z))|exact (three_of_four_law None)].
Qed.
