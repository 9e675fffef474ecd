// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * decoder_kunit.c - sections in the memory of a process, which the test is, and steps by
 * them.
 */
#include <linux/prandom.h>
#include <linux/sched/signal.h>
#include <linux/unwind_user.h>
#include <linux/unwind_user_sframe.h>

#include "kunit_section.h"
#include "map.h"
#include "section_registration.h"
#include "window_lookup.h"

/* Numbers of the AMD64 supplement */
#define RBX 3
#define SIGNAL_FRAME_RBX 128

struct section {
	struct section_head head;
	struct section_entry entries[4];
	u8 rows[64];
} __packed;

/* Records of rows: an ordinary function, 3 rows of bytes */
static const u8 ordinary[] = {3, 0,          0,  0,       0, 0,          INFO(1, 1), 8,
			      1, INFO(1, 2), 16, (u8)-16, 4, INFO(0, 2), 16,         (u8)-16};
/* a trampoline of signals, CFA = SP + 8 */
static const u8 trampoline[] = {1, 0, 0x80, 0, 0, 0, INFO(1, 1), 8};
/* a flexible function, CFA = RBX + 16 */
static const u8 flexible[] = {1, 0, 0, 1, 0, 0, INFO(0, 2), RBX << 3 | 1, 16};
/* an outermost one */
static const u8 outermost[] = {0, 0, 0, 0, 0};

static const struct {
	const u8 *bytes;
	size_t size;
} records[] = {
	{ordinary, sizeof(ordinary)},
	{trampoline, sizeof(trampoline)},
	{flexible, sizeof(flexible)},
	{outermost, sizeof(outermost)},
};

/* struct entry.size of each function, which stand back to back */
#define FUNCTION_SIZE 16

struct process {
	unsigned long text, section, stack;
	struct section content;
};

static void store_word(struct kunit *test, unsigned long at, u64 word)
{
	section_store(test, at, &word, sizeof(word));
}

static const struct process *make_process(struct kunit *test)
{
	struct process *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct section *s;
	u32 used = 0;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->text = section_map(test, 2 * PAGE_SIZE, PROT_READ | PROT_EXEC);
	p->section = section_map(test, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE);
	p->stack = section_map(test, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE);
	s = &p->content;
	s->head = section_head(ARRAY_SIZE(s->entries), 5, sizeof(s->rows));
	for (unsigned int i = 0; i < ARRAY_SIZE(s->entries); i++) {
		unsigned long field = p->section + offsetof(struct section, entries[i]);

		s->entries[i] = (struct section_entry){.start = p->text + i * FUNCTION_SIZE - field,
						       .size = FUNCTION_SIZE,
						       .row_off = used};
		memcpy(s->rows + used, records[i].bytes, records[i].size);
		used += records[i].size;
	}
	section_store(test, p->section, s, sizeof(*s));
	return p;
}

/* The section of a process, for a page of text that may be another one. */
static int add_for(const struct process *p, unsigned long at)
{
	const struct code_text_range text = {at, at + PAGE_SIZE};

	return sframe_register_memory(p->section, p->section + sizeof(p->content), &text, 1,
				      SFRAME_SECTION_END);
}

static int add(const struct process *p)
{
	return add_for(p, p->text);
}

static void drop(struct kunit *test, const struct process *p)
{
	KUNIT_ASSERT_EQ(test, sframe_unregister_section(BIT(SFRAME_SECTION), p->section, NULL), 0);
}

static const struct process *make_registered(struct kunit *test)
{
	const struct process *p = make_process(test);

	KUNIT_ASSERT_EQ(test, add(p), 0);
	return p;
}

/* A frame below others, at an offset into the text. */
static struct unwind_user_state state_at(const struct process *p, unsigned long offset)
{
	return (struct unwind_user_state){
		.ip = p->text + offset,
		.sp = p->stack,
		.fp = p->stack + 256,
		.ws = sizeof(u64),
		.exact = true,
	};
}

static void steps_by_each_row(struct kunit *test)
{
	const struct process *p = make_registered(test);
	struct unwind_user_state state = state_at(p, 0);

	store_word(test, p->stack, 0x1111);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, 0x1111);
	KUNIT_EXPECT_EQ(test, state.sp, p->stack + 8);
	KUNIT_EXPECT_EQ(test, state.fp, p->stack + 256);
	KUNIT_EXPECT_FALSE(test, state.exact);

	store_word(test, p->stack, 0x2222);
	store_word(test, p->stack + 8, 0x3333);
	state = state_at(p, 3);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, 0x3333);
	KUNIT_EXPECT_EQ(test, state.sp, p->stack + 16);
	KUNIT_EXPECT_EQ(test, state.fp, 0x2222);

	store_word(test, p->stack + 256, 0x4444);
	store_word(test, p->stack + 264, 0x5555);
	state = state_at(p, FUNCTION_SIZE - 1);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, 0x5555);
	KUNIT_EXPECT_EQ(test, state.sp, p->stack + 272);
	KUNIT_EXPECT_EQ(test, state.fp, 0x4444);
}

/* A return address may lie after its function; the next instruction may not. */
static void looks_before_return_addresses(struct kunit *test)
{
	const struct process *p = make_registered(test);
	struct unwind_user_state state = state_at(p, FUNCTION_SIZE);

	store_word(test, p->stack + 264, 0x5555);
	state.exact = false;
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, 0x5555);
}

static void knows_the_outermost_frame(struct kunit *test)
{
	const struct process *p = make_registered(test);
	struct unwind_user_state state = state_at(p, 3 * FUNCTION_SIZE);

	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_TRUE(test, state.done);
	state = state_at(p, 4 * FUNCTION_SIZE);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -ENOENT);
	KUNIT_EXPECT_FALSE(test, state.done);
}

/* Other registers are known where a signal interrupted, and nowhere else. */
static void knows_registers_that_a_signal_saved(struct kunit *test)
{
	const struct process *p = make_registered(test);
	struct unwind_user_state state = state_at(p, FUNCTION_SIZE);

	store_word(test, p->stack, p->text + 2 * FUNCTION_SIZE);
	store_word(test, p->stack + SIGNAL_FRAME_RBX, p->stack + 512);
	store_word(test, p->stack + 512 + 16 - 8, 0x6666);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_TRUE(test, state.exact);
	KUNIT_EXPECT_EQ(test, state.ip, p->text + 2 * FUNCTION_SIZE);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, 0x6666);
	KUNIT_EXPECT_EQ(test, state.sp, p->stack + 512 + 16);

	state = state_at(p, 2 * FUNCTION_SIZE);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -EINVAL);
}

static void needs_its_stack(struct kunit *test)
{
	const struct process *p = make_registered(test);
	struct unwind_user_state state = state_at(p, 0);

	state.sp = PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -EINVAL);
	/* that is no fault of the section */
	state = state_at(p, 3 * FUNCTION_SIZE);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
}

static void removes_a_corrupt_section(struct kunit *test)
{
	const struct process *p = make_registered(test);
	struct unwind_user_state state = state_at(p, 0);
	const u8 bad_info = 0x0f;

	section_store(test, p->section + offsetof(struct section, rows) + 2, &bad_info, 1);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -EBADMSG);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -ENOENT);
	KUNIT_EXPECT_EQ(test, sframe_unregister_section(BIT(SFRAME_SECTION), p->section, NULL),
			-ENOENT);
}

static void removes_an_unmapped_section(struct kunit *test)
{
	const struct process *p = make_registered(test);
	struct unwind_user_state state = state_at(p, 0);

	KUNIT_EXPECT_EQ(test, vm_munmap(p->section, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -EFAULT);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -ENOENT);
}

/* Registered while it is empty, and filled later. */
static void takes_an_empty_section(struct kunit *test)
{
	const struct process *p = make_process(test);
	struct unwind_user_state state = state_at(p, 0);

	KUNIT_ASSERT_EQ(test, clear_user((void __user *)p->section, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, add(p), 0);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -ENOENT);
	section_store(test, p->section, &p->content, sizeof(p->content));
	store_word(test, p->stack, 0x1111);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, 0x1111);
}

static void refuses_what_is_malformed(struct kunit *test)
{
	const struct process *p = make_process(test);
	struct section bad = p->content;

	bad.head.flags &= ~1;
	section_store(test, p->section, &bad, sizeof(bad));
	KUNIT_EXPECT_EQ_MSG(test, add(p), -EBADMSG, "not sorted");
	bad = p->content;
	bad.head.abi = 2;
	section_store(test, p->section, &bad, sizeof(bad));
	KUNIT_EXPECT_EQ_MSG(test, add(p), -EBADMSG, "of another architecture");
	bad = p->content;
	bad.head.num_fdes = U32_MAX;
	section_store(test, p->section, &bad, sizeof(bad));
	KUNIT_EXPECT_EQ_MSG(test, add(p), -EBADMSG, "truncated");
	section_store(test, p->section, &p->content, sizeof(p->content));
	KUNIT_EXPECT_EQ(test, add(p), 0);
}

/* Functions that no section knows; the call at the beginning leads to one of them. */
#define CALLED 5 /* where it returns to */
#define LEAF 32
#define FRAMED 48
#define LEAVING 64
#define PAST_CALL 80

static unsigned long make_bare_code(struct kunit *test)
{
	static const u8 call[] = {0xe8, LEAF - CALLED, 0, 0, 0};
	/* xor %eax, %eax; test %edi, %edi; je .+2; inc %eax; ret */
	static const u8 leaf[] = {0x31, 0xc0, 0x85, 0xff, 0x74, 2, 0xff, 0xc0, 0xc3};
	/* push %rbp; mov %rsp, %rbp; leave; ret */
	static const u8 framed[] = {0x55, 0x48, 0x89, 0xe5, 0xc9, 0xc3};
	/* call; leave; ret */
	static const u8 leaving[] = {0xe8, 0, 1, 0, 0, 0xc9, 0xc3};
	/* call; add $8, %rsp; ret */
	static const u8 past_call[] = {0xe8, 0, 1, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3};
	unsigned long text = section_map(test, PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC);

	section_store(test, text, call, sizeof(call));
	section_store(test, text + LEAF, leaf, sizeof(leaf));
	section_store(test, text + FRAMED, framed, sizeof(framed));
	section_store(test, text + LEAVING, leaving, sizeof(leaving));
	section_store(test, text + PAST_CALL, past_call, sizeof(past_call));
	section_store(test, text + PAGE_SIZE - sizeof(leaf), leaf, sizeof(leaf));
	return text;
}

static void follows_code_to_its_return(struct kunit *test)
{
	const struct process p = {
		.text = make_bare_code(test),
		.stack = section_map(test, PAGE_SIZE, PROT_READ | PROT_WRITE),
	};
	struct unwind_user_state state = state_at(&p, LEAF);

	store_word(test, p.stack, p.text + CALLED);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, p.text + CALLED);
	KUNIT_EXPECT_EQ(test, state.sp, p.stack + 8);
	KUNIT_EXPECT_EQ(test, state.fp, p.stack + 256);
	KUNIT_EXPECT_FALSE(test, state.exact);

	/* a frame pointer that is pushed, and not set yet */
	store_word(test, p.stack, 0x1111);
	store_word(test, p.stack + 8, p.text + CALLED);
	state = state_at(&p, FRAMED + 1);
	pagefault_disable();
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	pagefault_enable();
	KUNIT_EXPECT_EQ(test, state.ip, p.text + CALLED);
	KUNIT_EXPECT_EQ(test, state.sp, p.stack + 16);
	KUNIT_EXPECT_EQ(test, state.fp, 0x1111);

	/* past a call: a guess, in a mapping without a table */
	store_word(test, p.stack + 256, 0x2222);
	store_word(test, p.stack + 264, p.text + CALLED);
	state = state_at(&p, LEAVING);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, p.text + CALLED);
	KUNIT_EXPECT_EQ(test, state.sp, p.stack + 272);
	KUNIT_EXPECT_EQ(test, state.fp, 0x2222);
}

static void takes_code_for_no_proof(struct kunit *test)
{
	const struct process p = {
		.text = make_bare_code(test),
		.stack = section_map(test, PAGE_SIZE, PROT_READ | PROT_WRITE),
	};
	struct unwind_user_state state = state_at(&p, LEAF);

	store_word(test, p.stack, p.text + CALLED);
	state.exact = false;
	KUNIT_EXPECT_EQ_MSG(test, unwind_user_next_sframe(&state), -ENOENT, "a return address");
	store_word(test, p.stack, p.text + CALLED + 1);
	state.exact = true;
	KUNIT_EXPECT_EQ_MSG(test, unwind_user_next_sframe(&state), -ENOENT, "to no call");
	KUNIT_EXPECT_EQ(test, state.ip, p.text + LEAF);

	store_word(test, p.stack, p.text + CALLED);
	state = state_at(&p, PAGE_SIZE - 9);
	KUNIT_EXPECT_EQ_MSG(test, unwind_user_next_sframe(&state), -ENOENT, "past the mapping");
}

static void guesses_nothing_where_there_are_tables(struct kunit *test)
{
	const struct process *with_tables = make_process(test);
	const struct process p = {
		.text = make_bare_code(test),
		.stack = section_map(test, PAGE_SIZE, PROT_READ | PROT_WRITE),
	};
	struct unwind_user_state state = state_at(&p, PAST_CALL);

	/* in another mapping */
	make_registered(test);
	store_word(test, p.stack + 8, p.text + CALLED);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, p.text + CALLED);
	KUNIT_ASSERT_EQ(test, add_for(with_tables, p.text), 0);
	state = state_at(&p, PAST_CALL);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -ENOENT);
}

/* What a walk has looked up counts until the map changes. */
static void forgets_what_is_removed(struct kunit *test)
{
	const struct process *p = make_registered(test);
	struct unwind_user_state state;
	struct section other = p->content;

	store_word(test, p->stack, 0x1111);
	store_word(test, p->stack + 8, 0x2222);
	for (int i = 0; i < 3; i++) {
		state = state_at(p, 0);
		KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
		KUNIT_EXPECT_EQ(test, state.ip, 0x1111);
	}
	/* CFA = SP + 16 */
	other.rows[sizeof(struct section_attributes) + 2] = 16;
	section_store(test, p->section, &other, sizeof(other));
	drop(test, p);
	state = state_at(p, 0);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -ENOENT);
	KUNIT_EXPECT_EQ(test, add(p), 0);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, 0x2222);
	KUNIT_EXPECT_EQ(test, vm_munmap(p->text, PAGE_SIZE), 0);
	state = state_at(p, 0);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -ENOENT);
}

/* A section like before, for which there is not the usual lookup, and nothing is kept. */
static void make_unusual(struct kunit *test, const struct process *p)
{
	struct sframe_section *section;

	drop(test, p);
	KUNIT_ASSERT_EQ(test, add(p), 0);
	section = sframe_map_find(sframe_map_of(current->mm), p->text);
	KUNIT_ASSERT_NOT_NULL(test, section);
	section->plain.sp = 0;
	sframe_section_put(section);
}

/* By the usual lookup. */
static u64 word_at(const struct process *p, unsigned long offset)
{
	return sframe_window_lookup(sframe_map_of(current->mm), p->text + offset);
}

/* A frame whose call is at an offset into the text. */
static struct unwind_user_state caller_at(const struct process *p, unsigned long offset)
{
	struct unwind_user_state state = state_at(p, offset + 1);

	state.exact = false;
	return state;
}

/* Each rule, by the usual lookup and by the other, and from what is kept. */
static void steps_alike_each_time(struct kunit *test)
{
	static const unsigned int places[] = {0, 1, 3, 4, FUNCTION_SIZE - 1, FUNCTION_SIZE};
	const struct process *p = make_registered(test);

	for (unsigned int i = 0; i < 40; i++)
		store_word(test, p->stack + 8 * i, 0x1000 + i);
	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++) {
		struct unwind_user_state first = caller_at(p, places[i]), again = first;
		struct unwind_user_state other = first;

		KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&first), 0);
		KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&again), 0);
		/* signal frames are not usual */
		KUNIT_EXPECT_EQ(test, !word_at(p, places[i]), places[i] == FUNCTION_SIZE);
		KUNIT_EXPECT_MEMEQ(test, &first, &again, sizeof(first));
		make_unusual(test, p);
		KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&other), 0);
		KUNIT_EXPECT_MEMEQ(test, &first, &other, sizeof(first));
		drop(test, p);
		KUNIT_EXPECT_EQ(test, add(p), 0);
	}
}

#define CHANCES 300
#define CHANCE_SIZE 64

/* Functions of chance: all sizes of starts and words, now and then one that is not usual. */
struct chance_section {
	struct section_head head;
	struct section_entry entries[4];
	u8 rows[4 * 256];
} __packed;

static u32 below(struct rnd_state *rnd, u32 end)
{
	return prandom_u32_state(rnd) % end;
}

static u8 *put_number(u8 *at, u32 number, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		*at++ = number >> 8 * i;
	return at;
}

static u8 *put_row(struct rnd_state *rnd, u8 *at, u32 start, unsigned int width)
{
	unsigned int words = 1 + below(rnd, 2) + !below(rnd, 20), shift = below(rnd, 3);

	at = put_number(at, start, width);
	*at++ = INFO(below(rnd, 2), words) | shift << 5;
	at = put_number(at, 8 + 8 * below(rnd, 15), 1 << shift);
	while (--words)
		at = put_number(at, -16 - 8 * below(rnd, 14) - !below(rnd, 50), 1 << shift);
	return at;
}

static u8 *put_function(struct rnd_state *rnd, u8 *at)
{
	unsigned int type = below(rnd, 3), count = 1 + below(rnd, 8);
	u8 flags = below(rnd, 20) ? 0 : 1 << (4 + below(rnd, 4));
	u32 start = below(rnd, 10) ? 0 : 3;

	at = put_number(at, count, 2);
	at = put_number(at, type | flags, 1);
	at = put_number(at, 8 << 8 | (below(rnd, 20) ? 0 : 1), 2);
	for (; count--; start += 1 + below(rnd, 10))
		at = put_row(rnd, at, start, 1 << type);
	return at;
}

static void fill_chance(struct rnd_state *rnd, const struct process *p, struct chance_section *s)
{
	u8 *at = s->rows;
	u32 size;

	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; i < ARRAY_SIZE(s->entries); i++) {
		unsigned long field = p->section + offsetof(struct chance_section, entries[i]);

		s->entries[i] = (struct section_entry){.start = p->text + i * CHANCE_SIZE - field,
						       .size = CHANCE_SIZE - below(rnd, 2),
						       .row_off = at - s->rows};
		at = put_function(rnd, at);
	}
	size = at - s->rows;
	if (!below(rnd, 2))
		s->rows[below(rnd, size)] ^= 1 << below(rnd, 8);
	/* the last row may be cut off */
	size -= below(rnd, 4) ? 0 : 3;
	memset(s->rows + size, 0, sizeof(s->rows) - size);
	s->head = section_head(ARRAY_SIZE(s->entries), 0, size);
}

/* What the usual lookup says is what the other says.  Returns how often it says something. */
static unsigned int compare_lookups(struct kunit *test, const struct process *p)
{
	struct sframe_section *section = sframe_map_find(sframe_map_of(current->mm), p->text);
	unsigned int usual = 0;

	KUNIT_ASSERT_NOT_NULL(test, section);
	for (unsigned int at = 0; at < 5 * CHANCE_SIZE; at++) {
		u64 word = word_at(p, at), other = 0;
		struct bobbin_row row;

		if (!bobbin_sframe_lookup(&section->view, p->text + at, NULL, &row) &&
		    bobbin_rule_pack(&row.rule, &other))
			other = 0;
		usual += word != 0;
		if (word)
			KUNIT_EXPECT_EQ(test, word, other);
	}
	sframe_section_put(section);
	return usual;
}

static void says_what_the_other_lookup_says(struct kunit *test)
{
	struct chance_section *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	const struct process *p = make_process(test);
	const struct code_text_range text = {p->text, p->text + PAGE_SIZE};
	unsigned int usual = 0;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, s);
	prandom_seed_state(&rnd, 1);
	for (unsigned int i = 0; i < CHANCES; i++) {
		fill_chance(&rnd, p, s);
		section_store(test, p->section, s, sizeof(*s));
		KUNIT_ASSERT_EQ(test,
				sframe_register_memory(p->section, p->section + sizeof(*s), &text,
						       1, SFRAME_SECTION_END),
				0);
		usual += compare_lookups(test, p);
		drop(test, p);
	}
	/* most of what is malformed is so in one function of four */
	KUNIT_EXPECT_GT(test, usual, CHANCES * 4 * CHANCE_SIZE / 2);
}

static void knows_no_32_bit_code(struct kunit *test)
{
	const struct process *p = make_registered(test);
	struct unwind_user_state state = state_at(p, 0);

	state.ws = sizeof(u32);
	state.topmost = true;
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -EOPNOTSUPP);
}

/* A function of 16 bytes has as many rows at most, and one that is void. */
static void refuses_more_rows_than_bytes(struct kunit *test)
{
	const struct process *p = make_registered(test);
	unsigned long count = p->section + offsetof(struct section, rows);
	struct unwind_user_state state = state_at(p, 0);
	const u16 just = FUNCTION_SIZE + 1, more = FUNCTION_SIZE + 2;

	store_word(test, p->stack, 0x1111);
	section_store(test, count, &just, sizeof(just));
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	section_store(test, count, &more, sizeof(more));
	state = state_at(p, 1);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -EBADMSG);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -ENOENT);
}

static void set_killed(bool killed)
{
	unsigned long flags;

	if (!lock_task_sighand(current, &flags))
		return;
	if (killed)
		sigaddset(&current->pending.signal, SIGKILL);
	else
		sigdelset(&current->pending.signal, SIGKILL);
	if (killed)
		set_tsk_thread_flag(current, TIF_SIGPENDING);
	else
		clear_tsk_thread_flag(current, TIF_SIGPENDING);
	unlock_task_sighand(current, &flags);
}

/* Who is to die walks no further, and takes no section for corrupt because of that. */
static void ends_with_its_task(struct kunit *test)
{
	const struct process *p = make_registered(test);
	struct unwind_user_state state = state_at(p, 0);

	store_word(test, p->stack, 0x1111);
	set_killed(true);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), -EINTR);
	set_killed(false);
	KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, 0x1111);
}

static struct kunit_case decoder_cases[] = {
	KUNIT_CASE(steps_by_each_row),
	KUNIT_CASE(looks_before_return_addresses),
	KUNIT_CASE(knows_the_outermost_frame),
	KUNIT_CASE(knows_registers_that_a_signal_saved),
	KUNIT_CASE(needs_its_stack),
	KUNIT_CASE(removes_a_corrupt_section),
	KUNIT_CASE(removes_an_unmapped_section),
	KUNIT_CASE(takes_an_empty_section),
	KUNIT_CASE(refuses_what_is_malformed),
	KUNIT_CASE(forgets_what_is_removed),
	KUNIT_CASE(steps_alike_each_time),
	KUNIT_CASE(says_what_the_other_lookup_says),
	KUNIT_CASE(knows_no_32_bit_code),
	KUNIT_CASE(refuses_more_rows_than_bytes),
	KUNIT_CASE(ends_with_its_task),
	KUNIT_CASE(follows_code_to_its_return),
	KUNIT_CASE(takes_code_for_no_proof),
	KUNIT_CASE(guesses_nothing_where_there_are_tables),
	{},
};

SECTION_SUITE("sframe_decoder", decoder_cases);
