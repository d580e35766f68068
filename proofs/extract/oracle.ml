(* The samplers extracted from proofs/coq/samplers, run on recorded tapes.

   oracle < lines            one answer a line
   oracle gen NAME COUNT SEED   lines for one sampler (tapes.ml)

   A line is
       NAME PARAMETERS : WORDS
   with parameters in decimal and words in hexadecimal (64 bits, no prefix). The
   answer is
       VALUE COUNT       the value and the number of words that were read
       short             the tape ended before the sampler was done
   A truth value is 0 or 1; a permutation is its entries joined by commas.

   NAME and PARAMETERS (docs/math/samplers.md):
       uniform N
       bernoulli P Q
       bernoulli_exp_unit P Q
       bernoulli_exp P Q
       geometric S T
       discrete_laplace S T                 scale t/s
       discrete_gaussian N D                sigma^2 = n/d
       permutation N
       below_rational P Q                   r = p/q
       below_exp P Q                        r = exp(-p/q)
       inverse_gaussian N D                 weights exp(-k^2 d / (2 n))
       inverse_laplace S T                  weights exp(-|k| s/t)
       inverse_rounded_gaussian N D B       N(0, n/d) rounded to steps of 2^-B
       inverse_rounded_laplace S T B        Laplace(t/s) rounded to steps of 2^-B
       inverse_table LO DEN C0 C1 ...       F(LO + i) = Ci / DEN, 1 after the last
       blocks_gaussian N D B                blocks of length 2^B
       blocks_laplace S T B
   Mechanisms, with discrete Laplace noise as inverse_laplace:
       sparse_vector S1 T1 S2 T2 C U Q1 H1 Q2 H2 ...
           scales t1/s1 (threshold) and t2/s2 (queries), C answers "above" at
           most; question i asks Qi plus U for each "above" before it, against
           the threshold Hi. The value is one bit for each answer.
       noisy_max S T Q1 Q2 ...              scale t/s, scores Qi
   A bad line ends the program with status 2. *)

exception Bad of string

let z = Z.of_string
let show_bool b = if b then "1" else "0"
let show_bits l = String.concat "" (List.map show_bool l)
let show_list l = String.concat "," (List.map Z.to_string l)

let words s =
  (* space separated hexadecimal from position i on *)
  let n = String.length s in
  let rec go i acc =
    if i >= n then List.rev acc
    else if s.[i] = ' ' then go (i + 1) acc
    else
      let j = match String.index_from_opt s i ' ' with Some j -> j | None -> n in
      let w = Int64.of_string ("0x" ^ String.sub s i (j - i)) in
      let w = Z.extract (Z.of_int64 w) 0 64 in
      go j (w :: acc) in
  fun i -> go i []

let answer show sampler tape =
  match sampler tape with
  | None -> "short"
  | Some (v, rest) ->
    show v ^ " " ^ string_of_int (List.length tape - List.length rest)

(* one sampler for each NAME PARAMETERS; its tables are kept *)
let inverse show (c : Digits.cdf) = answer show (Samplers.inverse c.digits c.lo c.hi)
let blocks_of b (c : Digits.cdf) accept =
  let digr = Digits.memo accept in
  answer Z.to_string (Samplers.blocks (Z.of_int b) c.digits c.lo c.hi digr)
let start_of_block x b = Z.shift_left (Z.shift_right x b) b

let laplace s t =
  let c = Digits.(cdf_of (laplace s t)) in
  Samplers.inverse c.digits c.lo c.hi
let rec pairs = function
  | q :: h :: rest -> (q, h) :: pairs rest
  | [] -> []
  | _ -> raise (Bad "a query without a threshold")
let sparse_vector first noise c u asked =
  let asked = Array.of_list (pairs asked) in
  let above past = Z.of_int (List.length (List.filter Fun.id past)) in
  let query past = Z.add (fst asked.(List.length past)) (Z.mul u (above past)) in
  let threshold past = snd asked.(List.length past) in
  Samplers.sparse_vector_tape noise query threshold first c (Array.length asked)

let sampler name args =
  let module S = Samplers in
  let num = Z.to_string in
  match name, List.map z args with
  | "uniform", [n] -> answer num (S.uniform n)
  | "bernoulli", [p; q] -> answer show_bool (S.bernoulli p q)
  | "bernoulli_exp_unit", [p; q] -> answer show_bool (S.bernoulli_exp_unit p q)
  | "bernoulli_exp", [p; q] -> answer show_bool (S.bernoulli_exp p q)
  | "geometric", [s; t] -> answer num (S.geometric s t)
  | "discrete_laplace", [s; t] -> answer num (S.discrete_laplace s t)
  | "discrete_gaussian", [n; d] -> answer num (S.discrete_gaussian n d)
  | "permutation", [n] -> answer show_list (S.permutation (Z.to_int n))
  | "below_rational", [p; q] -> answer show_bool (S.below (S.rat_digits p q))
  | "below_exp", [p; q] -> answer show_bool (S.below (Digits.exp_digits p q))
  | _ -> match name, List.map z args with
    | "inverse_gaussian", [n; d] -> inverse num (Digits.cdf_of (Digits.gaussian n d))
    | "inverse_laplace", [s; t] -> inverse num (Digits.cdf_of (Digits.laplace s t))
    | "inverse_rounded_gaussian", [n; d; b] ->
      inverse num (Digits.cdf_of (Digits.rounded_gaussian n d (Z.to_int b)))
    | "inverse_rounded_laplace", [s; t; b] ->
      inverse num (Digits.cdf_of (Digits.rounded_laplace s t (Z.to_int b)))
    | "inverse_table", lo :: den :: counts ->
      inverse num (Digits.cdf_of_table lo den (Array.of_list counts))
    | "blocks_gaussian", [n; d; b] ->
      let b = Z.to_int b in
      blocks_of b (Digits.cdf_of (Digits.gaussian_blocks n d b)) (fun x ->
          let y = start_of_block x b in
          Digits.exp_digits (Z.mul d (Z.sub (Z.mul x x) (Z.mul y y))) (Z.shift_left n 1))
    | "blocks_laplace", [s; t; b] ->
      let b = Z.to_int b in
      blocks_of b (Digits.cdf_of (Digits.laplace_blocks s t b)) (fun x ->
          Digits.exp_digits (Z.mul s (Z.sub x (start_of_block x b))) t)
    | "sparse_vector", s1 :: t1 :: s2 :: t2 :: c :: u :: asked ->
      answer show_bits (sparse_vector (laplace s1 t1) (laplace s2 t2) (Z.to_int c) u asked)
    | "noisy_max", s :: t :: scores ->
      answer string_of_int (Samplers.noisy_max_tape (laplace s t) scores)
    | _ -> raise (Bad name)

let known = Hashtbl.create 64
let find head =
  match Hashtbl.find_opt known head with
  | Some s -> s
  | None ->
    let s = match List.filter (( <> ) "") (String.split_on_char ' ' head) with
      | name :: args -> sampler name args
      | [] -> raise (Bad head) in
    Hashtbl.add known head s; s

let run line =
  match String.index_opt line ':' with
  | None -> raise (Bad line)
  | Some i -> find (String.sub line 0 i) (words line (i + 1))

let () =
  match Array.to_list Sys.argv with
  | [_] ->
    (try
       while true do
         print_string (run (input_line stdin)); print_char '\n'
       done
     with End_of_file -> ()
        | Bad s | Failure s | Invalid_argument s -> prerr_endline ("oracle: bad line: " ^ s); exit 2)
  | [_; "gen"; name; count; seed] ->
    Tapes.generate name (int_of_string count) (int_of_string seed)
  | _ -> prerr_endline "usage: oracle < lines, or oracle gen NAME COUNT SEED"; exit 2
