/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_table.c - look up an address in a chain of tables that grows meanwhile.
 *
 *	head ─► { reserved_len, used_len, next, fre[] } ─► … ─► 0
 *
 * Entries ascend within a table and from one to the next, so the table to search
 * is the last whose first entry starts at or before the address.
 *
 * What the writer has stored before used_len or next must be seen by whoever has
 * seen those: each is read in one piece, and a fence keeps what is read later
 * from being read earlier.  next is read before used_len: where there is a next
 * table, this one is complete, and so is what is read of it.
 */
#include "jit/jit_table.h"

#include "core/deps.h"
#include "core/frame_rules.h"
#include "core/refusal.h"

_Static_assert(JIT_FRE_SIZE == 24 && JIT_HEAD_SIZE == 24, "sizes are those of the ABI");

/* What a lookup is about. */
struct search {
	const struct jit_chain *chain;
	uint64_t text_size;
	uint32_t off; /* of the PC in the text */
};

/* A table, as far as it was complete when it was read, and its first entry. */
struct table {
	uint64_t addr, count, next;
	struct code_jit_unwind_fre first;
};

static int load(const struct search *s, uint64_t addr, void *dst, size_t size)
{
	const struct bobbin_mem *mem = s->chain->mem;
	enum bobbin_reason reason = mem->read(mem->ctx, addr, dst, size);

	return reason ? refuse_as(-BOBBIN_EFAULT, s->chain->err, 0, reason) : 0;
}

static bool is_host_order(const struct search *s)
{
	return s->chain->arch->big_endian == BOBBIN_HOST_BIG_ENDIAN;
}

/* A word that the writer may be storing, before anything that is loaded later. */
static int load_acquire(const struct search *s, uint64_t addr, uint64_t *ret)
{
	uint64_t word;
	int status = load(s, addr, &word, sizeof(word));

	BOBBIN_READ_FENCE();
	if (!status)
		*ret = is_host_order(s) ? word : __builtin_bswap64(word);
	return status;
}

static uint32_t swap(const struct search *s, uint32_t v)
{
	return is_host_order(s) ? v : __builtin_bswap32(v);
}

static uint64_t offset_of_entry(uint64_t index)
{
	return JIT_HEAD_SIZE + index * JIT_FRE_SIZE;
}

static struct code_jit_unwind_fre swap_entry(const struct search *s,
					     const struct code_jit_unwind_fre *raw)
{
	return (struct code_jit_unwind_fre){
		.size = swap(s, raw->size),
		.ip_off = swap(s, raw->ip_off),
		.cfa_off = (int32_t)swap(s, (uint32_t)raw->cfa_off),
		.ra_off = (int32_t)swap(s, (uint32_t)raw->ra_off),
		.fp_off = (int32_t)swap(s, (uint32_t)raw->fp_off),
		.info = raw->info,
	};
}

static int load_entry(const struct search *s, const struct table *table, uint64_t index,
		      struct code_jit_unwind_fre *ret)
{
	struct code_jit_unwind_fre raw;
	int status = load(s, table->addr + offset_of_entry(index), &raw, sizeof(raw));

	if (!status)
		*ret = swap_entry(s, &raw);
	return status;
}

int jit_table_check(uint64_t addr, uint64_t reserved, uint64_t used, struct bobbin_error *err)
{
	uint64_t end;

	if (__builtin_add_overflow(addr + JIT_HEAD_SIZE, reserved, &end))
		return refuse(err, offsetof(struct code_jit_unwind_table, reserved_len),
			      BOBBIN_REASON_JIT_TABLE);
	if (used > reserved || used % JIT_FRE_SIZE)
		return refuse(err, offsetof(struct code_jit_unwind_table, used_len),
			      BOBBIN_REASON_JIT_TABLE);
	return 0;
}

static int load_table(const struct search *s, uint64_t addr, struct table *ret)
{
	struct table table = {.addr = addr};
	uint64_t reserved, used;
	int status;

	if (addr % sizeof(uint64_t) || addr > UINT64_MAX - JIT_HEAD_SIZE)
		return refuse(s->chain->err, 0, BOBBIN_REASON_JIT_TABLE);
	status = load_acquire(s, addr + offsetof(struct code_jit_unwind_table, next), &table.next);
	if (!status)
		status = load_acquire(s, addr + offsetof(struct code_jit_unwind_table, used_len),
				      &used);
	if (!status)
		status = load_acquire(
			s, addr + offsetof(struct code_jit_unwind_table, reserved_len), &reserved);
	if (!status)
		status = jit_table_check(addr, reserved, used, s->chain->err);
	if (status)
		return status;
	table.count = used / JIT_FRE_SIZE;
	if (table.count)
		status = load_entry(s, &table, 0, &table.first);
	if (!status)
		*ret = table;
	return status;
}

/* The last table that begins at or before the PC, and where the one after it begins. */
static int find_table(const struct search *s, uint64_t head, struct table *ret, uint64_t *ret_end)
{
	uint64_t addr = head;
	struct table table;
	bool found = false;

	for (unsigned int i = 0; addr; i++, addr = table.next) {
		int status;

		if (i == JIT_MAX_TABLES)
			return refuse(s->chain->err, offsetof(struct code_jit_unwind_table, next),
				      BOBBIN_REASON_JIT_CHAIN);
		status = load_table(s, addr, &table);
		if (status)
			return status;
		if (!table.count)
			continue;
		if (found && table.first.ip_off <= ret->first.ip_off)
			return refuse(s->chain->err, JIT_HEAD_SIZE, BOBBIN_REASON_JIT_ORDER);
		if (table.first.ip_off > s->off) {
			*ret_end = table.first.ip_off;
			break;
		}
		*ret = table;
		found = true;
	}
	return found ? 0 : refuse_as(-BOBBIN_ENOENT, s->chain->err, 0, BOBBIN_REASON_NO_FUNCTION);
}

/*
 * The last entry that starts at or before the PC; the first one does.  @end: in:
 * where the entries of the next table begin; out: where the next entry does.
 */
static int find_entry(const struct search *s, const struct table *table, uint64_t *end,
		      uint64_t *ret_index, struct code_jit_unwind_fre *ret)
{
	struct code_jit_unwind_fre low = table->first, middle;
	uint64_t first = 0, last = table->count;

	while (last - first > 1) {
		uint64_t index = first + (last - first) / 2;
		int status = load_entry(s, table, index, &middle);

		if (status)
			return status;
		if (middle.ip_off <= low.ip_off || middle.ip_off >= *end)
			return refuse(s->chain->err, offset_of_entry(index),
				      BOBBIN_REASON_JIT_ORDER);
		if (middle.ip_off > s->off) {
			last = index;
			*end = middle.ip_off;
		} else {
			first = index;
			low = middle;
		}
	}
	*ret_index = first;
	*ret = low;
	return 0;
}

static int check_entry(const struct search *s, const struct code_jit_unwind_fre *fre, uint64_t end,
		       uint64_t index)
{
	uint64_t fre_end = (uint64_t)fre->ip_off + fre->size;

	if (!fre->size || fre_end > s->text_size)
		return refuse(s->chain->err, offset_of_entry(index), BOBBIN_REASON_JIT_ENTRY);
	if (fre_end > end)
		return refuse(s->chain->err, offset_of_entry(index), BOBBIN_REASON_JIT_ORDER);
	return 0;
}

static int make_row(const struct search *s, const struct code_jit_unwind_fre *fre, uint64_t index,
		    struct bobbin_row *ret)
{
	struct bobbin_row row;

	if (jit_fre_rule(s->chain->arch, fre, &row.rule))
		return refuse(s->chain->err, offset_of_entry(index), BOBBIN_REASON_JIT_ENTRY);
	row.start = s->chain->info->text_start + fre->ip_off;
	row.end = row.start + fre->size;
	row.function = row.start;
	*ret = row;
	return 0;
}

static int find_row(const struct search *s, struct bobbin_row *ret)
{
	struct code_jit_unwind_fre fre;
	struct table table = {0};
	uint64_t index, end = UINT64_MAX;
	int status = find_table(s, s->chain->info->unwind_head, &table, &end);

	if (!status)
		status = find_entry(s, &table, &end, &index, &fre);
	if (!status)
		status = check_entry(s, &fre, end, index);
	if (status)
		return status;
	if (s->off - fre.ip_off >= fre.size)
		return refuse_as(-BOBBIN_ENOENT, s->chain->err, offset_of_entry(index),
				 BOBBIN_REASON_NO_FUNCTION);
	return make_row(s, &fre, index, ret);
}

int jit_table_lookup(const struct jit_chain *chain, uint64_t pc, struct bobbin_row *ret)
{
	const struct code_jit_info *info = chain->info;
	struct search s = {.chain = chain};

	if (pc < info->text_start || pc >= info->text_end || pc - info->text_start > UINT32_MAX)
		return refuse_as(-BOBBIN_ENOENT, chain->err, 0, BOBBIN_REASON_NO_FUNCTION);
	s.text_size = info->text_end - info->text_start;
	s.off = (uint32_t)(pc - info->text_start);
	return find_row(&s, ret);
}

/* What is listed: an entry is complete when it is known where the next one begins. */
struct listing {
	const struct search *search;
	struct code_jit_unwind_fre last;
	uint64_t index; /* of @last in its table */
	bool begun;
	int (*sink)(void *ctx, const struct bobbin_row *row);
	void *ctx;
};

/* The last entry, if there is one; @end: where the next one begins. */
static int list_last(const struct listing *l, uint64_t end)
{
	struct bobbin_row row;
	int status;

	if (!l->begun)
		return 0;
	status = check_entry(l->search, &l->last, end, l->index);
	if (!status)
		status = make_row(l->search, &l->last, l->index, &row);
	return status ? status : l->sink(l->ctx, &row);
}

static BOBBIN_NEVER_INLINE int list_table(struct listing *l, const struct table *table,
					  struct code_jit_unwind_fre *room, size_t room_count)
{
	for (uint64_t i = 0, part; i < table->count; i += part) {
		int status;

		part = table->count - i < room_count ? table->count - i : room_count;
		status = load(l->search, table->addr + offset_of_entry(i), room,
			      part * JIT_FRE_SIZE);
		for (uint64_t k = 0; k < part && !status; k++) {
			struct code_jit_unwind_fre fre = swap_entry(l->search, &room[k]);

			status = list_last(l, fre.ip_off);
			l->last = fre;
			l->index = i + k;
			l->begun = true;
		}
		if (status)
			return status;
	}
	return 0;
}

int jit_table_rows(const struct jit_chain *chain, struct code_jit_unwind_fre *room,
		   size_t room_count, int (*sink)(void *ctx, const struct bobbin_row *row),
		   void *ctx)
{
	const struct code_jit_info *info = chain->info;
	const struct search s = {.chain = chain, .text_size = info->text_end - info->text_start};
	struct listing l = {.search = &s, .sink = sink, .ctx = ctx};
	struct table table;
	int status = 0;

	table.next = info->unwind_head;
	for (unsigned int i = 0; table.next && !status; i++) {
		if (i == JIT_MAX_TABLES)
			return refuse(chain->err, offsetof(struct code_jit_unwind_table, next),
				      BOBBIN_REASON_JIT_CHAIN);
		status = load_table(&s, table.next, &table);
		if (!status)
			status = list_table(&l, &table, room, room_count);
	}
	return status ? status : list_last(&l, UINT64_MAX);
}

int jit_fre_rule(const struct bobbin_arch *arch, const struct code_jit_unwind_fre *fre,
		 struct bobbin_rule *ret)
{
	unsigned int count = (fre->info & CODE_JIT_FRE_COUNT) >> 1;
	bool mangled = fre->info & CODE_JIT_FRE_MANGLED;
	int32_t ra_off = fre->ra_off ? fre->ra_off : arch->default_ra_off;
	unsigned int used = 1 + (ra_off != arch->default_ra_off) + !!fre->fp_off;

	if (mangled && !arch->pac_mask)
		return -BOBBIN_EBADMSG;
	if (!count) {
		*ret = outermost_rule(arch);
		return 0;
	}
	if (count > 3 || used > count)
		return -BOBBIN_EBADMSG;
	*ret = (struct bobbin_rule){
		.cfa = {.off = fre->cfa_off,
			.how = BOBBIN_HOW_AT_REG,
			.reg = fre->info & CODE_JIT_FRE_BASE_SP ? arch->sp : arch->fp},
		.ra = jit_slot(ra_off),
		.fp = jit_slot(fre->fp_off),
		.index = BOBBIN_NO_INDEX,
		.flags = mangled ? BOBBIN_RULE_MANGLED : 0,
	};
	return 0;
}
