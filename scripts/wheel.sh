#!/bin/sh
# wheel.sh [PYTHON]: builds the wheel, installs it in an empty environment and runs it from there.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
python=${1:-.venv/bin/python}
trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
trap 'exit 1' HUP INT TERM

echo "wheel: building"
"$python" -m build --wheel --outdir "$trial/dist" . >"$trial/log" 2>&1 || { cat "$trial/log" >&2; exit 1; }
wheel=$(ls "$trial"/dist/*.whl)
"$python" scripts/wheel_contents.py "$wheel"

echo "wheel: installing $(basename "$wheel") in an empty environment"
"$python" -m venv "$trial/venv"
"$trial/venv/bin/pip" install -qq --disable-pip-version-check \
    --constraint "$root/constraints.txt" "$wheel"

echo "wheel: running it"
# Away from the repository and from this user's settings, so that only the wheel can answer.
cd "$trial"
unset PYTHONPATH SEXTON_CONFIG SEXTON_LEDGER
export HOME="$trial/home" XDG_CONFIG_HOME="$trial/home/config" XDG_DATA_HOME="$trial/home/data"
mkdir -p "$HOME"
venv/bin/sexton --version
venv/bin/sexton keep --once --ledger "$trial/l.db"
venv/bin/sexton sessions list --ledger "$trial/l.db" --json >"$trial/sessions.json"
test -s "$trial/l.db"
venv/bin/python -m json.tool "$trial/sessions.json" >/dev/null
venv/bin/python - "$trial/venv" <<'END'
import pathlib, sys, sexton
assert pathlib.Path(sexton.__file__).is_relative_to(sys.argv[1]), sexton.__file__
END
echo "wheel: works"
