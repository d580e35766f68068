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
