#!/bin/sh
# Installs systemd from Debian's packages where there is none, for tests of services.
set -eu
if ! command -v systemd-analyze >/dev/null || ! command -v systemctl >/dev/null; then
    exec sh "$(dirname "$0")/install_debian.sh" systemd
fi
