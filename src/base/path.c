#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Links followed one after the other; the kernel follows no more either. */
#define MOST_LINKS 40
#define LONGEST_TARGET 4096

/* A file that is there by itself, with an empty name; one that is not by the folder it would be in
 * and the name it would have there. */
struct target {
    struct stat about;
    struct gp_text name;
};

void gp_add_folder_of(const char *path, struct gp_text *out)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        gp_text_add(out, ".");
    else
        gp_text_add_bytes(out, path, slash == path ? 1 : (size_t)(slash - path));
}

/* A link to a file that is not there: writing makes that one. False where `path` is no link. */
static bool follow(struct gp_text *path)
{
    char target[LONGEST_TARGET];
    ssize_t length = readlink(gp_text_string(path), target, sizeof(target));
    if (length <= 0 || (size_t)length == sizeof(target))
        return false;
    struct gp_text next = {0};
    if (target[0] != '/') {
        gp_add_folder_of(gp_text_string(path), &next);
        gp_text_add(&next, "/");
    }
    gp_text_add_bytes(&next, target, (size_t)length);
    gp_text_free(path);
    *path = next;
    return true;
}

static bool find_new(const char *path, struct target *target)
{
    struct gp_text folder = {0};
    const char *slash = strrchr(path, '/');
    gp_text_add(&target->name, slash ? slash + 1 : path);
    gp_add_folder_of(path, &folder);
    bool found = !folder.failed && !target->name.failed && stat(folder.data, &target->about) == 0;
    gp_text_free(&folder);
    return found;
}

static bool find_target(const char *name, struct target *target)
{
    struct gp_text path = {0};
    gp_text_add(&path, name);
    bool there = false, is_new = false, followed = true;
    for (int links = 0; followed && links < MOST_LINKS; links++) {
        there = stat(gp_text_string(&path), &target->about) == 0;
        is_new = !there && errno == ENOENT;
        followed = is_new && follow(&path);
    }
    bool found = there || (is_new && !path.failed && find_new(gp_text_string(&path), target));
    gp_text_free(&path);
    return found;
}

bool gp_is_same_file(const char *a, const char *b)
{
    struct target x = {0}, y = {0};
    bool same = find_target(a, &x) && find_target(b, &y) && !S_ISCHR(x.about.st_mode) &&
                x.about.st_dev == y.about.st_dev && x.about.st_ino == y.about.st_ino &&
                strcmp(gp_text_string(&x.name), gp_text_string(&y.name)) == 0;
    gp_text_free(&x.name);
    gp_text_free(&y.name);
    return same;
}

void gp_add_temporary(const char *name, struct gp_text *out)
{
    const char *folder = secure_getenv("TMPDIR");
    gp_text_addf(out, "%s/%s.XXXXXX", folder && *folder ? folder : "/tmp", name);
}
