(* geometric(s, t): P[y] = (1 - e^(-s/t)) e^(-y s/t) on y = 0, 1, ... (CKS20, Algorithm 2). *)
From Coq Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP DiscreteLaplace.
From Assay.samplers Require Import Tape Uniform Bernoulli BernoulliExp Inverse.
Import List ListNotations.
Local Open Scope R_scope.

(* ---------- executable part ---------- *)
Definition geo_u (t : Z) : sampler Z :=
  retry (bind (uniform t) (fun u => smap (fun b : bool => if b then Some u else None) (bernoulli_exp_unit u t))).
Definition geo_v : sampler Z :=
  loop (fun v => smap (fun b : bool => if b then inl (v + 1)%Z else inr v) (bernoulli_exp_unit 1 1)) 0%Z.
Definition geometric (s t : Z) : sampler Z :=
  bind (geo_u t) (fun u => smap (fun v => (u + t * v) / s)%Z geo_v).

Lemma pd_geo_u t : pd (geo_u t). Proof. unfold geo_u; auto 7 with smp. Qed.
Lemma eats_geo_u t : eats (geo_u t). Proof. unfold geo_u; auto 7 with smp. Qed.
Lemma pd_geo_v : pd geo_v. Proof. unfold geo_v; auto with smp. Qed.
Global Hint Resolve pd_geo_u eats_geo_u pd_geo_v : smp.
Lemma pd_geometric s t : pd (geometric s t). Proof. unfold geometric; auto with smp. Qed.
Lemma eats_geometric s t : eats (geometric s t). Proof. unfold geometric; auto with smp. Qed.
Global Hint Resolve pd_geometric eats_geometric : smp.

(* ---------- the uniform part, accepted with probability e^(-u/t) ---------- *)
Lemma geo_sum c n : 0 < c -> lsum (fun u => exp (- (IZR u * c))) (zseq n) = (1 - exp (- (INR n * c))) / (1 - exp (- c)).
Proof.
  intros Hc; assert (exp (- c) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  induction n as [|n IH].
  - simpl; rewrite Rmult_0_l, Ropp_0, exp_0; field; lra.
  - rewrite zseq_S, lsum_app, IH, S_INR; simpl lsum; rewrite <- INR_IZR_INZ.
    replace (- ((INR n + 1) * c)) with (- (INR n * c) + - c) by ring; rewrite exp_plus; field; lra.
Qed.
Lemma exp_lt1 c : 0 < c -> 0 < exp (- c) < 1.
Proof. intros; split; [apply exp_pos|]; rewrite <- exp_0; apply exp_increasing; lra. Qed.
Definition eu (t u : Z) : R := exp (- (IZR u / IZR t)).
Lemma eu_sum t : (1 <= t)%Z -> lsum (eu t) (zseq (Z.to_nat t)) = (1 - exp (- (1))) / (1 - exp (- / IZR t)).
Proof.
  intros Ht; assert (1 <= IZR t) by now apply (IZR_le 1).
  rewrite <- (lsum_ext (fun u => exp (- (IZR u * / IZR t)))) by (intros; reflexivity).
  rewrite geo_sum by (apply Rinv_0_lt_compat; lra).
  rewrite INR_IZR_INZ, Z2Nat.id, Rinv_r by (lia || lra); auto.
Qed.
Lemma L_geo_u t f : (1 <= t)%Z -> tst f ->
  L (geo_u t) f = lsum (fun u => eu t u * f u) (zseq (Z.to_nat t)) / lsum (eu t) (zseq (Z.to_nat t)).
Proof.
  intros Ht Hf; assert (Hp : 0 <= L (geo_u t) f <= 1) by (apply L_01; auto with smp).
  assert (Hr : 1 <= IZR t) by now apply (IZR_le 1).
  set (p := L (geo_u t) f) in *.
  assert (Hq : p = / IZR t * lsum (fun u => eu t u * f u + (1 - eu t u) * p) (zseq (Z.to_nat t))).
  { unfold p at 1; unfold geo_u; rewrite L_retry_eq by auto 7 with smp; fold (geo_u t); fold p.
    set (h := fun o : option Z => match o with Some a => f a | None => p end).
    assert (Hh : tst h) by (intros [a|]; [apply Hf|exact Hp]).
    rewrite L_bind, L_uniform by (auto with smp; intro; apply L_01; auto with smp).
    f_equal; apply lsum_ext; intros u Hu; apply zseq_In in Hu.
    rewrite L_map, L_bexp_unit by (auto with smp; try lia; intro; apply Hh); reflexivity. }
  assert (HS : 0 < lsum (eu t) (zseq (Z.to_nat t))).
  { rewrite eu_sum by auto; apply Rdiv_lt_0_compat; [pose proof (exp_lt1 1 Rlt_0_1); lra|].
    destruct (exp_lt1 (/ IZR t)); [apply Rinv_0_lt_compat|]; lra. }
  rewrite (lsum_ext _ (fun u => eu t u * f u + (p + (- p) * eu t u))) in Hq by (intros; ring).
  rewrite !lsum_plus, lsum_scal, lsum_const, zseq_len, INR_IZR_INZ, Z2Nat.id in Hq by lia.
  set (S := lsum (eu t) _) in *; set (N := lsum _ _) in *.
  apply Rmult_eq_reg_r with S; [|lra]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  apply (f_equal (Rmult (IZR t))) in Hq; rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l in Hq by lra; lra.
Qed.

(* ---------- the number of whole units ---------- *)
Definition vstep (v : Z) : sampler (Z + Z) := smap (fun b : bool => if b then inl (v + 1)%Z else inr v) (bernoulli_exp_unit 1 1).
Lemma vloop_far j k : (k < j)%Z -> mass (loop vstep j) k = 0.
Proof.
  intros H; unfold mass; rewrite (L_post _ (fun v => j <= v)%Z (ind k) (fun _ => 0)); [apply L_0| |].
  - apply (post_loop _ (fun v => j <= v)%Z); [unfold vstep; auto with smp| |lia].
    intros x Hx l o r _; unfold vstep, smap, bind, ret; destruct (bernoulli_exp_unit 1 1 l) as [[b m]|]; [|easy].
    intros E; injection E as <- <-; destruct b; lia.
  - intros v Hv; apply ind_ne; lia.
Qed.
Lemma vloop_step j k : mass (loop vstep j) k = exp (- (1)) * mass (loop vstep (j + 1)%Z) k + (1 - exp (- (1))) * ind k j.
Proof.
  assert (Hp : forall x, pd (vstep x)) by (unfold vstep; auto with smp).
  assert (He : forall x, eats (vstep x)) by (unfold vstep; auto with smp).
  unfold mass at 1; rewrite L_loop by auto with smp; unfold vstep at 1.
  set (h := fun o : Z + Z => match o with inl y => L (loop vstep y) (ind k) | inr a => ind k a end).
  assert (Hh : tst h) by (intros [y|a]; [apply L_01; auto with smp|apply tst_ind]).
  rewrite L_map, L_bexp_unit by (auto with smp; try lia; intro; apply Hh).
  replace (1 / 1) with 1 by field; reflexivity.
Qed.
Lemma vloop_mass n : forall j, mass (loop vstep j) (j + Z.of_nat n)%Z = (1 - exp (- (1))) * exp (- INR n).
Proof.
  induction n as [|n IH]; intros j; rewrite vloop_step.
  - rewrite Z.add_0_r, vloop_far, ind_eq by lia; simpl; rewrite Ropp_0, exp_0; ring.
  - rewrite ind_ne by lia; replace (j + Z.of_nat (S n))%Z with (j + 1 + Z.of_nat n)%Z by lia; rewrite IH, S_INR.
    replace (- (INR n + 1)) with (- (1) + - INR n) by ring; rewrite exp_plus; ring.
Qed.
Lemma mass_geo_v k : mass geo_v k = if (0 <=? k)%Z then (1 - exp (- (1))) * exp (- IZR k) else 0.
Proof.
  change geo_v with (loop vstep 0%Z); destruct (Z.leb_spec 0 k); [|now apply vloop_far].
  rewrite <- (Z2Nat.id k) at 1 by auto; rewrite <- (Z.add_0_l (Z.of_nat _)), vloop_mass, INR_IZR_INZ, Z2Nat.id; auto.
Qed.

(* ---------- x = u + t v, then floor(x / s) ---------- *)
Definition geo_x (t : Z) : sampler Z := bind (geo_u t) (fun u => smap (fun v => u + t * v)%Z geo_v).
Lemma pd_geo_x t : pd (geo_x t). Proof. unfold geo_x; auto with smp. Qed.
Global Hint Resolve pd_geo_x : smp.
Lemma mass_geo_x t x : (1 <= t)%Z ->
  mass (geo_x t) x = if (0 <=? x)%Z then (1 - exp (- / IZR t)) * exp (- (IZR x / IZR t)) else 0.
Proof.
  intros Ht; assert (Hr : 1 <= IZR t) by now apply (IZR_le 1).
  unfold mass, geo_x; rewrite L_bind by auto with smp.
  rewrite L_geo_u by (auto; apply tst_L; auto with smp).
  pose proof (Z.mod_pos_bound x t ltac:(lia)) as Hm; pose proof (Z.div_mod x t ltac:(lia)) as Hx.
  rewrite (lsum_ext _ (fun u => if Z.eq_dec u (x mod t) then eu t (x mod t) * mass geo_v (x / t)%Z else 0)).
  - rewrite lsum_pick, eu_sum, mass_geo_v by (auto using zseq_NoDup; apply zseq_In; lia).
    destruct (Z.leb_spec 0 (x / t)) as [H|H], (Z.leb_spec 0 x) as [H'|H'].
    + assert (E1 : exp (- (IZR x / IZR t)) = eu t (x mod t) * exp (- IZR (x / t))).
      { unfold eu; rewrite <- exp_plus; f_equal; rewrite Hx at 1; rewrite plus_IZR, mult_IZR; field; lra. }
      rewrite E1; destruct (exp_lt1 1); [lra|]; destruct (exp_lt1 (/ IZR t)); [apply Rinv_0_lt_compat; lra|]; field; lra.
    + exfalso; assert (x / t < 0)%Z by (apply Z.div_lt_upper_bound; lia); lia.
    + exfalso; assert (0 <= x / t)%Z by (apply Z.div_pos; lia); lia.
    + unfold Rdiv; ring.
  - intros u Hu; apply zseq_In in Hu; rewrite L_map by auto with smp.
    destruct (Z.eq_dec u (x mod t)) as [->|N].
    + f_equal; apply L_fext; intros v; unfold ind.
      destruct (eqd (x mod t + t * v)%Z x), (eqd v (x / t)%Z); auto; exfalso; [|subst; lia].
      apply n; apply (Z.mul_reg_l _ _ t); lia.
    + rewrite (L_fext _ _ (fun _ => 0)), L_0; [ring|]; intros v; apply ind_ne; intros E; apply N.
      rewrite <- E, Z.add_comm, Z.mul_comm, Z.add_comm, Z_mod_plus_full, Z.mod_small; lia.
Qed.
Definition geom (s t y : Z) : R :=
  if (0 <=? y)%Z then (1 - exp (- (IZR s / IZR t))) * exp (- (IZR y * (IZR s / IZR t))) else 0.
Lemma mass_geometric s t y : (1 <= s)%Z -> (1 <= t)%Z -> mass (geometric s t) y = geom s t y.
Proof.
  intros Hs Ht; assert (Hr : 1 <= IZR t) by now apply (IZR_le 1).
  assert (E : mass (geometric s t) y = L (geo_x t) (fun x => ind y (x / s)%Z)).
  { unfold mass, geometric, geo_x; rewrite !L_bind by (auto with smp; intro; apply tst_ind).
    apply L_fext; intros u; rewrite !L_map by (auto with smp; intro; apply tst_ind); auto. }
  assert (D : forall i, (0 <= i < s)%Z -> ((s * y + i) / s = y)%Z).
  { intros i Hi; rewrite Z.mul_comm, Z.div_add_l, Z.div_small; lia. }
  rewrite E, (L_finite _ (pd_geo_x t) _ (map (fun i => s * y + i)%Z (zseq (Z.to_nat s)))).
  - rewrite lsum_map; unfold geom; destruct (Z.leb_spec 0 y).
    + rewrite (lsum_ext _ (fun i => (1 - exp (- / IZR t)) * exp (- (IZR y * (IZR s / IZR t))) * exp (- (IZR i * / IZR t)))).
      * rewrite lsum_scal, geo_sum, INR_IZR_INZ, Z2Nat.id by (lia || (apply Rinv_0_lt_compat; lra)).
        destruct (exp_lt1 (/ IZR t)); [apply Rinv_0_lt_compat; lra|]; change (IZR s * / IZR t) with (IZR s / IZR t); field; lra.
      * intros i Hi; apply zseq_In in Hi; rewrite D, ind_eq, mass_geo_x by lia.
        destruct (Z.leb_spec 0 (s * y + i)); [|nia].
        rewrite Rmult_1_r, Rmult_assoc, <- exp_plus, plus_IZR, mult_IZR; do 2 f_equal; field; lra.
    + rewrite (lsum_ext _ (fun _ => 0)), lsum_const; [ring|]; intros i Hi; apply zseq_In in Hi.
      rewrite mass_geo_x by auto; destruct (Z.leb_spec 0 (s * y + i)); [nia|ring].
  - intro; apply tst_ind.
  - apply FinFun.Injective_map_NoDup; [intros a b; lia|apply zseq_NoDup].
  - intros x Hx; apply ind_ne; intros Hy; apply Hx, in_map_iff; exists (x mod s)%Z.
    pose proof (Z.div_mod x s ltac:(lia)); pose proof (Z.mod_pos_bound x s ltac:(lia)); subst y; rewrite zseq_In; lia.
Qed.
Lemma ratio_pos s t : (1 <= s)%Z -> (1 <= t)%Z -> 0 < IZR s / IZR t.
Proof. intros Hs Ht; apply (IZR_le 1) in Hs; apply (IZR_le 1) in Ht; apply Rdiv_lt_0_compat; lra. Qed.
Lemma geom_ge0 s t y : (1 <= s)%Z -> (1 <= t)%Z -> 0 <= geom s t y.
Proof.
  intros Hs Ht; destruct (exp_lt1 _ (ratio_pos s t Hs Ht)); unfold geom; destruct (0 <=? y)%Z; [|lra].
  apply Rmult_le_pos; [lra|left; apply exp_pos].
Qed.
Lemma geom_sum s t : (1 <= s)%Z -> (1 <= t)%Z -> has_sum (geom s t) 1.
Proof.
  intros Hs Ht; destruct (exp_lt1 _ (ratio_pos s t Hs Ht)) as [H0 H1]; apply has_sum_Z; [intros; now apply geom_ge0|].
  set (c := IZR s / IZR t) in *.
  assert (EP : forall n, exp (- (INR n * c)) = exp (- c) ^ n).
  { induction n as [|n IH]; [simpl; now rewrite Rmult_0_l, Ropp_0, exp_0|].
    rewrite S_INR, <- tech_pow_Rmult, <- IH, <- exp_plus; f_equal; ring. }
  apply is_lim_seq_ext with (u := fun n => 1 - exp (- c) ^ S n).
  - induction n as [|n IH]; cbn [zr lsum].
    + unfold geom; simpl; fold c; rewrite Rmult_0_l, Ropp_0, exp_0; ring.
    + rewrite <- IH; unfold geom; fold c; destruct (Z.leb_spec 0 (Z.of_nat (S n))), (Z.leb_spec 0 (- Z.of_nat (S n))); try lia.
      rewrite <- INR_IZR_INZ, EP; simpl; ring.
  - replace (Finite 1) with (Finite (1 - 0)) by (f_equal; ring); apply is_lim_seq_minus'; [apply is_lim_seq_const|].
    apply (is_lim_seq_incr_1 (fun n => exp (- c) ^ n)), is_lim_seq_geom; rewrite Rabs_pos_eq; lra.
Qed.
(** @theorem sampler-geometric
    For integers s, t >= 1, geometric(s, t) returns y = 0, 1, ... with probability exactly
    (1 - e^(-s/t)) e^(-y s/t), and stops almost surely. *)
Theorem geometric_law s t : (1 <= s)%Z -> (1 <= t)%Z -> has_law (geometric s t) (geom s t).
Proof. intros Hs Ht; apply has_law_intro; auto with smp; [intros; now apply mass_geometric|now apply geom_sum]. Qed.
Example geometric_two_thirds : law (geometric 2 3) 5%Z ((1 - exp (- (2 / 3))) * exp (- (5 * (2 / 3)))).
Proof. exact (proj1 (geometric_law 2 3 ltac:(lia) ltac:(lia)) 5%Z). Qed.
