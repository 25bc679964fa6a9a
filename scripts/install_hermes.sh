#!/bin/sh
# Installs Hermes into .venvs/hermes, an environment of its own because it pins every dependency.
# HERMES_VERSION names another release than the usual one; it goes into .venvs/hermes-VERSION.
# Does nothing when it is there already; several calls at once wait for one another.
set -eu
usual=0.19.0
version=${HERMES_VERSION:-$usual}
name=hermes
if [ "$version" != "$usual" ]; then
    name=hermes-$version
fi
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/.venvs/$name

is_ready() {
    "$venv/bin/python" -c "
import importlib.metadata, importlib.util, sys
found = importlib.util.find_spec('hermes_state') is not None
sys.exit(not (found and importlib.metadata.version('hermes-agent') == '$version'))" 2>/dev/null
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    for python in ${PYTHON:-python3.11 python3 python3.12 python3.13}; do
        if is_new_enough "$python"; then
            echo "$python"
            return
        fi
    done
    echo "hermes: no Python 3.11 or newer found; name one with PYTHON=/path/to/python3.11" >&2
    return 1
}

if is_ready; then
    exit 0
fi
python=$(find_python)
if [ "${1:-}" != --alone ]; then
    mkdir -p "$root/.venvs"
    # The lock goes when its last holder does, however that ends.
    exec "$python" -c "
import fcntl, os, sys
lock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(lock, fcntl.LOCK_EX)
os.set_inheritable(lock, True)
os.execvp('sh', ['sh', sys.argv[2], '--alone'])" "$root/.venvs/$name.lock" "$0"
fi
echo "hermes: installing hermes-agent $version into .venvs/$name" >&2
"$python" -m venv --clear "$venv"
"$venv/bin/python" -m pip install -qq --disable-pip-version-check "hermes-agent==$version"
is_ready
