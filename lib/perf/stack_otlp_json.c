/* JSON of OpenTelemetry's profiles, turned into the messages that it stands for: one reader reads
 * both. */
#include "stack_otlp.h"

#include <string.h>

enum form { FORM_number, FORM_text, FORM_message, FORM_numbers, FORM_word, FORM_words };

struct row {
    enum pgk_otlp_message message;
    unsigned number;
    const char *json;
    enum form form;
    enum pgk_otlp_message inner;
};

static const struct row rows[] = {
#define PGK_OTLP_FIELD(message, field, number, json, form, inner) \
    {PGK_OTLP_##message, number, json, FORM_##form, PGK_OTLP_##inner},
#include "otlp.def"
};

static const struct {
    enum pgk_otlp_message message;
    unsigned number;
    const char *json;
} aliases[] = {
#define PGK_OTLP_ALIAS(message, field, json) \
    {PGK_OTLP_##message, PGK_OTLP_##message##_##field, json},
#include "otlp.def"
};

static bool is_key(const struct pgk_json_value *v, const char *name)
{
    return *name && strlen(name) == v->key_bytes && !memcmp(name, v->key, v->key_bytes);
}

static const struct row *find_row(enum pgk_otlp_message message, const struct pgk_json_value *v)
{
    unsigned number = 0;
    for (size_t i = 0; i < PGK_COUNTOF(aliases); i++)
        if (aliases[i].message == message && is_key(v, aliases[i].json))
            number = aliases[i].number;
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++)
        if (rows[i].message == message &&
            (number ? rows[i].number == number : is_key(v, rows[i].json)))
            return &rows[i];
    return NULL;
}

static void put_word(struct pgk_proto *m, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++)
        m->full |= !pgk_vec_push(&m->bytes, (uint8_t)(v >> 8 * i));
}

static void put_message(struct pgk_proto *into, enum pgk_otlp_message message,
                        const struct pgk_json_value *json);

static void put_part(struct pgk_proto *into, const struct row *row, const struct pgk_json_value *v)
{
    struct pgk_proto inner = {0};
    put_message(&inner, row->inner, v);
    pgk_proto_message(into, row->number, &inner);
    pgk_vec_free(&inner.bytes);
}

static void put_packed(struct pgk_proto *into, const struct row *row,
                       const struct pgk_json_value *v)
{
    struct pgk_proto packed = {0};
    const struct pgk_json_value *item = v->kind == PGK_JSON_ARRAY ? v->first : v;
    for (; item; item = v == item ? NULL : item->next) {
        uint64_t number = 0;
        pgk_json_in_integer(item, &number);
        if (row->form == FORM_words)
            put_word(&packed, number);
        else
            pgk_proto_varint(&packed, number);
    }
    pgk_proto_message(into, row->number, &packed);
    pgk_vec_free(&packed.bytes);
}

static void put_one(struct pgk_proto *into, const struct row *row, const struct pgk_json_value *v)
{
    uint64_t number = 0;
    switch (row->form) {
    case FORM_text:
        if (v->kind == PGK_JSON_TEXT)
            pgk_proto_bytes(into, row->number, v->text, v->n);
        return;
    case FORM_message:
        put_part(into, row, v);
        return;
    case FORM_number:
        if (pgk_json_in_integer(v, &number))
            pgk_proto_number(into, row->number, number);
        return;
    case FORM_word:
        if (pgk_json_in_integer(v, &number))
            pgk_proto_word(into, row->number, number);
        return;
    default:
        return;
    }
}

/* Members that no row has are skipped. */
static void put_message(struct pgk_proto *into, enum pgk_otlp_message message,
                        const struct pgk_json_value *json)
{
    if (json->kind != PGK_JSON_OBJECT)
        return;
    for (const struct pgk_json_value *v = json->first; v; v = v->next) {
        const struct row *row = find_row(message, v);
        if (!row || v->kind == PGK_JSON_NULL)
            continue;
        if (row->form == FORM_numbers || row->form == FORM_words)
            put_packed(into, row, v);
        else if (v->kind != PGK_JSON_ARRAY)
            put_one(into, row, v);
        else
            for (const struct pgk_json_value *item = v->first; item; item = item->next)
                put_one(into, row, item);
    }
}

bool pgk_otlp_message_of(struct pgk_proto *into, const struct pgk_json_value *json)
{
    put_message(into, PGK_OTLP_DATA, json);
    return !into->full;
}
