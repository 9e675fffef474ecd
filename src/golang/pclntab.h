/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pclntab.h - the table by which Go programs unwind themselves.
 *
 *	header | names | … | pctab: runs of values | functions, by their start
 *
 * The section .gopclntab is in every Go program, since the runtime needs it: strip(1)
 * and the linker's -s leave it.  For each function it says by how much the stack pointer
 * has moved at each PC, and in flags what DWARF of the same linker does not: the function
 * is a root (goexit, mstart, rt0_go), or writes to the stack pointer what no table
 * describes (systemstack, mcall, morestack, asmcgocall, the calls of the vDSO).
 *
 * Read are the versions from Go 1.18 on, up to 1.27 at least, for x86-64.  From Go 1.26 on
 * the table does not say where the functions start; the data of the run time does.  Layout:
 * Go's src/runtime/symtab.go and src/internal/abi/symtab.go.
 */
#ifndef BOBBIN_GOLANG_PCLNTAB_H
#define BOBBIN_GOLANG_PCLNTAB_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

#include "core/deps.h"

/* What a header begins with on machines of 64 bits and one-byte instructions, but for the version. */
#define PCLNTAB_MARK_SIZE 8

struct pclntab {
	const uint8_t *data; /* NULL: there is none */
	uint64_t size;
	uint64_t text_start; /* in the file's own space */
	uint64_t names, values, functions;
	uint32_t count;
	uint32_t flags_at; /* in a function's record */
	/* pclntab_note_c_call(): where C returns, and how far cgocall()'s frame reaches below its return address */
	uint64_t c_returns;
	uint32_t c_frame;
};

/* Whether bytes begin like a table of a version that is read. */
bool pclntab_begins(const uint8_t mark[PCLNTAB_MARK_SIZE]);

/* Whether the header of a table says where the functions start. */
bool pclntab_says_text(const void *data, uint64_t size);

/*
 * Open the table in borrowed bytes.  @text: where the functions start if the header does not
 * say; 0: that is not known.  0; -EBADMSG with the reason.
 */
int pclntab_init(const void *data, uint64_t size, uint64_t text, const struct bobbin_arch *arch,
		 struct bobbin_error *err, struct pclntab *ret);

/*
 * Note where the call of asmcgocall() that is on another stack returns to, which the table does not
 * say.  Of use before Go 1.21 only: else nothing is noted.
 */
void pclntab_note_c_call(struct pclntab *table, uint64_t returns);

/*
 * The row for an address, @start <= @pc < @end.  Its rule may be none, with the reason
 * (OTHER_STACK: the function has left the stack of its caller).  0; -ENOENT: it is not in
 * a Go function; -EBADMSG.
 */
int pclntab_lookup(const struct pclntab *table, const struct bobbin_arch *arch, uint64_t pc,
		   struct bobbin_error *err, struct bobbin_row *ret);

/* Takes a row; what is not 0 ends this and is returned. */
typedef int (*pclntab_sink)(void *ctx, const struct bobbin_row *row);

/*
 * The rows of the function number @index, below @table->count, which cover all of it in ascending
 * order, and say what pclntab_lookup() says; or none, with the reason.  0; -EBADMSG: the
 * functions are in no order.
 */
int pclntab_rows(const struct pclntab *table, const struct bobbin_arch *arch, uint32_t index,
		 pclntab_sink take, void *ctx);

/* Where the function at an address begins and ends.  Errors as pclntab_lookup(). */
int pclntab_function(const struct pclntab *table, uint64_t pc, struct bobbin_error *err,
		     uint64_t *start, uint64_t *end);

/* Where the first function begins that is called so, or so with more after it, or 0. */
uint64_t pclntab_named(const struct pclntab *table, const char *name);

/* What the function at an address is called, in the table's bytes, and where it begins; or NULL. */
const char *pclntab_name(const struct pclntab *table, uint64_t pc, uint64_t *start);

/* The same of the function number @index, below @table->count.  0 or -EBADMSG. */
int pclntab_entry(const struct pclntab *table, uint32_t index, uint64_t *start, uint64_t *end);

#endif
