# SPDX-License-Identifier: GPL-2.0-only
"""What each process of a PostgreSQL server has worked on: by the server's own log, as log_destination=jsonlog writes it, and by what argtrace has
recorded of its USDT probes, as JSON. Both become the same steps, in the order in which the process took them:

("status", TEXT)     what a process is said to work on: a query of the simple protocol, or a message of the extended one
("start", TEXT, ID)  such a query, in a transaction with that number, if there is one
("done", TEXT)       which has come to its end; one that failed does not
"""

import re
from collections import defaultdict
from itertools import zip_longest

RECORDED = 1024  # bytes of a text


def beginning(text, size):
    return text.encode()[:size].decode(errors="replace")


def recorded(text):
    """As argtrace has it, which says where a text is cut."""
    return beginning(text, RECORDED) + ("..." if len(text.encode()) > RECORDED else "")


class Logged:
    """A process by its log: a line for each statement when it begins, and one for its duration or its error."""

    def __init__(self):
        self.steps, self.open = [], None

    def begin(self, text, transaction):
        self.open = recorded(text)
        self.steps += [("status", self.open), ("start", self.open, transaction)]

    def add(self, line):
        message = line["message"]
        if line["error_severity"] in ("ERROR", "FATAL"):
            # What cannot be parsed is in the log as an error alone.
            if self.open is None and "statement" in line:
                self.begin(line["statement"], int(line["vxid"].split("/")[1]))
            self.open = None
        elif message.startswith("statement: "):
            self.begin(message.removeprefix("statement: "), int(line["vxid"].split("/")[1]))
        elif found := re.match(r"(?:duration: \S+ ms  )?(?:parse|bind|execute) [^:]+: ", message):
            self.steps.append(("status", recorded(message[found.end():])))
        elif re.fullmatch(r"duration: \S+ ms", message) and self.open is not None:
            self.steps.append(("done", self.open))
            self.open = None


def logged(lines):
    """pid -> steps"""
    found = defaultdict(Logged)
    for line in lines:
        found[line["pid"]].add(line)
    return {pid: process.steps for pid, process in found.items() if process.steps}


class Traced:
    """A process by its probes."""

    def __init__(self):
        self.steps, self.transaction, self.waiting, self.wrong = [], 0, None, []

    def add(self, event):
        probe, text = event["func"].rsplit(":", 1)[-1], event["args"].get("query")
        if "cut" in event:
            text += "..."
        if probe == "query__start":
            self.waiting = None if self.transaction else len(self.steps)
            self.steps.append(("start", text, self.transaction))
        elif probe == "query__done":
            self.waiting = None
            self.steps.append(("done", text))
        elif probe == "statement__status":
            self.steps.append(("status", text))
        elif probe == "transaction__start":
            if self.transaction:
                self.wrong.append(f"{probe} of {event['args']['id']}, and {self.transaction} has not ended")
            self.transaction = event["args"]["id"]
            if self.waiting is not None:  # for the transaction that a query begins
                self.steps[self.waiting] = (*self.steps[self.waiting][:2], self.transaction)
                self.waiting = None
        else:
            if event["args"]["id"] != self.transaction:
                self.wrong.append(f"{probe} of {event['args']['id']}, and {self.transaction} had begun")
            self.transaction = 0


def traced(events):
    """pid -> steps, and what is wrong with the numbers of transactions."""
    found = defaultdict(Traced)
    for event in events:
        found[event["pid"]].add(event)
    return ({pid: process.steps for pid, process in found.items() if process.steps},
            [f"{pid}: {text}" for pid, process in found.items() for text in process.wrong])


def difference(log, trace):
    """What differs between the steps of the processes, as texts, of each process the first."""
    for pid in sorted(log.keys() | trace.keys()):
        for theirs, ours in zip_longest(log.get(pid, []), trace.get(pid, [])):
            if theirs != ours:
                yield f"{pid}: the log has {theirs}, argtrace {ours}"
                break


def ended(events, text):
    """How many transactions are committed and how many aborted from the first query that has this text in it to the last."""
    asked = [index for index, event in enumerate(events) if text in (event["args"].get("query") or "") and event["func"].endswith(":query__start")]
    between = [event["func"].rsplit(":", 1)[-1] for event in events[asked[0]:asked[-1]]]
    return [between.count("transaction__commit"), between.count("transaction__abort")]
