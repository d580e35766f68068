(* From a ledger with subsampled steps to a guarantee, at one integer Renyi order.
   Poisson-sampled lines are for add/remove neighbours only. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors Neighbours Renyi Postprocess Basic PureToZCDP Releases Subsampling.
Import ListNotations.
Local Open Scope R_scope.

(* ---------- binomial coefficients that compute ---------- *)
Fixpoint addrow (x : Z) (l : list Z) : list Z :=
  match l with [] => [x] | y :: l => (x + y)%Z :: addrow y l end.
Fixpoint row (n : nat) : list Z := match n with O => [1%Z] | S n => addrow 0 (row n) end.
Lemma addrow_nth x l k : nth k (addrow x l) 0%Z = ((match k with O => x | S k => nth k l 0 end) + nth k l 0)%Z.
Proof.
  revert x k; induction l as [|y l IH]; intros x k; simpl.
  - destruct k as [|[|k]]; simpl; lia.
  - destruct k as [|k]; [reflexivity|]; rewrite IH; destruct k; reflexivity.
Qed.
Lemma addrow_length x l : length (addrow x l) = S (length l).
Proof. revert x; induction l as [|y l IH]; intros x; simpl; auto. Qed.
Lemma row_length n : length (row n) = S n.
Proof. induction n as [|n IH]; simpl; auto; now rewrite addrow_length, IH. Qed.
Lemma row_C n k : (k <= n)%nat -> IZR (nth k (row n) 0%Z) = C n k.
Proof.
  revert k; induction n as [|n IH]; intros k Hk.
  - replace k with 0%nat by lia; simpl; unfold C; simpl; field.
  - cbn [row]; rewrite addrow_nth; destruct k as [|k].
    + rewrite Z.add_0_l, IH by lia; unfold C; rewrite !Nat.sub_0_r.
      change (INR (fact 0)) with 1; rewrite !Rmult_1_l; unfold Rdiv; rewrite !Rinv_r; auto; apply INR_fact_neq_0.
    + rewrite plus_IZR, IH by lia; destruct (Nat.eq_dec k n) as [->|N].
      * rewrite (nth_overflow (row n)) by (rewrite row_length; lia).
        unfold C; rewrite !Nat.sub_diag; change (INR (fact 0)) with 1; rewrite !Rmult_1_r.
        unfold Rdiv; rewrite !Rinv_r; [ring|apply INR_fact_neq_0|apply INR_fact_neq_0].
      * rewrite IH by lia; apply pascal; lia.
Qed.
Lemma sum_f_lsum f n : sum_f_R0 f n = lsum f (seq 0 (S n)).
Proof.
  induction n as [|n IH]; [simpl; ring|].
  rewrite seq_S, lsum_app, <- IH; simpl; ring.
Qed.
(* the binomial sum with explicit coefficients *)
Definition sampled_sum (a : nat) (q rho : R) : R :=
  let r := row a in
  lsum (fun k => IZR (nth k r 0%Z) * q ^ k * (1 - q) ^ (a - k) * exp (IZR (Z.of_nat k * (Z.of_nat k - 1)) * rho)) (seq 0 (S a)).
Lemma sampled_sum_ok a q rho : sampled_sum a q rho = sampled_moment a q rho.
Proof.
  unfold sampled_sum, sampled_moment; rewrite sum_f_lsum; apply lsum_ext; intros k Hk; apply in_seq in Hk.
  rewrite row_C by lia; rewrite mult_IZR, minus_IZR, <- INR_IZR_INZ; reflexivity.
Qed.
Lemma sampled_ge1 a q rho : 0 <= q <= 1 -> 0 <= rho -> 1 <= sampled_moment a q rho.
Proof.
  intros Hq Hr; apply Rle_trans with (sampled_moment a q 0); [right|now apply sampled_mono].
  transitivity ((q + (1 - q)) ^ a); [replace (q + (1 - q)) with 1 by ring; now rewrite pow1|].
  unfold sampled_moment; rewrite binomial; apply sum_eq; intros k _; rewrite Rmult_0_r, exp_0; ring.
Qed.

(* ---------- ledger lines ---------- *)
Inductive rline :=
| Plain (e : line)
(* Poisson sample, rate n/d, then discrete Gaussian: sigma^2 and squared l2 sensitivity as in line *)
| Sampled (rate_num rate_den : positive) (sigma2_num sigma2_den : positive) (l2sq_num : N) (l2sq_den : positive)
(* Poisson sample, rate n/d, then any mechanism that is proved (n'/d')-DP *)
| SampledPure (rate_num rate_den : positive) (eps_num : N) (eps_den : positive)
(* a step that runs only when a public coin of probability n/d says so *)
| WithCoin (prob_num prob_den : positive) (step : rline).

(* the order is a positive integer a >= 2 *)
Definition mom_price (a : positive) (e : line) : R :=
  match e with
  | Laplace n d n' d' => pure_mom (IZR (Zpos a)) (nrat n' d' / prat n d)
  | Pure n d => pure_mom (IZR (Zpos a)) (nrat n d)
  | _ => exp ((IZR (Zpos a) - 1) * (IZR (Zpos a) * price e))
  end.
Fixpoint rprice (a : positive) (e : rline) : R :=
  match e with
  | Plain e => mom_price a e
  | Sampled qn qd n d n' d' => sampled_sum (Pos.to_nat a) (prat qn qd) (nrat n' d' / (2 * prat n d))
  | SampledPure qn qd n d => pure_mom (IZR (Zpos a)) (amplified (prat qn qd) (nrat n d))
  | WithCoin pn pd e => (1 - prat pn pd) + prat pn pd * rprice a e
  end.
Fixpoint rallows {U} (adj : list U -> list U -> Prop) (e : rline) (m : list U -> dist (list Z)) : Prop :=
  match e with
  | Plain e => allows adj e m
  | Sampled qn qd n d n' d' => (forall x y, adj x y -> add_remove x y) /\ exists f (Hq : 0 <= prat qn qd <= 1), l2sq_sens add_remove f (nrat n' d') /\
      m = poisson zvec_eq (prat qn qd) Hq (fun s => gauss_vec (prat n d) (f s))
  | SampledPure qn qd n d => (forall x y, adj x y -> add_remove x y) /\ exists m' (Hq : 0 <= prat qn qd <= 1), dp_mech add_remove (nrat n d) 0 m' /\
      m = poisson zvec_eq (prat qn qd) Hq m'
  | WithCoin pn pd e => exists m' (Hp : 0 <= prat pn pd <= 1), rallows adj e m' /\
      m = fun d => with_coin (prat pn pd) Hp (m' d)
  end.
Lemma mom_price_pos a e : 0 < mom_price a e.
Proof. destruct e; cbn [mom_price]; try apply exp_pos; apply Rdiv_lt_0_compat; apply ch2_pos. Qed.
Lemma allows_moment {D} (adj : D -> D -> Prop) a e m : (1 < a)%positive -> allows adj e m -> moment_mech adj (IZR (Zpos a)) (mom_price a e) m.
Proof.
  intros Ha H; assert (Ha' : 1 < IZR (Zpos a)) by (apply IZR_lt; lia).
  destruct e; cbn [mom_price]; try (intros d d' A; apply zcdp_moment; auto; now apply (allows_zcdp adj)).
  - destruct H as (f & Hf & ->); intros d d' A; apply (pure_moment zvec_eq); auto.
    + apply Rmult_le_pos; [apply nrat_pos|left; apply Rinv_0_lt_compat, cond_pos].
    + now apply (laplace_vec_dp adj).
    + now apply (laplace_vec_dp (fun x y => adj y x) f _ _ (l1_sens_flip _ _ _ Hf)).
  - destruct H as [H1 H2]; intros d d' A; apply (pure_moment zvec_eq); auto; apply nrat_pos.
Qed.
Lemma rallows_moment {U} adj a e : (1 < a)%positive -> forall m : list U -> dist (list Z), rallows adj e m ->
  0 < rprice a e /\ moment_mech adj (IZR (Zpos a)) (rprice a e) m.
Proof.
  intros Ha.
  assert (Sub : forall (m : list U -> dist (list Z)) x, (forall d d', adj d d' -> add_remove d d') ->
    moment_mech add_remove (IZR (Zpos a)) x m -> moment_mech adj (IZR (Zpos a)) x m)
    by (intros m x S H d d' A; apply H; auto).
  induction e as [e|qn qd n d n' d'|qn qd n d|pn pd e IH]; intros m H; cbn [rallows rprice] in *.
  - split; [apply mom_price_pos|now apply allows_moment].
  - destruct H as (HA & f & Hq & Hf & ->); rewrite sampled_sum_ok; split.
    + eapply Rlt_le_trans; [|apply sampled_ge1; auto]; [lra|].
      apply Rmult_le_pos; [apply nrat_pos|left; apply Rinv_0_lt_compat; pose proof (cond_pos (prat n d)); lra].
    + apply Sub; auto; replace (IZR (Zpos a)) with (INR (Pos.to_nat a)) by (rewrite INR_IZR_INZ, positive_nat_Z; auto).
      apply poisson_gauss_moment; auto; lia.
  - destruct H as (HA & m' & Hq & Hm & ->); split; [apply Rdiv_lt_0_compat; apply ch2_pos|].
    assert (Hn := nrat_pos n d); apply Sub; auto.
    apply (pure_mech_moment zvec_eq); [apply add_remove_symmetric|apply IZR_lt; lia|now apply amplified_pos|].
    pose proof (poisson_amplification zvec_eq (prat qn qd) Hq (nrat n d) 0 m' Hn ltac:(lra) Hm) as G.
    rewrite Rmult_0_r in G; exact G.
  - destruct H as (m' & Hp & Hm & ->); destruct (IH m' Hm) as [P M]; split.
    + destruct (Rle_dec (prat pn pd) (1 / 2)); nra.
    + now apply public_coin.
Qed.

(* rates and coins are probabilities *)
Fixpoint rvalid (e : rline) : Prop :=
  match e with
  | Plain _ => True
  | Sampled qn qd _ _ _ _ => (qn <= qd)%positive
  | SampledPure qn qd _ _ => (qn <= qd)%positive
  | WithCoin pn pd e => (pn <= pd)%positive /\ rvalid e
  end.
Lemma prat_le1 n d : (n <= d)%positive -> 0 <= prat n d <= 1.
Proof.
  intros H; split; [left; apply cond_pos|]; cbn [prat pos].
  assert (0 < IZR (Zpos d)) by (apply IZR_lt; reflexivity).
  assert (IZR (Zpos n) <= IZR (Zpos d)) by (apply IZR_le; lia).
  apply Rmult_le_reg_r with (IZR (Zpos d)); auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.
Lemma rprice_ge1 a e : rvalid e -> 1 <= rprice a e.
Proof.
  assert (Ha : 1 <= IZR (Zpos a)) by (apply IZR_le; lia).
  assert (Hz : forall x, 0 <= x -> 1 <= exp ((IZR (Zpos a) - 1) * (IZR (Zpos a) * x))).
  { intros x Hx; pose proof (exp_ineq1_le ((IZR (Zpos a) - 1) * (IZR (Zpos a) * x))).
    assert (0 <= (IZR (Zpos a) - 1) * (IZR (Zpos a) * x)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]); lra. }
  induction e as [e|qn qd n d n' d'|qn qd n d|pn pd e IH]; cbn [rvalid rprice].
  - intros _; destruct e; cbn [mom_price]; try (apply Hz, price_pos); apply pure_mom_ge1; auto; try apply nrat_pos.
    apply Rmult_le_pos; [apply nrat_pos|left; apply Rinv_0_lt_compat, cond_pos].
  - intros H; rewrite sampled_sum_ok; apply sampled_ge1; [now apply prat_le1|].
    apply Rmult_le_pos; [apply nrat_pos|left; apply Rinv_0_lt_compat; pose proof (cond_pos (prat n d)); lra].
  - intros H; apply pure_mom_ge1; auto; apply amplified_pos; [now apply prat_le1|apply nrat_pos].
  - intros [H1 H2]; specialize (IH H2); pose proof (prat_le1 pn pd H1); nra.
Qed.

(* the process follows the ledger line by line, and may stop early *)
Inductive rfollows {U} (adj : list U -> list U -> Prop) : list rline -> process (list U) (list Z) -> Prop :=
| rfollows_stop ledger : Forall rvalid ledger -> rfollows adj ledger Done
| rfollows_line e ledger m next :
    rallows adj e m -> (forall output, rfollows adj ledger (next output)) ->
    rfollows adj (e :: ledger) (Release m next).
Definition rexpand (ledger : list (rline * positive)) : list rline :=
  flat_map (fun p => repeat (fst p) (Pos.to_nat (snd p))) ledger.
(* logarithm of the total moment *)
Fixpoint rtotal (a : positive) (ledger : list (rline * positive)) : R :=
  match ledger with [] => 0 | (e, k) :: ledger => IZR (Zpos k) * ln (rprice a e) + rtotal a ledger end.
Lemma rtotal_expand a ledger : rtotal a ledger = rsum (map (fun e => ln (rprice a e)) (rexpand ledger)).
Proof.
  induction ledger as [|[e k] l IH]; [reflexivity|].
  cbn [rtotal rexpand flat_map]; fold (rexpand l).
  rewrite map_app, rsum_app, <- IH; cbn [fst snd]; rewrite map_repeat, rsum_repeat.
  rewrite INR_IZR_INZ, positive_nat_Z; reflexivity.
Qed.
Lemma rfollows_spends {U} adj a ledger (p : process (list U) (list Z)) : (1 < a)%positive -> rfollows adj ledger p ->
  moment_spends adj (IZR (Zpos a)) p (exp (rsum (map (fun e => ln (rprice a e)) ledger))).
Proof.
  intros Ha H; induction H as [l Hl|e l m next Hm Hn IH]; simpl.
  { rewrite <- exp_0; apply exp_le; induction Hl as [|e l He Hl IH]; simpl; [lra|].
    pose proof (rprice_ge1 a e He) as H1; enough (ln 1 <= ln (rprice a e)) by (rewrite ln_1 in *; lra).
    destruct H1 as [H1| <-]; [left; apply ln_increasing; lra|lra]. }
  destruct (rallows_moment adj a e Ha m Hm) as [P M].
  exists (rprice a e); split; [exact P|split; [exact M|]]; intros t.
  rewrite exp_plus, exp_ln by exact P.
  replace (rprice a e * exp (rsum (map (fun e => ln (rprice a e)) l)) / rprice a e)
    with (exp (rsum (map (fun e => ln (rprice a e)) l))) by (field; lra); auto.
Qed.

(** @theorem releases-renyi-dp
    A process follows the ledger line by line for the neighbours adj, each next release
    chosen with knowledge of all earlier outputs. Lines may be unsampled releases, steps behind
    a public coin and, if neighbours in adj differ by one record added or removed,
    Poisson-sampled steps. With a >= 2 an integer order and L the sum of the logarithms of
    the moments of the lines, if exp(L - (a-1) eps) * (1 - 1/a)^a / (a-1) <= delta,
    the whole transcript is (eps, delta)-DP for adj. *)
Theorem renyi_releases_dp (a : positive) {U} (adj : list U -> list U -> Prop) ledger eps delta (p : process (list U) (list Z)) :
  (1 < a)%positive ->
  exp (rtotal a ledger - (IZR (Zpos a) - 1) * eps)
    * (exp (IZR (Zpos a) * ln (1 - 1 / IZR (Zpos a))) / (IZR (Zpos a) - 1)) <= delta ->
  rfollows adj (rexpand ledger) p ->
  dp_mech adj eps delta (run zvec_eq p).
Proof.
  intros Ha Hd Hp; apply (moment_mech_dp adj _ (IZR (Zpos a)) (exp (rtotal a ledger))).
  - rewrite rtotal_expand; apply moment_filter; [apply exp_pos|]; now apply rfollows_spends.
  - apply IZR_lt; lia.
  - eapply Rle_trans; [|exact Hd]; right; f_equal; rewrite <- exp_plus; f_equal; ring.
Qed.

(* spells out rtotal of a concrete ledger for the interval tactic *)
Ltac renyi_total :=
  cbv -[Rplus Rmult Rminus Rdiv Rinv Ropp Rle IZR exp ln pow powerRZ];
  fold Rdiv.
