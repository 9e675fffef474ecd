/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frame function in a world of one rule: the fast case gives the same as the general one,
 * or nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/unwind_frame.h"
#include "unwind/unkept_code.h"
#include "unwind/unsurveyed_code.h"

#define WORDS 64
#define BASE 0x7000
#define ROOT 0x5000

struct world {
	struct frame_walk frames;
	uint64_t words[WORDS];
	uint64_t packed;
	enum bobbin_reason without; /* there is no rule, and why */
	bool is_code;
};

static inline enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	const struct world *w = world;

	if (addr < BASE || addr - BASE > sizeof(w->words) - sizeof(*ret))
		return BOBBIN_REASON_NO_MEMORY;
	memcpy(ret, (const uint8_t *)w->words + (addr - BASE), sizeof(*ret));
	return BOBBIN_REASON_NONE;
}

static inline uint64_t world_shift(const struct frame_walk *frames)
{
	return (uintptr_t)((const struct world *)frames)->words - BASE;
}

static inline void world_load(const struct frame_walk *frames, uint64_t at, uint64_t *ret)
{
	memcpy(ret, (const void *)(uintptr_t)at, sizeof(*ret));
}

static uint64_t world_packed(struct frame_walk *frames, uint64_t pc, uint8_t *source)
{
	*source = BOBBIN_SOURCE_SFRAME;
	return ((struct world *)frames)->packed;
}

static enum bobbin_source world_rule(struct frame_walk *frames, uint64_t pc,
				     struct bobbin_rule *ret)
{
	const struct world *w = (struct world *)frames;

	if (w->without) {
		*ret = bobbin_rule_none(w->without);
		return BOBBIN_SOURCE_NONE;
	}
	bobbin_rule_unpack(w->packed, ret);
	return BOBBIN_SOURCE_SFRAME;
}

static enum bobbin_reason world_table_step(struct frame_walk *frames, uint64_t pc,
					   struct table_step *step)
{
	return BOBBIN_REASON_NO_TABLE;
}

static bool world_is_code(struct frame_walk *frames, uint64_t addr)
{
	return ((struct world *)frames)->is_code;
}

static bool world_is_entry(struct frame_walk *frames, uint64_t addr)
{
	return false;
}

static bool world_is_root(struct frame_walk *frames, uint64_t addr)
{
	const struct code_reader code = {world_code, frames};

	return known_code_root(frames->arch, &code, addr);
}

static bool world_is_made(struct frame_walk *frames, uint64_t addr)
{
	return false;
}

static bool world_slot(struct frame_walk *frames, uint64_t addr, uint64_t *ret)
{
	return false;
}

static bool world_code(void *world, uint64_t addr, void *dst, size_t size)
{
	/* glibc's clone(): mov %rax, %rdi; mov $__NR_exit, %eax; syscall */
	static const uint8_t root[16] = {0x48, 0x89, 0xc7, 0xb8, 0x3c,
					 0x00, 0x00, 0x00, 0x0f, 0x05};

	if (addr != ROOT || size > sizeof(root))
		return false;
	memcpy(dst, root, size);
	return true;
}

/* false for foreign byte orders, which have no plain steps */
static bool forms_of_amd64(struct plain_forms *forms)
{
	plain_forms_of(bobbin_arch_amd64(), forms);
	if (!BOBBIN_HOST_BIG_ENDIAN)
		return true;
	assert_int_equal(forms->from_sp | forms->from_fp | forms->record, 0);
	return false;
}

static int32_t random_off(void)
{
	return (int32_t)(rand() % 64 - 16) * 8;
}

static struct bobbin_rule random_rule(void)
{
	static const uint8_t bases[] = {7, 6, 7, 6, 10, 3};

	return (struct bobbin_rule){
		.cfa = {.how = rand() % 8 ? BOBBIN_HOW_AT_REG : BOBBIN_HOW_IN_REG_MEM,
			.reg = bases[rand() % 6],
			.off = random_off()},
		.ra = {.how = rand() % 8 ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_UNDEFINED,
		       .off = rand() % 8 ? -8 : -16},
		.fp = {.how = rand() % 2 ? BOBBIN_HOW_SAME : BOBBIN_HOW_IN_CFA_MEM, .off = 0},
		.index = BOBBIN_NO_INDEX,
		.flags = rand() % 16 ? 0 : BOBBIN_RULE_SIGNAL,
	};
}

/* false: not the fast case. */
static bool compare_ways(struct world *w, const struct bobbin_regs *regs)
{
	struct plain_frame f = {.pc = regs->pc, .sp = regs->sp, .fp = regs->fp}, caller;
	enum bobbin_reason reason;
	enum frame_case found;
	uint8_t source;

	f.exact = regs->exact;
	frame_walk_init(&w->frames, bobbin_arch_amd64(), &w->frames.forms, regs);
	if (rand() % 2)
		w->frames.near = (struct near_memory){BASE, sizeof(w->words)};
	found = frame_plain(&w->frames, &f, &caller);
	assert_int_equal(w->frames.regs.sp, regs->sp);
	if (found == FRAME_GENERAL)
		return false;
	reason = frame_general(&w->frames, &source);
	assert_int_equal(source, f.source);
	if (found == FRAME_OUTERMOST) {
		assert_int_equal(reason, BOBBIN_REASON_OUTERMOST);
		return true;
	}
	assert_int_equal(reason, BOBBIN_REASON_NONE);
	assert_int_equal(caller.pc, w->frames.regs.pc);
	assert_int_equal(caller.sp, w->frames.regs.sp);
	assert_int_equal(caller.fp, w->frames.regs.fp);
	assert_int_equal(caller.exact, w->frames.regs.exact);
	return true;
}

static void the_short_way_is_the_long_way(void **state)
{
	unsigned int plain = 0;
	struct world w = {.is_code = true};

	(void)state;
	if (!forms_of_amd64(&w.frames.forms))
		return;
	srand(1);
	for (unsigned int i = 0; i < WORDS; i++)
		w.words[i] = rand() % 16 ? BASE + (uint64_t)(rand() % WORDS) * 8 : 0;
	for (unsigned int i = 0; i < 200000; i++) {
		struct bobbin_regs regs = {.pc = 1, .sp = BASE + 8 * (uint64_t)(rand() % 32)};
		struct bobbin_rule rule = random_rule();

		if (rule.fp.how == BOBBIN_HOW_IN_CFA_MEM)
			rule.fp.off = random_off();
		regs.fp = BASE + (rand() % 16 ? 8 : 1) * (uint64_t)(rand() % WORDS);
		regs.exact = rand() % 8 == 0;
		if (i % 32 == 0) {
			regs.sp = 8 * (uint64_t)(rand() % 128) - (i % 64 ? 512 : 0);
			regs.fp = 8 * (uint64_t)(rand() % 128) - 512;
		}
		assert_int_equal(bobbin_rule_pack(&rule, &w.packed), 0);
		assert_int_equal(plain_outermost(w.packed), rule.ra.how == BOBBIN_HOW_UNDEFINED);
		plain += compare_ways(&w, &regs);
	}
	/* not only refusals */
	assert_true(plain > 20000);
}

/* The code map may not know it yet. */
static void what_a_table_names_need_not_be_code(void **state)
{
	struct bobbin_regs regs = {.pc = 1, .sp = BASE, .fp = BASE + 16};
	struct world w = {.is_code = false};

	(void)state;
	if (!forms_of_amd64(&w.frames.forms))
		return;
	w.packed = w.frames.forms.record;
	memset(w.words, 1, sizeof(w.words));
	assert_true(compare_ways(&w, &regs));
}

static void a_root_is_not_searched_for_in_the_frame_of_unknown_code(void **state)
{
	const struct bobbin_regs regs = {.pc = 1, .sp = BASE, .exact = true};
	struct world w = {.is_code = true, .without = BOBBIN_REASON_NO_FUNCTION};
	uint8_t source;

	(void)state;
	/* of a little-endian machine */
	w.words[3] = BOBBIN_HOST_BIG_ENDIAN ? __builtin_bswap64(ROOT) : ROOT;
	frame_walk_init(&w.frames, bobbin_arch_amd64(), &w.frames.forms, &regs);
	assert_int_equal(frame_general(&w.frames, &source), BOBBIN_REASON_NONE);
	assert_int_equal(source, BOBBIN_SOURCE_ROOT_SEARCH);
	assert_int_equal(w.frames.regs.pc, ROOT);

	w.without = BOBBIN_REASON_UNLOADED;
	frame_walk_init(&w.frames, bobbin_arch_amd64(), &w.frames.forms, &regs);
	assert_int_equal(frame_general(&w.frames, &source), BOBBIN_REASON_UNLOADED);
	assert_int_equal(source, BOBBIN_SOURCE_NONE);
	assert_int_equal(w.frames.regs.pc, regs.pc);
}

/* push %rbp; mov %rsp, %rbp: the commonest rule of all but the leaf's */
static void a_frame_record_is_plain(void **state)
{
	struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = 6, .off = 16},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		.fp = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -16},
		.index = BOBBIN_NO_INDEX,
	};
	struct plain_forms forms;
	uint64_t word, cfa;
	int64_t off;

	(void)state;
	if (!forms_of_amd64(&forms))
		return;
	assert_int_equal(bobbin_rule_pack(&rule, &word), 0);
	assert_int_equal(word, forms.record);
	assert_true(plain_cfa(&forms, word, BASE, BASE + 32, &cfa));
	assert_int_equal(cfa, BASE + 48);
	assert_true(plain_fp(word, &off));
	assert_int_equal(off, -16);
}

static void a_word_without_a_rule_is_neither_plain_nor_outermost(void **state)
{
	struct plain_forms forms;

	(void)state;
	plain_forms_of(bobbin_arch_amd64(), &forms);
	for (int reason = 1; reason < BOBBIN_REASON_COUNT; reason++) {
		struct bobbin_rule rule = bobbin_rule_none((enum bobbin_reason)reason);
		uint64_t word, cfa;

		assert_int_equal(bobbin_rule_pack(&rule, &word), 0);
		assert_false(plain_cfa(&forms, word, BASE, BASE, &cfa));
		assert_false(plain_outermost(word));
	}
}

static void architectures_with_a_link_register_have_no_plain_rules(void **state)
{
	struct plain_forms forms;

	(void)state;
	plain_forms_of(bobbin_arch_aarch64(), &forms);
	assert_int_equal(forms.from_sp, 0);
	plain_forms_of(bobbin_arch_s390x(), &forms);
	assert_int_equal(forms.from_sp, 0);
}

/* AArch64: from a frame of 48 bytes, with a record at its bottom if it @saves one, whose callee was left by its own. */
static enum bobbin_reason step_above_record(struct world *w, uint64_t sp, uint64_t fp, bool saves,
					    uint8_t *source)
{
	const struct bobbin_regs regs = {.pc = 1, .sp = sp, .fp = fp};
	struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = 31, .off = 48},
		.ra = {.how = saves ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME, .off = -40},
		.fp = {.how = saves ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME, .off = -48},
		.index = BOBBIN_NO_INDEX,
	};

	assert_int_equal(bobbin_rule_pack(&rule, &w->packed), 0);
	frame_walk_init(&w->frames, bobbin_arch_aarch64(), &w->frames.forms, &regs);
	w->frames.callee = BOBBIN_SOURCE_FRAME_POINTER;
	return frame_general(&w->frames, source);
}

static void above_a_record_at_the_bottom_of_its_frame_the_stack_pointer_is_not_known(void **state)
{
	struct world w = {.is_code = true};
	uint8_t source;

	(void)state;
	for (unsigned int i = 0; i < WORDS; i++)
		w.words[i] = BOBBIN_HOST_BIG_ENDIAN ? __builtin_bswap64(0x1000 + i) : 0x1000 + i;
	/* the callee had 32 bytes above its record */
	assert_int_equal(step_above_record(&w, BASE + 32, BASE + 64, true, &source),
			 BOBBIN_REASON_NONE);
	assert_int_equal(w.frames.regs.pc, 0x1009);
	assert_int_equal(w.frames.regs.fp, 0x1008);
	assert_int_equal(w.frames.regs.sp, BASE + 64 + 48);
	assert_int_equal(source, BOBBIN_SOURCE_GUESS);
	assert_true(w.frames.likely);
	/* and none: both say the same */
	assert_int_equal(step_above_record(&w, BASE + 64, BASE + 64, true, &source),
			 BOBBIN_REASON_NONE);
	assert_int_equal(w.frames.regs.pc, 0x1009);
	assert_int_equal(source, BOBBIN_SOURCE_SFRAME);
	assert_false(w.frames.likely);
	/* a function without a record */
	assert_int_equal(step_above_record(&w, BASE + 32, BASE + 64, false, &source),
			 BOBBIN_REASON_NO_REGISTER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_short_way_is_the_long_way),
		cmocka_unit_test(what_a_table_names_need_not_be_code),
		cmocka_unit_test(a_root_is_not_searched_for_in_the_frame_of_unknown_code),
		cmocka_unit_test(a_frame_record_is_plain),
		cmocka_unit_test(a_word_without_a_rule_is_neither_plain_nor_outermost),
		cmocka_unit_test(architectures_with_a_link_register_have_no_plain_rules),
		cmocka_unit_test(
			above_a_record_at_the_bottom_of_its_frame_the_stack_pointer_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
