#!/bin/sh
# Starts the Alertmanager that was only unpacked:  tests/support/alertmanager.sh PROGRAM [OPTION…]
# Debian's build wants its templates at a fixed place. Where they aren't, empty ones are put there: in a
# mount namespace of its own, or in a plain chroot, which can't have one, for good.
set -eu
templates=/usr/share/prometheus/alertmanager
# The one that is looked for comes last: another start may be a moment behind.
put='mkdir -p "$0" && : >"$0/email.tmpl" && : >"$0/default.tmpl"'

[ -e $templates/default.tmpl ] && exec "$@"
for flags in -m -rm; do
  unshare $flags true 2>/dev/null || continue
  exec unshare $flags sh -c "mount -t tmpfs none /usr/share && $put && exec \"\$@\"" $templates "$@"
done
if ! sh -c "$put" $templates 2>/dev/null; then
  echo "alertmanager.sh: can't write $templates: run this as root, or install prometheus-alertmanager" >&2
  exit 1
fi
exec "$@"
