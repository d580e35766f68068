#!/bin/sh
# Checks the theory: `make prove-theory`, from any directory.
#
#   1. copy proofs/coq/*/*.v to build/coq and compile what changed (2 jobs)
#   2. refuse Admitted, admit, Axiom, Parameter, ... of our own
#   3. print the assumptions of every annotated theorem and compare them with
#      proofs/coq/assumptions.txt
#   4. coqchk every compiled module (-norec: our modules; the libraries under
#      them, Coq's own, Coquelicot and Interval, are loaded and not re-checked);
#      not covered: base/PureInterval.v, which only instantiates a functor of
#      Interval (coqchk has no virtual machine and does not end on it)
#   5. refuse a citation in the C code of a theorem that is neither here nor
#      named in proofs/TRUSTED.md; write build/theorems.tsv and docs/theorems.md
#
# A citable theorem carries, directly above it,
#   (** @theorem some-id
#       The statement in words. *)
#
# CI=true: a stale docs/theorems.md or assumptions.txt is a failure instead of
# being rewritten. JOBS=n: number of coqc processes (default 2).
# Last line: `theory: N passed, M failed`; the exit code is 0 if M is 0.
set -u
LC_ALL=C
export LC_ALL

root=$(cd "$(dirname "$0")/.." && pwd) || exit 2
src=$root/proofs/coq
out=$root/build/coq
jobs=${JOBS:-2}
ci=${CI:-false}
passed=0
failed=0
unchecked="base/PureInterval.v"
classical="classic functional_extensionality_dep sig_forall_dec sig_not_dec"

pass() { passed=$((passed + ${1:-1})); }
fail() { failed=$((failed + 1)); echo "theory: FAIL $*"; }

for tool in coqc coqdep coqchk make awk; do
	command -v $tool >/dev/null 2>&1 || {
		echo "theory: $tool not found (Debian: coq libcoq-core-ocaml-dev" \
			"libcoq-coquelicot libcoq-interval)"
		exit 2
	}
done
mkdir -p "$out" "$root/docs" || exit 2
cd "$out" || exit 2
# one run at a time in build/coq
exec 9>lock
if command -v flock >/dev/null 2>&1; then flock 9; fi

# Remove comments (they nest) and strings, keep line numbers.
strip_comments() {
	awk '{
		line = $0; keep = ""; n = length(line)
		for (i = 1; i <= n; i++) {
			two = substr(line, i, 2); one = substr(line, i, 1)
			if (str) { if (one == "\"") str = 0; continue }
			if (two == "(*") { depth++; i++; continue }
			if (depth && two == "*)") { depth--; i++; continue }
			if (one == "\"") { str = 1; continue }
			if (!depth) keep = keep one
		}
		print keep
	}' "$1"
}

# ---- 1. sync, compile ---------------------------------------------------
flags=$(tr '\n' ' ' <"$src/_CoqProject")
dirs=$(awk '$1 == "-Q" { print $2 }' "$src/_CoqProject")
: >files.new
for d in $dirs; do
	mkdir -p "$d" assume/"$d" check/"$d"
	for f in "$src/$d"/*.v; do
		[ -e "$f" ] || continue
		rel=$d/$(basename "$f")
		echo "$rel" >>files.new
		cmp -s "$f" "$rel" || cp "$f" "$rel"
	done
	for f in "$d"/*.v; do
		[ -e "$f" ] || continue
		grep -qx "$f" files.new && continue
		rm -f "${f%.v}".* "assume/${f%.v}".* "check/${f%.v}".*
	done
done
mv files.new files.list
[ -s files.list ] || { echo "theory: no .v files"; exit 2; }

# id <tab> Coq name <tab> module <tab> file <tab> statement, one theorem a line
: >theorems.full
while read -r f; do
	mod=Assay.$(echo "${f%.v}" | tr / .)
	awk -v mod="$mod" -v file="proofs/coq/$f" '
		/^\(\*\* @theorem [a-z0-9-]+[ \t]*$/ { id = $3; text = ""; doc = 1; next }
		doc { line = $0; sub(/^[ \t]+/, "", line)
			if (line ~ /\*\)[ \t]*$/) { sub(/[ \t]*\*\)[ \t]*$/, "", line); doc = 0; want = 1 }
			text = text (text == "" ? "" : " ") line; next }
		want && /^[ \t]*$/ { next }
		want && /^(Theorem|Corollary|Lemma|Proposition|Example|Definition) / {
			name = $2; sub(/[^A-Za-z0-9_'"'"'].*$/, "", name)
			printf "%s\t%s\t%s\t%s\t%s\n", id, name, mod, file, text; want = 0; next }
		want { printf "%s: @theorem %s is not followed by a theorem\n", file, id > "/dev/stderr"; want = 0 }
	' "$f" 2>>annotations.err >>theorems.full
done <files.list
sort -o theorems.full theorems.full
if [ -s annotations.err ]; then
	fail "$(cat annotations.err)"
fi
rm -f annotations.err
dup=$(cut -f1 theorems.full | uniq -d)
[ -z "$dup" ] || fail "theorem id used twice:" $dup

# One assumption file a module: rebuilt when the module or its list changes.
while read -r f; do
	mod=Assay.$(echo "${f%.v}" | tr / .)
	tmp=assume/${f%.v}.v.new
	awk -F'\t' -v mod="$mod" '$3 == mod {
		if (!n++) printf "Require %s.\n", mod
		printf "Goal True. idtac \"@@ %s\". Abort.\nPrint Assumptions %s.%s.\n", $1, mod, $2
	}' theorems.full >"$tmp"
	if [ -s "$tmp" ]; then
		cmp -s "$tmp" "assume/$f" || cp "$tmp" "assume/$f"
	else
		rm -f "assume/${f%.v}".v "assume/${f%.v}".log
	fi
	rm -f "$tmp"
done <files.list

{
	echo "COQC := timeout 240 coqc -q $flags"
	echo 'all: vo logs checks'
	printf 'vo:'; while read -r f; do printf ' %s' "${f}o"; done <files.list; echo
	printf 'checks:'; while read -r f; do
		case " $unchecked " in *" $f "*) ;; *) printf ' %s' "check/${f%.v}.log" ;; esac
	done <files.list; echo
	printf 'check/%%.log: %%.vo\n\t@timeout 180 coqchk -silent -o %s -norec ' "$flags"
	printf 'Assay.$(subst /,.,$*) >$@.new 2>&1 && mv $@.new $@ || { tail -5 $@.new; exit 1; }\n'
	printf 'logs:'; while read -r f; do
		[ -e "assume/$f" ] && printf ' %s' "assume/${f%.v}.log"; done <files.list; echo
	printf '%%.vo: %%.v\n\t@echo "coqc $<"; rm -f $@; $(COQC) -w -ambiguous-paths $<\n'
	printf 'assume/%%.log: assume/%%.v %%.vo\n'
	printf '\t@$(COQC) $< >$@.new 2>&1 && mv $@.new $@ || { cat $@.new; exit 1; }\n'
	# coqdep: keep only the .vo rules
	xargs coqdep $flags <files.list 2>/dev/null | awk '{
		n = index($0, ":"); split(substr($0, 1, n - 1), t, " "); deps = substr($0, n + 1)
		if (t[1] ~ /\.vo$/) { gsub(/[^ ]*\.v( |$)/, "", deps); print t[1] ":" deps } }'
} >theory.mk
start=$(date +%s)
make -s -k -j "$jobs" -f theory.mk all 9>&-
echo "theory: compiled and checked in $(($(date +%s) - start)) s"
while read -r f; do
	if [ -e "${f}o" ] && make -s -q -f theory.mk "${f}o" 2>/dev/null; then
		pass
	else
		fail "$f does not compile"
	fi
done <files.list

# ---- 2. no assumption of our own ----------------------------------------
bad=0
words='Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|Hypothes[ie]s|bypass_check|Unset (Guard|Positivity|Universe) Check(ing)?|Declare ML Module|Typeclasses eauto := debug'
while read -r f; do
	# Hypothesis is fine inside a Section (it becomes a premise of the lemma).
	hits=$(strip_comments "$f" | awk -v words="$words" '
		/^[ \t]*Section / { sec++ } /^[ \t]*End / { if (sec) sec-- }
		{ line = " " $0 " " }
		line ~ "[^A-Za-z0-9_\x27.](" words ")[^A-Za-z0-9_\x27]" {
			if (sec && line ~ /Hypothes[ie]s/) next
			print NR ": " $0 }
		!sec && /^[ \t]*(Variables?|Context) / { print NR ": " $0 }')
	if [ -n "$hits" ]; then
		bad=1
		fail "$f: forbidden word: $hits"
	fi
done <files.list
[ $bad -eq 1 ] || pass

# ---- 3. assumptions -----------------------------------------------------
: >assumed.tsv
while read -r f; do
	log=assume/${f%.v}.log
	[ -e "$log" ] && [ -e "${f}o" ] || continue
	awk '
		function flush() { if (id != "") print id "\t" (names == "" ? "none" : names) }
		/^@@ / { flush(); id = $2; names = ""; next }
		/^[A-Za-z_][A-Za-z0-9_.\x27]*( :.*)?$/ && $1 != "Axioms:" && $1 != "Closed" {
			n = $1; sub(/^.*\./, "", n); if (n != "") names = names (names == "" ? "" : " ") n }
		/^[A-Za-z_].* is (assumed|positive)/ { names = names " UNSAFE" }
		END { flush() }' "$log"
done <files.list | while IFS='	' read -r id names; do
	printf '%s\t%s\n' "$id" "$(echo "$names" | tr ' ' '\n' | sort -u | tr '\n' ' ' | sed 's/ $//')"
done >assumed.tsv
sort -o assumed.tsv assumed.tsv

committed=$src/assumptions.txt
[ -e "$committed" ] || : >"$committed"
stale=0
: >refused.ids
while IFS='	' read -r id name mod file text; do
	got=$(awk -F'\t' -v id="$id" '$1 == id { print $2 }' assumed.tsv)
	want=$(awk -F'\t' -v id="$id" '$1 == id { print $2 }' "$committed")
	if [ -z "$got" ]; then
		echo "$id" >>refused.ids
		fail "$id ($mod.$name): no assumptions printed"
		continue
	fi
	extra=
	for a in $got; do
		case " $classical none " in *" $a "*) ;; *) extra="$extra $a" ;; esac
	done
	if [ "$got" = "$want" ]; then
		pass
	elif [ -n "$extra" ]; then
		echo "$id" >>refused.ids
		fail "$id ($mod.$name) rests on:$extra"
	elif [ "$ci" = true ]; then
		fail "$id ($mod.$name): assumptions.txt says '$want', found '$got'"
	else
		pass
		stale=1
	fi
done <theorems.full
gone=$(cut -f1 "$committed" | grep -v '^#' | while read -r id; do
	cut -f1 theorems.full | grep -qx "$id" || echo "$id"
done)
if [ -n "$gone" ]; then
	if [ "$ci" = true ]; then
		fail "assumptions.txt names unknown theorems:" $gone
	else
		stale=1
	fi
fi
if [ $stale -eq 1 ]; then
	{
		echo '# Assumptions of each theorem (Print Assumptions). Generated by proofs/theory.sh.'
		echo '# Anything beyond the four axioms of the classical reals is refused unless listed here.'
		while IFS='	' read -r id rest; do
			new=$(awk -F'\t' -v id="$id" '$1 == id' assumed.tsv)
			old=$(awk -F'\t' -v id="$id" '$1 == id' "$committed")
			ok=1
			for a in $(echo "$new" | cut -f2); do
				case " $classical none " in *" $a "*) ;; *) ok=0 ;; esac
			done
			if [ $ok -eq 1 ] && [ -n "$new" ]; then echo "$new"
			elif [ -n "$old" ]; then echo "$old"; fi
		done <theorems.full
	} >assumptions.new
	cp assumptions.new "$committed"
	echo "theory: proofs/coq/assumptions.txt rewritten"
fi

# ---- 4. coqchk ----------------------------------------------------------
while read -r f; do
	[ -e "${f}o" ] || continue
	case " $unchecked " in *" $f "*) continue ;; esac
	log=check/${f%.v}.log
	if [ -e "$log" ] && make -s -q -f theory.mk "$log" 2>/dev/null &&
		! awk '/type-in-type|unsafe|positivity/ && !/<none>/ { bad = 1 } END { exit !bad }' "$log" &&
		! grep -q 'Assay\.' "$log"; then
		pass
	else
		fail "coqchk $f"
	fi
done <files.list
echo "theory: coqchk covers all modules but: $unchecked"

# ---- 5. tables ----------------------------------------------------------
cut -f1-4 theorems.full >"$root/build/theorems.tsv"
cited_by() {
	(cd "$root" && for d in accountant mechanisms algorithms certificate audit; do
		[ -d "$d" ] && find "$d" -name '*.[ch]' -print
	done | sort | xargs -r grep -lE "(^|[^A-Za-z0-9_-])$1(\$|[^A-Za-z0-9_-])" 2>/dev/null) |
		tr '\n' ' ' | sed 's/ $//; s/ /, /g'
}
# ids in C statements that cite a theorem, and in [Coq: id] or [Theorem: id]
citations() {
	(cd "$root" && for d in accountant mechanisms algorithms certificate audit; do
		[ -d "$d" ] && find "$d" -name '*.[ch]' -print
	done | sort | xargs -r awk '
		{
			line = $0
			while (match(line, /\[(Coq|Theorem): [a-z0-9, -]+\]/)) {
				s = substr(line, RSTART, RLENGTH); line = substr(line, RSTART + RLENGTH)
				sub(/^\[[A-Za-z]+: /, "", s); sub(/\]$/, "", s)
				n = split(s, t, /, */); for (i = 1; i <= n; i++) print t[i] "\t" FILENAME
			}
			stmt = stmt " " $0
			if ($0 ~ /[;{}]/) {
				if (stmt ~ /_cite\(|price_[a-z]+\(|(pure|rho)_id2? *=/)
					while (match(stmt, /"[a-z0-9]+(-[a-z0-9]+)*"/)) {
						print substr(stmt, RSTART + 1, RLENGTH - 2) "\t" FILENAME
						stmt = substr(stmt, RSTART + RLENGTH)
					}
				stmt = ""
			}
		}
	') | sort -u
}
short() {
	case $1 in
	"$classical") echo "classical reals" ;;
	none | '') echo "${1:-?}" ;;
	*) extra=$(for a in $1; do
		case " $classical " in *" $a "*) ;; *) echo "$a" ;; esac
	done | wc -l)
		if [ "$extra" -eq 0 ]; then echo "$1" | sed 's/ /, /g'
		else echo "classical reals; $extra of primitive integers"; fi ;;
	esac
}
# Every cited id is a theorem of ours or is named (`id`) in TRUSTED.md.
trusted=$root/proofs/TRUSTED.md
citations >cited.tsv
cut -f1 theorems.full | sort -u >known.ids
cut -f1 cited.tsv | sort -u | comm -23 - known.ids >uncovered.ids
unknown=$(while read -r id; do
	grep -q "\`$id\`" "$trusted" 2>/dev/null || echo "$id"
done <uncovered.ids | tr '\n' ' ')
if [ -z "$unknown" ]; then
	pass
else
	fail "cited, but neither in proofs/coq nor in proofs/TRUSTED.md: $unknown"
fi
{
	echo '# Theorems'
	echo
	echo 'Generated by `make prove-theory`; do not edit. Every row is compiled by Coq, re-checked by coqchk, and'
	echo 'carries the output of `Print Assumptions`. *Classical reals* stands for four axioms of the standard library:'
	echo '`classic`, `functional_extensionality_dep`, `sig_forall_dec`, `sig_not_dec`.'
	echo
	echo '| id | statement | Coq name | file | assumptions | cited by | status |'
	echo '|---|---|---|---|---|---|---|'
	while IFS='	' read -r id name mod file text; do
		got=$(awk -F'\t' -v id="$id" '$1 == id { print $2 }' assumed.tsv)
		status=machine-checked
		grep -qx "$id" refused.ids && status='**does not check**'
		printf '| %s | %s | `%s` | %s | %s | %s | %s |\n' "$id" \
			"$(echo "$text" | sed 's/|/\\|/g')" "$name" "$file" \
			"$(short "$got")" "$(cited_by "$id")" "$status"
	done <theorems.full
	if [ -s uncovered.ids ]; then
		echo
		echo '## Cited, not machine-checked'
		echo
		echo '| id | cited by | status |'
		echo '|---|---|---|'
		while read -r id; do
			status='**unknown**'
			grep -q "\`$id\`" "$trusted" 2>/dev/null && status='paper-proved: proofs/TRUSTED.md'
			printf '| %s | %s | %s |\n' "$id" "$(awk -F'\t' -v id="$id" '$1 == id { print $2 }' cited.tsv |
				tr '\n' ' ' | sed 's/ $//; s/ /, /g')" "$status"
		done <uncovered.ids
	fi
} >theorems.md
doc=$root/docs/theorems.md
if cmp -s theorems.md "$doc"; then
	pass
elif [ "$ci" = true ]; then
	fail "docs/theorems.md is stale: run make prove-theory and commit it"
else
	cp theorems.md "$doc"
	echo "theory: docs/theorems.md rewritten"
	pass
fi

echo "theory: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
