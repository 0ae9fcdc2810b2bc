#include "report/names.h"

#include "base/text.h"
#include "report/name_parts.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Deeper template arguments are shown as they are. */
#define MOST_DEPTH 12

/* Names that are equal at one stage are written more fully at the next. */
enum stage {
    OPERATION, /* of a template argument: the wrapped operation; of a kernel: its head */
    INNER,     /* the arguments by which these operations differ */
    WRAPPED,   /* the head of the wrapper around it */
    ARGUMENTS, /* the template arguments that differ */
    LAST,      /* the parameters of the function or lambda at the end */
    REST,      /* the text behind the template arguments in which they differ */
    WHOLE,     /* the text as it is */
};

/* One of the texts that are compared. */
struct item {
    struct gp_name_part part;
    struct gp_span wrapped;   /* the operation */
    struct gp_span operation; /* its head */
    char *label;              /* as it is written so far */
    size_t index;             /* among the texts */
};

static bool name_all(const struct gp_span *texts, size_t count, int depth, char **out);

static int by_label(const void *x, const void *y)
{
    const struct item *a = *(const struct item *const *)x, *b = *(const struct item *const *)y;
    int order = strcmp(a->label, b->label);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static bool all_same(struct item *const *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!gp_span_same(items[0]->part.all, items[i]->part.all))
            return false;
    return true;
}

static void add_span(struct gp_text *out, struct gp_span s)
{
    gp_text_add_bytes(out, s.begin, (size_t)(s.end - s.begin));
}

/* ---- template arguments ---------------------------------------------------------------------- */

/* The names of the items' arguments, by position and item; "" where an item has fewer. */
struct arguments {
    size_t positions, count;
    char **names;
    bool shown[GP_NAME_MOST_ARGUMENTS];
    int weights[GP_NAME_MOST_ARGUMENTS];
};

static char *argument(const struct arguments *a, size_t position, size_t item)
{
    return a->names[position * a->count + item];
}

static bool find_arguments(struct arguments *a, struct item *const *items, size_t count, int depth)
{
    *a = (struct arguments){.count = count};
    for (size_t i = 0; i < count; i++)
        if (items[i]->part.argument_count > a->positions)
            a->positions = items[i]->part.argument_count;
    struct gp_span *texts = calloc(count + 1, sizeof(*texts));
    a->names = calloc(a->positions * count + 1, sizeof(*a->names));
    bool answer = texts && a->names;
    for (size_t p = 0; p < a->positions && answer; p++) {
        for (size_t i = 0; i < count; i++) {
            const struct gp_name_part *part = &items[i]->part;
            texts[i] = p < part->argument_count ? part->arguments[p]
                                                : (struct gp_span){part->all.end, part->all.end};
            int weight = gp_name_weight(texts[i]);
            a->weights[p] = weight > a->weights[p] ? weight : a->weights[p];
        }
        answer = name_all(texts, count, depth + 1, &a->names[p * count]);
    }
    free(texts);
    return answer;
}

static void free_arguments(struct arguments *a)
{
    for (size_t i = 0; a->names && i < a->positions * a->count; i++)
        free(a->names[i]);
    free(a->names);
}

/* Into how many classes the items fall by the classes so far and their argument at `position`;
 * writes these classes to `next`. */
static size_t refine(const struct arguments *a, const size_t *classes, size_t position,
                     size_t *next)
{
    size_t found = 0;
    for (size_t i = 0; i < a->count; i++) {
        size_t k = 0;
        while (k < i && !(classes[k] == classes[i] &&
                          strcmp(argument(a, position, k), argument(a, position, i)) == 0))
            k++;
        next[i] = k < i ? next[k] : found++;
    }
    return found;
}

/* Chooses the fewest arguments that part the items as far as all arguments would: the one with the
 * most different values first, of equals the one that says most. */
static bool choose_arguments(struct arguments *a)
{
    size_t *classes = calloc(2 * a->count + 1, sizeof(*classes));
    if (!classes)
        return false;
    size_t *next = classes + a->count, reached = a->count > 0;
    for (;;) {
        size_t best = a->positions, most = reached;
        for (size_t p = 0; p < a->positions; p++) {
            size_t found = a->shown[p] ? 0 : refine(a, classes, p, next);
            if (found > most ||
                (best < a->positions && found == most && a->weights[p] > a->weights[best])) {
                best = p;
                most = found;
            }
        }
        if (best == a->positions)
            break;
        reached = refine(a, classes, best, next);
        memcpy(classes, next, a->count * sizeof(*classes));
        a->shown[best] = true;
    }
    free(classes);
    return true;
}

static void add_arguments(const struct arguments *a, const struct item *item, size_t index,
                          struct gp_text *out)
{
    bool left_out = false, any = false;
    for (size_t p = 0; p < item->part.argument_count; p++) {
        if (!a->shown[p]) {
            left_out = true;
            continue;
        }
        gp_text_addf(out, "%s%s%s", any ? ", " : "<", left_out ? ".., " : "",
                     argument(a, p, index));
        left_out = false;
        any = true;
    }
    if (any)
        gp_text_add(out, left_out ? ", ..>" : ">");
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* "(float)" of "...::{lambda(float)#1}", ")" being the last one. */
static struct gp_span last_parameters(struct gp_span rest)
{
    const char *end = rest.end, *begin;
    int depth = 0;
    while (end > rest.begin && end[-1] != ')')
        end--;
    for (begin = end; begin > rest.begin;) {
        begin--;
        depth += (*begin == ')') - (*begin == '(');
        if (depth == 0)
            return (struct gp_span){begin, end};
    }
    return (struct gp_span){rest.end, rest.end};
}

/* The first and the last letter in which the items' rests differ, counted from their begins and
 * ends; from the number of a lambda, "#12", all is shown. */
static void find_difference(struct item *const *items, size_t count, size_t *front, size_t *back)
{
    const struct gp_span first = items[0]->part.rest;
    size_t length = (size_t)(first.end - first.begin);
    *front = *back = length;
    for (size_t i = 1; i < count; i++) {
        const struct gp_span rest = items[i]->part.rest;
        size_t own = (size_t)(rest.end - rest.begin), a = 0, b = 0;
        while (a < own && a < *front && rest.begin[a] == first.begin[a])
            a++;
        while (b + a < own && b < *back &&
               rest.end[-1 - (ptrdiff_t)b] == first.end[-1 - (ptrdiff_t)b])
            b++;
        *front = a;
        *back = b;
    }
    while (*front > 0 && isalnum((unsigned char)first.begin[*front - 1]))
        (*front)--;
    if (*front > 0 && first.begin[*front - 1] == '#')
        (*front)--;
}

static void write_label(const struct item *item, enum stage stage, struct gp_text *out)
{
    if (stage == WHOLE)
        add_span(out, item->part.all);
    else if (stage == OPERATION)
        add_span(out, item->operation);
    else if (stage == WRAPPED && !gp_span_same(item->wrapped, item->part.all)) {
        add_span(out, item->part.head);
        gp_text_addf(out, "<%s>", item->label);
    } else {
        gp_text_add(out, item->label);
    }
    if (stage == LAST)
        add_span(out, last_parameters(item->part.rest));
}

static bool take_label(struct item *item, char *label)
{
    if (!label)
        return false;
    free(item->label);
    item->label = label;
    return true;
}

static bool label_arguments(struct item *const *items, size_t count, int depth)
{
    struct arguments a;
    struct gp_text text = {0};
    bool answer = find_arguments(&a, items, count, depth) && choose_arguments(&a);
    for (size_t i = 0; i < count && answer; i++) {
        gp_text_clear(&text);
        add_span(&text, items[i]->part.head);
        add_arguments(&a, items[i], i, &text);
        answer = take_label(items[i], text.failed ? NULL : strdup(gp_text_string(&text)));
    }
    gp_text_free(&text);
    free_arguments(&a);
    return answer;
}

static bool label_inner(struct item *const *items, size_t count, int depth)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any = any || !gp_span_same(items[i]->wrapped, items[i]->part.all);
    if (!any)
        return true;
    struct gp_span *texts = calloc(count, sizeof(*texts));
    char **names = calloc(count, sizeof(*names));
    bool answer = texts && names;
    for (size_t i = 0; i < count && answer; i++)
        texts[i] = items[i]->wrapped;
    answer = answer && name_all(texts, count, depth + 1, names);
    for (size_t i = 0; i < count && names; i++) {
        if (answer)
            answer = take_label(items[i], names[i]);
        else
            free(names[i]);
    }
    free(texts);
    free(names);
    return answer;
}

/* Writes the items anew as `stage` does. */
static bool relabel(struct item *const *items, size_t count, enum stage stage, int depth)
{
    if (stage == INNER)
        return label_inner(items, count, depth);
    if (stage == ARGUMENTS)
        return label_arguments(items, count, depth);
    struct gp_text text = {0};
    size_t front = 0, back = 0;
    bool answer = true;
    if (stage == REST)
        find_difference(items, count, &front, &back);
    for (size_t i = 0; i < count && answer; i++) {
        const struct gp_span rest = items[i]->part.rest;
        gp_text_clear(&text);
        write_label(items[i], stage, &text);
        if (stage == REST && rest.end - rest.begin > (ptrdiff_t)(front + back))
            add_span(&text, (struct gp_span){rest.begin + front, rest.end - back});
        answer = take_label(items[i], text.failed ? NULL : strdup(gp_text_string(&text)));
    }
    gp_text_free(&text);
    return answer;
}

/* Writes items that are equal so far from `stage` on until they differ. */
static bool part_items(struct item **items, size_t count, enum stage stage, int depth)
{
    bool answer = relabel(items, count, stage, depth);
    if (!answer || stage == WHOLE)
        return answer;
    qsort(items, count, sizeof(*items), by_label);
    for (size_t begin = 0, end; begin < count && answer; begin = end) {
        for (end = begin + 1; end < count && strcmp(items[begin]->label, items[end]->label) == 0;)
            end++;
        if (!all_same(items + begin, end - begin))
            answer = part_items(items + begin, end - begin, depth >= MOST_DEPTH ? WHOLE : stage + 1,
                                depth);
    }
    return answer;
}

/* Gives each of the texts a short name, out[i], to be freed. Equal texts get equal ones, different
 * ones different ones; only such as differ in blanks at their ends do not. */
static bool name_all(const struct gp_span *texts, size_t count, int depth, char **out)
{
    struct item *items = calloc(count + 1, sizeof(*items));
    struct item **order = calloc(count + 1, sizeof(struct item *));
    bool answer = items && order;
    for (size_t i = 0; i < count && answer; i++) {
        struct gp_name_part operation;
        order[i] = &items[i];
        items[i].index = i;
        gp_name_take_apart(&items[i].part, texts[i]);
        items[i].wrapped = depth > 0 ? gp_name_operation(texts[i]) : items[i].part.all;
        gp_name_take_apart(&operation, items[i].wrapped);
        items[i].operation = operation.head;
    }
    answer = answer && (count == 0 || part_items(order, count, OPERATION, depth));
    for (size_t i = 0; i < count; i++)
        out[i] = items ? items[i].label : NULL;
    free(items);
    free(order);
    return answer;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* A text beside its hash: thousands of long names that begin alike are compared in time. */
struct hashed {
    const char *text;
    uint64_t hash;
};

static struct hashed hashed(const char *text)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *p = text; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    return (struct hashed){text, hash};
}

static bool is_same(struct hashed a, struct hashed b)
{
    return a.hash == b.hash && strcmp(a.text, b.text) == 0;
}

struct hashed_kernel {
    struct hashed kernel, brief, name; /* the last one as it is shown */
};

/* The name with its parameters where that without is another kernel's as well. */
static struct gp_span text_of(const struct gp_kernel_spelling *kernels,
                              const struct hashed_kernel *hashes, size_t count, size_t i)
{
    const struct gp_kernel_spelling *k = &kernels[i];
    const char *text = k->brief;
    for (size_t other = 0; other < count && text == k->brief; other++) {
        if (!is_same(hashes[other].brief, hashes[i].brief) ||
            is_same(hashes[other].kernel, hashes[i].kernel))
            continue;
        const char *without_type = strstr(k->full, k->brief);
        text = without_type ? without_type : k->full;
    }
    return (struct gp_span){text, text + strlen(text)};
}

/* PyTorch's templates are loops around an operation: "vectorized_elementwise_kernel" alone says
 * nothing. */
static bool is_loop_of_pytorch(struct gp_span text)
{
    static const char space[] = "at::native::";
    const char *found = memmem(text.begin, (size_t)(text.end - text.begin), space, strlen(space));
    return found != NULL;
}

static bool has_word(struct gp_span s, const char *word)
{
    return memmem(s.begin, (size_t)(s.end - s.begin), word, strlen(word)) != NULL;
}

/* The argument that is most likely an operation, of no length where none is. */
static struct gp_span find_operation(const struct gp_name_part *part)
{
    static const char *const words[] = {"unctor", "Op", "Math", "{lambda", "_kernel"};
    struct gp_span found = {part->all.end, part->all.end};
    for (size_t i = part->argument_count; i-- > 0;)
        if (gp_name_weight(part->arguments[i]) == 2)
            found = part->arguments[i];
    for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
        for (size_t i = 0; i < part->argument_count; i++)
            if (gp_name_weight(part->arguments[i]) == 2 && has_word(part->arguments[i], words[w]))
                return part->arguments[i];
    return found;
}

/* Adds the operation to names of such loops that are shown without arguments. */
static bool add_operations(const struct gp_span *texts, size_t count, char **names)
{
    struct gp_text name = {0};
    bool answer = true;
    for (size_t i = 0; i < count && answer; i++) {
        struct gp_name_part part, operation;
        gp_name_take_apart(&part, texts[i]);
        struct gp_span found = find_operation(&part);
        if (strchr(names[i], '<') || found.begin == found.end || !is_loop_of_pytorch(texts[i]))
            continue;
        gp_name_take_apart(&operation, gp_name_operation(found));
        gp_text_clear(&name);
        gp_text_addf(&name, "%s<", names[i]);
        add_span(&name, operation.head);
        gp_text_add(&name, ">");
        char *copy = name.failed ? NULL : strdup(gp_text_string(&name));
        answer = copy != NULL;
        if (answer) {
            free(names[i]);
            names[i] = copy;
        }
    }
    gp_text_free(&name);
    return answer;
}

static bool is_taken(const struct hashed_kernel *hashes, size_t count, const char *name)
{
    const struct hashed wanted = hashed(name);
    for (size_t i = 0; i < count; i++)
        if (is_same(hashes[i].name, wanted))
            return true;
    return false;
}

/* Numbers kernels that have one name all the same: those of unnamed namespaces of two files. */
static bool number_the_rest(struct hashed_kernel *hashes, size_t count, char **names)
{
    struct gp_text name = {0};
    bool answer = true;
    for (size_t i = 0; i < count && answer; i++) {
        size_t same = 0;
        while (same < i && !is_same(hashes[same].kernel, hashes[i].kernel))
            same++;
        gp_text_clear(&name);
        gp_text_add(&name, names[same]);
        for (size_t n = 2; same == i && is_taken(hashes, i, gp_text_string(&name)); n++) {
            gp_text_clear(&name);
            gp_text_addf(&name, "%s #%zu", names[i], n);
        }
        char *copy = name.failed ? NULL : strdup(gp_text_string(&name));
        answer = copy != NULL;
        if (answer) {
            free(names[i]);
            names[i] = copy;
            hashes[i].name = hashed(copy);
        }
    }
    gp_text_free(&name);
    return answer;
}

bool gp_names_distinct(const struct gp_kernel_spelling *kernels, size_t count, char **out)
{
    struct gp_span *texts = calloc(count + 1, sizeof(*texts));
    struct hashed_kernel *hashes = calloc(count + 1, sizeof(*hashes));
    bool answer = texts && hashes;
    for (size_t i = 0; i < count; i++) {
        out[i] = NULL;
        if (answer)
            hashes[i] = (struct hashed_kernel){.kernel = hashed(kernels[i].kernel),
                                               .brief = hashed(kernels[i].brief)};
    }
    for (size_t i = 0; i < count && answer; i++)
        texts[i] = text_of(kernels, hashes, count, i);
    answer = answer && name_all(texts, count, 0, out) && add_operations(texts, count, out) &&
             number_the_rest(hashes, count, out);
    free(hashes);
    free(texts);
    return answer;
}
