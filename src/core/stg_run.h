/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stg_run.h - the function of GHC's run time that jumps to Haskell code.
 *
 *	caller ── call ──► StgRun(): save six registers, make room ── jmp *%rax ──► Haskell code
 *
 * Haskell code has a stack of its own, in the frame pointer's register, and jumps from function to
 * function.  It leaves the stack pointer where StgRun() has put it, but for calls of functions in C.
 */
#ifndef BOBBIN_CORE_STG_RUN_H
#define BOBBIN_CORE_STG_RUN_H

#include "core/deps.h"

/* Bytes of the function up to its jump. */
#define STG_RUN_SIZE 45
/* From the stack pointer at the jump: where the frame pointer and the return address are. */
#define STG_RUN_FP 16392
#define STG_RUN_RA 16432

/* Whether it is the code of this function, for x86-64. */
bool stg_run_code(const uint8_t code[STG_RUN_SIZE]);

#endif
