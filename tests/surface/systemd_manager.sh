#!/bin/sh
# Runs a command under a real systemd user manager of its own, which ends with it. Needs root: the
# manager looks into /run for the system's, so it gets a /run, a home and a group of its own.
# Usage: unshare --mount sh systemd_manager.sh HOME COMMAND...
set -eu
export HOME="$1" XDG_RUNTIME_DIR=/run/user/0
shift
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"
# Two managers in one group would end each other's processes: each hierarchy that they use counts.
groups=
for tree in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
    group=$tree/sexton-test-$$-$(date +%s)
    if [ -f "$tree/cgroup.procs" ] && mkdir "$group"; then
        echo $$ > "$group/cgroup.procs"
        groups="$groups $group"
    fi
done
# What this machine has enabled for its users is not started.
SYSTEMD_UNIT_PATH="$HOME/.config/systemd/user:/usr/lib/systemd/user" \
    /usr/lib/systemd/systemd --user --log-target=null \
    --log-level=err >/dev/null 2>&1 &
manager=$!
tries=0
while [ ! -S "$XDG_RUNTIME_DIR/systemd/private" ] && [ $tries -lt 2400 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
# On a busy machine a manager may take longer to answer than systemctl waits by itself.
export SYSTEMD_BUS_TIMEOUT=600
status=0
"$@" || status=$?
kill -TERM "$manager" 2>/dev/null || true
wait "$manager" 2>/dev/null || true
for group in $groups; do
    echo $$ > "${group%/*}/cgroup.procs"
    find "$group" -depth -type d -exec rmdir {} + || true
done
exit $status
