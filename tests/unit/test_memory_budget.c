/* memory/budget and memory/arena: how much may be taken, and where copies lie in it. */
#include "memory/budget.h"
#include "memory/inside.h"
#include "memory/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define KB ((uint64_t)1 << 10)
#define MB ((uint64_t)1 << 20)
#define GB ((uint64_t)1 << 30)

static uint64_t device_free;
static bool device_refuses;
static uint64_t most_in_one_piece; /* 0: any */
static unsigned allocations;

static CUresult fake_info(size_t *free, size_t *total)
{
    *free = device_free;
    *total = 16 * GB;
    return CUDA_SUCCESS;
}

static CUresult fake_alloc(CUdeviceptr *address, size_t bytes)
{
    allocations++;
    if (device_refuses || bytes > device_free || (most_in_one_piece && bytes > most_in_one_piece))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *address = 0x700000000000;
    return CUDA_SUCCESS;
}

static CUresult fake_free(CUdeviceptr address)
{
    (void)address;
    return CUDA_SUCCESS;
}

static unsigned host_allocations;

static CUresult fake_host_alloc(void **memory, size_t bytes, unsigned flags)
{
    host_allocations++;
    (void)bytes;
    (void)flags;
    *memory = (void *)(uintptr_t)0x600000000000;
    return CUDA_SUCCESS;
}

static CUresult fake_host_free(void *memory)
{
    (void)memory;
    return CUDA_SUCCESS;
}

static CUresult fake_device_pointer(CUdeviceptr *device, void *host, unsigned flags)
{
    (void)flags;
    *device = (uintptr_t)host;
    return CUDA_SUCCESS;
}

/* As where the user has named no size: that cannot be had again once one was named. */
static int begin_by_default(void **state)
{
    (void)state;
    gp_cuda.cuMemGetInfo_v2 = fake_info;
    gp_cuda.cuMemAlloc_v2 = fake_alloc;
    gp_cuda.cuMemFree_v2 = fake_free;
    gp_cuda.cuMemHostAlloc = fake_host_alloc;
    gp_cuda.cuMemFreeHost = fake_host_free;
    gp_cuda.cuMemHostGetDevicePointer_v2 = fake_device_pointer;
    device_free = 10 * GB;
    device_refuses = false;
    return 0;
}

static int begin(void **state)
{
    begin_by_default(state);
    assert_true(gp_budget_set("10%"));
    return 0;
}

static void sizes_and_shares_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {{"1", 1}, {"4096", 4096}, {"64K", 64 * KB}, {"512M", 512 * MB}, {"4g", 4 * GB}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_true(gp_budget_set(sizes[i].text));
        assert_int_equal(memory_budget(100 * GB, 100 * GB).device, sizes[i].bytes);
    }
    assert_true(gp_budget_set("25%"));
    assert_int_equal(memory_budget(100 * MB * 100, 0).device, 25 * 100 * MB);
    static const char *const wrong[] = {"",
                                        "0",
                                        "0%",
                                        "101%",
                                        "4GB",
                                        "-1",
                                        "G",
                                        "1.5G",
                                        "10 %",
                                        " 4G",
                                        "4X",
                                        "99999999999999999T",
                                        "99999999999999999999",
                                        "4G%"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(gp_budget_set(wrong[i]));
    assert_int_equal(memory_budget(100 * MB * 100, 0).device, 25 * 100 * MB); /* as it was */
}

static void the_program_keeps_room_of_its_own(void **state)
{
    (void)state;
    assert_true(gp_budget_set("100%"));
    assert_int_equal(memory_budget(GP_DEVICE_RESERVE, 0).device, 0);
    assert_int_equal(memory_budget(GP_DEVICE_RESERVE + 100, 0).device, 100);
    assert_true(gp_budget_set("4G"));
    assert_int_equal(memory_budget(GB, 100 * GB).device, GB - GP_DEVICE_RESERVE);
    assert_int_equal(memory_budget(GB, 100 * GB).host, 3 * GB + GP_DEVICE_RESERVE);
    assert_int_equal(memory_budget(GB, 2 * GB).host, GB); /* half of the host's memory */
}

static void the_host_gives_no_more_than_4_gib_by_itself(void **state)
{
    (void)state;
    assert_int_equal(memory_budget(10 * GB, 30 * GB).host, 30 * GB / 100 * 10);
    assert_int_equal(memory_budget(10 * GB, 1000 * GB).host, 4 * GB);
    assert_true(gp_budget_set("50%"));
    assert_int_equal(memory_budget(10 * GB, 1000 * GB).host, 4 * GB);
    assert_true(gp_budget_set("20G")); /* the user's own word */
    assert_int_equal(memory_budget(GP_DEVICE_RESERVE, 1000 * GB).host, 20 * GB);
}

static void too_many_reasons_are_counted(void **state)
{
    (void)state;
    struct gp_reason why = memory_budget_exceeded(60000000000, 13000000000);
    assert_string_equal(why.text,
                        "the launch's memory (60 GB) is more than GPUPROF_MEMORY allows (13 GB)");
    assert_int_equal(why.cause, GP_CAUSE_OVER_LIMIT);
    assert_ptr_equal(why.text, memory_budget_exceeded(60000000001, 13000000001).text);
    assert_string_equal(
        memory_budget_exceeded(1500000, 800).text,
        "the launch's memory (1.5 MB) is more than GPUPROF_MEMORY allows (800 bytes)");
}

static const struct gp_arena beside; /* empty */

/* Positions for buffers of these sizes do not overlap, and lie where cache lines are the same. */
static void check_positions(struct gp_arena *arena, const uint64_t *sizes, size_t count)
{
    uint64_t need = 0, used = 0, end_device = 0, end_host = 0;
    struct gp_reason why = GP_NO_REASON;
    bool moved;
    for (size_t i = 0; i < count; i++)
        need += arena_need(sizes[i]);
    assert_true(arena_reserve(arena, &beside, need, &moved, &why));
    arena_clear(arena);
    for (size_t i = 0; i < count; i++) {
        uint64_t live = 0x500000000000 + i * 0x1000000007, left = sizes[i];
        while (left) {
            uint64_t bytes = left, saved = arena_take(arena, live, &bytes);
            assert_true(saved != 0 && bytes > 0 && bytes <= left);
            assert_int_equal((saved - live) % GP_COPY_ALIGNMENT, 0);
            bool on_device = arena->device && saved >= arena->device;
            uint64_t *end = on_device ? &end_device : &end_host;
            uint64_t base = on_device ? arena->device : arena->host;
            assert_true(saved >= base && saved - base >= *end);
            *end = saved - base + bytes;
            assert_true(*end <= (on_device ? arena->device_size : arena->host_size));
            live += bytes;
            left -= bytes;
            used += bytes;
        }
    }
    assert_true(used > 0);
}

static void copies_have_positions_on_the_device(void **state)
{
    (void)state;
    struct gp_arena arena = {0};
    const uint64_t sizes[] = {1, 4, 100, 128, 4096, 999999, 3, 3000000};
    check_positions(&arena, sizes, 8);
    assert_int_equal(arena.host_size, 0);
    bool moved;
    struct gp_reason why;
    assert_true(arena_reserve(&arena, &beside, MB, &moved, &why));
    assert_false(moved); /* there was enough */
    assert_true(arena_reserve(&arena, &beside, 100 * MB, &moved, &why));
    assert_true(moved);
    arena_free(&arena);
}

static void copies_that_do_not_fit_lie_on_the_host(void **state)
{
    (void)state;
    for (uint64_t size = 1 * MB; size < 1 * MB + 600; size += 7) {
        struct gp_arena arena = {0};
        const uint64_t sizes[] = {size, 5, 3 * MB + size, 77, 2 * MB};
        device_free = GP_DEVICE_RESERVE + 2 * MB;
        assert_true(gp_budget_set("100M"));
        check_positions(&arena, sizes, 5);
        assert_true(arena.device_size > 0 && arena.host_size > 0);
        arena_free(&arena);
    }
    struct gp_arena arena = {0};
    const uint64_t sizes[] = {1000, 2 * MB};
    device_refuses = true;
    check_positions(&arena, sizes, 2);
    assert_int_equal(arena.device_size, 0);
    arena_free(&arena);
}

static void no_more_is_taken_than_allowed(void **state)
{
    (void)state;
    struct gp_arena arena = {0};
    bool moved;
    struct gp_reason why = GP_NO_REASON;
    assert_true(gp_budget_set("64K"));
    assert_true(arena_reserve(&arena, &beside, 60000, &moved, &why));
    assert_true(arena.device_size + arena.host_size <= 64 * KB);
    assert_false(arena_reserve(&arena, &beside, 70000, &moved, &why));
    assert_string_equal(why.text,
                        "the launch's memory (70 kB) is more than GPUPROF_MEMORY allows (66 kB)");
    assert_false(moved);
    arena_free(&arena);
}

static void two_arenas_share_the_budget(void **state)
{
    (void)state;
    struct gp_arena one = {0}, other = {0};
    bool moved;
    struct gp_reason why = GP_NO_REASON;
    assert_true(gp_budget_set("64K"));
    assert_true(arena_reserve(&one, &other, 40000, &moved, &why));
    assert_false(arena_reserve(&other, &one, 30000, &moved, &why));
    assert_true(arena_reserve(&other, &one, 8000, &moved, &why));
    assert_true(one.device_size + one.host_size + other.device_size + other.host_size <= 64 * KB);
    arena_free(&one);
    arena_free(&other);
}

/* PyTorch's first kernel fills a small tensor, the next ones reach a hundred times as much. */
static void a_small_launch_does_not_decide_on_the_room_of_later_ones(void **state)
{
    (void)state;
    struct gp_arena arena = {.for_many = true};
    bool moved;
    struct gp_reason why = GP_NO_REASON;
    device_free = GP_DEVICE_RESERVE + 100 * GB;
    assert_true(gp_budget_set("16G"));
    assert_true(arena_reserve(&arena, &beside, 2 * MB, &moved, &why));
    assert_true(arena_suits_batch(&arena, 2 * MB));
    assert_false(arena_suits_batch(&arena, 100 * MB));
    /* Held copies cannot be moved: they are drained first. */
    uint64_t bytes = MB;
    assert_true(arena_take(&arena, 0x500000000000, &bytes) != 0 && arena_hold(&arena));
    assert_false(arena_reserve(&arena, &beside, 100 * MB, &moved, &why));
    assert_int_equal(why.cause, GP_CAUSE_ROOM_HELD);
    arena_release(&arena);
    arena_clear(&arena);
    assert_true(arena_reserve(&arena, &beside, 100 * MB, &moved, &why));
    assert_true(moved && arena_suits_batch(&arena, 100 * MB));
    /* Room is left for the changes of one launch; copies of four launches do not fit beside it. */
    assert_true(arena_reserve(&arena, &beside, 3000 * MB, &moved, &why));
    uint64_t size = arena.device_size;
    assert_false(arena_suits_batch(&arena, 3000 * MB));
    bytes = MB;
    assert_true(arena_take(&arena, 0x500000000000, &bytes) != 0 && arena_hold(&arena));
    assert_true(arena_reserve(&arena, &beside, 3000 * MB, &moved, &why)); /* asked once */
    assert_int_equal(arena.device_size, size);
    arena_release(&arena);
    arena_clear(&arena);
    /* But those of less do. */
    assert_true(arena_reserve(&arena, &beside, 2500 * MB, &moved, &why));
    assert_true(arena_suits_batch(&arena, 2500 * MB));
    arena_free(&arena);
}

/* A benchmark reads and writes gigabytes in each launch. */
static void copies_of_some_large_launches_fit_by_default(void **state)
{
    (void)state;
    struct gp_arena arena = {.for_many = true};
    bool moved;
    struct gp_reason why = GP_NO_REASON;
    device_free = 140 * GB;
    assert_true(arena_reserve(&arena, &beside, 6 * GB, &moved, &why));
    assert_true(arena_suits_batch(&arena, 6 * GB));
    assert_in_range(arena.device_size, 0, 35 * GB);
    arena_free(&arena);
}

/* So many bytes are free with these arenas. */
static void leave_free(uint64_t free, const struct gp_arena *one, const struct gp_arena *other)
{
    device_free = free - one->device_size - other->device_size;
}

/* The arena for many is made for the copies of one launch; the next launch copies and changes more.
 */
static void changes_of_a_larger_launch_fit_beside_its_copy(void **state)
{
    (void)state;
    static const struct {
        uint64_t first, next;
    } cases[] = {{3000, 7000}, {3000, 8000}, {900, 5000}, {4000, 7500}, {2500, 5500}, {5, 16}};
    const uint64_t all = GP_DEVICE_RESERVE + 100 * GB;
    assert_true(gp_budget_set("16000M"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gp_arena copies = {.for_many = true}, changes = {0};
        const uint64_t next = cases[i].next * MB;
        bool moved;
        struct gp_reason why = GP_NO_REASON;
        leave_free(all, &copies, &changes);
        assert_true(arena_reserve(&copies, &changes, cases[i].first * MB, &moved, &why));
        uint64_t bytes = MB;
        assert_true(arena_take(&copies, 0x500000000000, &bytes) != 0 && arena_hold(&copies));
        leave_free(all, &copies, &changes);
        if (!arena_reserve(&copies, &changes, next, &moved, &why)) {
            assert_int_equal(why.cause, GP_CAUSE_ROOM_HELD);
            arena_release(&copies);
            arena_clear(&copies);
            assert_true(arena_reserve(&copies, &changes, next, &moved, &why));
        }
        leave_free(all, &copies, &changes);
        assert_true(arena_reserve(&changes, &copies, next, &moved, &why));
        assert_int_equal(changes.host_size, 0);
        /* Both fit from then on: ten rounds make at most two allocations. */
        arena_release(&copies);
        arena_clear(&copies);
        leave_free(all, &copies, &changes);
        allocations = 0;
        for (int round = 0; round < 10; round++) {
            assert_true(arena_reserve(&copies, &changes, cases[i].first * MB, &moved, &why));
            assert_true(arena_reserve(&copies, &changes, next, &moved, &why));
            leave_free(all, &copies, &changes);
        }
        assert_in_range(allocations, 0, 2);
        arena_free(&copies);
        arena_free(&changes);
    }
}

/* A batch that ends early costs a start and a stop of the session more. */
static void a_whole_batch_fits_where_there_is_much_room(void **state)
{
    (void)state;
    struct gp_arena arena = {.for_many = true};
    bool moved;
    struct gp_reason why = GP_NO_REASON;
    device_free = 140 * GB;
    assert_true(arena_reserve(&arena, &beside, 128 * MB, &moved, &why));
    assert_in_range(arena.device_size, 64 * 128 * MB, 65 * 128 * MB);
    arena_free(&arena);
    device_free = 10 * GB;
    assert_true(arena_reserve(&arena, &beside, 128 * MB, &moved, &why));
    assert_in_range(arena.device_size, 16 * 128 * MB, 17 * 128 * MB);
    arena_free(&arena);
}

/* The driver may refuse although it says that there is room. */
static void an_arena_that_cannot_grow_is_not_made_anew_each_time(void **state)
{
    (void)state;
    struct gp_arena arena = {.for_many = true};
    bool moved;
    struct gp_reason why = GP_NO_REASON;
    device_free = GP_DEVICE_RESERVE + 10 * GB;
    most_in_one_piece = 32 * MB;
    assert_true(gp_budget_set("229M"));
    allocations = 0;
    for (int i = 0; i < 100; i++)
        assert_true(arena_reserve(&arena, &beside, (i % 2 ? 2 : 4) * MB, &moved, &why));
    assert_in_range(allocations, 1, 12);
    most_in_one_piece = 0;
    arena_free(&arena);
}

/* Last: they are kept for ever. */
static void no_more_than_so_many_figures_are_kept(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        assert_non_null(memory_budget_exceeded(i * 20, 1).text); /* no more than so many are kept */
    assert_string_equal(memory_budget_exceeded(123, 1).text,
                        "the launch's memory is more than GPUPROF_MEMORY allows");
}

static int constant = 7;

static void readable_memory_is_distinguished_from_other_addresses(void **state)
{
    (void)state;
    int local;
    void *heap = malloc(100);
    void *reserved = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(host_is_readable((uintptr_t)&local));
    assert_true(host_is_readable((uintptr_t)heap));
    assert_true(host_is_readable((uintptr_t)&constant));
    assert_false(host_is_readable((uintptr_t)reserved + 5000)); /* as drivers keep addresses */
    assert_false(host_is_readable(0));
    assert_false(host_is_readable(4096));
    assert_false(host_is_readable(UINT64_MAX));
    assert_false(host_is_readable((uint64_t)1 << 60));
    munmap(reserved, 1 << 20);
    assert_false(host_is_readable((uintptr_t)reserved));
    free(heap);
}

/* ---- room for present contents ----------------------------------------------------------------
 */

#define MOST_ALLOCATIONS 1024

static uint64_t sizes_taken[MOST_ALLOCATIONS];

static CUresult fake_take(CUdeviceptr *address, size_t bytes)
{
    if (bytes > device_free || allocations + 1 >= MOST_ALLOCATIONS ||
        (most_in_one_piece && bytes > most_in_one_piece))
        return CUDA_ERROR_OUT_OF_MEMORY;
    device_free -= bytes;
    sizes_taken[++allocations] = bytes;
    *address = (uint64_t)allocations << 40;
    return CUDA_SUCCESS;
}

static CUresult fake_give_back(CUdeviceptr address)
{
    device_free += sizes_taken[address >> 40];
    return CUDA_SUCCESS;
}

/* A batch of launches that save parts, each so many bytes; the launches that were held. */
static unsigned hold_batch(struct gp_snapshot *s, uint64_t bytes)
{
    struct gp_held_copy *held[64];
    unsigned count = 0;
    while (count < 64) {
        s->reached.needed = bytes;
        if (s->arena.device_used + bytes > s->arena.device_size)
            break;
        s->arena.device_used += bytes;
        if (!(held[count] = gp_snapshot_hold(s)))
            break;
        count++;
    }
    for (unsigned i = 0; i < count; i++)
        gp_snapshot_release(s, held[i]);
    s->arena.device_used = 0;
    return count;
}

static struct gp_divided memory = {.start = GB, .end = 9 * GB, .first = GB};
static struct gp_divided *divided[] = {&memory};

/* Room for copies, which takes more than half of the budget. */
static struct gp_snapshot begin_holding(void)
{
    struct gp_snapshot s = {.arena = {.for_many = true}, .divided = divided, .divided_count = 1};
    struct gp_reason why;
    bool moved;
    gp_cuda.cuMemAlloc_v2 = fake_take;
    gp_cuda.cuMemFree_v2 = fake_give_back;
    allocations = 0;
    device_free = 40 * GB;
    most_in_one_piece = 0;
    assert_true(gp_budget_set("25%")); /* 10 GB, and some of the host's */
    assert_true(arena_reserve(&s.arena, &s.final.arena, 400 * MB, &moved, &why));
    assert_true(s.arena.device_size > 6 * GB);
    return s;
}

static void end_holding(struct gp_snapshot *s)
{
    most_in_one_piece = 0;
    versions_free(s);
    final_free(&s->final, true);
    arena_free(&s->arena);
}

static void room_for_present_contents_is_made_once(void **state)
{
    struct gp_snapshot s = begin_holding();
    const unsigned before = allocations;
    const unsigned held = hold_batch(&s, 400 * MB);
    (void)state;
    assert_in_range(held, 8, 63);
    assert_int_equal(hold_batch(&s, 400 * MB), held);
    assert_in_range(allocations - before, 1, 2);
    assert_true(s.final.arena.device_size <= s.arena.device_size);
    assert_true(s.final.arena.device_size + s.arena.device_size <= 10 * GB);
    end_holding(&s);
}

/* Page-locked memory takes seconds for gigabytes, so it is not asked for at each launch. */
static void where_all_room_is_not_to_be_had_some_is(void **state)
{
    struct gp_snapshot s = begin_holding();
    (void)state;
    most_in_one_piece = 500 * MB;
    host_allocations = 0;
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(hold_batch(&s, 300 * MB), 1);
    assert_in_range(host_allocations, 0, 1 + 10); /* for the second of each batch */
    end_holding(&s);
}

/* A launch was larger than the part of the device. */
static void room_on_the_host_is_not_in_the_way_for_ever(void **state)
{
    struct gp_snapshot s = begin_holding();
    struct gp_reason why;
    (void)state;
    const uint64_t most = arena_most(&s.final.arena, &s.arena);
    assert_true(final_lend(&s.final, &s.arena, most + 16 * MB, &why));
    assert_true(s.final.arena.host_size > 0 && s.final.arena.device_size > 800 * MB);
    assert_in_range(hold_batch(&s, 400 * MB), 8, 63);
    assert_int_equal(s.final.arena.host_size, 0);
    end_holding(&s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_whole_batch_fits_where_there_is_much_room, begin_by_default),
        cmocka_unit_test_setup(copies_of_some_large_launches_fit_by_default, begin_by_default),
        TEST(sizes_and_shares_are_understood),
        TEST(the_program_keeps_room_of_its_own),
        TEST(the_host_gives_no_more_than_4_gib_by_itself),
        TEST(too_many_reasons_are_counted),
        TEST(copies_have_positions_on_the_device),
        TEST(copies_that_do_not_fit_lie_on_the_host),
        TEST(no_more_is_taken_than_allowed),
        TEST(two_arenas_share_the_budget),
        TEST(a_small_launch_does_not_decide_on_the_room_of_later_ones),
        TEST(changes_of_a_larger_launch_fit_beside_its_copy),
        TEST(an_arena_that_cannot_grow_is_not_made_anew_each_time),
        TEST(readable_memory_is_distinguished_from_other_addresses),
        TEST(no_more_than_so_many_figures_are_kept),
        TEST(room_for_present_contents_is_made_once),
        TEST(where_all_room_is_not_to_be_had_some_is),
        TEST(room_on_the_host_is_not_in_the_way_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
