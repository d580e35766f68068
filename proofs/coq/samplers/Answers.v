(* Two mechanisms as functions of the tape, for any noise sampler: sparse vector and
   report noisy max.  Their laws are in mechanisms/OnTape.v. *)
From Coq Require Import Reals List ZArith.
From Assay.samplers Require Import Tape.
Import List ListNotations.

(* ---------- executable part ---------- *)
Section Answers.
Variable noise : sampler Z.              (* fresh for every question *)
Variable query : list bool -> Z.         (* the next query after these answers *)
Variable threshold : list bool -> Z.
(* z: noise of the threshold; c: answers "above" left; n: questions left *)
Fixpoint answers (z : Z) (c : nat) (past : list bool) (n : nat) : sampler (list bool) :=
  match n, c with
  | S n, S c' => bind noise (fun y =>
      if (threshold past + z <=? query past + y)%Z
      then smap (cons true) (answers z c' (past ++ [true]) n)
      else smap (cons false) (answers z c (past ++ [false]) n))
  | _, _ => ret []
  end.
(* the threshold's noise is drawn first, and once *)
Definition sparse_vector_tape (first : sampler Z) (c n : nat) : sampler (list bool) :=
  bind first (fun z => answers z c [] n).
End Answers.

(* noise on every score, in order; then the position of the first largest sum *)
Fixpoint noisy (noise : sampler Z) (q : list Z) : sampler (list Z) :=
  match q with
  | [] => ret []
  | x :: q => bind noise (fun y => smap (cons (x + y)%Z) (noisy noise q))
  end.
(* best: its position and value so far; i: position of the next *)
Fixpoint first_largest (best : nat) (value : Z) (i : nat) (l : list Z) : nat :=
  match l with
  | [] => best
  | x :: l => if (x <=? value)%Z then first_largest best value (S i) l else first_largest i x (S i) l
  end.
Definition position (l : list Z) : nat := match l with [] => O | x :: l => first_largest 0 x 1 l end.
Definition noisy_max_tape (noise : sampler Z) (q : list Z) : sampler nat := smap position (noisy noise q).

Lemma pd_answers noise query threshold z n : pd noise -> forall c past, pd (answers noise query threshold z c past n).
Proof.
  intros Hn; induction n as [|n IH]; intros c past; [apply pd_ret|]; destruct c as [|c]; [apply pd_ret|].
  cbn [answers]; apply pd_bind; auto; intros y; destruct (_ <=? _)%Z; apply pd_map, IH.
Qed.
Lemma pd_sparse_vector_tape noise query threshold first c n : pd noise -> pd first -> pd (sparse_vector_tape noise query threshold first c n).
Proof. intros Hn Hf; apply pd_bind; auto; intros z; now apply pd_answers. Qed.
Lemma pd_noisy noise q : pd noise -> pd (noisy noise q).
Proof. intros Hn; induction q as [|x q IH]; [apply pd_ret|]; cbn [noisy]; apply pd_bind; auto; intros y; now apply pd_map. Qed.
