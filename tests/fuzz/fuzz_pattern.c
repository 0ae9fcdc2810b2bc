/* File name patterns. */
#include "base/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *pattern = malloc(size + 1);
    if (!pattern)
        return 0;
    memcpy(pattern, bytes, size);
    pattern[size] = '\0';
    setenv("FUZZ", "value", 1);
    struct gp_text out = {0};
    char why[64] = ""; /* short: reasons are cut */
    if (!gp_pattern_expand(pattern, &out, why, sizeof(why)) && !*why)
        abort();
    gp_text_free(&out);
    free(pattern);
    return 0;
}
