(* Randomized response, and the local model.
   The data of a local mechanism is one person's own value; every two values
   are neighbours. *)
From Coq Require Import Reals Lra Lia List Bool.
From Interval Require Import Tactic.
From Assay.base Require Import DP ZCDP PureInterval.
From Assay.rules Require Import Process Neighbours.
From Assay.mechanisms Require Import Finite.
Import ListNotations.
Local Open Scope R_scope.

(* R is (eps, delta)-locally private on the values that satisfy ok: any two
   values are neighbours *)
Definition any {X} (ok : X -> Prop) : X -> X -> Prop := fun x x' => ok x /\ ok x'.
Definition local_dp {X T} (ok : X -> Prop) eps delta (R : X -> dist T) : Prop :=
  dp_mech (any ok) eps delta R.

(* ---------- k-ary randomized response ---------- *)
Section KAry.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).
Variable answers : list T.
Hypothesis distinct : NoDup answers.
Hypothesis some_answer : answers <> [].
Let k := INR (length answers).
Lemma k_ge1 : 1 <= k.
Proof using some_answer. clear distinct; unfold k; destruct answers; [easy|]; cbn [length]; rewrite S_INR; pose proof (pos_INR (length l)); lra. Qed.

(* with probability p a uniform answer, else the true one *)
Definition rr_pmf (p : R) (x y : T) : R :=
  (if eqd y x then 1 - p else 0) + on_list eqd answers (fun _ => p / k) y.
Lemma rr_sum p x : 0 <= p <= 1 -> has_sum (rr_pmf p x) 1.
Proof using distinct some_answer.
  intros Hp; pose proof k_ge1 as Hk; replace 1 with ((1 - p) + p) by ring.
  assert (0 <= p / k) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  apply (has_sum_plus eqd).
  - intros y; destruct (eqd y x); lra.
  - intros y; unfold on_list; destruct (in_dec eqd y answers); lra.
  - apply (has_sum_finite_eq eqd _ [x]); [simpl; destruct (eqd x x); [lra|easy]|repeat constructor; easy| |];
      intros y; destruct (eqd y x); try lra.
    intros N; exfalso; apply N; simpl; auto.
  - apply (has_sum_finite_eq eqd _ answers); auto; [|intros y; unfold on_list; destruct (in_dec eqd y answers); try lra; easy..].
    rewrite (lsum_ext _ (fun _ => p / k)), lsum_const; [fold k; field; lra|].
    intros y Hy; unfold on_list; destruct (in_dec eqd y answers); easy.
Qed.
Definition rr (p : R) (Hp : 0 <= p <= 1) (x : T) : dist T.
Proof using eqd answers distinct some_answer.
  refine {| pmf := rr_pmf p x; pmf_sum := rr_sum p x Hp |}.
  intros y; pose proof k_ge1; unfold rr_pmf, on_list.
  assert (0 <= p / k) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  destruct (eqd y x), (in_dec eqd y answers); lra.
Defined.

(** @theorem randomized-response
    One person answers a question with k >= 1 possible answers: with probability
    p > 0 a uniformly random one, otherwise the true one. For any two true
    answers the report is eps-DP with eps = ln((1 - p + p/k) / (p/k)), i.e. it is
    eps-locally private. *)
Theorem rr_dp p (Hp : 0 <= p <= 1) : 0 < p ->
  local_dp (fun x => In x answers) (ln ((1 - p + p / k) / (p / k))) 0 (rr p Hp).
Proof using All.
  intros H0 x x' [Hx Hx']; pose proof k_ge1 as Hk.
  assert (Hq : 0 < p / k) by (apply Rdiv_lt_0_compat; lra).
  assert (E : (1 - p + p / k) / (p / k) * (p / k) = 1 - p + p / k) by (field; lra).
  assert (Hc : 1 <= (1 - p + p / k) / (p / k)).
  { apply Rmult_le_reg_r with (p / k); auto; rewrite E; lra. }
  apply dp_ratio; [lra|]; intros y; simpl; unfold rr_pmf, on_list.
  destruct (in_dec eqd y answers) as [Hy|Hy].
  - destruct (eqd y x), (eqd y x'); nra.
  - destruct (eqd y x) as [->|]; [easy|]; destruct (eqd y x') as [->|]; [easy|]; lra.
Qed.

(* the p that spends exactly eps *)
Lemma rr_p_ok eps : 0 <= eps -> 0 <= k / (exp eps + k - 1) <= 1.
Proof using some_answer.
  intros He; pose proof k_ge1; pose proof (exp_ineq1_le eps); split.
  - apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra].
  - apply Rmult_le_reg_r with (exp eps + k - 1); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.
(** @theorem randomized-response-eps
    k-ary randomized response that answers uniformly with probability
    k/(exp(eps) + k - 1) is eps-locally private, for every eps >= 0. *)
Theorem rr_eps eps (He : 0 <= eps) :
  local_dp (fun x => In x answers) eps 0 (rr (k / (exp eps + k - 1)) (rr_p_ok eps He)).
Proof using All.
  pose proof k_ge1 as Hk; pose proof (exp_ineq1_le eps); pose proof (exp_pos eps).
  rewrite <- (ln_exp eps) at 1.
  replace (exp eps) with ((1 - k / (exp eps + k - 1) + k / (exp eps + k - 1) / k) / (k / (exp eps + k - 1) / k)) at 1
    by (field; repeat split; lra).
  apply rr_dp, Rdiv_lt_0_compat; lra.
Qed.
End KAry.

(* ---------- unary encodings ---------- *)
(* every bit is reported on its own: a 1 as 1 with probability p, a 0 as 1 with
   probability q.  Symmetric: q = 1 - p.  Optimised: p = 1/2. *)
Section Unary.
Variables p q : R.
Hypothesis Hq : 0 < q.
Hypothesis Hqp : q <= p.
Hypothesis Hp : p < 1.
Definition bit_pmf (b y : bool) : R := let r := if b then p else q in if y then r else 1 - r.
Definition bit (b : bool) : dist bool.
Proof using Hq Hqp Hp.
  refine {| pmf := bit_pmf b |}.
  - intros y; unfold bit_pmf; destruct b, y; lra.
  - replace 1 with (lsum (bit_pmf b) [true; false]) by (unfold bit_pmf; simpl; lra).
    apply (has_sum_finite bool_dec).
    + repeat constructor; simpl; intuition discriminate.
    + intros y; unfold bit_pmf; destruct b, y; lra.
    + intros [|] N; exfalso; apply N; simpl; auto.
Defined.
Definition bits (b : list bool) : dist (list bool) :=
  fold_right (fun x rest => cons_dist bool_dec (bit x) (fun _ => rest)) (dret (leqd bool_dec) []) b.
Definition bit_cost (b b' : bool) : R :=
  if b then (if b' then 0 else ln (p / q)) else (if b' then ln ((1 - q) / (1 - p)) else 0).
Fixpoint bits_cost (b b' : list bool) : R :=
  match b, b' with x :: b, x' :: b' => bit_cost x x' + bits_cost b b' | _, _ => 0 end.
Lemma bit_dp b b' : dp (bit_cost b b') 0 (bit b) (bit b').
Proof using Hq Hqp Hp.
  assert (1 <= p / q) by (apply Rmult_le_reg_r with q; auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
  assert (1 <= (1 - q) / (1 - p)) by (apply Rmult_le_reg_r with (1 - p); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
  assert (p / q * q = p) by (field; lra); assert ((1 - q) / (1 - p) * (1 - p) = 1 - q) by (field; lra).
  destruct b, b'; unfold bit_cost.
  1,4: apply dp_refl; [apply pmf_ge0|lra|lra].
  - apply dp_ratio; [lra|]; intros [|]; simpl; unfold bit_pmf; nra.
  - apply dp_ratio; [lra|]; intros [|]; simpl; unfold bit_pmf; nra.
Qed.
Lemma bits_dp b b' : length b = length b' -> dp (bits_cost b b') 0 (bits b) (bits b').
Proof using Hq Hqp Hp.
  revert b'; induction b as [|x b IH]; intros [|x' b'] E; try discriminate.
  - apply dp_refl; [apply pmf_ge0|simpl; lra|lra].
  - cbn [bits_cost]; rewrite <- (Rplus_0_r 0).
    apply (cons_dp bool_dec _ _ _ _ (bit x) (bit x') (fun _ => bits b) (fun _ => bits b'));
      [lra|apply bit_dp|intros _; apply IH; now inversion E].
Qed.
Definition one_hot (k i : nat) : list bool := map (Nat.eqb i) (seq 0 k).
Lemma bits_cost_same b : bits_cost b b = 0.
Proof using. induction b as [|[|] b IH]; simpl; lra. Qed.
Lemma one_hot_cost k i j :
  0 <= ln (p / q) -> 0 <= ln ((1 - q) / (1 - p)) ->
  bits_cost (one_hot k i) (one_hot k j) <= ln (p / q) + ln ((1 - q) / (1 - p)).
Proof using.
  intros H1 H2; destruct (Nat.eq_dec i j) as [->|N]; [rewrite bits_cost_same; lra|].
  enough (G : forall n s, bits_cost (map (Nat.eqb i) (seq s n)) (map (Nat.eqb j) (seq s n))
    <= (if le_dec s i then ln (p / q) else 0) + (if le_dec s j then ln ((1 - q) / (1 - p)) else 0)).
  { unfold one_hot; specialize (G k 0%nat); destruct (le_dec 0 i), (le_dec 0 j); lra. }
  induction n as [|n IH]; intros s; simpl.
  - destruct (le_dec s i), (le_dec s j); lra.
  - specialize (IH (S s)).
    destruct (Nat.eqb_spec i s) as [->|Ni], (Nat.eqb_spec j s) as [->|Nj]; simpl; try easy;
      repeat match goal with |- context [le_dec ?a ?b] => destruct (le_dec a b) end;
      repeat match goal with H : context [le_dec ?a ?b] |- _ => destruct (le_dec a b) end; try lia; lra.
Qed.

(** @theorem unary-encoding
    One person holds one of k values and reports k independent bits: the bit of the
    value is 1 with probability p, every other bit with probability q, 0 < q <= p < 1.
    The report is eps-locally private with eps = ln(p (1-q) / (q (1-p))).
    Symmetric encoding: q = 1 - p; optimised encoding: p = 1/2. *)
Theorem unary_dp k :
  local_dp (fun i => (i < k)%nat) (ln (p * (1 - q) / (q * (1 - p)))) 0 (fun i => bits (one_hot k i)).
Proof using Hq Hqp Hp.
  intros i j _.
  assert (1 <= p / q) by (apply Rmult_le_reg_r with q; auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
  assert (1 <= (1 - q) / (1 - p)) by (apply Rmult_le_reg_r with (1 - p); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
  assert (L : forall c, 1 <= c -> 0 <= ln c).
  { intros c [Hc| <-]; [left; rewrite <- ln_1; apply ln_increasing; lra|rewrite ln_1; lra]. }
  replace (p * (1 - q) / (q * (1 - p))) with (p / q * ((1 - q) / (1 - p))) by (field; lra).
  rewrite ln_mult by lra.
  eapply dp_weaken; [apply pmf_ge0|apply (one_hot_cost k i j); apply L; auto|apply Rle_refl|].
  apply bits_dp; unfold one_hot; now rewrite !map_length, !seq_length.
Qed.
End Unary.

(* ---------- the local model ---------- *)
(* user 1, user 2, ... report in turn; a randomizer may depend on all earlier
   reports (sequential interaction) *)
Section Local.
Context {X T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).
Fixpoint reports (R : list T -> X -> dist T) (past : list T) (xs : list X) : dist (list T) :=
  match xs with
  | [] => dret (leqd eqd) []
  | x :: xs => cons_dist eqd (R past x) (fun y => reports R (past ++ [y]) xs)
  end.

(** @theorem local-dp
    Every user reports through a randomizer that is (eps, delta)-locally private:
    for any two of her values the two laws of her one report are (eps, delta)-close.
    The randomizer of a user may depend on all earlier reports. Then all reports
    together are (eps, delta)-DP when one user's value is replaced. *)
Theorem local_dp_central (R : list T -> X -> dist T) eps delta : 0 <= eps -> 0 <= delta ->
  (forall past, local_dp (fun _ => True) eps delta (R past)) ->
  dp_mech replace_one eps delta (reports R []).
Proof.
  intros He Hd H d d' (l1 & x & y & l2 & -> & ->); generalize (@nil T) at 1 2.
  induction l1 as [|u l1 IH]; intros past.
  - cbn [app reports]; rewrite <- (Rplus_0_r eps), <- (Rplus_0_r delta); apply cons_dp; [lra|now apply H|].
    intros t; apply dp_refl; [apply pmf_ge0|lra|lra].
  - cbn [app reports]; rewrite <- (Rplus_0_l eps), <- (Rplus_0_l delta); apply cons_dp; [lra| |].
    + apply dp_refl; [apply pmf_ge0|lra|lra].
    + intros t; apply IH.
Qed.
End Local.

(* ---------- instances ---------- *)
Lemma coin : 0 <= 1 / 2 <= 1. Proof. lra. Qed.
Lemma yes_no : NoDup [true; false]. Proof. repeat constructor; simpl; intuition discriminate. Qed.
Lemma yes_no' : [true; false] <> []. Proof. discriminate. Qed.
(* Warner: two coin flips *)
Example warner : local_dp (fun _ => True) (ln 3) 0 (rr bool_dec [true; false] yes_no yes_no' (1 / 2) coin).
Proof.
  intros x y _; pose proof (rr_dp bool_dec [true; false] yes_no yes_no' (1 / 2) coin ltac:(lra) x y) as H.
  replace ((1 - 1 / 2 + 1 / 2 / INR (length [true; false])) / (1 / 2 / INR (length [true; false]))) with 3 in H
    by (simpl; field).
  apply H; split; [destruct x|destruct y]; simpl; auto.
Qed.
Example warner_1100_people : dp_mech replace_one (11 / 10) 0
  (reports bool_dec (fun _ => rr bool_dec [true; false] yes_no yes_no' (1 / 2) coin) []).
Proof.
  apply local_dp_central; [lra|lra|]; intros _ x y A.
  eapply dp_weaken; [apply pmf_ge0| |apply Rle_refl|apply warner, A]; interval with (i_prec 64).
Qed.
(* optimised unary encoding at p = 1/2, q = 1/(e+1): eps = 1 *)
Example oue : exists Hq Hqp Hp, local_dp (fun i => (i < 100)%nat) 1 0
  (fun i => bits (1 / 2) (1 / (exp 1 + 1)) Hq Hqp Hp (one_hot 100 i)).
Proof.
  pose proof (exp_ineq1_le 1).
  assert (Hq : 0 < 1 / (exp 1 + 1)) by (apply Rdiv_lt_0_compat; lra).
  assert (Hqp : 1 / (exp 1 + 1) <= 1 / 2) by (apply Rmult_le_compat_l, Rinv_le_contravar; lra).
  assert (Hp : 1 / 2 < 1) by lra.
  exists Hq, Hqp, Hp; rewrite <- (ln_exp 1) at 1.
  replace (exp 1) with (1 / 2 * (1 - 1 / (exp 1 + 1)) / (1 / (exp 1 + 1) * (1 - 1 / 2))) at 1 by (field; lra).
  apply unary_dp.
Qed.
