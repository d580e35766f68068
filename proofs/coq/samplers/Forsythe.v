(* CKS20 Algorithm 1, 0 <= g <= 1:
     K := 1; loop { A ~ Bernoulli(g/K); if A = 0 break; K := K+1 };  return (K odd)
   out b n K = probability that the loop entered with counter K stops within n
   rounds and returns b. *)
From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Local Open Scope R_scope.

Section Forsythe.
Variable g : R.
Hypothesis Hg : 0 <= g <= 1.

Fixpoint out (b : bool) (n K : nat) : R :=
  match n with
  | O => 0
  | S n => g / INR K * out b n (S K)                                     (* A = 1 *)
           + (1 - g / INR K) * (if Bool.eqb (Nat.odd K) b then 1 else 0)  (* A = 0 *)
  end.

Definition w (j : nat) := g ^ j / INR (fact j).      (* = Pr[K > j] *)
Lemma wS j : w (S j) = w j * (g / INR (S j)).
Proof.
  unfold w; rewrite fact_simpl, mult_INR; simpl (g ^ S j).
  field; split; [apply not_0_INR; lia|apply INR_fact_neq_0].
Qed.

(* sum over rounds j = k .. k+n-1 *)
Fixpoint T b (n k : nat) : R :=
  match n with O => 0 | S n => (w k - w (S k)) * (if Bool.eqb (Nat.odd (S k)) b then 1 else 0) + T b n (S k) end.
Lemma out_T b n : forall k, w k * out b n (S k) = T b n k.
Proof.
  induction n as [|n IH]; intros k; cbn [out T]; [ring|].
  rewrite <- IH, wS; ring.
Qed.
Lemma T_last b n : forall k, T b (S n) k = T b n k + (w (n + k) - w (S (n + k))) * (if Bool.eqb (Nat.odd (S (n + k))) b then 1 else 0).
Proof.
  induction n as [|n IH]; intros k; [simpl; ring|].
  change (T b (S (S n)) k) with ((w k - w (S k)) * (if Bool.eqb (Nat.odd (S k)) b then 1 else 0) + T b (S n) (S k)).
  rewrite IH; cbn [T]; replace (S n + k)%nat with (n + S k)%nat by lia; ring.
Qed.
Lemma T_true n : T true n 0 = sum_n (fun i => (-1) ^ i * w i) n - (if Nat.even n then w n else 0).
Proof.
  induction n as [|n IH]; [simpl; rewrite sum_O; simpl; ring|].
  rewrite T_last, IH, sum_Sn, Nat.add_0_r; match goal with |- context [plus ?a ?b] => change (plus a b) with (Rplus a b) end.
  rewrite Nat.odd_succ, Nat.even_succ; rewrite <- Nat.negb_even.
  destruct (Nat.even n) eqn:E; simpl Bool.eqb; simpl negb; cbv iota.
  - apply Nat.even_spec in E; destruct E as [m ->]; rewrite <- tech_pow_Rmult, pow_1_even; ring.
  - assert (O : Nat.odd n = true) by (rewrite <- Nat.negb_even, E; auto).
    apply Nat.odd_spec in O; destruct O as [m ->]; rewrite Nat.add_1_r, <- !tech_pow_Rmult, pow_1_even; ring.
Qed.
Lemma T_both n : T true n 0 + T false n 0 = 1 - w n.
Proof.
  induction n as [|n IH]; [unfold w; simpl; field|].
  rewrite !T_last, Nat.add_0_r; destruct (Nat.odd (S n)); simpl Bool.eqb; cbv iota; lra.
Qed.
Lemma w_series : is_series (fun i => (-1) ^ i * w i) (exp (- g)).
Proof.
  pose proof (is_exp_Reals (- g)) as H; unfold is_pseries in H.
  eapply is_series_ext; [|exact H]; intros n; unfold scal; simpl; unfold mult; simpl.
  rewrite pow_n_pow; unfold w; replace (- g) with (-1 * g) by ring; rewrite Rpow_mult_distr; field; apply INR_fact_neq_0.
Qed.
Lemma w_lim : is_lim_seq w 0.
Proof.
  pose proof (is_exp_Reals g) as H; unfold is_pseries in H.
  assert (ex_series w).
  { exists (exp g); eapply is_series_ext; [|exact H]; intros n; unfold scal; simpl; unfold mult; simpl.
    rewrite pow_n_pow; unfold w; field; apply INR_fact_neq_0. }
  now apply ex_series_lim_0.
Qed.

Lemma out_1 b n : out b n 1 = T b n 0.
Proof. rewrite <- out_T; unfold w; simpl; field. Qed.

Theorem forsythe_true : is_lim_seq (fun n => out true n 1) (exp (- g)).
Proof.
  eapply is_lim_seq_ext; [intros n; symmetry; rewrite out_1; apply T_true|].
  replace (Finite (exp (- g))) with (Finite (exp (- g) - 0)) by (f_equal; ring).
  apply is_lim_seq_minus'; [exact w_series|].
  apply is_lim_seq_le_le with (u := fun _ => 0) (w := w); [|apply is_lim_seq_const|apply w_lim].
  intros n; assert (0 <= w n) by (apply Rdiv_le_0_compat; [apply pow_le; lra|apply INR_fact_lt_0]).
  destruct (Nat.even n); lra.
Qed.
Theorem forsythe_false : is_lim_seq (fun n => out false n 1) (1 - exp (- g)).
Proof.
  eapply is_lim_seq_ext with (u := fun n => (1 - w n) - out true n 1).
  - intros n; rewrite !out_1; pose proof (T_both n); lra.
  - apply is_lim_seq_minus'; [|exact forsythe_true].
    replace (Finite 1) with (Finite (1 - 0)) by (f_equal; ring).
    apply is_lim_seq_minus'; [apply is_lim_seq_const|apply w_lim].
Qed.
End Forsythe.
