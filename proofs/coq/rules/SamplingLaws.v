(* The recursive definitions of the two samplings are the ones of the textbook. *)
From Coq Require Import Reals Lra Lia List.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Renyi Subsampling WithoutReplacement.
Import ListNotations.
Local Open Scope R_scope.

Section Laws.
Context {U T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).

(* all parts of a list, each position in or out *)
Fixpoint parts (d : list U) : list (list U) :=
  match d with [] => [[]] | x :: d => parts d ++ map (cons x) (parts d) end.
Lemma parts_length d s : In s (parts d) -> (length s <= length d)%nat.
Proof.
  revert s; induction d as [|x d IH]; simpl; intros s H; [destruct H as [<-|[]]; auto|].
  apply in_app_or in H; destruct H as [H|H]; [specialize (IH s H); lia|].
  apply in_map_iff in H; destruct H as (s' & <- & H); specialize (IH s' H); simpl; lia.
Qed.
(** @theorem poisson-law
    Poisson sampling of rate q runs the mechanism on each part s of the n records with
    probability q^|s| (1-q)^(n-|s|). *)
Theorem poisson_law q (Hq : 0 <= q <= 1) (M : list U -> dist T) d y :
  poisson eqd q Hq M d y = lsum (fun s => q ^ length s * (1 - q) ^ (length d - length s) * M s y) (parts d).
Proof.
  revert M; induction d as [|x d IH]; intros M; [simpl; ring|].
  cbn [poisson parts]; simpl; unfold mix; rewrite IH, IH, lsum_app, lsum_map, <- !lsum_scal; f_equal; apply lsum_ext; intros s Hs.
  - apply parts_length in Hs; replace (match length s with 0 => S (length d) | S l => length d - l end)%nat
      with (S (length d - length s)) by (destruct (length s); lia); simpl; ring.
  - simpl; ring.
Qed.

(* all parts of b records *)
Fixpoint choose (b : nat) (d : list U) : list (list U) :=
  match d, b with
  | [], O => [[]]
  | [], S _ => []
  | x :: d, O => choose O d
  | x :: d, S b' => choose (S b') d ++ map (cons x) (choose b' d)
  end.
Lemma choose_size b d s : In s (choose b d) -> length s = b.
Proof.
  revert b s; induction d as [|x d IH]; intros [|b] s; simpl; try tauto; intros H.
  - destruct H as [<-|[]]; auto.
  - now apply IH.
  - apply in_app_or in H; destruct H as [H|H]; [now apply IH|].
    apply in_map_iff in H; destruct H as (s' & <- & H); simpl; f_equal; now apply IH.
Qed.
Lemma choose_none b d : (length d < b)%nat -> choose b d = [].
Proof.
  revert b; induction d as [|x d IH]; intros [|b] H; simpl in *; try lia; auto.
  rewrite (IH (S b)), (IH b) by lia; reflexivity.
Qed.
Lemma C_pos n b : 0 < C n b.
Proof. unfold C; apply Rdiv_lt_0_compat; [|apply Rmult_lt_0_compat]; apply INR_fact_lt_0. Qed.
Lemma C_out n b : (b <= n)%nat -> C n b * INR (S n) = C (S n) b * INR (S n - b).
Proof.
  intros H; unfold C; replace (S n - b)%nat with (S (n - b)) by lia.
  rewrite (fact_simpl n), (fact_simpl (n - b)), !mult_INR.
  assert (INR (fact b) <> 0) by apply INR_fact_neq_0; assert (INR (fact (n - b)) <> 0) by apply INR_fact_neq_0.
  assert (INR (S (n - b)) <> 0) by (apply not_0_INR; lia); field; auto.
Qed.
Lemma C_in n b : (b <= n)%nat -> C n b * INR (S n) = C (S n) (S b) * INR (S b).
Proof.
  intros H; unfold C; replace (S n - S b)%nat with (n - b)%nat by lia.
  rewrite (fact_simpl n), (fact_simpl b), !mult_INR.
  assert (INR (fact b) <> 0) by apply INR_fact_neq_0; assert (INR (fact (n - b)) <> 0) by apply INR_fact_neq_0.
  assert (INR (S b) <> 0) by (apply not_0_INR; lia); field; auto.
Qed.
(** @theorem without-replacement-law
    Sampling b of n records without replacement runs the mechanism on each of the C(n,b)
    parts of b records with the same probability. *)
Theorem wor_law b (M : list U -> dist T) d y : (b <= length d)%nat ->
  wor eqd b M d y = lsum (fun s => / C (length d) b * M s y) (choose b d).
Proof.
  revert b M; induction d as [|x d IH]; intros b M Hb.
  - simpl in Hb; replace b with 0%nat by lia; simpl; unfold C; simpl; field.
  - cbn [wor]; simpl pmf; unfold mix; rewrite rate_eq by (simpl in *; lia); cbn [length] in *.
    set (n := length d) in *; assert (HN : 0 < INR (S n)) by (apply lt_0_INR; lia).
    destruct b as [|b]; cbn [pred choose].
    + rewrite IH by lia; unfold Rdiv; rewrite Rmult_0_l, Rminus_0_r, Rmult_1_l, Rmult_0_l, Rplus_0_r.
      apply lsum_ext; intros s _; do 2 f_equal.
      pose proof (C_out n 0 ltac:(lia)) as E; rewrite Nat.sub_0_r in E; apply Rmult_eq_reg_r with (INR (S n)); lra.
    + rewrite lsum_app, lsum_map, (IH b (fun s => M (x :: s))) by lia; f_equal.
      * destruct (Nat.eq_dec b n) as [->|Nb].
        { rewrite choose_none by (fold n; lia); simpl lsum.
          replace (1 - INR (S n) / INR (S n)) with 0 by (field; lra); ring. }
        rewrite IH by lia; rewrite <- lsum_scal; apply lsum_ext; intros s _.
        pose proof (C_out n (S b) ltac:(lia)) as E; pose proof (C_pos n (S b)); pose proof (C_pos (S n) (S b)).
        assert (X : 1 - INR (S b) / INR (S n) = INR (S n - S b) / INR (S n)) by (rewrite minus_INR by lia; field; lra).
        rewrite X, <- Rmult_assoc; f_equal.
        apply Rmult_eq_reg_r with (C n (S b) * INR (S n) * C (S n) (S b)); [|apply Rgt_not_eq, Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; auto].
        transitivity (INR (S n - S b) * C (S n) (S b)); [field; lra|].
        transitivity (C n (S b) * INR (S n)); [lra|field; lra].
      * rewrite <- lsum_scal; apply lsum_ext; intros s _.
        pose proof (C_in n b ltac:(lia)) as E; pose proof (C_pos n b); pose proof (C_pos (S n) (S b)).
        rewrite <- Rmult_assoc; f_equal.
        apply Rmult_eq_reg_r with (C n b * INR (S n) * C (S n) (S b)); [|apply Rgt_not_eq, Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; auto].
        transitivity (INR (S b) * C (S n) (S b)); [field; lra|].
        transitivity (C n b * INR (S n)); [lra|field; lra].
Qed.
End Laws.
