/* Code quality JSON of GitLab, and SARIF 2.1.0. */
#include "check/format.h"

#include "base/hash.h"
#include "gpuprof_version.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* NULL when out of memory, on which json_pack fails. */
static json_t *clean_string(const char *s)
{
    struct gp_text clean = {0};
    gp_add_clean(&clean, s ? s : "");
    json_t *string = clean.failed ? NULL : json_string(gp_text_string(&clean));
    gp_text_free(&clean);
    return string;
}

static void add_json(json_t *root, struct gp_text *out)
{
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    if (text)
        gp_text_addf(out, "%s\n", text);
    else
        out->failed = true;
    free(text);
    json_decref(root);
}

static json_t *message_of(const struct gp_outcome *o)
{
    struct gp_text text = {0};
    if (o->kernel)
        gp_text_add(&text, o->kernel);
    if (o->configuration)
        gp_text_addf(&text, " [%s]", o->configuration);
    gp_text_addf(&text, "%s%s", o->kernel ? ": " : "", o->message ? o->message : "");
    json_t *string = text.failed ? NULL : clean_string(gp_text_string(&text));
    gp_text_free(&text);
    return string;
}

/* ---- GitLab ---- */

/* Paths in a report are relative to the repository. */
static const char *relative(const char *file)
{
    while (strncmp(file, "./", 2) == 0)
        file += 2;
    return file;
}

static json_t *finding_of(const struct gp_outcome *o)
{
    int line;
    const char *file = gp_outcome_file(o, &line);
    char fingerprint[17];
    gp_fingerprint(o, fingerprint);
    return json_pack("{s:o, s:o, s:s, s:s, s:{s:o, s:{s:i}}}", "description", message_of(o),
                     "check_name", clean_string(o->rule), "fingerprint", fingerprint, "severity",
                     o->status == GP_VIOLATED ? "major" : "info", "location", "path",
                     clean_string(file ? relative(file) : "gpuprof"), "lines", "begin", line);
}

void gp_write_code_quality(const struct gp_verdict *v, const struct gp_occasion *occasion,
                           struct gp_text *out)
{
    json_t *root = json_array();
    for (size_t i = 0; i < v->count; i++)
        if (v->outcomes[i].status == GP_VIOLATED || v->outcomes[i].status == GP_NOTED)
            out->failed |= json_array_append_new(root, finding_of(&v->outcomes[i])) != 0;
    if (v->unjudged.length > 0) {
        const struct gp_outcome o = {.status = GP_VIOLATED,
                                     .rule = occasion->title,
                                     .message = gp_text_string(&v->unjudged)};
        out->failed |= json_array_append_new(root, finding_of(&o)) != 0;
    }
    add_json(root, out);
}

/* ---- SARIF ---- */

struct rule {
    UT_hash_handle hh;
    size_t index;
    char text[];
};

struct rules {
    struct rule *known;
    json_t *list;
    bool failed;
};

static size_t rule_index(struct rules *rules, const char *text)
{
    size_t length = strlen(text);
    struct rule *r = NULL;
    HASH_FIND(hh, rules->known, text, length, r);
    if (r)
        return r->index;
    r = calloc(1, sizeof(*r) + length + 1);
    size_t index = json_array_size(rules->list);
    rules->failed |=
        !r || json_array_append_new(rules->list,
                                    json_pack("{s:o, s:{s:o}}", "id", clean_string(text),
                                              "shortDescription", "text", clean_string(text))) != 0;
    if (!r)
        return index;
    memcpy(r->text, text, length);
    r->index = index;
    HASH_ADD_KEYPTR(hh, rules->known, r->text, length, r);
    if (!r->hh.tbl) {
        free(r);
        rules->failed = true;
    }
    return index;
}

static void forget_rules(struct rules *rules)
{
    struct rule *r, *next;
    HASH_ITER(hh, rules->known, r, next)
    {
        HASH_DEL(rules->known, r);
        free(r);
    }
}

/* A path as the reference of a URI: other bytes than letters, digits and a few signs are %XX. */
static json_t *uri_of(const char *path)
{
    struct gp_text uri = {0};
    if (path[0] == '/')
        gp_text_add(&uri, "file://");
    for (const char *p = relative(path); *p; p++) {
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/", *p))
            gp_text_add_bytes(&uri, p, 1);
        else
            gp_text_addf(&uri, "%%%02X", (unsigned char)*p);
    }
    json_t *string = uri.failed ? NULL : json_string(gp_text_string(&uri));
    gp_text_free(&uri);
    return string;
}

static json_t *result_of(const struct gp_outcome *o, struct rules *rules)
{
    static const char *const levels[] = {
        [GP_HELD] = "none", [GP_VIOLATED] = "error", [GP_SKIPPED] = "none", [GP_NOTED] = "note"};
    static const char *const kinds[] = {[GP_HELD] = "pass",
                                        [GP_VIOLATED] = "fail",
                                        [GP_SKIPPED] = "notApplicable",
                                        [GP_NOTED] = "fail"};
    int line;
    const char *file = gp_outcome_file(o, &line);
    const char *rule = o->rule ? o->rule : "gpuprof";
    char fingerprint[17];
    gp_fingerprint(o, fingerprint);
    json_t *result = json_pack(
        "{s:o, s:I, s:s, s:s, s:{s:o}, s:{s:s}}", "ruleId", clean_string(rule), "ruleIndex",
        (json_int_t)rule_index(rules, rule), "kind", kinds[o->status], "level", levels[o->status],
        "message", "text", message_of(o), "partialFingerprints", "gpuprof/v1", fingerprint);
    if (file && result)
        rules->failed |=
            json_object_set_new(result, "locations",
                                json_pack("[{s:{s:{s:o}, s:{s:i}}}]", "physicalLocation",
                                          "artifactLocation", "uri", uri_of(file), "region",
                                          "startLine", line)) != 0;
    return result;
}

/* Why there was no judgement: the tool's own trouble. */
static json_t *invocation_of(const struct gp_verdict *v)
{
    json_t *invocation =
        json_pack("{s:b}", "executionSuccessful", v->unjudged.length == 0 && !v->failed);
    if (invocation && v->unjudged.length > 0)
        json_object_set_new(invocation, "toolExecutionNotifications",
                            json_pack("[{s:s, s:{s:o}}]", "level", "error", "message", "text",
                                      clean_string(gp_text_string(&v->unjudged))));
    return invocation;
}

void gp_write_sarif(const struct gp_verdict *v, const struct gp_occasion *occasion,
                    struct gp_text *out)
{
    (void)occasion;
    struct rules rules = {.list = json_array()};
    json_t *results = json_array();
    for (size_t i = 0; i < v->count; i++)
        rules.failed |= json_array_append_new(results, result_of(&v->outcomes[i], &rules)) != 0;
    out->failed |= rules.failed;
    add_json(json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:[o], s:o}]}", "$schema",
                       "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs",
                       "tool", "driver", "name", "gpuprof", "version", GP_VERSION, "rules",
                       rules.list, "invocations", invocation_of(v), "results", results),
             out);
    forget_rules(&rules);
}
