# SPDX-License-Identifier: GPL-2.0-only
"""Keeps docs/performance/LABEL.md, the tables of a kernel, and the summary of them all in docs/performance.md.

  python3 bench/tables.py LABEL <OUTPUT     replaces the tables that are in what bench/guest/tables.sh has printed; the
                                            others stay as they were measured
  python3 bench/tables.py --rows <OUTPUT    the output with rows of a table in the place of the lines of `calls`
  python3 bench/tables.py                   writes the summary anew
"""

import itertools
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PAGE = TOP / "docs/performance.md"
FOLDER = TOP / "docs/performance"
sys.path.insert(0, str(TOP / "scripts"))
import kernels  # noqa: E402

# In the order in which bench/run lists them.
ORDER = ["calls", "words", "contexts", "returns", "values", "maps", "tracepoints", "syscalls", "user", "go", "strace", "ticks", "switches", "pipeline", "arming", "among", "start", "latency", "wall"]

# What the summary shows: the table, the column, and the rows, as they begin.
SUMMARY = [
    ("calls", "instructions", ["an empty ftrace_ops", "**argtrace**", "argtrace, a call of an excluded process",
                               "BPF fentry, record to a ring buffer", "function tracer, no arguments",
                               "function tracer, func-args", "fprobe event with `$arg*`", "kprobe event with four registers",
                               "bpftrace, count()"]),
    ("returns", "instructions", ["**argtrace -r**", "BPF fexit, record to a ring buffer",
                                 "BPF fentry and fexit, record with the duration",
                                 "kretprobe event", "function_graph", "bpftrace kretfunc, count()"]),
    ("values", "argtrace", ["rejected by an argument", "by `file->f_inode->i_ino`", "by `comm`", "recorded, and the inode",
                            "and the name, of 8 characters", "and the path, of depth 1", "of depth 8"]),
    ("tracepoints", "instructions", ["an empty function", "**argtrace**", "BPF tp_btf, counted", "BPF tp_btf, record", "the event of ftrace",
                                     "bpftrace tracepoint"]),
    ("ticks", "in the kernel", ["an empty handler", "**argtrace profile**", "**argtrace profile --stack=kernel**", "bpftrace, counted by kernel stack",
                               "perf record -g"]),
    ("pipeline", "instructions", ["**argtrace record**", "BPF fentry, ring buffer polled",
                                  "function tracer, func-args", "fprobe event with `$arg*`, spliced", "trace-cmd record",
                                  "perf record"]),
]


def least_of_calls(lines):
    """The rows of the tables `calls`, `returns` and `tracepoints`, from the lines of one pass or more: the least that each has cost.
    Where the machine's clock counts time, something slows it down for seconds on end."""
    cost, rest = {}, {}
    for line in lines:
        name, clock, size, figure, remark = (line.rstrip("\n").split("\t") + [""] * 4)[:5]
        if figure and float(figure) <= cost.get(name, float(figure)):
            cost[name] = float(figure)
            rest[name] = clock, size, remark
        rest.setdefault(name, (clock, "", ""))
    if len(rest) < 3:
        return  # argtrace does not work
    untraced, floor, own = list(rest)[:3]

    def above(name):
        return cost[name] - cost[untraced]

    for name, (clock, size, remark) in list(rest.items())[1:]:
        if name in cost:
            yield (f"| {name}{remark} | {above(name):.0f} | {above(name) / above(floor):.1f} | {above(name) / above(own):.2f} "
                   f"| {clock} | {size} |\n")
        else:
            yield f"| {name} | {clock} | | | | |\n"


def with_rows(lines):
    """What the guest prints, with rows for the lines from which they are made: those have tabs."""
    for tabbed, group in itertools.groupby(lines, key=lambda line: "\t" in line):
        yield from least_of_calls(group) if tabbed else group


def read_sections(text):
    """{table: its section's text}, from a file or from the output of a run, whose first lines name the kernel."""
    parts = re.split(r"^## (\w+)\n", text, flags=re.MULTILINE)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2])}


def file_text(label, sections):
    head = (f"# Performance of argtrace on the kernel {label}\n\n"
            f"Written by `bench/run --write {label}`; do not edit. [performance.md](../performance.md) explains the tables.\n")
    return head + "".join(f"\n## {name}\n\n{sections[name]}\n" for name in ORDER if name in sections)


def update(label, output):
    """The text of the label's file with the tables of a run in the place of older ones."""
    measured = read_sections(output)
    if not measured:
        raise SystemExit("tables: the run has printed no table")
    kernel = output.split("\n", 1)[0]
    path = FOLDER / f"{label}.md"
    sections = read_sections(path.read_text()) if path.exists() else {}
    for name, table in measured.items():
        sections[name] = f"{kernel}\n\n{table}"
    return file_text(label, sections)


def rows(section):
    """The rows of a section's table as lists of words; the first is the head."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[word.strip() for word in line.strip("|").split("|")] for line in lines if not re.fullmatch(r"[|:\- ]+", line)]


def value(section, column, start):
    """The first row that begins so: its name and its figure in that column."""
    head, *body = rows(section)
    for row in body:
        if row[0].startswith(start):
            figure = row[head.index(column)]
            return row[0], "-" if figure.startswith("absent") else figure
    return start, ""


def summary(files):
    """Markdown; `files` is {label: sections}."""
    lines = []
    for table, column, starts in SUMMARY:
        labels = [label for label in files if table in files[label]]
        if not labels:
            continue
        lines += [f"| {rows(files[labels[0]][table])[0][0]} | " + " | ".join(f"[{label}](performance/{label}.md)" for label in labels) + " |",
                  "|---|" + "--:|" * len(labels)]
        for start in starts:
            found = [value(files[label][table], column, start) for label in labels]
            lines.append(f"| {found[0][0].split(' -e ')[0]} | " + " | ".join(figure for _, figure in found) + " |")
        lines.append("")
    return "\n".join(lines)


def page_text():
    files = {label: read_sections((FOLDER / f"{label}.md").read_text())
             for label in kernels.labels() if (FOLDER / f"{label}.md").exists()}
    begin, end = "<!-- Written by bench/run --write: begin -->", "<!-- end -->"
    head, _, rest = PAGE.read_text().partition(begin)
    return f"{head}{begin}\n\n{summary(files)}\n{end}{rest.partition(end)[2]}"


def main():
    if sys.argv[1:] == ["--rows"]:
        for line in with_rows(sys.stdin):
            print(line, end="", flush=True)
        return
    if len(sys.argv) == 2:
        FOLDER.mkdir(exist_ok=True)
        text = update(sys.argv[1], sys.stdin.read())
        (FOLDER / f"{sys.argv[1]}.md").write_text(text)
    PAGE.write_text(page_text())


if __name__ == "__main__":
    main()
