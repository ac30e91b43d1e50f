#!/usr/bin/env bash
# The one test command: installs what is missing, checks format and lints, runs every test.
#
#   bash tests/run.sh          what continuous integration runs
#   bash tests/run.sh --long   also what takes long: long tests, the benchmarks once, the dependency rules, containers
#   bash tests/run.sh --counterparts   only installs the programs by others that tests run against
#
# Works from any folder and respects CARGO_TARGET_DIR. As root on a Debian system it installs a missing C
# toolchain and PostgreSQL's server; otherwise it says what is missing. The tests use the server that
# WEIRGATE_TEST_POSTGRES names, else one on this machine that trusts its users, else one of their own.
# One feature set serves clippy and the tests, so that nothing is compiled twice for two sets.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

FEATURES=failpoints

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'tests/run.sh: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

long=no
only_counterparts=no
for argument in "$@"; do
    case "$argument" in
        --long) long=yes ;;
        --counterparts) only_counterparts=yes ;;
        -h | --help) sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) fail "unknown argument $argument (try --help)" ;;
    esac
done

can_install() { [ "$(id -u)" = 0 ] && have apt-get; }

# Fetches the list of packages, once.
lists=no
install() {
    if [ "$lists" = no ]; then
        apt-get -qq update || true
        lists=yes
    fi
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" </dev/null
}

ensure_compiler() {
    if have cc && printf '#include <stdio.h>\nint main(void) { return 0; }\n' | cc -xc - -o /dev/null; then
        return
    fi
    can_install || fail "a C compiler is missing (Debian: apt-get install gcc libc6-dev), SQLite is built with it"
    say "installing a C compiler"
    install gcc libc6-dev
}

# Only the programs are needed: tests start a server of their own where none is reachable, and one that is
# encrypted always, with certificates by openssl, which comes along.
ensure_postgres() {
    ! have initdb || return 0
    ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || return 0
    can_install || fail "PostgreSQL is missing (Debian: apt-get install postgresql)"
    say "installing PostgreSQL"
    install postgresql
}

# The memory's tests start a server of their own.
ensure_redis() {
    ! have redis-server || return 0
    can_install || fail "Redis is missing (Debian: apt-get install redis-server)"
    say "installing Redis"
    install redis-server
}

ensure_rust() {
    # rustup puts it here without touching the PATH of shells that are already open.
    have cargo || export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    have cargo || fail "Rust is missing: install the toolchain that rust-toolchain.toml names with rustup"
    cargo --version >/dev/null || fail "cargo does not run; rust-toolchain.toml names the toolchain that it needs"
    for tool in fmt clippy; do
        cargo "$tool" --version >/dev/null 2>&1 ||
            fail "cargo $tool is missing: rustup component add rustfmt clippy"
    done
}

# cargo-deny compiles for minutes, so only --long installs it; where it is there already it always runs.
check_dependencies() {
    if ! cargo deny --version >/dev/null 2>&1; then
        [ "$long" = yes ] || return 0
        say "installing cargo-deny (some minutes)"
        # A folder of its own: its dependencies are not those of the gateway.
        CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/deny" cargo install cargo-deny --locked
    fi
    say "cargo deny"
    cargo deny check bans licenses sources
}

# Prometheus's own check of the alert rules and of /metrics; the test that needs it says so.
ensure_promtool() {
    have promtool && return
    can_install || return 0
    say "installing promtool"
    install prometheus
}

# Turns the clock of a gateway under test; the test that needs it says so.
ensure_faketime() {
    ! compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null || return 0
    can_install || return 0
    say "installing libfaketime"
    install faketime
}

# The widget is tried in a real browser; the tests that need it say so in the long run.
ensure_browser() {
    have chromedriver && return
    can_install || { say "no chromium and chromedriver: web chat is not tried in a browser"; return 0; }
    say "installing a browser"
    install chromium chromium-driver fonts-noto-cjk
}

# The accessibility checker that the browser tests run; they say so in the long run if it is missing.
AXE=axe-core@4.14.1
ensure_axe() {
    local folder="${CARGO_TARGET_DIR:-$PWD/target}/counterparts/axe"
    [ "$(cat "$folder/installed.txt" 2>/dev/null)" != "$AXE" ] || return 0
    have npm || { say "no npm: accessibility is not checked"; return 0; }
    say "installing an accessibility checker (npm)"
    mkdir -p "$folder"
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" "$AXE" || return 0
    printf '%s' "$AXE" >"$folder/installed.txt"
}

# The image and the compose file are run with a real engine, where one is there or can be started.
engine=
start_engine() {
    if ! docker info >/dev/null 2>&1 || ! have docker-compose || ! have busybox; then
        can_install || { say "no container engine: the containers are not run"; return 0; }
        say "installing a container engine"
        install docker.io docker-compose busybox-static iptables iproute2
    fi
    if ! docker info >/dev/null 2>&1; then
        engine=$(mktemp -d)
        if ! DOCKER_HOST=$(bash tests/engine.sh start "$engine"); then
            say "a container engine cannot be started here: the containers are not run"
            engine=
            return 0
        fi
        export DOCKER_HOST
        trap 'bash tests/engine.sh stop "$engine"; rm -rf "$engine"' EXIT
    fi
    say "the static program for the image"
    local built="${CARGO_TARGET_DIR:-$PWD/target}/image"
    sh deploy/build-static.sh "$built"
    export WEIRGATE_CONTAINER_PROGRAM="$built/weirgate"
}

# Programs by others, in a folder of their own beside what cargo builds. Installed again when the list changes.
ensure_counterparts() {
    local folder="${CARGO_TARGET_DIR:-$PWD/target}/counterparts"
    local list=tests/counterparts/requirements.txt sources=tests/counterparts/sources.txt
    local descriptions=tests/counterparts/descriptions.txt node=tests/counterparts/discord.json
    local servers=tests/counterparts/mcp.json
    local all=("$list" "$sources" "$descriptions" "$node" "$servers" tests/counterparts/{discord_api,xss}.py)
    if cat "${all[@]}" | cmp -s - "$folder/installed.txt"; then
        return
    fi
    say "installing counterparts (PyPI, npm)"
    mkdir -p "$folder"
    if ! { have python3 && python3 -m venv --clear "$folder/python"; } 2>/dev/null; then
        can_install || fail "Python 3 with venv is missing (Debian: apt-get install python3-venv)"
        install python3-venv
        python3 -m venv --clear "$folder/python"
    fi
    local pip=("$folder/python/bin/python" -m pip --quiet --disable-pip-version-check)
    "${pip[@]}" install -r "$list"
    rm -rf "$folder/sources"
    "${pip[@]}" download --no-deps --no-binary aiogram --dest "$folder/sources" -r "$sources"
    tar -xzf "$folder"/sources/aiogram-*.tar.gz -O --wildcards '*/.butcher/schema/schema.json' >"$folder/bot_api.json"
    "${pip[@]}" download --no-deps --dest "$folder/sources" -r "$descriptions"
    "$folder/python/bin/python" tests/counterparts/discord_api.py "$folder/sources" >"$folder/discord_api.json"
    "$folder/python/bin/python" tests/counterparts/xss.py "$folder/sources" >"$folder/xss.json"
    if ! { have node && have npm; }; then
        can_install || fail "Node.js with npm is missing (Debian: apt-get install nodejs npm)"
        install nodejs npm
    fi
    mkdir -p "$folder/discord"
    cp "$node" "$folder/discord/package.json"
    npm install --prefix "$folder/discord" --ignore-scripts --no-audit --no-fund --silent
    mkdir -p "$folder/mcp"
    cp "$servers" "$folder/mcp/package.json"
    npm install --prefix "$folder/mcp" --ignore-scripts --no-audit --no-fund --silent
    cat "${all[@]}" >"$folder/installed.txt"
}

ensure_counterparts
ensure_axe
[ "$only_counterparts" = no ] || exit 0
ensure_compiler
ensure_postgres
ensure_redis
ensure_faketime
ensure_browser
ensure_rust

say "cargo fmt"
cargo fmt --all --check

say "cargo clippy"
cargo clippy --workspace --all-targets --features "$FEATURES" -- -D warnings

check_dependencies

if [ "$long" = yes ]; then
    export WEIRGATE_LONG=1
    say "benchmarks, once each"
    cargo test --workspace --features "$FEATURES" --bench '*'
    ensure_promtool
    start_engine
    # Before the others, which would take the processor away from them, and when what the compiler wrote is on the disk:
    # a gateway that writes while the kernel does waits for it.
    say "cargo test: what has figures of an idle machine, one after the other"
    cargo test --workspace --features "$FEATURES" --test it --no-run
    sync
    WEIRGATE_ALONE=1 cargo test --workspace --features "$FEATURES" --test it -- \
        --test-threads=1 commands::stop durable::kills
fi

say "cargo test"
cargo test --workspace --features "$FEATURES" --no-fail-fast
