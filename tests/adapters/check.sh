#!/usr/bin/env bash
# Installs ready adapters and judges them. What candidates/NAME/known.txt lists as wrong in a library may fail, nothing
# else may. An adapter that cannot be installed here is said, and is no failure. Ends with counts.
#
#   tests/adapters/check.sh [--suite NAME[,..]] [ADAPTER..]     default: smoke,traps and every adapter
set -uo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
cd -- "$root" || exit 4
suites=smoke,traps
if [[ ${1-} == --suite ]]; then
  suites=$2
  shift 2
fi
adapters=("$@")
if ((${#adapters[@]} == 0)); then
  for manifest in candidates/*/adapter.json; do adapters+=("$(basename -- "$(dirname -- "$manifest")")"); done
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 absent=0
for adapter in "${adapters[@]}"; do
  begin=$SECONDS
  if ! ./run install "$adapter" >"$log" 2>&1; then
    printf '%-12s not installed here: %s\n' "$adapter" "$(grep -m 1 error "$log")"
    ((absent += 1))
    continue
  fi
  known=()
  if [[ -e candidates/$adapter/known.txt ]]; then known=(--known "candidates/$adapter/known.txt"); fi
  if ./run check "$adapter" --suite "$suites" "${known[@]}" >"$log" 2>&1; then
    ((passed += 1))
  else
    cat "$log"
    ((failed += 1))
  fi
  printf '%-12s %s (%d s)\n' "$adapter" "$(tail -n 1 "$log")" $((SECONDS - begin))
done

# more ADAPTER SCRIPT: a test that runs in the Python of one of the adapters above.
more() {
  [[ " ${adapters[*]} " == *" $1 "* ]] && ./run install "$1" >/dev/null 2>&1 || return
  if WGRAD_PROGRAM=./run ./run python --of "$1" "$2" >"$log" 2>&1; then ((passed += 1)); else ((failed += 1)); fi
  tail -n 8 "$log"
}
# expect STATUS WORDS..: a check of one adapter that must end so.
expect() {
  local wanted=$1 adapter=${2%%:*} status=0
  shift
  [[ " ${adapters[*]} " == *" $adapter "* ]] && ./run install "$adapter" >/dev/null 2>&1 || return
  ./run check "$@" >"$log" 2>&1 || status=$?
  printf '%-12s exit status %d, due %d: %s\n' "$adapter" "$status" "$wanted" "$*"
  if ((status == wanted)); then ((passed += 1)); else ((failed += 1)); fi
}
# The default kernel sums half and bfloat16 in their own type: right by that, wrong by a float32 accumulator.
for dtype in f16 bf16; do
  problem=n16_i12x12_c3_k3x3_o4_same_$dtype
  expect 0 tensorflow:cpu --problem "$problem" --class "$dtype=order:$dtype"
  expect 1 tensorflow:cpu --problem "$problem" --class "$dtype=wide"
done
more tensorflow tests/adapters/tensorflow_goldens.py
more tensorflow tests/clients/capture_test.py
more pytorch tests/clients/capture_test.py

echo "$((passed + failed)) tests, $passed passed, $failed failed"
((absent != 0)) && echo "$absent of ${#adapters[@]} adapters could not be installed here"
((failed == 0))
