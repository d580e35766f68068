(* uniform(n): k words, the first the most significant; reject the incomplete last block. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP.
From Assay.samplers Require Import Tape.
Import List ListNotations.
Local Open Scope R_scope.

(* ---------- executable part ---------- *)
Fixpoint words_be (k : nat) (acc : Z) : sampler Z :=
  match k with O => ret acc | S k => bind word (fun w => words_be k (acc * W + w)%Z) end.
(* max(1, ceil(bits(n) / 64)), bits(n) = log2 n + 1 *)
Definition num_words (n : Z) : nat := Z.to_nat (Z.log2 n / 64 + 1).
(* one try on the value v of k words *)
Definition uniform_try (n : Z) (k : nat) (v : Z) : option Z :=
  if ((W ^ Z.of_nat k / n) * n <=? v)%Z then None else Some (v mod n)%Z.
Definition uniform (n : Z) : sampler Z :=
  let k := num_words n in retry (smap (uniform_try n k) (words_be k 0)).

(* ---------- sums over 0 .. n-1 ---------- *)
Lemma zsum_app f n m : lsum f (zseq (n + m)) = lsum f (zseq n) + lsum (fun j => f (Z.of_nat n + j)%Z) (zseq m).
Proof.
  induction m as [|m IH]; [rewrite Nat.add_0_r; simpl; ring|].
  rewrite Nat.add_succ_r, !zseq_S, !lsum_app, IH; simpl; rewrite Nat2Z.inj_add; ring.
Qed.
Lemma zsum_mul f a b :
  lsum f (zseq (a * b)) = lsum (fun i => lsum (fun j => f (i * Z.of_nat b + j)%Z) (zseq b)) (zseq a).
Proof.
  induction a as [|a IH]; [reflexivity|].
  rewrite zseq_S, lsum_app, <- IH; replace (S a * b)%nat with (a * b + b)%nat by lia.
  rewrite zsum_app; cbn [lsum]; rewrite Rplus_0_r; f_equal; apply lsum_ext; intros j _; f_equal; lia.
Qed.
Lemma zsum_mod f q n : (0 < n)%nat ->
  lsum (fun v => f (v mod Z.of_nat n)%Z) (zseq (q * n)) = INR q * lsum f (zseq n).
Proof.
  intros Hn; rewrite zsum_mul, (lsum_ext _ (fun _ => lsum f (zseq n))), lsum_const, zseq_len; auto.
  intros i _; apply lsum_ext; intros j Hj; apply zseq_In in Hj; f_equal.
  rewrite Z.add_comm, Z_mod_plus_full; apply Z.mod_small; lia.
Qed.

(* ---------- law ---------- *)
Lemma pd_words k : forall acc, pd (words_be k acc).
Proof. induction k; intros; simpl; auto with smp. Qed.
Lemma eats_words k acc : (0 < k)%nat -> eats (words_be k acc).
Proof. destruct k; [lia|]; intros; simpl; apply eats_bind; auto with smp; intros; apply pd_words. Qed.
Lemma num_words_pos n : (0 < num_words n)%nat.
Proof.
  unfold num_words; assert (0 <= Z.log2 n / 64)%Z by (apply Z.div_pos; [apply Z.log2_nonneg|lia]); lia.
Qed.
Lemma num_words_big n : (1 <= n)%Z -> (n < W ^ Z.of_nat (num_words n))%Z.
Proof.
  intros Hn; unfold num_words; pose proof (Z.log2_nonneg n).
  assert (0 <= Z.log2 n / 64)%Z by (apply Z.div_pos; lia).
  rewrite Z2Nat.id, W_pow, <- Z.pow_mul_r by lia; eapply Z.lt_le_trans; [apply Z.log2_spec; lia|].
  apply Z.pow_le_mono_r; [lia|]; pose proof (Z.div_mod (Z.log2 n) 64); pose proof (Z.mod_pos_bound (Z.log2 n) 64); lia.
Qed.
Global Hint Resolve pd_words eats_words num_words_pos : smp.

Lemma Wn_pow k : Z.of_nat (Wn ^ k) = (W ^ Z.of_nat k)%Z.
Proof. now rewrite Nat2Z.inj_pow, Wn_W. Qed.
Lemma Wpow_pos k : (0 < W ^ Z.of_nat k)%Z.
Proof. apply Z.pow_pos_nonneg; [pose proof W_pos|]; lia. Qed.
Lemma L_words k : forall acc f, tst f ->
  L (words_be k acc) f = / IZR (W ^ Z.of_nat k) * lsum (fun v => f (acc * W ^ Z.of_nat k + v)%Z) (zseq (Wn ^ k)).
Proof.
  induction k as [|k IH]; intros acc f Hf.
  - simpl words_be; rewrite L_ret; simpl; rewrite Rinv_1, Rmult_1_l, Rplus_0_r; f_equal; lia.
  - simpl words_be; rewrite L_bind by auto with smp.
    rewrite (L_fext _ _ _ (fun w => IH (acc * W + w)%Z f Hf)), L_word.
    + change (Wn ^ S k)%nat with (Wn * Wn ^ k)%nat; rewrite zsum_mul, lsum_scal, <- Rmult_assoc.
      assert (EW : (W ^ Z.of_nat (S k) = W * W ^ Z.of_nat k)%Z) by (rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia; lia).
      rewrite EW; f_equal.
      * rewrite mult_IZR, Rinv_mult; auto.
      * apply lsum_ext; intros w _; apply lsum_ext; intros v _; f_equal; rewrite Wn_pow; ring.
    + intros w; rewrite <- (IH (acc * W + w)%Z f Hf); apply L_01; auto with smp.
Qed.

Lemma pd_uniform n : pd (uniform n). Proof. unfold uniform; auto with smp. Qed.
Lemma eats_uniform n : eats (uniform n). Proof. unfold uniform; auto with smp. Qed.
Global Hint Resolve pd_uniform eats_uniform : smp.

Lemma L_try n f : (1 <= n)%Z -> let k := num_words n in let q := (W ^ Z.of_nat k / n)%Z in tst f ->
  L (smap (uniform_try n k) (words_be k 0)) f =
  IZR q / IZR (W ^ Z.of_nat k) * lsum (fun x => f (Some x)) (zseq (Z.to_nat n))
  + (1 - IZR q * IZR n / IZR (W ^ Z.of_nat k)) * f None.
Proof.
  intros Hn k q Hf; rewrite L_map, L_words by (auto with smp; intro; apply Hf).
  pose proof (Wpow_pos k) as HM; set (M := (W ^ Z.of_nat k)%Z) in *.
  assert (Hq : (0 <= q)%Z) by (apply Z.div_pos; lia).
  assert (Hqn : (q * n <= M)%Z) by (rewrite Z.mul_comm; apply Z.mul_div_le; lia).
  assert (EM : (Wn ^ k = Z.to_nat q * Z.to_nat n + Z.to_nat (M - q * n))%nat).
  { apply Nat2Z.inj; rewrite Wn_pow; fold M; rewrite Nat2Z.inj_add, Nat2Z.inj_mul, !Z2Nat.id; lia. }
  assert (HMr : 0 < IZR M) by now apply (IZR_lt 0).
  rewrite EM, zsum_app.
  rewrite (lsum_ext _ (fun v => (fun y => f (Some y)) (v mod Z.of_nat (Z.to_nat n))%Z) (zseq (Z.to_nat q * Z.to_nat n))).
  - rewrite (zsum_mod (fun y => f (Some y))) by lia; rewrite INR_IZR_INZ, Z2Nat.id by lia.
    rewrite (lsum_ext _ (fun _ => f None) (zseq (Z.to_nat (M - q * n)))).
    + rewrite lsum_const, zseq_len, INR_IZR_INZ, Z2Nat.id, minus_IZR, mult_IZR by lia; field; lra.
    + intros j Hj; apply zseq_In in Hj; f_equal; unfold uniform_try; fold M; fold q.
      rewrite Nat2Z.inj_mul, !Z2Nat.id in * by lia; destruct (Z.leb_spec (q * n) (0 * M + (q * n + j))); [auto|lia].
  - intros v Hv; apply zseq_In in Hv; rewrite Nat2Z.inj_mul, !Z2Nat.id in * by lia; f_equal.
    unfold uniform_try; fold M; fold q; destruct (Z.leb_spec (q * n) (0 * M + v)); [lia|do 2 f_equal; lia].
Qed.
Lemma L_uniform n f : (1 <= n)%Z -> tst f -> L (uniform n) f = / IZR n * lsum f (zseq (Z.to_nat n)).
Proof.
  intros Hn Hf; assert (Hp : 0 <= L (uniform n) f <= 1) by (apply L_01; auto with smp).
  assert (Heq : L (uniform n) f = L (smap (uniform_try n (num_words n)) (words_be (num_words n) 0))
    (fun o => match o with Some a => f a | None => L (uniform n) f end)).
  { apply L_retry_eq; auto with smp. }
  rewrite L_try in Heq by (auto; intros [x|]; auto).
  pose proof (num_words_big n Hn) as HM; set (M := (W ^ Z.of_nat (num_words n))%Z) in *.
  assert (Hq : (1 <= M / n)%Z) by (apply Z.div_le_lower_bound; lia).
  assert (0 < IZR M) by (apply (IZR_lt 0); lia); apply IZR_le in Hq; apply IZR_le in Hn.
  set (q := IZR (M / n)) in *; set (S := lsum _ _) in *; set (p := L (uniform n) f) in *.
  change (p = / IZR n * S); apply Rmult_eq_reg_l with (q * IZR n / IZR M).
  - replace (q * IZR n / IZR M * (/ IZR n * S)) with (q / IZR M * S) by (field; lra); lra.
  - apply Rgt_not_eq, Rdiv_lt_0_compat; nra.
Qed.

Definition unif (n x : Z) : R := if ((0 <=? x) && (x <? n))%Z%bool then / IZR n else 0.
Lemma zsum_ind n x : lsum (ind x) (zseq n) = if ((0 <=? x) && (x <? Z.of_nat n))%Z%bool then 1 else 0.
Proof.
  destruct (Z.leb_spec 0 x), (Z.ltb_spec x (Z.of_nat n)); simpl.
  1: { rewrite <- (lsum_pick Z.eq_dec x 1 (zseq n)); [reflexivity|apply zseq_NoDup|apply zseq_In; lia]. }
  all: rewrite (lsum_ext _ (fun _ => 0)), lsum_const; [ring|]; intros y Hy; apply zseq_In in Hy; apply ind_ne; lia.
Qed.

(** @theorem sampler-uniform
    For every integer n >= 1, uniform(n) returns each of 0, ..., n-1 with probability exactly 1/n, and stops
    almost surely. *)
Theorem uniform_law n : (1 <= n)%Z -> has_law (uniform n) (unif n).
Proof.
  intros Hn; apply has_law_intro; auto with smp.
  - intros x; unfold mass; rewrite L_uniform, zsum_ind, Z2Nat.id by (auto with smp; lia).
    unfold unif; destruct (_ && _)%bool; ring.
  - assert (Hr : 1 <= IZR n) by now apply (IZR_le 1).
    assert (Hi : 0 < / IZR n) by (apply Rinv_0_lt_compat; lra).
    replace 1 with (lsum (unif n) (zseq (Z.to_nat n))).
    + apply (has_sum_finite eqd); [apply zseq_NoDup| |].
      * intros x; unfold unif; destruct (_ && _)%bool; lra.
      * intros x Hx; rewrite zseq_In in Hx; unfold unif.
        destruct (Z.leb_spec 0 x), (Z.ltb_spec x n); simpl; auto; exfalso; apply Hx; lia.
    + rewrite (lsum_ext _ (fun _ => / IZR n)); [rewrite lsum_const, zseq_len, INR_IZR_INZ, Z2Nat.id by lia; field; lra|].
      intros x Hx; apply zseq_In in Hx; unfold unif; destruct (Z.leb_spec 0 x), (Z.ltb_spec x n); simpl; auto; lia.
Qed.
Example uniform_six : law (uniform 6) 4%Z (1 / 6).
Proof. destruct (uniform_law 6) as [H _]; [lia|]; replace (1 / 6) with (unif 6 4) by (unfold unif; simpl; lra); apply H. Qed.
