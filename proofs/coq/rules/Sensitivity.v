(* Sums of bounded contributions: the sensitivity of a sum over records is the
   largest size of one contribution (add/remove) or distance of two (replace). *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours.
Import ListNotations.

Local Open Scope Z_scope.
Fixpoint vadd (x y : list Z) : list Z :=
  match x, y with a :: x, b :: y => (a + b) :: vadd x y | _, _ => [] end.
Lemma vadd_length x y : length x = length y -> length (vadd x y) = length x.
Proof. revert y; induction x as [|a x IH]; intros [|b y] E; try discriminate; simpl; auto. Qed.
Lemma sqdist_shift a b c : length a = length b -> length a = length c -> sqdist (vadd a b) (vadd a c) = sqdist b c.
Proof.
  revert b c; induction a as [|x a IH]; intros [|y b] [|z c] E F; try discriminate; simpl; auto.
  rewrite IH by (simpl in *; lia); replace (x + y - (x + z)) with (y - z) by ring; auto.
Qed.
Lemma absdist_shift a b c : length a = length b -> length a = length c -> absdist (vadd a b) (vadd a c) = absdist b c.
Proof.
  revert b c; induction a as [|x a IH]; intros [|y b] [|z c] E F; try discriminate; simpl; auto.
  rewrite IH by (simpl in *; lia); replace (x + y - (x + z)) with (y - z) by ring; auto.
Qed.
Lemma vadd_comm a b : vadd a b = vadd b a.
Proof. revert b; induction a as [|x a IH]; intros [|y b]; simpl; auto; rewrite IH; f_equal; ring. Qed.
Lemma vadd_0 n a : length a = n -> vadd (repeat 0 n) a = a.
Proof. revert a; induction n as [|n IH]; intros [|x a] E; try discriminate; simpl; auto; rewrite IH; auto. Qed.
Lemma sqdist_app x y x' y' : length x = length y -> sqdist (x ++ x') (y ++ y') = sqdist x y + sqdist x' y'.
Proof.
  revert y; induction x as [|a x IH]; intros [|b y] E; try discriminate; simpl; auto.
  rewrite IH by (simpl in E; lia); ring.
Qed.
Lemma absdist_app x y x' y' : length x = length y -> absdist (x ++ x') (y ++ y') = absdist x y + absdist x' y'.
Proof.
  revert y; induction x as [|a x IH]; intros [|b y] E; try discriminate; simpl; auto.
  rewrite IH by (simpl in E; lia); ring.
Qed.

Section Sums.
Context {U : Type} (n : nat) (g : U -> list Z).
Hypothesis g_length : forall x, length (g x) = n.
(* the sum of the contributions of all records *)
Definition sum_query (d : list U) : list Z := fold_right (fun x acc => vadd (g x) acc) (repeat 0 n) d.
Lemma sum_query_length d : length (sum_query d) = n.
Proof.
  induction d as [|x d IH]; simpl; [apply repeat_length|].
  rewrite vadd_length; [apply g_length|]; fold sum_query; rewrite g_length; auto.
Qed.
Lemma sum_query_dist (l1 l2 l2' : list U) :
  sqdist (sum_query (l1 ++ l2)) (sum_query (l1 ++ l2')) = sqdist (sum_query l2) (sum_query l2') /\
  absdist (sum_query (l1 ++ l2)) (sum_query (l1 ++ l2')) = absdist (sum_query l2) (sum_query l2').
Proof.
  induction l1 as [|x l1 [IH1 IH2]]; [auto|]; simpl; fold (sum_query (l1 ++ l2)); fold (sum_query (l1 ++ l2')).
  rewrite sqdist_shift, absdist_shift by (rewrite g_length, sum_query_length; auto); auto.
Qed.
Local Open Scope R_scope.
Lemma sum_query_swap x y l : let z := sum_query l in
  sqdist (vadd (g x) z) (vadd (g y) z) = sqdist (g x) (g y) /\ absdist (vadd (g x) z) (vadd (g y) z) = absdist (g x) (g y).
Proof.
  intros z; rewrite (vadd_comm (g x)), (vadd_comm (g y)); unfold z.
  rewrite sqdist_shift, absdist_shift by (rewrite g_length, sum_query_length; auto); auto.
Qed.
Lemma sum_query_new x l : let z := sum_query l in
  sqdist z (vadd (g x) z) = sqdist (repeat 0%Z n) (g x) /\ absdist z (vadd (g x) z) = absdist (repeat 0%Z n) (g x).
Proof.
  intros z; assert (Hz : length z = n) by apply sum_query_length.
  replace z with (vadd z (repeat 0%Z n)) at 1 3 by (rewrite vadd_comm; now apply vadd_0).
  rewrite (vadd_comm (g x)), sqdist_shift, absdist_shift by (rewrite ?repeat_length, ?g_length; auto); auto.
Qed.

(** @theorem sum-replace-sensitivity
    Each record contributes an integer vector of n coordinates and any two contributions
    are at most D2 apart in squared l2 norm (D1 in l1 norm). The sum over all records has
    squared l2 sensitivity D2 (l1 sensitivity D1) when one record is replaced. *)
Theorem sum_replace_sens D2 D1 :
  (forall x y, IZR (sqdist (g x) (g y)) <= D2) -> (forall x y, IZR (absdist (g x) (g y)) <= D1) ->
  l2sq_sens replace_one sum_query D2 /\ l1_sens replace_one sum_query D1.
Proof.
  intros H2 H1; split; intros d d' (l1 & x & y & l2 & -> & ->); (split; [now rewrite !sum_query_length|]);
    destruct (sum_query_dist l1 (x :: l2) (y :: l2)) as [E2 E1]; destruct (sum_query_swap x y l2) as [F2 F1].
  - rewrite E2; simpl; fold (sum_query l2); rewrite F2; auto.
  - rewrite E1; simpl; fold (sum_query l2); rewrite F1; auto.
Qed.
(** @theorem sum-add-remove-sensitivity
    Each record contributes an integer vector of n coordinates with squared l2 norm at most
    D2 (l1 norm at most D1). The sum over all records has squared l2 sensitivity D2
    (l1 sensitivity D1) when one record is added or removed. *)
Theorem sum_add_remove_sens D2 D1 :
  (forall x, IZR (sqdist (repeat 0%Z n) (g x)) <= D2) -> (forall x, IZR (absdist (repeat 0%Z n) (g x)) <= D1) ->
  l2sq_sens add_remove sum_query D2 /\ l1_sens add_remove sum_query D1.
Proof.
  intros H2 H1.
  assert (S2 : forall x y, sqdist x y = sqdist y x).
  { induction x as [|a x IH]; intros [|b y]; auto; simpl; rewrite IH; ring. }
  assert (S1 : forall x y, absdist x y = absdist y x).
  { induction x as [|a x IH]; intros [|b y]; auto; simpl; rewrite IH; lia. }
  assert (K : forall l1 (x : U) l2,
    IZR (sqdist (sum_query (l1 ++ l2)) (sum_query (l1 ++ x :: l2))) <= D2 /\
    IZR (absdist (sum_query (l1 ++ l2)) (sum_query (l1 ++ x :: l2))) <= D1).
  { intros l1 x l2; destruct (sum_query_dist l1 l2 (x :: l2)) as [E2 E1]; destruct (sum_query_new x l2) as [F2 F1].
    rewrite E2, E1; simpl; fold (sum_query l2); rewrite F2, F1; auto. }
  split; intros d d' [(l1 & x & l2 & -> & ->)|(l1 & x & l2 & -> & ->)]; (split; [now rewrite !sum_query_length|]);
    try (apply K); [rewrite S2|rewrite S1]; apply K.
Qed.
End Sums.

(* ---------- one-hot contributions ---------- *)
Local Open Scope Z_scope.
(* coordinate i of n is 1, the others 0 *)
Fixpoint one_hot (n i : nat) : list Z :=
  match n, i with
  | O, _ => []
  | S n, O => 1 :: repeat 0 n
  | S n, S i => 0 :: one_hot n i
  end.
Lemma one_hot_length n i : length (one_hot n i) = n.
Proof. revert i; induction n as [|n IH]; intros [|i]; simpl; auto; now rewrite repeat_length. Qed.
Lemma sq_refl x : sqdist x x = 0.
Proof. induction x as [|a x IH]; simpl; auto; rewrite IH; ring. Qed.
Lemma abs_refl x : absdist x x = 0.
Proof. induction x as [|a x IH]; simpl; auto; rewrite IH, Z.sub_diag; reflexivity. Qed.
Lemma one_hot_0 n i : sqdist (repeat 0 n) (one_hot n i) <= 1 /\ absdist (repeat 0 n) (one_hot n i) <= 1.
Proof.
  revert i; induction n as [|n IH]; intros [|i]; cbn [one_hot sqdist absdist repeat]; try lia.
  - rewrite sq_refl, abs_refl; lia.
  - destruct (IH i); lia.
Qed.
Lemma one_hot_0' n i : sqdist (one_hot n i) (repeat 0 n) <= 1 /\ absdist (one_hot n i) (repeat 0 n) <= 1.
Proof.
  revert i; induction n as [|n IH]; intros [|i]; cbn [one_hot sqdist absdist repeat]; try lia.
  - rewrite sq_refl, abs_refl; lia.
  - destruct (IH i); lia.
Qed.
Lemma one_hot_dist n i j : sqdist (one_hot n i) (one_hot n j) <= 2 /\ absdist (one_hot n i) (one_hot n j) <= 2.
Proof.
  revert i j; induction n as [|n IH]; intros [|i] [|j]; cbn [one_hot sqdist absdist]; try lia.
  - rewrite sq_refl, abs_refl; lia.
  - pose proof (one_hot_0 n j); lia.
  - pose proof (one_hot_0' n i); lia.
  - destruct (IH i j); lia.
Qed.

(* a trajectory visits, at each of its H steps, one of m1 pairs (s,a) and one of m2
   triples (s,a,s'); it contributes both one-hot vectors at each step *)
Fixpoint visits (m1 m2 H : nat) (cell : nat -> nat * nat) : list Z :=
  match H with
  | O => []
  | S h => one_hot m1 (fst (cell h)) ++ one_hot m2 (snd (cell h)) ++ visits m1 m2 h cell
  end.
Lemma visits_length m1 m2 H cell : length (visits m1 m2 H cell) = (H * (m1 + m2))%nat.
Proof. induction H as [|h IH]; simpl; auto; rewrite !app_length, !one_hot_length, IH; lia. Qed.
Lemma visits_dist m1 m2 H x y :
  sqdist (visits m1 m2 H x) (visits m1 m2 H y) <= 4 * Z.of_nat H /\
  absdist (visits m1 m2 H x) (visits m1 m2 H y) <= 4 * Z.of_nat H.
Proof.
  induction H as [|h [I2 I1]]; simpl visits; [simpl; lia|].
  rewrite !sqdist_app, !absdist_app by (rewrite !one_hot_length; auto).
  pose proof (one_hot_dist m1 (fst (x h)) (fst (y h))); pose proof (one_hot_dist m2 (snd (x h)) (snd (y h))); lia.
Qed.
Local Open Scope R_scope.
(** @theorem visit-counts-sensitivity
    A record is a trajectory of H steps. The visit counts of all (s,a) and all (s,a,s') at
    every step have squared l2 sensitivity 4H and l1 sensitivity 4H when one trajectory
    is replaced. *)
Theorem visit_counts_sens (m1 m2 H : nat) :
  let f := sum_query (H * (m1 + m2)) (visits m1 m2 H) in
  l2sq_sens replace_one f (4 * IZR (Z.of_nat H)) /\ l1_sens replace_one f (4 * IZR (Z.of_nat H)).
Proof.
  intros f; apply sum_replace_sens.
  - apply visits_length.
  - intros x y; rewrite <- mult_IZR; apply IZR_le, visits_dist.
  - intros x y; rewrite <- mult_IZR; apply IZR_le, visits_dist.
Qed.
Example visit_counts_twenty : l2sq_sens replace_one (sum_query (20 * (12 + 36)) (visits 12 36 20)) (4 * 20).
Proof. apply (visit_counts_sens 12 36 20). Qed.
