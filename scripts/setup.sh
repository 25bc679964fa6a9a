#!/bin/sh
# Makes the environment named by the first argument, or brings it up to date.
# Needs Python 3.11 or newer (PYTHON names one) and nothing else.
set -eu
venv=${1:-.venv}

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
    echo "setup: no Python 3.11 or newer found; name one with PYTHON=/path/to/python3.11" >&2
    return 1
}

if ! is_new_enough "$venv/bin/python" || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    echo "setup: making $venv with $("$python" --version)"
    "$python" -m venv --clear "$venv"
fi
echo "setup: installing Sexton and its tools into $venv"
"$venv/bin/python" -m pip install -qq --disable-pip-version-check \
    --constraint constraints.txt --editable '.[dev]'
