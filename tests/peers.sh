#!/bin/sh
# Puts the servers that integration tests and the demo run beside outcomed into build/peers/bin:
# prometheus, promtool, prometheus-alertmanager, amtool, victoria-metrics, vmalert; and PostgreSQL 15
# into build/peers/postgresql, with links to initdb, postgres, psql.
# Debian's packages are unpacked, never installed: nothing outside the folder changes, root isn't
# needed. Run again it does nothing; silent unless something goes wrong.
#   tests/peers.sh [FOLDER]      FOLDER, else $OUTCOMED_PEERS, else build/peers
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
peers=${1:-${OUTCOMED_PEERS:-$here/../build/peers}}
packages='prometheus prometheus-alertmanager victoria-metrics'
programs='prometheus promtool prometheus-alertmanager amtool victoria-metrics vmalert'

# PostgreSQL finds its files from where its programs lie, so its tree stays together.
postgres_packages='postgresql-15 postgresql-client-15'
postgres_programs='initdb postgres psql'
postgres_folder=usr/lib/postgresql/15/bin

complete() {
  for program in $programs $postgres_programs; do
    [ -x "$peers/bin/$program" ] || return 1
  done
}

complete && exit 0
packages="$packages $postgres_packages"
for tool in apt-get dpkg-deb; do
  if ! command -v "$tool" >/dev/null; then
    echo "peers.sh: $tool is missing: this needs Debian; elsewhere put $programs into $peers/bin" >&2
    exit 1
  fi
done

mkdir -p "$peers/bin"
peers=$(CDPATH='' cd -- "$peers" && pwd)
work=$(mktemp -d "$peers/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$work/deb" "$work/lists/partial" "$work/cache/archives/partial"

# With lists of its own a user without root (or a fresh container) can ask for packages as well.
quiet='-qq -o APT::Sandbox::User='
own="-o Dir::State::Lists=$work/lists -o Dir::Cache=$work/cache"
# shellcheck disable=SC2086  # The options are words.
if ! (cd "$work/deb" && apt-get $quiet download $packages >"$work/log" 2>&1); then
  if ! { apt-get $quiet $own update && cd "$work/deb" && apt-get $quiet $own download $packages; } \
      >>"$work/log" 2>&1; then
    cat "$work/log" >&2
    echo "peers.sh: can't download $packages; are Debian's package sources reachable?" >&2
    exit 1
  fi
fi

for deb in "$work"/deb/*.deb; do
  dpkg-deb -x "$deb" "$work/root"
done
for program in $programs; do
  # Moved last and in one step, so that an interrupted run leaves no half program behind.
  mv -f "$work/root/usr/bin/$program" "$peers/bin/$program"
done
mkdir -p "$work/postgresql/usr/lib" "$work/postgresql/usr/share"
mv "$work/root/usr/lib/postgresql" "$work/postgresql/usr/lib/"
mv "$work/root/usr/share/postgresql" "$work/postgresql/usr/share/"
rm -rf "$peers/postgresql"
mv "$work/postgresql" "$peers/postgresql"
for program in $postgres_programs; do
  ln -sfn "../postgresql/$postgres_folder/$program" "$peers/bin/$program"
done
