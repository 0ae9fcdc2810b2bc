/*
 * loads_dlopen HOW LIBRARY ARGUMENT...: loads a library and calls its run(ARGUMENT...). HOW:
 * "plain"; "deep", with RTLD_DEEPBIND; "apart", into a list of the linker's of its own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const int deep = strcmp(argv[1], "deep") == 0 ? RTLD_DEEPBIND : 0;
    void *library = strcmp(argv[1], "apart") == 0 ? dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW)
                                                  : dlopen(argv[2], RTLD_LAZY | deep);
    void *found = library ? dlsym(library, "run") : NULL;
    int (*run)(int, char **);

    if (!found) {
        puts(dlerror());
        return 1;
    }
    memcpy(&run, &found, sizeof(run));
    return run(argc - 3, argv + 3);
}
