/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_rows FILE - print the rows of a linked ELF file's .sframe section.
 *
 * The text is what "objdump --sframe" prints below "Function Index", so that a
 * script can compare the two; the script normalises what objdump spells in
 * several ways.  On the way each PC of each function is looked up and compared
 * with the row that was printed for it.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>
#include <libelf.h>

#include <bobbin/sframe.h>

static const char *register_name(const struct bobbin_sframe_view *view, uint8_t reg)
{
	static char name[8];

	if (reg == view->arch->sp)
		return "sp";
	if (reg == view->arch->fp)
		return "fp";
	snprintf(name, sizeof(name), "r%u", reg);
	return name;
}

static void print_place(const struct bobbin_sframe_view *view, const struct bobbin_place *place,
			int8_t fixed)
{
	switch (place->how) {
	case BOBBIN_SAME:
		printf(" -");
		break;
	case BOBBIN_IN_CFA_MEM:
		if (fixed && place->off == fixed) {
			printf(" -");
			break;
		}
		/* fall through */
	case BOBBIN_AT_CFA:
		printf(" c%+d", place->off);
		break;
	case BOBBIN_AT_REG:
		printf(" %s%+d", register_name(view, place->reg), place->off);
		break;
	case BOBBIN_IN_REG_MEM:
		printf(" (%s%+d)", register_name(view, place->reg), place->off);
		break;
	default:
		errx(1, "place of kind %u", place->how);
	}
}

static void print_rule(const struct bobbin_sframe_view *view, uint64_t start,
		       const struct bobbin_rule *rule)
{
	printf("%016" PRIx64, start);
	if (rule->ra.how == BOBBIN_UNDEFINED) {
		puts(" RA undefined");
		return;
	}
	print_place(view, &rule->cfa, 0);
	print_place(view, &rule->fp, view->fixed_fp);
	print_place(view, &rule->ra, view->fixed_ra);
	puts(rule->flags & BOBBIN_RULE_MANGLED ? "[s]" : "");
}

static bool same_place(const struct bobbin_place *a, const struct bobbin_place *b)
{
	return a->how == b->how && a->reg == b->reg && a->off == b->off;
}

/* Each PC of [start, end) must be found in this row. */
static void look_up(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		    uint64_t start, uint64_t end, const struct bobbin_rule *rule)
{
	for (uint64_t pc = start; pc < end; pc++) {
		struct bobbin_row row;

		if (bobbin_sframe_lookup(view, pc, NULL, &row))
			errx(1, "%#" PRIx64 ": lookup failed", pc);
		if (row.function != fde->start || row.start != start || row.end != end ||
		    !same_place(&row.rule.cfa, &rule->cfa) ||
		    !same_place(&row.rule.ra, &rule->ra) || !same_place(&row.rule.fp, &rule->fp) ||
		    row.rule.flags != rule->flags)
			errx(1, "%#" PRIx64 ": lookup found another row", pc);
	}
}

/* The row holds in each repeated block, or once. */
static void look_up_everywhere(const struct bobbin_sframe_view *view,
			       const struct bobbin_sframe_fde *fde, uint32_t start, uint32_t end,
			       const struct bobbin_rule *rule)
{
	uint64_t function_end = fde->start + fde->size;

	if (!fde->pcmask) {
		look_up(view, fde, fde->start + start, fde->start + end, rule);
		return;
	}
	for (uint64_t block = fde->start; block + start < function_end; block += fde->rep_size)
		look_up(view, fde, block + start,
			block + end < function_end ? block + end : function_end, rule);
}

static void read_row(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		     uint64_t offset, struct bobbin_sframe_fre *fre, struct bobbin_rule *rule)
{
	struct bobbin_error error;

	if (bobbin_sframe_fre(view, fde, offset, &error, fre) ||
	    bobbin_sframe_rule(view, fde, fre, &error, rule))
		errx(1, "row at %#" PRIx64 ": reason %d", error.offset, error.reason);
}

static void print_rows(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde)
{
	uint64_t offset = fde->fre_off, base = fde->pcmask ? 0 : fde->start;

	for (uint32_t i = 0; i < fde->num_fres; i++) {
		uint32_t end = fde->pcmask ? fde->rep_size : fde->size;
		struct bobbin_sframe_fre fre, next;
		struct bobbin_rule rule, unused;

		read_row(view, fde, offset, &fre, &rule);
		print_rule(view, base + fre.start, &rule);
		if (i + 1 < fde->num_fres) {
			read_row(view, fde, fre.next, &next, &unused);
			end = next.start;
		}
		look_up_everywhere(view, fde, fre.start, end, &rule);
		offset = fre.next;
	}
}

static void print_section(const struct bobbin_sframe_view *view)
{
	for (uint32_t i = 0; i < view->num_fdes; i++) {
		struct bobbin_sframe_fde fde;
		struct bobbin_error error;

		if (bobbin_sframe_fde(view, i, &error, &fde))
			errx(1, "function %" PRIu32 ": reason %d", i, error.reason);
		printf("func idx [%" PRIu32 "]: pc = 0x%" PRIx64 ", size = %" PRIu32 " bytes", i,
		       fde.start, fde.size);
		if (fde.signal || fde.flex)
			printf(", attr = \"%s%s\"", fde.signal ? "S" : "", fde.flex ? "F" : "");
		if (fde.key_b)
			printf(", pauth = B key");
		printf("\nSTARTPC%s CFA FP RA\n", fde.pcmask ? "[m]" : "");
		print_rows(view, &fde);
	}
}

static void read_section(Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	struct bobbin_sframe_view view;
	struct bobbin_error error;
	int status;

	if (!data)
		errx(1, "%s", elf_errmsg(-1));
	status = bobbin_sframe_view(data->d_buf, data->d_size, header->sh_addr, &error, &view);
	if (status)
		errx(1, "section: status %d, reason %d", status, error.reason);
	print_section(&view);
}

int main(int argc, char **argv)
{
	Elf_Scn *scn = NULL;
	size_t names;
	Elf *elf;
	int fd;

	if (argc != 2)
		errx(2, "usage: sframe_rows FILE");
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", argv[1]);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_getshdrstrndx(elf, &names))
		errx(1, "%s: %s", argv[1], elf_errmsg(-1));
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(scn, &header))
			errx(1, "%s: %s", argv[1], elf_errmsg(-1));
		name = elf_strptr(elf, names, header.sh_name);
		if (name && strcmp(name, ".sframe") == 0) {
			read_section(scn, &header);
			elf_end(elf);
			close(fd);
			return 0;
		}
	}
	errx(1, "%s: no .sframe section", argv[1]);
}
