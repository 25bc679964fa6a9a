#!/bin/sh
# Installs systemd from Debian's packages where there is none, for tests of services. Needs root then.
set -eu
if command -v systemd-analyze >/dev/null && command -v systemctl >/dev/null; then
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "systemd: none here, and no Debian to take it from" >&2
    exit 1
fi
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends systemd >/dev/null
