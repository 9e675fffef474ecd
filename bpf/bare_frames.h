/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bare_frames.h - step from code without a table, by what the code and the stack say.
 *
 * core/bare_code.h decides; here is what it asks of the current process's code.  What only
 * user space can tell is not known here, and what is not proved is user space's.
 */
#ifndef BOBBIN_BARE_FRAMES_H
#define BOBBIN_BARE_FRAMES_H

#include "core/haskell_frame.h"

/* enum code_answer: whether a call may return there; user space knows signal handlers. */
BOBBIN_STAGE int code_returns(uint64_t pc)
{
	uint8_t code[CODE_AROUND];

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(pc - CODE_BEFORE)))
		return CODE_UNREADABLE;
	if (call_code_ends(BOBBIN_NATIVE_ARCH(), code + CODE_BEFORE - CALL_CODE_SIZE))
		return CODE_YES;
	for (unsigned int i = CODE_BEFORE; i + 1 < CODE_AROUND; i++)
		if (is_syscall(code + i))
			return CODE_UNREADABLE;
	return CODE_NO;
}

/* push link_map(%rip), as known_code_resolver() */
BOBBIN_STAGE int code_is_resolver(uint64_t pc)
{
	uint8_t code[6];

	return !bpf_probe_read_user(code, sizeof(code), (const void *)(pc - sizeof(code))) &&
	       code[0] == 0xff && code[1] == 0x35;
}

/*
 * The instruction that the path of a state has come to.  The verifier allows calls eight deep: all
 * that decodes an instruction is one function here, and all that it does another, so that what is
 * proved of one is not proved again for each way through the other.
 */
BOBBIN_STAGE __attribute__((flatten)) int split_code(uint32_t number)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);

	if (!s)
		return false;
	if (bpf_probe_read_user(s->walk.resort.code, CODE_PATH_BYTES,
				(const void *)s->walk.resort.path.pc)) {
		note_code(s, s->walk.resort.path.pc);
		return false;
	}
	return x86_bytes_split(s->walk.resort.code, &s->insn);
}

BOBBIN_STAGE __attribute__((flatten)) int go_over_code(uint32_t number)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);

	return s ? x86_path_go(&s->walk.resort.path, &s->insn, s->walk.resort.code)
		 : CODE_TURN_STUCK;
}

static BOBBIN_ALWAYS_INLINE enum code_answer world_returns(struct frame_walk *w, uint64_t addr)
{
	return (enum code_answer)code_returns(addr);
}

/* Code that is made at run time changes: nothing is kept. */
static BOBBIN_ALWAYS_INLINE void world_keep(struct frame_walk *w, const struct bobbin_rule *rule)
{
}

static BOBBIN_ALWAYS_INLINE bool world_kept(struct frame_walk *w, struct bobbin_rule *ret)
{
	return false;
}

/* User space looks at all ways of the code. */
static BOBBIN_ALWAYS_INLINE bool world_ways(struct frame_walk *w, struct bobbin_rule *ret,
					    bool *doubtful)
{
	return false;
}

static BOBBIN_ALWAYS_INLINE bool world_proves(struct frame_walk *w, uint64_t slot, uint64_t word)
{
	return false;
}

static BOBBIN_ALWAYS_INLINE bool leads_to_root(struct frame_walk *w, uint64_t addr,
					       enum code_answer returns)
{
	return ends_at(addr) == CODE_YES;
}

/* User space follows what was called. */
static BOBBIN_ALWAYS_INLINE bool step_entered(struct frame_walk *w)
{
	return false;
}

static BOBBIN_ALWAYS_INLINE bool is_resolver(struct frame_walk *w, uint64_t addr)
{
	return code_is_resolver(addr);
}

static BOBBIN_ALWAYS_INLINE enum code_turn path_turn(struct frame_walk *w)
{
	const uint32_t number = ((struct walk_state *)w)->number;

	return split_code(number) ? (enum code_turn)go_over_code(number) : CODE_TURN_STUCK;
}

/* By a plain rule. */
static BOBBIN_ALWAYS_INLINE bool leads_on_by_table(struct frame_walk *w,
						   const struct bobbin_regs *caller)
{
	uint64_t word, cfa = 0, ra = 0;
	uint8_t source;

	word = unchecked_packed(w, caller->pc - 1, &source);
	if (!word)
		return false;
	if (!plain_cfa(&w->forms, word, caller->sp, caller->fp, &cfa))
		return plain_outermost(word);
	return cfa > caller->sp && !(cfa & 7) && !world_word(w, cfa + PLAIN_RA_OFF, &ra) &&
	       code_returns(ra) == CODE_YES;
}

/* A step has proved nothing: have the code waited for that it would have read of other frames. */
BOBBIN_STAGE int note_missing_callers(uint32_t number)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	const struct fallbacks *r;

	if (!s)
		return 0;
	r = &s->walk.resort;
	return (r->first.word && misses_code(s, r->first.word)) ||
	       (r->by_code.exists && misses_code(s, r->by_code.caller.pc)) ||
	       (r->by_record.exists && misses_code(s, r->by_record.caller.pc));
}

struct stg_search {
	uint64_t sp, word;
	int32_t distance;
	bool found;
	uint8_t code[STG_RUN_SIZE];
};

/* As calls_stg_run().  A stack that ends before is none whose page is to be waited for. */
static long turn_of_stg_run(uint32_t i, void *ctx)
{
	struct stg_search *c = ctx;

	if (bpf_probe_read_user(&c->word, sizeof(c->word), (const void *)(c->sp + STG_RUN_RA)))
		return 1;
	c->found = !bpf_probe_read_user(c->code, 1, (const void *)(c->word - 5)) &&
		   c->code[0] == 0xe8 &&
		   !bpf_probe_read_user(&c->distance, 4, (const void *)(c->word - 4)) &&
		   !bpf_probe_read_user(c->code, STG_RUN_SIZE,
					(const void *)(c->word + (uint64_t)(int64_t)c->distance)) &&
		   stg_run_code(c->code);
	if (!c->found)
		c->sp += 8;
	return c->found;
}

/* See core/haskell_frame.h. */
BOBBIN_STAGE __attribute__((flatten)) uint64_t search_stg_run(uint64_t sp)
{
	struct stg_search c = {.sp = sp};

	bpf_loop(HASKELL_WORDS, turn_of_stg_run, &c, 0);
	return c.found ? c.sp : 0;
}

static BOBBIN_ALWAYS_INLINE uint64_t stg_run_above(struct frame_walk *w)
{
	return search_stg_run(w->regs.sp);
}

/* Step to the caller of a frame without a table; or the reason why it is not certain. */
BOBBIN_STAGE int step_bare(uint32_t number, struct plain_frame *f)
{
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	struct frame_walk *w;
	enum bobbin_source source;

	if (!s || !f)
		return BOBBIN_REASON_NO_TABLE;
	w = &s->walk;
	w->some_code = false;
	w->late_code = true;
	w->regs = (struct bobbin_regs){.pc = f->pc, .sp = f->sp, .fp = f->fp, .exact = f->exact};
	source = step_in_code(w);
	f->source = (uint8_t)source;
	if (source == BOBBIN_SOURCE_NONE || source == BOBBIN_SOURCE_GUESS) {
		note_missing_callers(number);
		return BOBBIN_REASON_NO_TABLE;
	}
	plain_frame_move(f, w->regs.pc, w->regs.sp, w->regs.fp);
	return BOBBIN_REASON_NONE;
}

#endif
