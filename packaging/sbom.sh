#!/usr/bin/env bash
# Writes the bill of materials of a program to standard output, and the licenses of all that is
# linked into it, which have to be passed on with it, into a file.
#
#   packaging/sbom.sh PROGRAM LICENSES
set -euo pipefail
program=$(realpath "$1") licenses=$(realpath "$2")
cd "$(dirname "$0")/.."
parser=$(go list -m -f '{{.Dir}}' github.com/pganalyze/pg_query_go/v5)
version=$(go list -m -f '{{.Version}}' github.com/pganalyze/pg_query_go/v5 | sed 's/^v5/16-5/')

# The C library and PostgreSQL's parser, which has protobuf-c and xxHash, are no Go modules.
also=(-also "pkg:github/pganalyze/libpg_query@$version https://github.com/pganalyze/libpg_query/tree/$version \
    $parser/LICENSE $parser/LICENSE.POSTGRESQL $parser/parser/protobuf-c.c $parser/parser/xxhash.c")
if libc=$(dpkg-query -W -f '${source:Version}' libc6-dev 2>/dev/null); then
    also+=(-also "pkg:deb/debian/glibc@$libc https://snapshot.debian.org/package/glibc/$libc/ \
        /usr/share/doc/libc6-dev/copyright /usr/share/common-licenses/LGPL-2.1")
fi
go run ./packaging/sbom -time "${SOURCE_DATE_EPOCH:-0}" -licenses "$licenses" "${also[@]}" "$program"
