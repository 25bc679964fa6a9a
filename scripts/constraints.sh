#!/bin/sh
# constraints.sh [PYTHON]: pins the newest allowed version of every dependency, without addresses.
set -eu
cd "$(dirname "$0")/.."
python=${1:-.venv/bin/python}
"$python" -m pip install --quiet --disable-pip-version-check uv
"$python" -m uv pip compile --quiet --universal --upgrade --no-header --no-annotate \
    --extra dev --extra e2e --extra postgres pyproject.toml --output-file constraints.txt
