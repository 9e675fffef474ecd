/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a page's bytes to ranges.  The writer is another process that does not
 * wait, and may lie: each field is copied once, then checked.
 *
 * An entry is good if its sequence was the same even number before and after its
 * fields were copied.  A copy by another process's kernel comes in no certain
 * order, so the three are copies of their own with barriers between.  Entries are
 * copied many at a time, three times over; those that changed are tried again one
 * by one.
 */
#include "codemap/page_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "core/bisect.h"
#include "core/deps.h"

#define MAX_STRUCT 4096u /* bytes of a header or an entry of a later version */
#define MAX_ENTRY_BYTES ((uint64_t)256 << 20)
#define CHUNK_SIZE 65536u
#define ENTRY_TRIES 16u
#define MAX_RETRIES 16384u        /* of entries, in an update: few are changed at a time */
#define MAX_IDENTITIES (1u << 18) /* that are read in an update */
#define PAGE_TRIES 8u

/* Identities of a chunk are read all at once if they are no longer than this. */
#define AHEAD_BYTES 512u

/* An entry's identity, and the entry's sequence after it was read. */
struct ahead {
	char bytes[AHEAD_BYTES];
	uint64_t after;
	bool good;
	struct bobbin_code_identity head; /* last: it has a flexible member */
};

struct page_reader {
	const struct bobbin_mem *mem;
	const struct remote_process *process; /* that @mem reads, or NULL */
	struct ahead *ahead;                  /* of a chunk's entries */
	struct process_read *reads;           /* one of each */
	size_t ahead_count;                   /* of both */
	uint64_t page;
	struct bobbin_code_page head;
	const struct page_copy *old;
	struct page_copy found;
	size_t room;
	size_t string_bytes, string_limit;
	uint64_t left_out;   /* entries */
	uint32_t retries;    /* of entries, in all tries of the page */
	uint32_t identities; /* read, in all tries */
	bool torn;           /* an entry never held still */
	uint8_t *copy[3];    /* of @copy_size */
	size_t copy_size;
};

static int copy_bytes(const struct bobbin_mem *mem, uint64_t addr, void *dst, size_t size)
{
	int r = mem->read(mem->ctx, addr, dst, size) ? -EFAULT : 0;

	/* what is copied from now on is not older than this */
	BOBBIN_READ_FENCE();
	return r;
}

/*
 * Copy what a sequence guards: its number before and after that, and @size bytes at @addr.
 * 0; -EAGAIN: they were being changed; -EFAULT.
 */
static int copy_guarded(const struct bobbin_mem *mem, uint64_t at, uint64_t addr, void *dst,
			size_t size, uint64_t *sequence)
{
	uint64_t after;

	if (copy_bytes(mem, at, sequence, sizeof(*sequence)) || copy_bytes(mem, addr, dst, size) ||
	    copy_bytes(mem, at, &after, sizeof(after)))
		return -EFAULT;
	return *sequence % 2 || *sequence != after ? -EAGAIN : 0;
}

static bool wraps(uint64_t addr, uint64_t size)
{
	return addr + size < addr;
}

static int check_head(const struct bobbin_code_page *head)
{
	if (head->magic != BOBBIN_CODE_PAGE_MAGIC || head->version != BOBBIN_CODE_PAGE_VERSION)
		return -EBADMSG;
	if (head->header_size < sizeof(*head) || head->header_size > MAX_STRUCT)
		return -EBADMSG;
	if (head->entry_size < sizeof(struct bobbin_code_entry) || head->entry_size > MAX_STRUCT ||
	    head->entry_size % sizeof(uint64_t))
		return -EBADMSG;
	if (head->entry_count > head->entry_max || head->entry_max > PAGE_COPY_MAX_ENTRIES ||
	    head->entry_count * head->entry_size > MAX_ENTRY_BYTES)
		return -EBADMSG;
	if (head->entries % sizeof(uint64_t) ||
	    wraps(head->entries, head->entry_max * head->entry_size))
		return -EBADMSG;
	return 0;
}

/* The head as it was at one moment.  -EAGAIN: it does not hold still. */
static int read_head(const struct bobbin_mem *mem, uint64_t page, struct bobbin_code_page *ret)
{
	const uint64_t at = page + offsetof(struct bobbin_code_page, sequence);
	struct bobbin_code_page head;
	uint64_t sequence;
	int r = -EAGAIN;

	for (unsigned int i = 0; i < PAGE_TRIES && r == -EAGAIN; i++)
		r = copy_guarded(mem, at, page, &head, sizeof(head), &sequence);
	if (r)
		return r;
	head.sequence = sequence;
	*ret = head;
	return check_head(&head);
}

int page_copy_probe(uint64_t addr, const struct bobbin_mem *mem)
{
	struct bobbin_code_page head;
	int r;

	if (addr % sizeof(uint64_t) || wraps(addr, sizeof(head)))
		return -EBADMSG;
	r = read_head(mem, addr, &head);
	return r == -EAGAIN ? 0 : r;
}

/* Entries without sense are left out, as are those of kinds that come later. */
static bool is_sane(const struct bobbin_code_entry *e)
{
	if (e->text_start >= e->text_end || wraps(e->table, e->table_size))
		return false;
	switch (e->kind) {
	case BOBBIN_CODE_SFRAME:
	case BOBBIN_CODE_COMPILED:
		return e->table || !e->table_size;
	case BOBBIN_CODE_JIT:
		return e->table;
	case BOBBIN_CODE_NAMED:
		return true;
	default:
		return false;
	}
}

/* Ranges are in ascending order in what was read before. */
static const struct page_range *known_range(const struct page_copy *code,
					    const struct bobbin_code_entry *e)
{
	size_t i = bisect(at, 0, code->count, code->ranges[at].entry.text_start >= e->text_start);
	const struct page_range *range = i < code->count ? &code->ranges[i] : NULL;

	if (!range || range->entry.text_start != e->text_start || range->entry.id != e->id ||
	    range->entry.identity != e->identity)
		return NULL;
	return range;
}

static int copy_text(const char *bytes, size_t len, char **ret)
{
	char *text;

	/* a name with a zero in it is nobody's */
	if (!len || memchr(bytes, 0, len))
		return 0;
	text = malloc(len + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, bytes, len);
	text[len] = 0;
	*ret = text;
	return 0;
}

/* Whether an identity with so many bytes of strings is still wanted. */
static bool has_room(struct page_reader *p, size_t size)
{
	if (size > p->string_limit - p->string_bytes)
		return false;
	p->string_bytes += size;
	return true;
}

static int copy_known(struct page_reader *p, const struct page_range *known,
		      struct page_range *range)
{
	size_t path = known->image.path ? strlen(known->image.path) : 0;
	size_t debug_link = known->debug_link ? strlen(known->debug_link) : 0;

	if (!has_room(p, path + debug_link))
		return 0;
	range->image = known->image;
	range->image.path = NULL;
	range->debug_link_crc = known->debug_link_crc;
	if (copy_text(known->image.path, path, &range->image.path) ||
	    copy_text(known->debug_link, debug_link, &range->debug_link))
		return -ENOMEM;
	return 0;
}

static int take_identity(const struct bobbin_code_identity *head, const char *bytes,
			 struct page_range *range)
{
	const char *build_id = bytes + head->path_len, *debug_link = build_id + head->build_id_len;

	if (head->elf_start < head->elf_end) {
		range->image.start = head->elf_start;
		range->image.end = head->elf_end;
	}
	range->debug_link_crc = head->debug_link_crc;
	range->image.build_id_len = (uint8_t)head->build_id_len;
	memcpy(range->image.build_id, build_id, head->build_id_len);
	if (copy_text(bytes, head->path_len, &range->image.path) ||
	    copy_text(debug_link, head->debug_link_len, &range->debug_link))
		return -ENOMEM;
	return 0;
}

/* Bytes after an identity's head; false: it makes no sense. */
static bool identity_bytes(const struct bobbin_code_identity *head, size_t *ret)
{
	size_t size = (size_t)head->path_len + head->build_id_len + head->debug_link_len;

	if (head->path_len > PAGE_COPY_MAX_STRING || head->debug_link_len > PAGE_COPY_MAX_STRING ||
	    head->build_id_len > sizeof(((struct page_image *)NULL)->build_id) ||
	    head->size < sizeof(*head) || head->size - sizeof(*head) < size)
		return false;
	*ret = size;
	return true;
}

static bool identity_wraps(uint64_t at)
{
	return wraps(at, sizeof(struct bobbin_code_identity) + 3 * PAGE_COPY_MAX_STRING);
}

/* An identity that cannot be read, or makes no sense, is as good as none. */
static int read_identity(struct page_reader *p, struct page_range *range)
{
	char bytes[2 * PAGE_COPY_MAX_STRING + sizeof(range->image.build_id)];
	struct bobbin_code_identity head;
	uint64_t at = range->entry.identity;
	size_t size;

	if (identity_wraps(at) || copy_bytes(p->mem, at, &head, sizeof(head)) ||
	    !identity_bytes(&head, &size) || !has_room(p, size))
		return 0;
	if (size && copy_bytes(p->mem, at + sizeof(head), bytes, size))
		return 0;
	return take_identity(&head, bytes, range);
}

static int use_ahead(struct page_reader *p, const struct ahead *ahead, struct page_range *range)
{
	size_t size;

	if (!identity_bytes(&ahead->head, &size) || !has_room(p, size))
		return 0;
	return take_identity(&ahead->head, ahead->bytes, range);
}

static void forget_range(struct page_range *range)
{
	free(range->image.path);
	free(range->debug_link);
}

/* One good entry at @at; @ahead: or NULL.  1: it has changed since it was copied. */
static int take_entry(struct page_reader *p, uint64_t at, const struct bobbin_code_entry *entry,
		      const struct ahead *ahead)
{
	struct page_range range = {.entry = *entry};
	const struct page_range *known;
	uint64_t after = entry->sequence;
	int r = 0;

	if (!is_sane(entry))
		return 0;
	if (vector_reserve(&p->found.ranges, &p->room, p->found.count + 1, sizeof(range)))
		return -ENOMEM;
	known = entry->identity ? known_range(p->old, entry) : NULL;
	if (known) {
		r = copy_known(p, known, &range);
	} else if (entry->identity && p->identities++ < MAX_IDENTITIES && ahead && ahead->good) {
		r = use_ahead(p, ahead, &range);
		after = ahead->after;
	} else if (entry->identity && p->identities <= MAX_IDENTITIES) {
		/* its memory may be another's by now, then the entry has changed */
		r = read_identity(p, &range);
		if (!r)
			r = copy_bytes(p->mem, at, &after, sizeof(after));
	}
	if (r || after != entry->sequence) {
		forget_range(&range);
		return r ? r : 1;
	}
	p->found.ranges[p->found.count++] = range;
	return 0;
}

/* Until it holds still for once, while there is hope. */
static int read_entry(struct page_reader *p, uint64_t at)
{
	struct bobbin_code_entry entry;
	uint64_t sequence;
	int r;

	for (unsigned int i = 0; i < ENTRY_TRIES && p->retries < MAX_RETRIES; i++, p->retries++) {
		r = copy_guarded(p->mem, at, at, &entry, sizeof(entry), &sequence);
		if (r == -EAGAIN)
			continue;
		if (r)
			return r;
		entry.sequence = sequence;
		r = take_entry(p, at, &entry, NULL);
		if (r <= 0)
			return r;
	}
	p->torn = true;
	return 0;
}

static uint64_t sequence_of(const uint8_t *copy)
{
	uint64_t sequence;

	memcpy(&sequence, copy, sizeof(sequence));
	return sequence;
}

/* An entry of the copied chunk; false: it was being changed. */
static bool copied_entry(const struct page_reader *p, size_t i, struct bobbin_code_entry *ret)
{
	const size_t at = i * p->head.entry_size;
	uint64_t before = sequence_of(p->copy[0] + at);

	if (before % 2 || before != sequence_of(p->copy[2] + at))
		return false;
	memcpy(ret, p->copy[1] + at, sizeof(*ret));
	ret->sequence = before;
	return true;
}

static bool wants_identity(const struct page_reader *p, size_t i, struct bobbin_code_entry *entry)
{
	return copied_entry(p, i, entry) && is_sane(entry) && entry->identity &&
	       !identity_wraps(entry->identity) && !known_range(p->old, entry);
}

/* All identities' heads, then their strings, then their entries' sequences. */
static void read_ahead(struct page_reader *p, uint64_t at, size_t count)
{
	struct bobbin_code_entry entry;
	size_t size;

	for (size_t i = 0; i < count; i++) {
		p->ahead[i].good = wants_identity(p, i, &entry);
		p->reads[i] = (struct process_read){.addr = entry.identity,
						    .dst = &p->ahead[i].head,
						    .size = sizeof(p->ahead[i].head)};
		if (!p->ahead[i].good)
			p->reads[i].size = 0;
	}
	process_read_all(p->process, p->reads, count);
	for (size_t i = 0; i < count; i++) {
		struct ahead *ahead = &p->ahead[i];

		ahead->good = ahead->good && !p->reads[i].error &&
			      identity_bytes(&ahead->head, &size) && size <= sizeof(ahead->bytes);
		p->reads[i].addr += sizeof(ahead->head);
		p->reads[i].dst = ahead->bytes;
		p->reads[i].size = ahead->good ? size : 0;
	}
	process_read_all(p->process, p->reads, count);
	for (size_t i = 0; i < count; i++) {
		p->ahead[i].good = p->ahead[i].good && !p->reads[i].error;
		p->reads[i] = (struct process_read){.addr = at + i * p->head.entry_size,
						    .dst = &p->ahead[i].after,
						    .size = p->ahead[i].good ? sizeof(uint64_t)
									     : 0};
	}
	process_read_all(p->process, p->reads, count);
	for (size_t i = 0; i < count; i++)
		p->ahead[i].good = p->ahead[i].good && !p->reads[i].error;
}

static int read_chunk(struct page_reader *p, uint64_t at, size_t count)
{
	const size_t stride = p->head.entry_size;
	struct bobbin_code_entry entry;
	int r;

	for (unsigned int i = 0; i < 3; i++)
		if (copy_bytes(p->mem, at, p->copy[i], count * stride))
			return -EFAULT;
	if (p->process)
		read_ahead(p, at, count);
	for (size_t i = 0; i < count; i++) {
		r = copied_entry(p, i, &entry)
			    ? take_entry(p, at + i * stride, &entry, p->ahead ? &p->ahead[i] : NULL)
			    : 1;
		if (r > 0)
			r = read_entry(p, at + i * stride);
		if (r < 0)
			return r;
	}
	return 0;
}

static void forget_ranges(struct page_copy *code)
{
	for (size_t i = 0; i < code->count; i++)
		forget_range(&code->ranges[i]);
	code->count = 0;
}

/* For the first @size bytes of the array, or as many as are copied at once. */
static int make_copies(struct page_reader *p, size_t size)
{
	if (size > CHUNK_SIZE)
		size = CHUNK_SIZE;
	if (size <= p->copy_size)
		return 0;
	for (unsigned int i = 0; i < 3; i++) {
		free(p->copy[i]);
		p->copy[i] = malloc(size);
		if (!p->copy[i])
			return -ENOMEM;
	}
	p->copy_size = size;
	return 0;
}

/* For so many entries at once: the next try of the page may find them smaller. */
static int make_ahead(struct page_reader *p, size_t count)
{
	if (!p->process || count <= p->ahead_count)
		return 0;
	p->ahead_count = 0;
	free(p->ahead);
	free(p->reads);
	p->ahead = calloc(count, sizeof(*p->ahead));
	p->reads = calloc(count, sizeof(*p->reads));
	if (!p->ahead || !p->reads)
		return -ENOMEM;
	p->ahead_count = count;
	return 0;
}

/* How many of the entries there is room for; what is left of it is for strings. */
static size_t fitting_entries(struct page_reader *p)
{
	uint64_t limit = p->old->limit, count = p->head.entry_count;

	p->string_limit = PAGE_COPY_MAX_STRINGS;
	if (!limit)
		return count;
	if (count > limit / PAGE_COPY_ENTRY_BYTES)
		count = limit / PAGE_COPY_ENTRY_BYTES;
	limit -= count * PAGE_COPY_ENTRY_BYTES;
	if (limit < p->string_limit)
		p->string_limit = limit;
	return count;
}

static int read_entries(struct page_reader *p)
{
	const size_t stride = p->head.entry_size, chunk = CHUNK_SIZE / stride;
	size_t count;

	count = fitting_entries(p);
	if (make_copies(p, count * stride) || make_ahead(p, count < chunk ? count : chunk))
		return -ENOMEM;
	p->left_out = p->head.entry_count - count;
	forget_ranges(&p->found);
	p->string_bytes = 0;
	p->torn = false;
	for (size_t i = 0; i < count; i += chunk) {
		size_t rest = count - i;
		int r = read_chunk(p, p->head.entries + i * stride, rest < chunk ? rest : chunk);

		if (r)
			return r;
	}
	return 0;
}

/*
 * -EAGAIN: the array moved each time.  What was read from where it was before
 * counts for nothing, nor does a failure.
 */
static int read_page(struct page_reader *p)
{
	const uint64_t at = p->page + offsetof(struct bobbin_code_page, sequence);
	uint64_t sequence;
	int r;

	for (unsigned int i = 0; i < PAGE_TRIES; i++) {
		r = read_head(p->mem, p->page, &p->head);
		if (r)
			return r;
		r = read_entries(p);
		if (r == -ENOMEM)
			return r;
		if (copy_bytes(p->mem, at, &sequence, sizeof(sequence)))
			return -EFAULT;
		if (sequence == p->head.sequence)
			return r ? r : 1;
	}
	return -EAGAIN;
}

static int by_start(const void *a, const void *b)
{
	const struct bobbin_code_entry *x = &((const struct page_range *)a)->entry;
	const struct bobbin_code_entry *y = &((const struct page_range *)b)->entry;

	if (x->text_start != y->text_start)
		return x->text_start < y->text_start ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Of ranges that overlap, the first stays. */
static void put_in_order(struct page_copy *code)
{
	uint64_t end = 0;
	size_t kept = 0;

	if (code->count)
		qsort(code->ranges, code->count, sizeof(*code->ranges), by_start);
	for (size_t i = 0; i < code->count; i++) {
		struct page_range *range = &code->ranges[i];

		if (range->entry.text_start < end) {
			forget_range(range);
			continue;
		}
		end = range->entry.text_end;
		code->ranges[kept++] = *range;
	}
	code->count = kept;
}

static void close_reader(struct page_reader *p)
{
	for (unsigned int i = 0; i < 3; i++)
		free(p->copy[i]);
	free(p->ahead);
	free(p->reads);
	page_copy_fini(&p->found);
}

/* The common case: nothing has changed. */
bool page_copy_unchanged(const struct page_copy *code, const struct bobbin_mem *mem)
{
	struct bobbin_code_page head;

	return code->ranges && !copy_bytes(mem, code->page, &head, sizeof(head)) &&
	       !check_head(&head) && head.changes == code->changes && head.pid == code->page_pid;
}

int page_copy_parse(struct page_copy *code, const struct bobbin_mem *mem,
		    const struct remote_process *process)
{
	struct page_reader p = {.mem = mem, .process = process, .page = code->page, .old = code};
	int r;

	if (page_copy_unchanged(code, mem))
		return 0;
	/* so that a page without entries counts as read, too */
	r = vector_reserve(&p.found.ranges, &p.room, 1, sizeof(*p.found.ranges));
	if (!r)
		r = read_page(&p);
	if (r > 0) {
		put_in_order(&p.found);
		forget_ranges(code);
		free(code->ranges);
		code->ranges = p.found.ranges;
		code->count = p.found.count;
		code->changes = p.head.changes;
		code->page_pid = p.head.pid;
		code->bytes = code->count * PAGE_COPY_ENTRY_BYTES + p.string_bytes;
		code->left_out = p.left_out;
		p.found = (struct page_copy){0};
		if (p.torn)
			r = -EAGAIN;
	}
	close_reader(&p);
	return r;
}

void page_copy_fini(struct page_copy *code)
{
	forget_ranges(code);
	free(code->ranges);
	code->ranges = NULL;
}
