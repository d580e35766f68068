(* One literal privacy statement, mechanism to number, checked end to end:
   two adaptive releases of a sensitivity-1 integer query with the discrete
   Gaussian, sigma^2 = 100, are (1/2, 3.506e-5)-DP. *)
From Coq Require Import Reals Lra Lia ZArith.
From Interval Require Import Tactic.
From Assay.base Require Import DP DiscreteLaplace ZCDP DiscreteGaussian PureInterval.
Local Open Scope R_scope.
Lemma v100 : 0 < 100. Proof. lra. Qed.
Definition M (mu : Z) := gdist 100 v100 (IZR mu).
Theorem two_releases (f : Z -> Z) (g : Z -> Z -> Z)   (* f d: first query; g t d: second, may depend on answer t *)
  (adj : Z -> Z -> Prop) :
  (forall d d', adj d d' -> (Z.abs (f d - f d') <= 1)%Z) ->
  (forall t d d', adj d d' -> (Z.abs (g t d - g t d') <= 1)%Z) ->
  dp_mech adj (1/2) (3506/100000000)
    (fun d => joint_dist Z.eq_dec (M (f d)) (fun t => M (g t d))).
Proof.
  intros Hf Hg d d' A.
  assert (Z : zcdp (1^2/(2*100) + 1^2/(2*100)) (joint_dist Z.eq_dec (M (f d)) (fun t => M (g t d)))
                   (joint_dist Z.eq_dec (M (f d')) (fun t => M (g t d')))).
  { apply zcdp_compose; [|intros t]; (apply (dgauss_zcdp _ _ _ _ 1)); auto. }
  eapply dp_weaken; [apply pmf_ge0|apply Rle_refl| |apply (zcdp_dp _ (137/5) _ _ _ ltac:(lra) (pmf_ge0 _) (pmf_ge0 _) Z)].
  interval with (i_prec 64).
Qed.
