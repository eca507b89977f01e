# SPDX-License-Identifier: GPL-2.0-only
"""tests/postgresql: what a process did by PostgreSQL's log and by its probes, and what differs."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "postgresql"))
import statements  # noqa: E402


def line(message, pid=7, transaction=3, severity="LOG", **more):
    return {"pid": pid, "vxid": f"2/{transaction}", "error_severity": severity, "message": message, **more}


def event(probe, pid=7, **args):
    return {"pid": pid, "func": f"usdt:postgres:postgresql:{probe}", "args": args}


def query(text, number, pid=7, done=True):
    """The probes of a query in a transaction of its own."""
    found = [event("statement__status", pid, query=text), event("query__start", pid, query=text), event("transaction__start", pid, id=number),
             event("transaction__commit" if done else "transaction__abort", pid, id=number)]
    return found + [event("query__done", pid, query=text)] if done else found


def cut(events):
    return [{**found, "cut": ["query"]} if "query" in found["args"] else found for found in events]


LOG = [line("statement: SELECT 1"), line("duration: 0.1 ms"), line("statement: SELECT 2", transaction=4), line("duration: 0.2 ms", transaction=4)]
TRACE = query("SELECT 1", 3) + query("SELECT 2", 4)


def differences(log, events):
    return list(statements.difference(statements.logged(log), statements.traced(events)[0]))


class Steps(unittest.TestCase):
    def test_of_statements(self):
        self.assertEqual(statements.logged(LOG)[7][:3], [("status", "SELECT 1"), ("start", "SELECT 1", 3), ("done", "SELECT 1")])
        self.assertEqual(differences(LOG, TRACE), [])

    def test_of_statements_that_fail(self):
        log = [line("statement: SELECT 1 / 0"), line("division by zero", severity="ERROR", statement="SELECT 1 / 0"),
               line("syntax error", severity="ERROR", transaction=4, statement="SELEC"), line("statement: SELECT 2", transaction=5),
               line("terminating connection", severity="FATAL", transaction=5, statement="SELECT 2")]
        self.assertEqual(differences(log, query("SELECT 1 / 0", 3, done=False) + query("SELEC", 4, done=False) + query("SELECT 2", 5, done=False)), [])

    def test_of_a_transaction_of_several_statements(self):
        log = [line("statement: BEGIN"), line("duration: 1 ms"), line("statement: COMMIT"), line("duration: 1 ms")]
        begin, commit = query("BEGIN", 3), query("COMMIT", 3)
        self.assertEqual(differences(log, begin[:3] + begin[4:] + commit[:2] + commit[3:]), [])

    def test_of_the_extended_protocol(self):
        log = [line("duration: 1 ms  parse P_1: SELECT $1"), line("duration: 1 ms  bind P_1/C: SELECT $1"), line("execute P_1: SELECT $1"),
               line("duration: 1 ms")]
        self.assertEqual(differences(log, [event("statement__status", query="SELECT $1")] * 3), [])

    def test_have_what_is_recorded_of_long_texts(self):
        log, longest = [line("statement: " + "x" * 1025)], "x" * 1024
        self.assertEqual(differences(log, cut(query(longest, 3, done=False))), [])
        self.assertEqual(len(differences(log, query(longest, 3, done=False))), 1)
        self.assertEqual(len(differences(log, cut(query(longest[1:], 3, done=False)))), 1)


class Differences(unittest.TestCase):
    def test_are_a_statement_that_is_missing(self):
        self.assertEqual(differences(LOG, TRACE[5:]), ["7: the log has ('status', 'SELECT 1'), argtrace ('status', 'SELECT 2')"])
        self.assertEqual(differences(LOG, TRACE[:5]), ["7: the log has ('status', 'SELECT 2'), argtrace None"])
        self.assertEqual(len(differences(LOG, TRACE[:-1])), 1)
        self.assertEqual(len(differences(LOG, [])), 1)

    def test_are_one_too_many(self):
        self.assertEqual(differences(LOG[:2], TRACE), ["7: the log has None, argtrace ('status', 'SELECT 2')"])
        self.assertEqual(len(differences(LOG, TRACE + query("SELECT 1", 3, pid=8))), 1)

    def test_are_another_text_order_process_or_transaction(self):
        for events in (query("SELECT 3", 3) + TRACE[5:], TRACE[5:] + TRACE[:5], query("SELECT 1", 3, pid=8) + TRACE[5:], query("SELECT 1", 9) + TRACE[5:],
                       TRACE[:1] + [event("query__start", query=None)] + TRACE[2:]):
            self.assertTrue(differences(LOG, events))

    def test_are_transactions_that_end_as_another_or_not(self):
        self.assertEqual(statements.traced(query("SELECT 1", 3))[1], [])
        self.assertEqual(statements.traced([event("transaction__start", id=3), event("transaction__abort", id=4)])[1],
                         ["7: transaction__abort of 4, and 3 had begun"])
        self.assertEqual(statements.traced([event("transaction__start", id=3), event("transaction__start", id=4)])[1],
                         ["7: transaction__start of 4, and 3 has not ended"])


class Transactions(unittest.TestCase):
    def test_are_counted_between_two_questions(self):
        events = query("before", 1) + query("SELECT count", 2) + query("SELECT 1", 3) + query("x", 4, done=False) + query("SELECT count", 5)
        self.assertEqual(statements.ended(events, "count"), [2, 1])


if __name__ == "__main__":
    unittest.main()
