(* Optimal composition of pure mechanisms (Kairouz, Oh, Viswanath): every eps-close pair
   is a post-processing of randomized response, so adaptive composition is no worse
   than independent randomized responses, whose privacy curve is explicit. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi Basic PureToZCDP RenyiReleases.
Import ListNotations.
Local Open Scope R_scope.

(* sup over events of P(S) - c Q(S) for independent randomized responses with
   parameters es *)
Fixpoint hock (es : list R) (c : R) : R :=
  match es with
  | [] => Rmax 0 (1 - c)
  | e :: es => (exp e * hock es (c / exp e) + hock es (c * exp e)) / (1 + exp e)
  end.

Section Step.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).
(* P = (E A + B)/(1+E), Q = (A + E B)/(1+E), with A and B distributions *)
Lemma hock_joint e (P Q : dist T) {V} (K L : T -> dist V) (H : R -> R) c l :
  0 <= e -> dp e 0 P Q -> dp e 0 Q P -> 0 <= c -> NoDup l ->
  (forall t c l, 0 <= c -> NoDup l -> lsum (K t) l - c * lsum (L t) l <= H c) ->
  lsum (joint_dist eqd P K) l - c * lsum (joint_dist eqd Q L) l
    <= (exp e * H (c / exp e) + H (c * exp e)) / (1 + exp e).
Proof.
  intros He HPQ HQP Hc Hl HK; simpl; unfold joint.
  assert (Hne : exists t : T, True).
  { apply Classical_Prop.NNPP; intros N.
    assert (1 <= 0); [|lra]; eapply has_sum_lub; [apply (pmf_sum P)|].
    intros [|t l'] _; [simpl; lra|exfalso; apply N; exists t; auto]. }
  set (lt := nodup eqd (map fst l)).
  assert (Hlt : NoDup lt) by apply NoDup_nodup.
  assert (Hi : incl (map fst l) lt) by (intros x; apply nodup_In).
  rewrite (lsum_group eqd (fun t u => P t * K t u) l lt Hlt Hi), (lsum_group eqd (fun t u => Q t * L t u) l lt Hlt Hi).
  set (k := fun t => lsum (K t) (slice eqd t l)); set (j := fun t => lsum (L t) (slice eqd t l)).
  assert (HkH : forall t c, 0 <= c -> k t - c * j t <= H c) by (intros; apply HK; auto; now apply slice_NoDup).
  assert (EP : lsum (fun t => lsum (fun u => P t * K t u) (slice eqd t l)) lt
    + - c * lsum (fun t => lsum (fun u => Q t * L t u) (slice eqd t l)) lt
    = lsum (fun t => P t * k t - c * (Q t * j t)) lt).
  { rewrite <- lsum_scal, <- lsum_plus; apply lsum_ext; intros t _; rewrite !lsum_scal; unfold k, j; ring. }
  replace (lsum (fun t => lsum (fun u => P t * K t u) (slice eqd t l)) lt
    - c * lsum (fun t => lsum (fun u => Q t * L t u) (slice eqd t l)) lt)
    with (lsum (fun t => P t * k t - c * (Q t * j t)) lt) by (rewrite <- EP; ring); clear EP.
  destruct Hne as [t0 _].
  assert (HH : forall c, 0 <= c -> 0 <= H c).
  { intros c' Hc'; specialize (HK t0 c' [] Hc' (NoDup_nil _)); simpl in HK; lra. }
  destruct He as [He| <-].
  - set (E := exp e); assert (E1 : 1 < E) by (unfold E; rewrite <- exp_0; now apply exp_increasing).
    assert (Hce : 0 <= c / E) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
    set (A := fun t => E / (E - 1) * P t - / (E - 1) * Q t); set (B := fun t => E / (E - 1) * Q t - / (E - 1) * P t).
    assert (HA : forall t, 0 <= A t).
    { intros t; unfold A; replace (E / (E - 1) * P t - / (E - 1) * Q t) with (/ (E - 1) * (E * P t - Q t)) by (field; lra).
      apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; lra|pose proof (dp_point e Q P t HQP); fold E in H0; lra]. }
    assert (HB : forall t, 0 <= B t).
    { intros t; unfold B; replace (E / (E - 1) * Q t - / (E - 1) * P t) with (/ (E - 1) * (E * Q t - P t)) by (field; lra).
      apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; lra|pose proof (dp_point e P Q t HPQ); fold E in H0; lra]. }
    assert (I1 : 0 < / (E - 1)) by (apply Rinv_0_lt_compat; lra).
    assert (I2 : E / (E - 1) - / (E - 1) = 1) by (field; lra).
    assert (SA : lsum A lt <= 1) by (rewrite <- I2; apply (lsum_affine eqd); auto; [unfold Rdiv; nra|lra]).
    assert (SB : lsum B lt <= 1) by (rewrite <- I2; apply (lsum_affine eqd); auto; [unfold Rdiv; nra|lra]).
    apply Rle_trans with (lsum (fun t => E * H (c / E) / (1 + E) * A t + H (c * E) / (1 + E) * B t) lt).
    + apply lsum_le; intros t _.
      assert (Y : P t * k t - c * (Q t * j t) =
        E / (1 + E) * A t * (k t - c / E * j t) + / (1 + E) * B t * (k t - c * E * j t)).
      { unfold A, B; field; split; lra. }
      rewrite Y; clear Y.
      assert (0 < / (1 + E)) by (apply Rinv_0_lt_compat; lra).
      apply Rplus_le_compat.
      * replace (E * H (c / E) / (1 + E) * A t) with (E / (1 + E) * A t * H (c / E)) by (unfold Rdiv; ring).
        apply Rmult_le_compat_l; [apply Rmult_le_pos; auto; unfold Rdiv; nra|auto].
      * replace (H (c * E) / (1 + E) * B t) with (/ (1 + E) * B t * H (c * E)) by (unfold Rdiv; ring).
        apply Rmult_le_compat_l; [apply Rmult_le_pos; auto; lra|apply HkH; nra].
    + rewrite lsum_plus, !lsum_scal.
      pose proof (HH _ Hce) as H1; assert (H2 : 0 <= H (c * E)) by (apply HH; nra).
      assert (0 < / (1 + E)) by (apply Rinv_0_lt_compat; lra).
      assert (0 <= E * H (c / E) / (1 + E)) by (unfold Rdiv; apply Rmult_le_pos; nra).
      assert (0 <= H (c * E) / (1 + E)) by (unfold Rdiv; apply Rmult_le_pos; nra).
      replace ((E * H (c / E) + H (c * E)) / (1 + E)) with (E * H (c / E) / (1 + E) * 1 + H (c * E) / (1 + E) * 1) by (field; lra).
      apply Rplus_le_compat; apply Rmult_le_compat_l; auto.
  - rewrite exp_0; unfold Rdiv at 2; rewrite Rinv_1, !Rmult_1_r.
    replace ((1 * H c + H c) / (1 + 1)) with (H c * 1) by field.
    apply Rle_trans with (H c * lsum P lt).
    + rewrite <- lsum_scal; apply lsum_le; intros t _.
      pose proof (dp_point 0 P Q t HPQ) as D1; pose proof (dp_point 0 Q P t HQP) as D2; rewrite exp_0 in *.
      replace (Q t) with (P t) by lra; pose proof (HkH t c Hc); pose proof (pmf_ge0 P t); nra.
    + apply Rmult_le_compat_l; [auto|apply (has_sum_ub _ _ _ (pmf_sum P) Hlt)].
Qed.
End Step.

(** @theorem compose-optimal
    adj is symmetric. Mechanisms 1..n, each of which sees all earlier outputs and is
    eps_i-DP for adj whatever those were. Publishing all n outputs is (eps, delta)-DP for
    adj for every eps, with delta the exact privacy curve at eps of n independent
    randomized responses with parameters eps_1..eps_n. *)
Theorem optimal_composition {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop)
  (ms : list (list T -> D -> dist T)) (es : list R) (eps : R) :
  symmetric adj -> Forall (fun e => 0 <= e) es ->
  Forall2 (fun m e => forall past, dp_mech adj e 0 (m past)) ms es ->
  dp_mech adj eps (hock es (exp eps)) (run eqd (sequence ms [])).
Proof.
  intros Hs He H d d' A.
  enough (forall past c l, 0 <= c -> NoDup l ->
    lsum (run eqd (sequence ms past) d) l - c * lsum (run eqd (sequence ms past) d') l <= hock es c) as G.
  { intros l Hl; pose proof (G [] (exp eps) l ltac:(left; apply exp_pos) Hl); lra. }
  induction H as [|m e ms es Hm H IH]; intros past c l Hc Hl.
  - set (P := run eqd (sequence [] past) d); change (run eqd (sequence [] past) d') with P; clearbody P.
    pose proof (has_sum_ub _ _ _ (pmf_sum P) Hl); pose proof (lsum_ge0 P l (pmf_ge0 P)).
    simpl; pose proof (Rmax_l 0 (1 - c)); pose proof (Rmax_r 0 (1 - c)); nra.
  - inversion He as [|? ? He1 He2]; subst; cbn [hock].
    pose proof (hock_joint eqd e (m past d) (m past d') (fun t => run eqd (sequence ms (past ++ [t])) d)
      (fun t => run eqd (sequence ms (past ++ [t])) d') (hock es) c (pairs l) He1) as J.
    cbn [sequence run]; rewrite (lsum_pairs (pmf (cons_dist eqd (m past d) _))), (lsum_pairs (pmf (cons_dist eqd (m past d') _))) by reflexivity.
    apply J; auto; [now apply Hm|now apply Hm, Hs|now apply pairs_NoDup].
Qed.

(* ---------- the homogeneous case in closed form ---------- *)
Fixpoint dotr (l : list Z) (f : nat -> R) : R :=
  match l with [] => 0 | c :: l => IZR c * f 0%nat + dotr l (fun k => f (S k)) end.
Lemma dotr_ext l f g : (forall k, f k = g k) -> dotr l f = dotr l g.
Proof. revert f g; induction l as [|c l IH]; intros f g H; simpl; auto; rewrite H, (IH _ (fun k => g (S k))); auto. Qed.
Lemma dotr_scal l x f : dotr l (fun k => x * f k) = x * dotr l f.
Proof. revert f; induction l as [|c l IH]; intros f; simpl; [ring|]; rewrite (IH (fun k => f (S k))); ring. Qed.
Lemma dotr_addrow x l f : dotr (addrow x l) f = IZR x * f 0%nat + dotr l f + dotr l (fun k => f (S k)).
Proof.
  revert x f; induction l as [|y l IH]; intros x f; simpl; [ring|]; rewrite IH, plus_IZR; ring.
Qed.
(* number of "yes": k of n; weight C(n,k) e^(k e) / (1+e^e)^n; loss (2k-n) e *)
Definition yes (e c : R) (n k : nat) : R := exp (INR k * e) * Rmax 0 (1 - c * exp ((INR n - 2 * INR k) * e)).
Lemma hock_repeat e n c : hock (repeat e n) c = dotr (row n) (yes e c n) / (1 + exp e) ^ n.
Proof.
  revert c; induction n as [|n IH]; intros c.
  - simpl; unfold yes; simpl; rewrite !Rmult_0_l.
    replace ((0 - 2 * 0) * e) with 0 by ring; rewrite exp_0, Rmult_1_r; field.
  - cbn [repeat hock row]; rewrite !IH, dotr_addrow.
    rewrite (dotr_ext _ (fun k => yes e c (S n) (S k)) (fun k => exp e * yes e (c / exp e) n k)).
    + rewrite dotr_scal, (dotr_ext _ (yes e c (S n)) (yes e (c * exp e) n)).
      * pose proof (exp_pos e); assert ((1 + exp e) ^ n <> 0) by (apply pow_nonzero; lra).
        simpl pow; field; split; lra.
      * intros k; unfold yes; do 3 f_equal; rewrite Rmult_assoc, <- exp_plus, S_INR; do 2 f_equal; ring.
    + intros k; unfold yes; rewrite <- Rmult_assoc, <- exp_plus, !S_INR.
      replace ((INR k + 1) * e) with (e + INR k * e) by ring; do 3 f_equal.
      unfold Rdiv; rewrite Rmult_assoc, <- exp_Ropp, <- exp_plus; do 2 f_equal; ring.
Qed.
(* the terms from k0 on, where k0 is the first k with (2k - n) e >= eps *)
Definition kov_delta (n k0 : nat) (e eps : R) : R :=
  let r := row n in
  lsum (fun k => IZR (nth k r 0%Z) * (exp (IZR (Z.of_nat k) * e) - exp (eps + IZR (Z.of_nat n - Z.of_nat k) * e))) (seq k0 (S n - k0))
    / (1 + exp e) ^ n.
Lemma dotr_lsum l f s : dotr l (fun k => f (s + k)%nat) = lsum (fun k => IZR (nth (k - s) l 0%Z) * f k) (seq s (length l)).
Proof.
  revert s; induction l as [|c l IH]; intros s; simpl; auto.
  rewrite Nat.sub_diag, Nat.add_0_r; f_equal.
  rewrite (dotr_ext _ _ (fun k => f (S s + k)%nat)) by (intros; f_equal; lia).
  rewrite IH; apply lsum_ext; intros k Hk; apply in_seq in Hk.
  replace (k - s)%nat with (S (k - S s)) by lia; reflexivity.
Qed.
Lemma hock_kov n k0 e eps : 0 <= e -> (k0 <= S n)%nat ->
  (forall k, (k < k0)%nat -> 0 <= eps + (INR n - 2 * INR k) * e) ->
  (forall k, (k0 <= k)%nat -> eps + (INR n - 2 * INR k) * e <= 0) ->
  hock (repeat e n) (exp eps) = kov_delta n k0 e eps.
Proof.
  intros He Hk0 Hlo Hhi; rewrite hock_repeat; unfold kov_delta; f_equal.
  change (yes e (exp eps) n) with (fun k => yes e (exp eps) n (0 + k)%nat).
  rewrite (dotr_lsum (row n) (yes e (exp eps) n) 0), row_length.
  replace (S n) with (k0 + (S n - k0))%nat at 1 by lia; rewrite seq_app, lsum_app.
  rewrite (lsum_ext _ (fun _ => 0 * 0) (seq 0 k0)), lsum_scal, Rmult_0_l, Rplus_0_l.
  - apply lsum_ext; intros k Hk; apply in_seq in Hk; rewrite Nat.sub_0_r; f_equal; unfold yes.
    assert (Hn : eps + (INR n - 2 * INR k) * e <= 0) by (apply Hhi; lia).
    rewrite Rmax_right.
    + rewrite Rmult_minus_distr_l, Rmult_1_r, <- INR_IZR_INZ; f_equal.
      rewrite <- !exp_plus, minus_IZR, <- !INR_IZR_INZ; f_equal; ring.
    + rewrite <- exp_plus; enough (exp (eps + (INR n - 2 * INR k) * e) <= exp 0) by (rewrite exp_0 in *; lra); now apply exp_le.
  - intros k Hk; apply in_seq in Hk; unfold yes.
    assert (Hn : 0 <= eps + (INR n - 2 * INR k) * e) by (apply Hlo; lia).
    rewrite Rmax_left; [ring|].
    rewrite <- exp_plus; enough (exp 0 <= exp (eps + (INR n - 2 * INR k) * e)) by (rewrite exp_0 in *; lra); now apply exp_le.
Qed.

(** @theorem compose-optimal-homogeneous
    adj is symmetric. n mechanisms, each of which sees all earlier outputs and is e-DP for
    adj. With k0 >= 1 the first number such that (2 k0 - n) e >= eps, publishing all n outputs
    is (eps, delta)-DP for adj with
    delta = sum_{k >= k0} C(n,k) (e^(k e) - e^(eps + (n-k) e)) / (1 + e^e)^n. *)
Theorem optimal_homogeneous {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (adj : D -> D -> Prop)
  (ms : list (list T -> D -> dist T)) (k0 : nat) (e eps delta : R) :
  let n := length ms in
  symmetric adj -> 0 <= e -> Forall (fun m => forall past, dp_mech adj e 0 (m past)) ms ->
  (1 <= k0 <= S n)%nat ->
  0 <= eps + IZR (Z.of_nat n - 2 * Z.of_nat (k0 - 1)) * e -> eps + IZR (Z.of_nat n - 2 * Z.of_nat k0) * e <= 0 ->
  kov_delta n k0 e eps <= delta ->
  dp_mech adj eps delta (run eqd (sequence ms [])).
Proof.
  intros n Hs He H Hk0 Hlo Hhi Hd.
  assert (G : dp_mech adj eps (hock (repeat e n) (exp eps)) (run eqd (sequence ms []))).
  { apply optimal_composition; auto.
    - apply Forall_forall; intros x Hx; apply repeat_spec in Hx; lra.
    - unfold n; clear - H; induction H; simpl; constructor; auto. }
  rewrite (hock_kov n k0) in G; auto; try lia.
  - intros d d' A; eapply dp_weaken; [apply pmf_ge0|apply Rle_refl|exact Hd|now apply G].
  - intros k Hk; eapply Rle_trans; [exact Hlo|]; apply Rplus_le_compat_l, Rmult_le_compat_r; auto.
    rewrite minus_IZR, mult_IZR, <- !INR_IZR_INZ; assert (INR k <= INR (k0 - 1)) by (apply le_INR; lia); lra.
  - intros k Hk; eapply Rle_trans; [|exact Hhi]; apply Rplus_le_compat_l, Rmult_le_compat_r; auto.
    rewrite minus_IZR, mult_IZR, <- !INR_IZR_INZ; assert (INR k0 <= INR k) by (apply le_INR; lia); lra.
Qed.

(* ---------- instance ---------- *)
From Interval Require Import Tactic.
From Assay.base Require Import PureInterval.
(* 25 counts of scale 10 (1/10 each), eps = 1 in place of 2.5: delta below 7e-3 *)
Example twentyfive_counts : dp_mech add_remove 1 (7 / 1000)
  (run zvec_eq (sequence (repeat (fun _ d => laplace_vec (prat 10 1) (size_query d)) 25) [])).
Proof.
  apply (optimal_homogeneous zvec_eq add_remove (repeat _ 25) 18 (1 / 10)); [apply add_remove_symmetric|lra| |simpl; lia| | |].
  - apply Forall_forall; intros m Hm; apply repeat_spec in Hm; subst m; intros _; apply size_laplace10.
  - rewrite repeat_length; simpl; lra.
  - rewrite repeat_length; simpl; lra.
  - rewrite repeat_length; cbv -[Rplus Rmult Rminus Rdiv Rinv Ropp Rle IZR exp ln pow]; interval with (i_prec 64).
Qed.
