/* Programmatic dependent launch on a stream. */
#include "pdl.h"

int main()
{
    struct pairs pairs;
    begin_pairs(&pairs);
    for (unsigned k = 0; k < 8; k++) {
        launch_pair(&pairs, k);
        expect_pair(&pairs, k);
    }
    end_pairs(&pairs);
    printf("pdl: ok %u\n", pairs.expected_sums);
    return 0;
}
