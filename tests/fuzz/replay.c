/* Stands in for libFuzzer: hands every file given, and those of every folder given, to the harness.
 * A harness ends the program when it finds something. */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        perror(path);
        return -1;
    }
    long size = ftell(f);
    rewind(f);
    /* No byte more: reading past the end is to be noticed. */
    uint8_t *bytes = size >= 0 ? malloc((size_t)size + !size) : NULL;
    if (!bytes || fread(bytes, 1, (size_t)size, f) != (size_t)size) {
        perror(path);
        return -1;
    }
    fclose(f);
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
    return 0;
}

/* Folders in a folder have harnesses of their own. */
static int is_input(const struct dirent *d)
{
    return d->d_name[0] != '.' && d->d_type != DT_DIR;
}

int main(int argc, char **argv)
{
    int failed = 0, files = 0;
    for (int i = 1; i < argc; i++) {
        struct dirent **names;
        int count = scandir(argv[i], &names, is_input, alphasort);
        if (count < 0) {
            failed |= replay_file(argv[i]);
            files++;
            continue;
        }
        for (int k = 0; k < count; k++) {
            char path[PATH_MAX];
            snprintf(path, sizeof(path), "%s/%s", argv[i], names[k]->d_name);
            failed |= replay_file(path);
            files++;
            free(names[k]);
        }
        free(names);
    }
    return failed || files == 0;
}
