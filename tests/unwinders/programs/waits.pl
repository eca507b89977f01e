# SPDX-License-Identifier: GPL-2.0-only
# Perl that waits for ever: waits.pl KIND. It needs no library of Perl's.
sub recurse { my ($depth, $call) = @_; return $depth ? recurse($depth - 1, $call) : $call->(); }

sub Closing::DESTROY { sleep 100000; }

pipe my $reader, my $writer;
my %kinds = (
	sort => sub { my @sorted = sort { sleep 100000; $a <=> $b } 3, 2, 1; },
	destroy => sub { eval { my $closing = bless {}, 'Closing'; die "odd\n"; }; },
	read => sub { recurse(5, sub { <$reader> }); },
	regex => sub { 'abc' =~ /b(?{ select undef, undef, undef, undef })c/; },
	wait => sub { fork or sleep 100000; wait; },
	signal => sub { $SIG{USR1} = sub { sleep 100000; }; kill 'USR1', $$; sleep 100000; },
);
$kinds{$ARGV[0]}->();
