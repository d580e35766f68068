(* Tapes to compare samplers on: random words (splitmix64, so the same lines on
   every machine) mixed with words that force ties, rejections and long runs. *)

let state = ref 0L
let next () =
  let open Int64 in
  state := add !state 0x9E3779B97F4A7C15L;
  let x = !state in
  let x = mul (logxor x (shift_right_logical x 30)) 0xBF58476D1CE4E5B9L in
  let x = mul (logxor x (shift_right_logical x 27)) 0x94D049BB133111EBL in
  logxor x (shift_right_logical x 31)
let below n = Int64.to_int (Int64.unsigned_rem (next ()) (Int64.of_int n))
let pick a = a.(below (Array.length a))
let range a b = a + below (b - a + 1)

let w64 = Z.shift_left Z.one 64
let of_int64 x = Z.extract (Z.of_int64 x) 0 64
let random_word () = of_int64 (next ())
let rec random_bits n =
  if n <= 0 then Z.zero
  else Z.add (Z.extract (random_word ()) 0 (min n 64)) (Z.shift_left (random_bits (n - 64)) (min n 64))
let positive bits = Z.max Z.one (random_bits bits)

(* words that matter to every sampler; a multiple of 232792560 = lcm(1..20) is 0
   modulo every small K, so that the loop of bernoulli_exp_unit goes on *)
let common () =
  match below 8 with
  | 0 -> Z.of_int (below 4)
  | 1 -> Z.sub w64 (Z.of_int (range 1 4))
  | 2 -> Z.add (Z.shift_left Z.one 63) (Z.of_int (range (-1) 1))
  | 3 | 4 -> Z.mul (Z.of_int 232792560) (Z.extract (random_word ()) 0 36)
  | 5 -> Z.of_int (below 1000)
  | _ -> random_word ()

(* the ends of the accepted range of uniform(n), and multiples of n around r *)
let near_uniform n r () =
  let n = Z.max Z.one n in
  if Z.numbits n > 64 then random_word ()
  else
    let top = Z.fdiv w64 n in
    let v = match below 3 with
      | 0 -> Z.add (Z.mul top n) (Z.of_int (range (-2) 2))
      | 1 -> Z.add (Z.mul (Z.rem (random_word ()) top) n) (Z.add r (Z.of_int (range (-1) 1)))
      | _ -> Z.add r (Z.of_int (range (-1) 1)) in
    Z.max Z.zero (Z.min v (Z.pred w64))

let tape special length =
  let heat = pick [| 0; 1; 2; 3 |] in
  let length = if below 4 = 0 then below (length + 1) else length in
  List.init length (fun _ ->
      if below 4 < heat then (if below 2 = 0 then common () else special ())
      else random_word ())

(* big-endian words of a digit of m words *)
let words_of m d = List.init m (fun i -> Z.extract (Z.shift_right d (64 * (m - 1 - i))) 0 64)
(* the words of floor(2^(64 m) r), the last one off by one or not, then more;
   a digit of m words is at most 2^(64 m) *)
let tie digits length =
  let m = pick [| 1; 1; 1; 2; 2; 3 |] in
  let d = Z.add (digits m) (Z.of_int (range (-1) 1)) in
  let d = Z.max Z.zero (Z.min d (Z.pred (Z.shift_left Z.one (64 * m)))) in
  words_of m d @ tape common length

let emit head words =
  print_string head; print_string " :";
  List.iter (fun w -> print_char ' '; print_string (Z.format "%x" w)) words;
  print_char '\n'

let show = Z.to_string
let two name a b = Printf.sprintf "%s %s %s" name (show a) (show b)
let three name a b c = Printf.sprintf "%s %s %s %d" name (show a) (show b) c

(* n lines for parameters that change every 500 lines: the first 4/5 of the
   changes have parameters of at most 31 bits, the rest are larger *)
let each n f =
  let step = 500 in
  let rec go i =
    if i < n then begin
      let large = 5 * i >= 4 * n in
      let line = f large in
      for _ = 1 to min step (n - i) do line () done;
      go (i + step)
    end in
  go 0

let size large = if large then pick [| 40; 63; 64 |] else pick [| 1; 2; 3; 5; 8; 16; 31 |]
let wide large = if large then pick [| 63; 64; 65; 100; 128; 200 |] else pick [| 1; 3; 8; 31; 63; 64 |]

let generate_integer name n =
  match name with
  | "uniform" -> each n (fun large ->
      let k = match below 3 with
        | 0 -> Z.max Z.one (Z.add (Z.shift_left Z.one (wide large)) (Z.of_int (range (-1) 1)))
        | _ -> positive (wide large) in
      let m = (Z.numbits k + 63) / 64 in
      let limit = let top = Z.shift_left Z.one (64 * m) in Z.mul (Z.fdiv top k) k in
      fun () -> emit ("uniform " ^ show k)
          (if below 4 = 0 then tie (fun j -> if j >= m then Z.shift_left limit (64 * (j - m)) else Z.shift_right limit (64 * (m - j))) 6
           else tape (near_uniform k Z.zero) 6))
  | "bernoulli" -> each n (fun large ->
      let q = positive (size large) in
      let p = match below 6 with 0 -> Z.zero | 1 -> q | _ -> Z.rem (random_bits 200) (Z.succ q) in
      fun () -> emit (two name p q) (tape (near_uniform q p) 5))
  | "bernoulli_exp_unit" -> each n (fun large ->
      let q = positive (size large) in
      let p = match below 6 with 0 -> Z.zero | 1 -> q | _ -> Z.rem (random_bits 200) (Z.succ q) in
      fun () -> emit (two name p q) (tape (near_uniform q p) 24))
  | "bernoulli_exp" -> each n (fun large ->
      let q = positive (size large) in
      let p = match below 4 with
        | 0 -> Z.mul q (Z.of_int (below 5))
        | 1 -> Z.rem (random_bits 200) (Z.succ q)
        | _ -> Z.rem (random_bits 200) (Z.mul q (Z.of_int 6)) in
      let p = Z.min p (Z.pred w64) in
      fun () -> emit (two name p q) (tape (near_uniform q (Z.rem p q)) 32))
  | "geometric" | "discrete_laplace" -> each n (fun large ->
      let s = positive (if large then 32 else pick [| 1; 2; 4; 8; 16 |]) in
      let t = positive (if large then pick [| 40; 48 |] else pick [| 1; 2; 4; 8; 16; 31 |]) in
      fun () -> emit (two name s t) (tape (near_uniform t (Z.of_int (below 3))) 40))
  | "discrete_gaussian" -> each n (fun large ->
      let k = positive (if large then pick [| 40; 80 |] else pick [| 1; 3; 6; 10; 16; 24 |]) in
      let d = positive (if large then 32 else pick [| 1; 1; 1; 3; 6; 10 |]) in
      let t = Z.succ (Z.sqrt (Z.fdiv k d)) in
      fun () -> emit (two name k d) (tape (near_uniform t (Z.of_int (below 3))) 60))
  | "permutation" -> each n (fun _ ->
      let k = range 1 10 in
      fun () -> emit (Printf.sprintf "permutation %d" k)
          (tape (near_uniform (Z.of_int (range 1 10)) Z.zero) 12))
  | _ -> raise Not_found

let scale_pair large =
  (* a scale or variance between about 1/8 and 10^4 *)
  let a = positive (if large then 14 else pick [| 1; 3; 6; 10 |]) in
  (a, positive (pick [| 1; 1; 2; 3 |]))

let inverse_lines n head cdf_of =
  each n (fun large ->
      let a, b = scale_pair large in
      let head, (c : Digits.cdf) = head a b, cdf_of a b in
      let at () =
        let u = random_word () in
        let k = Samplers.bisect 64 (c.digits 1) u (c.lo 1) (c.hi 1) in
        let k = match below 8 with 0 -> c.lo 1 | 1 -> c.hi 1 | 2 -> Z.pred k | _ -> k in
        fun m -> c.digits m k in
      fun () -> emit head
          (if below 2 = 0 then tie (at ()) 2 else tape common 4))

let generate_real name n =
  match name with
  | "below_rational" -> each n (fun large ->
      let q = positive (size large) in
      let p = match below 6 with 0 -> Z.zero | 1 -> q | _ -> Z.rem (random_bits 200) (Z.succ q) in
      fun () -> emit (two name p q)
          (if below 2 = 0 then tie (Samplers.rat_digits p q) 3 else tape common 4))
  | "below_exp" -> each n (fun large ->
      let q = positive (size large) in
      let p = match below 4 with 0 -> Z.zero | 1 -> Z.rem (random_bits 200) (Z.mul q (Z.of_int 40))
                               | _ -> Z.rem (random_bits 200) (Z.mul q (Z.of_int 2)) in
      let digits = Digits.exp_digits p q in
      fun () -> emit (two name p q) (if below 2 = 0 then tie digits 3 else tape common 4))
  | "inverse_gaussian" -> inverse_lines n (fun a b -> two name a b) (fun a b -> Digits.(cdf_of (gaussian a b)))
  | "inverse_laplace" -> inverse_lines n (fun a b -> two name b a) (fun a b -> Digits.(cdf_of (laplace b a)))
  | "inverse_rounded_gaussian" ->
    let step = ref 0 in
    inverse_lines n (fun a b -> step := range (-2) 4; three name a b !step)
      (fun a b -> Digits.(cdf_of (rounded_gaussian a b !step)))
  | "inverse_rounded_laplace" ->
    let step = ref 0 in
    inverse_lines n (fun a b -> step := range (-2) 4; three name b a !step)
      (fun a b -> Digits.(cdf_of (rounded_laplace b a !step)))
  | "inverse_table" -> each n (fun _ ->
      let den = Z.succ (positive 40) and size = range 1 8 and lo = Z.of_int (range (-5) 5) in
      let counts = List.sort Z.compare (List.init size (fun _ -> Z.rem (random_word ()) (Z.succ den))) in
      let c = Digits.cdf_of_table lo den (Array.of_list counts) in
      let head = String.concat " " (name :: show lo :: show den :: List.map show counts) in
      fun () -> emit head
          (if below 2 = 0 then
             let k = Z.add lo (Z.of_int (range (-1) size)) in tie (fun m -> c.digits m k) 2
           else tape common 4))
  | "blocks_gaussian" | "blocks_laplace" -> each n (fun large ->
      (* the two block lengths that the library uses: below scale 4096 in constant
         time (keep one bit less), above scale 1024 otherwise *)
      let gauss = name = "blocks_gaussian" in
      let bits_of a b = let x = Z.fdiv a b in Z.numbits (if gauss then Z.sqrt x else x) in
      let rec scale () =
        let a = positive (pick (if gauss then [| 2; 6; 10; 14; 18; 22; 26; 32 |] else [| 2; 4; 6; 8; 10; 11; 13; 16 |]))
        and b = positive 2 in
        let a = if large then Z.mul a (Z.of_int 16) else a in
        let e = bits_of a b in
        if e <= 9 then (a, b, max 0 (e - (if gauss then 4 else 2)))
        else if e >= 13 then (a, b, e - (if gauss then 5 else 3))
        else scale () in
      let a, b, bits = scale () in
      let head, c =
        if gauss then three name a b bits, Digits.(cdf_of (gaussian_blocks a b bits))
        else three name b a bits, Digits.(cdf_of (laplace_blocks b a bits)) in
      let coin x =
        let y = Z.shift_left (Z.shift_right x bits) bits in
        if gauss then Digits.exp_digits (Z.mul b (Z.sub (Z.mul x x) (Z.mul y y))) (Z.shift_left a 1)
        else Digits.exp_digits (Z.mul b (Z.sub x y)) a in
      let coin = Digits.memo coin in
      fun () -> emit head
          (match below 3 with
           | 0 -> (* tie of the block *)
             let k = Samplers.bisect 64 (c.digits 1) (random_word ()) (c.lo 1) (c.hi 1) in
             tie (fun m -> c.digits m k) 14
           | 1 -> (* tie of the coin: block by one clear word, then a place *)
             let u = random_word () in
             let j = Samplers.bisect 64 (c.digits 1) u (c.lo 1) (c.hi 1) in
             let v = match below 4 with
               | 0 -> Z.add (Z.shift_left Z.one 63) (Z.of_int (below 2)) | 1 -> Z.of_int (below 2) | _ -> random_word () in
             let x = Z.add (Z.shift_left j bits) (Z.extract v 0 (max 1 bits)) in
             let x = if bits = 0 then j else x in
             u :: v :: tie (coin x) 12
           | _ -> tape common 16))
  | _ -> raise Not_found

(* words that tie with the table of a Laplace law, or not *)
let noise_words (c : Digits.cdf) =
  match below 4 with
  | 0 ->
    let k = Samplers.bisect 64 (c.digits 1) (random_word ()) (c.lo 1) (c.hi 1) in
    tie (fun m -> c.digits m k) 0
  | 1 -> [ common () ]
  | _ -> [ random_word () ]
let noisy_tape c n = List.concat (List.init n (fun _ -> noise_words c)) @ tape common 6
let noise_scale () = (positive (pick [| 1; 2; 3 |]), positive (pick [| 1; 3; 6; 8 |]))
(* near each other, so that noise decides; now and then the ends of int64 *)
let near centre = match below 12 with
  | 0 -> Z.sub (Z.shift_left Z.one 62) (Z.of_int (below 3))
  | 1 -> Z.add (Z.neg (Z.shift_left Z.one 62)) (Z.of_int (below 3))
  | _ -> Z.add centre (Z.of_int (range (-12) 12))

let generate_mechanism name n =
  match name with
  | "sparse_vector" -> each n (fun _ ->
      let s1, t1 = noise_scale () and s2, t2 = noise_scale () in
      let asked = range 1 9 and c = range 1 4 and u = range (-3) 3 in
      let centre = Z.of_int (range (-50) 50) in
      let numbers = List.init (2 * asked) (fun _ -> near centre) in
      let head = String.concat " " (name :: List.map show ([ s1; t1; s2; t2; Z.of_int c; Z.of_int u ] @ numbers)) in
      let c1 = Digits.(cdf_of (laplace s1 t1)) and c2 = Digits.(cdf_of (laplace s2 t2)) in
      fun () -> emit head (let l = noise_words c1 @ noisy_tape c2 asked in
                           if below 8 = 0 then List.filteri (fun i _ -> i < asked) l else l))
  | "noisy_max" -> each n (fun _ ->
      let s, t = noise_scale () in
      let k = range 1 8 in
      let centre = Z.of_int (range (-50) 50) in
      let head = String.concat " " (name :: List.map show (s :: t :: List.init k (fun _ -> near centre))) in
      let c = Digits.(cdf_of (laplace s t)) in
      fun () -> emit head (let l = noisy_tape c k in
                           if below 8 = 0 then List.filteri (fun i _ -> i < k - 1) l else l))
  | _ -> raise Not_found

let names = [ "uniform"; "bernoulli"; "bernoulli_exp_unit"; "bernoulli_exp"; "geometric"; "discrete_laplace";
              "discrete_gaussian"; "permutation"; "below_rational"; "below_exp"; "inverse_gaussian"; "inverse_laplace";
              "inverse_rounded_gaussian"; "inverse_rounded_laplace"; "inverse_table"; "blocks_gaussian"; "blocks_laplace";
              "sparse_vector"; "noisy_max" ]

let generate name count seed =
  state := Int64.of_int seed;
  try (try generate_integer name count with Not_found ->
       try generate_real name count with Not_found -> generate_mechanism name count)
  with Not_found -> prerr_endline ("oracle: no sampler " ^ name ^ "; " ^ String.concat " " names); exit 2
