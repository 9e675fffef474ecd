/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rpn_compiler.h - a small language, compiled to x86-64 machine code.
 *
 *	: fib n 2 < if n else n 1 - fib n 2 - fib + end ;
 *
 * A function has one argument, n, and one result, what its words leave on the
 * stack: numbers and n push; + - * < replace two by one; "if A else B end" takes a
 * condition; the name of a function replaces its argument by its result.
 *
 * There are no frame pointers: values are on the machine's stack, and %rbp holds
 * n.  So the CFA's distance from %rsp changes with almost every instruction, and
 * each change is a row of the function's unwind table.
 */
#ifndef BOBBIN_EXAMPLES_RPN_COMPILER_H
#define BOBBIN_EXAMPLES_RPN_COMPILER_H

#include <bobbin/jit.h>

#define RPN_MAX_NAME 32
#define RPN_MAX_CODE 4096
#define RPN_MAX_ROWS 512

typedef int64_t (*rpn_entry)(int64_t n);

struct rpn_function {
	char name[RPN_MAX_NAME];
	uint64_t start;
	uint32_t size, row_count;
	uint8_t code[RPN_MAX_CODE]; /* to be copied to @start */
	struct bobbin_sframe_row rows[RPN_MAX_ROWS];
};

/* The address of a function that is there already; 0: unknown. */
typedef uint64_t (*rpn_find)(void *ctx, const char *name);

/*
 * Compile one definition, for code that will lie at @start.  0; -EINVAL: it makes no
 * sense; -E2BIG: it is too large.
 */
int rpn_compile(const char *definition, uint64_t start, rpn_find find, void *ctx,
		struct rpn_function *ret);

#endif
