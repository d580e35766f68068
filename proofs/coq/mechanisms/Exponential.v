(* Private selection: the exponential mechanism, and report noisy max with
   discrete Laplace noise. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi Postprocess.
From Assay.mechanisms Require Import Finite Laplace SparseVector.
Import ListNotations.
Local Open Scope R_scope.

(* ---------- exponential mechanism ---------- *)
Section ExpMech.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).
Variable cands : list T.
Hypothesis distinct : NoDup cands.
Hypothesis some_cand : cands <> [].
Definition ew (k : R) (u : T -> R) (r : T) : R := exp (k * u r).
Lemma ew_pos k u : 0 < lsum (ew k u) cands.
Proof using some_cand.
  clear distinct; destruct cands as [|r l]; [easy|]; simpl; pose proof (exp_pos (k * u r)).
  pose proof (lsum_ge0 (ew k u) l (fun x => Rlt_le _ _ (exp_pos _))); unfold ew at 1; lra.
Qed.
(* P(r) = exp(k u(r)) / sum of exp(k u) over the candidates *)
Definition exp_mech (k : R) (u : T -> R) : dist T.
Proof using eqd cands distinct some_cand.
  refine (list_dist eqd cands (fun r => / lsum (ew k u) cands * ew k u r) distinct _ _).
  - intros x; apply Rmult_le_pos; [left; apply Rinv_0_lt_compat, ew_pos|left; apply exp_pos].
  - rewrite lsum_scal, Rinv_l; auto; apply Rgt_not_eq, ew_pos.
Defined.

(** @theorem exponential
    Candidates from a public finite list, each with a score u(d, r) that changes by at
    most Delta > 0 between neighbours (relation adj). Drawing r with probability
    proportional to exp(eps u(d, r) / (2 Delta)) is eps-DP for adj, eps >= 0. *)
Theorem exponential_dp {D} (adj : D -> D -> Prop) (u : D -> T -> R) Delta eps : 0 < Delta -> 0 <= eps ->
  (forall d d', adj d d' -> forall r, In r cands -> Rabs (u d r - u d' r) <= Delta) ->
  dp_mech adj eps 0 (fun d => exp_mech (eps / (2 * Delta)) (u d)).
Proof using Type.
  intros HD He Hu d d' A; set (k := eps / (2 * Delta)).
  assert (Hk : 0 <= k) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  assert (Ek : k * Delta = eps / 2) by (unfold k; field; lra).
  assert (Hw : forall r, In r cands -> ew k (u d) r <= exp (eps / 2) * ew k (u d') r /\ ew k (u d') r <= exp (eps / 2) * ew k (u d) r).
  { intros r Hr; specialize (Hu d d' A r Hr); unfold ew; rewrite <- !exp_plus.
    assert (- Delta <= u d r - u d' r <= Delta) by (unfold Rabs in Hu; destruct (Rcase_abs _); lra).
    split; apply exp_le; nra. }
  apply dp_pointwise; intros r; simpl; unfold on_list; destruct (in_dec eqd r cands) as [Hr|]; [|lra].
  assert (N1 := ew_pos k (u d)); assert (N2 := ew_pos k (u d')).
  set (n1 := lsum (ew k (u d)) cands) in *; set (n2 := lsum (ew k (u d')) cands) in *.
  assert (Hn : n2 <= exp (eps / 2) * n1).
  { unfold n1, n2; rewrite <- lsum_scal; apply lsum_le; intros x Hx; apply (proj2 (Hw x Hx)). }
  assert (Hr1 := proj1 (Hw r Hr)); assert (E := exp_pos (eps / 2)); assert (W := exp_pos (k * u d' r)); fold (ew k (u d') r) in W.
  replace (exp eps) with (exp (eps / 2) * exp (eps / 2)) by (rewrite <- exp_plus; f_equal; lra).
  assert (Hi : / n1 <= exp (eps / 2) * / n2).
  { apply Rmult_le_reg_r with (n1 * n2); [nra|].
    replace (/ n1 * (n1 * n2)) with n2 by (field; lra).
    replace (exp (eps / 2) * / n2 * (n1 * n2)) with (exp (eps / 2) * n1) by (field; lra); exact Hn. }
  apply Rle_trans with ((exp (eps / 2) * / n2) * (exp (eps / 2) * ew k (u d') r)); [|right; ring].
  apply Rmult_le_compat; auto; left; [now apply Rinv_0_lt_compat|apply exp_pos].
Qed.
End ExpMech.

(* ---------- report noisy max ---------- *)
(* f d is the list of scores; their number is public *)
Definition each_sens {D} (adj : D -> D -> Prop) (f : D -> list Z) (Delta : Z) : Prop :=
  forall d d', adj d d' -> Forall2 (fun q q' => (Z.abs (q - q') <= Delta)%Z) (f d) (f d').
(* between neighbours all scores move in the same direction *)
Definition each_sens_monotone {D} (adj : D -> D -> Prop) (f : D -> list Z) (Delta : Z) : Prop :=
  forall d d', adj d d' ->
    Forall2 (fun q q' => (q <= q' <= q + Delta)%Z) (f d) (f d') \/
    Forall2 (fun q q' => (q' <= q <= q' + Delta)%Z) (f d) (f d').
Lemma Forall2_impl2 {A B} (P Q : A -> B -> Prop) l l' :
  (forall x y, P x y -> Q x y) -> Forall2 P l l' -> Forall2 Q l l'.
Proof. intros HI H; induction H; constructor; auto. Qed.

(* position of the largest entry; the first one if there are several *)
Fixpoint argmax (l : list Z) : nat :=
  match l with
  | [] => O
  | a :: l => match l with [] => O | _ => if (nth (argmax l) l 0 <=? a)%Z then O else S (argmax l) end
  end.
Definition wins (i : nat) (l : list Z) : Prop := (i < length l)%nat /\
  (forall j, (j < length l)%nat -> (nth j l 0 <= nth i l 0)%Z) /\
  (forall j, (j < i)%nat -> (nth j l 0 < nth i l 0)%Z).
Lemma argmax_wins l : l <> [] -> wins (argmax l) l.
Proof.
  induction l as [|a [|b l] IH]; [easy| |]; intros _.
  - repeat split; simpl; try lia; intros [|j] Hj; simpl; lia.
  - specialize (IH ltac:(discriminate)); destruct IH as (H1 & H2 & H3).
    change (argmax (a :: b :: l)) with (if (nth (argmax (b :: l)) (b :: l) 0 <=? a)%Z then O else S (argmax (b :: l))).
    set (m := b :: l) in *; clearbody m; destruct (Z.leb_spec (nth (argmax m) m 0%Z) a) as [Hl|Hl].
    + split; [simpl; lia|split]; [|lia].
      intros [|j] Hj; [simpl; lia|]; change (nth (S j) (a :: m) 0%Z) with (nth j m 0%Z); change (nth 0 (a :: m) 0%Z) with a.
      specialize (H2 j ltac:(simpl in Hj; lia)); lia.
    + split; [simpl in *; lia|split]; intros [|j] Hj; cbn [nth]; try lia.
      * apply H2; simpl in Hj; lia.
      * apply H3; lia.
Qed.
Lemma wins_unique i j l : wins i l -> wins j l -> i = j.
Proof.
  intros (A1 & A2 & A3) (B1 & B2 & B3); destruct (Nat.lt_trichotomy i j) as [H|[H|H]]; auto.
  - specialize (B3 i H); specialize (A2 j B1); lia.
  - specialize (A3 j H); specialize (B2 i A1); lia.
Qed.

(* add a vector to the first coordinates: a bijection on lists *)
Fixpoint vadd (a e : list Z) : list Z :=
  match a, e with x :: a, y :: e => (x + y)%Z :: vadd a e | a, [] => a | [], _ => [] end.
Lemma vadd_opp a e : vadd (vadd a e) (map Z.opp e) = a.
Proof. revert e; induction a as [|x a IH]; intros [|y e]; simpl; auto; rewrite IH; f_equal; lia. Qed.
Lemma vadd_opp' a e : vadd (vadd a (map Z.opp e)) e = a.
Proof. revert e; induction a as [|x a IH]; intros [|y e]; simpl; auto; rewrite IH; f_equal; lia. Qed.
Lemma vadd_length a e : length (vadd a e) = length a.
Proof. revert e; induction a as [|x a IH]; intros [|y e]; simpl; auto. Qed.
Lemma vadd_nth a e j : (j < length a)%nat -> nth j (vadd a e) 0%Z = (nth j a 0 + nth j e 0)%Z.
Proof.
  revert e j; induction a as [|x a IH]; intros [|y e] [|j] H; simpl in *; try lia.
  apply IH; lia.
Qed.
Lemma argmax_shift a e : (forall j, (j < length a)%nat -> (nth j e 0 <= nth (argmax a) e 0)%Z) -> argmax (vadd a e) = argmax a.
Proof.
  intros H; destruct a as [|x a]; [destruct e; reflexivity|].
  set (l := x :: a) in *.
  destruct (argmax_wins l ltac:(discriminate)) as (W1 & W2 & W3).
  apply (wins_unique _ _ (vadd l e)).
  - apply argmax_wins; intros E; apply (f_equal (@length Z)) in E; rewrite vadd_length in E; discriminate.
  - split; [rewrite vadd_length; exact W1|split].
    + intros j Hj; rewrite vadd_length in Hj; rewrite !vadd_nth by auto; specialize (H j Hj); specialize (W2 j Hj); lia.
    + intros j Hj; rewrite !vadd_nth by lia; specialize (H j ltac:(lia)); specialize (W3 j Hj); lia.
Qed.

(* the probability of one noisy vector *)
Lemma laplace_vec_pmf (t : posreal) mu x : length mu = length x ->
  laplace_vec t mu x = lapc t ^ length x * exp (- IZR (absdist mu x) / t).
Proof.
  revert x; induction mu as [|a mu IH]; intros [|b x] E; try discriminate; unfold laplace_vec in *.
  - simpl; replace (- 0 / t) with 0 by (unfold Rdiv; ring); rewrite exp_0; lra.
  - change (prod_dist (map (laplace t) (a :: mu)) (b :: x)) with (laplace t a b * prod_dist (map (laplace t) mu) x).
    rewrite IH by now inversion E.
    cbn [absdist length pow]; simpl (laplace t a b); unfold lapw; rewrite plus_IZR.
    replace (- (IZR (Z.abs (a - b)) + IZR (absdist mu x)) / t)
      with (- IZR (Z.abs (b - a)) / t + - IZR (absdist mu x) / t)
      by (replace (Z.abs (b - a)) with (Z.abs (a - b)) by lia; unfold Rdiv; ring).
    rewrite exp_plus; ring.
Qed.
Lemma laplace_vec_length (t : posreal) mu x : length mu <> length x -> laplace_vec t mu x = 0.
Proof.
  revert x; induction mu as [|a mu IH]; intros [|b x] E; unfold laplace_vec in *; simpl; try easy.
  rewrite IH; [ring|simpl in E; lia].
Qed.
Lemma bind_couple_bij {A U} (eqA : forall x y : A, {x = y} + {x <> y}) (eqU : forall x y : U, {x = y} + {x <> y})
  (P Q : dist A) (K L : A -> dist U) (u : U) (h k : A -> A) c :
  0 < c -> (forall a, k (h a) = a) -> (forall a, h (k a) = a) ->
  (forall a, P a * K a u <= c * (Q (h a) * L (h a) u)) ->
  bind_dist eqA eqU P K u <= c * bind_dist eqA eqU Q L u.
Proof.
  intros Hc H1 H2 H; simpl.
  eapply has_sum_le; [apply (bind_pmf_is_bind P K u)| |exact H].
  apply (has_sum_scal (fun a => Q (h a) * L (h a) u)); auto.
  apply (has_sum_bij (fun a => Q a * L a u) h k); auto; apply (bind_pmf_is_bind Q L u).
Qed.

(* noise on every score, then the position of the largest *)
Definition noisy_max (t : posreal) (q : list Z) : dist nat :=
  bind_dist zvec_eq Nat.eq_dec (laplace_vec t q) (fun a => dret Nat.eq_dec (argmax a)).

(* follow the scores from q to q', and lift entry i by w *)
Fixpoint lift (w : Z) (i s : nat) (q q' : list Z) : list Z :=
  match q, q' with x :: q, y :: q' => (y - x + (if Nat.eqb s i then w else 0))%Z :: lift w i (S s) q q' | _, _ => [] end.
Lemma lift_absdist w i q q' a : (0 <= w)%Z -> length q = length q' -> length q = length a -> forall s,
  (absdist q' (vadd a (lift w i s q q')) <= absdist q a + (if (s <=? i)%nat then w else 0))%Z.
Proof.
  intros Hw; revert q' a; induction q as [|x q IH]; intros [|y q'] [|b a] E E' s; try discriminate.
  - simpl; destruct (s <=? i)%nat; lia.
  - cbn [lift vadd absdist]; specialize (IH q' a ltac:(now inversion E) ltac:(now inversion E') (S s)).
    destruct (Nat.eqb_spec s i), (Nat.leb_spec s i), (Nat.leb_spec (S s) i); lia.
Qed.
Lemma lift_nth w i q q' j s : length q = length q' -> (j < length q)%nat ->
  nth j (lift w i s q q') 0%Z = (nth j q' 0 - nth j q 0 + (if Nat.eqb (s + j) i then w else 0))%Z.
Proof.
  revert q' j s; induction q as [|x q IH]; intros [|y q'] [|j] s E H; simpl in *; try lia.
  - rewrite Nat.add_0_r; reflexivity.
  - rewrite IH by lia; rewrite Nat.add_succ_r; reflexivity.
Qed.
Lemma Forall2_nth (R : Z -> Z -> Prop) q q' j : Forall2 R q q' -> (j < length q)%nat -> R (nth j q 0%Z) (nth j q' 0%Z).
Proof. intros H; revert j; induction H as [|x y q q' Hx H IH]; intros [|j] Hj; simpl in *; try lia; auto; apply IH; lia. Qed.

Lemma noisy_max_couple (t : posreal) q q' (lo hi w : Z) : (0 <= w)%Z -> (hi - lo <= w)%Z ->
  Forall2 (fun x y => (lo <= y - x <= hi)%Z) q q' -> dp (IZR w / t) 0 (noisy_max t q) (noisy_max t q').
Proof.
  intros Hw Hhl H; pose proof (cond_pos t) as Ht; apply dp_pointwise; intros i.
  assert (E : length q = length q') by (clear -H; induction H; simpl; congruence).
  set (e := lift w i 0 q q').
  apply (bind_couple_bij _ _ _ _ _ _ i (fun a => vadd a e) (fun a => vadd a (map Z.opp e)));
    [apply exp_pos|intros; apply vadd_opp|intros; apply vadd_opp'|]; intros a.
  destruct (Nat.eq_dec (length q) (length a)) as [Ea|Ea]; cycle 1.
  { rewrite laplace_vec_length by auto; rewrite Rmult_0_l; apply Rmult_le_pos; [left; apply exp_pos|].
    apply Rmult_le_pos; apply pmf_ge0. }
  rewrite !laplace_vec_pmf by (rewrite ?vadd_length; lia); rewrite vadd_length.
  simpl (dret _ _ _); destruct (Nat.eq_dec i (argmax a)) as [Ei|Ei]; cycle 1.
  { rewrite Rmult_0_r; apply Rmult_le_pos; [left; apply exp_pos|apply Rmult_le_pos].
    - apply Rmult_le_pos; [apply pow_le; left; now apply lapc_pos|left; apply exp_pos].
    - destruct (Nat.eq_dec i (argmax (vadd a e))); lra. }
  rewrite argmax_shift.
  - destruct (Nat.eq_dec i (argmax a)); [|easy]; rewrite !Rmult_1_r.
    replace (exp (IZR w / t) * (lapc t ^ length a * exp (- IZR (absdist q' (vadd a e)) / t)))
      with (lapc t ^ length a * exp (IZR w / t + - IZR (absdist q' (vadd a e)) / t)) by (rewrite exp_plus; ring).
    apply Rmult_le_compat_l; [apply pow_le; left; now apply lapc_pos|]; apply exp_le.
    pose proof (lift_absdist w i q q' a Hw E Ea 0) as L; fold e in L; cbn [Nat.leb] in L; apply IZR_le in L; rewrite plus_IZR in L.
    unfold Rdiv; rewrite <- Rmult_plus_distr_r; apply div_le; auto; lra.
  - intros j Hj; rewrite <- Ei; unfold e.
    destruct (Nat.lt_ge_cases i (length q)) as [Hi|Hi].
    + rewrite !lift_nth by lia; pose proof (Forall2_nth _ _ _ j H ltac:(lia)); pose proof (Forall2_nth _ _ _ i H Hi); cbv beta in *.
      simpl (0 + _)%nat; rewrite Nat.eqb_refl; destruct (Nat.eqb_spec j i) as [Eji|]; [rewrite Eji|]; lia.
    + exfalso; destruct a as [|x a]; [simpl in Hj; lia|].
      destruct (argmax_wins (x :: a) ltac:(discriminate)) as (W & _); lia.
Qed.

(** @theorem noisy-max
    A public number of integer scores, each changing by at most Delta between
    neighbours. Adding discrete Laplace noise of scale t to each and reporting only the
    position of the largest noisy score (the first one on a tie) is (2 Delta/t)-DP. *)
Theorem noisy_max_dp {D} (adj : D -> D -> Prop) (f : D -> list Z) (Delta : Z) (t : posreal) :
  (0 <= Delta)%Z -> each_sens adj f Delta -> dp_mech adj (2 * IZR Delta / t) 0 (fun d => noisy_max t (f d)).
Proof.
  intros HD Hf d d' A; rewrite <- (mult_IZR 2); apply (noisy_max_couple t _ _ (- Delta) Delta); try lia.
  eapply Forall2_impl2; [|apply (Hf d d' A)]; intros q q'; cbv beta; lia.
Qed.
(** @theorem noisy-max-monotone
    The same when between neighbours all scores move in the same direction, by at most
    Delta (e.g. counts, one record added or removed): (Delta/t)-DP. *)
Theorem noisy_max_monotone_dp {D} (adj : D -> D -> Prop) (f : D -> list Z) (Delta : Z) (t : posreal) :
  (0 <= Delta)%Z -> each_sens_monotone adj f Delta -> dp_mech adj (IZR Delta / t) 0 (fun d => noisy_max t (f d)).
Proof.
  intros HD Hf d d' A; destruct (Hf d d' A) as [H|H].
  - apply (noisy_max_couple t _ _ 0 Delta); try lia; eapply Forall2_impl2; [|apply H]; intros q q'; cbv beta; lia.
  - apply (noisy_max_couple t _ _ (- Delta) 0); try lia; eapply Forall2_impl2; [|apply H]; intros q q'; cbv beta; lia.
Qed.

(* ---------- instances ---------- *)
(* how many records exceed 0, 1, ..., 9 *)
Definition ten_counts (d : list Z) : list Z := map (exceed d) [0; 1; 2; 3; 4; 5; 6; 7; 8; 9]%Z.
Lemma ten_counts_monotone : each_sens_monotone add_remove ten_counts 1.
Proof.
  intros d d' [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; [left|right]; unfold ten_counts;
    repeat (apply Forall2_cons; [apply exceed_step|]); constructor.
Qed.
Lemma ten_counts_sens : each_sens add_remove ten_counts 1.
Proof.
  intros d d' A; destruct (ten_counts_monotone d d' A) as [H|H];
    (eapply Forall2_impl2; [|apply H]); intros q q'; cbv beta; lia.
Qed.
Example largest_count : dp_mech add_remove (1 / (4 / 1)) 0 (fun d => noisy_max (prat 4 1) (ten_counts d)).
Proof. apply (noisy_max_monotone_dp _ _ 1 (prat 4 1)); [lia|apply ten_counts_monotone]. Qed.
Example largest_count_replace : dp_mech add_remove (2 * 1 / (4 / 1)) 0 (fun d => noisy_max (prat 4 1) (ten_counts d)).
Proof. apply (noisy_max_dp _ _ 1 (prat 4 1)); [lia|apply ten_counts_sens]. Qed.
(* choose a cut in 0..9 by how many records exceed it; eps = 1 *)
Lemma cuts_distinct : NoDup [0; 1; 2; 3; 4; 5; 6; 7; 8; 9]%Z.
Proof. repeat constructor; simpl; lia. Qed.
Lemma cuts_some : [0; 1; 2; 3; 4; 5; 6; 7; 8; 9]%Z <> []. Proof. discriminate. Qed.
Example choose_cut : dp_mech add_remove 1 0
  (fun d => exp_mech Z.eq_dec _ cuts_distinct cuts_some (1 / (2 * 1)) (fun c => IZR (exceed d c))).
Proof.
  apply (exponential_dp Z.eq_dec _ cuts_distinct cuts_some _ (fun d c => IZR (exceed d c)) 1 1); [lra|lra|].
  intros d d' A c _; rewrite <- minus_IZR, <- abs_IZR; apply IZR_le.
  destruct A as [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; pose proof (exceed_step l1 x l2 c); lia.
Qed.
