#!/bin/sh
# Creates the user and gives its group access to the configuration. The service is neither
# enabled nor started, because it has nothing to publish yet.
set -e

if command -v systemd-sysusers >/dev/null; then
    systemd-sysusers kproxy.conf
elif ! getent passwd kproxy >/dev/null; then
    useradd --system --no-create-home --home-dir / --shell /usr/sbin/nologin --user-group kproxy
fi
chgrp kproxy /etc/kproxy
chmod 0750 /etc/kproxy

if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || true
    systemctl try-restart kproxy.service || true
fi
