#!/usr/bin/env bash
# Fetches PostgreSQL's own regression tests from the source package of Debian 12
# into the folder FOLDER, unless they are there, and prints where they are:
#
#   integration/regress.sh FOLDER
#
# It needs apt-get, and changes nothing of the system's packages or lists.
set -euo pipefail

folder=${1:?"usage: integration/regress.sh FOLDER"}
mkdir -p "$folder/lists/partial"
folder=$(cd "$folder" && pwd)

found() { compgen -G "$folder/postgresql-15-*/src/test/regress/sql" | head -n 1; }

if [ -z "$(found)" ]; then
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    cat >"$folder/sources.list" <<EOF
deb-src [signed-by=$keyring] http://deb.debian.org/debian bookworm main
deb-src [signed-by=$keyring] http://deb.debian.org/debian-security bookworm-security main
EOF
    apt() {
        "$1" -q -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=- \
            -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder" "${@:2}"
    }
    apt apt-get update >&2
    # The newest that the mirror has: security updates leave it when the next comes.
    for version in $(apt apt-cache showsrc postgresql-15 | sed -n 's/^Version: //p' | sort -rV | uniq); do
        (cd "$folder" && apt apt-get source --download-only "postgresql-15=$version" >&2) || continue
        tar -C "$folder" -xf "$folder"/postgresql-15_*.orig.tar.* --transform 's,^[^/]*,postgresql-15-source,' \
            --wildcards '*/src/test/regress/sql' '*/src/test/regress/data'
        break
    done
fi
dirname "$(found)"
