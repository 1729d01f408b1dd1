/* The layout of raw heap profiles of a version. docs/formats/raw-heap.md */
#include "heap_raw_layout.h"

#include <string.h>

static const struct pgk_raw_version versions[] = {
#define PGK_RAW_VERSION(version, element, module, since, until) \
    {version, PGK_RAW_ELEMENT_##element, PGK_RAW_MODULE_##module, since, until},
#include "heap_raw_versions.def"
#undef PGK_RAW_VERSION
};
_Static_assert(PGK_COUNTOF(versions) == PGK_RAW_NOW, "a row for each version, the newest is last");

const struct pgk_raw_version *pgk_raw_version(uint64_t version)
{
    for (size_t i = 0; i < PGK_COUNTOF(versions); i++)
        if (versions[i].version == version)
            return &versions[i];
    return NULL;
}

size_t pgk_raw_segment_size(const struct pgk_raw_version *v)
{
    size_t n = PGK_HEAP_RAW_ID_MAX;
#define PGK_RAW_SEGMENT(name, type, first, meaning) \
    n += v->version >= (first) ? sizeof(uint64_t) : 0;
#include "heap_raw.def"
#undef PGK_RAW_SEGMENT
    return n;
}

struct pgk_raw_mib pgk_raw_mib(const struct pgk_raw_version *v)
{
    struct pgk_raw_mib l = {0};
    for (uint8_t id = 0; id < PGK_MIB_FIELDS; id++) {
        const struct pgk_mib_field *f = &pgk_mib_fields[id];
        if (v->version < f->first) {
            l.absent[l.n_absent++] = id;
            continue;
        }
        l.fields[l.count].id = id;
        l.fields[l.count].bytes = f->bytes;
        l.fields[l.count++].off = (uint8_t)l.size;
        l.size += f->bytes;
        if (pgk_mib_is_carried(id) && v->version >= f->sound)
            l.known |= UINT64_C(1) << id;
    }
    return l;
}

uint16_t pgk_raw_float16(uint64_t count)
{
    uint16_t exponent = 0;
    if (count > UINT64_C(4095) << 15)
        count = UINT64_C(4095) << 15;
    for (; count > 4095; exponent++)
        count = (count + 1) >> 1;
    return (uint16_t)(exponent << 12 | count);
}

static uint64_t of_float16(uint16_t code)
{
    return (uint64_t)(code & 0xfff) << (code >> 12);
}

size_t pgk_raw_element_size(enum pgk_raw_element element)
{
    return element == PGK_RAW_ELEMENT_U64       ? sizeof(uint64_t)
           : element == PGK_RAW_ELEMENT_FLOAT16 ? sizeof(uint16_t)
                                                : 0;
}

uint64_t pgk_raw_element(enum pgk_raw_element element, const uint8_t *bytes)
{
    uint64_t count = 0;
    uint16_t code;
    switch (element) {
    case PGK_RAW_ELEMENT_U64:
        memcpy(&count, bytes, sizeof count);
        return count;
    case PGK_RAW_ELEMENT_FLOAT16:
        memcpy(&code, bytes, sizeof code);
        return of_float16(code);
    case PGK_RAW_ELEMENT_NONE:
        break;
    }
    return 0;
}

void pgk_raw_put_element(struct pgk_sink *out, enum pgk_raw_element element, uint64_t count)
{
    if (element == PGK_RAW_ELEMENT_FLOAT16)
        count = pgk_raw_float16(count);
    pgk_sink_bytes(out, &count, pgk_raw_element_size(element));
}

uint64_t pgk_raw_element_kept(enum pgk_raw_element element, uint64_t count)
{
    return element == PGK_RAW_ELEMENT_FLOAT16 ? of_float16(pgk_raw_float16(count))
           : element == PGK_RAW_ELEMENT_U64   ? count
                                              : 0;
}
