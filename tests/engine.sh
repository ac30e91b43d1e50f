#!/usr/bin/env bash
# A container engine of its own for the tests, where none is running and one can be: as root, with the kernel's leave.
#
#   bash tests/engine.sh start FOLDER     prints the DOCKER_HOST
#   bash tests/engine.sh stop FOLDER      ends it and puts the machine's network back as it was
set -euo pipefail

command=${1:-}
folder=${2:?a folder}

start() {
    mkdir -p "$folder/run"
    # What the engine changes for the whole machine is put back at the end.
    iptables-save >"$folder/iptables" 2>/dev/null || true
    cat /proc/sys/net/ipv4/ip_forward >"$folder/ip_forward"
    ip link show docker0 >/dev/null 2>&1 && touch "$folder/had_bridge"
    dockerd --data-root="$folder/data" --exec-root="$folder/run/exec" --pidfile="$folder/run/dockerd.pid" \
        -H "unix://$folder/run/docker.sock" >"$folder/log" 2>&1 &
    local host="unix://$folder/run/docker.sock"
    for _ in $(seq 1 120); do
        if DOCKER_HOST=$host docker info >/dev/null 2>&1; then
            echo "$host"
            return 0
        fi
        sleep 0.5
        kill -0 $! 2>/dev/null || break
    done
    tail -5 "$folder/log" >&2
    stop
    return 1
}

stop() {
    local pid
    if pid=$(cat "$folder/run/dockerd.pid" 2>/dev/null); then
        kill "$pid" 2>/dev/null || true
        for _ in $(seq 1 60); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.5
        done
    fi
    if [ ! -e "$folder/had_bridge" ]; then
        ip link delete docker0 2>/dev/null || true
    fi
    if [ -e "$folder/iptables" ]; then
        # An empty table is not in what was saved.
        for table in filter nat; do
            grep -q "^\*$table" "$folder/iptables" || {
                iptables -t "$table" -F; iptables -t "$table" -X
                [ "$table" = nat ] || iptables -P FORWARD ACCEPT
            } 2>/dev/null || true
        done
        iptables-restore <"$folder/iptables" 2>/dev/null || true
    fi
    cat "$folder/ip_forward" >/proc/sys/net/ipv4/ip_forward 2>/dev/null || true
    umount "$folder"/data/*/ 2>/dev/null || true
    rm -rf "$folder/data" "$folder/run"
}

case $command in
    start) start ;;
    stop) stop ;;
    *) sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
