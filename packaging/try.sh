#!/usr/bin/env bash
# Tests the result of `make release`: installs the .deb into a folder and runs its program,
# lists the .rpm, runs lintian and systemd-analyze, and builds the release again in another
# folder to compare the bytes. FRESH=1 compiles everything again for that, which takes
# minutes. Steps whose tool is missing are reported and skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD out=$PWD/bin/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() { printf '== %s\n' "$*"; }
absent() { command -v "$1" >/dev/null || { echo "$1 is not installed: left out"; return 0; } && false; }

(cd "$out" && sha256sum --quiet -c SHA256SUMS)

step "the .deb, installed into a folder"
deb=$(echo "$out"/*.deb)
mkdir -p "$work"/deb/var/lib/dpkg/{info,updates,triggers}
touch "$work/deb/var/lib/dpkg/status" "$work/deb/var/lib/dpkg/available"
# Its scripts are for a running system; unpacking does not need them.
dpkg --root="$work/deb" --force-script-chrootless --unpack "$deb" >/dev/null
"$work/deb/usr/bin/kproxy" --version
"$work/deb/usr/bin/kproxy" demo --once --patients 500 | tail -1
find "$work/deb" -path "$work/deb/var" -prune -o -type f -printf '%M %P\n' | sort -k2

step "its manual"
if ! absent mandoc; then
    find "$work/deb/usr/share/man" -name '*.gz' -exec sh -c 'gzip -dc "$1" | mandoc -T lint -W error' _ {} \;
fi
step "its unit by systemd"
if ! absent systemd-analyze; then
    systemd-analyze security --offline=true --threshold=15 --root="$work/deb" kproxy.service | tail -1
fi
step "the .deb by lintian"
if ! absent lintian; then
    # The static program is intended; there is no Debian bug to close.
    lintian --tag-display-limit 0 --fail-on error --suppress-tags \
        statically-linked-binary,initial-upload-closes-no-bugs "$deb"
fi
step "the .rpm"
if ! absent rpm; then
    rpm -qip --nosignature "$out"/*.rpm | sed -n '1,4p'
    test "$(rpm -qlp --nosignature "$out"/*.rpm | grep -c -e '^/usr/bin/kproxy$' -e '/kproxy.service$')" = 2
fi

step "the same bytes again, in another folder"
git clone -q "$root" "$work/again"
if [ -n "${FRESH:-}" ]; then export GOCACHE=$work/cache; fi
(cd "$work/again" && packaging/release.sh "$(echo "$root"/.bin/nfpm-*)" >/dev/null)
diff "$out/SHA256SUMS" "$work/again/bin/release/SHA256SUMS" && echo "the same"
