(* Digits floor(2^(64 m) r) of the real numbers that the samplers compare with,
   by integer interval arithmetic: the precision is raised until one integer
   part is left. Written apart from the C library (which uses Arb). *)

let pow2 n = Z.shift_left Z.one n
let fdiv = Z.fdiv
let cdiv = Z.cdiv

(* lo / 2^p <= r <= hi / 2^p, all numbers here are >= 0 *)
type iv = { lo : Z.t; hi : Z.t }

let exact z = { lo = z; hi = z }
let add a b = { lo = Z.add a.lo b.lo; hi = Z.add a.hi b.hi }
let sub a b = { lo = Z.max Z.zero (Z.sub a.lo b.hi); hi = Z.sub a.hi b.lo }
let mul p a b =
  { lo = Z.shift_right (Z.mul a.lo b.lo) p;
    hi = Z.succ (Z.shift_right (Z.mul a.hi b.hi) p) }
let div p a b =
  { lo = fdiv (Z.shift_left a.lo p) b.hi; hi = cdiv (Z.shift_left a.hi p) b.lo }
let rat p num den =
  { lo = fdiv (Z.shift_left num p) den; hi = cdiv (Z.shift_left num p) den }
let root p a =
  { lo = Z.sqrt (Z.shift_left a.lo p);
    hi = Z.succ (Z.sqrt (Z.shift_left a.hi p)) }

(* exp(-num/den): alternating series of the argument / 2^h, then h squarings *)
let exp_neg p num den =
  let h = max 0 (Z.numbits (cdiv num den) + 2) in
  let q = p + h + 16 in
  let x = rat q num (Z.shift_left den h) in
  let rec series i term plus minus =
    (* plus, minus: sums of the even and of the odd terms before term i *)
    if Z.leq term.hi (Z.of_int 2) then
      { lo = Z.max Z.zero (Z.sub (Z.sub plus.lo minus.hi) term.hi);
        hi = Z.add (Z.sub plus.hi minus.lo) term.hi }
    else
      let plus, minus =
        if i land 1 = 0 then (add plus term, minus) else (plus, add minus term) in
      let t = mul q term x and k = Z.of_int (i + 1) in
      series (i + 1) { lo = fdiv t.lo k; hi = cdiv t.hi k } plus minus in
  let r = ref (series 0 (exact (pow2 q)) (exact Z.zero) (exact Z.zero)) in
  for _ = 1 to h do r := mul q !r !r done;
  { lo = Z.shift_right !r.lo (q - p);
    hi = Z.min (pow2 p) (Z.succ (Z.shift_right !r.hi (q - p))) }

(* 1/n arctan series: pi = 16 atan(1/5) - 4 atan(1/239) *)
let atan_inv p n =
  let n2 = Z.of_int (n * n) in
  let rec go i t plus minus =
    if Z.leq t.hi Z.one then
      { lo = Z.sub (Z.sub plus.lo minus.hi) t.hi;
        hi = Z.add (Z.sub plus.hi minus.lo) t.hi }
    else
      let k = Z.of_int (2 * i + 1) in
      let u = { lo = fdiv t.lo k; hi = cdiv t.hi k } in
      let plus, minus =
        if i land 1 = 0 then (add plus u, minus) else (plus, add minus u) in
      go (i + 1) { lo = fdiv t.lo n2; hi = cdiv t.hi n2 } plus minus in
  go 0 (rat p Z.one (Z.of_int n)) (exact Z.zero) (exact Z.zero)
let pi p =
  let scale k a = { lo = Z.mul (Z.of_int k) a.lo; hi = Z.mul (Z.of_int k) a.hi } in
  sub (scale 16 (atan_inv p 5)) (scale 4 (atan_inv p 239))

(* P[N(0,1) >= sqrt(num/den)] = 1/2 - phi(x) (x + x^3/3 + x^5/(3 5) + ...) *)
let normal_tail p num den =
  let q = p + 32 in
  let x2 = rat q num den in
  let x = root q x2 in
  let bits = Z.to_int (cdiv num den) in
  let rec go i t sum =
    let t = mul q t x2 and k = Z.of_int (2 * i + 1) in
    let t = { lo = fdiv t.lo k; hi = cdiv t.hi k } in
    let sum = add sum t in
    (* past i > x^2 the terms fall at least by half *)
    if i > bits + 1 && Z.leq t.hi (Z.of_int 4) then
      { lo = sum.lo; hi = Z.add sum.hi (Z.shift_left t.hi 1) }
    else go (i + 1) t sum in
  let s = go 1 x x in
  let two_pi = let a = pi q in { lo = Z.shift_left a.lo 1; hi = Z.shift_left a.hi 1 } in
  let phi = div q (exp_neg q num (Z.shift_left den 1)) (root q two_pi) in
  let r = sub (exact (pow2 (q - 1))) (mul q phi s) in
  { lo = Z.shift_right r.lo 32; hi = Z.succ (Z.shift_right r.hi 32) }

(* floor(2^(64 m) r) for an r > 0 that is no multiple of 2^(-64 m) *)
let digit m approx =
  let rec go p =
    if p > 64 * m + 4096 then failwith "digit: no decision";
    let a = approx p in
    let s = p - 64 * m in
    let d = Z.shift_right a.lo s in
    if Z.lt a.hi (Z.shift_left (Z.succ d) s)
       && (Z.sign d = 0 || Z.gt a.lo (Z.shift_left d s))
    then d else go (p + 64) in
  go (64 * m + 64)

let memo f =
  let table = Hashtbl.create 1024 in
  fun x -> match Hashtbl.find_opt table x with
    | Some y -> y
    | None -> let y = f x in Hashtbl.add table x y; y

(* tail p j encloses P[X >= j], j >= 1 (one-sided laws: on 0, 1, ...) *)
type law = { tail : int -> Z.t -> iv; two_sided : bool }

let half a = { lo = Z.shift_right a.lo 1; hi = Z.succ (Z.shift_right a.hi 1) }

(* weights exp(-|k| s/t) *)
let laplace s t =
  { two_sided = true;
    tail = fun p j ->
      let q = exp_neg p s t in
      div p (exp_neg p (Z.mul j s) t) (add (exact (pow2 p)) q) }
let laplace_blocks s t b =
  { two_sided = false;
    tail = fun p j -> exp_neg p (Z.shift_left (Z.mul j s) b) t }

(* weights exp(-k^2 num / (2 den)) *)
let gaussian_table two_sided num den p =
  let q = p + 64 in
  let e = exp_neg q num (Z.shift_left den 1) in
  let e2 = mul q e e in
  let rec weights acc w ratio =
    if Z.leq w.hi (Z.of_int 8) then (acc, w, ratio)
    else weights (w :: acc) (mul q w ratio) (mul q ratio e2) in
  let ws, last, ratio = weights [] (exact (pow2 q)) e in
  (* the rest is at most last / (1 - ratio) *)
  let rest = { lo = Z.zero; hi = (div q last (sub (exact (pow2 q)) ratio)).hi } in
  let n = List.length ws in
  let suffix = Array.make (n + 1) rest in
  List.iteri (fun i w -> suffix.(n - 1 - i) <- add suffix.(n - i) w) ws;
  let total = if two_sided then
      let s = suffix.(1) in add (exact (pow2 q)) (add s s)
    else suffix.(0) in
  Array.map (fun s ->
      let r = div q s total in
      { lo = Z.shift_right r.lo 64; hi = Z.succ (Z.shift_right r.hi 64) }) suffix
let gaussian_law two_sided num den =
  let table = memo (gaussian_table two_sided num den) in
  { two_sided;
    tail = fun p j ->
      let a = table p in
      let n = Array.length a - 1 in
      if Z.leq j (Z.of_int n) then a.(Z.to_int j)
      else { lo = Z.zero; hi = a.(n).hi } }
let gaussian n d = gaussian_law true d n
let gaussian_blocks n d b = gaussian_law false (Z.shift_left d (2 * b)) n

(* continuous laws rounded to multiples of 2^-step: X >= j iff the variable
   passes (j - 1/2) 2^-step *)
let scaled step num den =
  if step >= 0 then (num, Z.shift_left den step) else (Z.shift_left num (- step), den)
let rounded_laplace s t step =
  { two_sided = true;
    tail = fun p j ->
      let odd = Z.pred (Z.shift_left j 1) in
      let num, den = scaled step (Z.mul odd s) (Z.shift_left t 1) in
      half (exp_neg p num den) }
let rounded_gaussian n d step =
  { two_sided = true;
    tail = fun p j ->
      let odd = Z.pred (Z.shift_left j 1) in
      let num, den = scaled (2 * step) (Z.mul (Z.mul odd odd) d) (Z.shift_left n 2) in
      if Z.gt num (Z.mul (Z.of_int (4 * p)) den) then { lo = Z.zero; hi = Z.one }
      else normal_tail p num den }

(* digits of F, and a window for the search *)
type cdf = { digits : int -> Z.t -> Z.t; lo : int -> Z.t; hi : int -> Z.t }

let cdf_of law =
  let tail = memo (fun (m, j) -> digit m (fun p -> law.tail p j)) in
  let digits m k =
    if Z.sign k >= 0 then Z.sub (Z.pred (pow2 (64 * m))) (tail (m, Z.succ k))
    else if law.two_sided then tail (m, Z.neg k)
    else Z.zero in
  let hi = memo (fun m ->
      let rec go k = if Z.sign (tail (m, Z.succ k)) = 0 then k else go (Z.shift_left k 1) in
      go Z.one) in
  { digits; hi;
    lo = fun m -> if law.two_sided then Z.neg (Z.succ (hi m)) else Z.minus_one }

(* F(lo + i) = counts.(i) / den, 0 before, 1 after the last *)
let cdf_of_table lo den counts =
  let n = Array.length counts in
  let value k =
    let i = Z.sub k lo in
    if Z.sign i < 0 then Z.zero
    else if Z.geq i (Z.of_int n) then den else counts.(Z.to_int i) in
  { digits = (fun m k -> Samplers.rat_digits (value k) den m);
    lo = (fun _ -> Z.pred lo); hi = fun _ -> Z.add lo (Z.of_int n) }

(* exp(-num/den) *)
let exp_digits num den =
  if Z.sign num = 0 then fun m -> pow2 (64 * m)
  else memo (fun m -> digit m (fun p -> exp_neg p num den))
