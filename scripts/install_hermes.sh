#!/bin/sh
# Installs Hermes into .venvs/hermes, an environment of its own because it pins every dependency.
# HERMES_VERSION names another release than the usual one; it goes into .venvs/hermes-VERSION.
# Exits with 69 where pip reaches no index that has it. Does nothing when it is there already; several calls at once wait for one another.
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
log=$venv/install.log
if ! "$venv/bin/python" -m pip install -q --disable-pip-version-check "hermes-agent==$version" 2>"$log"
then
    cat "$log" >&2
    # What pip says where no index answers, or none has any release; all else is a failure of ours.
    if grep -q 'NewConnectionError\|ConnectTimeoutError\|NameResolutionError\|ProxyError\|(from versions: none)' "$log"; then
        echo "hermes: hermes-agent $version can not be fetched here" >&2
        exit 69
    fi
    exit 1
fi
is_ready
