(* Joint differential privacy through a public board: everybody reads the same
   private board and combines it with her own data. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
From Assay.rules Require Import Process Vectors Neighbours Renyi Postprocess.
From Assay.mechanisms Require Import Laplace.
Import ListNotations.
Local Open Scope R_scope.

(* the values of user number i differ, everybody else's are the same *)
Definition replace_at {X} (i : nat) (d d' : list X) : Prop :=
  exists l1 x y l2, length l1 = i /\ d = l1 ++ x :: l2 /\ d' = l1 ++ y :: l2.
Lemma replace_at_one {X} i (d d' : list X) : replace_at i d d' -> replace_one d d'.
Proof. intros (l1 & x & y & l2 & _ & H); exists l1, x, y, l2; auto. Qed.

(* the users other than i, with their numbers (s is the number of the first) *)
Fixpoint others {X} (i s : nat) (d : list X) : list (nat * X) :=
  match d with
  | [] => []
  | x :: d => if Nat.eqb s i then others i (S s) d else (s, x) :: others i (S s) d
  end.
Lemma others_same {X} i (d d' : list X) : replace_at i d d' -> others i 0 d = others i 0 d'.
Proof.
  intros (l1 & x & y & l2 & <- & -> & ->).
  enough (G : forall s, others (s + length l1) s (l1 ++ x :: l2) = others (s + length l1) s (l1 ++ y :: l2))
    by exact (G 0%nat).
  induction l1 as [|a l1 IH]; intros s; simpl.
  - rewrite Nat.add_0_r, Nat.eqb_refl; auto.
  - replace (s + S (length l1))%nat with (S s + length l1)%nat by lia.
    rewrite (IH (S s)); auto.
Qed.

Section Billboard.
Context {X T Y : Type} (eqT : forall x y : T, {x = y} + {x <> y}) (eqY : forall x y : Y, {x = y} + {x <> y}).
(* what user j, holding x, does after reading the board; it may be random *)
Variable respond : nat -> T -> X -> dist Y.
Fixpoint responses (b : T) (us : list (nat * X)) : dist (list Y) :=
  match us with
  | [] => dret (leqd eqY) []
  | (j, x) :: us => cons_dist eqY (respond j b x) (fun _ => responses b us)
  end.
(* the board, and what everybody but user i does *)
Definition view (B : list X -> dist T) (i : nat) (d : list X) : dist (T * list Y) :=
  joint_dist eqT (B d) (fun b => responses b (others i 0 d)).
(* M is jointly private: for every user i, what the others receive hardly depends on i *)
Definition joint_dp {V} eps delta (V_i : nat -> list X -> dist V) : Prop :=
  forall i, dp_mech (replace_at i) eps delta (V_i i).

(** @theorem billboard
    The board B is (eps, delta)-DP when one user's data is replaced. Every user's
    output is a (randomised) function of the board and of her own data only. Then
    for every user i the board together with the outputs of all other users is
    (eps, delta)-DP in the data of user i: the outputs are jointly (eps, delta)-DP. *)
Theorem billboard (B : list X -> dist T) eps delta :
  dp_mech replace_one eps delta B -> joint_dp eps delta (view B).
Proof.
  intros H i d d' A; unfold view; rewrite <- (others_same i d d' A).
  rewrite <- (Rplus_0_r eps), <- (Rplus_0_r delta); apply dp_compose; [lra| |].
  - apply H, (replace_at_one i), A.
  - intros b; apply dp_refl; [apply pmf_ge0|lra|lra].
Qed.
(** @theorem billboard-zcdp
    The same with zCDP: a rho-zCDP board gives outputs of the others that are
    rho-zCDP in the data of each user. *)
Theorem billboard_zcdp (B : list X -> dist T) rho :
  zcdp_mech replace_one rho B -> forall i, zcdp_mech (replace_at i) rho (view B i).
Proof.
  intros H i d d' A; unfold view; rewrite <- (others_same i d d' A).
  rewrite <- (Rplus_0_r rho); apply zcdp_compose.
  - apply H, (replace_at_one i), A.
  - intros b; apply zcdp_refl; lra.
Qed.
End Billboard.

(* ---------- instance ---------- *)
(* the board is a noisy count of ones; user j compares it with her own number *)
Definition ones (d : list Z) : Z := fold_right (fun x s => (Z.min 1 (Z.max 0 x) + s)%Z) 0%Z d.
Lemma ones_sens : sens replace_one ones 1.
Proof.
  intros d d' (l1 & x & y & l2 & -> & ->); unfold ones.
  induction l1 as [|a l1 IH]; simpl; lia.
Qed.
Example compare_with_board : joint_dp (1 / (4 / 1)) 0
  (view Z.eq_dec Bool.bool_dec (fun _ b x => dret Bool.bool_dec (Z.leb b x))
     (fun d => laplace (prat 4 1) (ones d))).
Proof. apply billboard, (laplace_scalar _ _ 1 (prat 4 1)), ones_sens. Qed.
