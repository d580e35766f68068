(* Distributions with finite support. *)
From Coq Require Import Reals Lra Lia List.
From Assay.base Require Import DP ZCDP.
Import ListNotations.
Local Open Scope R_scope.

Lemma lsum_const {T} (c : R) (l : list T) : lsum (fun _ => c) l = INR (length l) * c.
Proof. induction l as [|x l IH]; [simpl; lra|]; cbn [lsum length]; rewrite IH, S_INR; lra. Qed.

Section Finite.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).

(* f vanishes off l: the finite sum over l is the sum over the whole type *)
Lemma has_sum_finite (f : T -> R) (l : list T) :
  NoDup l -> (forall x, 0 <= f x) -> (forall x, ~ In x l -> f x = 0) -> has_sum f (lsum f l).
Proof.
  intros Hl H0 Hz; apply has_sum_intro; [|intros b Hb; now apply Hb].
  intros l' Hl'.
  set (inl := fun x => if in_dec eqd x l then true else false).
  apply Rle_trans with (lsum f (filter inl l')).
  - rewrite lsum_filter; apply lsum_le; intros x _; unfold inl.
    destruct (in_dec eqd x l) as [|N]; [lra|rewrite (Hz x N); lra].
  - apply lsum_incl; auto; [now apply NoDup_filter|].
    intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inl in Hx; destruct (in_dec eqd x l); easy.
Qed.

Lemma has_sum_finite_eq (f : T -> R) (l : list T) s : lsum f l = s ->
  NoDup l -> (forall x, 0 <= f x) -> (forall x, ~ In x l -> f x = 0) -> has_sum f s.
Proof. intros <-; apply has_sum_finite. Qed.

(* weights w on the duplicate-free list l, zero elsewhere *)
Definition on_list (l : list T) (w : T -> R) (x : T) : R := if in_dec eqd x l then w x else 0.
Definition list_dist (l : list T) (w : T -> R) (Hl : NoDup l) (Hw : forall x, 0 <= w x)
  (H1 : lsum w l = 1) : dist T.
Proof.
  refine {| pmf := on_list l w |}.
  - intros x; unfold on_list; destruct (in_dec eqd x l); [apply Hw|lra].
  - rewrite <- H1, (lsum_ext w (on_list l w)).
    + apply has_sum_finite; auto; unfold on_list; intros x; destruct (in_dec eqd x l); auto; try lra; easy.
    + intros x Hx; unfold on_list; destruct (in_dec eqd x l); easy.
Defined.
End Finite.

(* eps of a bounded probability ratio *)
Lemma dp_ratio {T} c (P Q : T -> R) : 0 < c -> (forall x, P x <= c * Q x) -> dp (ln c) 0 P Q.
Proof. intros Hc H; apply dp_pointwise; intros x; rewrite exp_ln; auto. Qed.
