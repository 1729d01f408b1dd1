/* The parts that an object file has once, under the names of clang's -fmemory-profile: the
 * constructor that starts the runtime, the name of the profile, and whether there are
 * histograms. */
#include "gcc_plugin.h"

#include <string.h>

/* In every object of a program; the linker keeps one. */
static void add_shared(const char *name, tree type, tree value)
{
    tree variable = build_decl(UNKNOWN_LOCATION, VAR_DECL, get_identifier(name), type);
    TREE_STATIC(variable) = 1;
    TREE_PUBLIC(variable) = 1;
    TREE_READONLY(variable) = 1;
    TREE_USED(variable) = 1;
    DECL_ARTIFICIAL(variable) = 1;
    DECL_IGNORED_P(variable) = 1;
    DECL_PRESERVE_P(variable) = 1;
    DECL_INITIAL(variable) = value;
    make_decl_one_only(variable, DECL_ASSEMBLER_NAME(variable));
    varpool_node::finalize_decl(variable);
}

static tree call_of(const char *name)
{
    tree type = build_function_type_list(void_type_node, NULL_TREE);
    return build_call_expr(build_fn_decl(name, type), 0);
}

void pgc_finish_unit(const struct pgc_options *options)
{
    enum { PRIORITY = 1 }; /* before constructors of the program */
    tree statements = NULL_TREE;
    size_t size = strlen(options->file) + 1;
    tree name = build_string((int)size, options->file);
    TREE_TYPE(name) = build_array_type(char_type_node, build_index_type(size_int(size - 1)));
    add_shared("__memprof_profile_filename", TREE_TYPE(name), name);
    add_shared("__memprof_histogram", boolean_type_node,
               build_int_cst(boolean_type_node, options->histogram));
    append_to_statement_list(call_of("__memprof_init"), &statements);
    append_to_statement_list(call_of("__memprof_version_mismatch_check_v1"), &statements);
    cgraph_build_static_cdtor('I', statements, PRIORITY);
}
