/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libsframe_rows FILE... - does libsframe read what bobbin reads?
 *
 * Each FILE holds the bytes of one section.  Both decode it; every function must
 * have the same place, and every row the same start and the same rule.  What
 * libsframe tells of a row is put together to a rule here.  Then libsframe must
 * find each row by the first and the last PC that it holds for, unless the section
 * is as binutils 2.44 wants it, in which it looks in the wrong place.
 *
 * Links libsframe, hence a test only and never installed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <bobbin/sframe.h>
#include <sframe-api.h>

struct section {
	const char *name;
	char *bytes;
	size_t size;
	struct bobbin_sframe_view view;
	sframe_decoder_ctx *peer;
	uint64_t rows, found;
};

static void die(const char *name, const char *why)
{
	fprintf(stderr, "libsframe_rows: %s: %s\n", name, why);
	exit(2);
}

static bool differs(const struct section *s, uint32_t function, uint32_t row, const char *what)
{
	printf("%s: function %" PRIu32 ", row %" PRIu32 ": %s\n", s->name, function, row, what);
	return false;
}

static void read_file(struct section *s)
{
	FILE *file = fopen(s->name, "rb");
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) <= 0)
		die(s->name, "cannot be read");
	s->size = (size_t)size;
	s->bytes = malloc(s->size);
	rewind(file);
	if (!s->bytes || fread(s->bytes, 1, s->size, file) != s->size)
		die(s->name, "cannot be read");
	fclose(file);
}

/* A function according to libsframe. */
struct peer_function {
	uint64_t start;
	uint32_t size, rows;
	uint8_t info, info2, rep_size;
};

static bool peer_function(const struct section *s, uint32_t i, struct peer_function *ret)
{
	int64_t start;
	int32_t start32;
	int error = 0, r;

	if (s->view.version >= 3) {
		r = sframe_decoder_get_funcdesc_v3(s->peer, i, &ret->rows, &ret->size, &start,
						   &ret->info, &ret->info2, &ret->rep_size);
	} else {
		r = sframe_decoder_get_funcdesc_v2(s->peer, i, &ret->rows, &ret->size, &start32,
						   &ret->info, &ret->rep_size);
		start = start32;
		ret->info2 = 0;
	}
	ret->start = (uint64_t)start;
	if (s->view.flags & BOBBIN_SFRAME_PCREL)
		ret->start += sframe_decoder_get_offsetof_fde_start_addr(s->peer, i, &error);
	return !r && !error;
}

static bool same_function(const struct bobbin_sframe_fde *fde, const struct peer_function *peer)
{
	return fde->start == peer->start && fde->size == peer->size &&
	       fde->num_fres == peer->rows && fde->info == peer->info &&
	       fde->info2 == peer->info2 && (!fde->pcmask || fde->rep_size == peer->rep_size);
}

/* Word @i of a row, as a number with a sign; libsframe gives the bits. */
static int32_t signed_word(const sframe_frame_row_entry *fre, int i, int *error)
{
	uint32_t word = sframe_get_fre_udata(fre, i, error);

	switch (SFRAME_V3_FRE_DATAWORD_SIZE(fre->fre_info)) {
	case SFRAME_FRE_DATAWORD_1B:
		return (int8_t)word;
	case SFRAME_FRE_DATAWORD_2B:
		return (int16_t)word;
	default:
		return (int32_t)word;
	}
}

/* A control word and an offset, or a single 0; the number of words. */
static int flexible_place(const sframe_frame_row_entry *fre, int at, struct bobbin_place *ret,
			  int *error)
{
	uint32_t control;

	if (at >= SFRAME_V3_FRE_DATAWORD_COUNT(fre->fre_info))
		return 0;
	control = sframe_get_fre_udata(fre, at, error);
	if (!control)
		return 1;
	*ret = (struct bobbin_place){.off = signed_word(fre, at + 1, error)};
	if (SFRAME_V3_FLEX_FDE_CTRLWORD_REG_P(control)) {
		ret->reg = (uint8_t)SFRAME_V3_FLEX_FDE_CTRLWORD_REGNUM(control);
		ret->how = SFRAME_V3_FLEX_FDE_CTRLWORD_DEREF_P(control) ? BOBBIN_HOW_IN_REG_MEM
									: BOBBIN_HOW_AT_REG;
	} else {
		ret->how = SFRAME_V3_FLEX_FDE_CTRLWORD_DEREF_P(control) ? BOBBIN_HOW_IN_CFA_MEM
									: BOBBIN_HOW_AT_CFA;
	}
	return 2;
}

static bool flexible_rule(const struct section *s, const sframe_frame_row_entry *fre,
			  struct bobbin_rule *rule)
{
	int error = 0, at;

	at = flexible_place(fre, 0, &rule->cfa, &error);
	at += flexible_place(fre, at, &rule->ra, &error);
	if (rule->ra.how == BOBBIN_HOW_AT_REG && rule->ra.reg == s->view.arch->pc)
		rule->ra = (struct bobbin_place){.how = BOBBIN_HOW_AT_PC, .off = rule->ra.off};
	flexible_place(fre, at, &rule->fp, &error);
	if (!s->view.arch->default_ra_off && s->view.arch->cfa_bias)
		rule->cfa.off = 8 * rule->cfa.off + s->view.arch->cfa_bias;
	return !error;
}

/* A register's place: on s390x before V3 odd numbers are registers. */
static struct bobbin_place offset_place(const struct section *s, int32_t off)
{
	if (s->view.arch->cfa_bias && s->view.version < 3 && off & 1)
		return (struct bobbin_place){.how = BOBBIN_HOW_AT_REG, .reg = (uint8_t)(off >> 1)};
	return (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM, .off = off};
}

static bool default_rule(const struct section *s, const sframe_frame_row_entry *fre,
			 struct bobbin_rule *rule)
{
	const struct bobbin_arch *arch = s->view.arch;
	int error = 0, ra_error = 0, fp_error = 0;
	int32_t ra = sframe_fre_get_ra_offset(s->peer, fre, SFRAME_FDE_TYPE_DEFAULT, &ra_error);
	int32_t fp = sframe_fre_get_fp_offset(s->peer, fre, SFRAME_FDE_TYPE_DEFAULT, &fp_error);

	rule->cfa.how = BOBBIN_HOW_AT_REG;
	rule->cfa.reg = sframe_fre_get_base_reg_id(fre, &error) ? arch->sp : arch->fp;
	rule->cfa.off = sframe_fre_get_cfa_offset(s->peer, fre, SFRAME_FDE_TYPE_DEFAULT, &error);
	if (!ra_error && !(arch->cfa_bias && !ra))
		rule->ra = offset_place(s, ra);
	if (!fp_error)
		rule->fp = offset_place(s, fp);
	return !error;
}

static bool peer_rule(const struct section *s, const struct peer_function *f,
		      const sframe_frame_row_entry *fre, struct bobbin_rule *ret)
{
	int error = 0;
	bool good;

	*ret = (struct bobbin_rule){.ra = {.how = BOBBIN_HOW_SAME},
				    .fp = {.how = BOBBIN_HOW_SAME},
				    .index = BOBBIN_NO_INDEX};
	if (s->view.arch->default_ra_off)
		ret->ra = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM,
						.off = s->view.arch->default_ra_off};
	good = f->info2 & SFRAME_FDE_TYPE_FLEX ? flexible_rule(s, fre, ret)
					       : default_rule(s, fre, ret);
	if (s->view.arch->pac_mask && sframe_fre_get_ra_mangled_p(s->peer, fre, &error))
		ret->flags |= BOBBIN_RULE_MANGLED |
			      (SFRAME_V2_FUNC_PAUTH_KEY(f->info) ? BOBBIN_RULE_KEY_B : 0);
	if (s->view.version >= 3 && SFRAME_V3_FDE_SIGNAL_P(f->info))
		ret->flags |= BOBBIN_RULE_SIGNAL;
	return good && !error;
}

static bool same_row(struct section *s, const struct bobbin_sframe_fde *fde, uint32_t function,
		     uint32_t i, const struct bobbin_sframe_fre *fre)
{
	struct peer_function f;
	sframe_frame_row_entry peer;
	struct bobbin_rule rule, theirs;
	bool outermost;
	int error = 0;

	s->rows++;
	if (!peer_function(s, function, &f) || sframe_decoder_get_fre(s->peer, function, i, &peer))
		return differs(s, function, i, "libsframe has no such row");
	if (peer.fre_start_addr != fre->start)
		return differs(s, function, i, "it starts elsewhere");
	if (bobbin_sframe_rule(&s->view, fde, fre, NULL, &rule))
		return differs(s, function, i, "bobbin has no rule");
	outermost = sframe_fre_get_ra_undefined_p(s->peer, &peer, &error);
	if (outermost != (rule.ra.how == BOBBIN_HOW_UNDEFINED))
		return differs(s, function, i, "whether it is an outermost frame");
	if (!outermost && (!peer_rule(s, &f, &peer, &theirs) || !bobbin_rule_equal(&rule, &theirs)))
		return differs(s, function, i, "the rule");
	return true;
}

static bool finds(struct section *s, uint64_t pc, uint32_t start)
{
	sframe_frame_row_entry fre;

	s->found++;
	return !sframe_find_fre(s->peer, (int64_t)pc, &fre) && fre.fre_start_addr == start;
}

/* A row that ends where it starts is never found; nor is one of an empty function. */
static bool finds_row(struct section *s, const struct bobbin_sframe_fde *fde, uint32_t start,
		      uint32_t end)
{
	uint32_t limit = fde->pcmask ? fde->rep_size : fde->size;

	/* it searches older sections as if starts were relative to their fields */
	if (!(s->view.flags & BOBBIN_SFRAME_PCREL))
		return true;
	if (end > limit)
		end = limit;
	if (start >= end)
		return true;
	return finds(s, fde->start + start, start) && finds(s, fde->start + end - 1, start);
}

static bool same_rows(struct section *s, const struct bobbin_sframe_fde *fde, uint32_t function)
{
	struct bobbin_sframe_fre fre, next;
	uint64_t at = fde->fre_off;

	for (uint32_t i = 0; i < fde->num_fres; i++, at = fre.next) {
		next.start = UINT32_MAX;
		if (bobbin_sframe_fre(&s->view, fde, at, NULL, &fre) ||
		    (i + 1 < fde->num_fres &&
		     bobbin_sframe_fre(&s->view, fde, fre.next, NULL, &next)))
			return differs(s, function, i, "bobbin cannot read it");
		if (!same_row(s, fde, function, i, &fre))
			return false;
		if (!finds_row(s, fde, fre.start, next.start))
			return differs(s, function, i, "libsframe does not find it");
	}
	return true;
}

static bool same_section(struct section *s)
{
	struct bobbin_sframe_fde fde;
	struct peer_function peer;

	if (sframe_decoder_get_num_fidx(s->peer) != s->view.num_fdes)
		return differs(s, 0, 0, "the number of functions");
	for (uint32_t i = 0; i < s->view.num_fdes; i++) {
		if (bobbin_sframe_fde(&s->view, i, NULL, &fde) || !peer_function(s, i, &peer) ||
		    !same_function(&fde, &peer))
			return differs(s, i, 0, "the function");
		if (!same_rows(s, &fde, i))
			return false;
	}
	return true;
}

static bool compare(const char *name)
{
	struct section s = {.name = name};
	int error;
	bool same;

	read_file(&s);
	if (bobbin_sframe_view(s.bytes, s.size, 0, NULL, &s.view))
		die(name, "is no section");
	s.peer = sframe_decode(s.bytes, s.size, &error);
	same = s.peer ? same_section(&s) : differs(&s, 0, 0, sframe_errmsg(error));
	if (same)
		printf("%s: %" PRIu32 " functions, %" PRIu64 " rows, found by %" PRIu64 " PCs\n",
		       name, s.view.num_fdes, s.rows, s.found);
	sframe_decoder_free(&s.peer);
	free(s.bytes);
	return same && s.rows;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 2)
		die("usage", "libsframe_rows FILE...");
	for (int i = 1; i < argc; i++)
		failed += !compare(argv[i]);
	return failed ? 1 : 0;
}
