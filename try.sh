#!/bin/sh
# Sets up studio-tui in .venv beside this file and opens it; with no lionagi home, on sample data.
# `sh try.sh test` sets up and runs the tests instead. Further arguments go to the program or to pytest.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
venv=$here/.venv

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
        echo "try.sh: as root, please: $*" >&2
        exit 1
    fi
}

python=$(command -v python3.13 || command -v python3.12 || command -v python3.11 || command -v python3 || true)
if [ -z "$python" ] || ! "$python" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    as_root apt-get update -qq
    as_root apt-get install -y -qq python3 python3-venv
    python=python3
fi
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"

if [ "${1-}" = test ]; then
    shift
    "$venv/bin/python" -m pip install -q --disable-pip-version-check -e "$here[dev,postgres]"
    cd "$here"
    exec "$venv/bin/python" -m pytest -n 3 "$@" # many tests wait for other processes: three fill two cores
fi

# The stamp spares a second start the half second that pip takes to find nothing to do.
stamp=$venv/installed-from
if [ "$(cat "$stamp" 2>/dev/null)" != "$(cksum <"$here/pyproject.toml")" ]; then
    "$venv/bin/python" -m pip install -q --disable-pip-version-check -e "$here"
    cksum <"$here/pyproject.toml" >"$stamp"
fi
home=${LIONAGI_HOME:-$HOME/.lionagi}
if [ $# -eq 0 ] && [ ! -e "$home/state.db" ] && [ -z "${LIONAGI_STATE_DB_URL-}" ]; then
    set -- demo
fi
exec "$venv/bin/studio-tui" "$@"
