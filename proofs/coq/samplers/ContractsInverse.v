(* docs/math/samplers.md, "digits compared lazily", read literally: ties on the first m - 1 words, a decision on the m-th.
   The executable samplers do just that; the one-word table contract of mechanisms/inverse.h is the case m = 1. *)
From Coq Require Import Reals Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.samplers Require Import Tape Uniform Inverse Contracts.
Import List ListNotations.
Local Open Scope Z_scope.

Section Literal.
Variable TapeWord : nat -> Z.
Hypothesis words_ok : forall i, 0 <= TapeWord i < W.
(* U_m = w[p] W^(m-1) + ... + w[p+m-1] *)
Fixpoint U (p m : nat) : Z := match m with O => 0 | S m => U p m * W + TapeWord (p + m) end.
Lemma U_range p m : inrange m (U p m).
Proof.
  induction m as [|m IH]; [unfold inrange; simpl; lia|]; cbn [U]; apply inrange_S; auto; apply words_ok.
Qed.
Lemma reads_refine {A} (decide : nat -> Z -> option A) p a m : (1 <= m)%nat ->
  (forall j, (1 <= j < m)%nat -> decide j (U p j) = None) -> decide m (U p m) = Some a ->
  reads TapeWord (refine decide) p a (p + m).
Proof.
  intros Hm Ht Hd; unfold refine.
  enough (H : forall i j, (j + i = m)%nat -> (j < m)%nat -> reads TapeWord (loop (refine_step decide) (j, U p j)) (p + j) a (p + m)).
  { specialize (H m O eq_refl ltac:(lia)); rewrite Nat.add_0_r in H; exact H. }
  assert (Hs : forall j, reads TapeWord (refine_step decide (j, U p j)) (p + j)
    (match decide (S j) (U p (S j)) with Some a => inr a | None => inl (S j, U p (S j)) end) (S (p + j))).
  { intros j; unfold refine_step; simpl fst; simpl snd.
    apply (reads_map TapeWord (fun w => match decide (S j) (U p j * W + w) with
      Some a => inr a | None => inl (S j, U p j * W + w) end)); apply reads_word. }
  induction i as [|i IH]; intros j Ej Hj; [lia|]; specialize (Hs j).
  destruct (Nat.eq_dec (S j) m) as [E|N].
  - apply reads_stop; [auto with smp|]; rewrite E, Hd in Hs; replace (p + m)%nat with (S (p + j)) by lia; exact Hs.
  - rewrite Ht in Hs by lia; eapply reads_more; [auto with smp|exact Hs|].
    replace (S (p + j)) with (p + S j)%nat by lia; apply IH; lia.
Qed.
(** @theorem contract-below
    If the first m - 1 prefixes of the tape tie with the digits of r and the m-th is below or above them, then
    below(r) started at p returns that and stops after m words. *)
Theorem contract_below digits p m : (1 <= m)%nat -> (forall j, (1 <= j < m)%nat -> U p j = digits j) -> U p m <> digits m ->
  reads TapeWord (below digits) p (U p m <? digits m) (p + m).
Proof.
  intros Hm Ht Hd; apply reads_refine; auto.
  - intros j Hj; unfold side; rewrite Ht by auto; now rewrite Z.eqb_refl.
  - unfold side; destruct (Z.eqb_spec (U p m) (digits m)); [contradiction|auto].
Qed.
(** @theorem contract-inverse
    If each of the first m - 1 prefixes of the tape equals some digit of F, and the m-th lies strictly between the digits of
    k - 1 and k, then inverse(F) started at p returns k and stops after m words (m = 1: the table of mechanisms/inverse.h
    decides). *)
Theorem contract_inverse F digits lo hi p m k : cdf F -> (forall m k, digit_of m (F k) (digits m k)) ->
  (forall m, digits m (lo m) = 0) -> (forall m, W ^ Z.of_nat m - 1 <= digits m (hi m)) -> (1 <= m)%nat ->
  (forall j, (1 <= j < m)%nat -> exists i, U p j = digits j i) -> digits m (k - 1) < U p m < digits m k ->
  reads TapeWord (inverse digits lo hi) p k (p + m).
Proof.
  intros HF Hd Hlo Hhi Hm Ht Hk; apply reads_refine; auto.
  - intros j Hj; destruct (Ht j Hj) as [i Hi]; destruct (cell digits lo hi j (U p j)) as [k'|] eqn:Ec; auto; exfalso.
    apply (inverse_cell F digits lo hi j (U p j) k' HF Hd Hlo Hhi (U_range p j)) in Ec.
    destruct (Z_le_gt_dec i (k' - 1)); [pose proof (dig_mono F digits HF Hd j i (k' - 1) ltac:(lia))|
      pose proof (dig_mono F digits HF Hd j k' i ltac:(lia))]; lia.
  - apply (inverse_cell F digits lo hi m (U p m) k HF Hd Hlo Hhi (U_range p m)); auto.
Qed.
End Literal.
(* r = 1/3 has the digit 6148914691236517205 = floor(2^64 / 3): a tie, then the second word decides *)
Example contract_below_example :
  reads (fun i => nth i [6148914691236517205; 6148914691236517204] 0) (below (rat_digits 1 3)) 0 true 2.
Proof.
  assert (H := contract_below (fun i => nth i [6148914691236517205; 6148914691236517204] 0) (rat_digits 1 3) 0 2 ltac:(lia)).
  assert (E1 : rat_digits 1 3 1 = 6148914691236517205) by (unfold rat_digits; rewrite W_lit; reflexivity).
  assert (E2 : rat_digits 1 3 2 = 113427455640312821154458202477256070485) by (unfold rat_digits; rewrite W_lit; reflexivity).
  rewrite E2 in H; cbn [U nth Nat.add] in H; rewrite W_lit in H; apply H.
  - intros j Hj; replace j with 1%nat by lia; rewrite E1; cbn [U nth Nat.add]; rewrite W_lit; reflexivity.
  - compute; discriminate.
Qed.
