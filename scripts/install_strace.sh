#!/bin/sh
# Unpacks strace from Debian's packages into .venvs/strace, for crash campaigns that kill at a chosen
# system call. Needs no rights; does nothing when it is there already or the system has one.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
place=$root/.venvs/strace

if command -v strace >/dev/null || [ -x "$place/usr/bin/strace" ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
    echo "strace: none here, and no Debian to take it from" >&2
    exit 69
fi
mkdir -p "$root/.venvs"
work=$(mktemp -d "$root/.venvs/strace.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
for package in strace libunwind8; do
    if ! timeout 60 apt-get -qq -o APT::Sandbox::User=root download "$package" >/dev/null 2>&1; then
        echo "strace: the package $package cannot be fetched" >&2
        exit 69
    fi
    dpkg -x ./"${package}"_*.deb "$work/unpacked"
done
# Whoever is first wins; the others' copies are the same.
mv -T "$work/unpacked" "$place" 2>/dev/null || [ -x "$place/usr/bin/strace" ]
