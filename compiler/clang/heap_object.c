/* Which object a pointer leads to. What is computed from a pointer by address arithmetic may be
 * used for the object of that pointer alone: the language says so, and all optimisation relies on
 * it. */
#include "heap_object.h"

#include "heap_access.h"

#include <stddef.h>

enum { MOST_VALUES = 32 };

/* The number is not negative, whatever it is at run time. */
static bool is_natural(LLVMValueRef index)
{
    if (LLVMIsAConstantInt(index))
        return LLVMConstIntGetSExtValue(index) >= 0;
    return LLVMIsAZExtInst(index);
}

/* The first of two pointers between which address arithmetic lies leads to the object, too, if it
 * does not lead outside and only on: `inbounds` excludes what is before the object, and the end
 * cannot be before the access. */
static bool only_goes_on(LLVMValueRef step)
{
    LLVMOpcode opcode = pgc_opcode(step);
    if (opcode == LLVMBitCast)
        return true;
    bool on = opcode == LLVMGetElementPtr && LLVMIsInBounds(step);
    for (unsigned i = 1; on && i < (unsigned)LLVMGetNumOperands(step); i++)
        on = is_natural(LLVMGetOperand(step, i));
    return on;
}

static bool all_go_on(LLVMValueRef pointer, LLVMValueRef to)
{
    for (; pointer != to; pointer = LLVMGetOperand(pointer, 0))
        if (!only_goes_on(pointer))
            return false;
    return true;
}

/* Locals and variables of the program are no objects of the heap; nothing is accessed through a
 * null pointer. */
static bool is_elsewhere(LLVMValueRef pointer)
{
    return LLVMIsAAllocaInst(pointer) || LLVMIsAGlobalValue(pointer) ||
           LLVMIsAConstantPointerNull(pointer) || LLVMIsAUndefValue(pointer);
}

/* Values that a pointer may have come from, through choices and around loops. */
struct origins {
    LLVMValueRef seen[MOST_VALUES];
    unsigned n, looked_at;
    LLVMValueRef one;  /* on the heap, perhaps */
    bool several;      /* of these, or too many values to decide */
    bool elsewhere;    /* some are not on the heap */
};

static void see(struct origins *o, LLVMValueRef pointer)
{
    pointer = pgc_underlying(pointer);
    for (unsigned i = 0; i < o->n; i++)
        if (o->seen[i] == pointer)
            return;
    o->several |= o->n == MOST_VALUES;
    if (o->n < MOST_VALUES)
        o->seen[o->n++] = pointer;
}

static void look_at(struct origins *o, LLVMValueRef pointer)
{
    if (LLVMIsAPHINode(pointer)) {
        for (unsigned i = 0; i < LLVMCountIncoming(pointer) && !o->several; i++)
            see(o, LLVMGetIncomingValue(pointer, i));
    } else if (LLVMIsASelectInst(pointer)) {
        see(o, LLVMGetOperand(pointer, 1));
        see(o, LLVMGetOperand(pointer, 2));
    } else if (is_elsewhere(pointer)) {
        o->elsewhere = true;
    } else {
        o->several |= o->one != NULL;
        o->one = pointer;
    }
}

/* A pointer that is stepped on in a loop comes from the one before the loop alone. That dominates
 * all choices between values that come from it, so none of these is of an earlier time. */
struct pgc_object pgc_object_of(LLVMValueRef pointer)
{
    struct pgc_object object = {.pointer = pgc_underlying(pointer), .charged = true};
    if (!LLVMIsAPHINode(object.pointer) && !LLVMIsASelectInst(object.pointer)) {
        object.charged = !is_elsewhere(object.pointer);
        object.there = all_go_on(pointer, object.pointer);
        return object;
    }
    struct origins o = {0};
    see(&o, object.pointer);
    while (o.looked_at < o.n && !o.several)
        look_at(&o, o.seen[o.looked_at++]);
    object.charged = o.several || o.one;
    if (o.one && !o.several && !o.elsewhere)
        object.pointer = o.one;
    else
        object.there = all_go_on(pointer, object.pointer);
    return object;
}
