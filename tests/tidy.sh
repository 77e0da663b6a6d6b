#!/usr/bin/env bash
# clang-tidy over our own code, with the compile commands of build/release (or $1): a part of
# `tests/run --full`.
# 16, because clang 14 can't read GCC 12's <ranges>.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git ls-files --cached --others --exclude-standard '*.cpp' |
  grep -E '^(queries|detectors|alerts|daemon)/' |
  xargs -P "$(nproc)" -n 4 clang-tidy-16 -p "${1:-build/release}" --quiet --warnings-as-errors='*' \
    --extra-arg=-Wno-unknown-warning-option 2> >(grep -vE '^[0-9]+ warnings? (generated|treated)' >&2)
echo "clang-tidy: nothing found"
