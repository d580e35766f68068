(* Permute-and-flip (McKenna and Sheldon): candidates in uniformly random order,
   i.e. drawn uniformly without replacement; take the first whose coin, of
   probability exp(-eps (max - score) / (2 Delta)), is 1.

   Key fact: with coin probabilities p, candidate r wins with probability
   p_r * (integral over x in [0,1] of the product over s <> r of (1 - x p_s)). *)
From Coq Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours.
From Assay.mechanisms Require Import Finite Laplace SparseVector Exponential.
Import ListNotations.
Local Open Scope R_scope.

Section Flip.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).
Local Notation "l \ i" := (remove eqd i l) (at level 40).

(* ---------- lists without duplicates ---------- *)
Lemma remove_NoDup i l : NoDup l -> NoDup (l \ i).
Proof.
  induction 1 as [|a l Ha Hl IH]; simpl; [constructor|]; destruct (eqd i a); auto.
  constructor; auto; intros H; apply in_remove in H; tauto.
Qed.
Lemma remove_length i l : NoDup l -> In i l -> length l = S (length (l \ i)).
Proof.
  induction 1 as [|a l Ha Hl IH]; intros Hi; [easy|]; simpl; destruct (eqd i a) as [->|N].
  - rewrite notin_remove; auto.
  - destruct Hi as [->|Hi]; [easy|]; simpl; rewrite <- IH; auto.
Qed.
Lemma lsum_remove (f : T -> R) i l : NoDup l -> In i l -> lsum f l = f i + lsum f (l \ i).
Proof.
  induction 1 as [|a l Ha Hl IH]; intros Hi; [easy|]; simpl; destruct (eqd i a) as [->|N].
  - rewrite notin_remove; auto.
  - destruct Hi as [->|Hi]; [easy|]; simpl; rewrite IH by auto; lra.
Qed.

(* ---------- the product and its integral ---------- *)
Variable p : T -> R.
Fixpoint prodl (l : list T) (x : R) : R := match l with [] => 1 | i :: l => (1 - x * p i) * prodl l x end.
Lemma prodl_derive l : NoDup l -> forall x, is_derive (prodl l) x (- lsum (fun i => p i * prodl (l \ i) x) l).
Proof.
  induction 1 as [|a l Ha Hl IH]; intros x.
  - simpl; rewrite Ropp_0; apply (is_derive_const 1 x).
  - eapply is_derive_ext; [intros y; reflexivity|].
    replace (- lsum (fun i => p i * prodl ((a :: l) \ i) x) (a :: l))
      with ((- p a) * prodl l x + (1 - x * p a) * (- lsum (fun i => p i * prodl (l \ i) x) l)).
    + apply (is_derive_mult (fun y => 1 - y * p a) (prodl l) x); [auto_derive; [auto|ring]|apply IH|apply Rmult_comm].
    + cbn [lsum remove]; destruct (eqd a a) as [_|]; [|easy]; rewrite notin_remove by auto.
      rewrite (lsum_ext (fun i => p i * prodl (if eqd i a then l \ i else a :: l \ i) x)
        (fun i => (1 - x * p a) * (p i * prodl (l \ i) x))), lsum_scal; [ring|].
      intros i Hi; destruct (eqd i a) as [->|]; [easy|]; simpl; ring.
Qed.
Lemma prodl_cont l x : continuous (prodl l) x.
Proof.
  induction l as [|a l IH]; simpl; [apply continuous_const|].
  apply (continuous_mult (fun y => 1 - y * p a) (prodl l)); auto.
  apply (ex_derive_continuous (fun y => 1 - y * p a)); auto_derive; auto.
Qed.
Definition I01 (l : list T) : R := RInt (prodl l) 0 1.
Lemma I01_is l : is_RInt (prodl l) 0 1 (I01 l).
Proof. apply (RInt_correct (prodl l)), (ex_RInt_continuous (V := R_CompleteNormedModule)); intros; apply prodl_cont. Qed.
Lemma lsum_is_RInt (F : T -> R -> R) (V : T -> R) l : (forall i, is_RInt (F i) 0 1 (V i)) ->
  is_RInt (fun x => lsum (fun i => F i x) l) 0 1 (lsum V l).
Proof.
  intros H; induction l as [|a l IH]; simpl.
  - pose proof (is_RInt_const (V := R_NormedModule) 0 1 0) as C; unfold scal in C; simpl in C; unfold mult in C; simpl in C.
    rewrite Rmult_0_r in C; exact C.
  - apply (is_RInt_plus (V := R_NormedModule) (F a) (fun x => lsum (fun i => F i x) l)); auto.
Qed.
Lemma lsum_cont (F : T -> R -> R) l x : (forall i, continuous (F i) x) -> continuous (fun x => lsum (fun i => F i x) l) x.
Proof.
  intros H; induction l as [|a l IH]; simpl; [apply continuous_const|].
  apply (continuous_plus (F a) (fun x => lsum (fun i => F i x) l)); auto.
Qed.
Lemma term_cont l i x : continuous (fun x => p i * prodl (l \ i) x) x.
Proof. apply (continuous_scal_r (p i) (prodl (l \ i))), prodl_cont. Qed.

(* 1 - prod (1 - p) = sum_i p_i I(l \ i) *)
Lemma I01_boundary l : NoDup l -> 1 - prodl l 1 = lsum (fun i => p i * I01 (l \ i)) l.
Proof.
  intros Hl.
  assert (A : is_RInt (fun x => - lsum (fun i => p i * prodl (l \ i) x) l) 0 1 (minus (prodl l 1) (prodl l 0))).
  { apply (is_RInt_derive (prodl l)); intros x _; [now apply prodl_derive|].
    apply (continuous_opp (fun x => lsum (fun i => p i * prodl (l \ i) x) l)), lsum_cont; intros i; apply term_cont. }
  assert (B : is_RInt (fun x => - lsum (fun i => p i * prodl (l \ i) x) l) 0 1 (opp (lsum (fun i => p i * I01 (l \ i)) l))).
  { apply (is_RInt_opp (V := R_NormedModule) (fun x => lsum (fun i => p i * prodl (l \ i) x) l)), lsum_is_RInt; intros i.
    apply (is_RInt_scal (V := R_NormedModule) (prodl (l \ i)) 0 1 (p i)), I01_is. }
  assert (E : prodl l 0 = 1) by (clear; induction l; simpl; [|rewrite IHl]; lra).
  pose proof (is_RInt_unique _ _ _ _ A) as UA; pose proof (is_RInt_unique _ _ _ _ B) as UB.
  rewrite UA in UB; unfold minus, plus, opp in UB; simpl in UB; lra.
Qed.
(* integration by parts: (|l| + 1) I(l) = prod (1 - p) + sum_i I(l \ i) *)
Lemma I01_parts l : NoDup l -> INR (S (length l)) * I01 l = prodl l 1 + lsum (fun i => I01 (l \ i)) l.
Proof.
  intros Hl.
  assert (Pr : forall i x, In i l -> prodl l x = (1 - x * p i) * prodl (l \ i) x).
  { clear - Hl; induction Hl as [|a l Ha Hl IH]; intros i x Hi; [easy|]; cbn [prodl remove].
    destruct (eqd i a) as [->|N]; [rewrite notin_remove; auto|].
    destruct Hi as [->|Hi]; [easy|]; cbn [prodl]; rewrite (IH i x Hi); ring. }
  assert (A : is_RInt (fun x => prodl l x + x * (- lsum (fun i => p i * prodl (l \ i) x) l)) 0 1
    (minus (1 * prodl l 1) (0 * prodl l 0))).
  { apply (is_RInt_derive (fun x => x * prodl l x)); intros x _.
    - replace (prodl l x + x * - lsum (fun i => p i * prodl (l \ i) x) l)
        with (1 * prodl l x + x * - lsum (fun i => p i * prodl (l \ i) x) l) by ring.
      apply (is_derive_mult (fun y => y) (prodl l) x); [apply is_derive_Reals, derivable_pt_lim_id|now apply prodl_derive|apply Rmult_comm].
    - apply (continuous_plus (prodl l) (fun x => x * - lsum (fun i => p i * prodl (l \ i) x) l)); [apply prodl_cont|].
      apply (continuous_mult (fun y : R => y) (fun x => - lsum (fun i => p i * prodl (l \ i) x) l)); [apply continuous_id|].
      apply (continuous_opp (fun x => lsum (fun i => p i * prodl (l \ i) x) l)), lsum_cont; intros i; apply term_cont. }
  assert (B : is_RInt (fun x => prodl l x + x * (- lsum (fun i => p i * prodl (l \ i) x) l)) 0 1
    (I01 l + lsum (fun i => I01 l - I01 (l \ i)) l)).
  { apply (is_RInt_ext (fun x => prodl l x + lsum (fun i => prodl l x - prodl (l \ i) x) l)).
    - intros x _; f_equal; rewrite Ropp_mult_distr_r_reverse, <- lsum_scal.
      replace (- lsum (fun i => x * (p i * prodl (l \ i) x)) l) with (-1 * lsum (fun i => x * (p i * prodl (l \ i) x)) l) by ring.
      rewrite <- lsum_scal; apply lsum_ext; intros i Hi; rewrite (Pr i x Hi); ring.
    - apply (is_RInt_plus (V := R_NormedModule) (prodl l)); [apply I01_is|]; apply lsum_is_RInt; intros i.
      apply (is_RInt_minus (V := R_NormedModule) (prodl l)); apply I01_is. }
  pose proof (is_RInt_unique _ _ _ _ A) as UA; pose proof (is_RInt_unique _ _ _ _ B) as UB.
  rewrite UA in UB; unfold minus, plus, opp in UB; simpl in UB.
  assert (E : lsum (fun i => I01 l - I01 (l \ i)) l = INR (length l) * I01 l - lsum (fun i => I01 (l \ i)) l).
  { rewrite <- lsum_const; replace (lsum (fun _ => I01 l) l - lsum (fun i => I01 (l \ i)) l)
      with (lsum (fun _ => I01 l) l + -1 * lsum (fun i => I01 (l \ i)) l) by ring.
    rewrite <- lsum_scal, <- lsum_plus; apply lsum_ext; intros; ring. }
  rewrite E in UB; rewrite S_INR; lra.
Qed.
Lemma I01_rec l : NoDup l -> INR (S (length l)) * I01 l = 1 + lsum (fun i => (1 - p i) * I01 (l \ i)) l.
Proof.
  intros Hl; rewrite I01_parts by auto; pose proof (I01_boundary l Hl) as B.
  rewrite (lsum_ext (fun i => (1 - p i) * I01 (l \ i)) (fun i => I01 (l \ i) + -1 * (p i * I01 (l \ i)))) by (intros; ring).
  rewrite lsum_plus, lsum_scal; lra.
Qed.

(* ---------- the mechanism ---------- *)
(* n: candidates left, in l.  Draw one uniformly, flip its coin, else drop it. *)
Fixpoint pf (n : nat) (l : list T) (r : T) : R :=
  match n with
  | O => 0
  | S n => lsum (fun i => / INR (length l) * ((if eqd r i then p i else 0) + (1 - p i) * pf n (l \ i) r)) l
  end.
Lemma pf_out n l r : ~ In r l -> pf n l r = 0.
Proof.
  revert l; induction n as [|n IH]; intros l H; simpl; auto.
  rewrite (lsum_ext _ (fun _ => 0)), lsum_const; [ring|]; intros i Hi.
  rewrite IH by (intros G; apply in_remove in G; tauto).
  destruct (eqd r i) as [->|]; [easy|ring].
Qed.
Lemma remove_swap a b l : (l \ a) \ b = (l \ b) \ a.
Proof. apply remove_remove_comm. Qed.
Lemma pf_win n l r : NoDup l -> length l = n -> In r l -> pf n l r = p r * I01 (l \ r).
Proof.
  revert l; induction n as [|n IH]; intros l Hl En Hr; [destruct l; [easy|discriminate]|].
  assert (Hn : INR (length l) <> 0) by (rewrite En; apply not_0_INR; lia).
  cbn [pf]; rewrite lsum_scal.
  apply Rmult_eq_reg_l with (INR (length l)); auto; rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by auto.
  rewrite (lsum_remove _ r) by auto; destruct (eqd r r) as [_|]; [|easy].
  rewrite (pf_out n (l \ r) r) by (intros G; apply in_remove in G; tauto).
  rewrite (lsum_ext _ (fun i => p r * ((1 - p i) * I01 ((l \ r) \ i)))).
  - rewrite lsum_scal, Rmult_0_r, Rplus_0_r, (remove_length r l Hl Hr).
    replace (INR (S (length (l \ r))) * (p r * I01 (l \ r))) with (p r * (INR (S (length (l \ r))) * I01 (l \ r))) by ring.
    rewrite I01_rec by (now apply remove_NoDup); ring.
  - intros i Hi; apply in_remove in Hi; destruct Hi as [Hi N].
    destruct (eqd r i) as [->|]; [easy|].
    rewrite IH; [rewrite (remove_swap i r); ring|now apply remove_NoDup| |apply in_in_remove; auto].
    rewrite (remove_length i l Hl Hi) in En; lia.
Qed.
Hypothesis p01 : forall i, 0 <= p i <= 1.
Lemma pf_ge0 n l r : 0 <= pf n l r.
Proof using p01.
  revert l; induction n as [|n IH]; intros l; simpl; [lra|].
  assert (H : forall i, 0 <= / INR (length l) * ((if eqd r i then p i else 0) + (1 - p i) * pf n (l \ i) r)); [|now apply lsum_ge0].
  intros i; destruct l as [|a l]; [simpl; rewrite Rinv_0 by auto; lra|].
  apply Rmult_le_pos; [left; apply Rinv_0_lt_compat, lt_0_INR; simpl; lia|].
  specialize (IH ((a :: l) \ i)); pose proof (p01 i); destruct (eqd r i); nra.
Qed.
Lemma pf_total n l m L : NoDup L -> incl l L -> NoDup l -> length l = n -> In m l -> p m = 1 -> lsum (pf n l) L = 1.
Proof using p01.
  intros HL; revert l; induction n as [|n IH]; intros l Hi Hl En Hm Hp; [destruct l; [easy|discriminate]|].
  assert (Hn : INR (length l) <> 0) by (rewrite En; apply not_0_INR; lia).
  assert (Sw : forall (f : T -> T -> R) l1 l2, lsum (fun r => lsum (fun i => f r i) l1) l2 = lsum (fun i => lsum (fun r => f r i) l2) l1).
  { clear; intros f l1 l2; induction l2 as [|a l2 IHl]; simpl; [|rewrite IHl, <- lsum_plus; reflexivity].
    induction l1; simpl; lra. }
  cbn [pf]; rewrite Sw, (lsum_ext _ (fun _ => / INR (length l))), lsum_const; [field; auto|].
  intros i Hil; rewrite lsum_scal, lsum_plus, lsum_scal.
  rewrite (lsum_pick eqd i (p i) L HL (Hi i Hil)).
  destruct (eqd i m) as [->|N]; [rewrite Hp; ring|].
  rewrite IH; [ring| |now apply remove_NoDup| |apply in_in_remove; auto|auto].
  - intros x Hx; apply in_remove in Hx; apply Hi; tauto.
  - rewrite (remove_length i l Hl Hil) in En; lia.
Qed.
Lemma prodl_01 l x : 0 <= x <= 1 -> 0 <= prodl l x.
Proof using p01.
  intros Hx; induction l as [|a l IH]; simpl; [lra|]; apply Rmult_le_pos; auto; pose proof (p01 a); nra.
Qed.
End Flip.

(* shrinking every p_s by the factor lam >= 1 costs the integral at most lam *)
Lemma I01_shrink {T} (p p' : T -> R) lam l : 1 <= lam -> (forall i, 0 <= p' i <= 1) -> (forall i, 0 <= p i <= 1) ->
  (forall i, In i l -> p' i <= lam * p i) -> I01 p l <= lam * I01 p' l.
Proof.
  intros Hlam P' P H; unfold I01.
  assert (E : lam * RInt (prodl p' l) 0 1 = RInt (fun y => prodl p' l (/ lam * y + 0)) 0 lam).
  { pose proof (RInt_comp_lin (V := R_CompleteNormedModule) (prodl p' l) (/ lam) 0 0 lam) as C.
    replace (/ lam * 0 + 0) with 0 in C by ring; replace (/ lam * lam + 0) with 1 in C by (field; lra).
    rewrite <- C by (apply (ex_RInt_continuous (V := R_CompleteNormedModule)); intros; apply prodl_cont).
    rewrite (RInt_scal (V := R_CompleteNormedModule) (fun y => prodl p' l (/ lam * y + 0))).
    - unfold scal; simpl; unfold mult; simpl; field; lra.
    - apply (ex_RInt_continuous (V := R_CompleteNormedModule)); intros z _.
      apply (continuous_comp (fun y => / lam * y + 0) (prodl p' l)); [|apply prodl_cont].
      apply (ex_derive_continuous (fun y => / lam * y + 0)); auto_derive; auto. }
  rewrite E; set (h := fun y => prodl p' l (/ lam * y + 0)).
  assert (hc : forall z, continuous h z).
  { intros z; apply (continuous_comp (fun y => / lam * y + 0) (prodl p' l)); [|apply prodl_cont].
    apply (ex_derive_continuous (fun y => / lam * y + 0)); auto_derive; auto. }
  assert (hi : forall a b, ex_RInt h a b) by (intros; apply (ex_RInt_continuous (V := R_CompleteNormedModule)); auto).
  assert (Hl0 : 0 < / lam) by (apply Rinv_0_lt_compat; lra).
  assert (Hl1 : / lam * lam = 1) by (apply Rinv_l; lra).
  pose proof (RInt_Chasles (V := R_CompleteNormedModule) h 0 1 lam (hi 0 1) (hi 1 lam)) as C; unfold plus in C; simpl in C.
  assert (0 <= RInt h 1 lam).
  { apply RInt_ge_0; [lra|apply hi|]; intros y Hy; apply prodl_01; auto; nra. }
  assert (RInt (prodl p l) 0 1 <= RInt h 0 1); [|lra].
  apply RInt_le; [lra|apply (ex_RInt_continuous (V := R_CompleteNormedModule)); intros; apply prodl_cont|apply hi|].
  intros y Hy; unfold h; clear - H P P' Hl0 Hl1 Hlam Hy.
  assert (G : 0 <= prodl p l y <= prodl p' l (/ lam * y + 0)); [|lra].
  assert (0 <= / lam * y + 0 <= 1) by nra.
  induction l as [|a l IH]; simpl; [lra|]; specialize (IH (fun i Hi => H i (or_intror Hi))).
  pose proof (P a); pose proof (P' a); specialize (H a (or_introl eq_refl)).
  assert (/ lam * p' a <= p a) by nra.
  assert (0 <= 1 - y * p a <= 1 - (/ lam * y + 0) * p' a) by nra.
  split; [apply Rmult_le_pos; lra|apply Rmult_le_compat; lra].
Qed.

(* ---------- privacy ---------- *)
Section Privacy.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).
Variable cands : list T.
Hypothesis distinct : NoDup cands.
Variable first : T.
Hypothesis first_in : In first cands.
(* the largest score *)
Definition top (u : T -> R) : R := fold_right (fun i m => Rmax (u i) m) (u first) cands.
Lemma top_ge u i : In i cands -> u i <= top u.
Proof using Type.
  enough (G : forall l, In i l -> u i <= fold_right (fun i m => Rmax (u i) m) (u first) l) by exact (G cands).
  induction l as [|a l IH]; simpl; [easy|]; intros [->|H]; [apply Rmax_l|].
  eapply Rle_trans; [apply IH, H|apply Rmax_r].
Qed.
Lemma top_in u : exists m, In m cands /\ u m = top u.
Proof using first_in.
  assert (G : forall l, exists m, (m = first \/ In m l) /\ u m = fold_right (fun i m => Rmax (u i) m) (u first) l).
  { induction l as [|a l [m [Hm Em]]]; simpl; [exists first; auto|].
    rewrite <- Em; unfold Rmax; destruct (Rle_dec (u a) (u m)); [exists m|exists a]; tauto. }
  destruct (G cands) as [m [[->|Hm] Em]]; [exists first|exists m]; auto.
Qed.
Definition coin (k : R) (u : T -> R) (i : T) : R := Rmin 1 (exp (- (k * (top u - u i)))).
Lemma coin_01 k u i : 0 <= coin k u i <= 1.
Proof using Type. unfold coin; pose proof (exp_pos (- (k * (top u - u i)))); unfold Rmin; destruct (Rle_dec _ _); lra. Qed.
Lemma coin_in k u i : 0 <= k -> In i cands -> coin k u i = exp (- (k * (top u - u i))).
Proof using Type.
  intros Hk Hi; apply Rmin_right; rewrite <- exp_0; apply exp_le; pose proof (top_ge u i Hi); nra.
Qed.
Definition permute_and_flip (k : R) (Hk : 0 <= k) (u : T -> R) : dist T.
Proof using eqd cands distinct first first_in.
  refine {| pmf := pf eqd (coin k u) (length cands) cands |}.
  - intros r; apply pf_ge0, coin_01.
  - apply (has_sum_finite_eq eqd _ cands); auto.
    + destruct (top_in u) as [m [Hm Em]].
      apply (pf_total eqd (coin k u) (coin_01 k u) _ _ m); auto; [now intros x|].
      rewrite coin_in by auto; rewrite Em, Rminus_diag_eq, Rmult_0_r, Ropp_0, exp_0; auto.
    + intros r; apply pf_ge0, coin_01.
    + intros r Hr; now apply pf_out.
Defined.

(** @theorem permute-and-flip
    Candidates from a public finite list, each with a score u(d, r) that changes by at
    most Delta > 0 between neighbours. Going through the candidates in uniformly random
    order and taking the first whose coin, of probability
    exp(-eps (max u - u(d, r)) / (2 Delta)), is 1, is eps-DP for adj, eps >= 0. *)
Theorem permute_and_flip_dp {D} (adj : D -> D -> Prop) (u : D -> T -> R) Delta eps (Hk : 0 <= eps / (2 * Delta)) : 0 < Delta ->
  (forall d d', adj d d' -> forall r, In r cands -> Rabs (u d r - u d' r) <= Delta) ->
  dp_mech adj eps 0 (fun d => permute_and_flip (eps / (2 * Delta)) Hk (u d)).
Proof using Type.
  intros HD Hu d d' A; specialize (Hu d d' A); set (k := eps / (2 * Delta)) in *.
  assert (Ek : 2 * (k * Delta) = eps) by (unfold k; field; lra).
  assert (Hu' : forall r, In r cands -> - Delta <= u d r - u d' r <= Delta).
  { intros r Hr; specialize (Hu r Hr); unfold Rabs in Hu; destruct (Rcase_abs _); lra. }
  destruct (top_in (u d)) as [m [Hm Em]], (top_in (u d')) as [m' [Hm' Em']].
  assert (Ht : - Delta <= top (u d) - top (u d') <= Delta).
  { pose proof (Hu' m Hm); pose proof (Hu' m' Hm'); pose proof (top_ge (u d) m' Hm'); pose proof (top_ge (u d') m Hm); lra. }
  apply dp_pointwise; intros r; simpl; destruct (in_dec eqd r cands) as [Hr|Hr]; [|rewrite !pf_out by auto; lra].
  rewrite !pf_win by auto.
  set (lam := exp (k * (Delta + (top (u d) - top (u d'))))).
  assert (Hlam : 1 <= lam) by (unfold lam; rewrite <- exp_0; apply exp_le; nra).
  assert (Hs : forall i, In i cands -> coin k (u d') i <= lam * coin k (u d) i).
  { intros i Hi; rewrite !coin_in by auto; unfold lam; rewrite <- exp_plus; apply exp_le; pose proof (Hu' i Hi); nra. }
  assert (HI := I01_shrink (coin k (u d)) (coin k (u d')) lam (remove eqd r cands) Hlam (coin_01 k (u d')) (coin_01 k (u d))
    (fun i Hi => Hs i (proj1 (in_remove eqd cands i r Hi)))).
  assert (Hr1 : lam * coin k (u d) r <= exp eps * coin k (u d') r).
  { rewrite !coin_in by auto; unfold lam; rewrite <- !exp_plus; apply exp_le; pose proof (Hu' r Hr); rewrite <- Ek; nra. }
  assert (H0 : 0 <= I01 (coin k (u d')) (remove eqd r cands)).
  { apply RInt_ge_0; [lra|apply (ex_RInt_continuous (V := R_CompleteNormedModule)); intros; apply prodl_cont|].
    intros x Hx; apply prodl_01; [apply coin_01|lra]. }
  pose proof (coin_01 k (u d) r) as Hc.
  apply Rle_trans with (coin k (u d) r * (lam * I01 (coin k (u d')) (remove eqd r cands))).
  - apply Rmult_le_compat_l; lra.
  - replace (coin k (u d) r * (lam * I01 (coin k (u d')) (remove eqd r cands)))
      with ((lam * coin k (u d) r) * I01 (coin k (u d')) (remove eqd r cands)) by ring.
    rewrite <- Rmult_assoc; now apply Rmult_le_compat_r.
Qed.
End Privacy.

(* ---------- instance ---------- *)
(* choose a cut in 0..9 by how many records exceed it; eps = 1 *)
Lemma zero_cut : In 0%Z [0; 1; 2; 3; 4; 5; 6; 7; 8; 9]%Z. Proof. simpl; auto. Qed.
Lemma rate_ok : 0 <= 1 / (2 * 1). Proof. lra. Qed.
Example flip_cut : dp_mech add_remove 1 0
  (fun d => permute_and_flip Z.eq_dec _ cuts_distinct _ zero_cut (1 / (2 * 1)) rate_ok (fun c => IZR (exceed d c))).
Proof.
  apply (permute_and_flip_dp Z.eq_dec _ cuts_distinct _ zero_cut _ (fun d c => IZR (exceed d c)) 1 1); [lra|].
  intros d d' A c _; rewrite <- minus_IZR, <- abs_IZR; apply IZR_le.
  destruct A as [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; pose proof (exceed_step l1 x l2 c); lia.
Qed.
