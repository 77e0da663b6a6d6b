#!/usr/bin/env bash
# The slow half of `tests/run --full`: clang-tidy, and the unit tests under the sanitizers. Called by
# tests/run, which made the release build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { printf '\n== %s (%s)\n' "$1" "$(date -u +%H:%M:%SZ)"; }
jobs=$(nproc)

say "clang-tidy"
git ls-files '*.cpp' | grep -E '^(queries|detectors|alerts|daemon)/' |
  xargs -P "$jobs" -n 4 clang-tidy-14 -p build/release --quiet --warnings-as-errors='*' \
    --extra-arg=-Wno-unknown-warning-option \
    > build/tidy.log 2> build/tidy.err || { cat build/tidy.log; tail -5 build/tidy.err; exit 1; }

for kind in address,undefined thread; do
  folder=build/san-${kind%%,*}
  say "sanitizer build: $kind"
  cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DOUTCOMED_SANITIZE="$kind" \
    > "$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
  ninja -C "$folder" -j "$jobs"
  say "tests under $kind"
  # Tests of whole programs run in the release build; here the code itself is watched.
  ctest --test-dir "$folder" --output-on-failure -j "$jobs" --timeout 900 -LE 'full|program' |
    tail -n 40
done
