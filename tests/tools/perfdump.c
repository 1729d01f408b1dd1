/* Prints what a recording holds, one event a line, for comparison with perf's own words.
 *
 *     perfdump FILE
 */
#include "perf_hardware.h"
#include "perf_input.h"
#include "process_map.h"

#include <inttypes.h>
#include <stdio.h>

static int print_mapping(void *ctx, const struct pgk_perf_mapping *m)
{
    (void)ctx;
    printf("mapping pid %d at 0x%" PRIx64 "+0x%" PRIx64 " offset 0x%" PRIx64
           " prot %u time %" PRIu64 " path %.*s build-id ",
           m->pid, m->start, m->size, m->file_offset, m->prot, m->time, (int)m->path_len, m->path);
    for (uint32_t i = 0; i < m->build_id_size; i++)
        printf("%02x", m->build_id[i]);
    puts("");
    return 0;
}

static int print_task(void *ctx, const struct pgk_perf_task *t)
{
    static const char *const kinds[] = {"fork", "exit", "name", "exec"};
    (void)ctx;
    printf("%s pid %d tid %d parent %d time %" PRIu64 " name %.*s\n", kinds[t->kind], t->pid,
           t->tid, t->parent, t->time, (int)t->name_len, t->name ? t->name : "");
    return 0;
}

static int print_sample(void *ctx, const struct pgk_perf_sample *s)
{
    (void)ctx;
    printf("sample event %u pid %d tid %d time %" PRIu64 " count %" PRIu64 " ip 0x%" PRIx64
           " addr 0x%" PRIx64 " period %" PRIu64 " mode %d data_src 0x%" PRIx64,
           s->event, s->pid, s->tid, s->time, s->count, s->ip, s->addr, s->period, s->mode,
           s->data_src);
    for (size_t i = 0; i < s->n_chain; i++)
        printf("%s%" PRIx64, i ? " " : " chain ", s->chain[i]);
    for (size_t i = 0; i < s->n_branches; i++)
        printf("%s%" PRIx64 "/%" PRIx64, i ? " " : " branches ", s->branches[i].from,
               s->branches[i].to);
    struct pgk_hw_op op;
    if (s->raw_size && pgk_hw_ibs_op(s->raw, s->raw_size, &op))
        printf(" ibs pc 0x%" PRIx64 " addr 0x%" PRIx64 " target 0x%" PRIx64 "%s%s", op.pc, op.addr,
               op.target, op.is_load ? " load" : "", op.is_store ? " store" : "");
    puts("");
    return 0;
}

static int print_op(void *ctx, const struct pgk_hw_op *op)
{
    (void)ctx;
    printf("spe pc 0x%" PRIx64 " addr 0x%" PRIx64 " target 0x%" PRIx64 "%s%s%s\n", op->pc, op->addr,
           op->target, op->is_load ? " load" : "", op->is_store ? " store" : "",
           op->is_branch ? " branch" : "");
    return 0;
}

static int print_trace(void *ctx, const struct pgk_perf_trace *t)
{
    struct pgk_source src = {.file = "trace", .base_off = t->file_offset};
    printf("trace type %u, %zu bytes\n", t->type, t->size);
    return t->type == PGK_PERF_TRACE_SPE ? pgk_hw_spe(t->bytes, t->size, &src, print_op, NULL, ctx)
                                         : 0;
}

int main(int argc, char **argv)
{
    struct pgk_perf_input *input = NULL;
    struct pgk_err err = {0};
    if (argc != 2) {
        fputs("usage: perfdump FILE\n", stderr);
        return 2;
    }
    int status = pgk_perf_input_open(&input, argv[1], &err);
    if (!status)
        status = pgk_perf_input_read(input,
                                     &(struct pgk_perf_handler){.ctx = &err,
                                                                .mapping = print_mapping,
                                                                .task = print_task,
                                                                .sample = print_sample,
                                                                .trace = print_trace},
                                     &err);
    if (!status) {
        const struct pgk_perf_info *info = pgk_perf_input_info(input);
        for (size_t i = 0; i < info->n_events; i++)
            printf("event %zu %s pmu %s precise %u\n", i, info->events[i].name, info->events[i].pmu,
                   info->events[i].precise);
        printf("%" PRIu64 " samples, %" PRIu64 " mappings, %" PRIu64 " tasks, %" PRIu64
               " lost, %" PRIu64 " unreadable%s, cpu %s\n",
               info->samples, info->mappings, info->tasks, info->lost_samples, info->unreadable.n,
               info->interrupted ? ", interrupted" : "", info->cpu);
    } else {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    }
    pgk_perf_input_close(&input);
    return status ? 2 : 0;
}
