# SPDX-License-Identifier: GPL-2.0-only
# Never ends, for UserStacksOfPrograms: recursion, callbacks from sort, regular expressions and errors. It needs no library of Perl's.
sub fibonacci { my $n = shift; return $n < 2 ? getppid() & 1 : fibonacci($n - 1) + fibonacci($n - 2); }

sub Closing::DESTROY { getppid(); }

$| = 1;
print "ready\n";
open STDOUT, '>', '/dev/null';
for (my $n = 0;; $n++) {
	my @sorted = sort { $a <=> $b } map { ($_ * 7919 + $n) % 1000 } 1 .. 100;
	my %names = map { $_ => sprintf('%x', $_) } @sorted;
	my $text = join ',', values %names;
	(my $changed = $text) =~ s/(\d+)([a-f])/$2$1/g;
	eval { my $closing = bless {}, 'Closing'; die "odd\n" if $n % 2; };
	syswrite STDOUT, fibonacci(8) . length($changed) . "\n";
}
