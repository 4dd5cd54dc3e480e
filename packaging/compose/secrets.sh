#!/bin/sh
# Builds kproxy's image, and writes random passwords and the configuration with the
# analyst's verifier to secrets/. Existing files stay.
set -eu
cd "$(dirname "$0")"
umask 077
if [ -e secrets ]; then
    echo "secrets/ is there already: remove it, and the volume, to begin anew" >&2
    exit 1
fi
docker build -t kproxy ../..

mkdir secrets
for name in postgres owner reader analyst; do
    head -c 24 /dev/urandom | base64 | tr '+/' '-_' >"secrets/$name"
done
printf '*:*:*:postgres:%s\n' "$(cat secrets/postgres)" >secrets/pgpass
verifier=$(docker run --rm -i kproxy password <secrets/analyst)
sed "s|VERIFIER|$verifier|" kproxy.yaml >secrets/kproxy.yaml
# Compose mounts them unchanged, and kproxy runs as nobody in its container. Only you can
# enter the folder, so others cannot read them.
chmod 0444 secrets/*
echo "The analyst's password is in secrets/analyst."
