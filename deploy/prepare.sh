#!/bin/sh
# Makes what docker-compose.yml needs and no repository should hold: .env and the token of /metrics, both of random
# secrets. What is there already stays as it is.
set -eu
cd "$(dirname "$0")"
umask 077

random() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }

if [ ! -e .env ]; then
    postgres=$(random)
    cat >.env <<END
# The file in config/ that the gateway reads: agent.yaml, or napcat.yaml with the profile napcat.
WEIRGATE_CONFIG=/etc/weirgate/agent.yaml
# For times that people read, such as those of the log: a name such as Asia/Shanghai.
TZ=UTC
# The profiles that are started: postgres, napcat, monitoring, with commas between them.
COMPOSE_PROFILES=
# For the profile postgres take the # away.
POSTGRES_PASSWORD=$postgres
# WEIRGATE_STORAGE_URL=postgres://weirgate:$postgres@postgres/weirgate
# What NapCat presents to the gateway.
QQ_TOKEN=$(random)
# The password of Grafana's user admin.
GRAFANA_PASSWORD=$(random)
END
fi
if [ ! -e config/admin_token ]; then
    random >config/admin_token
    # The gateway (user 10001) and Prometheus (nobody) read it, and neither is the user that runs this.
    chmod 0644 config/admin_token
fi
chmod 0755 config
