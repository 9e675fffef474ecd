/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "golang/pclntab.h"

#include "core/bisect.h"
#include "core/bytes.h"
#include "core/frame_rules.h"
#include "core/refusal.h"
#include "core/trampoline.h"

#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

#define HEADER_SIZE 72
#define TEXT_START_AT 24
#define ENTRY_SIZE 8 /* start, offset of the record */
/* Fields of a function's record. */
#define NAME_AT 4
#define VALUES_AT 16
#define FLAGS_AT_1_18 37
#define FLAGS_AT_1_20 41

/* Longer names are none. */
#define NAME_MOST 4096

#define TOPFRAME 1
#define SPWRITE 2
#define ASSEMBLY 4

/* Bytes of the code by which the assembler saves the frame pointer first, since Go 1.21: push, mov. */
#define PUSH_SIZE 1
#define PUSHED_SIZE 4
/* The least frame for which it did so before, sub, mov and lea: one word and that. */
#define LEAST_RECORD 16
/* Larger frames than any stack of Go's, which has a limit of a gigabyte. */
#define MOST (1 << 30)

struct function {
	uint64_t start, end;
	uint32_t name, values;
	uint8_t flags;
};

/* A run of values: by how much the stack pointer has moved in [@start, @end). */
struct moved {
	uint64_t start, end;
	uint32_t by;
};

/*
 * The greatest value of a function; of one that writes to the stack pointer also from where to where
 * the frame pointer leads to the caller's frame, which is in a record that the assembler made or not.
 */
struct extent {
	uint32_t most;
	bool recorded;
	uint64_t from, to;
};

static struct bytes bytes_from(const struct pclntab *t, uint64_t offset)
{
	struct bytes b = bytes_of(t->data, t->size, false);

	bytes_seek(&b, offset);
	return b;
}

bool pclntab_begins(const uint8_t mark[PCLNTAB_MARK_SIZE])
{
	uint32_t magic = load_u32(mark, false);

	/* zeros, least size of instructions, size of pointers */
	return (magic == MAGIC_1_18 || magic == MAGIC_1_20) &&
	       load_u32(mark + 4, false) == 0x08010000;
}

bool pclntab_says_text(const void *data, uint64_t size)
{
	struct bytes b = bytes_of(data, size, false);

	bytes_seek(&b, TEXT_START_AT);
	return bytes_u64(&b) != 0;
}

int pclntab_init(const void *data, uint64_t size, uint64_t text, const struct bobbin_arch *arch,
		 struct bobbin_error *err, struct pclntab *ret)
{
	struct bytes b = bytes_of(data, size, false);
	struct pclntab t = {.data = data, .size = size};
	uint64_t count;

	if (arch != bobbin_arch_amd64() || size < HEADER_SIZE || !pclntab_begins(data))
		return refuse(err, 0, BOBBIN_REASON_GO_TABLE);
	t.flags_at = load_u32(data, false) == MAGIC_1_18 ? FLAGS_AT_1_18 : FLAGS_AT_1_20;
	bytes_seek(&b, PCLNTAB_MARK_SIZE);
	count = bytes_u64(&b);
	bytes_skip(&b, 8);
	t.text_start = bytes_u64(&b);
	t.names = bytes_u64(&b);
	bytes_skip(&b, 16);
	t.values = bytes_u64(&b);
	t.functions = bytes_u64(&b);
	/* Go 1.26 leaves it out, some linkers leave it to a relocation */
	if (!t.text_start)
		t.text_start = text;
	if (!t.text_start)
		return refuse(err, TEXT_START_AT, BOBBIN_REASON_GO_TABLE);
	if (t.names > size || t.values > size || t.functions > size)
		return refuse(err, b.pos, BOBBIN_REASON_GO_TABLE);
	/* each function's, and where the last one ends */
	if (!count || count > (size - t.functions) / ENTRY_SIZE ||
	    size - t.functions - count * ENTRY_SIZE < 4)
		return refuse(err, PCLNTAB_MARK_SIZE, BOBBIN_REASON_GO_TABLE);
	t.count = (uint32_t)count;
	*ret = t;
	return 0;
}

/* Of a function, or where the last one ends. */
static uint32_t start_of(const struct pclntab *t, uint32_t i)
{
	return load_u32(t->data + t->functions + (uint64_t)i * ENTRY_SIZE, false);
}

static int read_function(const struct pclntab *t, uint32_t i, struct bobbin_error *err,
			 struct function *ret)
{
	uint64_t at = t->functions + (uint64_t)i * ENTRY_SIZE, record;
	struct function f = {
		.start = t->text_start + start_of(t, i),
		.end = t->text_start + start_of(t, i + 1),
	};
	struct bytes b;

	record = t->functions + load_u32(t->data + at + 4, false);
	b = bytes_from(t, record + NAME_AT);
	f.name = bytes_u32(&b);
	bytes_seek(&b, record + VALUES_AT);
	f.values = bytes_u32(&b);
	bytes_seek(&b, record + t->flags_at);
	f.flags = bytes_u8(&b);
	if (b.bad || f.start >= f.end)
		return refuse(err, at, BOBBIN_REASON_GO_TABLE);
	*ret = f;
	return 0;
}

/* The last function that starts at or before an offset in the text. */
static int find_function(const struct pclntab *t, uint64_t pc, struct bobbin_error *err,
			 uint32_t *index, struct function *ret)
{
	uint64_t offset = pc - t->text_start;
	uint32_t after;
	int r;

	if (pc < t->text_start || offset < start_of(t, 0) || offset >= start_of(t, t->count))
		return refuse_as(-BOBBIN_ENOENT, err, 0, BOBBIN_REASON_NO_FUNCTION);
	after = bisect(i, 0, t->count, start_of(t, i) > offset);
	*index = after - 1;
	r = read_function(t, after - 1, err, ret);
	if (r)
		return r;
	/* unsorted, so the search went wrong */
	if (pc < ret->start || pc >= ret->end)
		return refuse(err, t->functions, BOBBIN_REASON_GO_TABLE);
	return 0;
}

int pclntab_function(const struct pclntab *table, uint64_t pc, struct bobbin_error *err,
		     uint64_t *start, uint64_t *end)
{
	struct function f;
	uint32_t index;
	int r = find_function(table, pc, err, &index, &f);

	if (r)
		return r;
	*start = f.start;
	*end = f.end;
	return 0;
}

const char *pclntab_name(const struct pclntab *table, uint64_t pc, uint64_t *start)
{
	struct function f;
	struct bytes b;
	uint32_t index;

	if (!table->data || find_function(table, pc, NULL, &index, &f))
		return NULL;
	b = bytes_from(table, table->names + f.name);
	for (uint32_t i = 0; i < NAME_MOST; i++) {
		uint8_t c = bytes_u8(&b);

		if (b.bad || (!c && !i))
			return NULL;
		if (!c) {
			*start = f.start;
			return (const char *)table->data + table->names + f.name;
		}
	}
	return NULL;
}

int pclntab_entry(const struct pclntab *table, uint32_t index, uint64_t *start, uint64_t *end)
{
	struct function f;
	int r = read_function(table, index, NULL, &f);

	if (r)
		return r;
	*start = f.start;
	*end = f.end;
	return 0;
}

/* Whether the function is called so, or so with more after it; *@next: the byte there. */
static bool begins(const struct pclntab *t, const struct function *f, const char *name,
		   uint8_t *next)
{
	struct bytes b = bytes_from(t, t->names + f->name);

	for (; *name; name++)
		if (bytes_u8(&b) != (uint8_t)*name || b.bad)
			return false;
	*next = bytes_u8(&b);
	return true;
}

static bool is_named(const struct pclntab *t, const struct function *f, const char *name)
{
	uint8_t next;

	return begins(t, f, name, &next);
}

static bool is_called(const struct pclntab *t, const struct function *f, const char *name)
{
	uint8_t next;

	return begins(t, f, name, &next) && !next;
}

uint64_t pclntab_named(const struct pclntab *table, const char *name)
{
	struct function f;

	for (uint32_t i = 0; i < table->count; i++)
		if (!read_function(table, i, NULL, &f) && is_named(table, &f, name))
			return f.start;
	return 0;
}

/*
 * Runs are pairs of differences, of the value and of the PC; a difference of 0 ends them.
 * Each moves the PC, so there are no more than the function has bytes.
 */
static int next_run(struct bytes *b, const struct function *f, struct moved *run)
{
	uint64_t zigzag = bytes_uleb(b), size;
	bool first = run->end == f->start;

	if (!zigzag && !first)
		return -BOBBIN_ENOENT;
	run->by += (uint32_t)(zigzag >> 1) ^ (0u - (uint32_t)(zigzag & 1));
	size = bytes_uleb(b);
	run->start = run->end;
	if (b->bad || !size || size > f->end - run->end || run->by > MOST || run->by % 8)
		return -BOBBIN_EBADMSG;
	run->end += size;
	return 0;
}

static struct bytes first_run(const struct pclntab *t, const struct function *f, struct moved *run)
{
	*run = (struct moved){.end = f->start, .by = UINT32_MAX};
	return bytes_from(t, t->values + f->values);
}

/* The run that holds @pc. */
static int find_run(const struct pclntab *t, const struct function *f, uint64_t pc,
		    struct moved *ret)
{
	struct moved run;
	struct bytes b = first_run(t, f, &run);
	int r;

	do
		r = next_run(&b, f, &run);
	while (!r && pc >= run.end);
	if (!r)
		*ret = run;
	return r;
}

/* Where the frame pointer has been set, if the stack pointer first moves at @run; 0: by no code of the assembler's. */
static uint64_t record_of(const struct function *f, const struct moved *run)
{
	const uint64_t before = run->start - f->start;
	const uint32_t size = run->by < 128 ? 1 : 4; /* of a constant in the code */
	const uint32_t to = run->by - 8 < 128 ? 1 : 4;

	if (before == PUSH_SIZE && run->by == 8)
		return f->start + PUSHED_SIZE;
	/* 128 are taken by adding -128 */
	if (run->by < LEAST_RECORD || (before != 3 + size && (run->by != 128 || before != 4)))
		return 0;
	return run->start + 2 * (4 + to);
}

/* Without a record it does so in what asmcgocall() calls. */
static struct extent extent_of(const struct pclntab *t, const struct function *f)
{
	struct extent extent = {.from = t->c_returns - 1, .to = t->c_returns};
	bool moved = false;
	struct moved run;
	struct bytes b = first_run(t, f, &run);

	if (extent.to <= f->start || extent.to > f->end)
		extent.from = extent.to = f->start;
	while (!next_run(&b, f, &run)) {
		uint64_t record = run.by && !moved ? record_of(f, &run) : 0;

		moved |= run.by != 0;
		if (record)
			extent = (struct extent){extent.most, true, record, f->end};
		if (run.by > extent.most)
			extent.most = run.by;
	}
	return extent;
}

/* By how much the frame of a function in Go reaches below its return address; 0: there is none. */
static uint32_t frame_of(const struct pclntab *t, const char *name)
{
	struct function f;

	for (uint32_t i = 0; i < t->count; i++)
		if (!read_function(t, i, NULL, &f) && is_called(t, &f, name))
			return extent_of(t, &f).most;
	return 0;
}

void pclntab_note_c_call(struct pclntab *table, uint64_t returns)
{
	struct function f;
	uint32_t index, frame;

	if (find_function(table, returns - 1, NULL, &index, &f) || extent_of(table, &f).recorded)
		return;
	frame = frame_of(table, "runtime.cgocall");
	if (!frame)
		return;
	table->c_returns = returns;
	table->c_frame = frame;
}

/* Cut to the part with @pc, in which one rule holds. */
static void cut_run(struct moved *run, const struct extent *extent, uint64_t pc)
{
	const uint64_t from = extent->from, to = extent->to;

	if (pc >= from && run->start < from)
		run->start = from;
	if (pc >= to && run->start < to)
		run->start = to;
	if (pc < from && run->end > from)
		run->end = from;
	if (pc < to && run->end > to)
		run->end = to;
}

/*
 * Functions that are written in Go save the frame pointer below the return address when
 * they have a frame.  Assembly may save it elsewhere or not, but its callers know their
 * own without it.
 */
static struct bobbin_rule moved_rule(const struct bobbin_arch *arch, const struct function *f,
				     const struct moved *run)
{
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	rule.cfa = place_of(BOBBIN_HOW_AT_REG, arch->sp, (int32_t)run->by + 8);
	rule.ra = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	rule.fp = f->flags & ASSEMBLY || !run->by ? place_of(BOBBIN_HOW_SAME, 0, 0)
						  : place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -16);
	return rule;
}

/*
 * mcall() leaves the goroutine for the scheduler, on the stack of the thread, and what it calls there
 * never returns: the goroutine goes on by what was saved of it, maybe on another thread.  So
 * that frame has no caller, which is what the runtime says, too.  The argument of the call is the
 * last that the function pushes.
 */
static bool has_left_for_good(const struct pclntab *t, const struct function *f,
			      const struct moved *run, const struct extent *extent)
{
	return run->by && run->by == extent->most && is_named(t, f, "runtime.mcall");
}

/*
 * What is called on another stack by a function without a record: the frame pointer, which C
 * preserves, is that of who has called it, which is cgocall().
 */
static struct bobbin_rule cgo_rule(const struct pclntab *t, const struct bobbin_arch *arch,
				   const struct bobbin_rule *called)
{
	struct bobbin_rule rule = *called;

	rule.cfa = place_of(BOBBIN_HOW_AT_REG, arch->fp, 8 - (int32_t)t->c_frame);
	rule.flags = BOBBIN_RULE_SWITCH;
	return rule;
}

/*
 * The stack pointer may be anything.  If the assembler made the frame, the frame pointer
 * is in it, on the stack of the caller.
 */
static struct bobbin_rule switched_rule(const struct pclntab *t, const struct bobbin_arch *arch,
					const struct function *f, const struct moved *run,
					const struct extent *extent)
{
	struct bobbin_rule rule = moved_rule(arch, f, run);
	const bool within = run->start >= extent->from && run->start < extent->to;

	if (has_left_for_good(t, f, run, extent))
		return outermost_rule(arch);
	if (!extent->recorded)
		return within ? cgo_rule(t, arch, &rule)
			      : bobbin_rule_none(BOBBIN_REASON_OTHER_STACK);
	if (!run->by || !within)
		return rule;
	rule.cfa = place_of(BOBBIN_HOW_AT_REG, arch->fp, 16);
	rule.fp = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -16);
	rule.flags = BOBBIN_RULE_SWITCH;
	return rule;
}

/*
 * Go calls the handler of signals a root, too, since it knows the interrupted code by
 * other means: but a signal frame of the kernel's follows.
 */
static bool is_root(const struct pclntab *t, const struct function *f)
{
	return f->flags & TOPFRAME && !is_named(t, f, "runtime.sigtramp");
}

/* Of all of a function whose stack pointer does not matter; false: it does. */
static bool whole_rule(const struct pclntab *t, const struct bobbin_arch *arch,
		       const struct function *f, struct bobbin_rule *ret)
{
	struct bobbin_rule root = outermost_rule(arch);

	if (is_root(t, f)) {
		root.cfa.off = 8;
		*ret = root;
		return true;
	}
	if (!is_named(t, f, "runtime.sigreturn"))
		return false;
	signal_frame_rule(arch, ret);
	return true;
}

/* The rule of a run; @extent: of a function that writes to the stack pointer. */
static struct bobbin_rule run_rule(const struct pclntab *t, const struct bobbin_arch *arch,
				   const struct function *f, const struct moved *run,
				   const struct extent *extent)
{
	return f->flags & SPWRITE ? switched_rule(t, arch, f, run, extent)
				  : moved_rule(arch, f, run);
}

/* Why there is no further run. */
static enum bobbin_reason run_reason(int r)
{
	return r == -BOBBIN_ENOENT ? BOBBIN_REASON_NO_ROW : BOBBIN_REASON_GO_TABLE;
}

static int row_in(const struct pclntab *t, const struct bobbin_arch *arch, const struct function *f,
		  uint64_t pc, struct bobbin_error *err, struct bobbin_row *ret)
{
	struct bobbin_row row = {.start = f->start, .end = f->end, .function = f->start};
	struct extent extent = {0};
	struct moved run;
	int r;

	if (!whole_rule(t, arch, f, &row.rule)) {
		r = find_run(t, f, pc, &run);
		if (r)
			return refuse_as(r, err, t->values, run_reason(r));
		if (f->flags & SPWRITE) {
			extent = extent_of(t, f);
			cut_run(&run, &extent, pc);
		}
		row.start = run.start;
		row.end = run.end;
		row.rule = run_rule(t, arch, f, &run, &extent);
	}
	*ret = row;
	return 0;
}

/* A handler returns to the first byte of the trampoline, so that the one before is asked for. */
static bool is_before_trampoline(const struct pclntab *t, uint32_t index, struct function *next)
{
	return index + 1 < t->count && !read_function(t, index + 1, NULL, next) &&
	       is_named(t, next, "runtime.sigreturn");
}

int pclntab_lookup(const struct pclntab *table, const struct bobbin_arch *arch, uint64_t pc,
		   struct bobbin_error *err, struct bobbin_row *ret)
{
	struct function f, next;
	uint32_t index;
	int r = find_function(table, pc, err, &index, &f);

	if (r)
		return r;
	if (pc + 1 == f.end && is_before_trampoline(table, index, &next)) {
		*ret = (struct bobbin_row){.start = pc, .end = f.end, .function = next.start};
		signal_frame_rule(arch, &ret->rule);
		return 0;
	}
	return row_in(table, arch, &f, pc, err, ret);
}

/* Rows on their way to who wants them; none reaches beyond @end. */
struct row_outlet {
	uint64_t end;
	pclntab_sink take;
	void *ctx;
};

static int put_row(const struct row_outlet *to, struct bobbin_row *row)
{
	if (row->end > to->end)
		row->end = to->end;
	return row->start < row->end ? to->take(to->ctx, row) : 0;
}

/* The parts of a run. */
static int put_run(const struct pclntab *t, const struct bobbin_arch *arch,
		   const struct function *f, const struct extent *extent, const struct moved *run,
		   const struct row_outlet *to)
{
	struct moved part = {.end = run->start};
	int r = 0;

	while (!r && part.end < run->end) {
		uint64_t start = part.end;
		struct bobbin_row row = {.function = f->start};

		part = *run;
		cut_run(&part, extent, start);
		row.start = part.start;
		row.end = part.end;
		row.rule = run_rule(t, arch, f, &part, extent);
		r = put_row(to, &row);
	}
	return r;
}

/* What the runs do not cover is a row without a rule. */
static int put_runs(const struct pclntab *t, const struct bobbin_arch *arch,
		    const struct function *f, const struct row_outlet *to)
{
	const struct extent extent = f->flags & SPWRITE ? extent_of(t, f) : (struct extent){0};
	struct moved run;
	struct bytes b = first_run(t, f, &run);
	int r = 0;

	while (!r && run.end < f->end) {
		int end = next_run(&b, f, &run);

		if (end) {
			struct bobbin_row row = {run.end, f->end, f->start,
						 bobbin_rule_none(run_reason(end))};

			return put_row(to, &row);
		}
		r = put_run(t, arch, f, &extent, &run, to);
	}
	return r;
}

int pclntab_rows(const struct pclntab *table, const struct bobbin_arch *arch, uint32_t index,
		 pclntab_sink take, void *ctx)
{
	struct row_outlet to = {UINT64_MAX, take, ctx};
	struct function f, next;
	struct bobbin_row row;
	int r;

	/* an empty function has no rows */
	if (start_of(table, index) == start_of(table, index + 1))
		return 0;
	r = read_function(table, index, NULL, &f);
	if (r)
		return r;
	if (is_before_trampoline(table, index, &next))
		to.end = f.end - 1;
	row = (struct bobbin_row){.start = f.start, .end = f.end, .function = f.start};
	r = whole_rule(table, arch, &f, &row.rule) ? put_row(&to, &row)
						   : put_runs(table, arch, &f, &to);
	if (r || to.end == UINT64_MAX)
		return r;
	row = (struct bobbin_row){.start = to.end, .end = f.end, .function = next.start};
	signal_frame_rule(arch, &row.rule);
	return take(ctx, &row);
}
