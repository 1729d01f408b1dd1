/* The whole library. See docs/library.md for a first program. */
#ifndef PGOKIT_PGOKIT_H
#define PGOKIT_PGOKIT_H

#include "pgokit/binaries.h"
#include "pgokit/branches.h"
#include "pgokit/disasm.h"
#include "pgokit/err.h"
#include "pgokit/format.h"
#include "pgokit/function_order.h"
#include "pgokit/gain.h"
#include "pgokit/gcov.h"
#include "pgokit/gen.h"
#include "pgokit/heap.h"
#include "pgokit/history.h"
#include "pgokit/human.h"
#include "pgokit/inputs.h"
#include "pgokit/instr.h"
#include "pgokit/llvm_text.h"
#include "pgokit/log.h"
#include "pgokit/match.h"
#include "pgokit/plan.h"
#include "pgokit/probe.h"
#include "pgokit/program.h"
#include "pgokit/report.h"
#include "pgokit/unfinished.h"
#include "pgokit/sample.h"
#include "pgokit/supplement.h"
#include "pgokit/trial.h"
#include "pgokit/use.h"

#endif
