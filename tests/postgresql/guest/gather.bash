# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Makes a cluster, and has sessions.bash use a server that begins when argtrace already follows its probes. An archive of what argtrace has
# recorded and counted, of the server's log, and of what clients have said is written to stdout.
set -u
# shellcheck source=tests/peers/guest/followers.bash
. /root/followers.bash
tar -C / -xf /root/files.tar || exit 1
mkdir -p /tmp/postgresql
mount -t tmpfs -o mode=755 tmpfs /tmp/postgresql
mkdir /tmp/postgresql/home /tmp/postgresql/out
chown 70:70 /tmp/postgresql/home
echo 'postgres:x:70:70::/tmp/postgresql/home:/bin/sh' >>/etc/passwd
cd /tmp/postgresql/out || exit 1
binaries=/usr/lib/postgresql/15/bin
data=/tmp/postgresql/home/data
export PGHOST=/tmp/postgresql/home PGUSER=postgres PGDATABASE=postgres TZ=GMT

# pg PROGRAM ARGUMENT...: one of PostgreSQL's, as a user who may not do everything, with its own libraries.
pg() { setpriv --reuid 70 --regid 70 --clear-groups env LD_LIBRARY_PATH=/opt/postgresql "$binaries/$1" "${@:2}"; }
sql() { pg psql --no-psqlrc --quiet --no-align --tuples-only "$@"; }

pg initdb -D $data --auth=trust --no-sync --no-instructions --locale=C --encoding=SQL_ASCII >initdb.out 2>&1 || {
	cat initdb.out >&2
	exit 1
}
# Who uses transactions are the clients alone, and their log is complete.
cat >>$data/postgresql.conf <<END
listen_addresses = ''
unix_socket_directories = '$PGHOST'
fsync = off
jit = off
autovacuum = off
max_logical_replication_workers = 0
max_parallel_workers_per_gather = 0
logging_collector = on
log_destination = jsonlog
log_directory = '$PGHOST'
log_filename = 'server'
log_statement = all
log_min_duration_statement = 0
END

followers=()
# follow NAME COMMAND ARGUMENT...: argtrace in the background; what it says is in NAME.out and NAME.err.
follow() {
	argtrace "${@:2}" >"$1.out" 2>"$1.err" &
	followers+=($!)
}
probe=usdt:$binaries/postgres:
follow record record -o recording "${probe}query__start(str(arg1, 1024) as query)" "${probe}query__done(str(arg1, 1024) as query)" \
	"${probe}statement__status(str(arg1, 1024) as query) if arg1" "${probe}transaction__*(arg1 as id)"
follow count count --json --by 'pid,str(arg1) as query' "${probe}query__start"
follow latency latency --json --from "${probe}query__start" --to "${probe}query__done" --on pid --by 'str(arg1) as query' --sort max
follow execution latency --json --from "${probe}statement__status if arg1" --to "${probe}query__execute__done" --on pid --by 'str(arg1) as query'
# Which the server passes only where their semaphores are raised.
follow locks count --json "${probe}lwlock__*acquire*" "!${probe}*__fail" "${probe}lwlock__release"
until_armed ./*.err

pg postgres -D $data >server.out 2>&1 &
server=$!
until sql --command 'SELECT 0' >/dev/null 2>&1; do
	kill -0 $server 2>/dev/null || { cat server.out >&2; exit 1; }
	sleep 0.1
done
# shellcheck source=tests/postgresql/guest/sessions.bash
. /root/sessions.bash
kill -INT "$(head -n 1 $data/postmaster.pid)" # its fast end
wait $server
kill -TERM "${followers[@]}"
wait "${followers[@]}"
cat -- *.err >&2
argtrace report --json recording >record.json || exit 1
rm recording
cp $PGHOST/server.json .
tar -cf - -- *
