#!/bin/sh
# Installs Debian's Chromium for the browser tests, unless one is there. Needs root only for that.
set -eu
browser=${CHROMIUM:-/usr/bin/chromium}
if [ -x "$browser" ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "chromium: $browser is not there; install Chromium and name it with CHROMIUM=..." >&2
    exit 69
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
fi
echo "chromium: installing Debian's package" >&2
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root apt-get install -qq --no-install-recommends chromium fonts-inter fonts-jetbrains-mono >/dev/null
[ -x "$browser" ]
