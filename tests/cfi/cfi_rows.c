/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi-rows FILE - print what the reader makes of a file's call-frame
 * information, one row a line:
 *
 *	address	cfa	fp	ra
 *
 * in the words of `readelf --debug-dump=frames-interp`: "rsp+8", "c-16", "u"
 * (unchanged), "undefined", "exp" for what an expression gives.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cfi_file.h"

static const char *register_name(const struct bobbin_arch *arch, uint8_t reg)
{
	static const char *const amd64[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
					    "rbp", "rsp", "r8",  "r9",  "r10", "r11",
					    "r12", "r13", "r14", "r15", "rip"};
	static char name[8];

	if (arch == bobbin_arch_amd64() && reg < sizeof(amd64) / sizeof(amd64[0]))
		return amd64[reg];
	if (reg == 31)
		return "sp";
	snprintf(name, sizeof(name), arch == bobbin_arch_s390x() ? "r%u" : "x%u", reg);
	return name;
}

static void print_place(const struct bobbin_arch *arch, struct bobbin_place place)
{
	switch (place.how) {
	case BOBBIN_SAME:
		printf("\tu");
		break;
	case BOBBIN_UNDEFINED:
		printf("\tundefined");
		break;
	case BOBBIN_IN_CFA_MEM:
		printf("\tc%+" PRId32, place.off);
		break;
	case BOBBIN_AT_CFA:
		printf("\tv%+" PRId32, place.off);
		break;
	case BOBBIN_AT_REG:
		printf("\t%s", register_name(arch, place.reg));
		break;
	default:
		printf("\texp");
	}
}

static void print_row(const struct bobbin_arch *arch, const struct bobbin_row *row, uint8_t plt)
{
	const struct bobbin_rule *rule = &row->rule;

	printf("%016" PRIx64, row->start);
	if (rule->cfa.how == BOBBIN_NO_RULE) {
		printf("\t-\t-\t-\t%s\n", bobbin_reason_name((enum bobbin_reason)rule->reason));
		return;
	}
	if (rule->cfa.how == BOBBIN_AT_REG && !plt)
		printf("\t%s%+" PRId32, register_name(arch, rule->cfa.reg), rule->cfa.off);
	else
		printf("\texp");
	print_place(arch, rule->fp);
	print_place(arch, rule->ra);
	printf("%s%s\n", rule->flags & BOBBIN_RULE_SIGNAL ? "\tsignal" : "",
	       rule->flags & BOBBIN_RULE_MANGLED ? "\tmangled" : "");
}

static int print_function(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde)
{
	struct bobbin_cfi_rows rows;
	struct bobbin_row row;
	int r;

	r = bobbin_cfi_rows_init(view, fde, NULL, &rows);
	if (r)
		return r;
	while ((r = bobbin_cfi_rows_next(&rows, NULL, &row)) > 0)
		print_row(view->arch, &row, rows.plt);
	return r;
}

static int print_section(const struct bobbin_cfi_view *view)
{
	struct bobbin_error err = {0};
	struct bobbin_cfi_fde fde;
	uint64_t offset = 0;
	int r, bad = 0;

	while ((r = bobbin_cfi_next(view, &offset, &err, &fde)) != 0) {
		if (r > 0 && !print_function(view, &fde))
			continue;
		fprintf(stderr, "cfi-rows: 0x%" PRIx64 ": %s\n", r > 0 ? fde.offset : err.offset,
			r > 0 ? "bad program" : bobbin_reason_str(err.reason));
		bad++;
	}
	return bad;
}

int main(int argc, char **argv)
{
	struct cfi_file file;
	int bad = 0;

	if (argc != 2 || cfi_file_init(&file, argv[1])) {
		fprintf(stderr, "usage: cfi-rows ELF-FILE\n");
		return 2;
	}
	if (file.eh.frame)
		bad += print_section(&file.eh);
	if (file.debug.frame)
		bad += print_section(&file.debug);
	cfi_file_fini(&file);
	return bad ? 1 : 0;
}
