(* permutation(n): a[i] = i; for i = n-1 downto 1: j = uniform(i + 1), swap a[i], a[j]. *)
From Coq Require Import Reals Lra Lia List ZArith FinFun Permutation.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP.
From Assay.samplers Require Import Tape Uniform Inverse.
Import List ListNotations.
Local Open Scope R_scope.

(* ---------- executable part ---------- *)
Definition transpose (i j k : nat) : nat := if (k =? i)%nat then j else if (k =? j)%nat then i else k.
Definition swap (i j : nat) (a : list Z) : list Z := map (fun k => nth (transpose i j k) a 0%Z) (seq 0 (length a)).
Fixpoint shuffle (i : nat) (a : list Z) : sampler (list Z) :=
  match i with
  | O => ret a
  | S i' => bind (uniform (Z.of_nat i + 1)) (fun j => shuffle i' (swap i (Z.to_nat j) a))
  end.
Definition permutation (n : nat) : sampler (list Z) := shuffle (n - 1) (zseq n).

Lemma pd_shuffle i : forall a, pd (shuffle i a).
Proof. induction i as [|i IH]; intros a; cbn [shuffle]; auto with smp. Qed.
Global Hint Resolve pd_shuffle : smp.

Lemma swap_len i j a : length (swap i j a) = length a.
Proof. unfold swap; now rewrite map_length, seq_length. Qed.
Lemma swap_nth i j a k : (k < length a)%nat -> nth k (swap i j a) 0%Z = nth (transpose i j k) a 0%Z.
Proof.
  intros Hk; unfold swap; rewrite (nth_indep _ 0%Z (nth (transpose i j 0) a 0%Z)) by (now rewrite map_length, seq_length).
  rewrite (map_nth (fun k => nth (transpose i j k) a 0%Z) _ 0%nat), seq_nth; auto.
Qed.
Lemma transpose_spec i j k : transpose i j k = if (k =? i)%nat then j else if (k =? j)%nat then i else k.
Proof. reflexivity. Qed.
Ltac tr := unfold transpose; repeat match goal with |- context [(?a =? ?b)%nat] => destruct (Nat.eqb_spec a b) end; lia.
Lemma transpose_inj i j k k' : transpose i j k = transpose i j k' -> k = k'.
Proof.
  unfold transpose; destruct (Nat.eqb_spec k i), (Nat.eqb_spec k j), (Nat.eqb_spec k' i), (Nat.eqb_spec k' j); lia.
Qed.
Lemma swap_perm i j a : (i < length a)%nat -> (j < length a)%nat -> Permutation a (swap i j a).
Proof.
  intros Hi Hj; apply (Permutation_nth a (swap i j a) 0%Z); split; [apply swap_len|].
  exists (transpose i j); split; [intros k Hk; tr|split; [intros k k' _ _; apply transpose_inj|]].
  intros k Hk; now apply swap_nth.
Qed.

Lemma post_uniform n : (1 <= n)%Z -> post (uniform n) (fun j => 0 <= j < n)%Z.
Proof.
  intros Hn; unfold uniform, retry; apply (post_loop _ (fun _ => True)); auto with smp; intros x _ l o r _.
  unfold smap, bind, ret, again, uniform_try; destruct (words_be _ _ l) as [[v r']|]; [|easy].
  destruct (_ <=? v)%Z; intros E; injection E as <- <-; auto; apply Z.mod_pos_bound; lia.
Qed.
(* later steps leave the tail alone *)
Lemma shuffle_post i : forall a k, (i < k < length a)%nat -> post (shuffle i a) (fun b => nth k b 0%Z = nth k a 0%Z).
Proof.
  induction i as [|i IH]; intros a k Hk l b r Hl; cbn [shuffle].
  - intros E; injection E as <- <-; auto.
  - unfold bind; destruct (uniform (Z.of_nat (S i) + 1) l) as [[j m]|] eqn:Eu; [|easy]; intros Es.
    pose proof (post_uniform (Z.of_nat (S i) + 1) ltac:(lia) _ _ _ Hl Eu) as Hj; simpl in Hj.
    destruct (pd_uniform _ _ _ _ Eu) as [u [-> _]]; apply Forall_app in Hl; destruct Hl as [_ Hm].
    rewrite (IH (swap (S i) (Z.to_nat j) a) k ltac:(rewrite swap_len; lia) m b r Hm Es), swap_nth by lia; f_equal; tr.
Qed.
Lemma mass_far i a b k : (i < k < length a)%nat -> nth k b 0%Z <> nth k a 0%Z -> mass (shuffle i a) b = 0.
Proof.
  intros Hk Hn; unfold mass.
  rewrite (L_post _ (fun c => nth k c 0%Z = nth k a 0%Z) (ind b) (fun _ => 0)); [apply L_0|now apply shuffle_post|].
  intros c Hc; apply ind_ne; intros ->; contradiction.
Qed.
Lemma mass_shuffle i : forall a b, NoDup a -> Permutation a b -> (i < length a)%nat ->
  (forall k, (i < k < length a)%nat -> nth k a 0%Z = nth k b 0%Z) -> mass (shuffle i a) b = / INR (fact (S i)).
Proof.
  induction i as [|i IH]; intros a b Ha Hp Hl Hk.
  - replace b with a; [unfold mass; cbn [shuffle]; rewrite L_ret, ind_eq; simpl; now rewrite Rinv_1|].
    pose proof (Permutation_length Hp) as El; destruct a as [|x a], b as [|y b]; simpl in *; try lia.
    assert (Eab : a = b).
    { apply (nth_ext a b 0%Z 0%Z); [lia|]; intros k Hk'; apply (Hk (S k)); lia. }
    subst b; f_equal; apply (Permutation_length_1 (a := x) (b := y)), (Permutation_app_inv_r a); exact Hp.
  - pose proof (Permutation_length Hp) as El.
    assert (Hin : In (nth (S i) b 0%Z) a) by (apply (Permutation_in _ (Permutation_sym Hp)), nth_In; lia).
    apply (In_nth _ _ 0%Z) in Hin; destruct Hin as [j0 [Hj0 Ej0]].
    assert (Hj : (j0 <= S i)%nat).
    { destruct (le_lt_dec j0 (S i)) as [|N]; auto; exfalso.
      assert (NoDup b) by (eapply Permutation_NoDup; eauto).
      assert (j0 = S i); [|lia]; apply (proj1 (NoDup_nth b 0%Z)); try lia; auto; rewrite <- Hk by lia; auto. }
    unfold mass; cbn [shuffle]; rewrite L_bind, L_uniform by (auto with smp; try lia; apply tst_L; auto with smp).
    rewrite (lsum_ext _ (fun j => if Z.eq_dec j (Z.of_nat j0) then / INR (fact (S i)) else 0)).
    + rewrite lsum_pick; [|apply zseq_NoDup|apply zseq_In; lia].
      replace (Z.of_nat (S i) + 1)%Z with (Z.of_nat (S (S i))) by lia; rewrite <- INR_IZR_INZ.
      rewrite (fact_simpl (S i)), mult_INR, Rinv_mult; auto.
    + intros j Hjr; apply zseq_In in Hjr; fold (mass (shuffle i (swap (S i) (Z.to_nat j) a)) b).
      destruct (Z.eq_dec j (Z.of_nat j0)) as [->|N].
      * rewrite Nat2Z.id; apply IH; rewrite ?swap_len; try lia.
        -- eapply Permutation_NoDup; [apply (swap_perm (S i) j0); lia|auto].
        -- eapply Permutation_trans; [apply Permutation_sym, swap_perm; lia|auto].
        -- intros k Hk'; rewrite swap_nth by lia; destruct (Nat.eq_dec k (S i)) as [->|].
           ++ replace (transpose (S i) j0 (S i)) with j0 by tr; auto.
           ++ replace (transpose (S i) j0 k) with k by tr; apply Hk; lia.
      * apply (mass_far i _ b (S i)); rewrite ?swap_len; [lia|]; rewrite swap_nth by lia.
        replace (transpose (S i) (Z.to_nat j) (S i)) with (Z.to_nat j) by tr; rewrite <- Ej0; intros E.
        apply N; assert (j0 = Z.to_nat j); [|lia]; apply (proj1 (NoDup_nth a 0%Z)); auto; lia.
Qed.
Lemma stop_shuffle i : forall a, L (shuffle i a) (fun _ => 1) = 1.
Proof.
  induction i as [|i IH]; intros a; cbn [shuffle]; [now rewrite L_ret|].
  rewrite L_bind by auto with smp; rewrite (L_fext _ _ (fun _ => 1)) by (intros; apply IH).
  apply (has_law_mass _ (pd_uniform _) _ (uniform_law (Z.of_nat (S i) + 1) ltac:(lia))).
Qed.
(** @theorem sampler-permutation
    permutation(n) returns each of the n! arrangements of 0, ..., n-1 with probability exactly 1/n!, and stops almost
    surely. *)
Theorem permutation_law n :
  (forall x, Permutation (zseq n) x -> law (permutation n) x (/ INR (fact n))) /\ stops (permutation n).
Proof.
  split; [|apply stops_L; [unfold permutation; auto with smp|apply stop_shuffle]].
  intros x Hx; destruct n as [|n].
  - apply Permutation_nil in Hx; subst x; replace (/ INR (fact 0)) with (mass (permutation 0) []).
    + apply law_mass; unfold permutation; auto with smp.
    + unfold mass, permutation; simpl; rewrite L_ret, ind_eq; lra.
  - rewrite <- (mass_shuffle n (zseq (S n)) x); auto using zseq_NoDup.
    + unfold permutation; replace (S n - 1)%nat with n by lia; apply law_mass; auto with smp.
    + rewrite zseq_len; lia.
    + rewrite zseq_len; intros; lia.
Qed.
Example permutation_three : law (permutation 3) [2; 0; 1]%Z (1 / 6).
Proof.
  replace (1 / 6) with (/ INR (fact 3)) by (simpl; lra); apply (proj1 (permutation_law 3)); simpl.
  apply (perm_trans (l' := [0; 2; 1]%Z)); repeat constructor.
Qed.
