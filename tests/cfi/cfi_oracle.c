/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi-oracle [-v] [-s] [-2|-3] [-S] FILE... - compare the reader with libdw.
 *
 * For every FDE of .eh_frame and .debug_frame, at each address at which either
 * reader starts a row, both descriptions of the caller are evaluated under
 * made-up machines (dwarf_value.h) and must give the same CFA, frame pointer,
 * return address and stack pointer.  A row that we have no rule for and an FDE
 * that we refuse are counted by their reasons and not compared.  Prints one
 * line a file,
 *
 *	PATH: fdes=N refused=N rows=N norule=N unjudged=N different=N [REASON=N ...]
 *
 * (unjudged: the oracle refuses what we take) and differences, ten a file (-v:
 * all).  Exits 1 if anything differs, or if more than four rows or FDEs, and
 * one in a thousand, have no rule; also if a FILE is none that the reader is
 * for, unless -s says to skip such files.
 *
 * -2, -3: convert each section to SFrame of that version (-S: with shared rows)
 * and look each address up there, too.  The rule must equal the reader's, and it
 * is the one that is compared with the oracle's.  Rows that the conversion left
 * out are counted (lost=N); four, and one in a thousand, are allowed.
 *
 * -t: the same with a compiled table, which may leave out nothing.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cfi_file.h"
#include "convert/comparison.h"
#include "convert/converter.h"
#include "dwarf_value.h"
#include "table/compiled_table.h"
#include "table/table_sources.h"

#define MACHINES 2

struct options {
	bool verbose, skip, share, table;
	unsigned int version; /* of SFrame to convert to, or 0 */
};

struct tally {
	uint64_t fdes, refused, rows, no_rule, unjudged, different, lost;
	uint64_t reasons[256];
};

struct oracle {
	const char *path;
	const struct bobbin_cfi_view *view;
	Dwarf_CFI *cfi;
	Dwarf_Frame *frame; /* at the address */
	uint64_t frame_end;
	const struct options *options;
	uint8_t *made; /* what it is converted to, which is one of the following; NULL: nothing */
	struct bobbin_sframe_view sframe;
	struct compiled_table table;
	struct tally tally;
};

/* Name and count a difference. */
static void differ(struct oracle *c, uint64_t addr, const char *what)
{
	if (c->tally.different++ < 10 || c->options->verbose)
		printf("%s: %s 0x%" PRIx64 ": %s differs\n", c->path,
		       c->view->debug_frame ? ".debug_frame" : ".eh_frame", addr, what);
}

static void note_refusal(struct oracle *c, const struct bobbin_error *err)
{
	c->tally.refused++;
	c->tally.reasons[err->reason]++;
	if (c->options->verbose)
		printf("%s: entry at 0x%" PRIx64 " refused: %s\n", c->path, err->offset,
		       bobbin_reason_str(err->reason));
}

static uint64_t place_value(const struct machine *m, struct bobbin_place place, uint8_t self)
{
	switch (place.how) {
	case BOBBIN_HOW_SAME:
		return m->reg[self];
	case BOBBIN_HOW_IN_CFA_MEM:
		return machine_word(m, m->cfa + (uint64_t)place.off);
	case BOBBIN_HOW_AT_CFA:
		return m->cfa + (uint64_t)place.off;
	case BOBBIN_HOW_AT_PC:
		return m->pc + (uint64_t)place.off;
	case BOBBIN_HOW_AT_REG:
		return m->reg[place.reg] + (uint64_t)place.off;
	default:
		return machine_word(m, m->reg[place.reg] + (uint64_t)place.off);
	}
}

static uint64_t cfa_value(const struct machine *m, const struct bobbin_rule *rule)
{
	uint64_t at = m->reg[rule->cfa.reg] + (uint64_t)rule->cfa.off;

	if (rule->cfa.how == BOBBIN_HOW_AT_REG)
		return at;
	if (rule->index != BOBBIN_NO_INDEX)
		at += 8 * m->reg[rule->index];
	return machine_word(m, at) + (uint64_t)rule->plus;
}

enum kind {
	KIND_UNDEFINED,
	KIND_VALUE,
	KIND_UNKNOWN
};

/* The oracle's value of a register of the caller. */
static enum kind oracle_register(const struct oracle *c, const struct machine *m, uint8_t reg,
				 uint64_t *ret)
{
	Dwarf_Op mem[3], *ops;
	size_t count;

	if (dwarf_frame_register(c->frame, reg, mem, &ops, &count))
		return KIND_UNKNOWN;
	if (!count && ops)
		return KIND_UNDEFINED;
	*ret = m->reg[reg];
	return !count || dwarf_value(m, ops, count, true, ret) ? KIND_VALUE : KIND_UNKNOWN;
}

static void compare_ra(struct oracle *c, const struct machine *m, uint64_t addr,
		       const struct bobbin_rule *rule)
{
	uint8_t ra = c->view->arch->ra;
	uint64_t value = 0;
	enum kind kind = oracle_register(c, m, ra, &value);

	if (kind == KIND_UNKNOWN ||
	    (kind == KIND_UNDEFINED) != (rule->ra.how == BOBBIN_HOW_UNDEFINED))
		differ(c, addr, "whether there is a caller");
	else if (kind == KIND_VALUE && value != place_value(m, rule->ra, ra))
		differ(c, addr, "RA");
}

/* An undefined frame pointer is kept: rules that need it fail. */
static void compare_fp(struct oracle *c, const struct machine *m, uint64_t addr,
		       const struct bobbin_rule *rule)
{
	uint8_t fp = c->view->arch->fp;
	uint64_t value = 0;
	enum kind kind = oracle_register(c, m, fp, &value);

	if (kind == KIND_UNDEFINED ? rule->fp.how != BOBBIN_HOW_SAME
				   : kind == KIND_UNKNOWN || value != place_value(m, rule->fp, fp))
		differ(c, addr, "FP");
}

/* A rule has none for SP: it is the CFA less the bias, unless the program saved it. */
static void compare_sp(struct oracle *c, const struct machine *m, uint64_t addr)
{
	const struct bobbin_arch *arch = c->view->arch;
	Dwarf_Op mem[3], *ops;
	uint64_t value = 0;
	size_t count;

	if (dwarf_frame_register(c->frame, arch->sp, mem, &ops, &count) || !count)
		return;
	if (arch->cfa_bias && ops[count - 1].atom != DW_OP_stack_value)
		return;
	if (!dwarf_value(m, ops, count, true, &value) || value != m->cfa - arch->cfa_bias)
		differ(c, addr, "SP");
}

/* It found the function but rejects it.  There is no public number for that. */
static bool oracle_refuses(void)
{
	const char *message = dwarf_errmsg(-1);

	return message && !strcmp(message, "invalid CFI section");
}

static void compare_under(struct oracle *c, struct machine *m, uint64_t addr,
			  const struct bobbin_rule *rule)
{
	Dwarf_Op *ops;
	size_t count = 0;

	m->reg[c->view->arch->ra] = c->view->arch->default_ra_off ? addr : m->reg[100];
	m->pc = m->reg[c->view->arch->pc] = addr;
	m->cfa = 0;
	if (rule->ra.how == BOBBIN_HOW_UNDEFINED) {
		compare_ra(c, m, addr, rule);
		return;
	}
	if (dwarf_frame_cfa(c->frame, &ops, &count) && oracle_refuses()) {
		c->tally.unjudged++;
		return;
	}
	if (!count || !dwarf_value(m, ops, count, false, &m->cfa) || m->cfa != cfa_value(m, rule)) {
		differ(c, addr, "CFA");
		return;
	}
	compare_ra(c, m, addr, rule);
	compare_fp(c, m, addr, rule);
	compare_sp(c, m, addr);
}

/* Ask the oracle for an address; its row ends at c->frame_end. */
static bool find_frame(struct oracle *c, uint64_t addr, bool *signal)
{
	Dwarf_Addr start, end;

	free(c->frame);
	c->frame = NULL;
	if (dwarf_cfi_addrframe(c->cfi, addr, &c->frame) ||
	    dwarf_frame_info(c->frame, &start, &end, signal) < 0)
		return false;
	c->frame_end = end;
	return end > addr;
}

static uint64_t faults(const struct tally *t)
{
	return t->different + t->unjudged;
}

static void compare_at(struct oracle *c, uint64_t addr, const struct bobbin_rule *rule)
{
	uint64_t before = faults(&c->tally);
	bool signal = false;

	if (!find_frame(c, addr, &signal)) {
		c->frame_end = UINT64_MAX;
		if (oracle_refuses())
			c->tally.unjudged++;
		else
			differ(c, addr, "whether there is a row");
		return;
	}
	if (signal != !!(rule->flags & BOBBIN_RULE_SIGNAL))
		differ(c, addr, "the signal mark");
	for (unsigned int i = 0; i < MACHINES && before == faults(&c->tally); i++) {
		struct machine m = machine_of(i);

		compare_under(c, &m, addr, rule);
	}
}

static void count_no_rule(struct oracle *c, const struct bobbin_rule *rule)
{
	c->tally.no_rule++;
	c->tally.reasons[rule->reason]++;
}

/* The row of what was made, if it has a rule. */
static int made_lookup(const struct oracle *c, uint64_t addr, struct bobbin_row *ret)
{
	struct compiled_row row;
	int r;

	if (!c->options->table)
		return bobbin_sframe_lookup(&c->sframe, addr, NULL, ret);
	r = compiled_table_find(&c->table, addr, &row);
	if (!r)
		r = compiled_table_rule(&c->table, &row, &ret->rule);
	if (r)
		return r;
	ret->start = row.start;
	ret->end = row.end;
	return ret->rule.cfa.how == BOBBIN_HOW_NO_RULE ? -ENOENT : 0;
}

/*
 * The conversion's rule from @addr up to *@end.  false: there is none, and if that is wrong,
 * it is reported.
 */
static bool converted_rule(struct oracle *c, uint64_t addr, const struct bobbin_rule *rule,
			   struct bobbin_rule *ret, uint64_t *end)
{
	struct bobbin_row row;
	int r = made_lookup(c, addr, &row);

	if (r == -ENOENT && !c->options->table) {
		c->tally.lost++;
		return false;
	}
	if (r || addr < row.start || addr >= row.end || !comparison_equal(&row.rule, rule)) {
		differ(c, addr, "the converted rule");
		return false;
	}
	*ret = row.rule;
	if (row.end < *end)
		*end = row.end;
	return true;
}

/* All addresses in the row at which the oracle or the conversion starts one of its own. */
static void compare_rule(struct oracle *c, const struct bobbin_row *row)
{
	uint64_t addr = row->start;

	while (addr < row->end) {
		struct bobbin_rule rule = row->rule;
		uint64_t end = row->end;

		if (c->made && !converted_rule(c, addr, &row->rule, &rule, &end))
			return;
		compare_at(c, addr, &rule);
		addr = c->frame_end < end ? c->frame_end : end;
	}
}

static void compare_row(struct oracle *c, const struct bobbin_row *row)
{
	struct bobbin_row found;

	c->tally.rows++;
	if (row->rule.cfa.how != BOBBIN_HOW_NO_RULE) {
		compare_rule(c, row);
		return;
	}
	count_no_rule(c, &row->rule);
	if (c->made && made_lookup(c, row->start, &found) != -ENOENT)
		differ(c, row->start, "that the conversion knows better");
}

static void compare_byte(struct oracle *c, uint64_t pc, const struct bobbin_rule *rule)
{
	const struct bobbin_row byte = {.start = pc, .end = pc + 1, .rule = *rule};

	compare_rule(c, &byte);
}

/* A lazy-binding stub: the rule depends on the PC, which is tried byte by byte. */
static void compare_stub(struct oracle *c, const struct bobbin_cfi_fde *fde,
			 const struct bobbin_row *row)
{
	struct bobbin_cfi_rows rows;
	struct bobbin_row part;

	for (uint64_t pc = row->start; pc < row->end && pc < row->start + 64; pc++) {
		if (bobbin_cfi_rows_init(c->view, fde, NULL, &rows) ||
		    bobbin_cfi_rows_find(&rows, pc, NULL, &part) || pc < part.start ||
		    pc >= part.end)
			differ(c, pc, "the stub's row");
		else
			compare_byte(c, pc, &part.rule);
	}
	c->tally.rows++;
}

/* Lookups and walks must find the same; where FDEs overlap, either is right. */
static void compare_lookup(struct oracle *c, const struct bobbin_cfi_fde *fde, uint64_t pc)
{
	struct bobbin_cfi_fde found;

	if (bobbin_cfi_find(c->view, pc, NULL, &found) || pc < found.start || pc >= found.end)
		differ(c, fde->start, "the look-up");
}

static int compare_rows(struct oracle *c, const struct bobbin_cfi_fde *fde,
			struct bobbin_error *err)
{
	struct bobbin_cfi_rows rows;
	struct bobbin_row row;
	int r;

	r = bobbin_cfi_rows_init(c->view, fde, err, &rows);
	while (!r && (r = bobbin_cfi_rows_next(&rows, err, &row)) > 0) {
		if (rows.plt)
			compare_stub(c, fde, &row);
		else
			compare_row(c, &row);
		r = 0;
	}
	return r;
}

static void compare_function(struct oracle *c, const struct bobbin_cfi_fde *fde)
{
	struct bobbin_error err = {0};

	if (fde->start == fde->end)
		return;
	if (c->view->table_count) {
		compare_lookup(c, fde, fde->start);
		compare_lookup(c, fde, fde->end - 1);
	}
	if (compare_rows(c, fde, &err))
		note_refusal(c, &err);
}

/* The number of FDEs that the oracle walks over. */
static uint64_t count_fdes(const struct cfi_file *file, const struct bobbin_cfi_view *view)
{
	Elf_Data data = {.d_buf = (void *)view->frame,
			 .d_type = ELF_T_BYTE,
			 .d_version = EV_CURRENT,
			 .d_size = view->frame_size};
	const unsigned char *ident = (const unsigned char *)elf_getident(file->elf, NULL);
	Dwarf_CFI_Entry entry;
	Dwarf_Off off = 0, next = 0;
	uint64_t count = 0;

	while (off < view->frame_size) {
		int r = dwarf_next_cfi(ident, &data, !view->debug_frame, off, &next, &entry);

		if (r < 0 || next <= off)
			break;
		count += !r && !dwarf_cfi_cie_p(&entry);
		off = next;
	}
	return count;
}

/* Compile the section; its bytes, to be free()d, or NULL after a complaint or without FDEs. */
static uint8_t *compile(struct oracle *c, const struct bobbin_cfi_view *view)
{
	uint8_t *data = NULL;
	uint64_t size;
	int r = compile_cfi(view, 1, NULL, 0, 0, NULL, &data, &size);

	if (!r)
		r = compiled_table_init(data, size, NULL, &c->table);
	if (r && r != -ENODATA)
		differ(c, 0, "whether it can be compiled");
	if (!r)
		return data;
	free(data);
	return NULL;
}

/* Convert the section; its bytes, to be free()d, or NULL after a complaint. */
static uint8_t *convert(struct oracle *c, const struct bobbin_cfi_view *view)
{
	const struct convert_options options = {
		.version = c->options->version,
		.share = c->options->share,
		.addr = view->frame_addr,
	};
	struct convert_stats stats;
	uint8_t *data = NULL;
	uint64_t size;

	if (convert_cfi(view, 1, &options, &stats, &data, &size) ||
	    bobbin_sframe_view(data, size, options.addr, NULL, &c->sframe)) {
		differ(c, 0, "whether it can be converted");
		free(data);
		return NULL;
	}
	return data;
}

static void compare_section(struct oracle *c, const struct cfi_file *file,
			    const struct bobbin_cfi_view *view, Dwarf_CFI *cfi)
{
	struct bobbin_error err = {0};
	struct bobbin_cfi_fde fde;
	uint64_t offset = 0, fdes = 0;
	int r;

	c->view = view;
	c->cfi = cfi;
	c->made = NULL;
	if (!cfi) {
		differ(c, 0, "whether there is a section");
		return;
	}
	if (c->options->version)
		c->made = convert(c, view);
	else if (c->options->table)
		c->made = compile(c, view);
	for (; (r = bobbin_cfi_next(view, &offset, &err, &fde)) != 0; fdes++) {
		if (r > 0) {
			compare_function(c, &fde);
			continue;
		}
		note_refusal(c, &err);
	}
	if (fdes != count_fdes(file, view))
		differ(c, fdes, "the number of FDEs");
	c->tally.fdes += fdes;
	free(c->made);
}

static void print_tally(const char *path, const struct tally *t)
{
	printf("%s: fdes=%" PRIu64 " refused=%" PRIu64 " rows=%" PRIu64 " norule=%" PRIu64
	       " unjudged=%" PRIu64 " different=%" PRIu64 " lost=%" PRIu64,
	       path, t->fdes, t->refused, t->rows, t->no_rule, t->unjudged, t->different, t->lost);
	for (unsigned int i = 0; i < 256; i++)
		if (t->reasons[i])
			printf(" %s=%" PRIu64, bobbin_reason_name((enum bobbin_reason)i),
			       t->reasons[i]);
	printf("\n");
}

static bool passes(const struct tally *t)
{
	return !t->different && t->refused <= 4 + t->fdes / 1000 &&
	       t->no_rule <= 4 + t->rows / 1000 && t->lost <= 4 + t->rows / 1000;
}

/* Return: 1: it passes; 0: it does not; -1: no file that the reader is for. */
static int compare_file(const char *path, const struct options *options)
{
	struct oracle c = {.path = path, .options = options};
	struct cfi_file file;
	Dwarf_CFI *cfi;
	Dwarf *dwarf;

	if (cfi_file_init(&file, path))
		return -1;
	if (file.eh.frame) {
		cfi = dwarf_getcfi_elf(file.elf);
		compare_section(&c, &file, &file.eh, cfi);
		dwarf_cfi_end(cfi);
	}
	if (file.debug.frame) {
		dwarf = dwarf_begin_elf(file.elf, DWARF_C_READ, NULL);
		compare_section(&c, &file, &file.debug, dwarf ? dwarf_getcfi(dwarf) : NULL);
		dwarf_end(dwarf);
	}
	free(c.frame);
	print_tally(path, &c.tally);
	cfi_file_fini(&file);
	return passes(&c.tally);
}

int main(int argc, char **argv)
{
	struct options options = {0};
	int r, opt, failed = 0;

	while ((opt = getopt(argc, argv, "vs23tS")) != -1) {
		options.verbose |= opt == 'v';
		options.skip |= opt == 's';
		options.share |= opt == 'S';
		options.table |= opt == 't';
		if (opt == '2' || opt == '3')
			options.version = (unsigned int)(opt - '0');
	}
	for (int i = optind; i < argc; i++) {
		r = compare_file(argv[i], &options);
		if (r < 0 && !options.skip)
			fprintf(stderr, "%s: no linked 64-bit ELF file\n", argv[i]);
		failed += !r || (r < 0 && !options.skip);
	}
	return failed || optind == argc;
}
