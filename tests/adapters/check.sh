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
more tensorflow tests/adapters/tensorflow_goldens.py
more tensorflow tests/clients/capture_test.py
more pytorch tests/clients/capture_test.py

echo "$((passed + failed)) tests, $passed passed, $failed failed"
((absent != 0)) && echo "$absent of ${#adapters[@]} adapters could not be installed here"
((failed == 0))
