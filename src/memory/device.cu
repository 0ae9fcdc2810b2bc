/* Our own kernels: copy the program's memory and search it for pointers, put it back, hash it, and
 * read a scratch buffer from end to end to empty the caches. Loaded by the raw driver, never
 * profiled.
 *
 * All are made to run at the speed of the memory: 16 bytes a load, four loads of a thread in
 * flight, a grid that stays, and units small enough that all SMs end together. */
#include "memory/device_hash.cuh"
#include "memory/device_units.cuh"

/* ---- pointers -------------------------------------------------------------------------------- */

/* The values with which a thread sees at once that a word is no upper half of an address. */
struct glance {
    uint32_t high, span;
};

__device__ static glance glance_of(const gp_table *table)
{
    glance g;
    g.high = (uint32_t)(table->first >> 32);
    g.span = (uint32_t)(table->end >> 32) - g.high;
    return g;
}

__device__ static bool may_point(uint4 v, glance g)
{
    uint32_t least = min(min(v.x - g.high, v.y - g.high), min(v.z - g.high, v.w - g.high));
    return least <= g.span;
}

__device__ static void found(const gp_table *table, gp_answer *answer, uint32_t range,
                             uint32_t round)
{
    uint32_t *mark = (uint32_t *)table->marks + range;
    if (*(volatile uint32_t *)mark == round || atomicExch(mark, round) == round)
        return;
    uint32_t position = atomicAdd(&answer->found, 1u);
    ((uint32_t *)table->list)[position] = range;
    if (position < GP_FOUND_AT_ONCE)
        answer->at_once[position] = range;
}

__device__ static void note_led(const gp_table *table, gp_answer *answer, uint64_t address)
{
    if (!table->led || *(volatile uint32_t *)&answer->led > GP_MOST_LED)
        return;
    uint32_t position = atomicAdd(&answer->led, 1u);
    if (position < GP_MOST_LED)
        ((uint64_t *)table->led)[position] = address;
}

__device__ static void look_up(const gp_table *table, gp_answer *answer, uint64_t address,
                               uint32_t round)
{
    const gp_range *ranges = (const gp_range *)table->ranges;
    if (address < table->first || address > table->end)
        return;
    uint32_t low = 0, high = (uint32_t)table->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (ranges[middle].start <= address)
            low = middle;
        else
            high = middle;
    }
    if (address <= ranges[low].end)
        found(table, answer, low, round);
    if (address < ranges[low].end && ranges[low].end - ranges[low].start >= GP_LARGE_BYTES)
        note_led(table, answer, address);
    /* One past the end of a buffer, and the start of its neighbour. */
    if (low > 0 && ranges[low].start == address && ranges[low - 1].end == address)
        found(table, answer, low - 1, round);
}

/* Looks up every pointer whose upper half lies from `from` to before `to`; its lower half may lie
 * before that, but within the buffer. Rare, so out of the way. */
__device__ __noinline__ static void follow(uint64_t from, uint64_t to, uint64_t start,
                                           const gp_table *table, gp_answer *answer, uint32_t round)
{
    glance g = glance_of(table);
    const uint32_t *halves = (const uint32_t *)table->high;
    for (uint64_t at = (from + 3) / 4 * 4; at + 4 <= to; at += 4) {
        uint32_t half = __ldcg((const uint32_t *)at);
        if (half - g.high > g.span || at - start < 4)
            continue;
        if (half < GP_HIGH_HALVES && !(halves[half / 32] >> half % 32 & 1))
            continue;
        look_up(table, answer, (uint64_t)half << 32 | __ldcg((const uint32_t *)(at - 4)), round);
    }
}

/* ---- copy ------------------------------------------------------------------------------------ */

/* Memory that is its own copy is only searched. */
template <bool SCAN> __device__ static bool is_copied(const unit &u)
{
    return !SCAN || u.distance != 0;
}

/* A whole unit, all of its loads before its stores. */
template <bool SCAN>
__device__ static void copy_whole(const unit &u, glance g, const gp_table *table, gp_answer *answer,
                                  uint32_t round)
{
    uint64_t live = u.words_from + WORD * threadIdx.x;
    uint4 word[AT_ONCE];
#pragma unroll
    for (unsigned i = 0; i < AT_ONCE; i++)
        word[i] = load(live + i * STEP);
    bool points[AT_ONCE];
#pragma unroll
    for (unsigned i = 0; i < AT_ONCE; i++) {
        if (is_copied<SCAN>(u))
            store(live + u.distance + i * STEP, word[i]);
        points[i] = SCAN && may_point(word[i], g);
    }
    if (points[0] | points[1] | points[2] | points[3]) {
#pragma unroll
        for (unsigned i = 0; i < AT_ONCE; i++) {
            uint64_t at = live + i * STEP;
            if (points[i])
                follow(at, at + WORD, u.start, table, answer, round);
        }
    }
}

template <bool SCAN>
__device__ static void copy_part(const unit &u, glance g, const gp_table *table, gp_answer *answer,
                                 uint32_t round)
{
    const bool copied = is_copied<SCAN>(u);
    for (uint64_t at = u.from + threadIdx.x; copied && at < u.words_from; at += GP_UNIT_THREADS)
        store_byte(at + u.distance, load_byte(at));
    for (uint64_t at = u.tail_from + threadIdx.x; copied && at < u.to; at += GP_UNIT_THREADS)
        store_byte(at + u.distance, load_byte(at));
    for (uint64_t at = u.words_from + WORD * threadIdx.x; at < u.tail_from; at += STEP) {
        uint4 word = load(at);
        if (copied)
            store(at + u.distance, word);
        if (SCAN && may_point(word, g))
            follow(at, at + WORD, u.start, table, answer, round);
    }
    if (SCAN && threadIdx.x == 0)
        follow(u.from, u.words_from, u.start, table, answer, round);
    if (SCAN && threadIdx.x == 32)
        follow(u.tail_from, u.to, u.start, table, answer, round);
}

template <bool SCAN>
__device__ static void copy_unit(const unit &u, glance g, const gp_table *table, gp_answer *answer,
                                 uint32_t round)
{
    if (u.tail_from - u.words_from == GP_UNIT_BYTES)
        copy_whole<SCAN>(u, g, table, answer, round);
    else
        copy_part<SCAN>(u, g, table, answer, round);
}

template <bool SCAN>
__device__ static void copy(const gp_segment *segments, uint32_t count, uint64_t begin,
                            uint64_t end, const gp_table *table, gp_answer *answer, uint32_t round)
{
    uint32_t at = 0;
    glance g = {};
    if (SCAN)
        g = glance_of(table);
    for (uint64_t number = begin + blockIdx.x; number < end; number += gridDim.x) {
        at = segment_of(segments, count, at, number);
        copy_unit<SCAN>(unit_of(segments[at], number), g, table, answer, round);
    }
}

/* Copies the units from `begin` to before `end` of the segments. */
KERNEL gp_copy(const gp_segment *segments, uint32_t count, uint64_t begin, uint64_t end)
{
    copy<false>(segments, count, begin, end, 0, 0, 0);
}

/* The same of all units of a few segments, which come with the launch. */
KERNEL gp_copy_few(AS_IT_IS gp_few_segments segments, uint32_t count, uint64_t units)
{
    const glance none = {};
    for (uint64_t number = blockIdx.x; number < units; number += gridDim.x) {
        const uint32_t at = segment_of_few(segments, count, number);
        copy_unit<false>(unit_of(segments.of[at], number), none, 0, 0, 0);
    }
}

__device__ static void note_alarm(gp_digests_answer *answer, uint64_t unit, uint64_t number)
{
    const uint32_t position = atomicAdd(&answer->alarms, 1u);
    if (position < GP_MOST_ALARMS)
        answer->alarm[position] = gp_alarm{unit, number};
}

/* As gp_copy_few; an alarm where a unit with a digest is not as that says. */
KERNEL gp_save_few(AS_IT_IS gp_few_segments segments, uint32_t count, uint64_t units,
                   gp_digests_answer *answer, uint64_t number_of_copy)
{
    uint32_t at = 0;
    const glance none = {};
    for (uint64_t number = blockIdx.x; number < units; number += gridDim.x) {
        at = segment_of(segments.of, count, at, number);
        unit u = unit_of(segments.of[at], number);
        copy_unit<false>(u, none, 0, 0, 0);
        if (!segments.of[at].digests)
            continue;
        uint64_t sum = block_sum(hash_whole(u, u.distance));
        if (threadIdx.x == 0 && *digest_of(segments.of[at], number) != sum)
            note_alarm(answer, u.base, number_of_copy);
    }
}

/* As gp_copy; each range of the table into which a copied word points is marked with the round, and
 * listed when it was not marked yet. */
KERNEL gp_copy_and_follow(const gp_segment *segments, uint32_t count, uint64_t begin, uint64_t end,
                          const gp_table *table, gp_answer *answer, uint32_t round)
{
    copy<true>(segments, count, begin, end, table, answer, round);
}

/* ---- compare and put back -------------------------------------------------------------------- */

__device__ static bool differ(uint4 a, uint4 b)
{
    return ((a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z) | (a.w ^ b.w)) != 0;
}

/* Bytes that differ and, with RESTORE, do so no more. */
template <bool RESTORE> __device__ static uint32_t rewind_whole(const unit &u)
{
    uint64_t live = u.words_from + WORD * threadIdx.x;
    uint4 now[AT_ONCE], then[AT_ONCE];
    uint32_t changed = 0;
#pragma unroll
    for (unsigned i = 0; i < AT_ONCE; i++) {
        now[i] = load(live + i * STEP);
        then[i] = load(live + u.distance + i * STEP);
    }
#pragma unroll
    for (unsigned i = 0; i < AT_ONCE; i++) {
        if (differ(now[i], then[i])) {
            if (RESTORE)
                store(live + i * STEP, then[i]);
            changed += WORD;
        }
    }
    return changed;
}

template <bool RESTORE>
__device__ static uint32_t rewind_bytes(const unit &u, uint64_t from, uint64_t to)
{
    uint32_t changed = 0;
    for (uint64_t at = from + threadIdx.x; at < to; at += GP_UNIT_THREADS) {
        unsigned char then = load_byte(at + u.distance);
        if (load_byte(at) != then) {
            if (RESTORE)
                store_byte(at, then);
            changed++;
        }
    }
    return changed;
}

template <bool RESTORE> __device__ static uint32_t rewind_part(const unit &u)
{
    uint32_t changed = rewind_bytes<RESTORE>(u, u.from, u.words_from) +
                       rewind_bytes<RESTORE>(u, u.tail_from, u.to);
    for (uint64_t at = u.words_from + WORD * threadIdx.x; at < u.tail_from; at += STEP) {
        uint4 then = load(at + u.distance);
        if (differ(load(at), then)) {
            if (RESTORE)
                store(at, then);
            changed += WORD;
        }
    }
    return changed;
}

template <bool RESTORE> __device__ static uint32_t rewind_unit(const unit &u)
{
    return u.tail_from - u.words_from == GP_UNIT_BYTES ? rewind_whole<RESTORE>(u)
                                                       : rewind_part<RESTORE>(u);
}

template <bool RESTORE>
__device__ static uint64_t rewind(const gp_segment *segments, uint32_t count, uint64_t units)
{
    uint32_t at = 0;
    uint64_t changed = 0;
    for (uint64_t number = blockIdx.x; number < units; number += gridDim.x) {
        at = segment_of(segments, count, at, number);
        changed += rewind_unit<RESTORE>(unit_of(segments[at], number));
    }
    return warp_sum(changed);
}

/* Only compares. */
KERNEL gp_compare(const gp_segment *segments, uint32_t count, uint64_t units, gp_answer *answer)
{
    uint64_t changed = rewind<false>(segments, count, units);
    if (threadIdx.x % 32 == 0 && changed)
        answer->watched = 1;
}

/* Puts back changed units; nothing at all where a comparison before it found that it must not. */
KERNEL gp_rewind(const gp_segment *segments, uint32_t count, uint64_t units, gp_answer *answer)
{
    if (answer->watched)
        return;
    uint64_t changed = rewind<true>(segments, count, units);
    if (threadIdx.x % 32 == 0 && changed)
        atomicAdd((unsigned long long *)&answer->changed_bytes, (unsigned long long)changed);
}

/* ---- changes by the program's own run ---------------------------------------------------------- */

/* Where the content of a unit is kept. */
__device__ static uint64_t position_of(uint32_t position, uint64_t device, uint64_t host,
                                    uint32_t on_device)
{
    return position < on_device ? device + (uint64_t)position * GP_UNIT_BYTES
                             : host + (uint64_t)(position - on_device) * GP_UNIT_BYTES;
}

/* The same unit with the copy that was kept of it. */
__device__ static unit kept_unit(unit u, uint64_t position)
{
    u.distance = position - u.base;
    return u;
}

__device__ static void keep(const unit &u, uint64_t position)
{
    unit k = kept_unit(u, position);
    glance none = {};
    if (u.tail_from - u.words_from == GP_UNIT_BYTES)
        copy_whole<false>(k, none, 0, 0, 0);
    else
        copy_part<false>(k, none, 0, 0, 0);
}

/* Keeps the units that are not as their copies: where, from 1, is noted in `positions`. answer->kept
 * says how many there are, also where there is no room for so many. Nothing is put back yet: memory
 * that is mapped twice is two units here, and both have to be kept as they are. */
KERNEL gp_keep(const gp_segment *segments, uint32_t count, uint64_t units, gp_answer *answer,
               uint32_t *positions, uint64_t device, uint64_t host, uint32_t on_device,
               uint32_t capacity)
{
    __shared__ uint32_t shared_position;
    uint32_t at = 0;
    if (answer->watched)
        return;
    for (uint64_t number = blockIdx.x; number < units; number += gridDim.x) {
        at = segment_of(segments, count, at, number);
        unit u = unit_of(segments[at], number);
        if (!__syncthreads_or(rewind_unit<false>(u) != 0))
            continue;
        if (threadIdx.x == 0)
            shared_position = atomicAdd(&answer->kept, 1u);
        __syncthreads();
        uint32_t position = shared_position;
        if (position >= capacity)
            continue;
        keep(u, position_of(position, device, host, on_device));
        if (threadIdx.x == 0)
            positions[number] = position + 1;
    }
}

/* Puts back the units that were kept; none where there was no room for all of them. */
KERNEL gp_rewind_kept(const gp_segment *segments, uint32_t count, uint64_t units, gp_answer *answer,
                      const uint32_t *positions, uint32_t capacity)
{
    uint32_t at = 0;
    uint64_t changed = 0;
    if (answer->watched || answer->kept > capacity)
        return;
    for (uint64_t number = blockIdx.x; number < units; number += gridDim.x) {
        if (!positions[number])
            continue;
        at = segment_of(segments, count, at, number);
        changed += rewind_unit<true>(unit_of(segments[at], number));
    }
    changed = warp_sum(changed);
    if (threadIdx.x % 32 == 0 && changed)
        atomicAdd((unsigned long long *)&answer->changed_bytes, (unsigned long long)changed);
}

/* Makes memory as the program's own run left it: kept units from their copies, all others from the
 * copy. */
KERNEL gp_put_back(const gp_segment *segments, uint32_t count, uint64_t units,
                   const uint32_t *positions, uint64_t device, uint64_t host, uint32_t on_device)
{
    uint32_t at = 0;
    for (uint64_t number = blockIdx.x; number < units; number += gridDim.x) {
        at = segment_of(segments, count, at, number);
        unit u = unit_of(segments[at], number);
        if (positions[number])
            u = kept_unit(u, position_of(positions[number] - 1, device, host, on_device));
        rewind_unit<true>(u);
    }
}

/* ---- memory that a replay may have written ------------------------------------------------------ */

/* Puts the copy of each unit there that is not as its digest says. With all bits of `of_copy` the
 * copy is checked instead: the same work without an effect. */
KERNEL gp_put_right(AS_IT_IS gp_few_segments segments, uint32_t count, uint64_t units,
                    uint64_t of_copy)
{
    for (uint64_t number = blockIdx.x; number < units; number += gridDim.x) {
        const uint32_t at = segment_of_few(segments, count, number);
        const unit u = unit_of(segments.of[at], number);
        const uint64_t sum = block_sum(hash_whole(u, u.distance & of_copy));
        if (__syncthreads_or(threadIdx.x == 0 && *digest_of(segments.of[at], number) != sum))
            rewind_whole<true>(u);
    }
}

/* ---- caches ---------------------------------------------------------------------------------- */

/* Fills the L2 with clean lines of the scratch buffer. The sum keeps the compiler from leaving the
 * reads out; the store cannot happen. */
KERNEL gp_read_all(const uint4 *scratch, uint64_t bytes, uint32_t *sink)
{
    uint32_t seen = 0;
    uint64_t words = bytes / WORD, stride = (uint64_t)gridDim.x * GP_UNIT_THREADS;
    uint64_t i = (uint64_t)blockIdx.x * GP_UNIT_THREADS + threadIdx.x;
    for (; i + (AT_ONCE - 1) * stride < words; i += AT_ONCE * stride) {
        uint4 word[AT_ONCE];
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++)
            word[k] = __ldcg(&scratch[i + k * stride]);
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++)
            seen |= word[k].x | word[k].y | word[k].z | word[k].w;
    }
    for (; i < words; i += stride) {
        uint4 word = __ldcg(&scratch[i]);
        seen |= word.x | word.y | word.z | word.w;
    }
    if (seen == 0x5eed1e55 && bytes == 1)
        *sink = seen;
}

/* Holds the stream up for that many nanoseconds, so that work behind it stands in line. The
 * clock may stand still for a microsecond at a time, and rounds are counted in case it stands
 * for good. */
KERNEL gp_pause(uint64_t nanoseconds)
{
    uint64_t start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    for (unsigned round = 0; round < 100000; round++) {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
        if (now - start >= nanoseconds)
            break;
    }
}
