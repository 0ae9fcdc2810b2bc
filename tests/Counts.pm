# The summary of prove, and below it one line with the numbers of tests: `prove --formatter Counts`.
package Counts;
use strict;
use warnings;
use parent 'TAP::Formatter::File';

sub summary {
    my ($self, $aggregate, @more) = @_;
    $self->SUPER::summary($aggregate, @more);
    my $skipped = $aggregate->skipped;
    my $failed = $aggregate->failed;
    # Each program that dies, hangs or writes no TAP is a failure as well.
    for my $program ($aggregate->parsers) {
        $failed++ if $program->has_problems && !$program->failed;
    }
    printf "%d passed, %d failed, %d skipped\n", $aggregate->passed - $skipped, $failed, $skipped;
}

1;
