/* The reader of raw heap profiles: what it gives, and what it refuses. */
#include "heap_raw.h"

#include "heap_samples.h"

static const struct sample_segment segments[] = {
    {.start = 0x1000, .end = 0x2000, .bias = 0, .id = {1, 2, 3}, .id_size = 20},
    {.start = 0x700000001000, .end = 0x700000002000, .bias = 0x700000000000, .id = {9},
     .id_size = 20},
};
static const struct sample_stack stacks[] = {
    {.id = 5, .pcs = {0x1010, 0x1020}, .n = 2},
    {.id = 6, .pcs = {0x700000001010, 0x1020, 0xdeadbeef00000000}, .n = 3},
};

static struct sample_block block(uint64_t id, uint64_t size)
{
    struct sample_block b = {.id = id};
    b.mib.v[PGK_MIB_AllocCount] = 1;
    b.mib.v[PGK_MIB_TotalSize] = b.mib.v[PGK_MIB_MinSize] = b.mib.v[PGK_MIB_MaxSize] = size;
    return b;
}

static struct sample_dump dump(uint32_t version, const struct sample_block *blocks, size_t n)
{
    return (struct sample_dump){.version = version, .segments = segments, .n_segments = 2,
                                .blocks = blocks, .n_blocks = n, .stacks = stacks,
                                .n_stacks = 2};
}

static int read_bytes(const uint8_t *bytes, size_t size, struct pgk_heap **heap,
                      struct pgk_heap_read_info *info, struct pgk_err *err)
{
    struct pgk_source src = {.file = "t.profraw", .format = "raw heap profile"};
    *heap = NULL;
    *err = (struct pgk_err){0};
    int status = pgk_heap_new(heap, err);
    return status ? status : pgk_heap_raw_read(*heap, bytes, size, &src, info, err);
}

static void every_version_is_read(void **state)
{
    (void)state;
    for (uint32_t version = 3; version <= 5; version++) {
        struct sample_block blocks[] = {block(5, 30), block(6, 8)};
        if (version >= 4) {
            blocks[1].hist_count = 3;
            /* version 5: 0x1878 is 0x878 << 1 */
            memcpy(blocks[1].hist, (uint16_t[]){7, 0, version == 5 ? 0x1878 : 4336}, 6);
        }
        struct sample_dump d = dump(version, blocks, 2);
        struct pgk_sink *out;
        struct pgk_heap *h;
        struct pgk_heap_read_info info;
        struct pgk_err err;
        size_t size;
        assert_int_equal(pgk_sink_memory(&out, NULL), 0);
        sample_write_dump(out, &d);
        const uint8_t *bytes = pgk_sink_data(out, &size);
        assert_int_equal(size % 8, 0);
        assert_int_equal(read_bytes(bytes, size, &h, &info, &err), 0);
        assert_int_equal(info.version, version);
        assert_int_equal(info.origin.dumps, 1);
        assert_int_equal(pgk_heap_contexts(h), 2);
        assert_int_equal(pgk_heap_mib(h, 0, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize], 30);

        struct pgk_heap_frame f[4];
        assert_int_equal(pgk_heap_stack(h, 1, f, 4), 3);
        assert_true(f[0].is_address);
        assert_int_equal(f[0].address, 0x1010); /* less the load bias */
        assert_int_equal(f[0].build_id_size, 20);
        assert_int_equal(f[0].build_id[0], 9);
        assert_int_equal(f[1].address, 0x1020);
        assert_int_equal(f[1].build_id[0], 1);
        assert_int_equal(f[2].address, 0xdeadbeef00000000); /* in no module */
        assert_int_equal(f[2].build_id_size, 0);

        const struct pgk_mib *m = pgk_heap_mib(h, 1, PGK_MIB_SPACE);
        assert_int_equal(m->known >> PGK_MIB_AccessHistogramSize & 1, version >= 4);
        assert_int_equal(m->hist_count, version >= 4 ? 3 : 0);
        if (version >= 4) {
            assert_int_equal(m->hist[0], 7);
            assert_int_equal(m->hist[2], 4336);
        }
        pgk_heap_close(&h);
        pgk_sink_drop(&out);
    }
}

/* Blocks of one stack id are merged in file order, over dumps of any version. */
static void several_dumps_add_up(void **state)
{
    (void)state;
    struct sample_block first[] = {block(6, 8), block(5, 30), block(5, 10)};
    struct sample_block second[] = {block(5, 20)};
    first[1].mib.v[PGK_MIB_DeallocTimestamp] = 100;
    first[2].mib.v[PGK_MIB_AllocTimestamp] = 50;
    struct sample_dump a = dump(4, first, 3), b = dump(3, second, 1);
    struct pgk_sink *out;
    struct pgk_heap *h;
    struct pgk_heap_read_info info;
    struct pgk_err err;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    sample_write_dump(out, &a);
    sample_write_dump(out, &b);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_bytes(bytes, size, &h, &info, &err), 0);
    assert_int_equal(info.origin.dumps, 2);
    assert_int_equal(info.version, 3);
    assert_int_equal(pgk_heap_contexts(h), 2);
    const struct pgk_mib *m = pgk_heap_mib(h, 1, PGK_MIB_SPACE);
    assert_int_equal(m->v[PGK_MIB_AllocCount], 3);
    assert_int_equal(m->v[PGK_MIB_TotalSize], 60);
    assert_int_equal(m->v[PGK_MIB_MaxSize], 30);
    assert_int_equal(m->v[PGK_MIB_NumLifetimeOverlaps], 1);
    assert_int_equal(m->known >> PGK_MIB_AccessHistogramSize & 1, 0);
    pgk_heap_close(&h);
    pgk_sink_drop(&out);
}

/* Every prefix of a good file, each in memory of its own so that a sanitizer sees a read
 * past its end. */
static void every_truncation_is_refused(void **state)
{
    (void)state;
    struct sample_block blocks[] = {block(5, 30), block(6, 8)};
    blocks[0].hist_count = 2;
    struct sample_dump d = dump(5, blocks, 2);
    struct pgk_sink *out;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    sample_write_dump(out, &d);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    for (size_t n = 0; n < size; n++) {
        struct pgk_heap *h;
        struct pgk_err err;
        uint8_t *part = malloc(n + 1);
        memcpy(part, bytes, n);
        assert_true(read_bytes(part, n, &h, NULL, &err) < 0);
        assert_true(err.offset <= n);
        assert_true(*err.field && *err.record && *err.found && *err.expected);
        assert_string_equal(err.file, "t.profraw");
        pgk_heap_close(&h);
        free(part);
    }
    pgk_sink_drop(&out);
}

struct refusal {
    size_t off;     /* a u64 that is overwritten */
    uint64_t value;
    int status;
    const char *field;
};

static void wrong_bytes_are_refused(void **state)
{
    (void)state;
    struct sample_block blocks[] = {block(5, 30), block(6, 8)};
    struct sample_dump d = dump(4, blocks, 2);
    struct pgk_sink *out;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    sample_write_dump(out, &d);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    const size_t mibs = 48 + 8 + 2 * 64, stack_section = mibs + 8 + 2 * 152;
    const struct refusal refusals[] = {
        {0, 1, PGK_E_CORRUPT, "magic"},
        {8, 0, PGK_E_VERSION, "version"},
        {8, 6, PGK_E_VERSION, "version"},
        {16, 0, PGK_E_CORRUPT, "total_size"},
        {16, size + 8, PGK_E_TRUNCATED, "total_size"},
        {24, size + 1, PGK_E_CORRUPT, "section offsets"},
        {32, UINT64_MAX, PGK_E_CORRUPT, "section offsets"},
        {40, UINT64_MAX - 7, PGK_E_CORRUPT, "section offsets"},
        {48, UINT64_MAX, PGK_E_TRUNCATED, "segment count"},
        {48 + 8 + 8, 0, PGK_E_CORRUPT, "end"},
        {48 + 8 + 24, 33, PGK_E_CORRUPT, "build_id_size"},
        {mibs, UINT64_MAX / 152, PGK_E_TRUNCATED, "MIB count"},
        {mibs + 8, 99, PGK_E_CORRUPT, "stack id"}, /* an id that no stack has */
        {mibs + 8 + 8 + 132, UINT32_MAX, PGK_E_TRUNCATED, "AccessHistogram"},
        {stack_section, UINT64_MAX, PGK_E_TRUNCATED, "stack count"},
        {stack_section + 8 + 8, UINT64_MAX / 4, PGK_E_TRUNCATED, "number of addresses"},
        {stack_section + 8, 6, PGK_E_CORRUPT, "addresses"}, /* two stacks with one id */
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct pgk_heap *h;
        struct pgk_err err;
        char text[8192];
        uint8_t *bad = malloc(size);
        memcpy(bad, bytes, size);
        memcpy(bad + refusals[i].off, &refusals[i].value, 8);
        assert_int_equal(read_bytes(bad, size, &h, NULL, &err), refusals[i].status);
        assert_string_equal(err.field, refusals[i].field);
        assert_non_null(strstr(test_printed(text, &err), "t.profraw: raw heap profile"));
        pgk_heap_close(&h);
        free(bad);
    }
    pgk_sink_drop(&out);
}

/* Context 5 made 4 objects in the first sheet and one of them was freed there, one in the second;
 * 6 made 2 and freed none; 7 was killed before its first one. */
static const struct sample_allocated allocated_first[] = {
    {.id = 5, .objects = 4, .bytes = 120, .start_ms = 30 - 10, .last_ms = 20},
    {.id = 6, .objects = 2, .bytes = 10, .start_ms = 100, .last_ms = 60},
    {.id = 7},
}, allocated_second[] = {
    {.id = 5, .start_ms = UINT64_C(0) - 5},
};
static const struct sample_times first_sheet = {.allocated = allocated_first, .n_allocated = 3},
                                 second_sheet = {.allocated = allocated_second, .n_allocated = 1};

static const uint8_t *write_sheets(struct pgk_sink **out, size_t *size)
{
    struct sample_block closed = block(5, 30);
    closed.mib.v[PGK_MIB_DeallocTimestamp] = 70;
    closed.mib.v[PGK_MIB_TotalAccessCount] = 3;
    closed.mib.v[PGK_MIB_TotalAccessDensity] = 10;
    struct sample_dump first = dump(5, &closed, 1), second = dump(5, &closed, 1);
    first.times = &first_sheet;
    second.times = &second_sheet;
    second.n_stacks = 0; /* the one in front has them */
    assert_int_equal(pgk_sink_memory(out, NULL), 0);
    sample_write_dump(*out, &first);
    sample_write_dump(*out, &second);
    return pgk_sink_data(*out, size);
}

static void objects_alive_at_a_kill_are_added(void **state)
{
    (void)state;
    struct pgk_sink *out;
    struct pgk_heap *h;
    struct pgk_heap_read_info info;
    struct pgk_err err;
    size_t size;
    const uint8_t *bytes = write_sheets(&out, &size);
    assert_int_equal(read_bytes(bytes, size, &h, &info, &err), 0);
    assert_true(info.origin.interrupted);
    assert_int_equal(info.origin.alive, 4);
    assert_int_equal(pgk_heap_contexts(h), 2);

    const struct pgk_mib *m = pgk_heap_mib(h, 0, PGK_MIB_SPACE);
    assert_int_equal(m->v[PGK_MIB_AllocCount], 4);
    assert_int_equal(m->v[PGK_MIB_TotalSize], 120);
    assert_int_equal(m->v[PGK_MIB_TotalAccessCount], 6);
    assert_int_equal(m->v[PGK_MIB_TotalAccessDensity], 40); /* the mean of the closed ones */
    assert_int_equal(m->v[PGK_MIB_TotalLifetime], 2 * 70 - 15 - 1); /* a mean, rounded down */
    assert_int_equal(m->v[PGK_MIB_DeallocTimestamp], 70);

    m = pgk_heap_mib(h, 1, PGK_MIB_SPACE);
    assert_int_equal(m->v[PGK_MIB_AllocCount], 2);
    assert_int_equal(m->v[PGK_MIB_MinSize], 5);
    assert_int_equal(m->v[PGK_MIB_MaxSize], 5);
    assert_int_equal(m->v[PGK_MIB_MaxLifetime], 20);
    assert_false(m->known >> PGK_MIB_TotalAccessCount & 1);
    assert_true(m->known >> PGK_MIB_TotalLifetime & 1);
    pgk_heap_close(&h);
    pgk_sink_drop(&out);
}

/* Who copies the file while sheets are written may get one without what the other has by now. */
static void a_context_that_began_during_a_copy_is_skipped(void **state)
{
    (void)state;
    struct sample_times stacks_only = {.allocated = allocated_first},
                        allocated_only = {.allocated = allocated_first, .n_allocated = 3};
    struct sample_dump first = dump(5, NULL, 0), second = dump(5, NULL, 0);
    struct pgk_heap *h;
    struct pgk_heap_read_info info;
    struct pgk_err err;
    first.times = &stacks_only;
    second.times = &allocated_only;
    second.n_stacks = 0;
    for (int has_stacks = 0; has_stacks < 2; has_stacks++) {
        struct pgk_sink *out;
        size_t size;
        assert_int_equal(pgk_sink_memory(&out, NULL), 0);
        if (has_stacks)
            sample_write_dump(out, &first);
        sample_write_dump(out, &second);
        const uint8_t *bytes = pgk_sink_data(out, &size);
        assert_int_equal(read_bytes(bytes, size, &h, &info, &err), 0);
        assert_int_equal(info.origin.alive, has_stacks ? 6 : 0);
        assert_int_equal(pgk_heap_contexts(h), has_stacks ? 2 : 0);
        pgk_heap_close(&h);
        pgk_sink_drop(&out);
    }
}

static void wrong_notes_are_refused(void **state)
{
    (void)state;
    struct pgk_sink *out;
    size_t size;
    const uint8_t *bytes = write_sheets(&out, &size);
    const size_t allocated = 48 + 8 + 2 * 64, facts = allocated + 3 * 96,
                 part = facts + SAMPLE_FACTS, second = part + SAMPLE_PART,
                 end = part + SAMPLE_PARTS * SAMPLE_PART;
    const uint64_t version = UINT64_C(1) << 32;
    const struct refusal refusals[] = {
        {second + 8, 8, PGK_E_CORRUPT, "part ALLOCATED"}, /* among the segments */
        {second + 8, UINT64_MAX, PGK_E_CORRUPT, "part ALLOCATED"},
        {second + 16, 88, PGK_E_CORRUPT, "part ALLOCATED"}, /* shorter than they were ever */
        {second + 16, UINT64_MAX, PGK_E_CORRUPT, "part ALLOCATED"},
        {second + 24, 5, PGK_E_CORRUPT, "part ALLOCATED"}, /* more than there is capacity for */
        {second + 24, UINT64_MAX, PGK_E_CORRUPT, "part ALLOCATED"},
        {part + 24, 2, PGK_E_CORRUPT, "part FACTS"},
        {part, 77 | version, PGK_E_CORRUPT, "part FACTS"}, /* there is none */
        {second, 77 | 1 << 16 | version, PGK_E_VERSION, "part"},
        {second, 2 | 1 << 16 | 2 * version, PGK_E_VERSION, "part"},
        {facts, 1 << 7, PGK_E_VERSION, "flags"},
        {facts, UINT64_C(1) << 63, PGK_E_VERSION, "flags"},
        {end, 1000, PGK_E_CORRUPT, "parts"},
        {end, UINT64_MAX, PGK_E_CORRUPT, "parts"},
        {end + 8, 2, PGK_E_VERSION, "version"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct pgk_heap *h;
        struct pgk_err err;
        uint8_t *bad = malloc(size);
        memcpy(bad, bytes, size);
        memcpy(bad + refusals[i].off, &refusals[i].value, 8);
        assert_int_equal(read_bytes(bad, size, &h, NULL, &err), refusals[i].status);
        assert_string_equal(err.field, refusals[i].field);
        pgk_heap_close(&h);
        free(bad);
    }
    pgk_sink_drop(&out);
}

/* What a newer pgokit adds to the notes does not disturb: a part that others can do without, a
 * newer form of one, longer records. */
static void newer_notes_are_read_as_far_as_known(void **state)
{
    (void)state;
    struct sample_block closed = block(5, 30);
    struct sample_times times = first_sheet;
    const uint64_t points[][5] = {{0, 1, 1, 1, 1}};
    times.points = points;
    times.n_points = 1;
    times.more = 24;
    struct sample_dump d = dump(5, &closed, 1);
    d.times = &times;
    struct pgk_sink *out;
    struct pgk_heap *h;
    struct pgk_heap_read_info info;
    struct pgk_heap_times found = {.struct_size = sizeof found};
    struct pgk_err err;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    sample_write_dump(out, &d);
    const size_t series = 48 + 8 + 2 * 64 + sizeof points + 3 * (96 + 24) + SAMPLE_FACTS +
                          3 * SAMPLE_PART;
    const uint64_t version = UINT64_C(1) << 32,
                   kinds[] = {4 | version, 77 | version, 4 | 2 * version};
    for (size_t i = 0; i < PGK_COUNTOF(kinds); i++) {
        pgk_sink_patch_u64(out, series, kinds[i]);
        const uint8_t *bytes = pgk_sink_data(out, &size);
        assert_int_equal(read_bytes(bytes, size, &h, &info, &err), 0);
        assert_int_equal(info.origin.alive, 3 + 2);
        pgk_heap_over_time(h, &found);
        assert_int_equal(found.n_points, i ? 0 : 1);
        pgk_heap_close(&h);
    }
    pgk_sink_drop(&out);
}

/* A sampled dump: context 6 has no record, and 9 is in another file. Two dumps of it add up. */
static const uint64_t sampled_contexts[][6] = {{5, 3, 20, 70, 800, 9000}, {9, 1, 1, 1, 1, 1}};
static const struct sample_times sampled_times = {
    .samples = sampled_contexts, .n_samples = 2, .made = {5000, 60, 4096}};

static const uint8_t *write_sampled(struct pgk_sink **out, struct sample_times *times,
                                    size_t *size)
{
    struct sample_block blocks[] = {block(5, 30), block(6, 8)};
    struct sample_dump d = dump(5, blocks, 2);
    d.times = times;
    assert_int_equal(pgk_sink_memory(out, NULL), 0);
    sample_write_dump(*out, &d);
    return pgk_sink_data(*out, size);
}

static void samples_are_read(void **state)
{
    (void)state;
    for (size_t more = 0; more <= 16; more += 8) { /* bytes that a newer pgokit adds */
        struct sample_times times = sampled_times;
        struct pgk_sink *out, *again;
        struct pgk_heap *h;
        struct pgk_heap_read_info info;
        struct pgk_heap_sampling s = {.struct_size = sizeof s};
        struct pgk_heap_estimate e;
        struct pgk_err err;
        size_t size;
        times.more = more;
        const uint8_t *bytes = write_sampled(&out, &times, &size);
        assert_int_equal(pgk_sink_memory(&again, NULL), 0);
        pgk_sink_bytes(again, bytes, size);
        pgk_sink_bytes(again, bytes, size);
        bytes = pgk_sink_data(again, &size);
        assert_int_equal(read_bytes(bytes, size, &h, &info, &err), 0);
        assert_int_equal(info.origin.sampled, 1);
        assert_int_equal(info.origin.counted, 1);
        assert_int_equal(info.origin.made_bytes, 5000);
        assert_int_equal(info.origin.drawn_bytes, 2 * 38);
        assert_int_equal(info.origin.sample_bytes, 4096);
        assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_SampleCount), 6);
        assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_SampleHits), 40);
        assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_CountVariance), 140);
        assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_SizeVariance), 1600);
        assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_AccessVariance), 18000);
        assert_true(pgk_heap_knows(h, 1, PGK_MIB_SampleCount));
        assert_int_equal(pgk_heap_value(h, 1, PGK_MIB_SampleCount), 0);
        assert_true(pgk_heap_estimate(h, 1, PGK_MIB_TotalSize, &e));
        assert_true(e.low <= 16 && e.high > 100); /* as of one sample */
        assert_true(pgk_heap_sampling(h, &s));
        assert_true(s.exact && s.bytes.value == 5000 && s.objects.value == 60);
        assert_int_equal(s.samples, 6);
        pgk_heap_close(&h);
        pgk_sink_drop(&again);
        pgk_sink_drop(&out);
    }
}

static void wrong_samples_are_refused(void **state)
{
    (void)state;
    struct sample_times times = sampled_times;
    struct pgk_sink *out;
    size_t size;
    const uint8_t *bytes = write_sampled(&out, &times, &size);
    const size_t facts = 48 + 8 + 2 * 64 + sizeof sampled_contexts,
                 part = facts + SAMPLE_FACTS + sizeof times.made;
    const struct refusal refusals[] = {
        {part + 8, 8, PGK_E_CORRUPT, "part SAMPLES"}, /* among the segments */
        {part + 8, UINT64_MAX, PGK_E_CORRUPT, "part SAMPLES"},
        {part + 16, 40, PGK_E_CORRUPT, "part SAMPLES"}, /* shorter than they were ever */
        {part + 16, 0, PGK_E_CORRUPT, "part SAMPLES"},
        {part + 16, UINT64_MAX, PGK_E_CORRUPT, "part SAMPLES"},
        {part + 24, 6, PGK_E_CORRUPT, "part SAMPLES"}, /* more than there is capacity for */
        {part + 24, UINT64_MAX, PGK_E_CORRUPT, "part SAMPLES"},
        {part + SAMPLE_PART + 16, 72, PGK_E_CORRUPT, "part FACTS"},
    };
    for (size_t i = 0; i < PGK_COUNTOF(refusals); i++) {
        struct pgk_heap *h;
        struct pgk_err err;
        uint8_t *bad = malloc(size);
        memcpy(bad, bytes, size);
        memcpy(bad + refusals[i].off, &refusals[i].value, 8);
        assert_int_equal(read_bytes(bad, size, &h, NULL, &err), refusals[i].status);
        assert_string_equal(err.field, refusals[i].field);
        pgk_heap_close(&h);
        free(bad);
    }
    pgk_sink_drop(&out);
}

/* 64 bytes that begin with the magic, as runtimes before 0.1.0 wrote them. */
static void notes_of_an_unreleased_pgokit_are_refused_by_name(void **state)
{
    (void)state;
    struct sample_block closed = block(5, 30);
    struct sample_dump d = dump(5, &closed, 1);
    d.times = &first_sheet;
    struct pgk_sink *out;
    struct pgk_heap *h;
    struct pgk_err err;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    sample_write_dump(out, &d);
    const size_t mibs = 48 + 8 + 2 * 64 + 3 * 96 + SAMPLE_FACTS + SAMPLE_PARTS * SAMPLE_PART +
                        SAMPLE_NOTES_END;
    pgk_sink_patch_u64(out, mibs - 8, 0);
    pgk_sink_patch_u64(out, mibs - 64, UINT64_C(0x45544f4e544b4750));
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_bytes(bytes, size, &h, NULL, &err), PGK_E_VERSION);
    assert_string_equal(err.field, "version");
    assert_string_equal(err.hint, "written by an unreleased pgokit; record again");
    pgk_heap_close(&h);
    pgk_sink_drop(&out);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    struct sample_block blocks[] = {block(5, 30), block(6, 8)};
    blocks[0].hist_count = 2;
    struct sample_dump d = dump(5, blocks, 2);
    d.times = &first_sheet;
    struct sample_dump sampled = dump(5, blocks + 1, 1);
    sampled.times = &sampled_times;
    struct pgk_sink *out;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    sample_write_dump(out, &sampled);
    sample_write_dump(out, &d);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_heap *h;
        struct pgk_err err;
        pgk_mem_fail_after(nth);
        status = read_bytes(bytes, size, &h, NULL, &err);
        pgk_mem_fail_after(0);
        pgk_heap_close(&h);
        assert_in_range(nth, 1, 200);
    }
    assert_int_equal(status, 0);
    pgk_sink_drop(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_is_read),
        cmocka_unit_test(several_dumps_add_up),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(wrong_bytes_are_refused),
        cmocka_unit_test(objects_alive_at_a_kill_are_added),
        cmocka_unit_test(a_context_that_began_during_a_copy_is_skipped),
        cmocka_unit_test(wrong_notes_are_refused),
        cmocka_unit_test(newer_notes_are_read_as_far_as_known),
        cmocka_unit_test(samples_are_read),
        cmocka_unit_test(wrong_samples_are_refused),
        cmocka_unit_test(notes_of_an_unreleased_pgokit_are_refused_by_name),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
