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

/* The least frame for which the assembler saves the frame pointer: one word and that. */
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
	uint32_t first; /* the function's first value other than 0, or 0 */
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

static bool is_named(const struct pclntab *t, const struct function *f, const char *name)
{
	struct bytes b = bytes_from(t, t->names + f->name);

	for (; *name; name++)
		if (bytes_u8(&b) != (uint8_t)*name || b.bad)
			return false;
	return true;
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
	if (!run->first)
		run->first = run->by;
	return 0;
}

/* The run that holds @pc, and the function's first value wherever it is. */
static int find_run(const struct pclntab *t, const struct function *f, uint64_t pc,
		    struct moved *ret)
{
	struct bytes b = bytes_from(t, t->values + f->values);
	struct moved run = {.end = f->start, .by = UINT32_MAX};
	int r;

	do
		r = next_run(&b, f, &run);
	while (!r && pc >= run.end);
	if (r)
		return r;
	*ret = run;
	while (!r && !run.first)
		r = next_run(&b, f, &run);
	ret->first = run.first;
	return 0;
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
 * The stack pointer may be anything.  If the assembler made the frame, the frame pointer
 * is in it, on the stack of the caller.
 */
static struct bobbin_rule switched_rule(const struct bobbin_arch *arch, const struct function *f,
					const struct moved *run)
{
	struct bobbin_rule rule = moved_rule(arch, f, run);

	if (run->first < LEAST_RECORD)
		return bobbin_rule_none(BOBBIN_REASON_OTHER_STACK);
	if (!run->by)
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

static int row_in(const struct pclntab *t, const struct bobbin_arch *arch, const struct function *f,
		  uint64_t pc, struct bobbin_error *err, struct bobbin_row *ret)
{
	struct bobbin_row row = {.start = f->start, .end = f->end, .function = f->start};
	struct moved run;
	int r;

	if (is_root(t, f)) {
		row.rule = outermost_rule(arch);
		row.rule.cfa.off = 8;
	} else if (is_named(t, f, "runtime.sigreturn")) {
		signal_frame_rule(arch, &row.rule);
	} else {
		r = find_run(t, f, pc, &run);
		if (r)
			return refuse_as(r, err, t->values,
					 r == -BOBBIN_ENOENT ? BOBBIN_REASON_NO_ROW
							     : BOBBIN_REASON_GO_TABLE);
		row.start = run.start;
		row.end = run.end;
		row.rule = f->flags & SPWRITE ? switched_rule(arch, f, &run)
					      : moved_rule(arch, f, &run);
	}
	*ret = row;
	return 0;
}

int pclntab_lookup(const struct pclntab *table, const struct bobbin_arch *arch, uint64_t pc,
		   struct bobbin_error *err, struct bobbin_row *ret)
{
	struct function f, next;
	uint32_t index;
	int r = find_function(table, pc, err, &index, &f);

	if (r)
		return r;
	/* a handler returns to the first byte of the trampoline, so that the one before is asked for */
	if (pc + 1 == f.end && index + 1 < table->count &&
	    !read_function(table, index + 1, NULL, &next) &&
	    is_named(table, &next, "runtime.sigreturn")) {
		*ret = (struct bobbin_row){.start = pc, .end = f.end, .function = next.start};
		signal_frame_rule(arch, &ret->rule);
		return 0;
	}
	return row_in(table, arch, &f, pc, err, ret);
}
