#include "profile/run_files.h"

#include "base/path.h"
#include "profile/head.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DIGITS 3 /* at least */

/* ---- names ----------------------------------------------------------------------------------- */

/* Where the number stands: in front of ".jsonl", ".jsonl.zst" and the like. A number is no such
 * end: it is often a process. */
static size_t stem_length(const char *path)
{
    static const char compressed[] = ".zst";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t begin = (size_t)(name - path), whole = strlen(path);
    size_t length = whole;
    if (length - begin >= sizeof(compressed) && /* a name in front of it */
        strcmp(path + length - sizeof(compressed) + 1, compressed) == 0)
        length -= sizeof(compressed) - 1;
    size_t at = length;
    while (at > begin && path[at - 1] != '.')
        at--;
    /* Behind a dot that does not begin the name. */
    return at > begin + 1 && at < length && isalpha((unsigned char)path[at]) ? at - 1 : length;
}

void gp_add_run_file(const char *path, unsigned number, struct gp_text *out)
{
    const size_t stem = stem_length(path);
    gp_text_add_bytes(out, path, stem);
    if (number > 1)
        gp_text_addf(out, ".%0*u", DIGITS, number);
    gp_text_add(out, path + stem);
}

/* The number that a name has for gp_add_run_file of `first`; 0: none. */
static unsigned number_of(const char *name, const char *first)
{
    const size_t stem = stem_length(first);
    char *end;
    if (strncmp(name, first, stem) != 0 || name[stem] != '.' ||
        strspn(name + stem + 1, "0123456789") < DIGITS)
        return 0;
    const unsigned long number = strtoul(name + stem + 1, &end, 10);
    return number > 1 && number <= GP_MOST_RUN_FILES && strcmp(end, first + stem) == 0
               ? (unsigned)number
               : 0;
}

/* The name that was asked for, of a file with that number; false where its name has another one. */
static bool add_first(const char *path, unsigned number, struct gp_text *out)
{
    char digits[16];
    const size_t stem = stem_length(path);
    const int length = snprintf(digits, sizeof(digits), ".%0*u", DIGITS, number);
    if (length < 0 || (size_t)length >= stem ||
        strncmp(path + stem - length, digits, (size_t)length) != 0)
        return false;
    gp_text_add_bytes(out, path, stem - (size_t)length);
    gp_text_add(out, path + stem);
    return !out->failed;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void add_file(struct gp_run_files *files, const char *path)
{
    char **list = realloc(files->list, (files->count + 1) * sizeof(*list));
    char *copy = list ? strdup(path) : NULL;
    if (list)
        files->list = list;
    if (copy)
        list[files->count++] = copy;
    files->failed |= !copy;
}

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int by_number(const void *a, const void *b)
{
    const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

/* Numbers of names beside the first, in order; their count. To be freed. */
static size_t numbers_beside(const char *first, unsigned **numbers, bool *failed)
{
    struct gp_text folder = {0};
    size_t count = 0;
    gp_add_folder_of(first, &folder);
    DIR *entries = folder.failed ? NULL : opendir(gp_text_string(&folder));
    *numbers = NULL;
    for (const struct dirent *e; entries && (e = readdir(entries)) != NULL;) {
        const unsigned number = number_of(e->d_name, name_in(first));
        unsigned *more = number ? realloc(*numbers, (count + 1) * sizeof(*more)) : NULL;
        if (more) {
            *numbers = more;
            more[count++] = number;
        }
        *failed |= number && !more;
    }
    if (entries)
        closedir(entries);
    if (count > 0)
        qsort(*numbers, count, sizeof(**numbers), by_number);
    *failed |= folder.failed;
    gp_text_free(&folder);
    return count;
}

static bool is_of_run(const char *path, const char *run)
{
    struct gp_head head;
    return gp_head_of_file(path, &head) && strcmp(head.run, run) == 0;
}

/* Adds the files of the run that have a greater number. False where one has a lesser one: the file
 * is not its run's first. */
static bool add_others(struct gp_run_files *files, const char *first, const struct gp_head *head)
{
    unsigned *numbers;
    const size_t count = numbers_beside(first, &numbers, &files->failed);
    bool is_first = head->number == 1 || !is_of_run(first, head->run);
    for (size_t i = 0; i < count && is_first; i++) {
        struct gp_text path = {0};
        gp_add_run_file(first, numbers[i], &path);
        if (!path.failed && numbers[i] != head->number && is_of_run(path.data, head->run)) {
            is_first = numbers[i] > head->number;
            if (is_first)
                add_file(files, path.data);
        }
        files->failed |= path.failed;
        gp_text_free(&path);
    }
    free(numbers);
    return is_first;
}

void gp_run_files_of(const char *path, struct gp_run_files *files)
{
    struct gp_head head;
    struct gp_text first = {0};
    *files = (struct gp_run_files){0};
    add_file(files, path);
    if (strcmp(path, "-") != 0 && gp_head_of_file(path, &head) && head.run[0]) {
        /* A file that got another name is its run's only one. */
        bool named = head.number == 1 || add_first(path, head.number, &first);
        const size_t own = files->count;
        if (named && !add_others(files, head.number == 1 ? path : first.data, &head))
            while (files->count > own)
                free(files->list[--files->count]);
    }
    gp_text_free(&first);
}

void gp_run_files_add(struct gp_run_files *files, const char *path, const char *run)
{
    if (is_of_run(path, run))
        add_file(files, path);
}

void gp_run_files_beside(const char *path, const char *run, struct gp_run_files *files)
{
    unsigned *numbers;
    const size_t count = numbers_beside(path, &numbers, &files->failed);
    gp_run_files_add(files, path, run);
    for (size_t i = 0; i < count; i++) {
        struct gp_text beside = {0};
        gp_add_run_file(path, numbers[i], &beside);
        gp_run_files_add(files, gp_text_string(&beside), run);
        gp_text_free(&beside);
    }
    free(numbers);
}

void gp_run_files_free(struct gp_run_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->list[i]);
    free(files->list);
    *files = (struct gp_run_files){0};
}

bool gp_run_file_leads_to(const char *first, const char *second)
{
    struct gp_run_files files;
    struct gp_head of_first, of_second;
    struct stat wanted, about;
    bool found = false;
    if (!gp_head_of_file(second, &of_second) || of_second.number == 1 ||
        !gp_head_of_file(first, &of_first) || strcmp(of_first.run, of_second.run) != 0 ||
        stat(second, &wanted) != 0)
        return false;
    gp_run_files_of(first, &files);
    for (size_t i = 1; i < files.count && !found; i++)
        found = stat(files.list[i], &about) == 0 && about.st_dev == wanted.st_dev &&
                about.st_ino == wanted.st_ino;
    gp_run_files_free(&files);
    return found;
}
