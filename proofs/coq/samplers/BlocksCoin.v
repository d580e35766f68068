(* The integer bounds of mechanisms/blocks.c: with gamma = kappa r' (2 j + r') (Gaussian) or kappa r' (Laplace), the upper
   half of one word decides "U < exp(-gamma)" where the code says so. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP.
From Assay.samplers Require Import Tape Inverse.
Local Open Scope R_scope.

(* ---------- the functions of the contract ---------- *)
Definition M : Z := (2 ^ 32)%Z.
Definition quad (x : Z) : Z := (x * x / M)%Z.
Definition cube (x : Z) : Z := (quad x * x / M)%Z.
Definition four (x : Z) : Z := (cube x * x / M)%Z.
Definition five (x : Z) : Z := (four x * x / M)%Z.
Definition exp_low (x : Z) : Z :=
  (M - x + quad x / 2 - (cube x / 6 + 2) + four x / 24 - (five x / 120 + 2))%Z.
Definition exp_high (x : Z) : Z := (M - x + (quad x / 2 + 1) - cube x / 6 + (four x / 24 + 2))%Z.
(* rq = floor(2^20 r') *)
Definition gamma_part (j rq : Z) (gaussian : bool) : Z :=
  (if gaussian then rq * (2 ^ 21 * j + rq) else 2 ^ 20 * rq)%Z.
Definition gamma_low (j rq : Z) (gaussian : bool) (kappa : Z) : Z :=
  (gamma_part j rq gaussian / 2 ^ 20 * kappa / 2 ^ 28)%Z.
Definition gamma_high (j rq : Z) (gaussian : bool) (kappa : Z) : Z :=
  ((gamma_part j (rq + 1) gaussian / 2 ^ 20 + 1) * (kappa + 1) / 2 ^ 28 + 1)%Z.

(* ---------- the alternating series of exp ---------- *)
Lemma grow (f f' : R -> R) : (forall x, is_derive f x (f' x)) -> f 0 = 0 -> (forall x, 0 <= x -> 0 <= f' x) ->
  forall x, 0 <= x -> 0 <= f x.
Proof.
  intros Hd H0 Hp x Hx.
  destruct (MVT_gen f 0 x f') as [c [Hc E]].
  - intros y _; apply Hd.
  - intros y _; apply continuity_pt_filterlim, (ex_derive_continuous f); exists (f' y); apply Hd.
  - rewrite Rmin_left, Rmax_right in Hc by lra; pose proof (Hp c ltac:(lra)); rewrite H0, Rminus_0_r in E; nra.
Qed.
Ltac step prev := apply grow with (f' := prev);
  [let z := fresh in intros z; auto_derive; [auto|field]|rewrite ?Ropp_0, ?exp_0; field|].
Lemma exp_series x : 0 <= x ->
  1 - x + x^2/2 - x^3/6 + x^4/24 - x^5/120 <= exp (- x) <= 1 - x + x^2/2 - x^3/6 + x^4/24.
Proof.
  assert (H0 : forall x, 0 <= x -> 0 <= 1 - exp (- x)).
  { intros y Hy; assert (exp (- y) <= 1) by (rewrite <- exp_0; destruct (Req_dec y 0) as [->|]; [right; f_equal; ring|left; apply exp_increasing; lra]); lra. }
  assert (H1 : forall x, 0 <= x -> 0 <= exp (- x) - 1 + x) by (step (fun x => 1 - exp (- x)); auto).
  assert (H2 : forall x, 0 <= x -> 0 <= 1 - x + x^2/2 - exp (- x)) by (step (fun x => exp (- x) - 1 + x); auto).
  assert (H3 : forall x, 0 <= x -> 0 <= exp (- x) - 1 + x - x^2/2 + x^3/6)
    by (step (fun x => 1 - x + x^2/2 - exp (- x)); auto).
  assert (H4 : forall x, 0 <= x -> 0 <= 1 - x + x^2/2 - x^3/6 + x^4/24 - exp (- x))
    by (step (fun x => exp (- x) - 1 + x - x^2/2 + x^3/6); auto).
  assert (H5 : forall x, 0 <= x -> 0 <= exp (- x) - 1 + x - x^2/2 + x^3/6 - x^4/24 + x^5/120)
    by (step (fun x => 1 - x + x^2/2 - x^3/6 + x^4/24 - exp (- x)); auto).
  intros Hx; specialize (H4 x Hx); specialize (H5 x Hx); lra.
Qed.

(* ---------- integer division ---------- *)
Lemma div_bounds a b : (0 < b)%Z -> IZR (a / b) <= IZR a / IZR b < IZR (a / b) + 1.
Proof.
  intros Hb; pose proof (Z.div_mod a b ltac:(lia)) as E; pose proof (Z.mod_pos_bound a b Hb) as [B1 B2].
  apply (f_equal IZR) in E; rewrite plus_IZR, mult_IZR in E; apply IZR_le in B1; apply IZR_lt in B2; apply (IZR_lt 0) in Hb.
  rewrite E; replace ((IZR b * IZR (a / b) + IZR (a mod b)) / IZR b) with (IZR (a / b) + IZR (a mod b) / IZR b) by (field; lra).
  assert (0 <= IZR (a mod b) / IZR b < 1); [|lra]; split; [apply Rdiv_le_0_compat; lra|].
  apply Rmult_lt_reg_r with (IZR b); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.
Section Exp.
Variable x : Z.
Hypothesis Hx : (0 <= x < M)%Z.
Let m := IZR M.
Let y := IZR x / m.
Lemma m_val : m = 4294967296. Proof. reflexivity. Qed.
Lemma y_01 : 0 <= y < 1.
Proof.
  destruct Hx as [H1 H2]; apply IZR_le in H1; apply IZR_lt in H2; fold m in H2; unfold y; rewrite m_val in *; lra.
Qed.
Lemma x_y : IZR x = m * y. Proof. unfold y; rewrite m_val; field. Qed.
(* one more factor: from k with m z - e < k <= m z to k x / M *)
Lemma power_step k z e : m * z - e < IZR k <= m * z -> 0 <= z -> 0 <= e ->
  m * (z * y) - (e + 1) < IZR (k * x / M) <= m * (z * y).
Proof.
  intros Hk Hz He; pose proof (div_bounds (k * x) M ltac:(now compute)) as Hd; rewrite mult_IZR, x_y in Hd; fold m in Hd.
  pose proof y_01; replace (IZR k * (m * y) / m) with (IZR k * y) in Hd by (rewrite m_val; field); nra.
Qed.
Lemma powers : m * y^2 - 1 < IZR (quad x) <= m * y^2 /\ m * y^3 - 2 < IZR (cube x) <= m * y^3 /\
  m * y^4 - 3 < IZR (four x) <= m * y^4 /\ m * y^5 - 4 < IZR (five x) <= m * y^5.
Proof.
  pose proof y_01 as Y; assert (P : forall n, 0 <= y ^ n) by (intros; apply pow_le; lra).
  assert (Q : m * (y * y) - (0 + 1) < IZR (quad x) <= m * (y * y)).
  { unfold quad; pose proof (div_bounds (x * x) M ltac:(now compute)) as Hd; rewrite mult_IZR, x_y in Hd; fold m in Hd.
    replace (m * y * (m * y) / m) with (m * (y * y)) in Hd by (rewrite m_val; field); lra. }
  assert (Q2 : m * y^2 - 1 < IZR (quad x) <= m * y^2) by (simpl; lra).
  pose proof (power_step _ _ _ Q2 (P 2%nat) ltac:(lra)) as C; fold (cube x) in C.
  assert (C3 : m * y^3 - 2 < IZR (cube x) <= m * y^3) by (replace (y^3) with (y^2 * y) by ring; lra).
  pose proof (power_step _ _ _ C3 (P 3%nat) ltac:(lra)) as F; fold (four x) in F.
  assert (F4 : m * y^4 - 3 < IZR (four x) <= m * y^4) by (replace (y^4) with (y^3 * y) by ring; lra).
  pose proof (power_step _ _ _ F4 (P 4%nat) ltac:(lra)) as V; fold (five x) in V.
  replace (y^5) with (y^4 * y) by ring; repeat split; lra.
Qed.
Lemma exp_low_bound : IZR (exp_low x) <= m * exp (- y).
Proof.
  destruct powers as [[_ Q] [[C _] [[_ F] [V _]]]]; destruct (exp_series y (proj1 y_01)) as [E _].
  unfold exp_low; repeat (rewrite ?minus_IZR, ?plus_IZR); fold m; rewrite x_y.
  pose proof (div_bounds (quad x) 2 ltac:(lia)); pose proof (div_bounds (cube x) 6 ltac:(lia)).
  pose proof (div_bounds (four x) 24 ltac:(lia)); pose proof (div_bounds (five x) 120 ltac:(lia)).
  apply Rle_trans with (m * (1 - y + y^2/2 - y^3/6 + y^4/24 - y^5/120)); [lra|].
  apply Rmult_le_compat_l; auto; rewrite m_val; lra.
Qed.
(* the code has slack: the bound is strict *)
Lemma exp_high_bound : m * exp (- y) < IZR (exp_high x).
Proof.
  destruct powers as [[Q _] [[_ C] [[F _] _]]]; destruct (exp_series y (proj1 y_01)) as [_ E].
  unfold exp_high; repeat (rewrite ?minus_IZR, ?plus_IZR); fold m; rewrite x_y.
  pose proof (div_bounds (cube x) 6 ltac:(lia)); pose proof (div_bounds (four x) 24 ltac:(lia)).
  assert (Hq : IZR (quad x) <= 2 * IZR (quad x / 2) + 1).
  { rewrite <- mult_IZR, <- plus_IZR; apply IZR_le; pose proof (Z.div_mod (quad x) 2); pose proof (Z.mod_pos_bound (quad x) 2); lia. }
  apply Rle_lt_trans with (m * (1 - y + y^2/2 - y^3/6 + y^4/24)); [|lra].
  apply Rmult_le_compat_l; auto; rewrite m_val; lra.
Qed.
End Exp.

(* ---------- gamma ---------- *)
Section Coin.
Variables (gaussian : bool) (j rq kappa word : Z) (k r : R).
Hypothesis Hj : (0 <= j)%Z.
Hypothesis Hk : 0 <= k.
Hypothesis Hr : 0 <= r.
Hypothesis Hrq : IZR rq <= IZR (2 ^ 20) * r < IZR rq + 1.          (* rq = floor(2^20 r') *)
Hypothesis Hkap : IZR kappa <= IZR (2 ^ 40) * k < IZR kappa + 1.  (* kappa = floor(2^40 k) *)
Hypothesis Hrq0 : (0 <= rq)%Z.
Hypothesis Hkap0 : (0 <= kappa)%Z.
Definition gamma : R := if gaussian then k * (r * (2 * IZR j + r)) else k * r.
Lemma gamma_bounds :
  IZR (gamma_low j rq gaussian kappa) <= IZR M * gamma <= IZR (gamma_high j rq gaussian kappa).
Proof.
  set (h := if gaussian then r * (2 * IZR j + r) else r).
  assert (Eg : gamma = k * h) by (unfold gamma, h; destruct gaussian; ring).
  apply IZR_le in Hj; apply IZR_le in Hrq0; apply IZR_le in Hkap0.
  assert (E21 : IZR (2 ^ 21) = 2097152) by reflexivity; assert (E20 : IZR (2 ^ 20) = 1048576) by reflexivity.
  assert (E40 : IZR (2 ^ 40) = 1099511627776) by reflexivity; assert (E28 : IZR (2 ^ 28) = 268435456) by reflexivity.
  assert (EM : IZR M = 4294967296) by reflexivity.
  rewrite E20 in Hrq; rewrite E40 in Hkap.
  assert (Hh : 0 <= h) by (unfold h; destruct gaussian; nra).
  assert (P1 : IZR (gamma_part j rq gaussian) <= 1099511627776 * h).
  { unfold gamma_part, h; destruct gaussian; rewrite ?mult_IZR, ?plus_IZR, ?mult_IZR, ?E21, ?E20; nra. }
  assert (P2 : 1099511627776 * h <= IZR (gamma_part j (rq + 1) gaussian)).
  { unfold gamma_part, h; destruct gaussian; rewrite ?mult_IZR, ?plus_IZR, ?mult_IZR, ?plus_IZR, ?E21, ?E20; nra. }
  rewrite Eg, EM; unfold gamma_low, gamma_high; split.
  - pose proof (div_bounds (gamma_part j rq gaussian) (2 ^ 20) ltac:(lia)) as D1; rewrite E20 in D1.
    set (a := (gamma_part j rq gaussian / 2 ^ 20)%Z) in *.
    pose proof (div_bounds (a * kappa) (2 ^ 28) ltac:(lia)) as [D2 _]; rewrite E28, mult_IZR in D2.
    assert (Ha : IZR a <= 1048576 * h) by lra.
    apply Rle_trans with (1048576 * h * IZR kappa / 268435456); [eapply Rle_trans; [exact D2|]|].
    + apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_r; lra.
    + apply Rle_trans with (1048576 * h * (1099511627776 * k) / 268435456); [|lra].
      apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_l; lra.
  - pose proof (div_bounds (gamma_part j (rq + 1) gaussian) (2 ^ 20) ltac:(lia)) as D1; rewrite E20 in D1.
    set (a := (gamma_part j (rq + 1) gaussian / 2 ^ 20)%Z) in *.
    pose proof (div_bounds ((a + 1) * (kappa + 1)) (2 ^ 28) ltac:(lia)) as [_ D2]; rewrite E28, mult_IZR, !plus_IZR in D2.
    rewrite plus_IZR; left; eapply Rle_lt_trans; [|exact D2].
    assert (Ha : 1048576 * h <= IZR a + 1) by lra.
    replace (4294967296 * (k * h)) with (1048576 * h * (1099511627776 * k) / 268435456) by field.
    apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat; lra.
Qed.
(** @theorem blocks-exp-bounds
    Let gamma = k r (2 j + r) (Gaussian) or k r (Laplace) with rq = floor(2^20 r), kappa = floor(2^40 k) and gamma_high <
    2^32. If the upper half of a word is below exp_low(gamma_high) the word is below the first digit of exp(-gamma); if it
    is at least exp_high(gamma_low) the word is above it: below(exp(-gamma)) is decided by this one word. *)
Theorem blocks_coin d : (gamma_high j rq gaussian kappa < M)%Z -> digit_of 1 (exp (- gamma)) d ->
  ((word / M < exp_low (gamma_high j rq gaussian kappa))%Z -> (word < d)%Z) /\
  ((exp_high (gamma_low j rq gaussian kappa) <= word / M)%Z -> (d < word)%Z).
Proof.
  intros HM [D1 D2]; rewrite pow_1, W_pow in D1, D2; destruct gamma_bounds as [G1 G2].
  assert (Hg : 0 <= gamma).
  { unfold gamma; destruct gaussian; apply (IZR_le 0) in Hj; [|nra].
    apply Rmult_le_pos; auto; apply Rmult_le_pos; auto; lra. }
  assert (EM : IZR M = 4294967296) by reflexivity; assert (E64 : IZR (2 ^ 64) = 4294967296 * 4294967296) by (rewrite <- mult_IZR; reflexivity).
  assert (L0 : (0 <= gamma_low j rq gaussian kappa)%Z).
  { unfold gamma_low; apply Z.div_pos; [|lia]; apply Z.mul_nonneg_nonneg; auto; apply Z.div_pos; [|lia].
    unfold gamma_part; destruct gaussian; nia. }
  assert (LH : (gamma_low j rq gaussian kappa <= gamma_high j rq gaussian kappa)%Z) by (apply le_IZR; lra).
  pose proof (exp_low_bound _ (conj (Z.le_trans _ _ _ L0 LH) HM)) as BL.
  pose proof (exp_high_bound _ (conj L0 (Z.le_lt_trans _ _ _ LH HM))) as BH.
  pose proof (div_bounds word M ltac:(now compute)) as Hw; rewrite EM in *.
  set (hi := gamma_high j rq gaussian kappa) in *; set (low := gamma_low j rq gaussian kappa) in *.
  assert (X1 : exp (- (IZR hi / 4294967296)) <= exp (- gamma)).
  { destruct (Req_dec (IZR hi / 4294967296) gamma) as [->|]; [lra|left; apply exp_increasing; lra]. }
  assert (X2 : exp (- gamma) <= exp (- (IZR low / 4294967296))).
  { destruct (Req_dec (IZR low / 4294967296) gamma) as [->|]; [lra|left; apply exp_increasing; lra]. }
  rewrite E64 in D1, D2; split; intros H.
  - assert (H1 : (word / M + 1 <= exp_low hi)%Z) by lia; apply IZR_le in H1; rewrite plus_IZR in H1.
    assert (H2 : (word / M * M + M >= word + 1)%Z)
      by (pose proof (Z.div_mod word M ltac:(now compute)); pose proof (Z.mod_pos_bound word M ltac:(now compute)); lia).
    apply Z.ge_le, IZR_le in H2; rewrite !plus_IZR, mult_IZR, EM in H2.
    enough (IZR (word + 1) < IZR (d + 1)) as X by (apply lt_IZR in X; lia); rewrite !plus_IZR; nra.
  - apply IZR_le in H; apply lt_IZR.
    assert (H2 : (word / M * M <= word)%Z)
      by (pose proof (Z.div_mod word M ltac:(now compute)); pose proof (Z.mod_pos_bound word M ltac:(now compute)); lia).
    apply IZR_le in H2; rewrite mult_IZR, EM in H2; nra.
Qed.
End Coin.
(* Gaussian, j = 3, r' = 1/2, kappa = 1/1024: gamma = 13/4096 *)
Example blocks_coin_example d : digit_of 1 (exp (- gamma true 3 (/ 1024) (/ 2))) d -> (2 ^ 63 < d)%Z.
Proof.
  intros Hd; destruct (blocks_coin true 3 524288 1073741824 (2 ^ 63) (/ 1024) (/ 2)) with (d := d) as [H _];
    try lia; try lra; auto; try (now compute).
  apply H; now compute.
Qed.
