#!/usr/bin/env bash
# The slow half of `tests/run --full`: clang-tidy, and the unit tests under the sanitizers. Called by
# tests/run, which made the release build. (The real gateways and the whole crash sweep are tests of the
# label `full`.)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { printf '\n== %s (%s)\n' "$1" "$(date -u +%H:%M:%SZ)"; }
jobs=$(nproc)

# KIND FOLDER TARGETS…: builds these targets (all: every one) and runs their tests.
sanitized() {
  local kind=$1 folder=$2; shift 2
  say "sanitizer build: $kind"
  cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DOUTCOMED_TESTS=ON \
    -DOUTCOMED_SANITIZE="$kind" > "$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
  ninja -C "$folder" -j "$jobs" "$@"
  say "tests under $kind"
  # Tests of whole programs run in the release build; here the code itself is watched.
  ctest --test-dir "$folder" --output-on-failure -j "$jobs" --timeout 900 -LE 'full|program' \
    -E _NOT_BUILT > "$folder.ctest.log" 2>&1 || { tail -n 60 "$folder.ctest.log"; exit 1; }
  tail -n 4 "$folder.ctest.log"
}

say "clang-tidy"
bash tests/tidy.sh build/release

sanitized address,undefined build/san-address all
# OUTCOMED_THREAD_TARGETS=all takes the parts without threads too: simulations of pure functions that need
# half an hour in a build that looks for races.
sanitized thread build/san-thread ${OUTCOMED_THREAD_TARGETS:-thread_tests}
