/* Registers the plugin with gcc: its version, its options, its place among the passes. */
#include "gcc_plugin.h"

#include <string.h>

extern "C" {
__attribute__((visibility("default"))) int plugin_is_GPL_compatible;
__attribute__((visibility("default"))) int plugin_init(struct plugin_name_args *about,
                                                       struct plugin_gcc_version *version);
}

static struct pgc_options options = {false, true, "memprof.profraw"};

static bool take_option(const char *key, const char *value)
{
    if (!strcmp(key, "histogram") && !value)
        options.histogram = true;
    else if (!strcmp(key, "coalesce") && value && (!strcmp(value, "0") || !strcmp(value, "1")))
        options.coalesce = *value == '1';
    else if (!strcmp(key, "file") && value && *value)
        options.file = value;
    else
        return false;
    return true;
}

static void start_unit(void *, void *name)
{
    pgc_refuse_unit(static_cast<const char *>(name));
}

static void finish_unit(void *, void *)
{
    if (pgc_any_counted() && !seen_error())
        pgc_finish_unit(&options);
}

int plugin_init(struct plugin_name_args *about, struct plugin_gcc_version *version)
{
    const char *name = about->base_name;
    if (!plugin_default_version_check(version, &gcc_version)) {
        error(
            "%s: this plugin is for gcc %s, and this is gcc %s; take that gcc, or build the plugin "
            "for this one",
            name, gcc_version.basever, version->basever);
        return 1;
    }
    for (int i = 0; i < about->argc; i++)
        if (!take_option(about->argv[i].key, about->argv[i].value)) {
            error("%s: option %qs is not known, or has no value it can take; there are "
                  "%<file=NAME%>, %<histogram%> and %<coalesce=0%>",
                  name, about->argv[i].key);
            return 1;
        }
    struct register_pass_info place = {pgc_pass(&options), "optimized", 1, PASS_POS_INSERT_BEFORE};
    struct register_pass_info early = {pgc_types_pass(), "ssa", 1, PASS_POS_INSERT_AFTER};
    register_callback(name, PLUGIN_PASS_MANAGER_SETUP, NULL, &place);
    register_callback(name, PLUGIN_PASS_MANAGER_SETUP, NULL, &early);
    register_callback(name, PLUGIN_START_UNIT, start_unit, about->base_name);
    register_callback(name, PLUGIN_FINISH_UNIT, finish_unit, NULL);
    return 0;
}
