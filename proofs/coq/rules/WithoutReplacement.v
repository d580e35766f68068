(* Sampling without replacement: a uniformly random set of b of the n records, replace-one
   neighbours (Balle, Barthe, Gaboardi 2018). *)
From Coq Require Import Reals Lra Lia List ZArith Permutation.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi Subsampling.
Import ListNotations.
Local Open Scope R_scope.

(* b/n, and 1 if b >= n *)
Definition rate (b n : nat) : R := if le_lt_dec n b then 1 else INR b / INR n.
Lemma rate_01 b n : 0 <= rate b n <= 1.
Proof.
  unfold rate; destruct (le_lt_dec n b) as [H|H]; [lra|].
  assert (0 < INR n) by (apply lt_0_INR; lia); pose proof (pos_INR b).
  assert (INR b <= INR n) by (apply le_INR; lia).
  split; [apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]|].
  apply Rmult_le_reg_r with (INR n); auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.
Lemma rate_eq b n : (1 <= n)%nat -> (b <= n)%nat -> rate b n = INR b / INR n.
Proof.
  intros H1 H2; unfold rate; destruct (le_lt_dec n b) as [H|H]; auto.
  replace b with n by lia; field; apply not_0_INR; lia.
Qed.

Section WOR.
Context {U T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).

(* the first record is in the sample with probability b/n; then b-1, or b, of the others *)
Fixpoint wor (b : nat) (M : list U -> dist T) (d : list U) : dist T :=
  match d with
  | [] => M []
  | x :: d => mix_dist eqd (rate b (S (length d))) (rate_01 _ _) (wor b M d) (wor (pred b) (fun s => M (x :: s)) d)
  end.
(* the mechanism depends on the records, not on their order *)
Definition unordered (M : list U -> dist T) : Prop := forall s s', Permutation s s' -> forall y, M s y = M s' y.

Lemma wor_ext b (M M' : list U -> dist T) d : (forall s y, M s y = M' s y) -> forall y, wor b M d y = wor b M' d y.
Proof.
  revert b M M'; induction d as [|x d IH]; intros b M M' H y; simpl; auto; unfold mix.
  rewrite (IH b M M' H), (IH (pred b) (fun s => M (x :: s)) (fun s => M' (x :: s))); auto.
Qed.
Lemma rate_swap b n : (1 <= n)%nat -> (1 - rate b (S n)) * rate b n = rate b (S n) * (1 - rate (pred b) n).
Proof.
  intros Hn; destruct b as [|b]; cbn [pred].
  - rewrite !rate_eq by lia; unfold Rdiv; simpl (INR 0); ring.
  - destruct (le_lt_dec (S n) (S b)) as [H|H].
    + assert (R1 : rate (S b) (S n) = 1) by (unfold rate; destruct (le_lt_dec (S n) (S b)); [auto|lia]).
      assert (R2 : rate b n = 1) by (unfold rate; destruct (le_lt_dec n b); [auto|lia]).
      rewrite R1, R2; ring.
    + rewrite !rate_eq by lia; rewrite !S_INR.
      assert (0 < INR n) by (apply lt_0_INR; lia); field; lra.
Qed.
Lemma wor_swap b M x z l : unordered M -> forall y, wor b M (x :: z :: l) y = wor b M (z :: x :: l) y.
Proof.
  intros HM y; cbn [wor length]; simpl; unfold mix; simpl.
  pose proof (rate_swap b (S (length l)) ltac:(lia)) as S.
  set (r0 := rate b (Datatypes.S (Datatypes.S (length l)))) in *; set (r1 := rate b (Datatypes.S (length l))) in *;
    set (r2 := rate (pred b) (Datatypes.S (length l))) in *.
  rewrite (wor_ext (pred (pred b)) (fun s => M (z :: x :: s)) (fun s => M (x :: z :: s)) l)
    by (intros s y'; apply HM; constructor).
  unfold mix; set (A := wor b M l y); set (B := wor (pred b) (fun s => M (z :: s)) l y);
    set (C := wor (pred b) (fun s => M (x :: s)) l y); set (D := wor (pred (pred b)) (fun s => M (x :: z :: s)) l y).
  transitivity ((1 - r0) * (1 - r1) * A + (1 - r0) * r1 * B + r0 * (1 - r2) * C + r0 * r2 * D); [ring|].
  rewrite S; transitivity ((1 - r0) * (1 - r1) * A + (1 - r0) * r1 * C + r0 * (1 - r2) * B + r0 * r2 * D); [|ring].
  rewrite S; ring.
Qed.
Lemma unordered_cons M x : unordered M -> unordered (fun s => M (x :: s)).
Proof. intros H s s' P y; apply H; now constructor. Qed.
Lemma wor_middle l1 : forall b M x l2, unordered M -> forall y, wor b M (l1 ++ x :: l2) y = wor b M (x :: l1 ++ l2) y.
Proof.
  induction l1 as [|z l1 IH]; intros b M x l2 HM y; [reflexivity|].
  cbn [app]; rewrite (wor_swap b M x z (l1 ++ l2) HM y); cbn [wor]; simpl; unfold mix.
  rewrite (IH b M x l2 HM), (IH (pred b) (fun s => M (z :: s)) x l2 (unordered_cons M z HM)).
  replace (length (l1 ++ x :: l2)) with (S (length (l1 ++ l2))) by (rewrite !app_length; simpl; lia).
  simpl; unfold mix; ring.
Qed.

Lemma wor_dp e dl l : forall b (M M' : list U -> dist T), (forall s, dp e dl (M s) (M' s)) -> dp e dl (wor b M l) (wor b M' l).
Proof.
  induction l as [|x l IH]; intros b M M' H; simpl; auto.
  apply dp_mix_same; [apply rate_01|auto|]; apply IH; intros s; apply H.
Qed.
(* a sample of k and one given record, against a sample of k+1 *)
Lemma wor_shift e dl x l : forall k M, 0 <= dl -> unordered M -> (forall u z s, dp e dl (M (u :: s)) (M (z :: s))) ->
  (S k <= length l)%nat -> dp e dl (wor k (fun s => M (x :: s)) l) (wor (S k) M l).
Proof.
  induction l as [|z l IH]; intros k M Hd HM H Hk S HS; [simpl in Hk; lia|].
  simpl in Hk; cbn [wor pred]; simpl; unfold mix; rewrite !lsum_plus, !lsum_scal.
  set (N := INR (Datatypes.S (length l))); assert (HN : 0 < N) by (apply lt_0_INR; lia).
  rewrite !rate_eq by lia; fold N; rewrite S_INR.
  set (p1 := lsum (wor k (fun s => M (x :: s)) l) S).
  set (p3 := lsum (wor (pred k) (fun s => M (x :: z :: s)) l) S).
  set (r1 := lsum (wor (Datatypes.S k) M l) S); set (r2 := lsum (wor k (fun s => M (z :: s)) l) S).
  assert (I2 : p1 <= exp e * r2 + dl) by (apply wor_dp; auto).
  assert (Ha : 0 <= INR k / N) by (apply Rmult_le_pos; [apply pos_INR|left; now apply Rinv_0_lt_compat]).
  assert (HI : 0 < / N) by now apply Rinv_0_lt_compat.
  assert (I1 : (1 - (INR k + 1) / N) * p1 <= (1 - (INR k + 1) / N) * (exp e * r1 + dl)).
  { destruct (Nat.eq_dec (Datatypes.S k) (Datatypes.S (length l))) as [E|E].
    - assert (EN : N = INR k + 1) by (unfold N; rewrite <- E, S_INR; auto).
      replace (1 - (INR k + 1) / N) with 0 by (rewrite EN in *; field; lra); lra.
    - apply Rmult_le_compat_l; [|apply (IH k M Hd HM H ltac:(lia) S HS)].
      assert (INR k + 1 <= N) by (unfold N; rewrite <- S_INR; apply le_INR; lia).
      enough ((INR k + 1) / N <= 1) by lra.
      apply Rmult_le_reg_r with N; auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
  assert (I3 : INR k / N * p3 <= INR k / N * (exp e * r2 + dl)).
  { destruct k as [|k]; [simpl; unfold Rdiv; rewrite !Rmult_0_l; lra|].
    apply Rmult_le_compat_l; auto.
    pose proof (IH k (fun s => M (z :: s)) Hd (unordered_cons M z HM)) as G.
    assert (Hg : forall u w s, dp e dl (M (z :: u :: s)) (M (z :: w :: s))).
    { intros u w s; eapply dp_ext; [| |apply (H u w (z :: s))]; intros y; apply HM; constructor. }
    specialize (G Hg ltac:(lia) S HS); unfold p3; cbn [pred].
    rewrite (lsum_ext (wor k (fun s => M (x :: z :: s)) l) (wor k (fun s => M (z :: x :: s)) l)); auto.
    intros y _; apply wor_ext; intros s y'; apply HM; constructor. }
  assert (I2' : / N * p1 <= / N * (exp e * r2 + dl)) by (apply Rmult_le_compat_l; lra).
  replace (1 - INR k / N) with ((1 - (INR k + 1) / N) + / N) by (field; lra).
  replace ((INR k + 1) / N) with (INR k / N + / N) in * by (field; lra).
  nra.
Qed.

(** @theorem without-replacement-amplification
    M depends on the set of its records, not on their order, and is (eps, delta)-DP when one
    record is replaced. Running M on a uniformly random b of the n records is
    (ln(1 + (b/n)(e^eps - 1)), (b/n) delta)-DP when one record is replaced. *)
Theorem wor_amplification b n eps delta (M : list U -> dist T) :
  (1 <= n)%nat -> (b <= n)%nat -> 0 <= eps -> 0 <= delta -> unordered M -> dp_mech replace_one eps delta M ->
  dp_mech (fun d d' => length d = n /\ replace_one d d')
    (amplified (INR b / INR n) eps) (INR b / INR n * delta) (wor b M).
Proof.
  intros Hn Hb He Hd HM H d d' [Hl (l1 & x & y & l2 & -> & ->)] S HS.
  rewrite (lsum_ext _ _ S (fun z _ => wor_middle l1 b M x l2 HM z)), (lsum_ext _ _ S (fun z _ => wor_middle l1 b M y l2 HM z)).
  assert (HL : Datatypes.S (length (l1 ++ l2)) = n) by (rewrite app_length in *; simpl in Hl; lia).
  cbn [wor]; rewrite HL; simpl; unfold mix; rewrite !lsum_plus, !lsum_scal.
  assert (E1 : 1 <= exp eps) by (pose proof (exp_ineq1_le eps); lra).
  pose proof (rate_01 b n) as Hq; rewrite <- (rate_eq b n) by auto; rewrite amplified_exp by auto.
  set (q := rate b n) in *; set (E := exp eps) in *.
  assert (HR : forall u w s, dp eps delta (M (u :: s)) (M (w :: s))).
  { intros u w s; apply H; exists [], u, w, s; auto. }
  set (Rr := lsum (wor b M (l1 ++ l2)) S).
  set (A := lsum (wor (pred b) (fun s => M (x :: s)) (l1 ++ l2)) S).
  set (B := lsum (wor (pred b) (fun s => M (y :: s)) (l1 ++ l2)) S).
  assert (AB : A <= E * B + delta) by (apply wor_dp; auto).
  assert (R0 : 0 <= Rr) by (apply lsum_ge0, pmf_ge0); assert (B0 : 0 <= B) by (apply lsum_ge0, pmf_ge0).
  destruct b as [|b].
  { assert (q = 0) as -> by (unfold q; rewrite rate_eq by lia; unfold Rdiv; simpl (INR 0); ring); lra. }
  destruct (Nat.eq_dec (Datatypes.S b) n) as [Eb|Eb].
  { assert (q = 1) as -> by (unfold q; rewrite rate_eq, Eb by lia; field; apply not_0_INR; lia); lra. }
  assert (AR : A <= E * Rr + delta) by (apply (wor_shift eps delta x (l1 ++ l2) b M Hd HM HR); auto; lia).
  (* A <= be (E R + delta) + (1-be) (E B + delta), be E = (E-1)(1-q) *)
  set (be := (E - 1) * (1 - q) / E).
  assert (Hbe : be * E = (E - 1) * (1 - q)) by (unfold be; field; lra).
  assert (Hb1 : 0 <= be <= 1).
  { split; [apply Rmult_le_pos; [nra|left; apply Rinv_0_lt_compat; lra]|].
    apply Rmult_le_reg_r with E; [lra|]; rewrite Hbe; nra. }
  assert (K : A <= be * (E * Rr + delta) + (1 - be) * (E * B + delta)).
  { replace A with (be * A + (1 - be) * A) by ring; apply Rplus_le_compat; apply Rmult_le_compat_l; lra. }
  replace (be * (E * Rr + delta) + (1 - be) * (E * B + delta))
    with (be * E * Rr + (E - be * E) * B + delta) in K by ring.
  rewrite Hbe in K; replace (E - (E - 1) * (1 - q)) with (1 + q * (E - 1)) in K by ring.
  apply (Rmult_le_compat_l q) in K; [|lra]; nra.
Qed.
End WOR.

(* a batch of 100 out of 1000, histogram with scale 4 (eps = 1/2): ln(1 + (e^(1/2) - 1)/10) *)
Lemma histogram_unordered t : unordered (fun d => laplace_vec t (histogram d)).
Proof.
  intros s s' P y; replace (histogram s) with (histogram s'); auto.
  unfold histogram, cell; rewrite !(proj1 (Permutation_count_occ Bool.bool_dec s s') P); reflexivity.
Qed.
Example batch_histogram : dp_mech (fun d d' => length d = 1000%nat /\ replace_one d d')
  (amplified (INR 100 / INR 1000) (2 / (4 / 1))) (INR 100 / INR 1000 * 0)
  (wor zvec_eq 100 (fun d => laplace_vec (prat 4 1) (histogram d))).
Proof.
  apply wor_amplification; [lia|lia|lra|lra|apply histogram_unordered|apply histogram_laplace].
Qed.
