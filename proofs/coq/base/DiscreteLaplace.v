(* Discrete Laplace on Z: normalisation constant and eps-DP. *)
From Coq Require Import Reals Lra Lia List ZArith FinFun.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP.
Import ListNotations.
Local Open Scope R_scope.

(* ---------- sums over Z as limits of symmetric partial sums ---------- *)
Fixpoint zr (n : nat) : list Z :=
  match n with O => [0%Z] | S m => Z.of_nat n :: (- Z.of_nat n)%Z :: zr m end.
Lemma zr_In n x : In x (zr n) <-> (Z.abs x <= Z.of_nat n)%Z.
Proof. induction n as [|n IH]; cbn [zr In]; [|rewrite IH]; lia. Qed.
Lemma zr_NoDup n : NoDup (zr n).
Proof.
  induction n as [|n IH]; cbn [zr]; [repeat constructor; easy|].
  constructor; [|constructor; [|exact IH]].
  - intros [H|H]; [lia|]; apply zr_In in H; lia.
  - intros H; apply zr_In in H; lia.
Qed.
Lemma zr_cover (l : list Z) : exists n, incl l (zr n).
Proof.
  induction l as [|x l [n Hn]]; [exists O; easy|].
  exists (Nat.max n (Z.to_nat (Z.abs x))); intros y [<-|Hy]; apply zr_In; [lia|].
  apply Hn, zr_In in Hy; lia.
Qed.
Lemma has_sum_Z (f : Z -> R) (s : R) :
  (forall x, 0 <= f x) -> is_lim_seq (fun n => lsum f (zr n)) s -> has_sum f s.
Proof.
  intros Hf Hs; apply has_sum_intro.
  - intros l Hl; destruct (zr_cover l) as [n Hn].
    eapply Rle_trans; [apply (lsum_incl f l (zr n)); auto|].
    apply (is_lim_seq_incr_compare _ _ Hs).
    intros m; cbn [zr lsum]; pose proof (Hf (Z.of_nat (S m))); pose proof (Hf (- Z.of_nat (S m))%Z); lra.
  - intros b Hb.
    apply (is_lim_seq_le (fun n => lsum f (zr n)) (fun _ => b) s b); auto.
    + intros n; apply Hb, zr_NoDup.
    + apply is_lim_seq_const.
Qed.
Lemma has_sum_bij {T U} (f : T -> R) (h : U -> T) (k : T -> U) s :
  (forall u, k (h u) = u) -> (forall t, h (k t) = t) -> has_sum f s -> has_sum (fun u => f (h u)) s.
Proof.
  intros H1 H2 Hs; apply has_sum_intro.
  - intros l Hl; rewrite <- lsum_map; eapply has_sum_ub; eauto.
    apply Injective_map_NoDup; auto; intros x y E; rewrite <- (H1 x), <- (H1 y), E; auto.
  - intros b Hb; eapply has_sum_lub; eauto; intros l Hl.
    rewrite (lsum_ext f (fun t => f (h (k t)))), <- (lsum_map k (fun u => f (h u))) by (intros; rewrite H2; auto).
    apply Hb, Injective_map_NoDup; auto; intros x y E; rewrite <- (H2 x), <- (H2 y), E; auto.
Qed.

(* ---------- two-sided geometric ---------- *)
Definition lapw (t : R) (x : Z) : R := exp (- IZR (Z.abs x) / t).
Lemma lapw_pow t n : lapw t (Z.of_nat n) = exp (-1 / t) ^ n.
Proof.
  unfold lapw; rewrite Z.abs_eq by lia.
  induction n as [|n IH]; [simpl; replace (-0/t) with 0 by (unfold Rdiv; ring); apply exp_0|].
  rewrite <- tech_pow_Rmult, <- IH, <- exp_plus, Nat2Z.inj_succ, succ_IZR; f_equal; unfold Rdiv; ring.
Qed.
Lemma q_lt1 t : 0 < t -> 0 < exp (-1 / t) < 1.
Proof.
  intros Ht; split; [apply exp_pos|]; rewrite <- exp_0; apply exp_increasing.
  apply Rmult_lt_reg_r with t; auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.
Lemma lapw_zr t n : 0 < t -> let q := exp (-1 / t) in
  lsum (lapw t) (zr n) = (1 + q) / (1 - q) - 2 / (1 - q) * q ^ S n.
Proof.
  intros Ht q; destruct (q_lt1 t Ht) as [Hq0 Hq]; fold q in Hq0, Hq.
  induction n as [|n IH]; cbn [zr lsum].
  - change 0%Z with (Z.of_nat 0); rewrite lapw_pow; fold q; simpl; field; lra.
  - rewrite IH; unfold lapw at 2; rewrite Z.abs_opp; fold (lapw t (Z.of_nat (S n))).
    rewrite lapw_pow; fold q; simpl; field; lra.
Qed.
Theorem lapw_sum t : 0 < t -> has_sum (lapw t) ((1 + exp (-1 / t)) / (1 - exp (-1 / t))).
Proof.
  intros Ht; destruct (q_lt1 t Ht) as [Hq0 Hq]; apply has_sum_Z; [intros; left; apply exp_pos|].
  eapply is_lim_seq_ext; [intros n; symmetry; apply (lapw_zr t n Ht)|].
  set (q := exp (-1 / t)) in *.
  replace (Finite ((1 + q) / (1 - q))) with (Rbar_plus ((1 + q) / (1 - q)) (Rbar_opp (Rbar_mult (2 / (1 - q)) 0)))
    by (simpl; f_equal; ring).
  apply is_lim_seq_minus'; [apply is_lim_seq_const|].
  apply (is_lim_seq_scal_l (fun n => q ^ S n) (2 / (1 - q)) 0).
  apply (is_lim_seq_incr_1 (fun n => q ^ n)), is_lim_seq_geom; rewrite Rabs_pos_eq; lra.
Qed.

Definition lapc t := (1 - exp (-1 / t)) / (1 + exp (-1 / t)).
Lemma lapc_pos t : 0 < t -> 0 < lapc t.
Proof. intros Ht; destruct (q_lt1 t Ht); apply Rdiv_lt_0_compat; lra. Qed.
Lemma dlap_sum t mu : 0 < t -> has_sum (fun x => lapc t * lapw t (x - mu)) 1.
Proof.
  intros Ht; destruct (q_lt1 t Ht); replace 1 with (lapc t * ((1 + exp (-1 / t)) / (1 - exp (-1 / t)))) by (unfold lapc; field; lra).
  apply (has_sum_scal (fun x => lapw t (x - mu))); [now apply lapc_pos|].
  apply (has_sum_bij (lapw t) (fun x => (x - mu)%Z) (fun x => (x + mu)%Z)); [intros; lia|intros; lia|now apply lapw_sum].
Qed.
Definition dlap (t : R) (Ht : 0 < t) (mu : Z) : dist Z :=
  {| pmf := fun x => lapc t * lapw t (x - mu);
     pmf_ge0 := fun x => Rlt_le _ _ (Rmult_lt_0_compat _ _ (lapc_pos t Ht) (exp_pos _));
     pmf_sum := dlap_sum t mu Ht |}.

Theorem dlap_dp (eps : R) (Delta : Z) (Ht : 0 < IZR Delta / eps) (mu nu : Z) :
  0 < eps -> (Z.abs (mu - nu) <= Delta)%Z ->
  dp eps 0 (dlap (IZR Delta / eps) Ht mu) (dlap (IZR Delta / eps) Ht nu).
Proof.
  intros He Hd; apply dp_pointwise; intros x; simpl.
  set (t := IZR Delta / eps) in *.
  replace (exp eps * (lapc t * lapw t (x - nu))) with (lapc t * (exp eps * lapw t (x - nu))) by ring.
  apply Rmult_le_compat_l; [left; now apply lapc_pos|]; unfold lapw; rewrite <- exp_plus.
  assert (0 < IZR Delta) by (replace (IZR Delta) with (t * eps) by (unfold t; field; lra); nra).
  assert (IZR (Z.abs (x - nu)) <= IZR (Z.abs (x - mu)) + IZR Delta) by (rewrite <- plus_IZR; apply IZR_le; lia).
  replace eps with (IZR Delta / t) by (unfold t; field; lra).
  destruct (Req_dec (- IZR (Z.abs (x - mu)) / t) (IZR Delta / t + - IZR (Z.abs (x - nu)) / t)) as [->|Hn]; [lra|left; apply exp_increasing].
  assert (- IZR (Z.abs (x - mu)) / t <= IZR Delta / t + - IZR (Z.abs (x - nu)) / t); [|lra].
  unfold Rdiv; rewrite <- Rmult_plus_distr_r; apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|lra].
Qed.
