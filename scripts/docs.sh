#!/bin/sh
# docs.sh check|write [PYTHON]: are the generated pages up to date, or write them anew.
set -eu
cd "$(dirname "$0")/.."
python=${2:-.venv/bin/python}
case ${1:-} in
    check) option=--check ;;
    write) option= ;;
    *) echo "usage: docs.sh check|write [PYTHON]" >&2; exit 2 ;;
esac
for page in scripts/*_page.py; do
    if [ -e "$page" ]; then
        "$python" "$page" $option
    fi
done
