(* The executable definitions of proofs/coq/samplers as OCaml, integers as
   Zarith numbers. What is trusted here: Coq's extraction, the two standard
   mappings below, and the few constants that follow them. *)
Require Import ZArith.
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt.
From Assay.samplers Require Import Tape Uniform Bernoulli BernoulliExp Geometric Laplace Gaussian Permutation Inverse Blocks Answers.

Extract Constant Z.leb => "Big_int_Z.le_big_int".
Extract Constant Z.ltb => "Big_int_Z.lt_big_int".
Extract Constant Z.odd => "(fun z -> Z.is_odd z)".
Extract Constant Z.testbit => "(fun z i -> Z.testbit z (Z.to_int i))".
Extract Constant Z.pow => "(fun b e -> if Z.sign e < 0 then Z.zero else Z.pow b (Z.to_int e))".
Extract Constant Z.sqrt => "(fun z -> if Z.sign z < 0 then Z.zero else Z.sqrt z)".
Extract Constant Z.log2 => "(fun z -> if Z.sign z <= 0 then Z.zero else Z.of_int (Z.numbits z - 1))".
Extract Constant Z.log2_up => "(fun z -> if Z.leq z Z.one then Z.zero else Z.of_int (Z.numbits (Z.pred z)))".
Extract Constant Z.of_nat => "Z.of_int".
Extract Constant Z.to_nat => "(fun z -> if Z.sign z < 0 then 0 else Z.to_int z)".

Extraction Blacklist Big.
Extraction "samplers.ml" uniform bernoulli bernoulli_exp_unit bernoulli_exp geometric discrete_laplace
  discrete_gaussian permutation below inverse blocks rat_digits
  sparse_vector_tape noisy_max_tape.
