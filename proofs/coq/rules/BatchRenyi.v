(* Sampling without replacement at integer Renyi orders, replace-one neighbours
   (Wang, Balle, Kasiviswanathan 2019): expand ((P - Q)/Q + 1)^a; the sampled difference
   P - Q is q (A - B), and A, B, Q are mixtures over the same batches. *)
From Coq Require Import Reals Lra Lia List ZArith Permutation.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors Neighbours Renyi Postprocess Subsampling WithoutReplacement.
Import ListNotations.
Local Open Scope R_scope.

Lemma rterm_mono a p p' q : 1 < a -> 0 <= p' <= p -> (0 < p -> 0 < q) -> rterm a p' q <= rterm a p q.
Proof.
  intros Ha Hp Hq; unfold rterm; destruct (Rle_dec p' 0); [apply (rterm_ge0 a p q)|].
  destruct (Rle_dec p 0); [lra|]; specialize (Hq ltac:(lra)).
  apply Rmult_le_compat; [lra|left; apply exp_pos|lra|]; apply exp_le, Rmult_le_compat_l; [lra|].
  rewrite !ln_div by lra; assert (ln p' <= ln p); [|lra].
  destruct (proj2 Hp) as [L| ->]; [left; apply ln_increasing; lra|lra].
Qed.
Lemma moment_mono {T} a m (p p' q : T -> R) : 1 < a -> (forall x, 0 <= p' x <= p x) -> moment a m p q -> moment a m p' q.
Proof.
  intros Ha Hp [H0 H]; split; [intros x Hx; apply H0; specialize (Hp x); lra|].
  intros l Hl; eapply Rle_trans; [|apply (H l Hl)]; apply lsum_le; intros x _; apply rterm_mono; auto.
Qed.

Section Batch.
Context {U T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).
Definition gap (P Q : dist T) (x : T) : R := Rabs (P x - Q x).
Variables (j m : R).
Hypothesis (Hj : 1 < j).
(* the same weights on both sides *)
Lemma gap_mix q (P1 P2 Q1 Q2 : dist T) (R1 R2 : T -> R) (V : T -> R) : 0 <= q <= 1 ->
  (forall x, 0 <= R1 x) -> (forall x, 0 <= R2 x) ->
  (forall x, 0 <= V x <= (1 - q) * gap P1 Q1 x + q * gap P2 Q2 x) ->
  moment j m (gap P1 Q1) R1 -> moment j m (gap P2 Q2) R2 -> moment j m V (mix q R1 R2).
Proof.
  intros Hq HR1 HR2 HV H1 H2; apply (moment_mono j m (mix q (gap P1 Q1) (gap P2 Q2))); auto.
  replace m with ((1 - q) * m + q * m) by ring; apply moment_mix; auto; intros x; apply Rabs_pos.
Qed.
Lemma gap_wor_cons k (M M' : list U -> dist T) z l x : let q := rate k (S (length l)) in
  gap (wor eqd k M (z :: l)) (wor eqd k M' (z :: l)) x <=
    (1 - q) * gap (wor eqd k M l) (wor eqd k M' l) x
    + q * gap (wor eqd (pred k) (fun s => M (z :: s)) l) (wor eqd (pred k) (fun s => M' (z :: s)) l) x.
Proof.
  intros q; pose proof (rate_01 k (S (length l))) as Hq; fold q in Hq; unfold gap; cbn [wor]; simpl; unfold mix; fold q.
  set (a := wor eqd k M l x); set (b := wor eqd k M' l x); set (c := wor eqd (pred k) (fun s => M (z :: s)) l x);
    set (d := wor eqd (pred k) (fun s => M' (z :: s)) l x).
  replace ((1 - q) * a + q * c - ((1 - q) * b + q * d)) with ((1 - q) * (a - b) + q * (c - d)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]; rewrite !Rabs_mult, (Rabs_pos_eq (1 - q)), (Rabs_pos_eq q) by lra; lra.
Qed.
(* k others and one given record, three ways *)
Lemma gap_same l : forall k (M M' N : list U -> dist T), (forall s, moment j m (gap (M s) (M' s)) (N s)) ->
  moment j m (gap (wor eqd k M l) (wor eqd k M' l)) (wor eqd k N l).
Proof.
  induction l as [|z l IH]; intros k M M' N H; [apply H|].
  apply (gap_mix (rate k (S (length l))) (wor eqd k M l) (wor eqd (pred k) (fun s => M (z :: s)) l)
    (wor eqd k M' l) (wor eqd (pred k) (fun s => M' (z :: s)) l)); auto using rate_01, pmf_ge0.
  intros x; split; [apply Rabs_pos|apply gap_wor_cons].
Qed.
Lemma gap_shift x y l : forall k (M : list U -> dist T), unordered M ->
  (forall u v z s, moment j m (gap (M (u :: s)) (M (v :: s))) (M (z :: s))) -> (S k <= length l)%nat ->
  moment j m (gap (wor eqd k (fun s => M (x :: s)) l) (wor eqd k (fun s => M (y :: s)) l)) (wor eqd (S k) M l).
Proof.
  induction l as [|z l IH]; intros k M HM H Hk; [simpl in Hk; lia|]; simpl in Hk.
  set (Mx := fun s => M (x :: s)); set (My := fun s => M (y :: s)); set (Mz := fun s => M (z :: s)).
  set (N := INR (S (length l))); assert (HN : 0 < N) by (apply lt_0_INR; lia).
  assert (R1 : rate k (S (length l)) = INR k / N) by (apply rate_eq; lia).
  assert (R2 : rate (S k) (S (length l)) = (INR k + 1) / N) by (rewrite rate_eq, S_INR by lia; reflexivity).
  assert (Hb : 0 <= (INR k + 1) / N <= 1) by (rewrite <- R2; apply rate_01).
  assert (HI : 0 < / N) by now apply Rinv_0_lt_compat.
  assert (Hk0 := pos_INR k).
  (* second branch of the right side: weights 1/(k+1) and k/(k+1) *)
  set (th := INR k / (INR k + 1)).
  assert (Hth : 0 <= th <= 1).
  { split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
    apply Rmult_le_reg_r with (INR k + 1); [lra|]; unfold th, Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
  set (g1 := gap (wor eqd k Mx l) (wor eqd k My l)).
  set (g2 := gap (wor eqd (pred k) (fun s => Mx (z :: s)) l) (wor eqd (pred k) (fun s => My (z :: s)) l)).
  assert (I2 : moment j m g1 (wor eqd k Mz l)) by (apply gap_same; intros s; apply H).
  assert (I23 : moment j m (mix th g1 g2) (wor eqd k Mz l)).
  { destruct k as [|k].
    - eapply moment_ext; [|reflexivity|exact I2]; intros t; unfold mix, th; simpl; unfold Rdiv; ring.
    - assert (I : moment j m g2 (wor eqd (S k) Mz l)).
      { pose proof (IH k Mz (unordered_cons M z HM)) as G.
        assert (Hg : forall u v w s, moment j m (gap (Mz (u :: s)) (Mz (v :: s))) (Mz (w :: s))).
        { intros u v w s; eapply moment_ext; [| |apply (H u v w (z :: s))].
          - intros t; unfold gap, Mz; rewrite (HM (u :: z :: s) (z :: u :: s)), (HM (v :: z :: s) (z :: v :: s)) by constructor; reflexivity.
          - intros t; unfold Mz; apply HM; constructor. }
        specialize (G Hg ltac:(lia)); eapply moment_ext; [|reflexivity|exact G].
        intros t; unfold g2, gap, Mx, My, Mz; cbn [pred].
        rewrite (wor_ext eqd k (fun s => M (x :: z :: s)) (fun s => M (z :: x :: s)) l) by (intros s t'; apply HM; constructor).
        rewrite (wor_ext eqd k (fun s => M (y :: z :: s)) (fun s => M (z :: y :: s)) l) by (intros s t'; apply HM; constructor).
        reflexivity. }
      apply (moment_ext j m (mix th g1 g2) (mix th (wor eqd (S k) Mz l) (wor eqd (S k) Mz l)));
        [reflexivity|intros t; unfold mix; ring|].
      replace m with ((1 - th) * m + th * m) by ring; apply moment_mix; auto; intros t; try apply Rabs_pos; apply pmf_ge0. }
  assert (G12 : forall t, 0 <= mix th g1 g2 t).
  { intros t; unfold mix; apply Rplus_le_le_0_compat; apply Rmult_le_pos; try lra; apply Rabs_pos. }
  assert (HV : forall t, 0 <= gap (wor eqd k Mx (z :: l)) (wor eqd k My (z :: l)) t
    <= mix ((INR k + 1) / N) g1 (mix th g1 g2) t).
  { intros t; split; [apply Rabs_pos|]; eapply Rle_trans; [apply gap_wor_cons|]; rewrite R1; fold g1 g2; right.
    unfold mix, th; field; lra. }
  destruct (Nat.eq_dec k (length l)) as [Ek|Ek].
  - assert (E1 : (INR k + 1) / N = 1) by (unfold N; rewrite Ek, S_INR; field; pose proof (pos_INR (length l)); lra).
    apply (moment_mono j m (mix th g1 g2)); auto.
    + intros t; specialize (HV t); rewrite E1 in HV; unfold mix at 1 in HV; lra.
    + eapply moment_ext; [reflexivity| |exact I23]; intros t; cbn [wor pred]; simpl; unfold mix; rewrite R2, E1; fold Mz; ring.
  - apply (moment_mono j m (mix ((INR k + 1) / N) g1 (mix th g1 g2))); auto.
    eapply moment_ext; [reflexivity| |].
    + intros t; symmetry; cbn [wor pred]; simpl; rewrite R2; fold Mz; reflexivity.
    + replace m with ((1 - (INR k + 1) / N) * m + (INR k + 1) / N * m) by ring; apply moment_mix; auto;
        try (intros t; apply Rabs_pos); try apply pmf_ge0.
      apply IH; auto; lia.
Qed.
End Batch.

(* ---------- the expansion ---------- *)
Definition batch_term (j : nat) (rho : R) : R :=
  match j with
  | 2%nat => Rmin (4 * (exp (2 * rho) - 1)) (2 * exp (2 * rho))
  | _ => 2 * exp (INR j * (INR j - 1) * rho)
  end.
(* 1 + sum_{j>=2} C(a,j) q^j T_j *)
Definition batch_moment (a : nat) (q rho : R) : R :=
  sum_f_R0 (fun j => match j with 0%nat => 1 | 1%nat => 0 | _ => C a j * q ^ j * batch_term j rho end) a.

Section Expand.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).
Lemma exhaust (Q : dist T) (f : T -> R) k X : 0 <= k -> (forall x, 0 <= f x) ->
  (forall l, NoDup l -> lsum f l <= X + k * (1 - lsum Q l)) -> forall l, NoDup l -> lsum f l <= X.
Proof.
  intros [Hk| <-] Hf H l Hl; [|specialize (H l Hl); lra].
  enough (1 <= (X + k - lsum f l) / k) as G.
  { apply (Rmult_le_compat_l k) in G; [|lra]; replace (k * ((X + k - lsum f l) / k)) with (X + k - lsum f l) in G by (field; lra); lra. }
  eapply has_sum_lub; [apply (pmf_sum Q)|]; intros l2 Hl2.
  set (l' := nodup eqd (l ++ l2)); assert (Hl' : NoDup l') by apply NoDup_nodup.
  assert (A : lsum f l <= lsum f l').
  { apply lsum_incl; auto; intros x Hx; apply nodup_In, in_or_app; auto. }
  assert (B : lsum Q l2 <= lsum Q l').
  { apply lsum_incl; auto; [apply pmf_ge0|]; intros x Hx; apply nodup_In, in_or_app; auto. }
  specialize (H l' Hl').
  apply Rmult_le_reg_l with k; auto; replace (k * ((X + k - lsum f l) / k)) with (X + k - lsum f l) by (field; lra); nra.
Qed.
(* three rho-close distributions *)
Lemma ternary (j : nat) rho (P Q S : dist T) : (2 <= j)%nat -> zcdp rho P S -> zcdp rho Q S ->
  moment (INR j) (batch_term j rho) (gap P Q) S.
Proof.
  intros Hj [P0 P1] [Q0 Q1].
  assert (Ja : 1 < INR j) by (apply (lt_INR 1); lia).
  assert (AC : forall x, 0 < gap P Q x -> 0 < S x).
  { intros x Hx; destruct (pmf_ge0 P x) as [Hp|Hp]; [now apply P0|]; destruct (pmf_ge0 Q x) as [Hq|Hq]; [now apply Q0|].
    unfold gap in Hx; rewrite <- Hp, <- Hq, Rminus_0_r, Rabs_R0 in Hx; lra. }
  assert (Two : moment (INR j) (2 * exp (INR j * (INR j - 1) * rho)) (gap P Q) S).
  { split; auto; intros l Hl; apply Rle_trans with (lsum (fun x => rterm (INR j) (P x) (S x) + rterm (INR j) (Q x) (S x)) l).
    - apply lsum_le; intros x _; pose proof (pmf_ge0 P x); pose proof (pmf_ge0 Q x).
      pose proof (rterm_ge0 (INR j) (P x) (S x)); pose proof (rterm_ge0 (INR j) (Q x) (S x)).
      destruct (Rle_dec (Q x) (P x)).
      + assert (rterm (INR j) (gap P Q x) (S x) <= rterm (INR j) (P x) (S x)); [|lra].
        apply rterm_mono; auto; unfold gap; rewrite Rabs_pos_eq; lra.
      + assert (rterm (INR j) (gap P Q x) (S x) <= rterm (INR j) (Q x) (S x)); [|lra].
        apply rterm_mono; auto; unfold gap; rewrite Rabs_left1; lra.
    - rewrite lsum_plus; pose proof (P1 (INR j) Ja l Hl); pose proof (Q1 (INR j) Ja l Hl).
      replace ((INR j - 1) * (INR j * rho)) with (INR j * (INR j - 1) * rho) in * by ring; lra. }
  destruct (Nat.eq_dec j 2) as [->|N2]; [|destruct j as [|[|[|j]]]; try lia; exact Two].
  cbn [batch_term]; unfold Rmin; destruct (Rle_dec _ _) as [_|_].
  2:{ replace (2 * rho) with (INR 2 * (INR 2 - 1) * rho) by (simpl; ring); exact Two. }
  (* (p-q)^2/s <= 2 (p-s)^2/s + 2 (q-s)^2/s *)
  split; auto.
  assert (One : forall X : dist T, (forall x, 0 < X x -> 0 < S x) ->
    (forall l, NoDup l -> lsum (fun x => rterm 2 (X x) (S x)) l <= exp (2 * rho)) ->
    forall l, NoDup l -> lsum (fun x => if Rle_dec (S x) 0 then 0 else (X x - S x) * (X x - S x) / S x) l <= exp (2 * rho) - 1).
  { intros X X0 X1; apply (exhaust X _ 2); [lra| |].
    - intros x; destruct (Rle_dec (S x) 0); [lra|]; apply Rmult_le_pos; [apply Rle_0_sqr|left; apply Rinv_0_lt_compat; lra].
    - intros l Hl; rewrite (lsum_ext _ (fun x => rterm 2 (X x) (S x) + (-2 * X x + S x))).
      + rewrite !lsum_plus, lsum_scal; specialize (X1 l Hl); pose proof (has_sum_ub _ _ _ (pmf_sum S) Hl); lra.
      + intros x _; destruct (Rle_dec (S x) 0) as [L|L].
        * assert (S x = 0) as -> by (pose proof (pmf_ge0 S x); lra).
          assert (X x = 0) as -> by (destruct (pmf_ge0 X x) as [Hx|]; auto; specialize (X0 x Hx); pose proof (pmf_ge0 S x); lra).
          unfold rterm; destruct (Rle_dec 0 0); lra.
        * replace 2 with (INR 2) at 1 by (simpl; ring); rewrite rterm_nat by (try apply pmf_ge0; try lia; lra).
          simpl; field; lra. }
  assert (PB : forall l, NoDup l -> lsum (fun x => rterm 2 (P x) (S x)) l <= exp (2 * rho)).
  { intros l Hl; eapply Rle_trans; [apply (P1 2 ltac:(lra) l Hl)|right; f_equal; ring]. }
  assert (QB : forall l, NoDup l -> lsum (fun x => rterm 2 (Q x) (S x)) l <= exp (2 * rho)).
  { intros l Hl; eapply Rle_trans; [apply (Q1 2 ltac:(lra) l Hl)|right; f_equal; ring]. }
  intros l Hl; pose proof (One P P0 PB l Hl) as O1; pose proof (One Q Q0 QB l Hl) as O2.
  apply Rle_trans with (lsum (fun x => 2 * (if Rle_dec (S x) 0 then 0 else (P x - S x) * (P x - S x) / S x)
    + 2 * (if Rle_dec (S x) 0 then 0 else (Q x - S x) * (Q x - S x) / S x)) l).
  - apply lsum_le; intros x _; destruct (Rle_dec (S x) 0) as [L|L].
    + unfold rterm; destruct (Rle_dec (gap P Q x) 0) as [|G]; [lra|]; exfalso; specialize (AC x ltac:(lra)); lra.
    + rewrite rterm_nat by (try apply Rabs_pos; try lia; lra).
      assert (HS : 0 < S x) by lra; assert (HI : 0 < / S x) by now apply Rinv_0_lt_compat.
      replace (S x * (gap P Q x / S x) ^ 2) with (gap P Q x * gap P Q x * / S x) by (simpl; field; lra).
      assert (E : gap P Q x * gap P Q x = (P x - Q x) * (P x - Q x)).
      { unfold gap, Rabs; destruct (Rcase_abs (P x - Q x)); ring. }
      rewrite E; unfold Rdiv.
      replace (2 * ((P x - S x) * (P x - S x) * / S x) + 2 * ((Q x - S x) * (Q x - S x) * / S x))
        with ((2 * ((P x - S x) * (P x - S x)) + 2 * ((Q x - S x) * (Q x - S x))) * / S x) by ring.
      apply Rmult_le_compat_r; [lra|]; pose proof (Rle_0_sqr (P x + Q x - 2 * S x)) as Sq; unfold Rsqr in Sq; lra.
  - rewrite lsum_plus, !lsum_scal; lra.
Qed.

(* P = Q + q (A - B) *)
Lemma expand (a : nat) q rho (P Q A B : dist T) : (2 <= a)%nat -> 0 <= q <= 1 ->
  (forall x, P x = Q x + q * (A x - B x)) -> (forall x, 0 < P x -> 0 < Q x) -> (forall x, Q x = 0 -> A x - B x = 0) ->
  (forall j, (2 <= j <= a)%nat -> moment (INR j) (batch_term j rho) (gap A B) Q) ->
  moment (INR a) (batch_moment a q rho) P Q.
Proof.
  intros Ha Hq HP AC H0 H; split; auto.
  set (tail := fun x => sum_f_R0 (fun j => match j with 0%nat => 0 | 1%nat => 0 | _ => C a j * q ^ j * rterm (INR j) (gap A B x) (Q x) end) a).
  assert (CP : forall j, 0 <= C a j).
  { intros j; unfold C; apply Rmult_le_pos; [left; apply INR_fact_lt_0|left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; apply INR_fact_lt_0]. }
  assert (Pt : forall x, rterm (INR a) (P x) (Q x) <= Q x + C a 1 * q * (A x - B x) + tail x).
  { intros x; destruct (pmf_ge0 Q x) as [Qx|Qx].
    - rewrite rterm_nat by (try apply pmf_ge0; try lia; lra).
      replace (P x / Q x) with (q * ((A x - B x) / Q x) + 1) by (rewrite HP; field; lra).
      rewrite binomial, scal_sum; unfold tail.
      set (f := fun j => C a j * (q * ((A x - B x) / Q x)) ^ j * 1 ^ (a - j) * Q x).
      set (g := fun j => match j with 0%nat => 0 | 1%nat => 0 | _ => C a j * q ^ j * rterm (INR j) (gap A B x) (Q x) end).
      destruct a as [|[|a]]; [lia|lia|].
      rewrite (decomp_sum f (S (S a))), (decomp_sum g (S (S a))) by lia; cbn [pred].
      rewrite (decomp_sum (fun i => f (S i)) (S a)), (decomp_sum (fun i => g (S i)) (S a)) by lia; cbn [pred].
      assert (F0 : f 0%nat = Q x).
      { unfold f; rewrite pow_O, pow1; unfold C; rewrite Nat.sub_0_r; simpl (fact 0); change (INR 1) with 1; field; apply INR_fact_neq_0. }
      assert (F1 : f 1%nat = C (S (S a)) 1 * q * (A x - B x)) by (unfold f; rewrite pow_1, pow1; field; lra).
      assert (G0 : g 0%nat = 0) by reflexivity; assert (G1 : g 1%nat = 0) by reflexivity.
      rewrite F0, F1, G0, G1.
      assert (sum_f_R0 (fun i => f (S (S i))) a <= sum_f_R0 (fun i => g (S (S i))) a); [|lra].
      apply sum_Rle; intros i _; unfold f, g; rewrite pow1, Rmult_1_r, Rpow_mult_distr.
      rewrite rterm_nat by (try apply Rabs_pos; try lia; lra).
      replace (C (S (S a)) (S (S i)) * (q ^ S (S i) * ((A x - B x) / Q x) ^ S (S i)) * Q x)
        with (C (S (S a)) (S (S i)) * q ^ S (S i) * (Q x * ((A x - B x) / Q x) ^ S (S i))) by ring.
      apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply CP|apply pow_le; lra]|].
      apply Rmult_le_compat_l; [lra|]; eapply Rle_trans; [apply RRle_abs|]; rewrite <- RPow_abs; right; f_equal.
      unfold gap, Rdiv; rewrite Rabs_mult, (Rabs_pos_eq (/ Q x)); [reflexivity|left; now apply Rinv_0_lt_compat].
    - symmetry in Qx; assert (E := H0 x Qx); assert (Px : P x = 0) by (rewrite HP, Qx, E; ring).
      rewrite Px, Qx, E; assert (0 <= tail x).
      { unfold tail; apply cond_pos_sum; intros [|[|j]]; try lra.
        apply Rmult_le_pos; [apply Rmult_le_pos; [apply CP|apply pow_le; lra]|apply rterm_ge0]. }
      unfold rterm at 1; destruct (Rle_dec 0 0); lra. }
  apply (exhaust B _ (C a 1 * q)); [apply Rmult_le_pos; [apply CP|lra]|intros; apply rterm_ge0|].
  intros l Hl; eapply Rle_trans; [apply lsum_le; intros x _; apply Pt|].
  rewrite !lsum_plus, lsum_scal.
  rewrite (lsum_ext (fun x => A x - B x) (fun x => A x + -1 * B x)), lsum_plus, lsum_scal by (intros; ring).
  assert (Tl : lsum tail l <= batch_moment a q rho - 1).
  { unfold tail; rewrite lsum_sum_f; unfold batch_moment; destruct a as [|a]; [lia|].
    rewrite (decomp_sum (fun k => lsum _ l) (S a)), (decomp_sum (fun j => match j with 0%nat => 1 | 1%nat => 0 | _ => _ end) (S a)) by lia.
    assert (Z : forall k, lsum (fun _ : T => 0) k = 0) by (intros k; induction k; simpl; lra).
    rewrite Z; enough (sum_f_R0 (fun i => lsum (fun x => match S i with 0%nat => 0 | 1%nat => 0 | _ => C (S a) (S i) * q ^ S i * rterm (INR (S i)) (gap A B x) (Q x) end) l) (pred (S a))
      <= sum_f_R0 (fun i => match S i with 0%nat => 1 | 1%nat => 0 | _ => C (S a) (S i) * q ^ S i * batch_term (S i) rho end) (pred (S a))) by lra.
    apply sum_Rle; intros [|i] Hi; [rewrite Z; lra|].
    rewrite lsum_scal; apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply CP|apply pow_le; lra]|].
    apply (H (S (S i))); auto; simpl in Hi; lia. }
  pose proof (has_sum_ub _ _ _ (pmf_sum Q) Hl); pose proof (has_sum_ub _ _ _ (pmf_sum A) Hl).
  assert (0 <= C a 1 * q) by (apply Rmult_le_pos; [apply CP|lra]).
  assert (C a 1 * q * (lsum A l + -1 * lsum B l) <= C a 1 * q * (1 - lsum B l)) by (apply Rmult_le_compat_l; lra); lra.
Qed.
End Expand.

(** @theorem without-replacement-renyi
    M depends on the set of its records, not on their order, and is rho-zCDP when one record
    is replaced. Run on a uniformly random b >= 1 of the n records, with q = b/n, its moment of
    integer order a >= 2 when one record is replaced is at most
    1 + C(a,2) q^2 min(4(e^(2 rho) - 1), 2 e^(2 rho)) + sum_{j=3}^a C(a,j) q^j 2 e^(j(j-1) rho). *)
Theorem wor_moment {U T} (eqd : forall x y : T, {x = y} + {x <> y}) b n rho (M : list U -> dist T) (a : nat) :
  (1 <= b)%nat -> (b <= n)%nat -> (2 <= a)%nat -> 0 <= rho -> unordered M -> zcdp_mech replace_one rho M ->
  moment_mech (fun d d' => length d = n /\ replace_one d d') (INR a) (batch_moment a (INR b / INR n) rho) (wor eqd b M).
Proof.
  intros Hb1 Hb Ha Hr HM H d d' [Hl (l1 & x & y & l2 & -> & ->)].
  assert (Hn : (1 <= n)%nat) by lia.
  set (L := l1 ++ l2); set (q := INR b / INR n).
  assert (HL : S (length L) = n) by (unfold L; rewrite app_length in *; simpl in Hl; lia).
  assert (Eq : rate b (S (length L)) = q) by (rewrite HL; apply rate_eq; auto).
  assert (Hq : 0 <= q <= 1) by (rewrite <- Eq; apply rate_01).
  assert (HZ : forall u v s, zcdp rho (M (u :: s)) (M (v :: s))) by (intros u v s; apply H; exists [], u, v, s; auto).
  set (A := wor eqd (pred b) (fun s => M (x :: s)) L); set (B := wor eqd (pred b) (fun s => M (y :: s)) L); set (R0 := wor eqd b M L).
  set (P := mix_dist eqd q Hq R0 A); set (Q := mix_dist eqd q Hq R0 B).
  apply (moment_ext (INR a) _ P Q).
  { intros z; rewrite (wor_middle eqd l1 b M x l2 HM z); cbn [wor]; simpl; unfold mix; fold L; rewrite Eq; reflexivity. }
  { intros z; rewrite (wor_middle eqd l1 b M y l2 HM z); cbn [wor]; simpl; unfold mix; fold L; rewrite Eq; reflexivity. }
  (* the gap of A and B against Q *)
  assert (G : forall j, (2 <= j)%nat -> moment (INR j) (batch_term j rho) (gap A B) Q).
  { intros j Hj; assert (Ja : 1 < INR j) by (apply (lt_INR 1); lia).
    assert (GB : moment (INR j) (batch_term j rho) (gap A B) B).
    { apply gap_same; auto; intros s; apply ternary; auto. }
    destruct (Nat.eq_dec b n) as [Ebn|Nbn].
    - assert (E1 : q = 1) by (unfold q; rewrite Ebn; field; apply not_0_INR; lia).
      eapply moment_ext; [reflexivity| |exact GB]; intros z; simpl; unfold mix; rewrite E1; ring.
    - destruct b as [|b]; [lia|].
      assert (GR : moment (INR j) (batch_term j rho) (gap A B) R0).
      { apply gap_shift; auto; [|lia]; intros u v w s; apply ternary; auto. }
      apply (moment_ext (INR j) _ (gap A B) (mix q R0 B)); [reflexivity|reflexivity|].
      apply (gap_mix (INR j) (batch_term j rho) Ja q A A B B R0 B); auto using pmf_ge0.
      intros z; split; [apply Rabs_pos|right; ring]. }
  destruct (G 2%nat ltac:(lia)) as [AC2 _].
  assert (Diff : forall z, A z - B z <> 0 -> 0 < Q z) by (intros z Hz; apply AC2; unfold gap; now apply Rabs_pos_lt).
  assert (q0 : 0 < q) by (unfold q; apply Rdiv_lt_0_compat; apply lt_0_INR; lia).
  apply (expand eqd a q rho P Q A B); auto.
  - intros z; simpl; unfold mix; ring.
  - intros z Hz; destruct (Req_dec (A z - B z) 0) as [E0|N0]; [|now apply Diff].
    replace (Q z) with (P z); auto; simpl; unfold mix; replace (A z) with (B z) by lra; reflexivity.
  - intros z Qz; destruct (Req_dec (A z - B z) 0) as [E0|N0]; auto; specialize (Diff z N0); lra.
  - intros j Hj; apply G; lia.
Qed.

(* a batch of 100 of 1000 records, histogram with sigma^2 = 100 (rho = 1/100), order 8 *)
Lemma histogram_gauss_unordered v : unordered (fun d => gauss_vec v (histogram d)).
Proof.
  intros s s' P y; replace (histogram s) with (histogram s'); auto.
  unfold histogram, cell; rewrite !(proj1 (Permutation_count_occ Bool.bool_dec s s') P); reflexivity.
Qed.
Example batch_histogram_moment : moment_mech (fun d d' => length d = 1000%nat /\ replace_one d d') (INR 8)
  (batch_moment 8 (INR 100 / INR 1000) (2 / (2 * (100 / 1)))) (wor zvec_eq 100 (fun d => gauss_vec (prat 100 1) (histogram d))).
Proof. apply wor_moment; [lia|lia|lia|lra|apply histogram_gauss_unordered|apply histogram_gauss]. Qed.
