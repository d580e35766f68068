(* The two neighbour relations of the library, on datasets that are lists of
   records.  A record is whatever one unit of privacy contributes: one person,
   one trajectory, one expert. *)
From Coq Require Import List Lia.
Import ListNotations.

(* one record replaced by another; the number of records is public *)
Definition replace_one {U : Type} (d d' : list U) : Prop :=
  exists l1 x y l2, d = l1 ++ x :: l2 /\ d' = l1 ++ y :: l2.
(* one record added, or one removed *)
Definition adds_one {U : Type} (d d' : list U) : Prop :=
  exists l1 x l2, d = l1 ++ l2 /\ d' = l1 ++ x :: l2.
Definition add_remove {U : Type} (d d' : list U) : Prop := adds_one d d' \/ adds_one d' d.

Lemma replace_one_sym {U} (d d' : list U) : replace_one d d' -> replace_one d' d.
Proof. intros (l1 & x & y & l2 & H & H'); exists l1, y, x, l2; auto. Qed.
Lemma add_remove_sym {U} (d d' : list U) : add_remove d d' -> add_remove d' d.
Proof. unfold add_remove; tauto. Qed.
Lemma replace_one_length {U} (d d' : list U) : replace_one d d' -> length d = length d'.
Proof. intros (l1 & x & y & l2 & -> & ->); rewrite !app_length; simpl; lia. Qed.
(* a replacement is a removal followed by an addition *)
Lemma replace_one_two_steps {U} (d d' : list U) :
  replace_one d d' -> exists c, add_remove d c /\ add_remove c d'.
Proof.
  intros (l1 & x & y & l2 & -> & ->); exists (l1 ++ l2); split.
  - right; exists l1, x, l2; auto.
  - left; exists l1, y, l2; auto.
Qed.
