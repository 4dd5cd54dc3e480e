#!/usr/bin/env bash
# Fetches psql of another release of Debian into the folder FOLDER, with the libraries
# it runs with, unless it is there, and prints the path of a script that starts it:
#
#   integration/clients/psql.sh FOLDER SUITE MAJOR     such as .psql trixie 17
#
# It needs apt-get, and changes nothing of the system's packages or lists.
set -euo pipefail

folder=${1:?"usage: integration/clients/psql.sh FOLDER SUITE MAJOR"}/$3
suite=$2 major=$3
mkdir -p "$folder/lists/partial" "$folder/archives/partial"
folder=$(cd "$folder" && pwd)
start=$folder/psql

apt() {
    "$1" -q -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$folder/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$folder" \
        -o APT::Sandbox::User=root "${@:2}"
}

# libraries are the packages that a package's programs are linked with, all the way down.
libraries() {
    local direct
    mapfile -t direct < <(apt apt-cache depends --important "$1" | sed -n 's/^ *|\?Depends: \(lib.*\)/\1/p')
    apt apt-cache depends --recurse --important "${direct[@]}" | grep '^lib' | sort -u
}

if [ ! -x "$start" ]; then
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$keyring] http://deb.debian.org/debian $suite main" >"$folder/sources.list"
    apt apt-get update >&2
    mapfile -t packages < <(libraries "postgresql-client-$major")
    (cd "$folder/archives" && apt apt-get download "postgresql-client-$major" "${packages[@]}" >&2)
    for archive in "$folder"/archives/*.deb; do
        dpkg-deb -x "$archive" "$folder/root"
    done
    rm -r "$folder/lists" "$folder/archives"
    # The suite's own dynamic linker: its C library is newer than the machine's.
    linker=$(find "$folder/root" -name 'ld-linux-*.so.*' -type f | head -n 1)
    cat >"$start.new" <<END
#!/bin/sh
exec "$linker" --library-path "$(dirname "$linker")" "$folder/root/usr/lib/postgresql/$major/bin/psql" "\$@"
END
    chmod +x "$start.new"
    "$start.new" --version >&2
    mv "$start.new" "$start"
fi
echo "$start"
