# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Clients of a PostgreSQL server, one after the other and beside each other: statements that are done, that fail, and that are ended from outside.
# Sourced by gather.bash.

# transactions: how many have been committed and aborted, when those of other clients are added up, as well as the one before the question.
transactions() {
	# shellcheck disable=SC2016
	sql --command 'DO $$ BEGIN
		WHILE (SELECT count(*) FROM pg_stat_activity WHERE backend_type = $q$client backend$q$) > 1 LOOP
			PERFORM pg_sleep(0.1), pg_stat_clear_snapshot();
		END LOOP;
	END $$' --command 'SELECT pg_stat_force_next_flush()' --command 'SELECT sum(xact_commit), sum(xact_rollback) FROM pg_stat_database'
}

transactions >transactions.before

sql >ordinary.out 2>ordinary.said <<'END'
CREATE TABLE items (id integer PRIMARY KEY, label text);
INSERT INTO items SELECT n, 'item ' || n FROM generate_series(1, 100) n;
SELECT label
	FROM items -- of which one is shown
	WHERE id = 7;
SELECT 'it''s "quoted" \ with a backslash', $$a;b$$, E'tab\tnewline\n';
SELECT 'Grüße, 世界';
BEGIN;
UPDATE items SET label = 'changed' WHERE id < 10;
SAVEPOINT here;
DELETE FROM items;
ROLLBACK TO here;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
DELETE FROM items;
ROLLBACK;
PREPARE one(integer) AS SELECT label FROM items WHERE id = $1;
EXECUTE one(11);
EXECUTE one(12);
DO $$ BEGIN FOR n IN 1..3 LOOP PERFORM count(*) FROM items; END LOOP; END $$;
CREATE FUNCTION twice(integer) RETURNS integer LANGUAGE sql AS 'SELECT $1 + $1';
SELECT twice(id) FROM items WHERE id < 3;
DECLARE some CURSOR WITH HOLD FOR SELECT * FROM items;
FETCH 3 FROM some;
COPY items TO STDOUT;
VACUUM items;
END
# Several statements that are sent as one, and none.
sql --command 'SELECT 1; SELECT 2' --command 'BEGIN; SELECT 3; COMMIT; SELECT 4' --command '' --command ' ' >several.out
# Longer than what is recorded of it.
for length in 1000 1022 1023 1024 1025 3000; do
	printf 'SELECT length(%s);\n' "'$(head -c $((length - 17)) /dev/zero | tr '\0' x)'"
done >long.sql
sql --file long.sql >long.out

sql >errors.out 2>errors.said <<'END'
SELEC 1;
SELECT 1 / 0;
SELECT * FROM nothing;
BEGIN;
INSERT INTO items VALUES (1, 'there already');
SELECT 1;
ROLLBACK;
BEGIN;
SAVEPOINT here;
SELECT 1 / (id - id) FROM items;
ROLLBACK TO here;
COMMIT;
BEGIN;
SELEC 2;
COMMIT;
SET statement_timeout = 200;
SELECT pg_sleep(60);
END
sql --command 'SELECT 1; SELECT 1 / 0; SELECT 2' --command 'SELECT 5' >>errors.out 2>>errors.said

# A client that is ended while it waits, and one that goes without a word.
sql --command 'SELECT 6' --command 'SELECT pg_sleep(61)' >ended.out 2>&1 &
ended=$!
until [[ $(sql --command "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(61)'") == 1 ]]; do sleep 0.2; done
sql --command "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(61)'" >/dev/null
wait $ended

# How long something takes at least, and at most as its client sees it.
sql --command '\timing' --command 'SELECT pg_sleep(0.3)' >timing.out

# At the same time. The extended protocol has no query__start.
# shellcheck disable=SC2016
printf '%s\n' 'BEGIN;' 'UPDATE items SET label = :client_id WHERE id = 20 + :client_id;' 'SELECT label FROM items WHERE id = 42;' 'END;' >load.sql
for protocol in simple extended prepared; do
	pg pgbench --no-vacuum --protocol $protocol --client 4 --jobs 2 --transactions 10 --file /tmp/postgresql/out/load.sql >$protocol.out 2>&1
done

# A process that was there before the probes.
mkfifo pipe
sql <pipe >running.said &
running=$!
exec 9>pipe
echo 'SELECT 7;' >&9
until [[ -s running.said ]]; do sleep 0.2; done
# shellcheck disable=SC2154 # gather.bash has it
follow running latency --json --from "${probe}query__start" --to "${probe}query__done" --on pid --by 'pid,str(arg1) as query' --sort max --top 20
until_armed running.err
printf '%s\n' 'SELECT 8;' '\q' >&9
wait $running
exec 9>&-
rm pipe

transactions >transactions.after
