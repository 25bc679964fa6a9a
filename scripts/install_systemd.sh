#!/bin/sh
# Installs systemd from Debian's packages where there is none, for tests of services.
# Exits with 69 where the machine cannot have it. Several calls at once wait for one another.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

is_there() {
    command -v systemd-analyze >/dev/null && command -v systemctl >/dev/null
}

if is_there; then
    exit 0
fi
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
    echo "systemd: none here, and only root on Debian can install it" >&2
    exit 69
fi
mkdir -p "$root/.venvs"
exec 9>"$root/.venvs/apt.lock"
flock 9
if is_there; then
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get -qq update && apt-get -qq install --no-install-recommends systemd >/dev/null; } 9>&-; then
    echo "systemd: Debian's package cannot be installed" >&2
    exit 69
fi
