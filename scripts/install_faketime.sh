#!/bin/sh
# Unpacks libfaketime from Debian's packages into .venvs/faketime, for crash campaigns that let
# clocks jump. Needs no rights; does nothing when it is there already or the system has one.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
place=$root/.venvs/faketime

is_there() {
    for found in "$place"/usr/lib/*/faketime/libfaketime.so.1 \
        /usr/lib/faketime/libfaketime.so.1 /usr/lib/*/faketime/libfaketime.so.1; do
        [ -e "$found" ] && return
    done
    return 1
}

if is_there; then
    exit 0
fi
if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
    echo "faketime: no libfaketime here, and no Debian to take it from" >&2
    exit 69
fi
mkdir -p "$root/.venvs"
work=$(mktemp -d "$root/.venvs/faketime.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
if ! timeout 60 apt-get -qq -o APT::Sandbox::User=root download libfaketime >/dev/null 2>&1; then
    echo "faketime: the package libfaketime cannot be fetched" >&2
    exit 69
fi
dpkg -x ./libfaketime_*.deb "$work/unpacked"
# Whoever is first wins; the others' copies are the same.
mv -T "$work/unpacked" "$place" 2>/dev/null || is_there
