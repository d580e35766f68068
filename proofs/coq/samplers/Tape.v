(* The tape: uniform 64-bit words. A sampler is an executable function of a finite
   prefix; the probability of a result is the limit of
   (prefixes of n words that give it) / 2^(64 n). *)
From Coq Require Import Reals Lra Lia List ZArith FinFun.
From Coquelicot Require Import Coquelicot.
From Assay.base Require Import DP.
Import List ListNotations.
Local Open Scope R_scope.

Definition W : Z := (2 ^ 64)%Z.
Lemma W_pow : W = (2 ^ 64)%Z. Proof. reflexivity. Qed.
Lemma W_big : (2 ^ 63 < W)%Z. Proof. now compute. Qed.
Lemma W_pos : (3 < W)%Z. Proof. now compute. Qed.
Global Opaque W.
Lemma Wr_pos : 3 < IZR W. Proof. apply IZR_lt, W_pos. Qed.

(* ---------- executable part ---------- *)
(* None: the prefix is too short. Some (a, r): result a, r is what was not read. *)
Definition sampler (A : Type) := list Z -> option (A * list Z).
Definition ret {A} (a : A) : sampler A := fun l => Some (a, l).
Definition bind {A B} (s : sampler A) (k : A -> sampler B) : sampler B :=
  fun l => match s l with Some (a, r) => k a r | None => None end.
Definition word : sampler Z := fun l => match l with [] => None | w :: r => Some (w, r) end.
Definition smap {A B} (h : A -> B) (s : sampler A) : sampler B := bind s (fun a => ret (h a)).

(* A body returns inl (go on with this state) or inr (stop with this value). The
   fuel is the tape itself: a body that reads at least one word never runs out of it. *)
Fixpoint iter {S A} (body : S -> sampler (S + A)) (fuel : list Z) (x : S) (l : list Z)
  : option (A * list Z) :=
  match body x l with
  | None => None
  | Some (inr a, r) => Some (a, r)
  | Some (inl y, r) => match fuel with [] => None | _ :: fuel => iter body fuel y r end
  end.
Definition loop {S A} (body : S -> sampler (S + A)) (x : S) : sampler A :=
  fun l => iter body l x l.
(* None: again *)
Definition again {A} (o : option A) : unit + A := match o with Some a => inr a | None => inl tt end.
Definition retry {A} (s : sampler (option A)) : sampler A := loop (fun _ => smap again s) tt.

Declare Scope sampler_scope.
Delimit Scope sampler_scope with smp.
Notation "x <- s ;; k" := (bind s (fun x => k)) (at level 61, s at next level, right associativity) : sampler_scope.

(* ---------- prefix-determinism and progress ---------- *)
Definition pd {A} (s : sampler A) : Prop := forall l a r, s l = Some (a, r) ->
  exists u, l = u ++ r /\ forall r', s (u ++ r') = Some (a, r').
Definition eats {A} (s : sampler A) : Prop := forall l a r, s l = Some (a, r) -> (length r < length l)%nat.

Lemma pd_len {A} (s : sampler A) l a r : pd s -> s l = Some (a, r) -> (length r <= length l)%nat.
Proof. intros H E; destruct (H _ _ _ E) as [u [-> _]]; rewrite app_length; lia. Qed.
Lemma pd_ret {A} (a : A) : pd (ret a).
Proof. intros l b r E; injection E as -> ->; exists []; split; auto. Qed.
Lemma pd_word : pd word.
Proof. intros [|w l] a r E; [easy|]; injection E as -> ->; exists [a]; auto. Qed.
Lemma eats_word : eats word.
Proof. intros [|w l] a r E; [easy|]; injection E as -> ->; simpl; lia. Qed.
Lemma pd_bind {A B} (s : sampler A) (k : A -> sampler B) : pd s -> (forall a, pd (k a)) -> pd (bind s k).
Proof.
  intros Hs Hk l b r; unfold bind; destruct (s l) as [[a m]|] eqn:E; [|easy]; intros Ek.
  destruct (Hs _ _ _ E) as [u [-> Hu]]; destruct (Hk a _ _ _ Ek) as [v [-> Hv]].
  exists (u ++ v); split; [now rewrite app_assoc|]; intros r'; rewrite <- app_assoc, Hu; auto.
Qed.
Lemma eats_bind {A B} (s : sampler A) (k : A -> sampler B) : eats s -> (forall a, pd (k a)) -> eats (bind s k).
Proof.
  intros Hs Hk l b r; unfold bind; destruct (s l) as [[a m]|] eqn:E; [|easy]; intros Ek.
  specialize (Hs _ _ _ E); apply pd_len in Ek; auto; lia.
Qed.
Lemma pd_map {A B} (h : A -> B) s : pd s -> pd (smap h s).
Proof. intros; apply pd_bind; auto; intros; apply pd_ret. Qed.
Lemma eats_map {A B} (h : A -> B) s : eats s -> eats (smap h s).
Proof. intros; apply eats_bind; auto; intros; apply pd_ret. Qed.

Section Loop.
Context {S A : Type} (body : S -> sampler (S + A)).
Hypothesis He : forall x, eats (body x).
Lemma iter_fuel f1 : forall f2 x l, (length l <= length f1)%nat -> (length l <= length f2)%nat ->
  iter body f1 x l = iter body f2 x l.
Proof.
  induction f1 as [|c f1 IH]; intros f2 x l H1 H2.
  - destruct l; [|simpl in H1; lia].
    assert (E : body x [] = None).
    { destruct (body x []) as [[o r]|] eqn:E; auto; apply He in E; simpl in E; lia. }
    destruct f2; simpl; rewrite E; auto.
  - destruct f2 as [|c2 f2]; cbn [iter]; destruct (body x l) as [[[y|a] r]|] eqn:E; auto; apply He in E; simpl in *; try lia.
    apply IH; lia.
Qed.
Lemma loop_eq x l : loop body x l =
  bind (body x) (fun o => match o with inl y => loop body y | inr a => ret a end) l.
Proof.
  unfold loop, bind; destruct l as [|w l].
  - assert (E : body x [] = None).
    { destruct (body x []) as [[o r]|] eqn:E; auto; apply He in E; simpl in E; lia. }
    simpl; rewrite E; auto.
  - cbn [iter]; destruct (body x (w :: l)) as [[[y|a] r]|] eqn:E; auto; apply He in E; simpl in E.
    apply iter_fuel; lia.
Qed.
Lemma pd_loop x : (forall x, pd (body x)) -> pd (loop body x).
Proof.
  intros Hp; enough (H : forall n x l a r, (length l <= n)%nat -> loop body x l = Some (a, r) ->
    exists u, l = u ++ r /\ forall r', loop body x (u ++ r') = Some (a, r'))
    by (intros l a r E; apply (H (length l) x l a r); auto).
  induction n as [|n IH]; clear x; intros x l a r Hl; rewrite loop_eq; unfold bind at 1;
    destruct (body x l) as [[o m]|] eqn:E; try easy; intros Ek.
  - apply He in E; lia.
  - pose proof (He _ _ _ _ E) as Hm; destruct (Hp _ _ _ _ E) as [u [-> Hu]].
    destruct o as [y|b].
    + destruct (IH y m a r ltac:(lia) Ek) as [v [-> Hv]]; exists (u ++ v); split; [now rewrite app_assoc|].
      intros r'; rewrite loop_eq; unfold bind; rewrite <- app_assoc, Hu; auto.
    + injection Ek as -> ->; exists u; split; auto; intros r'; rewrite loop_eq; unfold bind; rewrite Hu; auto.
Qed.
Lemma eats_loop x : (forall x, pd (body x)) -> eats (loop body x).
Proof.
  intros Hp l a r; rewrite loop_eq; unfold bind; destruct (body x l) as [[o m]|] eqn:E; [|easy]; intros Ek.
  apply He in E; destruct o as [y|b].
  - apply pd_len in Ek; [lia|now apply pd_loop].
  - injection Ek as -> ->; auto.
Qed.
End Loop.
Lemma pd_retry {A} (s : sampler (option A)) : pd s -> eats s -> pd (retry s).
Proof. intros; apply pd_loop; intros; [now apply eats_map|now apply pd_map]. Qed.
Lemma eats_retry {A} (s : sampler (option A)) : pd s -> eats s -> eats (retry s).
Proof. intros; apply eats_loop; intros; [now apply eats_map|now apply pd_map]. Qed.

Create HintDb smp.
Global Hint Resolve pd_ret pd_word eats_word pd_bind eats_bind pd_map eats_map pd_retry eats_retry pd_loop eats_loop : smp.
Global Hint Extern 2 (pd match ?x with _ => _ end) => destruct x : smp.

(* a sampler either has stopped, or reads one more word *)
Lemma pd_cases {A} (s : sampler A) : pd s ->
  (exists a, forall l, s l = Some (a, l)) \/ (s [] = None /\ forall w, pd (fun l => s (w :: l))).
Proof.
  intros H; destruct (s []) as [[a r]|] eqn:E.
  - left; exists a; destruct (H _ _ _ E) as [u [Eu Hu]]; destruct u; [|easy]; simpl in *; auto.
  - right; split; auto; intros w l a r El; destruct (H _ _ _ El) as [u [Eu Hu]].
    destruct u as [|w' u]; [specialize (Hu []); simpl in Hu; congruence|].
    injection Eu as <- ->; exists u; split; auto; intros r'; apply (Hu r').
Qed.

(* ---------- counting prefixes ---------- *)
Definition zseq (n : nat) : list Z := map Z.of_nat (seq 0 n).
(* W as a natural number, sealed: 2^64 is never to be computed in unary *)
Definition Wn_seal : {n : nat | Z.of_nat n = W}.
Proof. exists (Z.to_nat W); apply Z2Nat.id; pose proof W_pos; lia. Qed.
Definition Wn : nat := proj1_sig Wn_seal.
Lemma Wn_W : Z.of_nat Wn = W. Proof. exact (proj2_sig Wn_seal). Qed.
Definition words : list Z := zseq Wn.
Definition inW (w : Z) : Prop := (0 <= w < W)%Z.
Lemma zseq_In n x : In x (zseq n) <-> (0 <= x < Z.of_nat n)%Z.
Proof.
  unfold zseq; rewrite in_map_iff; split.
  - intros [k [<- H]]; apply in_seq in H; lia.
  - intros H; exists (Z.to_nat x); rewrite in_seq; lia.
Qed.
Lemma zseq_len n : length (zseq n) = n.
Proof. unfold zseq; now rewrite map_length, seq_length. Qed.
Lemma zseq_S n : zseq (S n) = zseq n ++ [Z.of_nat n].
Proof. unfold zseq; rewrite seq_S, map_app; auto. Qed.
Lemma zseq_NoDup n : NoDup (zseq n).
Proof. apply Injective_map_NoDup; [intros x y; lia|apply seq_NoDup]. Qed.
Lemma words_In w : In w words <-> inW w.
Proof. unfold words, inW; rewrite zseq_In, Wn_W; reflexivity. Qed.
Lemma words_len : length words = Wn. Proof. apply zseq_len. Qed.
Lemma words_NoDup : NoDup words. Proof. apply zseq_NoDup. Qed.
Global Opaque words.

Fixpoint prefixes (n : nat) : list (list Z) :=
  match n with O => [[]] | S n => flat_map (fun w => map (cons w) (prefixes n)) words end.
Lemma prefixes_In n l : In l (prefixes n) <-> length l = n /\ Forall inW l.
Proof.
  revert l; induction n as [|n IH]; intros l; cbn [prefixes].
  - split; [intros [<-|[]]; auto|intros [H _]; destruct l; [left; auto|easy]].
  - rewrite in_flat_map; split.
    + intros [w [Hw H]]; apply in_map_iff in H; destruct H as [l' [<- H]]; apply IH in H; destruct H.
      split; [simpl; lia|constructor; auto; now apply words_In].
    + intros [Hl HF]; destruct l as [|w l]; [easy|]; inversion HF; subst.
      exists w; split; [now apply words_In|]; apply in_map, IH; auto.
Qed.
Lemma NoDup_app2 {T} (a b : list T) : NoDup a -> NoDup b -> (forall x, In x a -> ~ In x b) -> NoDup (a ++ b).
Proof.
  intros Ha Hb; induction Ha as [|x a Hx Ha IH]; simpl; intros H; auto; constructor; auto.
  intros Hi; apply in_app_or in Hi; destruct Hi; auto; apply (H x); auto.
Qed.
Lemma prefixes_NoDup n : NoDup (prefixes n).
Proof.
  induction n as [|n IH]; cbn [prefixes]; [repeat constructor; easy|].
  induction words_NoDup as [|w ws Hw HW IHw]; simpl; [constructor|].
  apply NoDup_app2; auto; [apply Injective_map_NoDup; auto; intros ? ? ?; congruence|].
  intros l H1 H2; apply in_map_iff in H1; destruct H1 as [l1 [<- _]].
  apply in_flat_map in H2; destruct H2 as [w' [Hw' H2]]; apply in_map_iff in H2; destruct H2 as [? [E _]]; congruence.
Qed.

Class Eqd (A : Type) := eqd : forall x y : A, {x = y} + {x <> y}.
Global Instance eqd_Z : Eqd Z := Z.eq_dec.
Global Instance eqd_nat : Eqd nat := Nat.eq_dec.
Global Instance eqd_bool : Eqd bool := Bool.bool_dec.
Global Instance eqd_prod {A B} `{Eqd A} `{Eqd B} : Eqd (A * B). Proof. unfold Eqd in *; intros; decide equality. Defined.
Global Instance eqd_option {A} `{Eqd A} : Eqd (option A). Proof. unfold Eqd in *; intros; decide equality. Defined.
Global Instance eqd_list {A} `{Eqd A} : Eqd (list A) := list_eq_dec eqd.

(* the number of prefixes of n words on which s returns x, and on which it returns at all *)
Definition count {A} `{Eqd A} (s : sampler A) (x : A) (n : nat) : nat :=
  length (filter (fun l => match s l with Some (a, _) => if eqd a x then true else false | None => false end) (prefixes n)).
Definition count_stop {A} (s : sampler A) (n : nat) : nat :=
  length (filter (fun l => match s l with Some _ => true | None => false end) (prefixes n)).

Definition law {A} `{Eqd A} (s : sampler A) (x : A) (p : R) : Prop :=
  is_lim_seq (fun n => INR (count s x n) / IZR W ^ n) p.
Definition stops {A} (s : sampler A) : Prop :=
  is_lim_seq (fun n => INR (count_stop s n) / IZR W ^ n) 1.
(* the sampler returns x with probability P x, for every x, and stops almost surely *)
Definition has_law {A} `{Eqd A} (s : sampler A) (P : A -> R) : Prop :=
  (forall x, law s x (P x)) /\ stops s.

(* ---------- averages over all prefixes of n words ---------- *)
Fixpoint avg (n : nat) (F : list Z -> R) : R :=
  match n with O => F [] | S n => / IZR W * lsum (fun w => avg n (fun l => F (w :: l))) words end.
Lemma lsum_const {T} c (l : list T) : lsum (fun _ => c) l = INR (length l) * c.
Proof. induction l as [|x l IH]; [simpl; ring|]; cbn [lsum length]; rewrite IH, S_INR; ring. Qed.
Lemma words_avg c : / IZR W * lsum (fun _ => c) words = c.
Proof.
  pose proof Wr_pos; rewrite lsum_const, words_len, INR_IZR_INZ, Wn_W; field; lra.
Qed.
Lemma Winv_pos : 0 < / IZR W. Proof. pose proof Wr_pos; apply Rinv_0_lt_compat; lra. Qed.
Lemma avg_ext n : forall F G, (forall l, Forall inW l -> F l = G l) -> avg n F = avg n G.
Proof.
  induction n as [|n IH]; intros F G H; simpl; [apply H; constructor|]; f_equal; apply lsum_ext; intros w Hw.
  apply IH; intros l Hl; apply H; constructor; auto; now apply words_In.
Qed.
Lemma avg_le n : forall F G, (forall l, Forall inW l -> F l <= G l) -> avg n F <= avg n G.
Proof.
  induction n as [|n IH]; intros F G H; simpl; [apply H; constructor|].
  apply Rmult_le_compat_l; [left; apply Winv_pos|]; apply lsum_le; intros w Hw.
  apply IH; intros l Hl; apply H; constructor; auto; now apply words_In.
Qed.
Lemma avg_const n c : avg n (fun _ => c) = c.
Proof. induction n as [|n IH]; simpl; auto; rewrite IH; apply words_avg. Qed.
Lemma avg_plus n : forall F G, avg n (fun l => F l + G l) = avg n F + avg n G.
Proof.
  induction n as [|n IH]; intros F G; simpl; auto; rewrite <- Rmult_plus_distr_l, <- lsum_plus; f_equal.
  apply lsum_ext; intros; apply IH.
Qed.
Lemma avg_scal n c : forall F, avg n (fun l => c * F l) = c * avg n F.
Proof.
  induction n as [|n IH]; intros F; simpl; auto.
  rewrite (lsum_ext _ (fun w => c * avg n (fun l => F (w :: l)))), lsum_scal by (intros; apply IH); ring.
Qed.
Lemma avg_lsum {T} n (F : T -> list Z -> R) ts : avg n (fun l => lsum (fun t => F t l) ts) = lsum (fun t => avg n (F t)) ts.
Proof. induction ts as [|t ts IH]; simpl; [apply avg_const|]; now rewrite avg_plus, IH. Qed.
Lemma lsum_lim {T} (u : nat -> T -> R) (v : T -> R) l : (forall x, In x l -> is_lim_seq (fun m => u m x) (v x)) ->
  is_lim_seq (fun m => lsum (u m) l) (lsum v l).
Proof.
  induction l as [|x l IH]; simpl; intros H; [apply is_lim_seq_const|].
  apply is_lim_seq_plus'; [apply H; auto|apply IH; auto].
Qed.
Lemma avg_lim n : forall (F : nat -> list Z -> R) (G : list Z -> R), (forall l, is_lim_seq (fun m => F m l) (G l)) ->
  is_lim_seq (fun m => avg n (F m)) (avg n G).
Proof.
  induction n as [|n IH]; intros F G H; [apply H|]; cbn [avg].
  apply (is_lim_seq_scal_l _ (/ IZR W) (lsum (fun w => avg n (fun l => G (w :: l))) words)).
  apply (lsum_lim (fun m w => avg n (fun l => F m (w :: l)))); intros w _; now apply IH.
Qed.
Lemma lsum_flat_map {T U} (f : U -> R) (h : T -> list U) l : lsum f (flat_map h l) = lsum (fun t => lsum f (h t)) l.
Proof. induction l as [|x l IH]; simpl; auto; now rewrite lsum_app, IH. Qed.
Lemma avg_prefixes n : forall F, avg n F = lsum F (prefixes n) / IZR W ^ n.
Proof.
  pose proof Wr_pos; induction n as [|n IH]; intros F; cbn [avg prefixes]; [simpl; field|].
  rewrite lsum_flat_map, (lsum_ext _ (fun w => / IZR W ^ n * lsum F (map (cons w) (prefixes n)))).
  - rewrite lsum_scal; simpl; field; split; [apply pow_nonzero|]; lra.
  - intros w _; rewrite IH, lsum_map; unfold Rdiv; ring.
Qed.
Lemma count_avg (P : list Z -> bool) n :
  INR (length (filter P (prefixes n))) / IZR W ^ n = avg n (fun l => if P l then 1 else 0).
Proof. rewrite avg_prefixes; f_equal; rewrite <- lsum_filter, lsum_const; ring. Qed.

(* ---------- expectation of a test f in [0,1] ---------- *)
Definition tst {A} (f : A -> R) : Prop := forall x, 0 <= f x <= 1.
Definition val {A} (f : A -> R) (o : option (A * list Z)) : R := match o with Some (a, _) => f a | None => 0 end.
Definition E {A} (s : sampler A) (f : A -> R) (n : nat) : R := avg n (fun l => val f (s l)).
Definition L {A} (s : sampler A) (f : A -> R) : R := real (Lim_seq (E s f)).
Definition ind {A} `{Eqd A} (x y : A) : R := if eqd y x then 1 else 0.
Definition mass {A} `{Eqd A} (s : sampler A) (x : A) : R := L s (ind x).

Lemma tst_ind {A} `{Eqd A} (x : A) : tst (ind x).
Proof. intros y; unfold ind; destruct (eqd y x); lra. Qed.
Lemma tst_1 {A} : tst (fun _ : A => 1). Proof. intros x; lra. Qed.
Lemma tst_0 {A} : tst (fun _ : A => 0). Proof. intros x; lra. Qed.
Global Hint Resolve tst_ind tst_1 tst_0 : smp.
Lemma ind_eq {A} `{Eqd A} (x : A) : ind x x = 1. Proof. unfold ind; destruct (eqd x x); easy. Qed.
Lemma ind_ne {A} `{Eqd A} (x y : A) : y <> x -> ind x y = 0. Proof. unfold ind; destruct (eqd y x); easy. Qed.

Lemma val_01 {A} (f : A -> R) o : tst f -> 0 <= val f o <= 1.
Proof. intros H; destruct o as [[a r]|]; simpl; [apply H|lra]. Qed.
Lemma E_01 {A} (s : sampler A) f n : tst f -> 0 <= E s f n <= 1.
Proof.
  intros H; split; [rewrite <- (avg_const n 0)|rewrite <- (avg_const n 1)]; apply avg_le; intros; now apply val_01.
Qed.
Lemma E_ret {A} (s : sampler A) a f n : (forall l, s l = Some (a, l)) -> E s f n = f a.
Proof. intros H; unfold E; rewrite (avg_ext n _ (fun _ => f a)), avg_const; auto; intros; now rewrite H. Qed.
Lemma E_S {A} (s : sampler A) f n : E s f (S n) = / IZR W * lsum (fun w => E (fun l => s (w :: l)) f n) words.
Proof. reflexivity. Qed.
Lemma E_mono {A} (s : sampler A) f n : pd s -> tst f -> E s f n <= E s f (S n).
Proof.
  intros Hs Hf; revert s Hs; induction n as [|n IH]; intros s Hs; destruct (pd_cases s Hs) as [[a Ha]|[E0 Hw]];
    try (rewrite !(E_ret s a f) by auto; lra).
  - unfold E at 1; simpl; rewrite E0; simpl; now apply E_01.
  - rewrite (E_S s f n), (E_S s f (S n)); apply Rmult_le_compat_l; [left; apply Winv_pos|]; apply lsum_le; auto.
Qed.
Lemma L_is {A} (s : sampler A) f : pd s -> tst f -> is_lim_seq (E s f) (L s f).
Proof.
  intros Hs Hf; destruct (ex_finite_lim_seq_incr (E s f) 1) as [v Hv].
  - intros n; now apply E_mono.
  - intros n; now apply E_01.
  - unfold L; rewrite (is_lim_seq_unique _ _ Hv); auto.
Qed.
Lemma E_le_L {A} (s : sampler A) f n : pd s -> tst f -> E s f n <= L s f.
Proof. intros; apply (is_lim_seq_incr_compare (E s f) (L s f)); [now apply L_is|]; intros; now apply E_mono. Qed.
Lemma L_le_ub {A} (s : sampler A) f c : pd s -> tst f -> (forall n, E s f n <= c) -> L s f <= c.
Proof. intros Hs Hf H; apply (is_lim_seq_le (E s f) (fun _ => c) (L s f) c); auto using L_is; apply is_lim_seq_const. Qed.
Lemma L_eq {A} (s : sampler A) f (v : R) : is_lim_seq (E s f) v -> L s f = v.
Proof. intros H; unfold L; now rewrite (is_lim_seq_unique _ _ H). Qed.
Lemma L_01 {A} (s : sampler A) f : pd s -> tst f -> 0 <= L s f <= 1.
Proof.
  intros Hs Hf; split; [eapply Rle_trans; [|apply (E_le_L s f 0 Hs Hf)]; now apply E_01|].
  apply L_le_ub; auto; intros; now apply E_01.
Qed.
Lemma L_ret {A} (a : A) f : L (ret a) f = f a.
Proof.
  apply L_eq, is_lim_seq_ext with (u := fun _ => f a); [|apply is_lim_seq_const].
  intros n; symmetry; now apply E_ret.
Qed.
Lemma L_ext {A} (s s' : sampler A) f : (forall l, s l = s' l) -> L s f = L s' f.
Proof. intros H; unfold L; f_equal; apply Lim_seq_ext; intros n; apply avg_ext; intros; now rewrite H. Qed.

(* every result on a tape of words satisfies Q *)
Definition post {A} (s : sampler A) (Q : A -> Prop) : Prop :=
  forall l a r, Forall inW l -> s l = Some (a, r) -> Q a.
Lemma L_post {A} (s : sampler A) (Q : A -> Prop) f g : post s Q -> (forall x, Q x -> f x = g x) -> L s f = L s g.
Proof.
  intros Hp H; unfold L; f_equal; apply Lim_seq_ext; intros n; apply avg_ext; intros l Hl.
  destruct (s l) as [[a r]|] eqn:El; simpl; auto; apply H; eapply Hp; eauto.
Qed.
Lemma L_fext {A} (s : sampler A) f g : (forall x, f x = g x) -> L s f = L s g.
Proof. intros H; apply (L_post s (fun _ => True)); auto; intros ? ? ? ? ?; exact I. Qed.
Lemma L_le {A} (s : sampler A) f g : pd s -> tst f -> tst g -> (forall x, f x <= g x) -> L s f <= L s g.
Proof.
  intros Hs Hf Hg H; apply L_le_ub; auto; intros n; eapply Rle_trans; [|apply (E_le_L s g n Hs Hg)].
  apply avg_le; intros l _; destruct (s l) as [[a r]|]; simpl; auto; lra.
Qed.
Lemma L_scal {A} (s : sampler A) c f : pd s -> tst f -> L s (fun x => c * f x) = c * L s f.
Proof.
  intros Hs Hf; apply L_eq.
  eapply is_lim_seq_ext; [|apply (is_lim_seq_scal_l (E s f) c (L s f)); now apply L_is].
  intros n; unfold E; rewrite <- avg_scal; apply avg_ext; intros l _; destruct (s l) as [[a r]|]; simpl; ring.
Qed.
Lemma L_plus {A} (s : sampler A) f g : pd s -> tst f -> tst g -> L s (fun x => f x + g x) = L s f + L s g.
Proof.
  intros Hs Hf Hg; apply L_eq.
  eapply is_lim_seq_ext; [|apply is_lim_seq_plus'; apply L_is; [exact Hs|exact Hf|exact Hs|exact Hg]].
  intros n; unfold E; rewrite <- avg_plus; apply avg_ext; intros l _; destruct (s l) as [[a r]|]; simpl; ring.
Qed.
Lemma L_0 {A} (s : sampler A) : L s (fun _ => 0) = 0.
Proof.
  apply L_eq, is_lim_seq_ext with (u := fun _ => 0); [|apply is_lim_seq_const]; intros n; symmetry.
  unfold E; rewrite (avg_ext n _ (fun _ => 0)), avg_const; auto; intros l _; destruct (s l) as [[a r]|]; auto.
Qed.
Lemma L_word f : tst f -> L word f = / IZR W * lsum f words.
Proof.
  intros Hf; apply L_eq, is_lim_seq_incr_1.
  eapply is_lim_seq_ext; [|apply is_lim_seq_const]; intros n; rewrite E_S; f_equal.
  apply lsum_ext; intros w _; symmetry; change (fun l => word (w :: l)) with (ret w); now apply E_ret.
Qed.

(* ---------- bind ---------- *)
Section Bind.
Context {A B : Type} (s : sampler A) (k : A -> sampler B) (f : B -> R).
Hypothesis Hk : forall a, pd (k a).
Hypothesis Hf : tst f.
Lemma tst_L : tst (fun a => L (k a) f). Proof. intros a; now apply L_01. Qed.
Lemma tst_E m : tst (fun a => E (k a) f m). Proof. intros a; now apply E_01. Qed.
Lemma E_bind_ub n : forall s : sampler A, pd s -> E (bind s k) f n <= E s (fun a => L (k a) f) n.
Proof.
  induction n as [|n IH]; intros s' Hs; destruct (pd_cases s' Hs) as [[a Ha]|[E0 Hw]].
  - rewrite (E_ret s' a) by auto; eapply Rle_trans; [|apply (E_le_L (k a) f 0); auto].
    right; unfold E; simpl; unfold bind; now rewrite Ha.
  - unfold E; simpl; unfold bind; rewrite E0; simpl; lra.
  - rewrite (E_ret s' a) by auto; eapply Rle_trans; [|apply (E_le_L (k a) f (S n)); auto].
    right; unfold E; apply avg_ext; intros l _; unfold bind; now rewrite Ha.
  - rewrite !E_S; apply Rmult_le_compat_l; [left; apply Winv_pos|]; apply lsum_le; intros w _.
    apply (IH (fun l => s' (w :: l)) (Hw w)).
Qed.
Lemma E_more (t : sampler B) m n : pd t -> E t f m <= E t f (n + m).
Proof. intros Ht; induction n as [|n IH]; simpl; [lra|]; eapply Rle_trans; [exact IH|]; now apply E_mono. Qed.
Lemma E_bind_lb m n : forall s : sampler A, pd s -> E s (fun a => E (k a) f m) n <= E (bind s k) f (n + m).
Proof.
  induction n as [|n IH]; intros s' Hs; destruct (pd_cases s' Hs) as [[a Ha]|[E0 Hw]].
  - rewrite (E_ret s' a) by auto; right; unfold E; simpl; apply avg_ext; intros l _; unfold bind; now rewrite Ha.
  - unfold E at 1; simpl; rewrite E0; simpl; now apply E_01.
  - rewrite (E_ret s' a) by auto; eapply Rle_trans; [apply (E_more (k a) m (S n)); auto|].
    right; unfold E; apply avg_ext; intros l _; unfold bind; now rewrite Ha.
  - cbn [Nat.add]; rewrite !E_S; apply Rmult_le_compat_l; [left; apply Winv_pos|]; apply lsum_le; intros w _.
    apply (IH (fun l => s' (w :: l)) (Hw w)).
Qed.
Lemma L_bind : pd s -> L (bind s k) f = L s (fun a => L (k a) f).
Proof.
  intros Hs; apply Rle_antisym.
  - apply L_le_ub; auto with smp; intros n; eapply Rle_trans; [now apply E_bind_ub|].
    apply E_le_L; auto; apply tst_L.
  - apply L_le_ub; auto; [apply tst_L|]; intros n.
    apply (is_lim_seq_le (fun m => E s (fun a => E (k a) f m) n) (fun _ => L (bind s k) f)
      (E s (fun a => L (k a) f) n) (L (bind s k) f)); [| |apply is_lim_seq_const].
    + intros m; eapply Rle_trans; [now apply E_bind_lb|]; apply E_le_L; auto with smp.
    + apply (avg_lim n (fun m l => val (fun a => E (k a) f m) (s l))); intros l.
      destruct (s l) as [[a r]|]; simpl; [now apply L_is|apply is_lim_seq_const].
Qed.
End Bind.
Lemma L_map {A B} (h : A -> B) (s : sampler A) f : pd s -> tst f -> L (smap h s) f = L s (fun a => f (h a)).
Proof.
  intros Hs Hf; unfold smap; rewrite L_bind by auto with smp; apply L_fext; intros; apply L_ret.
Qed.
Lemma L_loop {S A} (body : S -> sampler (S + A)) x f : (forall x, pd (body x)) -> (forall x, eats (body x)) -> tst f ->
  L (loop body x) f = L (body x) (fun o => match o with inl y => L (loop body y) f | inr a => f a end).
Proof.
  intros Hp He Hf; rewrite (L_ext _ _ f (loop_eq body He x)), L_bind; auto with smp.
  apply L_fext; intros [y|a]; auto using L_ret.
Qed.
Lemma L_retry_eq {A} (s : sampler (option A)) f : pd s -> eats s -> tst f ->
  L (retry s) f = L s (fun o => match o with Some a => f a | None => L (retry s) f end).
Proof.
  intros Hp He Hf; unfold retry at 1; rewrite L_loop by auto with smp; rewrite L_map; auto.
  - apply L_fext; intros [a|]; auto.
  - intros [y|a]; auto; apply L_01; auto with smp.
Qed.

(* ---------- countable sums ---------- *)
Lemma has_sum_finite {T} (eq : forall x y : T, {x = y} + {x <> y}) (f : T -> R) l :
  NoDup l -> (forall x, 0 <= f x) -> (forall x, ~ In x l -> f x = 0) -> has_sum f (lsum f l).
Proof.
  intros Hl H0 Hz; apply has_sum_intro; [|intros b Hb; now apply Hb].
  intros l' Hl'; rewrite (lsum_ext f (fun x => if in_dec eq x l then f x else 0)).
  - rewrite (lsum_ext _ (fun x => if (if in_dec eq x l then true else false) then f x else 0)), <- lsum_filter.
    + apply lsum_incl; auto using NoDup_filter; intros x Hx; apply filter_In in Hx.
      destruct (in_dec eq x l); easy.
    + intros x _; destruct (in_dec eq x l); auto.
  - intros x _; destruct (in_dec eq x l); auto.
Qed.
Section Sum.
Context {A : Type} `{Eqd A} (s : sampler A).
Hypothesis Hs : pd s.
Lemma mass_01 x : 0 <= mass s x <= 1. Proof. apply L_01; auto with smp. Qed.
Lemma E_lsum f n l : NoDup l -> (forall x, 0 <= f x) ->
  lsum (fun x => E s (ind x) n * f x) l = avg n (fun t => val (fun a => if in_dec eqd a l then f a else 0) (s t)).
Proof.
  intros Hl Hf.
  rewrite (lsum_ext _ (fun x => avg n (fun t => f x * val (ind x) (s t)))) by (intros; unfold E; rewrite avg_scal; ring).
  rewrite <- (avg_lsum n (fun x t => f x * val (ind x) (s t))); apply avg_ext; intros t _; destruct (s t) as [[a r]|]; simpl.
  - destruct (in_dec eqd a l) as [Ha|Ha].
    + rewrite <- (lsum_pick eqd a (f a) l Hl Ha) at 1; apply lsum_ext; intros x _; unfold ind.
      destruct (eqd a x), (eqd x a); subst; try easy; ring.
    + rewrite (lsum_ext _ (fun _ => 0)), lsum_const; [ring|].
      intros x Hx; rewrite ind_ne; [ring|intros ->; contradiction].
  - rewrite (lsum_ext _ (fun _ => 0)), lsum_const; [ring|]; intros; ring.
Qed.
Theorem L_sum f : tst f -> has_sum (fun x => mass s x * f x) (L s f).
Proof.
  intros Hf; apply has_sum_intro.
  - intros l Hl.
    apply (is_lim_seq_le (fun n => lsum (fun x => E s (ind x) n * f x) l) (E s f)
      (lsum (fun x => mass s x * f x) l) (L s f)); [| |now apply L_is].
    + intros n; rewrite E_lsum by (auto; intros; apply Hf); apply avg_le; intros t _.
      destruct (s t) as [[a r]|]; simpl; [|lra]; destruct (in_dec eqd a l); [lra|apply Hf].
    + apply lsum_lim; intros x _; apply (is_lim_seq_scal_r (E s (ind x)) (f x) (mass s x)); apply L_is; auto with smp.
  - intros b Hb; apply L_le_ub; auto; intros n.
    set (l := nodup eqd (flat_map (fun t => match s t with Some (a, _) => [a] | None => [] end) (prefixes n))).
    assert (Hl : NoDup l) by apply NoDup_nodup.
    eapply Rle_trans; [|apply (Hb l Hl)].
    apply Rle_trans with (lsum (fun x => E s (ind x) n * f x) l).
    + rewrite E_lsum by (auto; intros; apply Hf); unfold E; right.
      rewrite !avg_prefixes; f_equal; apply lsum_ext; intros t Ht.
      destruct (s t) as [[a r]|] eqn:Et; simpl; auto; destruct (in_dec eqd a l) as [|N]; auto.
      exfalso; apply N, nodup_In, in_flat_map; exists t; rewrite Et; split; simpl; auto.
    + apply lsum_le; intros x _; apply Rmult_le_compat_r; [apply Hf|]; apply E_le_L; auto with smp.
Qed.
Lemma L_finite f l : tst f -> NoDup l -> (forall x, ~ In x l -> f x = 0) -> L s f = lsum (fun x => mass s x * f x) l.
Proof.
  intros Hf Hl Hz; eapply has_sum_uniq; [now apply L_sum|]; apply (has_sum_finite eqd); auto.
  - intros x; apply Rmult_le_pos; [apply mass_01|apply Hf].
  - intros x Hx; rewrite Hz by auto; ring.
Qed.
Lemma mass_sum : has_sum (mass s) (L s (fun _ => 1)).
Proof. eapply has_sum_ext; [|apply L_sum; auto with smp]; intros; simpl; ring. Qed.
Lemma law_mass x : law s x (mass s x).
Proof.
  unfold law, count; eapply is_lim_seq_ext; [|apply L_is; auto with smp].
  intros n; rewrite count_avg; apply avg_ext; intros l _; destruct (s l) as [[a r]|]; simpl; auto.
  unfold ind; destruct (eqd a x); auto.
Qed.
Lemma stops_L : stops s <-> L s (fun _ => 1) = 1.
Proof.
  assert (Hl : is_lim_seq (fun n => INR (count_stop s n) / IZR W ^ n) (L s (fun _ => 1))).
  { unfold count_stop; eapply is_lim_seq_ext; [|apply L_is; auto with smp].
    intros n; rewrite count_avg; apply avg_ext; intros l _; destruct (s l) as [[a r]|]; auto. }
  split; intros H0; [|unfold stops; now rewrite <- H0].
  apply is_lim_seq_unique in H0; apply is_lim_seq_unique in Hl; rewrite H0 in Hl; now injection Hl.
Qed.
Lemma law_uniq x p : law s x p -> mass s x = p.
Proof.
  intros Hp; pose proof (law_mass x) as Hm; apply is_lim_seq_unique in Hp; apply is_lim_seq_unique in Hm.
  rewrite Hp in Hm; now injection Hm.
Qed.
(* a closed form that sums to 1 settles both the law and the almost sure stop *)
Lemma has_law_intro P : (forall x, mass s x = P x) -> has_sum P 1 -> has_law s P.
Proof.
  intros HP H1; split; [intros x; rewrite <- HP; apply law_mass|].
  apply stops_L; eapply has_sum_uniq; [apply mass_sum|]; eapply has_sum_ext; [|exact H1]; auto.
Qed.
Lemma has_law_mass P : has_law s P -> (forall x, mass s x = P x) /\ L s (fun _ => 1) = 1.
Proof. intros [H1 H2]; split; [intros x; now apply law_uniq|now apply stops_L]. Qed.
End Sum.

(** @theorem tape-bind
    If s has law P and k x has law K x for every x, then "draw x from s, then draw from k x"
    returns y with probability the sum over x of P(x) K(x)(y). *)
Theorem bind_law {A B} `{Eqd A} `{Eqd B} (s : sampler A) (k : A -> sampler B) P K y :
  pd s -> (forall x, pd (k x)) -> (forall x, law s x (P x)) -> (forall x, law (k x) y (K x)) ->
  exists p, has_sum (fun x => P x * K x) p /\ law (bind s k) y p.
Proof.
  intros Hs Hk HP HK; exists (mass (bind s k) y); split; [|apply law_mass; auto with smp].
  eapply has_sum_ext; [|unfold mass; rewrite L_bind by auto with smp; apply L_sum; auto; apply tst_L; auto with smp].
  intros x; simpl; rewrite (law_uniq s Hs x _ (HP x)); f_equal; exact (law_uniq _ (Hk x) y _ (HK x)).
Qed.

(* ---------- bool ---------- *)
Lemma L_bool (s : sampler bool) f : pd s -> tst f -> L s f = mass s true * f true + mass s false * f false.
Proof.
  intros Hs Hf; rewrite (L_finite s Hs f [true; false]); auto; [simpl; ring| |].
  - repeat constructor; simpl; intuition easy.
  - intros [|] N; exfalso; apply N; simpl; auto.
Qed.
Lemma has_law_bool (s : sampler bool) p : pd s -> has_law s (fun b => if b then p else 1 - p) <->
  (forall f, tst f -> L s f = p * f true + (1 - p) * f false).
Proof.
  intros Hs; split.
  - intros H f Hf; apply has_law_mass in H; auto; destruct H as [H _]; rewrite L_bool, !H; auto.
  - intros H; assert (M : forall b, mass s b = if b then p else 1 - p).
    { intros b; unfold mass; rewrite H by auto with smp; destruct b; unfold ind; simpl; ring. }
    apply has_law_intro; auto.
    assert (Hb : forall b : bool, 0 <= if b then p else 1 - p) by (intros b; rewrite <- M; now apply mass_01).
    assert (E1 : lsum (fun b : bool => if b then p else 1 - p) [true; false] = 1) by (simpl; ring).
    enough (X : has_sum (fun b : bool => if b then p else 1 - p) (lsum (fun b : bool => if b then p else 1 - p) [true; false]))
      by (rewrite E1 in X; exact X).
    clear E1; apply (has_sum_finite eqd); auto.
    + repeat constructor; simpl; intuition easy.
    + intros [|] N; exfalso; apply N; simpl; auto.
Qed.

(* ---------- retry = rejection ---------- *)
(** @theorem tape-retry
    If one round returns Some x with probability m and asks to retry with probability r < 1, and reads at
    least one word, then the loop returns x with probability m / (1 - r). *)
Theorem retry_law {A} `{Eqd A} (s : sampler (option A)) x m r : pd s -> eats s ->
  law s (Some x) m -> law s None r -> r < 1 -> law (retry s) x (m / (1 - r)).
Proof.
  intros Hp He Hm Hr Hr1; apply law_uniq in Hm; auto; apply law_uniq in Hr; auto.
  replace (m / (1 - r)) with (mass (retry s) x); [apply law_mass; auto with smp|].
  assert (Hq : mass (retry s) x = m + r * mass (retry s) x); [|apply Rmult_eq_reg_r with (1 - r); [field_simplify; lra|lra]].
  unfold mass at 1; rewrite L_retry_eq; auto with smp; fold (mass (retry s) x).
  assert (M : 0 <= mass (retry s) x <= 1) by (apply mass_01; auto with smp).
  rewrite (L_finite s Hp _ [Some x; None]).
  - simpl; rewrite Hm, Hr, ind_eq; ring.
  - intros [a|]; auto; apply tst_ind.
  - repeat constructor; simpl; intuition easy.
  - intros [a|] N; [apply ind_ne; intros ->|exfalso]; apply N; simpl; auto.
Qed.
(* The round number (0 for the first) along with the value. *)
Definition retry_rounds {A} (s : sampler (option A)) : sampler (A * nat) :=
  loop (fun n => smap (fun o => match o with Some a => inr (a, n) | None => inl (S n) end) s) O.
Lemma retry_rounds_fst {A} (s : sampler (option A)) l : eats s ->
  retry s l = match retry_rounds s l with Some ((a, _), r) => Some (a, r) | None => None end.
Proof.
  intros He; unfold retry, retry_rounds, loop; generalize O as n; generalize l at 1 3 as fuel; intros fuel; revert l.
  induction fuel as [|c fuel IH]; intros l n; cbn [iter]; unfold smap, bind, ret; destruct (s l) as [[[a|] r]|]; simpl; auto.
Qed.
(** @theorem tape-retry-rounds
    The number of rounds of a retry loop is independent of the returned value: the pair (value x, n failed rounds)
    has probability r^n m, a product of a function of n and a function of x. *)
Theorem retry_rounds_law {A} `{Eqd A} (s : sampler (option A)) x n m r : pd s -> eats s ->
  law s (Some x) m -> law s None r -> law (retry_rounds s) (x, n) (r ^ n * m).
Proof.
  intros Hp He Hm Hr; apply law_uniq in Hm; auto; apply law_uniq in Hr; auto.
  set (body := fun n => smap (fun o : option A => match o with Some a => inr (a, n) | None => inl (S n) end : nat + A * nat) s).
  assert (Hbp : forall k, pd (body k)) by (intros; unfold body; auto with smp).
  assert (Hbe : forall k, eats (body k)) by (intros; unfold body; auto with smp).
  enough (HM : forall j k, mass (loop body k) (x, (j + k)%nat) = r ^ j * m
                 /\ (forall i, (i < k)%nat -> mass (loop body k) (x, i) = 0)).
  { destruct (HM n O) as [HM' _]; rewrite Nat.add_0_r in HM'; rewrite <- HM'; apply law_mass.
    unfold retry_rounds; fold body; auto with smp. }
  assert (Hst : forall k i, mass (loop body k) (x, i) = m * ind (x, i) (x, k) + r * mass (loop body (S k)) (x, i)).
  { intros k i; unfold mass at 1; rewrite L_loop; auto with smp; unfold body at 1; rewrite L_map; auto.
    - fold (mass (loop body (S k)) (x, i)); rewrite (L_finite s Hp _ [Some x; None]).
      + simpl; rewrite Hm, Hr; unfold mass; ring.
      + intros [a|]; [apply tst_ind|apply mass_01; auto with smp].
      + repeat constructor; simpl; intuition easy.
      + intros [a|] N; [apply ind_ne; intros E'; injection E' as -> ->|exfalso]; apply N; simpl; auto.
    - intros [y|a]; [apply L_01; auto with smp|apply tst_ind]. }
  assert (Hz : forall i k, (i < k)%nat -> mass (loop body k) (x, i) = 0).
  { intros i k Hik; unfold mass; rewrite (L_post _ (fun p => (k <= snd p)%nat) (ind (x, i)) (fun _ => 0)).
    - apply L_0.
    - intros l a r' _; unfold loop; generalize l at 1 as fuel; intros fuel; clear Hik; revert k l.
      induction fuel as [|c fuel IHf]; intros k l; cbn [iter]; unfold body at 1, smap, bind, ret;
        destruct (s l) as [[[b|] r'']|]; simpl; try easy; intros Ef; try (injection Ef as <- <-; simpl; lia).
      apply IHf in Ef; lia.
    - intros [a j] Hj; simpl in Hj; apply ind_ne; intros E'; injection E' as _ ->; lia. }
  intros j; induction j as [|j IH]; intros k; (split; [|intros i; apply Hz]); rewrite Hst.
  - simpl; rewrite ind_eq, (Hz k (S k)) by lia; ring.
  - rewrite ind_ne by (intros E'; injection E'; lia).
    destruct (IH (S k)) as [IH' _]; replace (S j + k)%nat with (j + S k)%nat by lia; rewrite IH'; simpl; ring.
Qed.
