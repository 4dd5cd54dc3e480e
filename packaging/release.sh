#!/usr/bin/env bash
# Builds a release in bin/release: the program as .tar.gz, .deb and .rpm, its bill of
# materials and checksums of them all. The same commit gives the same bytes in any folder
# with the same tools: times are the commit's, names are sorted, and nothing depends on the
# machine.
#
#   packaging/release.sh NFPM       the path of nfpm
set -euo pipefail
cd "$(dirname "$0")/.."
nfpm=$1
export LC_ALL=C TZ=UTC
umask 022

commit=$(git log -1 --date=format:%Y%m%d --format=%cd.%h)
if tag=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null); then
    VERSION=${tag#v}
elif tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null); then
    VERSION=${tag#v}+$commit # sorts between the last release and the next
else
    VERSION=0.0.0~$commit # sorts before any release
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
ARCH=$(go env GOARCH)
export VERSION SOURCE_DATE_EPOCH ARCH

stage=bin/stage out=bin/release
rm -rf "$stage" "$out"
mkdir -p "$stage"/{man,completions,doc/examples,share} "$out"

# A static program runs on any Linux; Go resolves names instead of the C library.
go build -trimpath -buildvcs="${VCS:-auto}" -tags netgo,osusergo \
    -ldflags '-s -w -linkmode external -extldflags -static' -o "$stage/kproxy" ./cmd/kproxy

"$stage/kproxy" generate man "$stage/man"
gzip -9n "$stage"/man/*.1
"$stage/kproxy" generate completion "$stage/completions"

cp config.example.yaml "$stage/doc/examples/kproxy.yaml"
cp README.md SECURITY.md ARCHITECTURE.md LICENSE "$stage/doc/"
cp -r docs "$stage/doc/"
packaging/sbom.sh "$stage/kproxy" "$stage/doc/third-party-licenses.txt" >"$out/kproxy.cdx.json"
gzip -9n <CHANGELOG.md >"$stage/doc/changelog.gz"
{
    printf 'kproxy (%s-1) unstable; urgency=medium\n\n  * See changelog.gz.\n\n' "$VERSION"
    printf ' -- kproxy maintainers <kproxy@users.noreply.github.com>  %s\n' "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n >"$stage/doc/changelog.Debian.gz"
{
    echo 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/'
    printf 'Source: https://github.com/kproxy/kproxy\n\nFiles: *\nCopyright: 2026 the authors of kproxy\nLicense: Apache-2.0\n'
    echo ' On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.'
    echo 'Comment: The program contains libraries, whose licenses are in third-party-licenses.txt.'
} >"$stage/doc/copyright"
for folder in grafana prometheus; do
    if [ -d "packaging/$folder" ]; then cp -r "packaging/$folder" "$stage/share/"; fi
done
cp config.schema.json policy.schema.json "$stage/share/"
find "$stage" -type f ! -name kproxy -exec chmod 0644 {} +
find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

tar --sort=name --owner=0 --group=0 --numeric-owner --mtime "@$SOURCE_DATE_EPOCH" \
    --transform "s,^\.,kproxy-$VERSION-linux-$ARCH," -C "$stage" -cf - . | gzip -9n >"$out/kproxy-$VERSION-linux-$ARCH.tar.gz"
for packager in deb rpm; do
    "$nfpm" package --config packaging/nfpm.yaml --packager "$packager" --target "$out/"
done
(cd "$out" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
