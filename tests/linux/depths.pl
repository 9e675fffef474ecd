# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# depths.pl ROUNDS - compute at the end of calls that lead 12 times from Perl through C to Perl.
package Deep;
use overload '+' => \&deep;

sub deep {
	my ($self) = @_;
	return bless({ %$self, depth => $self->{depth} - 1 }) + 1 if $self->{depth};
	my $total = 0;
	$total ^= $_ * 3 for 1 .. $self->{rounds} * 1000;
	return $total;
}

my $sum = bless({ depth => 11, rounds => $ARGV[0] }) + 1;
