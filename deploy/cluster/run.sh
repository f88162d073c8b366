#!/usr/bin/env bash
# Starts a cluster on this machine, to try it: three NATS servers and three Flagstaff nodes, which it restarts when they
# end. Needs nats-server 2.10.23 or newer (or NATS_SERVER=/path/to/it), and "npm ci" done before.
#
#   deploy/cluster/run.sh [folder]        # the folder for all data; ./cluster-data unless given
#
# The nodes listen on ports 4301 to 4303; the token is that of INIT_ADMIN_API_TOKENS below. Ctrl-C stops everything.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$(realpath -m "${1:-cluster-data}")
nats=${NATS_SERVER:-nats-server}
export INIT_ADMIN_API_TOKENS=${INIT_ADMIN_API_TOKENS:-'*:*.try-a-cluster'}
mkdir -p "$root"

log_server() {
  cat > "$root/nats-$1.conf" <<EOF
server_name: log-$1
listen: "127.0.0.1:$((4310 + $1))"
jetstream { store_dir: "$root/nats-$1", sync_interval: always }
cluster {
  name: flags, listen: "127.0.0.1:$((4320 + $1))"
  routes: [nats://127.0.0.1:4321, nats://127.0.0.1:4322, nats://127.0.0.1:4323]
}
EOF
  exec "$nats" -c "$root/nats-$1.conf" > "$root/nats-$1.log" 2>&1
}

export REPLICATION_URL=nats://127.0.0.1:4311,nats://127.0.0.1:4312,nats://127.0.0.1:4313
export REPLICATION_CLUSTER=tried

# What systemd or an orchestrator does elsewhere: starts the node again unless it was asked to stop.
node_server() {
  export REPLICATION_NODE="flags-$1" DATA_DIR="$root/flags-$1" HTTP_HOST=127.0.0.1 HTTP_PORT=$((4300 + $1))
  export REPLICATION_ADDRESS="http://127.0.0.1:$HTTP_PORT"
  while true; do
    node --max-semi-space-size=16 --import tsx src/main.ts >> "$root/flags-$1.log" 2>&1 && return
    sleep 1
  done
}

trap 'trap - EXIT INT TERM; kill 0; wait' EXIT INT TERM
for at in 1 2 3; do log_server "$at" & done
[ -d "$root/flags-1" ] || node --import tsx src/cli/bin.ts cluster init
for at in 1 2 3; do node_server "$at" & done
echo "Logs and data are in $root. Nodes: http://127.0.0.1:4301 http://127.0.0.1:4302 http://127.0.0.1:4303"
wait
