(* From a ledger to a guarantee.  A ledger is a list of lines with exact rational
   parameters; a process follows it if its successive releases, chosen with
   knowledge of all earlier outputs, are of the kinds that the lines allow.
   The master theorem turns the sum of the prices into (eps, delta). *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian.
From Assay.rules Require Import Process Vectors Neighbours PureToZCDP BoundedRange.
Import ListNotations.
Local Open Scope R_scope.

(* ---------- the general form ---------- *)
(** @theorem releases-dp-general
    Mechanisms 1..n, each seeing all earlier outputs and rho_i-zCDP for adj
    whatever those were; the rho_i sum to at most R; a > 1 and
    exp((a-1)(a R - eps)) / (a-1) * (1 - 1/a)^a <= delta.
    Then publishing all outputs is (eps, delta)-DP for adj. *)
Theorem zcdp_releases_dp {D T} eqd (adj : D -> D -> Prop)
  (ms : list (list T -> D -> dist T)) (rhos : list R) (total a eps delta : R) :
  Forall2 (fun m rho => forall past, zcdp_mech adj rho (m past)) ms rhos ->
  rsum rhos <= total -> 1 < a ->
  exp ((a - 1) * (a * total - eps)) / (a - 1) * exp (a * ln (1 - 1 / a)) <= delta ->
  dp_mech adj eps delta (run eqd (sequence ms [])).
Proof.
  intros H Ht Ha Hd; apply (zcdp_mech_dp adj _ total a); auto.
  intros d d' A; eapply zcdp_weaken; [exact Ht|]; now apply (zcdp_sequence eqd adj).
Qed.

(* ---------- ledgers ---------- *)
(* non-negative rational n/d *)
Definition nrat (n : N) (d : positive) : R := IZR (Z.of_N n) / IZR (Zpos d).
Lemma nrat_pos n d : 0 <= nrat n d.
Proof.
  unfold nrat; apply Rmult_le_pos; [apply IZR_le; lia|left; apply Rinv_0_lt_compat, IZR_lt; reflexivity].
Qed.

Inductive line :=
(* discrete Gaussian on an integer vector: sigma^2 = n/d, squared l2 sensitivity at most n'/d' *)
| Gaussian (sigma2_num sigma2_den : positive) (l2sq_num : N) (l2sq_den : positive)
(* discrete Laplace on an integer vector: scale n/d, l1 sensitivity at most n'/d' *)
| Laplace (scale_num scale_den : positive) (l1_num : N) (l1_den : positive)
(* any other mechanism that is proved (n/d)-DP, in both directions of adj *)
| Pure (eps_num : N) (eps_den : positive)
(* any other mechanism whose loss has range n/d (an (n/d)-DP exponential mechanism) *)
| Ranged (eta_num : N) (eta_den : positive)
(* any other mechanism that is proved (n/d)-zCDP *)
| Zcdp (rho_num : N) (rho_den : positive).

Definition price (e : line) : R :=
  match e with
  | Gaussian n d n' d' => nrat n' d' / (2 * prat n d)
  | Laplace n d n' d' => (nrat n' d' / prat n d) ^ 2 / 2
  | Pure n d => nrat n d ^ 2 / 2
  | Ranged n d => nrat n d ^ 2 / 8
  | Zcdp n d => nrat n d
  end.
(* the mechanisms that a line allows, for neighbours adj *)
Definition allows {D} (adj : D -> D -> Prop) (e : line) (m : D -> dist (list Z)) : Prop :=
  match e with
  | Gaussian n d n' d' => exists f, l2sq_sens adj f (nrat n' d') /\ m = fun d0 => gauss_vec (prat n d) (f d0)
  | Laplace n d n' d' => exists f, l1_sens adj f (nrat n' d') /\ m = fun d0 => laplace_vec (prat n d) (f d0)
  | Pure n d => dp_mech adj (nrat n d) 0 m /\ dp_mech (fun x y => adj y x) (nrat n d) 0 m
  | Ranged n d => forall x y, adj x y -> bounded_range (nrat n d) (m x) (m y)
  | Zcdp n d => zcdp_mech adj (nrat n d) m
  end.
Lemma price_pos e : 0 <= price e.
Proof.
  assert (Sq : forall x, 0 <= x ^ 2 / 2) by (intros x; pose proof (pow2_ge_0 x); lra).
  destruct e; cbn [price]; auto; [|specialize (Sq (nrat eta_num eta_den)); lra|apply nrat_pos].
  pose proof (cond_pos (prat sigma2_num sigma2_den)); pose proof (nrat_pos l2sq_num l2sq_den).
  apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; lra.
Qed.
Lemma l1_sens_flip {D} (adj : D -> D -> Prop) f D1 : l1_sens adj f D1 -> l1_sens (fun x y => adj y x) f D1.
Proof.
  intros H d d' A; destruct (H d' d A) as [E B]; split; auto.
  replace (absdist (f d) (f d')) with (absdist (f d') (f d)); auto.
  clear; generalize (f d); induction (f d') as [|x l IH]; intros [|y l']; simpl; auto; rewrite IH; lia.
Qed.
Lemma allows_zcdp {D} (adj : D -> D -> Prop) e m : allows adj e m -> zcdp_mech adj (price e) m.
Proof.
  destruct e; cbn [allows price]; auto.
  - intros (f & Hf & ->); now apply gauss_vec_zcdp.
  - intros (f & Hf & ->) d d' A; apply (pure_zcdp zvec_eq).
    + apply Rmult_le_pos; [apply nrat_pos|left; apply Rinv_0_lt_compat, cond_pos].
    + now apply (laplace_vec_dp adj).
    + now apply (laplace_vec_dp (fun x y => adj y x) f _ _ (l1_sens_flip _ _ _ Hf)).
  - intros [H1 H2] d d' A; apply (pure_zcdp zvec_eq); [apply nrat_pos|now apply H1|now apply H2].
  - intros H; apply (range_mech_zcdp zvec_eq); auto; apply nrat_pos.
Qed.

(* the process follows the ledger line by line, and may stop early *)
Inductive follows {D} (adj : D -> D -> Prop) : list line -> process D (list Z) -> Prop :=
| follows_stop ledger : follows adj ledger Done
| follows_line e ledger m next :
    allows adj e m -> (forall output, follows adj ledger (next output)) ->
    follows adj (e :: ledger) (Release m next).

(* a written ledger: each line with the number of times that it was used *)
Definition expand (ledger : list (line * positive)) : list line :=
  flat_map (fun p => repeat (fst p) (Pos.to_nat (snd p))) ledger.
Fixpoint total (ledger : list (line * positive)) : R :=
  match ledger with [] => 0 | (e, k) :: ledger => IZR (Zpos k) * price e + total ledger end.
Lemma total_expand ledger : total ledger = rsum (map price (expand ledger)).
Proof.
  induction ledger as [|[e k] l IH]; [reflexivity|].
  cbn [total expand flat_map]; fold (expand l).
  rewrite map_app, rsum_app, <- IH; cbn [fst snd]; rewrite map_repeat, rsum_repeat.
  rewrite INR_IZR_INZ, positive_nat_Z; reflexivity.
Qed.
Lemma follows_spends {D} (adj : D -> D -> Prop) ledger p :
  follows adj ledger p -> zcdp_spends adj p (rsum (map price ledger)).
Proof.
  intros H; induction H as [l|e l m next Hm Hn IH]; simpl.
  - induction l as [|e l IH]; simpl; [lra|pose proof (price_pos e); lra].
  - exists (price e); split; [now apply allows_zcdp|]; intros t.
    replace (price e + rsum (map price l) - price e) with (rsum (map price l)) by ring; auto.
Qed.

(** @theorem releases-zcdp
    A process follows the ledger for the neighbours adj, each next release chosen
    with knowledge of all earlier outputs. Its transcript is rho-zCDP for adj with
    rho the exact sum of the prices of the lines. *)
Theorem releases_zcdp {D} (adj : D -> D -> Prop) ledger (p : process D (list Z)) :
  follows adj (expand ledger) p -> zcdp_mech adj (total ledger) (run zvec_eq p).
Proof. intros H; rewrite total_expand; apply zcdp_filter, follows_spends, H. Qed.

(** @theorem releases-dp
    A process follows the ledger for the neighbours adj, each next release chosen
    with knowledge of all earlier outputs. If the prices sum to at most rho, a > 1 and
    exp((a-1)(a rho - eps)) / (a-1) * (1 - 1/a)^a <= delta,
    then the whole transcript is (eps, delta)-DP for adj. *)
Theorem releases_dp (rho a : R) {D} (adj : D -> D -> Prop) ledger eps delta (p : process D (list Z)) :
  total ledger <= rho -> 1 < a ->
  exp ((a - 1) * (a * rho - eps)) / (a - 1) * exp (a * ln (1 - 1 / a)) <= delta ->
  follows adj (expand ledger) p ->
  dp_mech adj eps delta (run zvec_eq p).
Proof.
  intros Hr Ha Hd Hp; apply (zcdp_mech_dp adj _ rho a); auto.
  apply (zcdp_mech_weaken adj _ _ _ Hr); now apply releases_zcdp.
Qed.

(* ---------- a budget in place of a ledger ---------- *)
(* the lines themselves are chosen with knowledge of earlier outputs; on every branch
   their prices stay within the budget *)
Inductive within {D} (adj : D -> D -> Prop) : R -> process D (list Z) -> Prop :=
| within_stop budget : 0 <= budget -> within adj budget Done
| within_line e budget m next :
    allows adj e m -> (forall output, within adj (budget - price e) (next output)) ->
    within adj budget (Release m next).

(** @theorem budget-dp
    A process chooses its releases, and their parameters, with knowledge of all earlier
    outputs, and on every branch the prices sum to at most the budget rho for the neighbours
    adj. With a > 1 and exp((a-1)(a rho - eps)) / (a-1) * (1 - 1/a)^a <= delta, the whole
    transcript is (eps, delta)-DP for adj. *)
Theorem budget_dp (rho a : R) {D} (adj : D -> D -> Prop) eps delta (p : process D (list Z)) :
  1 < a -> exp ((a - 1) * (a * rho - eps)) / (a - 1) * exp (a * ln (1 - 1 / a)) <= delta ->
  within adj rho p -> dp_mech adj eps delta (run zvec_eq p).
Proof.
  intros Ha Hd Hp; apply (zcdp_mech_dp adj _ rho a); auto; apply zcdp_filter.
  clear Hd; induction Hp as [r Hr|e r m next Hm Hn IH]; simpl; auto.
  exists (price e); split; [now apply allows_zcdp|auto].
Qed.

(* three Laplace counts of scale 4 cost 3 * (1/4)^2/2 *)
Example laplace_prices : total [(Laplace 4 1 1 1, 3%positive)] = 3 / 32.
Proof. cbn [total price]; unfold nrat; simpl; field. Qed.
(* two releases of a two-cell histogram, sigma^2 = 100; the second release asks
   about the complement when the first noisy answer was negative *)
Example two_histograms : zcdp_mech replace_one (2 * (2 / 1 / (2 * (100 / 1))) + 0)
  (run zvec_eq (Release (fun d => gauss_vec (prat 100 1) (histogram d))
    (fun answer => Release (fun d => gauss_vec (prat 100 1)
       (histogram (if (hd 0%Z answer <? 0)%Z then map negb d else d))) (fun _ => Done)))).
Proof.
  apply (releases_zcdp replace_one [(Gaussian 100 1 2 1, 2%positive)]).
  assert (S : forall d d', replace_one d d' -> IZR (sqdist (histogram d) (histogram d')) <= nrat 2 1).
  { intros d d' A; destruct (proj1 histogram_sens d d' A); unfold nrat; simpl Z.of_N; lra. }
  constructor; [exists histogram; split; [split; auto|reflexivity]|intros o].
  constructor; [|intros; constructor].
  eexists (fun d => histogram (if (hd 0%Z o <? 0)%Z then map negb d else d)); split; [|reflexivity].
  intros d d' A; split; [reflexivity|]; destruct (hd 0%Z o <? 0)%Z; auto.
  apply S; destruct A as (l1 & x & y & l2 & -> & ->); rewrite !map_app; simpl.
  exists (map negb l1), (negb x), (negb y), (map negb l2); auto.
Qed.
(* two such releases at order 6, eps = 1 *)
Example two_histograms_dp : forall p, follows replace_one (expand [(Gaussian 100 1 2 1, 2%positive)]) p ->
  dp_mech (@replace_one bool) 1 (exp ((6 - 1) * (6 * (2 / 100) - 1)) / (6 - 1) * exp (6 * ln (1 - 1 / 6))) (run zvec_eq p).
Proof.
  intros p; apply (releases_dp (2 / 100) 6); [|lra|lra].
  cbn [total price]; unfold nrat; simpl; lra.
Qed.
Example two_histograms_general : dp_mech replace_one 1 (exp ((6 - 1) * (6 * (2 / 100) - 1)) / (6 - 1) * exp (6 * ln (1 - 1 / 6)))
  (run zvec_eq (sequence (repeat (fun _ d => gauss_vec (prat 100 1) (histogram d)) 2) [])).
Proof.
  apply (zcdp_releases_dp zvec_eq replace_one _ (repeat (2 / (2 * (100 / 1))) 2) (2 / 100) 6); try lra.
  - simpl; do 2 (constructor; [intros _; apply histogram_gauss|]); constructor.
  - simpl; lra.
Qed.
(* the noise of the second release depends on the first answer; budget 3/100 *)
Example adaptive_noise : dp_mech replace_one 1 (exp ((6 - 1) * (6 * (3 / 100) - 1)) / (6 - 1) * exp (6 * ln (1 - 1 / 6)))
  (run zvec_eq (Release (fun d => gauss_vec (prat 100 1) (histogram d))
    (fun answer => if (hd 0%Z answer <? 0)%Z then Done
      else Release (fun d => gauss_vec (prat 50 1) (histogram d)) (fun _ => Done)))).
Proof.
  apply (budget_dp (3 / 100) 6); [lra|lra|].
  assert (S : l2sq_sens replace_one histogram (nrat 2 1)).
  { intros d d' A; destruct (proj1 histogram_sens d d' A); split; auto; unfold nrat; simpl Z.of_N; lra. }
  apply (within_line _ (Gaussian 100 1 2 1)); [exists histogram; auto|intros o].
  destruct (hd 0%Z o <? 0)%Z; [constructor; unfold price, nrat; simpl; lra|].
  apply (within_line _ (Gaussian 50 1 2 1)); [exists histogram; auto|intros _].
  constructor; unfold price, nrat; simpl; lra.
Qed.
