/* Machine code of a function: the questions that are asked of it. The first byte says for which
 * compute capability it is. */
#include "code/address_words.h"
#include "code/addresses.h"
#include "code/data_words.h"
#include "code/lanes.h"
#include "code/textures.h"
#include "code/waits.h"

#include <stdlib.h>
#include <string.h>

static void ask(const void *code, size_t size, int cc)
{
    const uint64_t words = gp_code_data_words(code, size, cc);
    struct gp_address_words of_addresses;
    volatile unsigned answers;
    answers = gp_code_may_wait(code, size, cc) + gp_code_polls(code, size, cc) +
              gp_code_spins(code, size, cc) + gp_code_may_use_textures(code, size, cc) +
              gp_code_tells_lanes(code, size, cc) + gp_code_may_load_addresses(code, size, cc);
    answers += gp_code_address_words(code, size, cc, 40, &of_addresses);
    (void)answers;
    if (words != gp_code_data_words(code, size, cc))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const int capabilities[] = {70, 75, 80, 90, 100, 120};
    if (size == 0)
        return 0;
    /* Nothing lies behind the copy. */
    char *copy = malloc(size - 1 + !(size - 1));
    if (!copy)
        return 0;
    memcpy(copy, bytes + 1, size - 1);
    ask(copy, size - 1, capabilities[bytes[0] % 6]);
    free(copy);
    return 0;
}
