/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit.h - say how to unwind code that is made while the program runs.
 *
 *	const struct bobbin_arch *arch = bobbin_arch_amd64();
 *	const struct bobbin_sframe_row rows[] = {
 *		{0, bobbin_jit_rule_sp(arch, 8, 0, 0)},		on entry
 *		{4, bobbin_jit_rule_sp(arch, 32, 0, 0)},	after sub $24, %rsp
 *	};
 *	const struct bobbin_sframe_function f = {
 *		.start = code, .size = size, .rows = rows, .count = 2};
 *
 * Code that stays, in ascending order: a table, registered once.
 *
 *	bobbin_jit_table_open(arch, text, text_size, &table);
 *	bobbin_jit_table_info(table, &info);
 *	bobbin_codectl(CODE_REGISTER_JIT, &info, sizeof(info), 0, NULL);
 *	bobbin_jit_table_append(table, &f);		for each function
 *	bobbin_codectl(CODE_UNREGISTER, &info, sizeof(info), 0, NULL);
 *	bobbin_jit_table_close(table);
 *
 * Code that is freed again, or comes in any order: a section for each piece.
 *
 *	bobbin_jit_code_open(arch, &f, 1, &piece);
 *	bobbin_jit_code_close(piece);			before the code is freed
 *
 * Tell of code before it runs.  docs/registration.md compares the ways; jit_names.h gives
 * functions their names.
 */
#ifndef BOBBIN_JIT_H
#define BOBBIN_JIT_H

#include <bobbin/code_abi.h>
#include <bobbin/sframe_builder.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * bobbin_jit_rule_sp() - the rule of a frame that is measured from the stack pointer
 * @arch: of the code
 * @cfa_off: bytes from the stack pointer to the CFA: its value before the call
 *	that led here, on s390x 160 more
 * @ra_off: bytes from the CFA to the slot of the return address; 0: where the call
 *	left it, on the stack (AMD64) or in the link register
 * @fp_off: bytes from the CFA to the slot of the caller's frame pointer; 0: it is
 *	in its register
 *
 * Return: the rule.  Safe in every context.
 */
struct bobbin_rule bobbin_jit_rule_sp(const struct bobbin_arch *arch, int32_t cfa_off,
				      int32_t ra_off, int32_t fp_off);

/**
 * bobbin_jit_rule_fp() - the rule of a frame that is measured from the frame pointer
 * @arch, @cfa_off, @ra_off, @fp_off: as for bobbin_jit_rule_sp(), with the CFA at
 *	frame pointer + @cfa_off
 *
 * Return: the rule.  Safe in every context.
 */
struct bobbin_rule bobbin_jit_rule_fp(const struct bobbin_arch *arch, int32_t cfa_off,
				      int32_t ra_off, int32_t fp_off);

/**
 * struct bobbin_jit_writer - a chain of tables in the caller's memory; private
 *
 * Belongs to one thread at a time.  Walkers, also of other processes, read the
 * tables meanwhile: what they have once seen never changes.  Nothing is allocated.
 */
struct bobbin_jit_writer {
	const struct bobbin_arch *arch;
	uint64_t text_start, text_end;
	struct code_jit_unwind_table *head, *tail;
	uint64_t end; /* of the last function */
	uint32_t tables;
};

/**
 * bobbin_jit_writer_init() - begin a chain of tables
 * @arch: of the code, and of this process
 * @text_start: where the code will lie
 * @text_size: bytes there
 * @memory: for the first table, aligned to 8 bytes; borrowed until nobody reads it
 * @size: bytes at @memory: 24 and 24 for each row
 * @ret: the writer; untouched on failure
 *
 * Safe in every context.
 *
 * Return: 0; -EINVAL: no text or text that wraps around, an architecture of other
 * byte order, memory that is misaligned or too small for a row.
 */
int bobbin_jit_writer_init(const struct bobbin_arch *arch, uint64_t text_start, uint64_t text_size,
			   void *memory, size_t size, struct bobbin_jit_writer *ret);

/**
 * bobbin_jit_writer_extend() - chain a further table, which is filled from now on
 * @writer: of the chain
 * @memory: for the table, as for bobbin_jit_writer_init()
 * @size: bytes at @memory
 *
 * Make it twice as large as the last one: walkers follow 64 tables, no more.
 * Safe in every context.
 *
 * Return: 0; -EINVAL: bad memory; -E2BIG: there are 64 tables.
 */
int bobbin_jit_writer_extend(struct bobbin_jit_writer *writer, void *memory, size_t size);

/**
 * bobbin_jit_writer_append() - add a function that lies after all others
 * @writer: of the chain
 * @function: copied.  A row becomes an entry; without rows it has no caller.  Code
 *	in front of the first row has no entry
 *
 * All entries of the function appear at once.  Safe in every context, but for a
 * handler that interrupts another call with the same writer.
 *
 * Return: 0; -EINVAL: it lies outside of the text, before the end of another
 * function, is empty, or its rows do not ascend or lie outside of it; -ERANGE: an
 * entry cannot hold a rule, or the place 4 GiB and more from the start of the text;
 * -ENOBUFS: the last table has no room for it, see bobbin_jit_writer_extend().
 * Nothing has changed then.
 */
int bobbin_jit_writer_append(struct bobbin_jit_writer *writer,
			     const struct bobbin_sframe_function *function);

/**
 * bobbin_jit_writer_info() - what to register
 * @writer: of the chain
 * @ret: for bobbin_codectl(); stays the same
 */
void bobbin_jit_writer_info(const struct bobbin_jit_writer *writer, struct code_jit_info *ret);

/* A chain of tables with memory of its own. */
struct bobbin_jit_table;

/**
 * bobbin_jit_table_open() - begin a chain of tables that grows as needed
 * @arch: of the code, and of this process
 * @text_start: where the code will lie
 * @text_size: bytes there
 * @ret: the table; untouched on failure
 *
 * A table belongs to one thread at a time, which may be another one each time;
 * runtimes with several compiling threads use their own lock.  None of the calls
 * may be made from a signal handler.  A forked child has a copy of its own and may
 * go on with it.
 *
 * Return: 0, -EINVAL as bobbin_jit_writer_init(), -ENOMEM.
 */
int bobbin_jit_table_open(const struct bobbin_arch *arch, uint64_t text_start, uint64_t text_size,
			  struct bobbin_jit_table **ret);

/**
 * bobbin_jit_table_close() - free the tables
 * @table: unregistered, or NULL
 */
void bobbin_jit_table_close(struct bobbin_jit_table *table);

/**
 * bobbin_jit_table_append() - add a function that lies after all others
 * @table: where to
 * @function: as for bobbin_jit_writer_append()
 *
 * Return: 0, -EINVAL, -ERANGE, as bobbin_jit_writer_append(); -ENOMEM.  Nothing has
 * changed for readers then.
 */
int bobbin_jit_table_append(struct bobbin_jit_table *table,
			    const struct bobbin_sframe_function *function);

/**
 * bobbin_jit_table_info() - what to register
 * @table: the table
 * @ret: for bobbin_codectl(); stays the same as long as the table is open
 */
void bobbin_jit_table_info(const struct bobbin_jit_table *table, struct code_jit_info *ret);

/* Registered code with a section of its own. */
struct bobbin_jit_code;

/**
 * bobbin_jit_code_open() - register code that may be freed again
 * @arch: of the code
 * @functions: copied; in any order.  Unlike in a table, they may hold any rule of
 *	SFrame V3, repeat, and be signal trampolines
 * @count: of @functions, at least 1
 * @ret: what to close; untouched on failure
 *
 * Everything from the lowest function to the highest counts as theirs: nothing that
 * is registered otherwise may lie between them.  The code has to be in its place,
 * mapped and executable.  Thread-safe; not from signal handlers.
 *
 * Return: 0; -EINVAL: no functions, or one without code; errors of
 * bobbin_sframe_builder_add() and bobbin_sframe_register(), among them -EEXIST: other
 * code is registered there; -ENOMEM.
 */
int bobbin_jit_code_open(const struct bobbin_arch *arch,
			 const struct bobbin_sframe_function *functions, size_t count,
			 struct bobbin_jit_code **ret);

/**
 * bobbin_jit_code_close() - take the code back
 * @code: or NULL
 *
 * No walk looks at the section when this returns, so that the code may be freed.
 * Thread-safe; not from signal handlers.  Parent and child of a fork each close
 * what they have.
 *
 * Return: 0; errors of bobbin_sframe_unregister(), with which it stays open.
 */
int bobbin_jit_code_close(struct bobbin_jit_code *code);

#ifdef __cplusplus
}
#endif

#endif
