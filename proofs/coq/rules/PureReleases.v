(* Ledgers of pure releases: the sum of the eps_i with delta = 0, or the optimal
   (eps, delta) of equal ones. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi Basic PureToZCDP BoundedRange Releases RenyiReleases Optimal OptimalApprox.
Import ListNotations.
Local Open Scope R_scope.

(* eps of a line, if the line is pure *)
Definition pure_price (e : line) : option R :=
  match e with
  | Laplace n d n' d' => Some (nrat n' d' / prat n d)
  | Pure n d => Some (nrat n d)
  | Ranged n d => Some (nrat n d)
  | _ => None
  end.
Fixpoint pure_total (ledger : list (line * positive)) : option R :=
  match ledger with
  | [] => Some 0
  | (e, k) :: ledger =>
    match pure_price e, pure_total ledger with Some x, Some y => Some (IZR (Zpos k) * x + y) | _, _ => None end
  end.

Lemma range_pure {T} eta (P Q : dist T) : bounded_range eta P Q -> dp eta 0 P Q /\ dp eta 0 Q P.
Proof.
  intros [t Ht].
  assert (S1 : exp t <= 1).
  { pose proof (has_sum_scal Q (exp t) 1 (exp_pos t) (pmf_sum Q)) as S; rewrite Rmult_1_r in S.
    apply (has_sum_le _ _ _ _ S (pmf_sum P)); intros x; apply Ht. }
  assert (S2 : 1 <= exp (t + eta)).
  { pose proof (has_sum_scal Q (exp (t + eta)) 1 (exp_pos _) (pmf_sum Q)) as S; rewrite Rmult_1_r in S.
    apply (has_sum_le _ _ _ _ (pmf_sum P) S); intros x; apply Ht. }
  rewrite exp_plus in *; pose proof (exp_pos eta); pose proof (exp_pos t).
  split; apply dp_pointwise; intros x; destruct (Ht x) as [A B]; pose proof (pmf_ge0 Q x); pose proof (pmf_ge0 P x).
  - eapply Rle_trans; [exact B|]; apply Rmult_le_compat_r; auto; nra.
  - assert (Q x <= exp t * exp eta * Q x) by nra.
    replace (exp t * exp eta * Q x) with (exp eta * (exp t * Q x)) in * by ring.
    assert (exp eta * (exp t * Q x) <= exp eta * P x) by (apply Rmult_le_compat_l; lra); lra.
Qed.
Lemma pure_price_pos e x : pure_price e = Some x -> 0 <= x.
Proof.
  destruct e; cbn [pure_price]; intros E; try discriminate; injection E as <-; try apply nrat_pos.
  apply Rmult_le_pos; [apply nrat_pos|left; apply Rinv_0_lt_compat, (cond_pos (prat scale_num scale_den))].
Qed.
Lemma allows_pure {D} (adj : D -> D -> Prop) e m x : pure_price e = Some x -> allows adj e m -> dp_both adj x 0 m.
Proof.
  destruct e; cbn [pure_price allows]; intros E H; try discriminate; injection E as <-; intros d d' A.
  - destruct H as (f & Hf & ->); split; [now apply (laplace_vec_dp adj f _ (prat scale_num scale_den))|].
    now apply (laplace_vec_dp (fun x y => adj y x) f _ (prat scale_num scale_den) (l1_sens_flip _ _ _ Hf)).
  - destruct H as [H1 H2]; split; [now apply H1|now apply H2].
  - now apply range_pure, H.
Qed.
Lemma follows_lines {D} (adj : D -> D -> Prop) ledger p : follows adj ledger p -> forall xs,
  Forall2 (fun e x => pure_price e = Some x) ledger xs -> dp_lines adj (map (fun x => (x, 0)) xs) p.
Proof.
  intros H; induction H as [l|e l m next Hm Hn IH]; intros xs Hx; [destruct xs; exact I|].
  inversion Hx as [|? x ? xs' E Hx']; subst; split; [now apply (allows_pure adj e)|].
  intros t; now apply IH.
Qed.
Lemma pure_total_expand ledger t : pure_total ledger = Some t ->
  exists xs, Forall2 (fun e x => pure_price e = Some x) (expand ledger) xs /\ rsum xs = t.
Proof.
  revert t; induction ledger as [|[e k] l IH]; intros t; cbn [pure_total].
  - intros E; inversion E; exists []; split; [constructor|reflexivity].
  - destruct (pure_price e) as [x|] eqn:Ex; [|discriminate]; destruct (pure_total l) as [y|]; [|discriminate].
    intros E; inversion E; destruct (IH y eq_refl) as (xs & H1 & H2).
    exists (repeat x (Pos.to_nat k) ++ xs); split.
    + cbn [expand flat_map fst snd]; apply Forall2_app; auto.
      generalize (Pos.to_nat k); intros n; induction n; simpl; constructor; auto.
    + rewrite rsum_app, rsum_repeat, H2, INR_IZR_INZ, positive_nat_Z; reflexivity.
Qed.

(** @theorem releases-pure
    A process follows a ledger of pure lines for the neighbours adj, each next release chosen
    with knowledge of all earlier outputs. If the eps of the lines sum to at most eps, the
    whole transcript is eps-DP for adj. *)
Theorem pure_releases_dp {D} (adj : D -> D -> Prop) ledger t eps (p : process D (list Z)) :
  pure_total ledger = Some t -> t <= eps -> follows adj (expand ledger) p ->
  dp_mech adj eps 0 (run zvec_eq p).
Proof.
  intros Ht He Hp; destruct (pure_total_expand ledger t Ht) as (xs & Hx & Hs).
  assert (Hpos : Forall (fun x => 0 <= x) xs).
  { clear - Hx; induction Hx as [|e x l xs E Hx IH]; constructor; auto; now apply (pure_price_pos e). }
  assert (Hl := follows_lines adj _ p Hp xs Hx).
  apply dp_filter; rewrite <- Hs in He; clear - Hl He Hpos.
  revert xs eps Hpos Hl He; induction p as [|m next IH]; intros xs eps Hpos Hl He.
  - simpl; split; [|lra]; eapply Rle_trans; [|exact He].
    clear - Hpos; induction Hpos; simpl; lra.
  - destruct xs as [|x xs]; [destruct Hl|]; destruct Hl as [Hm Hn]; inversion Hpos; subst.
    exists x, 0; split; [lra|split].
    + intros d d' A; apply (Hm d d' A).
    + intros t; rewrite Rminus_0_r; apply (IH t xs); auto; simpl in He; lra.
Qed.

(** @theorem releases-optimal
    A process makes at most n releases that one pure line of parameter e allows, for the
    neighbours adj, each chosen with knowledge of all earlier outputs. With k0 >= 1 the first
    number such that (2 k0 - n) e >= eps, the transcript is (eps, delta)-DP for adj if
    sum_{k >= k0} C(n,k) (e^(k e) - e^(eps + (n-k) e)) / (1 + e^e)^n <= delta. *)
Theorem optimal_releases_dp (k0 : nat) {D} (adj : D -> D -> Prop) (l : line) (n : positive) e eps delta (p : process D (list Z)) :
  pure_price l = Some e -> (1 <= k0 <= S (Pos.to_nat n))%nat ->
  0 <= eps + IZR (Zpos n - 2 * Z.of_nat (k0 - 1)) * e -> eps + IZR (Zpos n - 2 * Z.of_nat k0) * e <= 0 ->
  kov_delta (Pos.to_nat n) k0 e eps <= delta ->
  follows adj (expand [(l, n)]) p -> dp_mech adj eps delta (run zvec_eq p).
Proof.
  intros He Hk Hlo Hhi Hd Hp.
  rewrite <- (positive_nat_Z n) in Hlo, Hhi.
  apply (optimal_steps zvec_eq adj (Pos.to_nat n) k0 e 0 eps delta); auto; try lra.
  - now apply (pure_price_pos l).
  - rewrite <- (map_repeat (fun x => (x, 0)) e (Pos.to_nat n)).
    apply (follows_lines adj _ p Hp); cbn [expand flat_map fst snd]; rewrite app_nil_r.
    generalize (Pos.to_nat n); intros k; induction k; simpl; constructor; auto.
  - rewrite Rminus_0_r, pow1; lra.
Qed.

(* spells out kov_delta of concrete numbers for the interval tactic *)
Ltac kov_total := cbv -[Rplus Rmult Rminus Rdiv Rinv Ropp Rle IZR exp ln pow powerRZ].
