/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of code that no table covers: which callers are proved, and which are guesses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/unwind_frame.h"
#include "unwind/unkept_code.h"

#define STACK 0x7000
#define WORDS 64
#define CODE 0x4000
#define BYTES 256
#define SLOT (CODE + 0x1000)
/* Of the stack, far above the other words: where StgRun() keeps what it saves. */
#define FAR (STACK + 16384)
#define FAR_WORDS 32

struct world {
	struct frame_walk frames;
	uint64_t words[WORDS];
	uint64_t far[FAR_WORDS];
	uint8_t code[BYTES];
	bool unreadable;         /* the code */
	uint64_t made;           /* where code begins that is no file's */
	uint64_t slot;           /* what is at SLOT */
	struct bobbin_rule ways; /* what all ways of the code say */
	bool has_ways, doubts;
	uint64_t proved; /* where a function's start says that the return address is */
};

static inline enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	const struct world *w = world;

	if (addr >= FAR && addr - FAR <= sizeof(w->far) - sizeof(*ret)) {
		memcpy(ret, (const uint8_t *)w->far + (addr - FAR), sizeof(*ret));
		return BOBBIN_REASON_NONE;
	}
	if (addr < STACK || addr - STACK > sizeof(w->words) - sizeof(*ret))
		return BOBBIN_REASON_NO_MEMORY;
	memcpy(ret, (const uint8_t *)w->words + (addr - STACK), sizeof(*ret));
	return BOBBIN_REASON_NONE;
}

static inline uint64_t world_shift(const struct frame_walk *frames)
{
	return 0;
}

static inline void world_load(const struct frame_walk *frames, uint64_t at, uint64_t *ret)
{
	*ret = 0;
}

static uint64_t world_packed(struct frame_walk *frames, uint64_t pc, uint8_t *source)
{
	*source = BOBBIN_SOURCE_NONE;
	return 0;
}

static bool world_is_code(struct frame_walk *frames, uint64_t addr)
{
	return addr - CODE < BYTES;
}

static enum bobbin_source world_rule(struct frame_walk *frames, uint64_t pc,
				     struct bobbin_rule *ret)
{
	*ret = bobbin_rule_none(world_is_code(frames, pc) ? BOBBIN_REASON_NO_TABLE
							  : BOBBIN_REASON_NO_MAPPING);
	return BOBBIN_SOURCE_NONE;
}

static enum bobbin_reason world_table_step(struct frame_walk *frames, uint64_t pc,
					   struct table_step *step)
{
	return BOBBIN_REASON_NO_TABLE;
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
	const struct world *w = (const struct world *)frames;

	return w->made && addr >= w->made && addr - CODE < BYTES;
}

static bool world_ways(struct frame_walk *frames, struct bobbin_rule *ret, bool *doubtful)
{
	const struct world *w = (const struct world *)frames;

	*doubtful = w->doubts;
	if (w->has_ways)
		*ret = w->ways;
	return w->has_ways;
}

static bool world_proves(struct frame_walk *frames, uint64_t slot, uint64_t word)
{
	const struct world *w = (const struct world *)frames;

	return w->proved && slot == w->proved;
}

static bool world_start_rule(struct frame_walk *frames, struct bobbin_rule *ret)
{
	return false;
}

static bool world_slot(struct frame_walk *frames, uint64_t addr, uint64_t *ret)
{
	*ret = ((const struct world *)frames)->slot;
	return addr == SLOT && *ret;
}

static bool world_code(void *world, uint64_t addr, void *dst, size_t size)
{
	const struct world *w = world;

	if (w->unreadable || addr < CODE || addr - CODE > BYTES - size)
		return false;
	memcpy(dst, w->code + (addr - CODE), size);
	return true;
}

/* Calls at these places return after them. */
#define CALL_SIZE 5
#define CALLER (CODE + 0x40 + CALL_SIZE)
#define OUTER (CODE + 0x60 + CALL_SIZE)
#define FUNCTION (CODE + 0x80)

static void world_init(struct world *w)
{
	memset(w, 0, sizeof(*w));
	memset(w->code, 0xcc, sizeof(w->code));
	w->code[0x40] = w->code[0x60] = 0xe8;
}

/* As the program's machine keeps it in memory. */
static uint64_t in_memory(uint64_t word)
{
	return BOBBIN_HOST_BIG_ENDIAN ? __builtin_bswap64(word) : word;
}

static void put_word(struct world *w, unsigned int at, uint64_t word)
{
	w->words[at] = in_memory(word);
}

static void put_code(struct world *w, const char *bytes, size_t size)
{
	memcpy(w->code + (FUNCTION - CODE), bytes, size);
}

/* One step from @regs; the source of the rule, and the reason. */
static enum bobbin_source step(struct world *w, const struct bobbin_regs *regs,
			       enum bobbin_reason *reason)
{
	struct plain_forms forms;
	uint8_t source;

	plain_forms_of(bobbin_arch_amd64(), &forms);
	frame_walk_init(&w->frames, bobbin_arch_amd64(), &forms, regs);
	*reason = frame_general(&w->frames, &source);
	return (enum bobbin_source)source;
}

static void expect(struct world *w, const struct bobbin_regs *regs, enum bobbin_source source,
		   uint64_t caller)
{
	enum bobbin_reason reason;

	assert_int_equal(step(w, regs, &reason), source);
	assert_int_equal(reason, BOBBIN_REASON_NONE);
	assert_int_equal(w->frames.regs.pc, caller);
	assert_int_equal(frame_walk_end(&w->frames, BOBBIN_REASON_OUTERMOST),
			 source == BOBBIN_SOURCE_GUESS ? BOBBIN_REASON_LIKELY
						       : BOBBIN_REASON_OUTERMOST);
}

/* A record at word @at of the stack: of a caller at @pc, whose own is at word @next. */
static void put_record(struct world *w, unsigned int at, uint64_t pc, unsigned int next)
{
	put_word(w, at, STACK + 8 * next);
	put_word(w, at + 1, pc);
}

/* push %rbp; mov %rsp,%rbp; pop %rbp; ret, called with the caller's record in the register */
static void a_leaf_without_a_frame_does_not_lose_its_caller(void **state)
{
	struct bobbin_regs regs = {
		.pc = FUNCTION, .sp = STACK + 16, .fp = STACK + 48, .exact = true};
	struct world w;

	(void)state;
	world_init(&w);
	put_code(&w, "\x55\x48\x89\xe5\x5d\xc3", 6);
	put_word(&w, 2, CALLER);
	put_record(&w, 6, OUTER, 10);
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
	/* at the return; after push %rbp the word is the next one */
	regs.pc = FUNCTION + 5;
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
	regs.pc = FUNCTION + 1;
	regs.sp = STACK + 8;
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
}

/* jmp *%rax: the code does not tell */
static void put_silent_code(struct world *w)
{
	put_code(w, "\xff\xe0", 2);
	/* a call returns there, too */
	w->code[FUNCTION - CODE - CALL_SIZE] = 0xe8;
}

static void a_record_is_proved_where_nothing_else_can_be_the_caller(void **state)
{
	const struct bobbin_regs regs = {.pc = FUNCTION, .sp = STACK + 16, .fp = STACK + 48};
	struct world w;

	(void)state;
	world_init(&w);
	put_silent_code(&w);
	put_record(&w, 6, CALLER, 10);
	put_record(&w, 10, OUTER, 0);
	expect(&w, &regs, BOBBIN_SOURCE_FRAME_POINTER, CALLER);
	/* an old return address, or that of a function without a frame record */
	put_word(&w, 4, OUTER);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
}

/* A register that points to an object, next to an old return address. */
static void a_record_is_not_proved_by_itself(void **state)
{
	const struct bobbin_regs regs = {.pc = FUNCTION, .sp = STACK + 48, .fp = STACK + 48};
	struct world w;

	(void)state;
	world_init(&w);
	put_silent_code(&w);
	put_record(&w, 6, CALLER, 8);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
}

/* lea 1f(%rip),%rax; push %rax; jmp FUNCTION: 1f is after no call, and the function's caller */
static void a_return_address_that_was_pushed_is_not_passed_over(void **state)
{
	const struct bobbin_regs regs = {
		.pc = FUNCTION, .sp = STACK + 16, .fp = STACK + 48, .exact = true};
	struct world w;

	(void)state;
	world_init(&w);
	put_code(&w, "\x90\xc3", 2);
	put_word(&w, 2, CALLER + 8);
	put_record(&w, 6, CALLER, 10);
	put_record(&w, 10, OUTER, 0);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
}

/* jmp, with a distance of four bytes, after a call: add $8,%rsp; ret, of this function or another */
static void code_of_another_function_maybe_is_a_guess(void **state)
{
	const struct bobbin_regs regs = {.pc = FUNCTION, .sp = STACK + 16, .fp = 0};
	struct bobbin_regs framed = regs;
	struct world w;

	(void)state;
	world_init(&w);
	put_code(&w, "\xe9\x02\x00\x00\x00\xcc\xcc\x48\x83\xc4\x08\xc3", 12);
	w.code[FUNCTION - CODE - CALL_SIZE] = 0xe8;
	put_word(&w, 3, CALLER);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
	/* nor does it refute what proves itself */
	put_word(&w, 3, 0);
	put_record(&w, 6, CALLER, 10);
	put_record(&w, 10, OUTER, 0);
	framed.fp = STACK + 48;
	expect(&w, &framed, BOBBIN_SOURCE_FRAME_POINTER, CALLER);
	/* the same distance in one byte */
	put_code(&w, "\xeb\x05", 2);
	put_word(&w, 3, CALLER);
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
}

static void code_that_cannot_be_read_proves_nothing(void **state)
{
	const struct bobbin_regs regs = {
		.pc = FUNCTION, .sp = STACK + 16, .fp = STACK + 48, .exact = true};
	struct world w;

	(void)state;
	world_init(&w);
	w.unreadable = true;
	put_record(&w, 6, CALLER, 10);
	put_record(&w, 10, OUTER, 0);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
}

static void a_call_of_what_is_no_code_has_its_caller_on_the_stack(void **state)
{
	struct bobbin_regs regs = {.sp = STACK + 16, .fp = STACK + 48, .exact = true};
	enum bobbin_reason reason;
	struct world w;

	(void)state;
	world_init(&w);
	put_word(&w, 2, CALLER);
	put_record(&w, 6, OUTER, 10);
	put_word(&w, 1, OUTER);
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
	/* no call returns there */
	put_word(&w, 2, CALLER + 1);
	assert_int_equal(step(&w, &regs, &reason), BOBBIN_SOURCE_NONE);
	assert_int_equal(reason, BOBBIN_REASON_NO_MAPPING);
}

/* ret, to what has overwritten the return address: the caller is not known */
static void a_return_to_what_is_no_code_proves_nothing(void **state)
{
	const struct bobbin_regs regs = {
		.pc = 0x4141, .sp = STACK + 16, .fp = STACK + 48, .exact = true};
	struct world w;

	(void)state;
	world_init(&w);
	put_word(&w, 1, 0x4141);
	put_word(&w, 2, CALLER);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
}

static void a_return_address_outside_of_code_ends_a_walk(void **state)
{
	const struct bobbin_regs regs = {.pc = 7, .sp = STACK + 16, .fp = STACK + 48};
	enum bobbin_reason reason;
	struct world w;

	(void)state;
	world_init(&w);
	put_record(&w, 6, CALLER, 10);
	put_record(&w, 10, OUTER, 0);
	assert_int_equal(step(&w, &regs, &reason), BOBBIN_SOURCE_NONE);
	assert_int_equal(reason, BOBBIN_REASON_NO_MAPPING);
	assert_int_equal(w.frames.regs.pc, 7);
}

/* Of a function, or a piece of code, that was jumped to. */
#define ENTRY (CODE + 0xc0)
/* push %rbp; push %rbx; sub $16,%rsp */
#define ENTRY_FRAME "\x55\x53\x48\x83\xec\x10"
#define ENTRY_FRAME_SIZE 32

/* @size bytes of code before @addr call what is at ENTRY, or go through SLOT. */
static void put_call(struct world *w, uint64_t addr, const char *call, unsigned int size,
		     uint64_t to)
{
	const uint32_t distance = (uint32_t)(to - addr);
	uint8_t *code = w->code + (addr - CODE);

	memcpy(code - size, call, size - 4);
	for (unsigned int i = 0; i < 4; i++)
		(code - 4)[i] = (uint8_t)(distance >> 8 * i);
}

/*
 * FUNCTION, which is silent, in the frame of ENTRY, which jumps there by @jump and was called before
 * CALLER; the caller's frame pointer is in the frame.
 */
static void put_entered(struct world *w, const char *jump, unsigned int size)
{
	world_init(w);
	w->made = FUNCTION - CALL_SIZE;
	put_silent_code(w);
	memcpy(w->code + (ENTRY - CODE), ENTRY_FRAME, sizeof(ENTRY_FRAME) - 1);
	memcpy(w->code + (ENTRY - CODE) + sizeof(ENTRY_FRAME) - 1, jump, size);
	put_call(w, CALLER, "\xe8", CALL_SIZE, ENTRY);
	put_word(w, 5, STACK + 0x1234);
	put_word(w, 6, CALLER);
}

static const struct bobbin_regs entered = {
	.pc = FUNCTION, .sp = STACK + 56 - 8 - ENTRY_FRAME_SIZE, .fp = 0};

#define JUMP_BY_REGISTER "\xff\xe6", 2
#define JUMP_BY_OBJECT "\xff\x27", 2

static void code_that_was_jumped_to_runs_in_the_frame_that_was_made(void **state)
{
	struct bobbin_regs exact = entered;
	struct world w;

	(void)state;
	put_entered(&w, JUMP_BY_REGISTER);
	expect(&w, &entered, BOBBIN_SOURCE_PATH, CALLER);
	assert_int_equal(w.frames.regs.sp, STACK + 56);
	assert_int_equal(w.frames.regs.fp, STACK + 0x1234);
	exact.exact = true;
	expect(&w, &exact, BOBBIN_SOURCE_PATH, CALLER);
}

static void what_makes_the_frame_may_be_called_through_a_pointer(void **state)
{
	struct world w;

	(void)state;
	put_entered(&w, JUMP_BY_REGISTER);
	w.slot = ENTRY;
	put_call(&w, CALLER, "\xff\x15", 6, SLOT);
	expect(&w, &entered, BOBBIN_SOURCE_PATH, CALLER);
	/* lea SLOT(%rip),%r9; call *(%r9) */
	put_call(&w, CALLER - 3, "\x4c\x8d\x0d", 7, SLOT);
	memcpy(w.code + (CALLER - 3 - CODE), "\x41\xff\x11", 3);
	expect(&w, &entered, BOBBIN_SOURCE_PATH, CALLER);
	/* mov SLOT(%rip),%rax; call *%rax */
	put_call(&w, CALLER - 2, "\x48\x8b\x05", 7, SLOT);
	memcpy(w.code + (CALLER - 2 - CODE), "\xff\xd0", 2);
	expect(&w, &entered, BOBBIN_SOURCE_PATH, CALLER);
	w.slot = 0;
	assert_int_not_equal(step(&w, &entered, &(enum bobbin_reason){0}), BOBBIN_SOURCE_PATH);
}

/* Silent code, with an old return address below its own, which all ways find. */
static void put_ways(struct world *w, uint8_t flags)
{
	world_init(w);
	put_silent_code(w);
	put_word(w, 1, OUTER);
	put_word(w, 2, CALLER);
	w->ways = (struct bobbin_rule){.index = BOBBIN_NO_INDEX, .flags = flags};
	w->ways.cfa = place_of(BOBBIN_HOW_AT_REG, bobbin_arch_amd64()->sp, 24);
	w->ways.ra = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	w->ways.fp = place_of(BOBBIN_HOW_SAME, 0, 0);
	w->has_ways = true;
}

static void all_ways_say_what_one_does_not(void **state)
{
	const struct bobbin_regs regs = {.pc = FUNCTION, .sp = STACK, .exact = true};
	struct world w;

	(void)state;
	put_ways(&w, 0);
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
}

static void beyond_calls_the_start_of_the_function_must_agree(void **state)
{
	const struct bobbin_regs regs = {.pc = FUNCTION, .sp = STACK};
	struct world w;

	(void)state;
	put_ways(&w, BOBBIN_RULE_LEAF);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
	w.proved = STACK + 8;
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
	w.proved = STACK + 16;
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
	w.doubts = true;
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
}

/* It may be the caller's, if the other one is old. */
static void another_return_address_in_the_frame_leaves_a_guess(void **state)
{
	struct world w;

	(void)state;
	put_entered(&w, JUMP_BY_REGISTER);
	put_word(&w, 3, OUTER);
	expect(&w, &entered, BOBBIN_SOURCE_GUESS, CALLER);
	/* unless the code returns there, too */
	w.ways = (struct bobbin_rule){.index = BOBBIN_NO_INDEX, .flags = BOBBIN_RULE_LEAF};
	w.ways.cfa = place_of(BOBBIN_HOW_AT_REG, bobbin_arch_amd64()->sp, ENTRY_FRAME_SIZE + 8);
	w.ways.ra = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	w.ways.fp = place_of(BOBBIN_HOW_SAME, 0, 0);
	w.has_ways = true;
	expect(&w, &entered, BOBBIN_SOURCE_PATH, CALLER);
}

static void a_frame_of_another_size_proves_nothing(void **state)
{
	struct bobbin_regs regs = entered;
	struct world w;

	(void)state;
	put_entered(&w, JUMP_BY_REGISTER);
	regs.sp -= 8;
	assert_int_not_equal(step(&w, &regs, &(enum bobbin_reason){0}), BOBBIN_SOURCE_PATH);
	/* a call on the way: what follows it may be another function */
	memcpy(w.code + (ENTRY - CODE) + sizeof(ENTRY_FRAME) - 1, "\xe8\x00\x01\x00\x00\xff\xe6",
	       7);
	assert_int_not_equal(step(&w, &entered, &(enum bobbin_reason){0}), BOBBIN_SOURCE_PATH);
}

static void two_frames_that_fit_prove_nothing(void **state)
{
	struct world w;

	(void)state;
	put_entered(&w, JUMP_BY_REGISTER);
	put_word(&w, 3, OUTER);
	/* push %rbx; jmp *%rsi */
	put_call(&w, OUTER, "\xe8", CALL_SIZE, ENTRY + 0x20);
	memcpy(w.code + (ENTRY + 0x20 - CODE), "\x53\xff\xe6", 3);
	assert_int_not_equal(step(&w, &entered, &(enum bobbin_reason){0}), BOBBIN_SOURCE_PATH);
	put_word(&w, 6, 0);
	expect(&w, &entered, BOBBIN_SOURCE_PATH, OUTER);
}

static void code_of_files_is_no_code_that_was_jumped_to(void **state)
{
	struct world w;

	(void)state;
	put_entered(&w, JUMP_BY_OBJECT);
	expect(&w, &entered, BOBBIN_SOURCE_PATH, CALLER);
	w.made = 0;
	assert_int_not_equal(step(&w, &entered, &(enum bobbin_reason){0}), BOBBIN_SOURCE_PATH);
}

/* ENTRY's frame in a file, and after it a jump, or what loads or changes a register and a jump by it. */
static enum bobbin_source step_from_file(const char *jump, unsigned int size)
{
	enum bobbin_reason reason;
	struct world w;

	put_entered(&w, JUMP_BY_REGISTER);
	memcpy(w.code, w.code + (ENTRY - CODE), 0x20);
	memcpy(w.code + sizeof(ENTRY_FRAME) - 1, jump, size);
	put_call(&w, CALLER, "\xe8", CALL_SIZE, CODE);
	return step(&w, &entered, &reason);
}

/* Of a file, what a register has may be a switch, unless it was given; and an object says where to. */
static void a_switch_of_a_file_does_not_jump_to_made_code(void **state)
{
	static const struct {
		const char *code;
		unsigned int size;
		bool given;
	} jumps[] = {
		{JUMP_BY_OBJECT, true},
		{JUMP_BY_REGISTER, true},
		{"\xff\xe0", 2, false},                             /* %rax is no argument */
		{"\x48\x8b\x34\xc2\xff\xe6", 6, false},             /* mov (%rdx,%rax,8),%rsi */
		{"\x48\x63\x34\x82\x48\x01\xd6\xff\xe6", 9, false}, /* movslq (%rdx,%rax,4),%rsi */
		{"\x48\x01\xd6\xff\xe6", 5, false},                 /* add %rdx,%rsi */
		{"\x48\x83\xc6\x10\xff\xe6", 6, false},             /* add $16,%rsi */
		{"\x48\x89\xd6\xff\xe6", 5, false},                 /* mov %rdx,%rsi */
		{"\xbe\x00\x10\x00\x00\xff\xe6", 7, false},         /* mov $0x1000,%esi */
		{"\x48\x89\xf2\xff\xe6", 5, true},                  /* mov %rsi,%rdx */
		{"\x48\x89\x37\xff\xe6", 5, true},                  /* mov %rsi,(%rdi) */
		{"\x9b\xdb\xe3\xd9\x6c\x24\xf8\xff\xe6", 9, true},  /* finit; fldcw -8(%rsp) */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++)
		assert_int_equal(step_from_file(jumps[i].code, jumps[i].size) == BOBBIN_SOURCE_PATH,
				 jumps[i].given);
}

static void the_codes_own_way_disputes_another_frame(void **state)
{
	struct world w;

	(void)state;
	put_entered(&w, JUMP_BY_REGISTER);
	/* add $24,%rsp; ret, after a call */
	put_code(&w, "\x48\x83\xc4\x18\xc3", 5);
	put_word(&w, 5, OUTER);
	put_word(&w, 3, CALLER);
	expect(&w, &entered, BOBBIN_SOURCE_GUESS, OUTER);
}

/* StgRun() at STG_RUN, called before CALLER; its stack pointer is at word @at, where Haskell code runs. */
#define STG_RUN (CODE + 0xc0)
#define SAVED_FP 0x1238

static void put_stg_run(struct world *w, unsigned int at)
{
	static const uint8_t code[STG_RUN_SIZE] = {
		0x48, 0x83, 0xec, 0x30, 0x48, 0x89, 0xe0, 0x48, 0x81, 0xec, 0x00, 0x40,
		0x00, 0x00, 0x48, 0x89, 0x18, 0x48, 0x89, 0x68, 0x08, 0x4c, 0x89, 0x60,
		0x10, 0x4c, 0x89, 0x68, 0x18, 0x4c, 0x89, 0x70, 0x20, 0x4c, 0x89, 0x78,
		0x28, 0x49, 0x89, 0xf5, 0x48, 0x89, 0xf8, 0xff, 0xe0};

	world_init(w);
	memcpy(w->code + (STG_RUN - CODE), code, sizeof(code));
	w->code[CALLER - CODE - CALL_SIZE + 1] = STG_RUN - CALLER;
	memset(w->code + (CALLER - CODE) - CALL_SIZE + 2, 0, 3);
	w->far[at + 1] = in_memory(SAVED_FP);
	w->far[at + 6] = in_memory(CALLER);
	/* jmp *(%rbp) */
	put_code(w, "\xff\x65\x00", 3);
}

static const struct bobbin_regs haskell = {
	.pc = FUNCTION, .sp = STACK, .fp = STACK + 256, .exact = true};

static void haskell_code_runs_in_the_frame_of_stg_run(void **state)
{
	struct world w;

	(void)state;
	put_stg_run(&w, 0);
	/* older than the frame */
	put_word(&w, 3, OUTER);
	expect(&w, &haskell, BOBBIN_SOURCE_PATH, CALLER);
	assert_int_equal(w.frames.regs.sp, STACK + 16440);
	assert_int_equal(w.frames.regs.fp, SAVED_FP);
}

static void haskell_code_takes_off_what_it_has_pushed_for_a_call(void **state)
{
	struct bobbin_regs regs = haskell;
	struct world w;

	(void)state;
	put_stg_run(&w, 2);
	/* add $16,%rsp; jmp *(%rbp), after a call */
	put_code(&w, "\x48\x83\xc4\x10\xff\x65\x00", 7);
	w.code[FUNCTION - CODE - CALL_SIZE] = 0xe8;
	regs.exact = false;
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
	assert_int_equal(w.frames.regs.sp, STACK + 16 + 16440);
}

static void what_haskell_code_has_called_does_not_run_in_its_frame(void **state)
{
	struct world w;

	(void)state;
	put_stg_run(&w, 2);
	assert_int_not_equal(step(&w, &haskell, &(enum bobbin_reason){0}), BOBBIN_SOURCE_PATH);
}

static void code_returns_to_its_caller_below_the_frame_of_stg_run(void **state)
{
	struct world w;

	(void)state;
	put_stg_run(&w, 1);
	/* ret */
	put_code(&w, "\xc3", 1);
	put_word(&w, 0, OUTER);
	expect(&w, &haskell, BOBBIN_SOURCE_PATH, OUTER);
}

static void another_function_than_stg_run_proves_nothing(void **state)
{
	struct world w;

	(void)state;
	put_stg_run(&w, 0);
	w.code[STG_RUN - CODE + 3]++;
	assert_int_not_equal(step(&w, &haskell, &(enum bobbin_reason){0}), BOBBIN_SOURCE_PATH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_leaf_without_a_frame_does_not_lose_its_caller),
		cmocka_unit_test(a_record_is_proved_where_nothing_else_can_be_the_caller),
		cmocka_unit_test(a_record_is_not_proved_by_itself),
		cmocka_unit_test(a_return_address_that_was_pushed_is_not_passed_over),
		cmocka_unit_test(code_of_another_function_maybe_is_a_guess),
		cmocka_unit_test(code_that_cannot_be_read_proves_nothing),
		cmocka_unit_test(a_call_of_what_is_no_code_has_its_caller_on_the_stack),
		cmocka_unit_test(a_return_to_what_is_no_code_proves_nothing),
		cmocka_unit_test(a_return_address_outside_of_code_ends_a_walk),
		cmocka_unit_test(all_ways_say_what_one_does_not),
		cmocka_unit_test(beyond_calls_the_start_of_the_function_must_agree),
		cmocka_unit_test(code_that_was_jumped_to_runs_in_the_frame_that_was_made),
		cmocka_unit_test(what_makes_the_frame_may_be_called_through_a_pointer),
		cmocka_unit_test(another_return_address_in_the_frame_leaves_a_guess),
		cmocka_unit_test(a_frame_of_another_size_proves_nothing),
		cmocka_unit_test(two_frames_that_fit_prove_nothing),
		cmocka_unit_test(code_of_files_is_no_code_that_was_jumped_to),
		cmocka_unit_test(a_switch_of_a_file_does_not_jump_to_made_code),
		cmocka_unit_test(the_codes_own_way_disputes_another_frame),
		cmocka_unit_test(haskell_code_runs_in_the_frame_of_stg_run),
		cmocka_unit_test(haskell_code_takes_off_what_it_has_pushed_for_a_call),
		cmocka_unit_test(what_haskell_code_has_called_does_not_run_in_its_frame),
		cmocka_unit_test(code_returns_to_its_caller_below_the_frame_of_stg_run),
		cmocka_unit_test(another_function_than_stg_run_proves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
