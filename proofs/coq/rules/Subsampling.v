(* Poisson subsampling at integer Renyi orders, for add/remove neighbours, and steps
   that run only when a public coin says so.  The forward direction is the binomial
   expansion; the reverse one follows from it for pairs that an involution swaps, as
   the reflection x -> mu + nu - x swaps two discrete Gaussians. *)
From Coq Require Import Reals Lra Lia List ZArith FinFun.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors Neighbours Renyi Postprocess.
Import ListNotations.
Local Open Scope R_scope.

(* ---------- mixtures ---------- *)
Section Mix.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).
Definition mix_dist (q : R) (Hq : 0 <= q <= 1) (P Q : dist T) : dist T.
Proof.
  refine {| pmf := mix q P Q |}.
  - intros x; unfold mix; pose proof (pmf_ge0 P x); pose proof (pmf_ge0 Q x).
    apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
  - replace 1 with ((1 - q) * 1 + q * 1) by ring; unfold mix.
    apply (has_sum_plus eqd).
    + intros x; apply Rmult_le_pos; [lra|apply pmf_ge0].
    + intros x; apply Rmult_le_pos; [lra|apply pmf_ge0].
    + apply has_sum_scal0; [lra|apply pmf_sum].
    + apply has_sum_scal0; [lra|apply pmf_sum].
Defined.
End Mix.
Lemma mix_ge0 {T} q (P Q : T -> R) x : 0 <= q <= 1 -> (forall x, 0 <= P x) -> (forall x, 0 <= Q x) -> 0 <= mix q P Q x.
Proof. intros Hq HP HQ; unfold mix; apply Rplus_le_le_0_compat; apply Rmult_le_pos; auto; lra. Qed.

(* ---------- integer orders ---------- *)
Lemma rterm_nat (a : nat) p q : 0 <= p -> 0 < q -> (1 <= a)%nat -> rterm (INR a) p q = q * (p / q) ^ a.
Proof.
  intros Hp Hq Ha; destruct Hp as [Hp| <-].
  - rewrite rterm_pow by auto; unfold Rpower.
    assert (E : forall (n : nat) x, 0 < x -> x ^ n = exp (INR n * ln x)).
    { intros n x Hx; rewrite <- Rpower_pow by auto; reflexivity. }
    rewrite E by (apply Rdiv_lt_0_compat; auto).
    rewrite <- (exp_ln q) at 2 by auto; rewrite ln_div, <- !exp_plus by auto; f_equal; ring.
  - unfold rterm; destruct (Rle_dec 0 0); [|lra]; unfold Rdiv; rewrite Rmult_0_l.
    destruct a; [lia|]; simpl; ring.
Qed.
Lemma lsum_sum_f {T} (F : nat -> T -> R) n l : lsum (fun x => sum_f_R0 (fun k => F k x) n) l = sum_f_R0 (fun k => lsum (F k) l) n.
Proof. induction n as [|n IH]; simpl; auto; rewrite lsum_plus, IH; reflexivity. Qed.

(* sum_k C(a,k) q^k (1-q)^(a-k) exp(k(k-1) rho) *)
Definition sampled_moment (a : nat) (q rho : R) : R :=
  sum_f_R0 (fun k => C a k * q ^ k * (1 - q) ^ (a - k) * exp (INR k * (INR k - 1) * rho)) a.

(* forward: P = (1-q) P0 + q P1 against P0, for any pair with zcdp rho P1 P0 *)
Lemma sampled_forward {T} (a : nat) q rho (P0 P1 : dist T) : (2 <= a)%nat -> 0 <= q <= 1 ->
  zcdp rho P1 P0 -> moment (INR a) (sampled_moment a q rho) (mix q P0 P1) P0.
Proof.
  intros Ha Hq [H0 H]; split.
  { intros x Hx; destruct (pmf_ge0 P0 x) as [|E]; auto; exfalso.
    destruct (pmf_ge0 P1 x) as [Hp|Hp]; [specialize (H0 x Hp); lra|].
    unfold mix in Hx; rewrite <- E, <- Hp in Hx; lra. }
  intros l Hl.
  assert (Hpt : forall x, rterm (INR a) (mix q P0 P1 x) (P0 x) =
    sum_f_R0 (fun k => C a k * q ^ k * (1 - q) ^ (a - k) * (if Nat.eq_dec k 0 then P0 x else rterm (INR k) (P1 x) (P0 x))) a).
  { intros x; destruct (pmf_ge0 P0 x) as [Hx|Hx].
    - rewrite rterm_nat by (try apply mix_ge0; try apply pmf_ge0; auto; lia).
      unfold mix; replace (((1 - q) * P0 x + q * P1 x) / P0 x) with (q * (P1 x / P0 x) + (1 - q)) by (field; lra).
      rewrite binomial, scal_sum; apply sum_eq; intros k _.
      destruct (Nat.eq_dec k 0) as [->|Nk]; [simpl; ring|].
      rewrite rterm_nat by (try apply pmf_ge0; auto; lia); rewrite Rpow_mult_distr; ring.
    - assert (P1 x = 0) as E1 by (destruct (pmf_ge0 P1 x) as [Hp|]; [specialize (H0 x Hp); lra|auto]).
      unfold mix; rewrite <- Hx, E1, !Rmult_0_r, Rplus_0_r.
      assert (R0 : forall c, rterm c 0 0 = 0) by (intros; unfold rterm; destruct (Rle_dec 0 0); lra).
      rewrite R0; symmetry; transitivity (sum_f_R0 (fun _ => 0) a).
      + apply sum_eq; intros k _; destruct (Nat.eq_dec k 0); rewrite ?R0; ring.
      + clear; induction a; simpl; lra. }
  rewrite (lsum_ext _ _ l (fun x _ => Hpt x)), lsum_sum_f; apply sum_Rle; intros k Hk.
  rewrite lsum_scal; apply Rmult_le_compat_l.
  { apply Rmult_le_pos; [apply Rmult_le_pos|]; try (apply pow_le; lra).
    unfold C; apply Rmult_le_pos; [left; apply INR_fact_lt_0|left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; apply INR_fact_lt_0]. }
  assert (E1 : INR k * (INR k - 1) * rho = 0 -> exp (INR k * (INR k - 1) * rho) = 1) by (intros ->; apply exp_0).
  destruct k as [|[|k]].
  - destruct (Nat.eq_dec 0 0); [|easy]; rewrite E1 by (simpl; ring); apply (has_sum_ub _ _ _ (pmf_sum P0) Hl).
  - destruct (Nat.eq_dec 1 0); [easy|]; rewrite E1 by (simpl; ring).
    eapply Rle_trans; [|apply (has_sum_ub _ _ _ (pmf_sum P1) Hl)]; right; apply lsum_ext; intros x _.
    unfold rterm; destruct (Rle_dec (P1 x) 0) as [N|N]; [pose proof (pmf_ge0 P1 x); lra|].
    simpl; rewrite Rminus_eq_0, Rmult_0_l, exp_0; ring.
  - destruct (Nat.eq_dec (S (S k)) 0); [easy|].
    assert (1 < INR (S (S k))) by (apply (lt_INR 1); lia).
    eapply Rle_trans; [apply (H _ H1 l Hl)|]; right; f_equal; ring.
Qed.

(* ---------- reverse ---------- *)
(* x^-(n-1) + ... + x^(n-1) *)
Fixpoint palin (n : nat) (x : R) : R :=
  match n with O => 0 | S O => 1 | S m => palin m x + x ^ m + (/ x) ^ m end.
Lemma palin_S n x : palin (S (S n)) x = palin (S n) x + x ^ S n + (/ x) ^ S n.
Proof. reflexivity. Qed.
Lemma palin_tele n x : 0 < x -> (x - 1) * palin (S n) x = x ^ S n - x * (/ x) ^ S n.
Proof.
  intros Hx; induction n as [|n IH]; [simpl; field; lra|].
  rewrite palin_S, !Rmult_plus_distr_l, IH.
  replace (x ^ S (S n)) with (x * x ^ S n) by (simpl; ring).
  replace ((/ x) ^ S (S n)) with (/ x * (/ x) ^ S n) by (simpl; ring).
  set (X := x ^ S n); set (Y := (/ x) ^ S n); field; lra.
Qed.
Lemma palin_inv n x : palin n (/ x) = palin n x.
Proof. induction n as [|[|n] IH]; try reflexivity; rewrite !palin_S, IH, Rinv_inv; ring. Qed.
Lemma palin_mono n x y : 1 <= x <= y -> palin n x <= palin n y.
Proof.
  intros H; induction n as [|[|n] IH]; try (simpl; lra).
  rewrite !palin_S.
  set (s := x ^ S n); set (t := y ^ S n).
  assert (Hs : 1 <= s) by (apply pow_R1_Rle; lra).
  assert (Hst : s <= t) by (apply pow_incr; lra).
  rewrite !pow_inv; fold s; fold t.
  enough (s + / s <= t + / t) by lra.
  assert (/ s - / t <= t - s); [|lra].
  replace (/ s - / t) with ((t - s) * / (s * t)) by (field; lra).
  rewrite <- (Rmult_1_r (t - s)) at 2; apply Rmult_le_compat_l; [lra|].
  rewrite <- Rinv_1; apply Rinv_le_contravar; nra.
Qed.
(* at one point and its mirror image *)
Lemma swap_pair (n : nat) q p0 p1 : 0 <= q <= 1 -> 0 < p0 -> 0 < p1 ->
  let u := (1 - q) * p0 + q * p1 in let w := (1 - q) * p1 + q * p0 in
  rterm (INR (S n)) p0 u + rterm (INR (S n)) p1 w <= rterm (INR (S n)) u p0 + rterm (INR (S n)) w p1.
Proof.
  intros Hq H0 H1 u w.
  assert (Hu : 0 < u) by (unfold u; destruct (Rle_dec q (1 / 2)); nra).
  assert (Hw : 0 < w) by (unfold w; destruct (Rle_dec q (1 / 2)); nra).
  rewrite !rterm_nat by (auto; lra || lia).
  set (r := p1 / p0); assert (Hr : 0 < r) by now apply Rdiv_lt_0_compat.
  assert (Ep1 : p1 = p0 * r) by (unfold r; field; lra).
  set (U := 1 - q + q * r); set (W := (1 - q) * r + q).
  assert (EU : u = p0 * U) by (unfold u, U; rewrite Ep1; ring).
  assert (EW : w = p0 * W) by (unfold w, W; rewrite Ep1; ring).
  assert (HU : 0 < U) by nra; assert (HW : 0 < W) by nra.
  set (y := r / W); assert (Hy : 0 < y) by now apply Rdiv_lt_0_compat.
  assert (Ey : r = W * y) by (unfold y; field; lra).
  replace (p0 / u) with (/ U) by (rewrite EU; field; lra).
  replace (p1 / w) with y by (rewrite EW, Ep1; unfold y; field; lra).
  replace (u / p0) with U by (rewrite EU; field; lra).
  replace (w / p1) with (/ y) by (rewrite EW, Ep1; unfold y; field; lra).
  rewrite EU, EW, Ep1.
  pose proof (palin_tele n U HU) as TU; pose proof (palin_tele n y Hy) as Ty.
  enough (W * (y ^ S n - y * (/ y) ^ S n) <= U ^ S n - U * (/ U) ^ S n) as G.
  { replace (p0 * r * (/ y) ^ S n) with (p0 * (W * (y * (/ y) ^ S n))) by (rewrite Ey; ring).
    apply (Rmult_le_compat_l p0) in G; lra. }
  rewrite <- TU, <- Ty.
  replace (W * ((y - 1) * palin (S n) y)) with (q * (r - 1) * palin (S n) y).
  2:{ replace (q * (r - 1)) with (W * y - W) by (rewrite <- Ey; unfold W; ring); ring. }
  replace (U - 1) with (q * (r - 1)) by (unfold U; ring).
  assert (HUW : y <= U).
  { apply Rmult_le_reg_l with W; auto; rewrite <- Ey.
    assert (W * U - r = q * (1 - q) * ((r - 1) * (r - 1))) by (unfold W, U; ring).
    assert (0 <= q * (1 - q) * ((r - 1) * (r - 1))) by (apply Rmult_le_pos; [nra|apply Rle_0_sqr]); lra. }
  destruct (Rle_dec 1 r) as [R1|R1].
  - assert (1 <= y).
    { apply Rmult_le_reg_l with W; auto; rewrite <- Ey; unfold W; nra. }
    apply Rmult_le_compat_l; [nra|]; apply palin_mono; lra.
  - assert (U <= 1) by (unfold U; nra).
    assert (palin (S n) U <= palin (S n) y).
    { rewrite <- (palin_inv (S n) U), <- (palin_inv (S n) y); apply palin_mono; split.
      - rewrite <- Rinv_1; apply Rinv_le_contravar; lra.
      - apply Rinv_le_contravar; lra. }
    assert (q * (r - 1) <= 0) by nra; nra.
Qed.

Lemma sampled_reverse {T} (eqd : forall x y : T, {x = y} + {x <> y}) (h : T -> T) (a : nat) q m (P0 P1 : dist T) :
  (1 <= a)%nat -> 0 <= q <= 1 -> (forall x, h (h x) = x) -> (forall x, P1 (h x) = P0 x) ->
  (forall x, 0 < P0 x <-> 0 < P1 x) ->
  moment (INR a) m (mix q P0 P1) P0 -> moment (INR a) m P0 (mix q P0 P1).
Proof.
  intros Ha Hq Hh HP Hac [_ B].
  assert (HP' : forall x, P0 (h x) = P1 x) by (intros x; rewrite <- HP, Hh; auto).
  split.
  { intros x Hx; pose proof (proj1 (Hac x) Hx); unfold mix; destruct (Rle_dec q (1 / 2)); nra. }
  intros l Hl.
  set (F := fun x => rterm (INR a) (P0 x) (mix q P0 P1 x)).
  set (G := fun x => rterm (INR a) (mix q P0 P1 x) (P0 x)) in *.
  assert (HF : forall x, 0 <= F x) by (intros; apply rterm_ge0).
  assert (HG : forall x, 0 <= G x) by (intros; apply rterm_ge0).
  assert (Hpt : forall x, F x + F (h x) <= G x + G (h x)).
  { intros x; unfold F, G, mix; rewrite HP, HP'.
    destruct (pmf_ge0 P0 x) as [Hx|Hx].
    - destruct a as [|a]; [lia|].
      apply (swap_pair a q (P0 x) (P1 x) Hq Hx (proj1 (Hac x) Hx)).
    - assert (P1 x = 0) as ->.
      { destruct (pmf_ge0 P1 x) as [Hp|]; auto; apply Hac in Hp; lra. }
      rewrite <- Hx; unfold rterm; rewrite !Rmult_0_r, Rplus_0_r; destruct (Rle_dec 0 0); lra. }
  set (l' := nodup eqd (l ++ map h l)); assert (Hl' : NoDup l') by apply NoDup_nodup.
  assert (Hcl : forall x, In x l' -> In (h x) l').
  { intros x Hx; apply nodup_In; apply nodup_In in Hx; apply in_or_app; apply in_app_or in Hx; destruct Hx as [Hx|Hx].
    - right; now apply in_map.
    - left; apply in_map_iff in Hx; destruct Hx as (z & <- & Hz); rewrite Hh; auto. }
  assert (Hsym : forall f : T -> R, (forall x, 0 <= f x) -> lsum (fun x => f (h x)) l' = lsum f l').
  { intros f Hf; rewrite <- (lsum_map h f); apply Rle_antisym; apply lsum_incl; auto.
    - apply Injective_map_NoDup; auto; intros x y E; rewrite <- (Hh x), <- (Hh y), E; auto.
    - intros x Hx; apply in_map_iff in Hx; destruct Hx as (z & <- & Hz); auto.
    - intros x Hx; rewrite <- (Hh x); apply in_map; auto. }
  apply Rle_trans with (lsum F l').
  { apply lsum_incl; auto; intros x Hx; apply nodup_In, in_or_app; auto. }
  pose proof (lsum_le (fun x => F x + F (h x)) (fun x => G x + G (h x)) l' (fun x _ => Hpt x)) as S.
  rewrite !lsum_plus, !Hsym in S by auto; pose proof (B l' Hl'); fold G in H; lra.
Qed.

(* ---------- reflections swap Gaussian vectors ---------- *)
Fixpoint refl (mu nu x : list Z) : list Z :=
  match x, mu, nu with
  | a :: x, m :: mu, n :: nu => (m + n - a)%Z :: refl mu nu x
  | x, _, _ => x
  end.
Lemma refl_invol mu nu x : refl mu nu (refl mu nu x) = x.
Proof.
  revert mu nu; induction x as [|a x IH]; intros [|m mu] [|n nu]; auto; simpl; rewrite IH; f_equal; lia.
Qed.
Lemma gauss_refl v m n a : gauss v n (m + n - a)%Z = gauss v m a :> R.
Proof.
  simpl; assert (E : forall j, theta v (cond_pos v) (IZR j) = theta v (cond_pos v) 0)
    by (intros j; rewrite <- (theta_shift v _ 0 j); f_equal; ring).
  rewrite (E m), (E n); f_equal; unfold gw; do 3 f_equal; rewrite minus_IZR, plus_IZR; ring.
Qed.
Lemma gauss_vec_refl v mu nu x : length mu = length nu ->
  gauss_vec v nu (refl mu nu x) = gauss_vec v mu x :> R.
Proof.
  revert nu x; induction mu as [|m mu IH]; intros [|n nu] x E; try discriminate.
  - destruct x; reflexivity.
  - destruct x as [|a x]; [reflexivity|]; cbn [refl].
    change (gauss v n (m + n - a)%Z * gauss_vec v nu (refl mu nu x) = gauss v m a * gauss_vec v mu x).
    rewrite gauss_refl, IH; auto.
Qed.
Lemma gauss_vec_pair (v : posreal) mu nu : length mu = length nu ->
  zcdp (IZR (sqdist mu nu) / (2 * v)) (gauss_vec v mu) (gauss_vec v nu).
Proof. intros E; rewrite <- sqcost_common, gauss_vec_vecs, gauss_vec_vecs, <- E by auto; now apply gauss_vecs_zcdp. Qed.

Lemma sampled_mono a q r r' : 0 <= q <= 1 -> r <= r' -> sampled_moment a q r <= sampled_moment a q r'.
Proof.
  intros Hq Hr; apply sum_Rle; intros k Hk; apply Rmult_le_compat_l.
  { apply Rmult_le_pos; [apply Rmult_le_pos|]; try (apply pow_le; lra).
    unfold C; apply Rmult_le_pos; [left; apply INR_fact_lt_0|left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; apply INR_fact_lt_0]. }
  apply exp_le, Rmult_le_compat_l; auto.
  destruct k as [|k]; [simpl; lra|]; rewrite S_INR; pose proof (pos_INR k); nra.
Qed.
Lemma sqdist_sym x y : sqdist x y = sqdist y x.
Proof. revert y; induction x as [|a x IH]; intros [|b y]; auto; simpl; rewrite IH; ring. Qed.

(* both directions for the two Gaussian vectors *)
Lemma sampled_gauss (a : nat) q D2 (v : posreal) mu nu : (2 <= a)%nat -> 0 <= q <= 1 ->
  length mu = length nu -> IZR (sqdist mu nu) <= D2 ->
  let P := mix q (gauss_vec v mu) (gauss_vec v nu) in
  moment (INR a) (sampled_moment a q (D2 / (2 * v))) P (gauss_vec v mu) /\
  moment (INR a) (sampled_moment a q (D2 / (2 * v))) (gauss_vec v mu) P.
Proof.
  intros Ha Hq E HD P; pose proof (cond_pos v).
  assert (F : moment (INR a) (sampled_moment a q (D2 / (2 * v))) P (gauss_vec v mu)).
  { eapply moment_weaken; [|apply (sampled_forward a q (IZR (sqdist nu mu) / (2 * v))); auto; now apply gauss_vec_pair].
    apply sampled_mono; auto; rewrite sqdist_sym.
    apply Rmult_le_compat_r; auto; left; apply Rinv_0_lt_compat; lra. }
  split; auto.
  apply (sampled_reverse zvec_eq (refl mu nu)); auto; [lia|intros; apply refl_invol|intros; now apply gauss_vec_refl|].
  intros x; split; apply gauss_vec_pair; auto.
Qed.

(* ---------- the subsampled mechanism ---------- *)
(* run M on a random part of the data: each record is in it with probability q,
   independently of the others *)
Fixpoint poisson {U T} eqd q (Hq : 0 <= q <= 1) (M : list U -> dist T) (d : list U) : dist T :=
  match d with
  | [] => M []
  | x :: d => mix_dist eqd q Hq (poisson eqd q Hq M d) (poisson eqd q Hq (fun s => M (x :: s)) d)
  end.

Section Poisson.
Context {U T : Type} (eqd : forall x y : T, {x = y} + {x <> y}) (q : R) (Hq : 0 <= q <= 1).
Notation pois := (poisson eqd q Hq).
Lemma moment_mix_same a m (P1 P2 Q1 Q2 : dist T) : 1 < a ->
  moment a m P1 Q1 -> moment a m P2 Q2 -> moment a m (mix q P1 P2) (mix q Q1 Q2).
Proof.
  intros Ha H1 H2; replace m with ((1 - q) * m + q * m) by ring; apply moment_mix; auto; apply pmf_ge0.
Qed.
Lemma poisson_pair a m (l : list U) : 1 < a -> forall M M' : list U -> dist T,
  ((forall s, moment a m (mix q (M s) (M' s)) (M s)) -> moment a m (mix q (pois M l) (pois M' l)) (pois M l)) /\
  ((forall s, moment a m (M s) (mix q (M s) (M' s))) -> moment a m (pois M l) (mix q (pois M l) (pois M' l))).
Proof.
  intros Ha; induction l as [|x l IH]; intros M M'; [split; intros H; apply (H [])|].
  destruct (IH M M') as [A1 B1]; destruct (IH (fun s => M (x :: s)) (fun s => M' (x :: s))) as [A2 B2].
  set (a1 := pois M l) in *; set (a2 := pois (fun s => M (x :: s)) l) in *.
  set (b1 := pois M' l) in *; set (b2 := pois (fun s => M' (x :: s)) l) in *.
  assert (E : forall y, mix q (mix_dist eqd q Hq a1 b1) (mix_dist eqd q Hq a2 b2) y
    = mix q (pois M (x :: l)) (pois M' (x :: l)) y).
  { intros y; cbn [poisson]; fold a1 a2 b1 b2; simpl; unfold mix; ring. }
  split; intros H.
  - eapply moment_ext; [exact E|reflexivity|]; apply (moment_mix_same a m (mix_dist eqd q Hq a1 b1) (mix_dist eqd q Hq a2 b2)); auto.
  - eapply moment_ext; [reflexivity|exact E|]; apply (moment_mix_same a m a1 a2 (mix_dist eqd q Hq a1 b1) (mix_dist eqd q Hq a2 b2)); auto.
Qed.
(* one record more: both directions *)
Lemma poisson_adds a m x (l1 l2 : list U) : 1 < a -> forall M : list U -> dist T,
  ((forall s s', adds_one s s' -> moment a m (mix q (M s) (M s')) (M s)) ->
     moment a m (pois M (l1 ++ x :: l2)) (pois M (l1 ++ l2))) /\
  ((forall s s', adds_one s s' -> moment a m (M s) (mix q (M s) (M s'))) ->
     moment a m (pois M (l1 ++ l2)) (pois M (l1 ++ x :: l2))).
Proof.
  intros Ha; induction l1 as [|z l1 IH]; intros M.
  - destruct (poisson_pair a m l2 Ha M (fun s => M (x :: s))) as [A B]; split; intros H; simpl.
    + apply A; intros s; apply H; exists [], x, s; auto.
    + apply B; intros s; apply H; exists [], x, s; auto.
  - destruct (IH M) as [A1 B1]; destruct (IH (fun s => M (z :: s))) as [A2 B2].
    assert (K : forall s s' : list U, adds_one s s' -> adds_one (z :: s) (z :: s')).
    { intros s s' (k1 & y & k2 & -> & ->); exists (z :: k1), y, k2; auto. }
    split; intros H; simpl; apply moment_mix_same; auto.
Qed.
(** @theorem poisson-renyi
    M is a mechanism on datasets such that, at one order a > 1 and for every dataset s and
    every s' with one record more, the mixture (1-q) M(s) + q M(s') and M(s) have moment at
    most m in both directions. Running M on a random part of the data, each record in it
    independently with probability q, has moment at most m when one record is added or removed. *)
Theorem poisson_moment a m (M : list U -> dist T) : 1 < a ->
  (forall s s', adds_one s s' -> moment a m (mix q (M s) (M s')) (M s) /\ moment a m (M s) (mix q (M s) (M s'))) ->
  moment_mech add_remove a m (pois M).
Proof.
  intros Ha H d d' [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; apply poisson_adds; auto;
    intros s s' A; now apply H.
Qed.
End Poisson.

(** @theorem poisson-gaussian-renyi
    The vector query f has squared l2 sensitivity at most D2 when one record is added or
    removed. Evaluate f on a random part of the data, each record in it independently with
    probability q, and add discrete Gaussian noise with parameter sigma^2 to each coordinate.
    When one record is added or removed, the moment of integer order a >= 2 is at most
    sum_k C(a,k) q^k (1-q)^(a-k) exp(k(k-1) D2 / (2 sigma^2)). *)
Theorem poisson_gauss_moment {U} (f : list U -> list Z) (D2 : R) (sigma2 : posreal) q (Hq : 0 <= q <= 1) (a : nat) :
  (2 <= a)%nat -> l2sq_sens add_remove f D2 ->
  moment_mech add_remove (INR a) (sampled_moment a q (D2 / (2 * sigma2)))
    (poisson zvec_eq q Hq (fun s => gauss_vec sigma2 (f s))).
Proof.
  intros Ha Hf; apply poisson_moment; [apply (lt_INR 1); lia|].
  intros s s' A; destruct (Hf s s' (or_introl A)) as [E HD]; now apply sampled_gauss.
Qed.

(* ---------- a public coin ---------- *)
(* 1 with probability p, else 0 *)
Definition coin (p : R) (Hp : 0 <= p <= 1) : dist Z :=
  mix_dist Z.eq_dec p Hp (dret Z.eq_dec 0%Z) (dret Z.eq_dec 1%Z).
(* publish the coin; if it is 1, run M and publish its output too *)
Definition with_coin p (Hp : 0 <= p <= 1) (M : dist (list Z)) : dist (list Z) :=
  cons_dist Z.eq_dec (coin p Hp) (fun c => if Z.eq_dec c 1 then M else dret (leqd Z.eq_dec) []).

(** @theorem public-coin
    M has moment at most m at order a for neighbours adj. A step that tosses a coin,
    publishes it, and runs M only when the coin (probability p) says so, has moment at most
    (1-p) + p m for adj. *)
Theorem public_coin {D} (adj : D -> D -> Prop) p (Hp : 0 <= p <= 1) a m (M : D -> dist (list Z)) :
  moment_mech adj a m M -> moment_mech adj a ((1 - p) + p * m) (fun d => with_coin p Hp (M d)).
Proof.
  intros H d d' A; specialize (H d d' A); apply cons_moment_joint.
  apply (joint_moment Z.eq_dec a _ (fun c => if Z.eq_dec c 1 then m else 1)); auto.
  - intros c; destruct (Z.eq_dec c 1); auto; apply (moment_refl a (dret (leqd Z.eq_dec) [])).
  - intros l Hl; assert (Hm := moment_ge0 _ _ _ _ H).
    rewrite (lsum_ext _ (fun c => (1 - p) * dret Z.eq_dec 0%Z c + p * m * dret Z.eq_dec 1%Z c)).
    + rewrite lsum_plus, !lsum_scal.
      pose proof (has_sum_ub _ _ _ (pmf_sum (dret Z.eq_dec 0%Z)) Hl).
      pose proof (has_sum_ub _ _ _ (pmf_sum (dret Z.eq_dec 1%Z)) Hl).
      assert (0 <= p * m) by (apply Rmult_le_pos; lra); nra.
    + intros c _; rewrite rterm_diag by apply pmf_ge0; simpl; unfold mix.
      destruct (Z.eq_dec c 1); destruct (Z.eq_dec c 0); try lia; ring.
Qed.

(* ---------- (eps, delta) under Poisson sampling ---------- *)
Definition amplified (q eps : R) : R := ln (1 + q * (exp eps - 1)).
Lemma amplified_exp q eps : 0 <= q <= 1 -> 0 <= eps -> exp (amplified q eps) = 1 + q * (exp eps - 1).
Proof. intros Hq He; apply exp_ln; pose proof (exp_ineq1_le eps); nra. Qed.
Lemma amplified_pos q eps : 0 <= q <= 1 -> 0 <= eps -> 0 <= amplified q eps.
Proof.
  intros Hq He; unfold amplified; pose proof (exp_ineq1_le eps).
  assert (1 <= 1 + q * (exp eps - 1)) as [L|L] by nra.
  - rewrite <- ln_1; left; apply ln_increasing; lra.
  - rewrite <- L, ln_1; lra.
Qed.

Section Amplify.
Context {U T : Type} (eqd : forall x y : T, {x = y} + {x <> y}) (q : R) (Hq : 0 <= q <= 1).
Lemma dp_mix_same e dl (P1 P2 Q1 Q2 : T -> R) :
  dp e dl P1 Q1 -> dp e dl P2 Q2 -> dp e dl (mix q P1 P2) (mix q Q1 Q2).
Proof.
  intros H1 H2 l Hl; unfold mix; rewrite !lsum_plus, !lsum_scal.
  pose proof (H1 l Hl); pose proof (H2 l Hl); nra.
Qed.
Lemma dp_ext e dl (P Q P' Q' : T -> R) : (forall x, P x = P' x) -> (forall x, Q x = Q' x) -> dp e dl P Q -> dp e dl P' Q'.
Proof.
  intros HP HQ H l Hl; rewrite <- (lsum_ext P P'), <- (lsum_ext Q Q') by auto; auto.
Qed.
(* one more record, sampled with probability q: both directions *)
Lemma amplify_pair eps delta (P0 P1 : dist T) : 0 <= eps -> 0 <= delta ->
  dp eps delta P1 P0 -> dp eps delta P0 P1 ->
  dp (amplified q eps) (q * delta) (mix q P0 P1) P0 /\ dp (amplified q eps) (q * delta) P0 (mix q P0 P1).
Proof.
  intros He Hd H1 H2; assert (E1 : 1 <= exp eps) by (pose proof (exp_ineq1_le eps); lra).
  split; intros l Hl; rewrite amplified_exp by auto; unfold mix; rewrite lsum_plus, !lsum_scal;
    pose proof (H1 l Hl) as A; pose proof (H2 l Hl) as B; set (E := exp eps) in *; set (x := lsum P0 l) in *; set (y := lsum P1 l) in *.
  - assert (q * y <= q * (E * x + delta)) by (apply Rmult_le_compat_l; lra); nra.
  - assert (x0 : 0 <= x) by (apply lsum_ge0, pmf_ge0); assert (y0 : 0 <= y) by (apply lsum_ge0, pmf_ge0).
    (* x <= E y + delta; (1+q(E-1)) ((1-q) x + q y) + q delta - x >= 0 *)
    assert (C : q * (x - delta) <= q * (E * y)) by (apply Rmult_le_compat_l; lra).
    destruct (Rle_dec x delta) as [Hx|Hx].
    + assert (q * x <= q * delta) by (apply Rmult_le_compat_l; lra).
      assert ((1 - q) * x <= (1 + q * (E - 1)) * ((1 - q) * x + q * y)); [|lra].
      assert (0 <= (1 - q) * x) by (apply Rmult_le_pos; lra); assert (0 <= q * y) by (apply Rmult_le_pos; lra).
      assert (0 <= q * (E - 1)) by (apply Rmult_le_pos; lra); nra.
    + set (u := x - delta) in *; assert (Hu : 0 < u) by (unfold u; lra).
      (* q y >= q u / E *)
      assert (Y : q * u / E <= q * y).
      { apply Rmult_le_reg_l with E; [lra|]; replace (E * (q * u / E)) with (q * u) by (field; lra); lra. }
      assert (K : 0 <= (1 + q * (E - 1))) by nra.
      apply Rle_trans with ((1 + q * (E - 1)) * ((1 - q) * x + q * u / E) + q * delta).
      2:{ apply Rplus_le_compat_r, Rmult_le_compat_l; lra. }
      replace x with (u + delta) by (unfold u; ring).
      assert (Z : (1 + q * (E - 1)) * ((1 - q) * (u + delta) + q * u / E) + q * delta - (u + delta)
        = q * (1 - q) * ((E - 1) * (E - 1) / E) * u + q * (1 - q) * (E - 1) * delta).
      { field; lra. }
      assert (0 <= (E - 1) * (E - 1) / E) by (apply Rmult_le_pos; [nra|left; apply Rinv_0_lt_compat; lra]).
      assert (0 <= q * (1 - q)) by nra.
      assert (0 <= q * (1 - q) * ((E - 1) * (E - 1) / E) * u) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
      assert (0 <= q * (1 - q) * (E - 1) * delta) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
      lra.
Qed.
Lemma amplify_poisson_pair e dl (l : list U) : forall M M' : list U -> dist T,
  ((forall s, dp e dl (mix q (M s) (M' s)) (M s)) -> dp e dl (mix q (poisson eqd q Hq M l) (poisson eqd q Hq M' l)) (poisson eqd q Hq M l)) /\
  ((forall s, dp e dl (M s) (mix q (M s) (M' s))) -> dp e dl (poisson eqd q Hq M l) (mix q (poisson eqd q Hq M l) (poisson eqd q Hq M' l))).
Proof.
  induction l as [|x l IH]; intros M M'; [split; intros H; apply (H [])|].
  destruct (IH M M') as [A1 B1]; destruct (IH (fun s => M (x :: s)) (fun s => M' (x :: s))) as [A2 B2].
  cbn [poisson].
  set (a1 := poisson eqd q Hq M l) in *; set (a2 := poisson eqd q Hq (fun s => M (x :: s)) l) in *.
  set (b1 := poisson eqd q Hq M' l) in *; set (b2 := poisson eqd q Hq (fun s => M' (x :: s)) l) in *.
  assert (E : forall y, mix q (mix q a1 b1) (mix q a2 b2) y = mix q (mix_dist eqd q Hq a1 a2) (mix_dist eqd q Hq b1 b2) y).
  { intros y; simpl; unfold mix; ring. }
  split; intros H.
  - eapply dp_ext; [exact E|reflexivity|]; simpl; apply dp_mix_same; auto.
  - eapply dp_ext; [reflexivity|exact E|]; simpl; apply dp_mix_same; auto.
Qed.
Lemma amplify_adds e dl x (l1 l2 : list U) : forall M : list U -> dist T,
  (forall s s', adds_one s s' -> dp e dl (mix q (M s) (M s')) (M s) /\ dp e dl (M s) (mix q (M s) (M s'))) ->
  dp e dl (poisson eqd q Hq M (l1 ++ x :: l2)) (poisson eqd q Hq M (l1 ++ l2)) /\
  dp e dl (poisson eqd q Hq M (l1 ++ l2)) (poisson eqd q Hq M (l1 ++ x :: l2)).
Proof.
  induction l1 as [|z l1 IH]; intros M H.
  - destruct (amplify_poisson_pair e dl l2 M (fun s => M (x :: s))) as [A B]; simpl; split.
    + apply A; intros s; apply H; exists [], x, s; auto.
    + apply B; intros s; apply H; exists [], x, s; auto.
  - destruct (IH M H) as [A1 B1].
    destruct (IH (fun s => M (z :: s))) as [A2 B2].
    { intros s s' (k1 & y & k2 & -> & ->); apply H; exists (z :: k1), y, k2; auto. }
    simpl; split; apply dp_mix_same; auto.
Qed.
(** @theorem poisson-amplification
    M is (eps, delta)-DP when one record is added or removed. Running M on a random part of
    the data, each record in it independently with probability q, is
    (ln(1 + q (e^eps - 1)), q delta)-DP when one record is added or removed. *)
Theorem poisson_amplification eps delta (M : list U -> dist T) : 0 <= eps -> 0 <= delta ->
  dp_mech add_remove eps delta M -> dp_mech add_remove (amplified q eps) (q * delta) (poisson eqd q Hq M).
Proof.
  intros He Hd H d d' A.
  assert (G : forall s s', adds_one s s' -> dp (amplified q eps) (q * delta) (mix q (M s) (M s')) (M s) /\
    dp (amplified q eps) (q * delta) (M s) (mix q (M s) (M s'))).
  { intros s s' B; apply amplify_pair; auto; apply H; [right|left]; auto. }
  destruct A as [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; now apply amplify_adds.
Qed.
End Amplify.

(* ---------- instances ---------- *)
From Assay.rules Require Import Basic.
Lemma tenth : 0 <= 1 / 10 <= 1. Proof. lra. Qed.
Lemma half : 0 <= 1 / 2 <= 1. Proof. lra. Qed.
(* count of a 10% sample, sigma^2 = 4, order 2: (1-q)^2 + 2q(1-q) + q^2 e^(1/4) *)
Example sampled_count : moment_mech add_remove 2 (99 / 100 + 1 / 100 * exp (1 / 4))
  (poisson zvec_eq (1 / 10) tenth (fun s => gauss_vec (prat 4 1) (size_query s))).
Proof.
  pose proof (poisson_gauss_moment size_query 1 (prat 4 1) (1 / 10) tenth 2 ltac:(lia) (proj2 size_sens)) as H.
  replace (INR 2) with 2 in H by (simpl; ring).
  replace (sampled_moment 2 (1 / 10) (1 / (2 * prat 4 1))) with (99 / 100 + 1 / 100 * exp (1 / 4)) in H; auto.
  unfold sampled_moment, C; simpl.
  replace (0 * (0 - 1) * (1 / (2 * (4 / 1)))) with 0 by ring; replace (1 * (1 - 1) * (1 / (2 * (4 / 1)))) with 0 by ring.
  replace ((1 + 1) * (1 + 1 - 1) * (1 / (2 * (4 / 1)))) with (1 / 4) by field; rewrite exp_0; field.
Qed.
Example coin_count : moment_mech add_remove 2 ((1 - 1 / 2) + 1 / 2 * (99 / 100 + 1 / 100 * exp (1 / 4)))
  (fun d => with_coin (1 / 2) half (poisson zvec_eq (1 / 10) tenth (fun s => gauss_vec (prat 4 1) (size_query s)) d)).
Proof. apply public_coin, sampled_count. Qed.
(* a count of scale 2 (eps = 1/2) on a 10% sample: ln(1 + (e^(1/2) - 1)/10), about 0.063 *)
Example sampled_laplace_count : dp_mech add_remove (amplified (1 / 10) (1 / (2 / 1))) (1 / 10 * 0)
  (poisson zvec_eq (1 / 10) tenth (fun s => laplace_vec (prat 2 1) (size_query s))).
Proof. apply poisson_amplification; [lra|lra|apply size_laplace]. Qed.
