/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/made_code.h"

#include <bobbin/arch.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash_index.h"
#include "core/bytes.h"

/* For which an answer is kept, and for which it is if the code around the PC stays as it is. */
#define KEPT_NS (50 * UINT64_C(1000000))
#define KEPT_SAME_NS NS_PER_SECOND
/* What is looked at then, half of it before the PC. */
#define SAME_SIZE 128u
#define ANSWERS 2048u
/* Where functions may start: so far before the PC. */
#define FARTHEST_START 16384u
#define ALIGNMENT 16u
#define CALL_SIZE 5u
/* movabs $function, %r11; call *%r11 */
#define FAR_CALL_SIZE 13u
/* The caller's frame pointer, in terms of the stack pointer at a function's start: nowhere near. */
#define ELSEWHERE (UINT64_C(1) << 62)

/**
 * struct made_answer - what was found for a frame's code
 * @pid, @pc, @time: of the question; 0: there is none
 * @seen, @around: when the code around the PC was last seen, and its hash
 * @start: where a function starts that leads to the PC, or 0; @to_sp, @to_fp: with these registers
 * @proved: that is where the return address was
 * @found, @doubtful, @rule: by the ways from the PC on
 * @asked, @sought: for the rule, and for starts
 */
struct made_answer {
	uint64_t pc, time, seen, around, start;
	int pid;
	bool exact, asked, sought, proved, found, doubtful;
	struct code_value to_sp, to_fp;
	struct bobbin_rule rule;
};

struct made_code {
	struct code_survey survey;
	struct made_answer answers[ANSWERS];
	uint64_t second; /* when it began */
	uint32_t left;   /* instructions in it */
};

struct made_code *made_code_open(void)
{
	return calloc(1, sizeof(struct made_code));
}

void made_code_close(struct made_code *made)
{
	free(made);
}

static bool may_look(struct made_code *m, uint64_t now)
{
	if (!m->second || now - m->second >= NS_PER_SECOND) {
		m->second = now;
		m->left = MADE_CODE_RATE;
	}
	return m->left >= SURVEY_INSNS;
}

static void look(struct made_code *m, const struct survey_query *query, struct survey_answer *ret)
{
	const uint32_t insns = code_survey_run(&m->survey, query, ret);

	m->left -= insns < m->left ? insns : m->left;
}

/* A hash of the code around the PC; 0: it cannot be read. */
static uint64_t hash_around(const struct made_query *q)
{
	char code[SAME_SIZE];

	if (!q->code.read(q->code.ctx, q->regs->pc - SAME_SIZE / 2, code, sizeof(code)))
		return 0;
	return hash_bytes(code, sizeof(code), 0) | 1;
}

/* Whether an answer still holds; code that is replaced differs around the PC, too. */
static bool is_fresh(struct made_answer *a, const struct made_query *q, uint64_t now)
{
	if (now - a->seen < KEPT_NS)
		return true;
	if (now - a->time >= KEPT_SAME_NS || !a->around || hash_around(q) != a->around)
		return false;
	a->seen = now;
	return true;
}

/* The answer for the frame's code, which may be a new one. */
static struct made_answer *answer_of(struct made_code *m, const struct made_query *q)
{
	const struct bobbin_regs *regs = q->regs;
	const uint64_t now = clock_now(), key = regs->pc + ((uint64_t)q->pid << 32) + regs->exact;
	struct made_answer *a = &m->answers[(key * 0x9e3779b97f4a7c15ull >> 40) % ANSWERS];

	const bool same = a->time && a->pc == regs->pc && a->pid == q->pid &&
			  a->exact == regs->exact;

	if (same && is_fresh(a, q, now))
		return a;
	if (!may_look(m, now))
		return NULL;
	*a = (struct made_answer){
		.pid = q->pid,
		.pc = regs->pc,
		.exact = regs->exact,
		.time = now,
		.seen = now,
		.around = hash_around(q),
		.start = same ? a->start : 0,
	};
	return a;
}

/* From the PC on: first what crosses no call, which needs no other proof at a leaf. */
static void ask_ways(struct made_code *m, const struct made_query *q, struct made_answer *a)
{
	struct survey_query query = {
		.code = q->code,
		.start = q->start,
		.end = q->end,
		.from = q->regs->pc,
		.sp = q->regs->sp,
		.fp = q->regs->fp,
		.exact = q->regs->exact,
	};
	struct survey_answer found;

	look(m, &query, &found);
	if (!found.returns) {
		query.over_calls = true;
		look(m, &query, &found);
	}
	a->found = found.returns && !found.conflict;
	a->doubtful = found.doubtful;
	a->rule = found.rule;
	if (query.over_calls || !q->regs->exact)
		a->rule.flags |= BOBBIN_RULE_LEAF;
}

bool made_code_rule(struct made_code *made, const struct made_query *query, struct bobbin_rule *ret,
		    bool *doubtful)
{
	struct made_answer *a = answer_of(made, query);

	if (!a)
		return false;
	if (!a->asked)
		ask_ways(made, query, a);
	a->asked = true;
	*doubtful = a->doubtful;
	if (a->found)
		*ret = a->rule;
	return a->found;
}

/* What the way from a function's start to the PC says of the frame there; false: nothing. */
static bool ask_start(struct made_code *m, const struct made_query *q, struct made_answer *a,
		      uint64_t start, bool is_called)
{
	const struct survey_query query = {
		.code = q->code,
		.start = q->start,
		.end = q->end,
		.from = start,
		.to = q->regs->pc,
		.fp = ELSEWHERE,
		.exact = true,
		.over_calls = true,
		.to_exact = q->regs->exact,
	};
	struct survey_answer found;

	if (m->left < SURVEY_INSNS)
		return false;
	look(m, &query, &found);
	if (!found.reached || found.spent || (!is_called && !found.undone))
		return false;
	a->start = start;
	a->to_sp = found.to_sp;
	a->to_fp = found.to_fp;
	return true;
}

/* What the call before @word calls; 0: that is not known, or is elsewhere. */
static uint64_t callee_before(const struct made_query *q, uint64_t word)
{
	const uint8_t far_call[] = {0x41, 0xff, 0xd3};
	uint8_t code[FAR_CALL_SIZE];
	uint64_t to = 0;

	if (!q->code.read(q->code.ctx, word - sizeof(code), code, sizeof(code)))
		return 0;
	if (code[FAR_CALL_SIZE - CALL_SIZE] == 0xe8)
		to = word + (uint64_t)(int64_t)(int32_t)load_u32(
				    code + FAR_CALL_SIZE - CALL_SIZE + 1, false);
	else if (code[0] == 0x49 && code[1] == 0xbb &&
		 !memcmp(code + 10, far_call, sizeof(far_call)))
		to = load_u64(code + 2, false);
	return to >= q->start && to < q->end ? to : 0;
}

/* Where the function's start says that the return address is. */
static bool has_slot(const struct made_query *q, const struct made_answer *a, uint64_t slot)
{
	if (code_is_address(&a->to_sp) && a->to_sp.base == CODE_SP)
		return q->regs->sp - (uint64_t)(int64_t)a->to_sp.off == slot;
	return code_is_address(&a->to_fp) && a->to_fp.base == CODE_SP &&
	       q->regs->fp - (uint64_t)(int64_t)a->to_fp.off == slot;
}

/* Whether a frame record is made soon after an address: push %rbp; mov %rsp, %rbp. */
static bool makes_record_soon(const struct made_query *q, uint64_t at)
{
	static const uint8_t record[] = {0x55, 0x48, 0x89, 0xe5};
	uint8_t code[2 * ALIGNMENT];

	return q->code.read(q->code.ctx, at, code, sizeof(code)) &&
	       memmem(code, sizeof(code), record, sizeof(record));
}

/*
 * Among multiples of sixteen from the PC on downward; @records: only where a frame record is made.
 * What is tried need not be a start: if the frame of its function was there already, the return
 * address would be elsewhere.
 */
static bool seek_start_among(struct made_code *m, const struct made_query *q, struct made_answer *a,
			     uint64_t slot, bool records)
{
	const uint32_t left = m->left;

	for (uint64_t at = q->regs->pc - q->regs->pc % ALIGNMENT;
	     at >= q->start && q->regs->pc - at < FARTHEST_START && left - m->left < SURVEY_INSNS;
	     at -= ALIGNMENT)
		if ((!records || makes_record_soon(q, at)) && ask_start(m, q, a, at, false) &&
		    has_slot(q, a, slot))
			return true;
	return false;
}

/* Large functions are many tries, of which the first one is right where there is a frame record. */
static bool seek_start(struct made_code *m, const struct made_query *q, struct made_answer *a,
		       uint64_t slot)
{
	return seek_start_among(m, q, a, slot, true) || seek_start_among(m, q, a, slot, false);
}

static bool find_start(struct made_code *m, const struct made_query *q, struct made_answer *a,
		       uint64_t slot, uint64_t word)
{
	const uint64_t callee = callee_before(q, word), known = a->start;

	a->start = 0;
	if (callee && ask_start(m, q, a, callee, true) && has_slot(q, a, slot))
		return true;
	if (known && ask_start(m, q, a, known, false) && has_slot(q, a, slot))
		return true;
	return seek_start(m, q, a, slot);
}

bool made_code_proves(struct made_code *made, const struct made_query *query, uint64_t slot,
		      uint64_t word)
{
	struct made_answer *a = answer_of(made, query);

	if (!a)
		return false;
	if (!a->sought)
		a->proved = find_start(made, query, a, slot, word);
	a->sought = true;
	return a->proved && has_slot(query, a, slot);
}

void made_code_look(struct made_code *made, const struct survey_query *query,
		    struct survey_answer *ret)
{
	code_survey_run(&made->survey, query, ret);
}
