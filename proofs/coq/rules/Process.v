(* Programs of releases.  A process is a tree: it ends, or it makes one release
   and goes on as it likes, knowing every earlier output.  Which mechanism comes
   next, and whether there is a next one, may depend on all earlier outputs
   (full adaptivity); it may not depend on the data except through them. *)
From Coq Require Import Reals Lra Lia List FinFun.
From Assay.base Require Import DP DiscreteLaplace ZCDP.
Import ListNotations.
Local Open Scope R_scope.

(* ---------- sums carried along an injection ---------- *)
Fixpoint opts {T} (l : list (option T)) : list T :=
  match l with [] => [] | Some x :: l => x :: opts l | None :: l => opts l end.
Lemma opts_In {T} (l : list (option T)) x : In x (opts l) -> In (Some x) l.
Proof. induction l as [|[y|] l IH]; simpl; intuition congruence. Qed.

(* k is a partial inverse of the injection h; f is 0 off the image of h *)
Lemma has_sum_image {T U} (f : T -> R) (h : U -> T) (k : T -> option U) s :
  (forall x, 0 <= f x) -> (forall u, k (h u) = Some u) ->
  (forall t u, k t = Some u -> h u = t) -> (forall t, k t = None -> f t = 0) ->
  has_sum (fun u => f (h u)) s -> has_sum f s.
Proof.
  intros Hf H1 H2 H0 Hs; apply has_sum_intro.
  - intros l Hl.
    assert (E : lsum f l = lsum (fun u => f (h u)) (opts (map k l))).
    { clear Hl; induction l as [|t l IH]; simpl; auto.
      destruct (k t) as [u|] eqn:K; simpl; rewrite IH.
      - rewrite (H2 _ _ K); auto.
      - rewrite (H0 _ K); lra. }
    rewrite E; apply (has_sum_ub _ _ _ Hs).
    clear E; induction Hl as [|t l Ht Hl IH]; simpl; [constructor|].
    destruct (k t) as [u|] eqn:K; auto; constructor; auto.
    intros Hi; apply opts_In, in_map_iff in Hi; destruct Hi as [t' [K' Hi]].
    apply Ht; rewrite <- (H2 _ _ K), (H2 _ _ K'); auto.
  - intros b Hb; eapply has_sum_lub; eauto; intros l Hl; rewrite <- lsum_map; apply Hb.
    apply Injective_map_NoDup; auto; intros x y E.
    assert (Some x = Some y) by (rewrite <- !H1, E; auto); congruence.
Qed.

(* ---------- point mass; first output then the rest ---------- *)
Section Lists.
Context {T : Type} (eqd : forall x y : T, {x = y} + {x <> y}).

Lemma dret_sum (x0 : T) : has_sum (fun x => if eqd x x0 then 1 else 0) 1.
Proof.
  apply has_sum_intro.
  - intros l Hl; destruct (in_dec eqd x0 l) as [Hi|Hi]; [rewrite lsum_pick; auto; lra|].
    rewrite (lsum_ext _ (fun _ => 0 * 0)), lsum_scal; [lra|].
    intros y Hy; destruct (eqd y x0) as [->|]; [contradiction|lra].
  - intros b Hb; specialize (Hb [x0] ltac:(repeat constructor; easy)); simpl in Hb.
    destruct (eqd x0 x0); [lra|easy].
Qed.
Definition dret (x0 : T) : dist T.
Proof.
  refine {| pmf := fun x => if eqd x x0 then 1 else 0; pmf_sum := dret_sum x0 |}.
  intros x; destruct (eqd x x0); lra.
Defined.

Definition cons_pmf (P : T -> R) (K : T -> list T -> R) (l : list T) : R :=
  match l with [] => 0 | t :: l => P t * K t l end.
Definition cons_dist (P : dist T) (K : T -> dist (list T)) : dist (list T).
Proof.
  refine {| pmf := cons_pmf P (fun t => K t) |}.
  - intros [|t l]; simpl; [lra|]; apply Rmult_le_pos; apply pmf_ge0.
  - apply (has_sum_image _ (fun p : T * list T => fst p :: snd p)
      (fun l => match l with [] => None | t :: l => Some (t, l) end)).
    + intros [|t l]; simpl; [lra|]; apply Rmult_le_pos; apply pmf_ge0.
    + intros [t l]; auto.
    + intros [|t l] u E; inversion E; subst; auto.
    + intros [|t l] E; [auto|discriminate].
    + eapply has_sum_ext; [|apply (joint_sum eqd P K)]; intros [t l]; reflexivity.
Defined.

(* a finite sum over lists, read as a finite sum over pairs *)
Definition pairs (l : list (list T)) : list (T * list T) :=
  opts (map (fun l => match l with [] => None | t :: l => Some (t, l) end) l).
Lemma pairs_NoDup l : NoDup l -> NoDup (pairs l).
Proof.
  unfold pairs; intros Hl; induction Hl as [|[|t x] l Hx Hl IH]; simpl; auto; [constructor|].
  constructor; auto; intros Hi; apply opts_In, in_map_iff in Hi; destruct Hi as [[|t' x'] [E Hi]]; [easy|].
  inversion E; subst; auto.
Qed.
Lemma lsum_pairs (F : list T -> R) l : F [] = 0 ->
  lsum F l = lsum (fun p => F (fst p :: snd p)) (pairs l).
Proof.
  intros H0; unfold pairs; induction l as [|[|t x] l IH]; simpl; auto; rewrite IH; [lra|auto].
Qed.
Lemma cons_dp_joint e d (P Q : dist T) (K L : T -> dist (list T)) :
  dp e d (joint_dist eqd P K) (joint_dist eqd Q L) -> dp e d (cons_dist P K) (cons_dist Q L).
Proof.
  intros H l Hl; rewrite !lsum_pairs by reflexivity; exact (H _ (pairs_NoDup l Hl)).
Qed.
Lemma cons_dp e1 d1 e2 d2 (P Q : dist T) (K L : T -> dist (list T)) :
  0 <= d2 -> dp e1 d1 P Q -> (forall t, dp e2 d2 (K t) (L t)) ->
  dp (e1 + e2) (d1 + d2) (cons_dist P K) (cons_dist Q L).
Proof. intros; apply cons_dp_joint, dp_compose; auto. Qed.
Lemma cons_zcdp r1 r2 (P Q : dist T) (K L : T -> dist (list T)) :
  zcdp r1 P Q -> (forall t, zcdp r2 (K t) (L t)) ->
  zcdp (r1 + r2) (cons_dist P K) (cons_dist Q L).
Proof.
  intros HP HK; destruct (zcdp_compose eqd r1 r2 P Q K L HP HK) as [H0 H]; split.
  - intros [|t l] Hp; simpl in *; [lra|]; exact (H0 (t, l) Hp).
  - intros a Ha l Hl; rewrite lsum_pairs; [exact (H a Ha _ (pairs_NoDup l Hl))|].
    simpl; unfold rterm; destruct (Rle_dec 0 0); lra.
Qed.
Definition leqd : forall x y : list T, {x = y} + {x <> y} := list_eq_dec eqd.
End Lists.

(* ---------- processes ---------- *)
Inductive process (D T : Type) :=
| Done
| Release (m : D -> dist T) (next : T -> process D T).
Arguments Done {D T}. Arguments Release {D T}.

Fixpoint run {D T} (eqd : forall x y : T, {x = y} + {x <> y}) (p : process D T) (d : D) : dist (list T) :=
  match p with
  | Done => dret (leqd eqd) []
  | Release m next => cons_dist eqd (m d) (fun t => run eqd (next t) d)
  end.

(* a fixed list of mechanisms, each seeing the outputs of all earlier ones *)
Fixpoint sequence {D T} (ms : list (list T -> D -> dist T)) (past : list T) : process D T :=
  match ms with
  | [] => Done
  | m :: ms => Release (m past) (fun t => sequence ms (past ++ [t]))
  end.

Lemma dp_refl {T} e d (P : T -> R) : (forall x, 0 <= P x) -> 0 <= e -> 0 <= d -> dp e d P P.
Proof.
  intros HP He Hd l _; pose proof (lsum_ge0 P l HP); pose proof (exp_ineq1_le e).
  assert (1 * lsum P l <= exp e * lsum P l) by (apply Rmult_le_compat_r; lra); lra.
Qed.
Lemma rterm_diag a p : 0 <= p -> rterm a p p = p.
Proof.
  intros Hp; unfold rterm; destruct (Rle_dec p 0); [lra|].
  replace (p / p) with 1 by (field; lra); rewrite ln_1, Rmult_0_r, exp_0; ring.
Qed.
Lemma zcdp_refl {T} r (P : dist T) : 0 <= r -> zcdp r P P.
Proof.
  intros Hr; split; auto; intros a Ha l Hl.
  rewrite (lsum_ext _ P) by (intros x _; apply rterm_diag, pmf_ge0).
  eapply Rle_trans; [apply (has_sum_ub _ _ _ (pmf_sum P) Hl)|].
  apply Rle_trans with (exp 0); [rewrite exp_0; lra|].
  apply exp_le, Rmult_le_pos; [lra|apply Rmult_le_pos; lra].
Qed.
Lemma zcdp_weaken {T} r r' (P Q : T -> R) : r <= r' -> zcdp r P Q -> zcdp r' P Q.
Proof.
  intros Hr [H0 H]; split; auto; intros a Ha l Hl; eapply Rle_trans; [apply H; auto|].
  apply exp_le, Rmult_le_compat_l; [lra|]; nra.
Qed.

Definition zcdp_mech {D T} (adj : D -> D -> Prop) rho (M : D -> dist T) : Prop :=
  forall d d', adj d d' -> zcdp rho (M d) (M d').

Lemma zcdp_mech_weaken {D T} (adj : D -> D -> Prop) r r' (M : D -> dist T) :
  r <= r' -> zcdp_mech adj r M -> zcdp_mech adj r' M.
Proof. intros Hr H d d' A; eapply zcdp_weaken; [exact Hr|]; now apply H. Qed.

(* every branch of the process spends at most r0: the price of a release, too,
   may depend on earlier outputs (a privacy filter) *)
Fixpoint zcdp_spends {D T} (adj : D -> D -> Prop) (p : process D T) (r0 : R) : Prop :=
  match p with
  | Done => 0 <= r0
  | Release m next => exists r, zcdp_mech adj r m /\ forall t, zcdp_spends adj (next t) (r0 - r)
  end.

(** @theorem zcdp-filter
    If along every branch of a fully adaptive process the rho-zCDP prices of its
    releases (for the neighbour relation adj) sum to at most r0, then the whole
    transcript is r0-zCDP for adj. The prices may depend on earlier outputs. *)
Theorem zcdp_filter {D T} eqd (adj : D -> D -> Prop) (p : process D T) :
  forall r0, zcdp_spends adj p r0 -> zcdp_mech adj r0 (run eqd p).
Proof.
  induction p as [|m next IH]; intros r0 H d d' A.
  - apply (zcdp_refl r0 (dret (leqd eqd) [])); exact H.
  - destruct H as [r [Hm Hn]]; replace r0 with (r + (r0 - r)) by ring.
    apply (cons_zcdp eqd r (r0 - r) (m d) (m d')); [now apply Hm|].
    intros t; apply (IH t (r0 - r)); auto.
Qed.

Definition rsum (l : list R) : R := fold_right Rplus 0 l.

Lemma rsum_app x y : rsum (x ++ y) = rsum x + rsum y.
Proof. induction x as [|a x IH]; simpl; rewrite ?IH; lra. Qed.
Lemma rsum_repeat x n : rsum (repeat x n) = INR n * x.
Proof. induction n as [|n IH]; [simpl; lra|]; cbn [repeat rsum fold_right]; fold (rsum (repeat x n)); rewrite IH, S_INR; lra. Qed.
Lemma map_repeat {A B} (f : A -> B) x n : map f (repeat x n) = repeat (f x) n.
Proof. induction n; simpl; congruence. Qed.

(** @theorem compose-zcdp
    Mechanisms number 1..n, each of which sees the data and all earlier outputs,
    and each rho_i-zCDP for adj whatever the earlier outputs were: publishing all
    n outputs is (rho_1 + ... + rho_n)-zCDP for adj. *)
Theorem zcdp_sequence {D T} eqd (adj : D -> D -> Prop) (ms : list (list T -> D -> dist T)) rhos :
  Forall2 (fun m r => forall past, zcdp_mech adj r (m past)) ms rhos ->
  zcdp_mech adj (rsum rhos) (run eqd (sequence ms [])).
Proof.
  intros H; apply zcdp_filter; generalize (@nil T).
  induction H as [|m r ms rhos Hm H IH]; intros past; simpl; [lra|].
  exists r; split; auto; intros t; replace (r + rsum rhos - r) with (rsum rhos) by ring; auto.
Qed.

(** @theorem zcdp-to-dp
    Every rho-zCDP mechanism is (eps, delta)-DP for the same neighbours, for every
    eps, every order a > 1 and every delta at least
    exp((a-1)(a rho - eps)) / (a-1) * (1 - 1/a)^a. *)
Theorem zcdp_mech_dp {D T} (adj : D -> D -> Prop) (M : D -> dist T) rho a eps delta :
  zcdp_mech adj rho M -> 1 < a ->
  exp ((a - 1) * (a * rho - eps)) / (a - 1) * exp (a * ln (1 - 1 / a)) <= delta ->
  dp_mech adj eps delta M.
Proof.
  intros H Ha Hd d d' A.
  eapply dp_weaken; [apply pmf_ge0|apply Rle_refl|exact Hd|].
  apply zcdp_dp; auto; apply pmf_ge0.
Qed.

(* ---------- two outcomes ---------- *)
Lemma bool_sum (f : bool -> R) : (forall b, 0 <= f b) -> has_sum f (f true + f false).
Proof.
  intros Hf; apply has_sum_intro.
  - intros l Hl; eapply Rle_trans; [apply (lsum_incl f l [true; false]); auto|simpl; lra].
    intros [|] _; simpl; auto.
  - intros b Hb; specialize (Hb [true; false]); simpl in Hb; rewrite Rplus_0_r in Hb; apply Hb.
    repeat constructor; simpl; intuition discriminate.
Qed.
Definition coin_dist (p : R) (Hp : 0 <= p <= 1) : dist bool.
Proof.
  refine {| pmf := fun b : bool => if b then p else 1 - p |}.
  - intros [|]; lra.
  - pose proof (bool_sum (fun b : bool => if b then p else 1 - p)) as S; simpl in S.
    replace (p + (1 - p)) with 1 in S by ring; apply S; intros [|]; lra.
Defined.
