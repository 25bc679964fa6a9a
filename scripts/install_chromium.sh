#!/bin/sh
# Installs Debian's Chromium for the browser tests, unless one is there; CHROMIUM names another one.
set -eu
if [ ! -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
    exec sh "$(dirname "$0")/install_debian.sh" chromium fonts-inter fonts-jetbrains-mono
fi
