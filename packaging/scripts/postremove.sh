#!/bin/sh
# What people and kproxy wrote stays, and the log and the database can be evidence: at a purge, this
# says where it is, and how to remove it.
set -e

say() { printf 'kproxy: %s\n' "$1" >&2; }

if [ "$1" = purge ]; then
    for folder in /etc/kproxy /var/log/kproxy; do
        if [ -n "$(ls -A "$DPKG_ROOT$folder" 2>/dev/null)" ]; then
            case $folder in
            /etc/*) say "$folder stays: it has the passwords of roles that still exist in the database. Drop these, then remove it with: rm -r $folder" ;;
            *) say "$folder stays: it says who asked what. Remove it with: rm -r $folder" ;;
            esac
        elif [ -d "$DPKG_ROOT$folder" ]; then
            rmdir "$DPKG_ROOT$folder"
        fi
    done
    say "the database keeps what 'kproxy setup' made there, the replication slot among it, which keeps its log: /usr/share/doc/kproxy/docs/operations.md#removing-kproxy says how to remove it."
    say "the user kproxy stays, since files may belong to it. Remove it with: userdel kproxy"
fi

if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
    systemctl daemon-reload || true
fi
