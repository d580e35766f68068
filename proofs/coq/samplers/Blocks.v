(* blocks(f, b): P[x] proportional to f(|x|), f positive and decreasing: a block of length 2^b by inversion, a place
   in the block and a sign from one word, then a comparison with f(x) / f(start of the block). *)
From Coq Require Import Reals Lra Lia List ZArith FinFun.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.samplers Require Import Tape Uniform Inverse Laplace.
Import List ListNotations.
Local Open Scope R_scope.

(* ---------- executable part ---------- *)
Definition blocks_round (b : Z) (block : sampler Z) (accept : Z -> sampler bool) : sampler (option Z) :=
  bind block (fun j => bind word (fun v =>
    let x := (j * 2 ^ b + v mod 2 ^ b)%Z in
    smap (fun ok : bool => if ok then signed x (Z.testbit v 63) else None) (accept x))).
(* digG m j = floor(W^m G(j)), digr x m = floor(W^m f(x) / f(j 2^b)), j = floor(x / 2^b) *)
Definition blocks (b : Z) (digG : nat -> Z -> Z) (lo hi : nat -> Z) (digr : Z -> nat -> Z) : sampler Z :=
  retry (blocks_round b (inverse digG lo hi) (fun x => below (digr x))).

(* ---------- one word: a place in the block and a sign ---------- *)
Lemma L_place b (h : Z -> bool -> R) : (0 <= b <= 63)%Z -> (forall r s, 0 <= h r s <= 1) ->
  L word (fun v => h (v mod 2 ^ b)%Z (Z.testbit v 63)) =
  / IZR (2 ^ (b + 1)) * lsum (fun r => h r false + h r true) (zseq (Z.to_nat (2 ^ b))).
Proof.
  intros Hb Hh; rewrite L_word by (intro; apply Hh).
  Transparent words. unfold words. Opaque words.
  assert (P1 : (0 < 2 ^ b)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (P2 : (0 < 2 ^ (63 - b))%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (P3 : (2 ^ (63 - b) * 2 ^ b = 2 ^ 63)%Z) by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
  assert (P4 : (W = 2 * 2 ^ (63 - b) * 2 ^ b)%Z) by (rewrite <- Z.mul_assoc, P3, W_pow; reflexivity).
  set (N := (Z.to_nat (2 ^ (63 - b)) * Z.to_nat (2 ^ b))%nat).
  assert (EN : Z.of_nat N = (2 ^ 63)%Z) by (unfold N; rewrite Nat2Z.inj_mul, !Z2Nat.id by lia; exact P3).
  assert (EW : Wn = (N + N)%nat) by (apply Nat2Z.inj; rewrite Wn_W, Nat2Z.inj_add, EN, P4, <- Z.mul_assoc, P3; lia).
  rewrite EW, zsum_app.
  assert (Hhalf : forall s g, (forall j, (0 <= j < 2 ^ 63)%Z -> g j = h (j mod 2 ^ b)%Z s) ->
    lsum g (zseq N) = IZR (2 ^ (63 - b)) * lsum (fun r => h r s) (zseq (Z.to_nat (2 ^ b)))).
  { intros s g Hg; rewrite (lsum_ext g (fun j => h (j mod Z.of_nat (Z.to_nat (2 ^ b)))%Z s)).
    - unfold N; rewrite (zsum_mod (fun r => h r s)) by lia; rewrite INR_IZR_INZ, Z2Nat.id by lia; auto.
    - intros j Hj; apply zseq_In in Hj; rewrite EN in Hj; rewrite Hg, Z2Nat.id by lia; auto. }
  rewrite (Hhalf false), (Hhalf true).
  - rewrite lsum_plus, P4, Z.pow_add_r by lia; rewrite !mult_IZR; change (2 ^ 1)%Z with 2%Z.
    apply (IZR_lt 0) in P1; apply (IZR_lt 0) in P2; field; lra.
  - intros j Hj; rewrite EN; f_equal.
    + rewrite <- P3, Z.add_comm, Z_mod_plus_full; auto.
    + rewrite Z.testbit_true by lia.
      replace (2 ^ 63 + j)%Z with (1 * 2 ^ 63 + j)%Z by lia; rewrite Z.div_add_l, Z.div_small by lia; reflexivity.
  - intros j Hj; f_equal; apply Bool.not_true_is_false; rewrite Z.testbit_true by lia; rewrite Z.div_small by lia; easy.
Qed.

Lemma L_mass_ext {A} `{Eqd A} (s : sampler A) f g : pd s -> tst f -> tst g ->
  (forall x, mass s x <> 0 -> f x = g x) -> L s f = L s g.
Proof.
  intros Hs Hf Hg Hx; eapply has_sum_uniq; [now apply L_sum|]; eapply has_sum_ext; [|now apply L_sum].
  intros x; simpl; destruct (Req_dec (mass s x) 0) as [->|N]; [ring|now rewrite Hx].
Qed.
Lemma has_sum_option {A} (f : option A -> R) a :
  (forall o, 0 <= f o) -> has_sum (fun x => f (Some x)) a -> has_sum f (f None + a).
Proof.
  intros H0 Ha.
  set (g := fun e : unit + A => match e with inl _ => f None | inr x => f (Some x) end).
  assert (Hg : has_sum g (f None + a)).
  { apply has_sum_either; auto; simpl.
    assert (E1 : lsum (fun _ : unit => f None) [tt] = f None) by (simpl; ring).
    enough (X : has_sum (fun _ : unit => f None) (lsum (fun _ : unit => f None) [tt])) by (rewrite E1 in X; exact X).
    apply (has_sum_finite (fun x y : unit => match x, y with tt, tt => left eq_refl end)); auto.
    - repeat constructor; easy.
    - intros [] N; exfalso; apply N; simpl; auto. }
  eapply has_sum_ext; [|apply (has_sum_bij g
     (fun o => match o with Some x => inr x | None => inl tt end)
     (fun e => match e with inl _ => None | inr x => Some x end)); [| |exact Hg]].
  - intros [x|]; auto.
  - intros [x|]; auto.
  - intros [[]|x]; auto.
Qed.

Section Blocks.
Variables (f : Z -> R) (b : Z) (G : Z -> R) (S T : R) (digG : nat -> Z -> Z) (lo hi : nat -> Z) (digr : Z -> nat -> Z).
Hypothesis Hb : (0 <= b <= 63)%Z.
Hypothesis fpos : forall x, (0 <= x)%Z -> 0 < f x.
Hypothesis fdec : forall x y, (0 <= x <= y)%Z -> f y <= f x.
Hypothesis HT : has_sum (fun x => f (Z.abs x)) T.
(* G is the distribution function with weights f(j 2^b), of total S *)
Hypothesis HS : 0 < S.
Hypothesis HG : cdf G.
Hypothesis HG0 : forall j, (j < 0)%Z -> G j = 0.
Hypothesis HGj : forall j, (0 <= j)%Z -> G j - G (j - 1)%Z = f (j * 2 ^ b)%Z / S.
Hypothesis HdG : forall m j, digit_of m (G j) (digG m j).
Hypothesis Hlo : forall m, digG m (lo m) = 0%Z.
Hypothesis Hhi : forall m, (W ^ Z.of_nat m - 1 <= digG m (hi m))%Z.
Hypothesis Hdr : forall x m, (0 <= x)%Z -> digit_of m (f x / f (x / 2 ^ b * 2 ^ b)%Z) (digr x m).

Let round := blocks_round b (inverse digG lo hi) (fun x => below (digr x)).
Lemma pd_blocks_round : pd round. Proof. unfold round, blocks_round; auto 7 with smp. Qed.
Lemma eats_blocks_round : eats round. Proof. unfold round, blocks_round; apply eats_bind; auto 7 with smp. Qed.
Let B := (2 ^ b)%Z.
Lemma B_pos : (0 < B)%Z. Proof. apply Z.pow_pos_nonneg; lia. Qed.
Let rho x := f x / f (x / B * B)%Z.
Lemma rho_01 x : (0 <= x)%Z -> 0 <= rho x <= 1.
Proof.
  intros Hx; pose proof B_pos; assert (H0 : (0 <= x / B * B <= x)%Z).
  { pose proof (Z.div_pos x B Hx B_pos); pose proof (Z.mul_div_le x B B_pos); nia. }
  pose proof (fpos x Hx); pose proof (fpos _ (proj1 H0)); pose proof (fdec _ _ H0); unfold rho; split.
  - apply Rdiv_le_0_compat; lra.
  - apply Rmult_le_reg_r with (f (x / B * B)%Z); auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.
Lemma mass_block j : mass (inverse digG lo hi) j = if (0 <=? j)%Z then f (j * B)%Z / S else 0.
Proof.
  rewrite (mass_inverse G digG lo hi HG HdG Hlo Hhi); destruct (Z.leb_spec 0 j); [now apply HGj|].
  rewrite !HG0 by lia; ring.
Qed.
Lemma L_accept x g : (0 <= x)%Z -> tst g -> L (below (digr x)) g = rho x * g true + (1 - rho x) * g false.
Proof. intros Hx Hg; apply L_below; auto; [now apply rho_01|]; intros m; now apply Hdr. Qed.
(* what a round does after block j was chosen *)
Lemma L_in_block j g : (0 <= j)%Z -> tst g ->
  L (bind word (fun v => smap (fun ok : bool => if ok then signed (j * B + v mod B) (Z.testbit v 63) else None)
    (below (digr (j * B + v mod B)%Z)))) g =
  / IZR (2 ^ (b + 1)) * lsum (fun r => let x := (j * B + r)%Z in
     rho x * (g (signed x false) + g (signed x true)) + 2 * (1 - rho x) * g None) (zseq (Z.to_nat B)).
Proof.
  intros Hj Hg; rewrite L_bind by auto with smp.
  set (h := fun r s => if (0 <=? r)%Z then rho (j * B + r)%Z * g (signed (j * B + r) s) + (1 - rho (j * B + r)%Z) * g None else 0).
  assert (Hh : forall r s, 0 <= h r s <= 1).
  { intros r s; unfold h; destruct (Z.leb_spec 0 r); [|lra]; pose proof B_pos.
    pose proof (rho_01 (j * B + r) ltac:(nia)); pose proof (Hg (signed (j * B + r) s)); pose proof (Hg None); nra. }
  rewrite (L_fext _ _ (fun v => h (v mod B)%Z (Z.testbit v 63))).
  - unfold B at 1; rewrite L_place by auto; fold B; f_equal; apply lsum_ext; intros r Hr; apply zseq_In in Hr; unfold h.
    destruct (Z.leb_spec 0 r); [|lia]; cbv zeta; ring.
  - intros v; pose proof (Z.mod_pos_bound v B B_pos); rewrite L_map, L_accept by (auto with smp; try (intro; apply Hg); nia).
    unfold h; destruct (Z.leb_spec 0 (v mod B)); [auto|lia].
Qed.
Lemma L_blocks_round g : tst g -> L round g = L (inverse digG lo hi) (fun j =>
  L (bind word (fun v => smap (fun ok : bool => if ok then signed (j * B + v mod B) (Z.testbit v 63) else None)
    (below (digr (j * B + v mod B)%Z)))) g).
Proof. intros Hg; unfold round, blocks_round; rewrite L_bind by auto 7 with smp; reflexivity. Qed.

Lemma mass_blocks_round x : mass round (Some x) = f (Z.abs x) / (S * IZR (2 ^ (b + 1))).
Proof.
  pose proof B_pos as HB; assert (H2 : (0 < 2 ^ (b + 1))%Z) by (apply Z.pow_pos_nonneg; lia); apply (IZR_lt 0) in H2.
  set (a := Z.abs x); set (j0 := (a / B)%Z).
  pose proof (Z.div_mod a B ltac:(lia)) as Ea; pose proof (Z.mod_pos_bound a B HB) as Ma; fold j0 in Ea.
  assert (Hj0 : (0 <= j0)%Z) by (apply Z.div_pos; lia).
  assert (Hhit : forall j r, (0 <= j)%Z -> (0 <= r < B)%Z ->
    ind (Some x) (signed (j * B + r) false) + ind (Some x) (signed (j * B + r) true) = if Z.eq_dec (j * B + r) a then 1 else 0).
  { intros j r Hj Hr; set (y := (j * B + r)%Z); assert (Hy : (0 <= y)%Z) by (unfold y; nia).
    unfold signed, ind; simpl andb; cbv iota.
    destruct (Z.eqb_spec y 0), (Z.eq_dec y a);
      repeat match goal with |- context [eqd ?p ?q] => destruct (eqd p q) end; try lra; exfalso; try congruence;
      repeat match goal with H : Some _ = Some _ |- _ => injection H as H end; try lia;
      repeat match goal with H : Some _ <> Some _ |- _ => try (apply H; f_equal; lia) end.
    all: destruct (Z.abs_spec x) as [[? E]|[? E]]; fold a in E;
      repeat match goal with H : Some _ <> Some _ |- _ => try (apply H; f_equal; lia); clear H end; lia. }
  assert (Hhit' : forall j, (0 <= j)%Z ->
    L (bind word (fun v => smap (fun ok : bool => if ok then signed (j * B + v mod B) (Z.testbit v 63) else None)
      (below (digr (j * B + v mod B)%Z)))) (ind (Some x)) =
    if Z.eq_dec j j0 then rho a / IZR (2 ^ (b + 1)) else 0).
  { intros j Hj; rewrite L_in_block by auto with smp.
    rewrite (lsum_ext _ (fun r => if Z.eq_dec r (a - j * B) then rho a else 0)).
    - destruct (Z.eq_dec j j0) as [->|N].
      + rewrite lsum_pick; [field; lra|apply zseq_NoDup|apply zseq_In; lia].
      + rewrite (lsum_ext _ (fun _ => 0)), lsum_const; [ring|]; intros r Hr; apply zseq_In in Hr.
        destruct (Z.eq_dec r (a - j * B)); auto; exfalso; apply N; subst r.
        apply (Z.div_unique a B j (a - j * B)); lia.
    - intros r Hr; apply zseq_In in Hr; cbv zeta; rewrite Hhit by lia.
      rewrite (ind_ne (Some x) None) by easy.
      destruct (Z.eq_dec (j * B + r) a) as [E|E], (Z.eq_dec r (a - j * B)); try lia; [rewrite E|]; ring. }
  unfold mass; rewrite L_blocks_round by auto with smp.
  rewrite (L_mass_ext _ _ (fun j => rho a / IZR (2 ^ (b + 1)) * ind j0 j)); auto with smp.
  - rewrite L_scal by auto with smp; fold (mass (inverse digG lo hi) j0); rewrite mass_block.
    destruct (Z.leb_spec 0 j0); [|lia]; unfold rho; fold j0.
    pose proof (fpos (j0 * B) ltac:(nia)); field; lra.
  - intro; apply L_01; auto 7 with smp.
  - assert (0 <= rho a <= 1) by (apply rho_01; lia); assert (1 <= IZR (2 ^ (b + 1))) by (apply (IZR_le 1); apply lt_IZR in H2; lia).
    assert (0 <= rho a / IZR (2 ^ (b + 1)) <= 1).
    { split; [apply Rdiv_le_0_compat; lra|]; apply Rmult_le_reg_r with (IZR (2 ^ (b + 1))); auto.
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
    intros j; unfold ind; destruct (eqd j j0); lra.
  - intros j Hm; rewrite mass_block in Hm; destruct (Z.leb_spec 0 j); [|easy]; rewrite Hhit' by auto.
    unfold ind; destruct (Z.eq_dec j j0), (eqd j j0); try easy; ring.
Qed.
Lemma stop_blocks_round : L round (fun _ => 1) = 1.
Proof.
  assert (H2 : (0 < 2 ^ (b + 1))%Z) by (apply Z.pow_pos_nonneg; lia); apply (IZR_lt 0) in H2.
  rewrite L_blocks_round by auto with smp; rewrite (L_mass_ext _ _ (fun _ => 1)); auto with smp.
  - apply (has_law_mass _ (pd_inverse _ _ _) _ (inverse_law G digG lo hi HG HdG Hlo Hhi)).
  - intro; apply L_01; auto 7 with smp.
  - intros j Hm; rewrite mass_block in Hm; destruct (Z.leb_spec 0 j); [|easy]; rewrite L_in_block by auto with smp.
    rewrite (lsum_ext _ (fun _ => 2)) by (intros; cbv zeta; ring); pose proof B_pos.
    rewrite lsum_const, zseq_len, INR_IZR_INZ, Z2Nat.id by lia.
    revert H2; rewrite Z.pow_add_r by lia; fold B; rewrite mult_IZR; change (2 ^ 1)%Z with 2%Z; intros; field; lra.
Qed.
Let A := T / (S * IZR (2 ^ (b + 1))).
Lemma T_pos : 0 < T.
Proof.
  eapply Rlt_le_trans; [apply (fpos 0); lia|]; pose proof (has_sum_ub _ _ [0%Z] HT) as H; simpl in H.
  rewrite Rplus_0_r in H; apply H; repeat constructor; easy.
Qed.
Lemma mass_blocks_None : mass round None = 1 - A.
Proof.
  assert (H2 : (0 < 2 ^ (b + 1))%Z) by (apply Z.pow_pos_nonneg; lia); apply (IZR_lt 0) in H2.
  assert (H1 : has_sum (mass round) (mass round None + A)).
  { apply has_sum_option; [intros; apply mass_01, pd_blocks_round|]; unfold A.
    replace (T / (S * IZR (2 ^ (b + 1)))) with (/ (S * IZR (2 ^ (b + 1))) * T) by (field; lra).
    eapply has_sum_ext; [|apply has_sum_scal; [|exact HT]]; [|apply Rinv_0_lt_compat; nra].
    intros x; simpl; rewrite mass_blocks_round; field; lra. }
  pose proof (mass_sum round pd_blocks_round) as H3; rewrite stop_blocks_round in H3.
  pose proof (has_sum_uniq _ _ _ H1 H3); lra.
Qed.
Lemma A_pos : 0 < A.
Proof.
  assert (H2 : (0 < 2 ^ (b + 1))%Z) by (apply Z.pow_pos_nonneg; lia); apply (IZR_lt 0) in H2.
  apply Rdiv_lt_0_compat; [apply T_pos|nra].
Qed.
Lemma mass_blocks x : mass (blocks b digG lo hi digr) x = f (Z.abs x) / T.
Proof.
  assert (H2 : (0 < 2 ^ (b + 1))%Z) by (apply Z.pow_pos_nonneg; lia); apply (IZR_lt 0) in H2.
  pose proof pd_blocks_round as P; pose proof eats_blocks_round as Q; pose proof A_pos; pose proof T_pos.
  assert (Hl : law (retry round) x (mass round (Some x) / (1 - mass round None))).
  { apply retry_law; auto; try (now apply law_mass); rewrite mass_blocks_None; lra. }
  change (blocks b digG lo hi digr) with (retry round).
  rewrite (law_uniq _ (pd_retry _ P Q) x _ Hl), mass_blocks_round, mass_blocks_None; unfold A.
  field; repeat split; nra.
Qed.
(** @theorem sampler-blocks
    Let f be positive and nonincreasing on the naturals with T = sum over all integers x of f(|x|), 0 <= b <= 63, and G the
    distribution function on {0, 1, ...} with weights f(j 2^b); given the digits of G and of f(x)/f(j 2^b), blocks(f, b)
    returns x with probability exactly f(|x|)/T, and stops almost surely. *)
Theorem blocks_law : has_law (blocks b digG lo hi digr) (fun x => f (Z.abs x) / T).
Proof.
  apply has_law_intro; [unfold blocks; apply pd_retry; [apply pd_blocks_round|apply eats_blocks_round]|apply mass_blocks|].
  pose proof T_pos; replace 1 with (/ T * T) by (field; lra).
  eapply has_sum_ext; [|apply has_sum_scal; [|exact HT]; now apply Rinv_0_lt_compat]; intros x; simpl; field; lra.
Qed.
(** @theorem sampler-blocks-rounds
    Under the hypotheses of sampler-blocks, the number of rounds is independent of the returned value: value x after n
    rejected rounds has probability (1-A)^n A f(|x|)/T with A the chance that a round is accepted. *)
Theorem blocks_rounds x n :
  law (retry_rounds (blocks_round b (inverse digG lo hi) (fun x => below (digr x)))) (x, n)
    ((1 - A) ^ n * A * (f (Z.abs x) / T)).
Proof.
  assert (H2 : (0 < 2 ^ (b + 1))%Z) by (apply Z.pow_pos_nonneg; lia); apply (IZR_lt 0) in H2; pose proof T_pos.
  replace ((1 - A) ^ n * A * (f (Z.abs x) / T)) with (mass round None ^ n * mass round (Some x)).
  - apply retry_rounds_law; [apply pd_blocks_round|apply eats_blocks_round| |]; apply law_mass, pd_blocks_round.
  - rewrite mass_blocks_None, mass_blocks_round; set (q := (1 - A) ^ n); unfold A; field; lra.
Qed.
End Blocks.

(* ---------- discrete Gaussian and discrete Laplace ---------- *)
(* for any G that has these steps *)
Theorem blocks_gaussian v (Hv : 0 < v) b G S digG lo hi digr : let f := gw v 0 in (0 <= b <= 63)%Z -> 0 < S -> cdf G ->
  (forall j, (j < 0)%Z -> G j = 0) -> (forall j, (0 <= j)%Z -> G j - G (j - 1)%Z = f (j * 2 ^ b)%Z / S) ->
  (forall m j, digit_of m (G j) (digG m j)) -> (forall m, digG m (lo m) = 0%Z) ->
  (forall m, (W ^ Z.of_nat m - 1 <= digG m (hi m))%Z) ->
  (forall x m, (0 <= x)%Z -> digit_of m (f x / f (x / 2 ^ b * 2 ^ b)%Z) (digr x m)) ->
  has_law (blocks b digG lo hi digr) (gdist v Hv 0).
Proof.
  intros f Hb HS HG HG0 HGj HdG Hlo Hhi Hdr.
  assert (Ha : forall x, f (Z.abs x) = gw v 0 x).
  { intros x; unfold f, gw; rewrite !Rminus_0_r, <- !mult_IZR, Z.abs_square; auto. }
  pose proof (theta_pos v Hv 0).
  apply has_law_intro; [unfold blocks; apply pd_retry; [apply pd_blocks_round|apply eats_blocks_round]| |apply pmf_sum].
  intros x; rewrite (mass_blocks f b G S (theta v Hv 0)); auto.
  - rewrite Ha; simpl; field; lra.
  - intros; apply exp_pos.
  - intros y z Hyz; unfold f, gw; apply exp_le; unfold Rdiv; apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
    rewrite !Rminus_0_r; destruct Hyz as [H1 H2]; apply IZR_le in H1; apply IZR_le in H2; nra.
  - eapply has_sum_ext; [|apply theta_sum]; intros y; now rewrite Ha.
Qed.
Theorem blocks_laplace t (Ht : 0 < t) b G S digG lo hi digr : let f := lapw t in (0 <= b <= 63)%Z -> 0 < S -> cdf G ->
  (forall j, (j < 0)%Z -> G j = 0) -> (forall j, (0 <= j)%Z -> G j - G (j - 1)%Z = f (j * 2 ^ b)%Z / S) ->
  (forall m j, digit_of m (G j) (digG m j)) -> (forall m, digG m (lo m) = 0%Z) ->
  (forall m, (W ^ Z.of_nat m - 1 <= digG m (hi m))%Z) ->
  (forall x m, (0 <= x)%Z -> digit_of m (f x / f (x / 2 ^ b * 2 ^ b)%Z) (digr x m)) ->
  has_law (blocks b digG lo hi digr) (dlap t Ht 0).
Proof.
  intros f Hb HS HG HG0 HGj HdG Hlo Hhi Hdr; destruct (q_lt1 t Ht) as [Q0 Q1].
  assert (Ha : forall x, f (Z.abs x) = lapw t x) by (intros x; unfold f, lapw; now rewrite Z.abs_involutive).
  apply has_law_intro; [unfold blocks; apply pd_retry; [apply pd_blocks_round|apply eats_blocks_round]| |apply pmf_sum].
  intros x; rewrite (mass_blocks f b G S ((1 + exp (-1 / t)) / (1 - exp (-1 / t)))); auto.
  - rewrite Ha; simpl; rewrite Z.sub_0_r; unfold lapc; field; lra.
  - intros; apply exp_pos.
  - intros y z Hyz; unfold f, lapw; apply exp_le; unfold Rdiv; apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
    rewrite !Z.abs_eq by lia; destruct Hyz as [H1 H2]; apply IZR_le in H1; apply IZR_le in H2; lra.
  - eapply has_sum_ext; [|apply (lapw_sum t Ht)]; intros y; now rewrite Ha.
Qed.

(* ---------- an instance: scale 1, blocks of 64 ---------- *)
Definition floor_digit (m : nat) (r : R) : Z := Int_part (IZR W ^ m * r).
Lemma floor_digit_of m r : digit_of m r (floor_digit m r).
Proof. unfold digit_of, floor_digit; pose proof (base_Int_part (IZR W ^ m * r)); lra. Qed.
Definition exG (j : Z) : R := if (j <? 0)%Z then 0 else 1 - exp (- 64) ^ Z.to_nat (j + 1).
Lemma e64_W : exp (- 64) * IZR W <= 1.
Proof.
  assert (H1 : 2 <= exp 1) by (pose proof (exp_ineq1 1 ltac:(lra)); lra).
  assert (H2 : 2 ^ 64 <= exp 64).
  { replace (exp 64) with (exp 1 ^ 64); [apply pow_incr; lra|]; rewrite <- Rpower_pow by apply exp_pos.
    unfold Rpower; rewrite ln_exp, INR_IZR_INZ; f_equal; change (IZR (Z.of_nat 64)) with 64; ring. }
  assert (H3 : IZR W = 2 ^ 64) by (rewrite W_pow; change 64%Z with (Z.of_nat 64); now rewrite <- pow_IZR).
  assert (H4 : exp (- 64) * exp 64 = 1) by (rewrite <- exp_plus; replace (- 64 + 64) with 0 by ring; apply exp_0).
  pose proof (exp_pos (- 64)); rewrite H3; nra.
Qed.
Lemma e64_01 : 0 < exp (- 64) < 1.
Proof. split; [apply exp_pos|]; pose proof e64_W; pose proof Wr_pos; pose proof (exp_pos (- 64)); nra. Qed.
Lemma exG_cdf : cdf exG.
Proof.
  pose proof e64_01; split.
  - intros j k H1; unfold exG.
    assert (P : forall n, 0 < exp (- 64) ^ n <= 1).
    { intros n; split; [apply pow_lt; lra|]; rewrite <- (pow1 n); apply pow_incr; lra. }
    destruct (Z.ltb_spec j 0), (Z.ltb_spec k 0); try lia; [lra|specialize (P (Z.to_nat (k + 1))); lra|].
    enough (exp (- 64) ^ Z.to_nat (k + 1) <= exp (- 64) ^ Z.to_nat (j + 1)) by lra.
    replace (Z.to_nat (k + 1)) with (Z.to_nat (j + 1) + Z.to_nat (k - j))%nat by lia; rewrite pow_add.
    specialize (P (Z.to_nat (k - j))); pose proof (pow_lt (exp (- 64)) (Z.to_nat (j + 1)) ltac:(lra)); nra.
  - apply is_lim_seq_ext with (u := fun n => 1 - exp (- 64) ^ Datatypes.S n).
    + intros n; unfold exG; destruct (Z.ltb_spec (Z.of_nat n) 0); [lia|]; do 2 f_equal; lia.
    + replace (Finite 1) with (Finite (1 - 0)) by (f_equal; ring); apply is_lim_seq_minus'; [apply is_lim_seq_const|].
      apply (is_lim_seq_incr_1 (fun n => exp (- 64) ^ n)), is_lim_seq_geom; rewrite Rabs_pos_eq; lra.
  - apply is_lim_seq_incr_1, is_lim_seq_ext with (u := fun _ => 0); [|apply is_lim_seq_const].
    intros n; unfold exG; destruct (Z.ltb_spec (- Z.of_nat (Datatypes.S n)) 0); [auto|lia].
Qed.
Example blocks_laplace_one : has_law
  (blocks 6 (fun m j => floor_digit m (exG j)) (fun _ => -1)%Z Z.of_nat
     (fun x m => floor_digit m (lapw 1 x / lapw 1 (x / 2 ^ 6 * 2 ^ 6)%Z)))
  (dlap 1 Rlt_0_1 0).
Proof.
  pose proof e64_01 as E64; apply (blocks_laplace 1 Rlt_0_1 6 exG (/ (1 - exp (- 64)))); auto using exG_cdf, floor_digit_of.
  - lia.
  - apply Rinv_0_lt_compat; lra.
  - intros j Hj; unfold exG; destruct (Z.ltb_spec j 0); [auto|lia].
  - intros j Hj; replace (lapw 1 (j * 2 ^ 6)) with (exp (- 64) ^ Z.to_nat j).
    + unfold exG; destruct (Z.ltb_spec j 0); [lia|]; replace (Z.to_nat (j + 1)) with (Datatypes.S (Z.to_nat j)) by lia.
      destruct (Z.ltb_spec (j - 1) 0).
      * replace j with 0%Z by lia; simpl; field; lra.
      * replace (j - 1 + 1)%Z with j by lia; rewrite <- tech_pow_Rmult; field; lra.
    + unfold lapw; rewrite Z.abs_eq by lia; rewrite <- Rpower_pow by apply exp_pos; unfold Rpower; rewrite ln_exp.
      rewrite INR_IZR_INZ, Z2Nat.id, mult_IZR by lia; f_equal; change (2 ^ 6)%Z with 64%Z; field.
  - intros m; pose proof (floor_digit_of m (exG (-1))) as H; unfold digit_of in H; set (d := floor_digit m (exG (-1))) in *.
    change (exG (-1)) with 0 in H; rewrite Rmult_0_r in H; destruct H as [H1 H2].
    apply le_IZR in H1; rewrite <- plus_IZR in H2; apply lt_IZR in H2; lia.
  - intros m; destruct (floor_digit_of m (exG (Z.of_nat m))) as [_ H]; set (d := floor_digit m _) in *.
    unfold exG in H; destruct (Z.ltb_spec (Z.of_nat m) 0); [lia|]; rewrite Rmult_minus_distr_l in H.
    replace (Z.to_nat (Z.of_nat m + 1)) with (Datatypes.S m) in H by lia.
    assert (P : IZR W ^ m * exp (- 64) ^ Datatypes.S m <= 1).
    { simpl; replace (IZR W ^ m * (exp (- 64) * exp (- 64) ^ m)) with (exp (- 64) * (exp (- 64) * IZR W) ^ m)
        by (rewrite Rpow_mult_distr; ring).
      assert ((exp (- 64) * IZR W) ^ m <= 1).
      { rewrite <- (pow1 m); apply pow_incr; pose proof e64_W; pose proof Wr_pos; split; [nra|lra]. }
      pose proof (pow_le (exp (- 64) * IZR W) m ltac:(pose proof Wr_pos; nra)); nra. }
    enough (IZR (W ^ Z.of_nat m - 1) < IZR d + 1) as X by (rewrite <- plus_IZR in X; apply lt_IZR in X; lia).
    rewrite minus_IZR, <- pow_IZR; lra.
Qed.
