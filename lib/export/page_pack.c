/* The HTML page: the template with data inside. */
#include "page_pack.h"

#include "deflate_out.h"

/* Whole groups of 3 bytes become 4 characters; what is left over waits for the next piece. */
struct base64 {
    struct pgk_sink *out;
    uint8_t rest[3];
    size_t n_rest;
};

static void put_group(struct base64 *b, const uint8_t *in, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits =
        (uint32_t)in[0] << 16 | (n > 1 ? (uint32_t)in[1] << 8 : 0) | (n > 2 ? in[2] : 0);
    char text[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                    n > 1 ? digits[bits >> 6 & 63] : '=', n > 2 ? digits[bits & 63] : '='};
    pgk_sink_bytes(b->out, text, sizeof text);
}

static void put_bytes(void *ctx, const uint8_t *in, size_t n)
{
    struct base64 *b = ctx;
    for (size_t i = 0; i < n; i++) {
        b->rest[b->n_rest++] = in[i];
        if (b->n_rest == 3) {
            put_group(b, b->rest, 3);
            b->n_rest = 0;
        }
    }
}

static int put_page(struct pgk_sink *out, const uint8_t *json, size_t size, struct pgk_err *err)
{
    struct base64 b = {.out = out};
    pgk_sink_bytes(out, pgk_page_head, pgk_page_head_size);
    PGK_TRY(pgk_deflate(json, size, false, put_bytes, &b, err));
    if (b.n_rest)
        put_group(&b, b.rest, b.n_rest);
    pgk_sink_bytes(out, pgk_page_tail, pgk_page_tail_size);
    return 0;
}

int pgk_page_write(struct pgk_sink *out, pgk_page_data_fn *data, void *page, struct pgk_err *err)
{
    struct pgk_sink *memory;
    struct pgk_text_out text;
    struct pgk_json j;
    size_t size;
    PGK_TRY(pgk_sink_memory(&memory, err));
    pgk_text_to_sink(&text, memory);
    pgk_json_begin(&j, &text, PGK_JSON_TIGHT);
    int status = data(page, &j, err);
    pgk_text_flush(&text);
    if (!status) {
        const uint8_t *json = pgk_sink_data(memory, &size);
        status = json ? put_page(out, json, size, err) : pgk_fail_nomem(err);
    }
    pgk_sink_drop(&memory);
    return status;
}
