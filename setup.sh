#!/bin/sh
# Makes .venv here with irys_ti and its tests' tools in it, installing what the system lacks (Debian, Ubuntu).
set -e
cd "$(dirname "$0")"

missing=""
command -v python3 >/dev/null || missing="$missing python3"
python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
if [ "$(uname -s)" = Linux ]; then # Taichi links to libX11, even where nothing is shown
    { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep -q 'libX11\.so\.6' || missing="$missing libx11-6"
fi
if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "setup.sh: please install:$missing (Debian's names)" >&2
        exit 1
    fi
    sudo=""
    [ "$(id -u)" = 0 ] || sudo="sudo"
    echo "setup.sh: installing$missing"
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

python3 -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' || {
    echo "setup.sh: Taichi has wheels for Python 3.10 to 3.13; this is $(python3 --version)" >&2
    exit 1
}
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/python -m pip install -q --disable-pip-version-check -e '.[test]'
