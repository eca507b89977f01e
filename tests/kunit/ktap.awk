# SPDX-License-Identifier: GPL-2.0-only
#
# Counts KUnit's results as debugfs hands them out, one suite after the other (Documentation/dev-tools/ktap.rst):
#
#     KTAP version 1
#     1..1
#         KTAP version 1
#         # Subtest: argtrace_table            the suite
#         1..2                                 its plan
#         ok 1 empty_table                     a test
#             KTAP version 1
#             # Subtest: descriptor            a test with parameters
#             ok 1 u8                          is as many tests as it has of them
#         ok 2 descriptor
#     ok 1 argtrace_table
#
# `expected` names the suites. Prints what went wrong, with what the test said about it, and then "PASSED FAILED
# SKIPPED". A suite that is missing, that ran less than its plan, or that says "not ok" without a failed test is a
# failure.

function fail(sentence) {
	failed++
	print "kunit: " sentence
}

function verdict(name) {
	if ($0 ~ /# SKIP/) {
		skipped++
		print "kunit: skipped " suite "." name
	} else if ($1 == "ok") {
		passed++
	} else {
		fail("FAILED " suite "." name)
		printf "%s", remarks
	}
	remarks = ""
}

# The end of what is known of a suite.
function close_suite() {
	if (suite != "" && done != plan)
		fail(suite " ran " done " of " plan " tests")
	suite = ""
}

# The name behind "ok 1 " or "not ok 1 ".
function name_of(line) {
	sub(/^ *(not )?ok [0-9]+ (- )?/, "", line)
	sub(/ # SKIP.*/, "", line)
	return line
}

{ sub(/\r$/, "") }

/^    # Subtest: / {
	close_suite()
	suite = $3
	seen[suite] = 1
	plan = done = parameters = 0
	before = failed
	remarks = ""
	next
}

/^    1\.\.[0-9]+$/ { plan = substr($1, 4) + 0; next }

/^        (not )?ok [0-9]+ / {
	parameters++
	verdict(name_of($0))
	next
}

/^    (not )?ok [0-9]+ / {
	done++
	if (parameters == 0)
		verdict(name_of($0))
	else if ($1 != "ok" && failed == before)
		fail("FAILED " suite "." name_of($0))
	parameters = 0
	before = failed
	remarks = ""
	next
}

/^(not )?ok [0-9]+ / {
	close_suite()
	if ($1 != "ok" && !failed)
		fail("the suite " name_of($0) " is not ok")
	next
}

# What a test says of its failure stands before its verdict.
suite != "" && !/KTAP version/ && !/# (Totals|Subtest|module)/ { remarks = remarks "  " $0 "\n" }

END {
	close_suite()
	count = split(expected, names, " ")
	for (i = 1; i <= count; i++) {
		if (!(names[i] in seen))
			fail("the suite " names[i] " left no results")
	}
	print passed + 0, failed + 0, skipped + 0
}
