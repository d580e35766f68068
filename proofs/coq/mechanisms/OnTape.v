(* The laws of sparse vector and report noisy max as functions of the tape: with
   noise samplers of the discrete Laplace laws they have exactly the laws of which
   SparseVector.v and Exponential.v prove the privacy.  The functions are the
   ones that are extracted and run beside the C code. *)
From Coq Require Import Reals Lra Lia List ZArith Bool.
From Assay.base Require Import DP DiscreteLaplace.
From Assay.rules Require Import Process Vectors Postprocess.
From Assay.samplers Require Import Tape Laplace Answers.
From Assay.mechanisms Require Import SparseVector Exponential.
Import List ListNotations.
Local Open Scope R_scope.

Lemma mass_ret {A} `{Eqd A} (a x : A) : mass (ret a) x = if eqd a x then 1 else 0.
Proof. unfold mass; rewrite L_ret; reflexivity. Qed.
(* the sum that a bind is, on both sides *)
Lemma mass_bind_dist {U} `{EU : Eqd U} (eqU : forall x y : U, {x = y} + {x <> y}) (s : sampler Z) (k : Z -> sampler U)
  (P : dist Z) (K : Z -> dist U) (m : Z) u :
  pd s -> (forall y, pd (k y)) -> (forall y, mass s y = P (y + m)%Z) -> (forall y, mass (k y) u = K (y + m)%Z u) ->
  mass (bind s k) u = bind_dist Z.eq_dec eqU P K u.
Proof.
  intros Hs Hk HP HK; unfold mass at 1; rewrite L_bind by auto with smp.
  eapply has_sum_uniq; [apply L_sum; auto; apply tst_L; auto with smp|].
  eapply has_sum_ext; [|apply (has_sum_bij (fun a => P a * K a u) (fun a => (a + m)%Z) (fun a => (a - m)%Z));
    [intros; lia|intros; lia|apply (bind_pmf_is_bind P K u)]].
  intros y; simpl; rewrite <- HK, <- HP; reflexivity.
Qed.
Lemma laplace_at (t : posreal) m y : laplace t 0 y = laplace t m (y + m)%Z.
Proof. simpl; f_equal; f_equal; lia. Qed.
Lemma mass_prefix b (s : sampler (list bool)) l : pd s -> mass (smap (cons b) s) l = prefix_pmf b (mass s) l.
Proof.
  intros Hs; unfold mass at 1; rewrite L_map by auto with smp; destruct l as [|x l]; simpl.
  - rewrite (L_fext _ _ (fun _ => 0)); [apply L_0|]; intros a; apply ind_ne; discriminate.
  - destruct (bool_dec x b) as [->|N].
    + unfold mass; apply L_fext; intros a; unfold ind; destruct (eqd (b :: a) (b :: l)), (eqd a l); congruence.
    + rewrite (L_fext _ _ (fun _ => 0)); [apply L_0|]; intros a; apply ind_ne; congruence.
Qed.

Section SparseVector.
Context {D : Type}.
Variables t1 t2 : posreal.
Variable query : list bool -> D -> Z.
Variable threshold : list bool -> Z.
Variables first noise : sampler Z.
Hypothesis Hf : pd first.
Hypothesis Hn : pd noise.
Hypothesis Lf : has_law first (laplace t1 0).
Hypothesis Ln : has_law noise (laplace t2 0).

Lemma mass_answers z d n : forall c past l,
  mass (answers noise (fun p => query p d) threshold z c past n) l = ask t2 query threshold z c past n d l.
Proof.
  pose proof (proj1 (has_law_mass noise Hn _ Ln)) as Hm.
  assert (Hr : forall l, mass (ret []) l = dret beq [] l).
  { intros l; rewrite mass_ret; simpl; destruct (eqd [] l), (beq l []); congruence. }
  induction n as [|n IH]; intros c past l; [apply Hr|]; destruct c as [|c]; [apply Hr|].
  cbn [answers ask]; apply (mass_bind_dist _ _ _ _ _ (query past d)); auto.
  - intros y; destruct (_ <=? _)%Z; apply pd_map; now apply pd_answers.
  - intros y; rewrite Hm; apply laplace_at.
  - intros y; rewrite (Z.add_comm y); destruct (_ <=? _)%Z; (rewrite mass_prefix by (now apply pd_answers));
      destruct l as [|x l]; simpl; auto; destruct (bool_dec x _); auto.
Qed.
(** @theorem sparse-vector-tape
    Sparse vector as a function of the tape (the function that is extracted and compared with the C code): if the
    samplers of the threshold's and of the queries' noise have the discrete Laplace laws of scales t1 and t2, then its
    answers have exactly the law of sparse-vector, and it stops almost surely. *)
Theorem sparse_vector_tape_law c n d :
  has_law (sparse_vector_tape noise (fun p => query p d) threshold first c n) (svt t1 t2 query threshold c n d).
Proof.
  apply has_law_intro; [now apply pd_sparse_vector_tape| |apply pmf_sum]; intros l.
  unfold sparse_vector_tape, svt; apply (mass_bind_dist _ _ _ _ _ 0%Z); auto.
  - intros z; now apply pd_answers.
  - intros z; rewrite Z.add_0_r; apply (proj1 (has_law_mass first Hf _ Lf)).
  - intros z; rewrite Z.add_0_r; apply mass_answers.
Qed.
End SparseVector.

Section NoisyMax.
Variable t : posreal.
Variable noise : sampler Z.
Hypothesis Hn : pd noise.
Hypothesis Ln : has_law noise (laplace t 0).
Lemma mass_noisy q : forall x, mass (noisy noise q) x = laplace_vec t q x.
Proof.
  pose proof (proj1 (has_law_mass noise Hn _ Ln)) as Hm.
  induction q as [|a q IH]; intros x.
  - unfold laplace_vec; simpl noisy; rewrite mass_ret; simpl; destruct (eqd [] x), x; simpl; try congruence; auto.
  - cbn [noisy]; unfold mass; rewrite L_bind by (auto with smp; intros; apply pd_map, pd_noisy; auto).
    destruct x as [|b x].
    + rewrite (L_fext _ _ (fun _ => 0)); [apply L_0|]; intros y; rewrite L_map by (auto with smp; now apply pd_noisy).
      rewrite (L_fext _ _ (fun _ => 0)); [apply L_0|]; intros v; apply ind_ne; discriminate.
    + rewrite (L_fext _ _ (fun y => mass (noisy noise q) x * ind (b - a)%Z y)).
      * rewrite L_scal by auto with smp; change (L noise (ind (b - a)%Z)) with (mass noise (b - a)%Z); rewrite Hm, IH.
        rewrite (laplace_at t a); replace (b - a + a)%Z with b by lia; unfold laplace_vec; simpl; ring.
      * intros y; rewrite L_map by (auto with smp; now apply pd_noisy); unfold mass.
        destruct (Z.eq_dec y (b - a)) as [->|N].
        -- rewrite ind_eq, Rmult_1_r; apply L_fext; intros v; unfold ind.
           destruct (eqd (a + (b - a) :: v)%Z (b :: x)) as [E|E], (eqd v x) as [F|F]; auto.
           ++ inversion E; congruence.
           ++ exfalso; apply E; f_equal; [lia|auto].
        -- rewrite (ind_ne (b - a)%Z y), Rmult_0_r by auto.
           rewrite (L_fext _ _ (fun _ => 0)); [apply L_0|]; intros v; apply ind_ne; intros E; inversion E; lia.
Qed.
Lemma first_largest_wins l : forall best value i before, length before = i -> (best < i)%nat ->
  nth best before 0%Z = value -> (forall j, (j < i)%nat -> (nth j before 0 <= value)%Z) ->
  (forall j, (j < best)%nat -> (nth j before 0 < value)%Z) -> wins (first_largest best value i l) (before ++ l).
Proof.
  induction l as [|x l IH]; intros best value i before Hi Hb Hv H1 H2; cbn [first_largest].
  - rewrite app_nil_r; split; [lia|split]; rewrite Hv; auto; intros j Hj; apply H1; lia.
  - replace (before ++ x :: l) with ((before ++ [x]) ++ l) by (rewrite <- app_assoc; auto).
    assert (Hx : nth i (before ++ [x]) 0%Z = x) by (rewrite app_nth2, Hi, Nat.sub_diag by lia; auto).
    assert (Ho : forall j, (j < i)%nat -> nth j (before ++ [x]) 0%Z = nth j before 0%Z) by (intros; apply app_nth1; lia).
    destruct (Z.leb_spec x value) as [L|L]; apply IH; try (rewrite app_length; simpl; lia); try lia; auto.
    + rewrite Ho by lia; auto.
    + intros j Hj; destruct (Nat.eq_dec j i) as [->|]; [rewrite Hx; auto|rewrite Ho by lia; apply H1; lia].
    + intros j Hj; rewrite Ho by lia; now apply H2.
    + intros j Hj; destruct (Nat.eq_dec j i) as [->|]; [rewrite Hx; lia|rewrite Ho by lia; specialize (H1 j ltac:(lia)); lia].
    + intros j Hj; rewrite Ho by lia; specialize (H1 j Hj); lia.
Qed.
Lemma position_argmax l : position l = argmax l.
Proof.
  destruct l as [|x l]; auto; apply (wins_unique _ _ (x :: l)); [|apply argmax_wins; discriminate].
  unfold position; apply (first_largest_wins l 0 x 1 [x]); simpl; auto; intros [|j] Hj; simpl; lia.
Qed.
(** @theorem noisy-max-tape
    Report noisy max as a function of the tape (the function that is extracted and compared with the C code): if the
    sampler of the noise has the discrete Laplace law of scale t, then the position that it reports has exactly the law
    of noisy-max, and it stops almost surely. *)
Theorem noisy_max_tape_law q : has_law (noisy_max_tape noise q) (noisy_max t q).
Proof.
  apply has_law_intro; [apply pd_map; now apply pd_noisy| |apply pmf_sum]; intros i.
  unfold noisy_max_tape; unfold mass; rewrite L_map by (auto with smp; now apply pd_noisy).
  eapply has_sum_uniq; [apply L_sum; [now apply pd_noisy|intros a; apply tst_ind]|].
  eapply has_sum_ext; [|apply (bind_pmf_is_bind (laplace_vec t q) (fun a => dret Nat.eq_dec (argmax a)) i)].
  intros a; cbv beta; rewrite mass_noisy; f_equal; simpl; unfold ind; rewrite position_argmax.
  destruct (eqd (argmax a) i), (Nat.eq_dec i (argmax a)); congruence.
Qed.
End NoisyMax.

(* the noise by rational rejection: the whole mechanism on the tape *)
Example sparse_vector_on_tape c n (d : list Z) :
  has_law (sparse_vector_tape (discrete_laplace 1 4) (fun p => exceed d (next_cut p)) (fun _ => 3%Z) (discrete_laplace 1 2) c n)
    (svt (mkposreal _ (scale_pos 1 2 ltac:(lia) ltac:(lia))) (mkposreal _ (scale_pos 1 4 ltac:(lia) ltac:(lia)))
       (fun p d => exceed d (next_cut p)) (fun _ => 3%Z) c n d).
Proof.
  apply sparse_vector_tape_law; auto with smp; apply discrete_laplace_law; lia.
Qed.
