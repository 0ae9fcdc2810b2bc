#include "cli/judging.h"

#include "check/judge.h"
#include "profile/reader.h"

static int take_header(void *user, const struct gp_profile_header *header)
{
    (void)header;
    gp_judge_process(user);
    return 0;
}

static int take_device(void *user, const struct gp_device *device)
{
    gp_judge_device(user, device);
    return 0;
}

static int take_launch(void *user, const struct gp_launch *launch)
{
    gp_judge_launch(user, launch);
    return 0;
}

static int take_count(void *user, const struct gp_count *count)
{
    gp_judge_count(user, count);
    return 0;
}

void cli_judge_profiles(const struct gp_thresholds *t, const struct gp_metrics *m,
                        char *const *paths, int count, struct gp_verdict *verdict)
{
    struct gp_judge *judge = gp_judge_new(t, m);
    if (!judge) {
        gp_text_add(&verdict->unjudged, "out of memory\n");
        return;
    }
    const struct gp_profile_visitor visitor = {.user = judge,
                                               .header = take_header,
                                               .device = take_device,
                                               .launch = take_launch,
                                               .count = take_count};
    for (int i = 0; i < count; i++) {
        char why[512];
        if (gp_profile_read(paths[i], &visitor, &verdict->notes, why, sizeof(why)) != 0)
            gp_text_addf(&verdict->unjudged, "%s\n", why);
    }
    gp_judge_finish(judge, verdict);
    gp_judge_free(judge);
}
