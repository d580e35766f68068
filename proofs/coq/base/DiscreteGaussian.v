(* Discrete Gaussian on Z satisfies (Delta^2/(2 sigma^2))-zCDP  (CKS20, Theorem 14).
   Key lemma  sum_x exp(-(x-m)^2/2v) <= sum_x exp(-x^2/2v)  by the parallelogram
   identity and Cauchy-Schwarz (no Poisson summation, no integrals). v = sigma^2. *)
From Coq Require Import Reals Lra Lia List ZArith FinFun.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
Import ListNotations.
Local Open Scope R_scope.

Definition gw (v m : R) (x : Z) : R := exp (- ((IZR x - m) * (IZR x - m)) / (2 * v)).

(* ---------- summability, uniformly in m ---------- *)
Lemma gw_bound v m x : 0 < v -> 0 <= m <= 1 -> gw v m x <= exp (3 / (2 * v)) * lapw v x.
Proof.
  intros Hv Hm; unfold gw, lapw; rewrite <- exp_plus; apply exp_le.
  apply Rmult_le_reg_r with (2 * v); [lra|].
  replace ((3 / (2 * v) + - IZR (Z.abs x) / v) * (2 * v)) with (3 - 2 * IZR (Z.abs x)) by (field; lra).
  replace (- ((IZR x - m) * (IZR x - m)) / (2 * v) * (2 * v)) with (- ((IZR x - m) * (IZR x - m))) by (field; lra).
  pose proof (Rle_0_sqr (IZR x - m + 1)) as S1; pose proof (Rle_0_sqr (IZR x - m - 1)) as S2; unfold Rsqr in S1, S2.
  rewrite abs_IZR; unfold Rabs; destruct (Rcase_abs (IZR x)); lra.
Qed.
Definition gbound v := exp (3 / (2 * v)) * ((1 + exp (-1 / v)) / (1 - exp (-1 / v))).
Lemma gw_lsum01 v m l : 0 < v -> 0 <= m <= 1 -> NoDup l -> lsum (gw v m) l <= gbound v.
Proof.
  intros Hv Hm Hl; eapply Rle_trans; [apply lsum_le; intros; apply gw_bound; auto|].
  rewrite lsum_scal; apply Rmult_le_compat_l; [left; apply exp_pos|].
  eapply has_sum_ub; [apply lapw_sum|]; auto.
Qed.
Lemma gw_shift v m (k x : Z) : gw v (m + IZR k) (x + k) = gw v m x.
Proof. unfold gw; rewrite plus_IZR; f_equal; f_equal; ring. Qed.
Lemma gw_lsum v m l : 0 < v -> NoDup l -> lsum (gw v m) l <= gbound v.
Proof.
  intros Hv Hl; set (k := Int_part m).
  assert (Hm : 0 <= m - IZR k <= 1) by (pose proof (base_fp m) as H; unfold frac_part in H; fold k in H; lra).
  rewrite (lsum_ext _ (fun x => gw v (m - IZR k) (x - k))), <- (lsum_map (fun x => (x - k)%Z) (gw v (m - IZR k))).
  - apply gw_lsum01; auto; apply Injective_map_NoDup; auto; intros x y; lia.
  - intros x _; rewrite <- (gw_shift v (m - IZR k) k); f_equal; [ring|lia].
Qed.
Definition theta_sig v (Hv : 0 < v) m : {s | has_sum (gw v m) s} :=
  has_sum_exists (gw v m) (gbound v) (fun l => gw_lsum v m l Hv).
Definition theta v (Hv : 0 < v) m : R := proj1_sig (theta_sig v Hv m).
Lemma theta_sum v Hv m : has_sum (gw v m) (theta v Hv m).
Proof. exact (proj2_sig (theta_sig v Hv m)). Qed.
Lemma theta_pos v Hv m : 0 < theta v Hv m.
Proof.
  eapply Rlt_le_trans; [|apply (has_sum_ub _ _ [0%Z] (theta_sum v Hv m)); repeat constructor; easy].
  simpl; rewrite Rplus_0_r; apply exp_pos.
Qed.
Lemma theta_shift v Hv m k : theta v Hv (m + IZR k) = theta v Hv m.
Proof.
  eapply has_sum_uniq; [|apply theta_sum].
  eapply has_sum_ext; [intros x; apply (gw_shift v m k x)|].
  apply (has_sum_bij (gw v (m + IZR k)) (fun x => (x + k)%Z) (fun x => (x - k)%Z)); [intros; lia|intros; lia|apply theta_sum].
Qed.

(* ---------- products and disjoint unions ---------- *)
Definition gdist v (Hv : 0 < v) (m : R) : dist Z.
Proof.
  refine {| pmf := fun x => / theta v Hv m * gw v m x |}.
  - intros x; apply Rmult_le_pos; [left; apply Rinv_0_lt_compat, theta_pos|left; apply exp_pos].
  - rewrite <- (Rinv_l (theta v Hv m)) by (apply Rgt_not_eq, theta_pos).
    apply has_sum_scal; [apply Rinv_0_lt_compat, theta_pos|apply theta_sum].
Defined.
Lemma theta_prod v Hv a b :
  has_sum (fun p : Z * Z => gw v a (fst p) * gw v b (snd p)) (theta v Hv a * theta v Hv b).
Proof.
  pose proof (theta_pos v Hv a) as Ha; pose proof (theta_pos v Hv b) as Hb.
  pose proof (has_sum_scal _ (theta v Hv a * theta v Hv b) _ ltac:(nra)
    (joint_sum Z.eq_dec (gdist v Hv a) (fun _ => gdist v Hv b))) as H.
  rewrite Rmult_1_r in H; eapply has_sum_ext; [|exact H]; intros [x y]; unfold joint; simpl; field; lra.
Qed.
Fixpoint lefts {A B} (l : list (A + B)) : list A :=
  match l with [] => [] | inl a :: l => a :: lefts l | inr _ :: l => lefts l end.
Fixpoint rights {A B} (l : list (A + B)) : list B :=
  match l with [] => [] | inl _ :: l => rights l | inr b :: l => b :: rights l end.
Lemma lefts_In {A B} (l : list (A + B)) a : In a (lefts l) -> In (inl a) l.
Proof. induction l as [|[x|x] l IH]; simpl; intuition congruence. Qed.
Lemma rights_In {A B} (l : list (A + B)) b : In b (rights l) -> In (inr b) l.
Proof. induction l as [|[x|x] l IH]; simpl; intuition congruence. Qed.
Lemma has_sum_either {A B} (f : A + B -> R) a b :
  has_sum (fun x => f (inl x)) a -> has_sum (fun x => f (inr x)) b -> has_sum f (a + b).
Proof.
  intros Ha Hb; apply has_sum_intro.
  - intros l Hl; assert (NoDup (lefts l) /\ NoDup (rights l)) as [H1 H2].
    { induction Hl as [|[x|x] l Hx Hl [I1 I2]]; simpl; split; try constructor; auto.
      - intros H; now apply Hx, lefts_In.
      - intros H; now apply Hx, rights_In. }
    replace (lsum f l) with (lsum (fun x => f (inl x)) (lefts l) + lsum (fun x => f (inr x)) (rights l)).
    + apply Rplus_le_compat; eapply has_sum_ub; eauto.
    + clear; induction l as [|[x|x] l IH]; simpl; lra.
  - intros c Hc.
    assert (a <= c - b); [|lra]; eapply has_sum_lub; [exact Ha|]; intros l1 H1.
    assert (b <= c - lsum (fun x => f (inl x)) l1); [|lra]; eapply has_sum_lub; [exact Hb|]; intros l2 H2.
    enough (NoDup (map inl l1 ++ map inr l2)) as HN by (specialize (Hc _ HN); rewrite lsum_app, !lsum_map in Hc; lra).
    clear - H1 H2; induction H1 as [|x l1 Hx H1 IH]; simpl.
    + apply Injective_map_NoDup; auto; intros x y E; congruence.
    + constructor; auto; intros H; apply in_app_or in H; destruct H as [H|H];
        apply in_map_iff in H; destruct H as [y [E Hy]]; inversion E; subst; auto.
Qed.

(* ---------- parallelogram: (x,y) = (z-j, z+j) or (z-j, z+j+1) ---------- *)
Definition para (p : (Z * Z) + (Z * Z)) : Z * Z :=
  match p with inl (z, j) => (z - j, z + j)%Z | inr (z, j) => (z - j, z + j + 1)%Z end.
Definition unpara (q : Z * Z) : (Z * Z) + (Z * Z) :=
  let (x, y) := q in
  if Z.even (y - x) then inl ((x + y) / 2, (y - x) / 2)%Z else inr ((x + y - 1) / 2, (y - x - 1) / 2)%Z.
Lemma unpara_para p : unpara (para p) = p.
Proof.
  destruct p as [[z j]|[z j]]; unfold unpara, para.
  - replace (z + j - (z - j))%Z with (2 * j)%Z by ring; rewrite Z.even_mul; simpl orb; cbv iota.
    f_equal; f_equal; [symmetry; apply Z.div_unique with 0%Z; lia|symmetry; apply Z.div_unique with 0%Z; lia].
  - replace (z + j + 1 - (z - j))%Z with (1 + 2 * j)%Z by ring; rewrite Z.even_add_mul_2; simpl Z.even; cbv iota.
    f_equal; f_equal; [symmetry; apply Z.div_unique with 0%Z; lia|symmetry; apply Z.div_unique with 0%Z; lia].
Qed.
Lemma para_unpara q : para (unpara q) = q.
Proof.
  destruct q as [x y]; unfold unpara; destruct (Z.even (y - x)) eqn:E; unfold para.
  - apply Z.even_spec in E; destruct E as [k Hk].
    replace ((y - x) / 2)%Z with k by (apply Z.div_unique with 0%Z; lia).
    replace ((x + y) / 2)%Z with (x + k)%Z by (apply Z.div_unique with 0%Z; lia); f_equal; lia.
  - assert (O : Z.odd (y - x) = true) by (rewrite <- Z.negb_even, E; auto).
    apply Z.odd_spec in O; destruct O as [k Hk].
    replace ((y - x - 1) / 2)%Z with k by (apply Z.div_unique with 0%Z; lia).
    replace ((x + y - 1) / 2)%Z with (x + k)%Z by (apply Z.div_unique with 0%Z; lia); f_equal; lia.
Qed.
Lemma half_pos v : 0 < v -> 0 < v / 2. Proof. lra. Qed.

Lemma theta_para v (Hv : 0 < v) a b : let H := theta (v / 2) (half_pos v Hv) in
  theta v Hv a * theta v Hv b =
  H ((a + b) / 2) * H ((b - a) / 2) + H ((a + b - 1) / 2) * H ((b - a - 1) / 2).
Proof.
  intros H; eapply has_sum_uniq.
  - apply (has_sum_bij _ para unpara _ unpara_para para_unpara (theta_prod v Hv a b)).
  - apply has_sum_either; (eapply has_sum_ext; [|apply theta_prod]); intros [z j]; simpl;
      unfold gw; rewrite <- !exp_plus, ?minus_IZR, ?plus_IZR, ?minus_IZR; f_equal; field; lra.
Qed.

Lemma theta_pow4 v Hv m : theta v Hv m ^ 4 <= theta v Hv 0 ^ 3 * theta v Hv (2 * m).
Proof.
  pose proof (theta_para v Hv m m) as E1; pose proof (theta_para v Hv 0 (2 * m)) as E2;
  pose proof (theta_para v Hv 0 0) as E3; cbv zeta in *.
  replace ((m + m) / 2) with m in E1 by field; replace ((m - m) / 2) with 0 in E1 by field.
  replace ((m + m - 1) / 2) with (m - 1/2) in E1 by field; replace ((m - m - 1) / 2) with (-1/2) in E1 by field.
  replace ((0 + 2 * m) / 2) with m in E2 by field; replace ((2 * m - 0) / 2) with m in E2 by field.
  replace ((0 + 2 * m - 1) / 2) with (m - 1/2) in E2 by field; replace ((2 * m - 0 - 1) / 2) with (m - 1/2) in E2 by field.
  replace ((0 + 0) / 2) with 0 in E3 by field; replace ((0 - 0) / 2) with 0 in E3 by field.
  replace ((0 + 0 - 1) / 2) with (-1/2) in E3 by field; replace ((0 - 0 - 1) / 2) with (-1/2) in E3 by field.
  set (h := theta (v / 2) (half_pos v Hv)) in *.
  replace (theta v Hv m ^ 4) with ((theta v Hv m * theta v Hv m) * (theta v Hv m * theta v Hv m)) by ring.
  replace (theta v Hv 0 ^ 3 * theta v Hv (2 * m)) with ((theta v Hv 0 * theta v Hv 0) * (theta v Hv 0 * theta v Hv (2 * m))) by ring.
  rewrite E1, E2, E3.
  (* Cauchy-Schwarz in dimension 2 *)
  pose proof (Rle_0_sqr (h m * h (-1/2) - h 0 * h (m - 1/2))) as S; unfold Rsqr in S; nra.
Qed.

Theorem theta_max v Hv m : theta v Hv m <= theta v Hv 0.
Proof.
  destruct (completeness (fun r => exists m, r = theta v Hv m)) as [M [HM1 HM2]].
  - exists (gbound v); intros r [m' ->]; eapply has_sum_lub; [apply theta_sum|]; intros; now apply gw_lsum.
  - exists (theta v Hv 0), 0; auto.
  - set (t0 := theta v Hv 0); assert (Ht0 : 0 < t0) by apply theta_pos.
    assert (HMt : t0 <= M) by (apply HM1; exists 0; auto).
    enough (M <= t0) by (apply Rle_trans with M; auto; apply HM1; exists m; auto).
    assert (Hc : M <= sqrt (sqrt (t0 ^ 3 * M))).
    { apply HM2; intros r [m' ->].
      assert (H4 := theta_pow4 v Hv m'); fold t0 in H4.
      assert (H2 : theta v Hv (2 * m') <= M) by (apply HM1; eexists; reflexivity).
      assert (H0 := theta_pos v Hv m'); set (x := theta v Hv m') in *.
      rewrite <- (sqrt_square x) by lra; apply sqrt_le_1_alt.
      rewrite <- (sqrt_square (x * x)) by nra; apply sqrt_le_1_alt.
      apply Rle_trans with (x ^ 4); [right; ring|]; eapply Rle_trans; [exact H4|].
      apply Rmult_le_compat_l; auto; apply pow_le; lra. }
    destruct (Rle_dec M t0) as [|N]; auto; exfalso.
    assert (Hp : 0 <= t0 ^ 3 * M) by (apply Rmult_le_pos; [apply pow_le|]; lra).
    assert (H2 : M * M <= sqrt (t0 ^ 3 * M)).
    { rewrite <- (sqrt_sqrt (sqrt (t0 ^ 3 * M))) by apply sqrt_pos; apply Rmult_le_compat; lra. }
    assert (H4 : (M * M) * (M * M) <= t0 ^ 3 * M).
    { rewrite <- (sqrt_sqrt (t0 ^ 3 * M)) by auto; apply Rmult_le_compat; auto; nra. }
    assert (M ^ 3 <= t0 ^ 3) by (apply Rmult_le_reg_r with M; [lra|]; eapply Rle_trans; [|exact H4]; right; ring).
    assert (t0 * t0 < M * M) by nra; assert (t0 ^ 3 < M ^ 3) by (simpl; nra); lra.
Qed.

(* ---------- the discrete Gaussian with integer location ---------- *)
Theorem dgauss_zcdp v Hv (mu nu Delta : Z) : (Z.abs (mu - nu) <= Delta)%Z ->
  zcdp (IZR Delta ^ 2 / (2 * v)) (gdist v Hv (IZR mu)) (gdist v Hv (IZR nu)).
Proof.
  intros Hd; split.
  - intros x _; simpl; apply Rmult_lt_0_compat; [apply Rinv_0_lt_compat, theta_pos|apply exp_pos].
  - intros a Ha l Hl; simpl.
    assert (E : forall k, theta v Hv (IZR k) = theta v Hv 0)
      by (intros k; rewrite <- (theta_shift v Hv 0 k); f_equal; ring).
    rewrite (E mu), (E nu); pose proof (theta_pos v Hv 0) as T0; set (t0 := theta v Hv 0) in *.
    set (D := IZR mu - IZR nu); set (m := a * IZR mu + (1 - a) * IZR nu).
    rewrite (lsum_ext _ (fun x => (exp ((a - 1) * a * (D * D) / (2 * v)) * / t0) * gw v m x)).
    + rewrite lsum_scal.
      assert (Hs : lsum (gw v m) l <= t0).
      { eapply Rle_trans; [eapply has_sum_ub; [apply (theta_sum v Hv)|auto]|apply theta_max]. }
      apply Rle_trans with (exp ((a - 1) * a * (D * D) / (2 * v))).
      * pose proof (exp_pos ((a - 1) * a * (D * D) / (2 * v))) as X.
        assert (/ t0 * lsum (gw v m) l <= 1).
        { apply Rmult_le_reg_l with t0; auto; rewrite <- Rmult_assoc, Rinv_r; lra. }
        rewrite Rmult_assoc; nra.
      * apply exp_le; unfold Rdiv; rewrite <- !Rmult_assoc; apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
        assert (HD : Rabs D <= IZR Delta) by (unfold D; rewrite <- minus_IZR, <- abs_IZR; now apply IZR_le).
        assert (D * D <= IZR Delta ^ 2) by (simpl; unfold Rabs in HD; destruct (Rcase_abs D); nra).
        assert (0 < (a - 1) * a) by nra; nra.
    + intros x _; unfold rterm; destruct (Rle_dec _ _) as [N|_].
      { exfalso; assert (0 < / t0 * gw v (IZR mu) x) by (apply Rmult_lt_0_compat; [now apply Rinv_0_lt_compat|apply exp_pos]); lra. }
      replace (/ t0 * gw v (IZR mu) x / (/ t0 * gw v (IZR nu) x)) with (gw v (IZR mu) x / gw v (IZR nu) x)
        by (field; split; [lra|apply Rgt_not_eq, exp_pos]).
      rewrite (ln_div (gw v (IZR mu) x)) by apply exp_pos; unfold gw; rewrite !ln_exp.
      rewrite Rmult_assoc, <- exp_plus.
      replace (exp ((a - 1) * a * (D * D) / (2 * v)) * / t0 * exp (- ((IZR x - m) * (IZR x - m)) / (2 * v)))
        with (/ t0 * (exp ((a - 1) * a * (D * D) / (2 * v)) * exp (- ((IZR x - m) * (IZR x - m)) / (2 * v)))) by ring.
      rewrite <- exp_plus; f_equal; f_equal; unfold m, D; field; lra.
Qed.
