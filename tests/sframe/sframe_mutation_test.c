/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * No change of a section goes unnoticed.
 *
 * Each byte of sections that the builder made gets each other value.  Either the
 * section is refused, or validation warns, or the byte is one of those that make
 * another table which is as good as the first:
 *
 *	functions	start; size; PCINC or PCMASK if there is a size of blocks;
 *			that size; signal frame (V3); key (AArch64); types of FRE and
 *			FDE if there is no row
 *	rows		start; SP or FP as base of the CFA; signed return address
 *			(AArch64); data words; registers and dereference bits of
 *			control words; number and width of words together, if the
 *			rows still fill their bytes
 *
 * All other bits (magic, flags, ABI, counts, offsets, types, sizes, reserved
 * bits) are not free.  What was no error must be readable everywhere.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <bobbin/sframe_builder.h>
#include <bobbin/sframe_validate.h>
#include <cmocka.h>

#include "sframe_bytes.h"

#define ADDR 0x400000
#define TEXT 0x1000
#define MAX_FUNCTIONS 8
#define MAX_SIZE 1024

/* number and width of words in the info byte of a row */
#define WORDS 0x7e

struct sample {
	uint8_t bytes[MAX_SIZE];
	size_t size;
	uint64_t text_end;
	const struct bobbin_arch *arch;
	uint8_t free_bits[MAX_SIZE]; /* any value of these is a good table */
	bool control[MAX_SIZE];      /* low byte of a control word */
	bool row_info[MAX_SIZE];     /* says how many words there are, and how wide */
};

static struct bobbin_place in_slot(int32_t off)
{
	return (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM, .off = off};
}

/* The frame of a function that saved nothing yet, @pushed bytes ago. */
static struct bobbin_rule leaf(const struct bobbin_arch *arch, int32_t pushed)
{
	struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_HOW_AT_REG,
			.reg = arch->sp,
			.off = arch->cfa_bias - arch->default_ra_off + pushed},
		.ra = {.how = BOBBIN_HOW_SAME},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};

	if (arch->default_ra_off)
		rule.ra = in_slot(arch->default_ra_off);
	return rule;
}

static struct bobbin_rule framed(const struct bobbin_arch *arch, uint8_t reg, int32_t pushed)
{
	struct bobbin_rule rule = leaf(arch, pushed);

	rule.cfa.reg = reg;
	rule.fp = in_slot(-16);
	rule.ra = in_slot(-8);
	if (arch->pac_mask)
		rule.flags = BOBBIN_RULE_MANGLED;
	return rule;
}

static struct bobbin_rule outermost(const struct bobbin_arch *arch)
{
	struct bobbin_rule rule = leaf(arch, 0);

	rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_UNDEFINED};
	return rule;
}

static struct bobbin_rule flexible(const struct bobbin_arch *arch)
{
	struct bobbin_rule rule = leaf(arch, 16);

	rule.cfa = (struct bobbin_place){.how = BOBBIN_HOW_IN_REG_MEM, .reg = arch->fp, .off = -8};
	rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_AT_REG, .reg = 2};
	rule.fp = (struct bobbin_place){.how = BOBBIN_HOW_IN_REG_MEM, .reg = arch->fp};
	return rule;
}

static void add(struct bobbin_sframe_builder *b, uint64_t *at,
		const struct bobbin_sframe_function *function)
{
	struct bobbin_sframe_function f = *function;

	f.start = *at;
	assert_int_equal(bobbin_sframe_builder_add(b, &f), 0);
	*at += f.size;
}

#define ROWS_OF(...) \
	.rows = (const struct bobbin_sframe_row[]){__VA_ARGS__}, \
	.count = sizeof((const struct bobbin_sframe_row[]){__VA_ARGS__}) / \
		 sizeof(struct bobbin_sframe_row)

static void add_functions(struct bobbin_sframe_builder *b, const struct bobbin_arch *arch,
			  uint64_t *at)
{
	const struct bobbin_rule plain = leaf(arch, 0), pushed = leaf(arch, 16);
	const struct bobbin_rule saved = framed(arch, arch->sp, 32);
	const struct bobbin_rule on_fp = framed(arch, arch->fp, 32);
	const struct bobbin_rule large = framed(arch, arch->sp, 4096);
	const struct bobbin_rule huge = framed(arch, arch->sp, 1 << 20);

	add(b, at,
	    &(struct bobbin_sframe_function){
		    .size = 9, ROWS_OF({0, plain}, {1, saved}, {4, on_fp}, {8, plain})});
	*at += 7;
	add(b, at,
	    &(struct bobbin_sframe_function){
		    .size = 48, .rep_size = 16, ROWS_OF({0, plain}, {11, pushed})});
	add(b, at,
	    &(struct bobbin_sframe_function){.size = 20,
					     ROWS_OF({0, plain}, {7, outermost(arch)})});
	add(b, at,
	    &(struct bobbin_sframe_function){.size = 700,
					     ROWS_OF({0, plain}, {300, large}, {600, huge})});
}

/* What only V3 has. */
static void add_new_functions(struct bobbin_sframe_builder *b, const struct bobbin_arch *arch,
			      uint64_t *at)
{
	struct bobbin_rule signal = leaf(arch, 256), based = flexible(arch);

	signal.flags |= BOBBIN_RULE_SIGNAL;
	add(b, at,
	    &(struct bobbin_sframe_function){.size = 8, .signal = true, ROWS_OF({0, signal})});
	add(b, at,
	    &(struct bobbin_sframe_function){.size = 30, ROWS_OF({0, leaf(arch, 0)}, {5, based})});
	add(b, at, &(struct bobbin_sframe_function){.size = 5});
}

static struct sample made_by_builder(const struct bobbin_arch *arch, unsigned int version)
{
	struct bobbin_sframe_built fdes[MAX_FUNCTIONS];
	struct bobbin_sframe_builder b;
	struct sample s = {.text_end = TEXT};
	uint8_t fres[MAX_SIZE];

	assert_int_equal(bobbin_sframe_builder_init(arch, ADDR, version, &b), 0);
	b.fdes = fdes;
	b.fde_max = MAX_FUNCTIONS;
	b.fres = fres;
	b.fre_max = MAX_SIZE;
	add_functions(&b, arch, &s.text_end);
	if (version >= 3)
		add_new_functions(&b, arch, &s.text_end);
	s.size = bobbin_sframe_builder_size(&b);
	assert_true(s.size <= MAX_SIZE);
	assert_int_equal(bobbin_sframe_builder_finish(&b, s.bytes, s.size), 0);
	return s;
}

/* V1, which is only read. */
static struct sample made_by_hand(uint8_t abi)
{
	struct section_spec spec = {
		.version = 1,
		.flags = SORTED,
		.abi = abi,
		.fixed_ra = abi == AMD64 ? -8 : 0,
		.addr = ADDR,
		.num_funcs = 2,
		.funcs = {{.start = TEXT, .size = 9, .num_fres = 2, ROWS(0, 3, 16, 1, 2, 32)},
			  {.start = TEXT + 9,
			   .size = 32,
			   .info = PCMASK,
			   .num_fres = 2,
			   ROWS(0, 3, abi == AMD64 ? 8 : 16, 11, 3, 32)}},
	};
	struct built built = build(&spec);
	struct sample s = {.size = built.size, .text_end = TEXT + 41};

	memcpy(s.bytes, built.data, built.size);
	free(built.data);
	return s;
}

static int open_sample(const struct sample *s, struct bobbin_sframe_view *ret)
{
	return bobbin_sframe_view(s->bytes, s->size, ADDR, NULL, ret);
}

static int validate(const struct sample *s, const struct bobbin_sframe_view *view)
{
	const struct bobbin_range text = {TEXT, s->text_end};
	struct bobbin_sframe_order order[MAX_FUNCTIONS];
	const struct bobbin_sframe_bounds bounds = {
		.available = s->size,
		.arch = s->arch,
		.text = &text,
		.text_count = 1,
		.order = order,
		.order_max = MAX_FUNCTIONS,
	};

	return bobbin_sframe_validate(view, &bounds, NULL, NULL);
}

static void set_free(struct sample *s, uint64_t at, size_t size, uint8_t bits)
{
	for (size_t i = 0; i < size; i++)
		s->free_bits[at + i] |= bits;
}

static void free_words(struct sample *s, const struct bobbin_sframe_view *view,
		       const struct bobbin_sframe_fde *fde, const struct bobbin_sframe_fre *fre)
{
	uint64_t words = fre->offset + fde->fre_type + 1;
	unsigned int size = fre->word_size, fp = fre->words[2] ? 4 : 3;

	set_free(s, words, (size_t)fre->num_words * size, 0xff);
	for (unsigned int i = 0; fde->flex && i < fre->num_words; i++) {
		uint64_t low = words + i * size + (view->arch->big_endian ? size - 1 : 0);

		if (i != 0 && i != 2 && i != fp)
			continue;
		set_free(s, words + i * size, size, 0);
		memset(s->free_bits + words + i * size, 0, size);
		s->control[low] = fre->words[i];
	}
}

static void free_row(struct sample *s, const struct bobbin_sframe_view *view,
		     const struct bobbin_sframe_fde *fde, const struct bobbin_sframe_fre *fre)
{
	uint64_t info = fre->offset + fde->fre_type;

	set_free(s, fre->offset, fde->fre_type, 0xff);
	if (!fre->num_words)
		return;
	s->row_info[info] = true;
	if (!fde->flex)
		set_free(s, info, 1, 0x01);
	if (view->arch->pac_mask)
		set_free(s, info, 1, 0x80);
	free_words(s, view, fde, fre);
}

static void free_function(struct sample *s, const struct bobbin_sframe_view *view, uint32_t index)
{
	uint64_t entry = view->fde_off + (uint64_t)index * view->fde_size, info, at;
	struct bobbin_sframe_fde fde;
	struct bobbin_sframe_fre fre;

	assert_int_equal(bobbin_sframe_fde(view, index, NULL, &fde), 0);
	set_free(s, entry, view->version == 3 ? 12 : 8, 0xff);
	info = view->version == 3 ? fde.fre_off - 3 : entry + 16;
	if (view->version == 3)
		set_free(s, info, 1, SIGNAL);
	if (view->arch->pac_mask)
		set_free(s, info, 1, KEY_B);
	if (!fde.num_fres) {
		set_free(s, info, 1, ADDR1 | ADDR2 | ADDR4);
		set_free(s, info + 1, 1, FLEX);
	}
	if (fde.pcmask || view->version == 1)
		set_free(s, info, 1, PCMASK);
	if (fde.pcmask && view->version > 1)
		set_free(s, view->version == 3 ? info + 2 : info + 1, 1, 0xff);
	at = fde.fre_off;
	for (uint32_t i = 0; i < fde.num_fres; i++, at = fre.next) {
		assert_int_equal(bobbin_sframe_fre(view, &fde, at, NULL, &fre), 0);
		free_row(s, view, &fde, &fre);
	}
}

static bool control_is_good(uint8_t control)
{
	return !(control & 4) && (control & 1 || control == 2);
}

/*
 * Another number of words of another width may take as many bytes, or the rows
 * after it happen to end where they did.  One flipped bit never does that.
 */
static bool info_is_good(uint8_t changed, uint8_t free_bits)
{
	bool resized = changed & WORDS, one_bit = !(changed & (changed - 1));

	return !(changed & ~(free_bits | WORDS)) && !(resized && one_bit);
}

/* Whether another value makes a table that is as good. */
static bool is_free(const struct sample *s, size_t at, uint8_t value)
{
	if (s->control[at])
		return control_is_good(value);
	if (s->row_info[at])
		return info_is_good(s->bytes[at] ^ value, s->free_bits[at]);
	return !((s->bytes[at] ^ value) & ~s->free_bits[at]);
}

static void assert_readable(const struct sample *s, const struct bobbin_sframe_view *view)
{
	struct bobbin_row row;

	for (uint64_t pc = TEXT - 1; pc <= s->text_end; pc++)
		assert_int_not_equal(bobbin_sframe_lookup(view, pc, NULL, &row), -EBADMSG);
}

static bool same_lookup(const struct bobbin_sframe_view *a, const struct bobbin_sframe_view *b,
			uint64_t pc)
{
	struct bobbin_row first, second;
	int status = bobbin_sframe_lookup(a, pc, NULL, &first);

	if (status != bobbin_sframe_lookup(b, pc, NULL, &second))
		return false;
	return status ||
	       (first.start == second.start && first.end == second.end &&
		first.function == second.function && bobbin_rule_equal(&first.rule, &second.rule));
}

static bool same_lookups(const struct sample *s, const struct bobbin_sframe_view *view,
			 const struct bobbin_sframe_view *mutant)
{
	for (uint64_t pc = TEXT - 1; pc <= s->text_end; pc++)
		if (!same_lookup(view, mutant, pc))
			return false;
	return true;
}

/* Return: whether nothing speaks against the changed section. */
static bool try_value(const struct sample *s, const struct bobbin_sframe_view *view,
		      struct sample *mutant, size_t at, uint8_t value)
{
	bool one_bit = !((s->bytes[at] ^ value) & ((s->bytes[at] ^ value) - 1));
	struct bobbin_sframe_view v;
	int worst;

	mutant->bytes[at] = value;
	if (open_sample(mutant, &v))
		return false;
	worst = validate(mutant, &v);
	if (worst < BOBBIN_SFRAME_ERROR && one_bit)
		assert_readable(mutant, &v);
	if (worst >= BOBBIN_SFRAME_WARNING)
		return false;
	if (is_free(s, at, value))
		return true;
	if (worst == BOBBIN_SFRAME_CLEAN || !same_lookups(s, view, &v))
		fail_msg("version %d, %s: byte %#zx from %#x to %#x: %s", view->version,
			 view->arch->name, at, s->bytes[at], value,
			 worst ? "changes rules" : "goes unnoticed");
	return true;
}

static void mutate(struct sample *s)
{
	struct sample mutant;
	struct bobbin_sframe_view view;
	unsigned int unopposed = 0;

	assert_int_equal(open_sample(s, &view), 0);
	s->arch = view.arch;
	assert_int_equal(validate(s, &view), BOBBIN_SFRAME_CLEAN);
	for (uint32_t i = 0; i < view.num_fdes; i++)
		free_function(s, &view, i);
	mutant = *s;
	for (size_t at = 0; at < s->size; at++) {
		for (unsigned int value = 0; value < 256; value++)
			if (value != s->bytes[at])
				unopposed += try_value(s, &view, &mutant, at, (uint8_t)value);
		mutant.bytes[at] = s->bytes[at];
	}
	print_message("version %d, %s: %u of %zu changes are tables as good\n", view.version,
		      view.arch->name, unopposed, 255 * s->size);
}

static void no_change_of_a_built_section_goes_unnoticed(void **state)
{
	const struct bobbin_arch *archs[] = {bobbin_arch_amd64(), bobbin_arch_aarch64(),
					     bobbin_arch_aarch64_be(), bobbin_arch_s390x()};

	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int version = 2; version <= 3; version++) {
			struct sample s = made_by_builder(archs[i], version);

			mutate(&s);
		}
}

static void no_change_of_an_old_section_goes_unnoticed(void **state)
{
	for (uint8_t abi = AARCH64_BE; abi <= AMD64; abi++) {
		struct sample s = made_by_hand(abi);

		mutate(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_change_of_a_built_section_goes_unnoticed),
		cmocka_unit_test(no_change_of_an_old_section_goes_unnoticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
