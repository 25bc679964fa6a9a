#!/bin/sh
# Installs the named packages of Debian, unless they are there. Exits with 69 where the machine
# cannot have them. Several calls at once wait for one another.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
    echo "$1: not here, and only root on Debian can install it" >&2
    exit 69
fi
mkdir -p "$root/.venvs"
exec 9>"$root/.venvs/apt.lock"
flock 9
if dpkg --status "$@" >/dev/null 2>&1; then
    exit 0
fi
echo "$1: installing Debian's package" >&2
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get -qq update && apt-get -qq install --no-install-recommends "$@" >/dev/null; } 9>&-; then
    echo "$1: Debian's package cannot be installed" >&2
    exit 69
fi
