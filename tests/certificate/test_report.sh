#!/usr/bin/env bash
# The report in a browser: nothing sticks out on a phone or a desk, nothing is
# fetched, no console error, and it prints on A4. Skipped without Chromium.
set -u
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [[ -z $browser ]]; then
  echo "skipped: no Chromium"
  echo "0 passed, 0 failed"
  exit 0
fi
assay=$(realpath "${BUILD:-build}/assay")
here=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0
ok() { # name, condition result
  if [[ $2 -eq 0 ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $1"; fi
}
chrome() {
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --disable-extensions \
    --user-data-dir="$dir/profile" --enable-logging=stderr --v=0 "$@" 2>"$dir/log"
}
src=$dir/source
mkdir -p "$src/proofs/coq"
echo 'int unit;' >"$src/unit.c"
printf 'code\tunit\t3\t3\tunit.c\t%s\n' "$(sha256sum <"$src/unit.c" | cut -d' ' -f1)" >"$src/proofs/results.tsv"
"$assay" keygen -o "$dir/key" >/dev/null
for e in census broken; do
  sed -e 's/users: 50000/users: 5000/' -e 's/confidence: 0.999$/confidence: 0.9999/' "$here/examples/$e/deployment.yaml" >"$dir/$e.yaml"
  "$assay" certify "$dir/$e.yaml" --key "$dir/key.key" -o "$dir/$e" --source "$src" >/dev/null 2>&1
  page=$dir/$e/report.html
  # a copy that measures itself: what is wider than the window, outside of boxes that scroll
  sed 's#</body>#<script>addEventListener("load",()=>{const w=document.documentElement.clientWidth;const out=[...document.querySelectorAll("body *")].filter(x=>!x.closest(".wide")\&\&!x.closest("svg")\&\&x.getBoundingClientRect().right>w+1).map(x=>x.tagName+"."+x.className);document.title="measured:"+(document.documentElement.scrollWidth-w)+":"+out.join(",")+":"+document.querySelectorAll("svg").length})</script></body>#' \
    "$page" >"$dir/$e/measured.html"
  for width in 390 1000; do
    chrome --window-size=$width,900 --dump-dom "file://$dir/$e/measured.html" >"$dir/dom"
    grep -q '<title>measured:0::' "$dir/dom"
    ok "$e at $width px: something sticks out: $(grep -o '<title>[^<]*' "$dir/dom" | head -c 300)" $?
  done
  plots=$([[ $e == broken ]] && echo 1 || echo 2)
  grep -q "<title>measured:0::$plots<" "$dir/dom"
  ok "$e: $plots plots" $?
  chrome --window-size=900,900 --screenshot="$dir/shot.png" "file://$page" >/dev/null
  ! grep -E 'CONSOLE|net::ERR' "$dir/log"
  ok "$e: console" $?
  [[ -s $dir/shot.png ]]
  ok "$e: screenshot" $?
  chrome --no-pdf-header-footer --print-to-pdf="$dir/page.pdf" "file://$page" >/dev/null
  grep -aqE '/MediaBox ?\[ ?0 0 59[456][0-9.]* 84[0-9.]* ?\]' "$dir/page.pdf"
  ok "$e: A4" $?
  pages=$(grep -ac '/Type */Page$\|/Type */Page[^s]' "$dir/page.pdf")
  [[ $pages -ge 2 && $pages -le 9 ]]
  ok "$e: $pages pages" $?
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
