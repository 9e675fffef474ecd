/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "profile/perf_event.h"
#include "profile/perf_format.h"

#define HOST_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* The fields of a trailer, and those of them that follow a certain one. */
#define TRAILER_FROM_IDENTIFIER (PERF_SAMPLE_IDENTIFIER)
#define TRAILER_FROM_ID (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)
#define TRAILER_FROM_TIME (PERF_SAMPLE_TIME | TRAILER_FROM_ID | TRAILER_FROM_IDENTIFIER)
#define TRAILER (PERF_SAMPLE_TID | TRAILER_FROM_TIME)

/* The fields of a sample in front of its time and of its ID. */
#define SAMPLE_BEFORE_TIME (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID)
#define SAMPLE_BEFORE_ID (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR)

static struct bytes record_bytes(const void *record, uint64_t size)
{
	return bytes_of(record, size, HOST_BIG_ENDIAN);
}

/* The size of those of @fields that the attributes ask for; each has eight bytes. */
static uint64_t fields_size(const struct perf_event_attr *attr, uint64_t fields)
{
	return 8 * (uint64_t)__builtin_popcountll(attr->sample_type & fields);
}

static uint32_t record_type(const void *record, uint64_t size)
{
	struct bytes b = record_bytes(record, size);

	return bytes_u32(&b);
}

static uint64_t word_at(const void *record, uint64_t size, uint64_t pos)
{
	struct bytes b = record_bytes(record, size);

	bytes_seek(&b, pos);
	return bytes_u64(&b);
}

/* Counted from the end of the record; the header is no part of any trailer. */
static uint64_t word_from_end(const void *record, uint64_t size, uint64_t back)
{
	if (size < sizeof(struct perf_event_header) + back)
		return 0;
	return word_at(record, size, size - back);
}

void perf_attr_flag(struct perf_event_attr *attr, unsigned int place, bool on)
{
	/* bit fields begin at the end that the byte order begins with */
	uint64_t bit = 1ull << (HOST_BIG_ENDIAN ? 63 - place : place), flags;
	uint8_t *word = (uint8_t *)&attr->read_format + sizeof(attr->read_format);

	memcpy(&flags, word, sizeof(flags));
	flags = on ? flags | bit : flags & ~bit;
	memcpy(word, &flags, sizeof(flags));
}

static uint64_t sample_time(const struct perf_event_attr *attr, const void *record, uint64_t size)
{
	if (!(attr->sample_type & PERF_SAMPLE_TIME))
		return 0;
	return word_at(record, size,
		       sizeof(struct perf_event_header) + fields_size(attr, SAMPLE_BEFORE_TIME));
}

/* Fork and exit carry a time of their own. */
static uint64_t task_time(const void *record, uint64_t size)
{
	uint32_t type = record_type(record, size);

	if (type != PERF_RECORD_FORK && type != PERF_RECORD_EXIT)
		return 0;
	return word_at(record, size, sizeof(struct perf_event_header) + 16);
}

uint64_t perf_event_time(const struct perf_event_attr *attr, const void *record, uint64_t size)
{
	if (record_type(record, size) == PERF_RECORD_SAMPLE)
		return sample_time(attr, record, size);
	if (!attr->sample_id_all || !(attr->sample_type & PERF_SAMPLE_TIME))
		return task_time(record, size);
	return word_from_end(record, size, fields_size(attr, TRAILER_FROM_TIME));
}

static uint64_t sample_id(const struct perf_event_attr *attr, const void *record, uint64_t size)
{
	uint64_t header = sizeof(struct perf_event_header);

	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		return word_at(record, size, header);
	if (attr->sample_type & PERF_SAMPLE_ID)
		return word_at(record, size, header + fields_size(attr, SAMPLE_BEFORE_ID));
	return 0;
}

uint64_t perf_event_id(const struct perf_event_attr *attr, const void *record, uint64_t size)
{
	if (record_type(record, size) == PERF_RECORD_SAMPLE)
		return sample_id(attr, record, size);
	if (!attr->sample_id_all)
		return 0;
	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		return word_from_end(record, size, 8);
	if (attr->sample_type & PERF_SAMPLE_ID)
		return word_from_end(record, size, fields_size(attr, TRAILER_FROM_ID));
	return 0;
}

bool perf_event_same_ids(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	uint64_t both = a->sample_type & b->sample_type;

	if (a->sample_id_all != b->sample_id_all)
		return false;
	if (a->sample_type == b->sample_type || both & PERF_SAMPLE_IDENTIFIER)
		return true;
	return both & PERF_SAMPLE_ID &&
	       !((a->sample_type | b->sample_type) & PERF_SAMPLE_IDENTIFIER) &&
	       fields_size(a, SAMPLE_BEFORE_ID) == fields_size(b, SAMPLE_BEFORE_ID) &&
	       fields_size(a, TRAILER_FROM_ID) == fields_size(b, TRAILER_FROM_ID);
}

/* Bytes at the end of a record that is no sample. */
static uint64_t trailer_size(const struct perf_event_attr *attr)
{
	return attr->sample_id_all ? fields_size(attr, TRAILER) : 0;
}

/* @n aligned words, or NULL if there are not as many. */
static const uint64_t *take_words(struct bytes *b, uint64_t n)
{
	const void *words = b->data + b->pos;

	if (n > bytes_left(b) / 8 || b->pos % 8) {
		b->bad = true;
		return NULL;
	}
	bytes_skip(b, 8 * n);
	return words;
}

static const uint8_t *take_bytes(struct bytes *b, uint64_t n)
{
	const uint8_t *data = b->data + b->pos;

	bytes_skip(b, n);
	return b->bad ? NULL : data;
}

static const char *take_string(struct bytes *b)
{
	uint64_t left = bytes_left(b);
	const char *string = (const char *)b->data + b->pos;

	if (!left || !memchr(string, 0, left)) {
		b->bad = true;
		return NULL;
	}
	return string;
}

static void decode_tid(struct bytes *b, struct perf_event *event)
{
	event->pid = bytes_u32(b);
	event->tid = bytes_u32(b);
}

static void decode_cpu(struct bytes *b, struct perf_event *event)
{
	event->cpu = bytes_u32(b);
	bytes_skip(b, 4);
}

static void skip_group(struct bytes *b, uint64_t nr, uint64_t words)
{
	if (nr > bytes_left(b) / 8)
		b->bad = true;
	else
		bytes_skip(b, 8 * nr * words);
}

/*
 * Counter values, see the comment at enum perf_event_read_format of the kernel: the times stand
 * before the values of a group, but behind the value of one event.
 */
static void decode_read(struct bytes *b, uint64_t format, struct perf_sample *sample)
{
	uint64_t times = format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t time_words = (uint64_t)__builtin_popcountll(times);
	uint64_t also = format & (PERF_FORMAT_ID | PERF_FORMAT_LOST);
	bool group = format & PERF_FORMAT_GROUP;
	struct perf_values values = {.count = 1};
	uint64_t words = 1 + (uint64_t)__builtin_popcountll(also);

	values.id_at = 1;
	if (group) {
		values.count = bytes_u64(b);
		bytes_skip(b, 8 * time_words);
	} else {
		values.id_at += (uint8_t)time_words;
		words += time_words;
	}
	values.each = (uint8_t)words;
	if (values.count > bytes_left(b) / 8)
		b->bad = true;
	else
		values.words = take_words(b, values.count * words);
	if (format & PERF_FORMAT_ID)
		sample->values = values;
}

static void decode_raw(struct bytes *b, struct perf_sample *sample)
{
	sample->raw_size = bytes_u32(b);
	sample->raw = take_bytes(b, sample->raw_size);
}

static void skip_branches(struct bytes *b, uint64_t branch_type)
{
	uint64_t nr = bytes_u64(b);

	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		bytes_skip(b, 8);
	skip_group(b, nr, branch_type & PERF_FILE_BRANCH_COUNTERS ? 4 : 3);
}

static void decode_regs(struct bytes *b, uint64_t mask, struct perf_sample *sample)
{
	sample->regs_abi = bytes_u64(b);
	if (sample->regs_abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	sample->regs_mask = mask;
	sample->regs = take_words(b, (uint64_t)__builtin_popcountll(mask));
}

static void skip_regs(struct bytes *b, uint64_t mask)
{
	if (bytes_u64(b) != PERF_SAMPLE_REGS_ABI_NONE)
		bytes_skip(b, 8 * (uint64_t)__builtin_popcountll(mask));
}

static void decode_stack(struct bytes *b, struct perf_sample *sample)
{
	uint64_t size = bytes_u64(b);

	if (!size)
		return;
	sample->stack_size = size;
	sample->stack = take_bytes(b, size);
	sample->dyn_size = bytes_u64(b);
	if (sample->dyn_size > size)
		b->bad = true;
}

/* The fields of fixed size with which every sample begins. */
static void decode_sample_head(struct bytes *b, uint64_t type, struct perf_event *event)
{
	struct perf_sample *sample = &event->sample;

	if (type & PERF_SAMPLE_IDENTIFIER)
		event->id = bytes_u64(b);
	if (type & PERF_SAMPLE_IP)
		sample->ip = bytes_u64(b);
	if (type & PERF_SAMPLE_TID)
		decode_tid(b, event);
	if (type & PERF_SAMPLE_TIME)
		event->time = bytes_u64(b);
	if (type & PERF_SAMPLE_ADDR)
		bytes_skip(b, 8);
	if (type & PERF_SAMPLE_ID)
		event->id = bytes_u64(b);
	if (type & PERF_SAMPLE_STREAM_ID)
		bytes_skip(b, 8);
	if (type & PERF_SAMPLE_CPU)
		decode_cpu(b, event);
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = bytes_u64(b);
}

static void decode_sample_body(struct bytes *b, const struct perf_event_attr *attr,
			       struct perf_sample *sample)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_READ)
		decode_read(b, attr->read_format, sample);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		sample->callchain_nr = bytes_u64(b);
		sample->callchain = take_words(b, sample->callchain_nr);
	}
	if (type & PERF_SAMPLE_RAW)
		decode_raw(b, sample);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(b, attr->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		decode_regs(b, attr->sample_regs_user, sample);
	if (type & PERF_SAMPLE_STACK_USER)
		decode_stack(b, sample);
}

/* Little here is of use, but it has to be there. */
static void decode_sample_tail(struct bytes *b, const struct perf_event_attr *attr,
			       struct perf_sample *sample)
{
	uint64_t type = attr->sample_type;

	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		bytes_skip(b, 8);
	bytes_skip(b, fields_size(attr, PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION));
	if (type & PERF_SAMPLE_REGS_INTR)
		skip_regs(b, attr->sample_regs_intr);
	bytes_skip(b, fields_size(attr, PERF_SAMPLE_PHYS_ADDR));
	if (type & PERF_SAMPLE_CGROUP)
		sample->cgroup = bytes_u64(b);
	bytes_skip(b, fields_size(attr, PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE));
	if (type & PERF_SAMPLE_AUX)
		bytes_skip(b, bytes_u64(b));
}

static void decode_sample(struct bytes *b, const struct perf_event_attr *attr,
			  struct perf_event *event)
{
	event->sample = (struct perf_sample){0};
	decode_sample_head(b, attr->sample_type, event);
	decode_sample_body(b, attr, &event->sample);
	decode_sample_tail(b, attr, &event->sample);
}

static void decode_device(struct bytes *b, struct perf_mmap *mmap)
{
	mmap->maj = bytes_u32(b);
	mmap->min = bytes_u32(b);
	mmap->ino = bytes_u64(b);
	mmap->ino_gen = bytes_u64(b);
}

static void decode_build_id(struct bytes *b, struct perf_mmap *mmap)
{
	const uint8_t *id;

	mmap->build_id_len = bytes_u8(b);
	bytes_skip(b, 3);
	id = take_bytes(b, sizeof(mmap->build_id));
	if (!id || mmap->build_id_len > sizeof(mmap->build_id))
		b->bad = true;
	else
		memcpy(mmap->build_id, id, mmap->build_id_len);
}

/*
 * Linux (6.18 at least) marks the record of an event without build IDs as one that has them if
 * another recording's event, which asks for them, was told of the mapping first.  The attribute
 * says it, then, or what the bytes are: a device has a short minor number, an inode is no hash.
 */
static bool has_build_id(const struct bytes *b, const struct perf_event_attr *attr, uint16_t misc)
{
	struct bytes device = *b;
	struct perf_mmap mmap;

	if (!(misc & PERF_RECORD_MISC_MMAP_BUILD_ID) || attr->build_id)
		return misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
	decode_device(&device, &mmap);
	return mmap.maj <= sizeof(mmap.build_id) && (mmap.min >> 20 || mmap.ino >> 48);
}

static void decode_mmap(struct bytes *b, const struct perf_event_attr *attr,
			struct perf_event *event)
{
	struct perf_mmap *mmap = &event->mmap;

	*mmap = (struct perf_mmap){0};
	decode_tid(b, event);
	mmap->addr = bytes_u64(b);
	mmap->len = bytes_u64(b);
	mmap->pgoff = bytes_u64(b);
	if (event->type == PERF_RECORD_MMAP2) {
		if (has_build_id(b, attr, event->misc))
			decode_build_id(b, mmap);
		else
			decode_device(b, mmap);
		mmap->prot = bytes_u32(b);
		mmap->flags = bytes_u32(b);
	}
	mmap->filename = take_string(b);
}

static void decode_comm(struct bytes *b, struct perf_event *event)
{
	decode_tid(b, event);
	event->comm.comm = take_string(b);
	event->comm.exec = event->misc & PERF_RECORD_MISC_COMM_EXEC;
}

static void decode_task(struct bytes *b, struct perf_event *event)
{
	uint64_t time;

	event->pid = bytes_u32(b);
	event->task.ppid = bytes_u32(b);
	event->tid = bytes_u32(b);
	event->task.ptid = bytes_u32(b);
	time = bytes_u64(b);
	if (!event->time)
		event->time = time;
}

static void decode_ksymbol(struct bytes *b, struct perf_ksymbol *symbol)
{
	symbol->addr = bytes_u64(b);
	symbol->len = bytes_u32(b);
	bytes_skip(b, 2); /* its type */
	symbol->gone = bytes_u16(b) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	symbol->name = take_string(b);
}

static void decode_cgroup(struct bytes *b, struct perf_cgroup *cgroup)
{
	cgroup->id = bytes_u64(b);
	cgroup->path = take_string(b);
}

static void decode_user_chain(struct bytes *b, struct perf_user_chain *chain)
{
	chain->cookie = bytes_u64(b);
	chain->count = bytes_u64(b);
	chain->pcs = take_words(b, chain->count);
}

static void decode_body(struct bytes *b, const struct perf_event_attr *attr,
			struct perf_event *event)
{
	switch (event->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		decode_mmap(b, attr, event);
		break;
	case PERF_RECORD_COMM:
		decode_comm(b, event);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		decode_task(b, event);
		break;
	case PERF_RECORD_LOST:
		bytes_skip(b, 8);
		event->lost = bytes_u64(b);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		event->lost = bytes_u64(b);
		break;
	case PERF_RECORD_KSYMBOL:
		decode_ksymbol(b, &event->ksymbol);
		break;
	case PERF_RECORD_CGROUP:
		decode_cgroup(b, &event->cgroup);
		break;
	case PERF_FILE_CALLCHAIN_DEFERRED:
		decode_user_chain(b, &event->user_chain);
		break;
	default:
		break; /* nobody asks what others say */
	}
}

/* Cuts the trailer off @b, which stands after the header. */
static void decode_trailer(struct bytes *b, const struct perf_event_attr *attr,
			   struct perf_event *event)
{
	uint64_t size = trailer_size(attr);
	uint64_t type = size ? attr->sample_type : 0;
	struct bytes t = *b;

	if (size > bytes_left(b)) {
		b->bad = true;
		return;
	}
	bytes_seek(&t, b->size - size);
	b->size -= size;
	if (type & PERF_SAMPLE_TID)
		decode_tid(&t, event);
	if (type & PERF_SAMPLE_TIME)
		event->time = bytes_u64(&t);
	if (type & PERF_SAMPLE_ID)
		event->id = bytes_u64(&t);
	if (type & PERF_SAMPLE_STREAM_ID)
		bytes_skip(&t, 8);
	if (type & PERF_SAMPLE_CPU)
		decode_cpu(&t, event);
	if (type & PERF_SAMPLE_IDENTIFIER)
		event->id = bytes_u64(&t);
}

int perf_event_decode(const struct perf_event_attr *attr, const void *record, uint64_t size,
		      struct perf_event *ret)
{
	struct perf_event event = {.pid = UINT32_MAX, .tid = UINT32_MAX, .cpu = PERF_NO_CPU};
	struct bytes b = record_bytes(record, size);

	event.type = bytes_u32(&b);
	event.misc = bytes_u16(&b);
	b.size = bytes_u16(&b);
	if (b.bad || b.size > size || b.size < b.pos)
		return -EBADMSG;

	if (event.type == PERF_RECORD_SAMPLE) {
		decode_sample(&b, attr, &event);
	} else {
		decode_trailer(&b, attr, &event);
		decode_body(&b, attr, &event);
	}
	if (b.bad)
		return -EBADMSG;
	*ret = event;
	return 0;
}

bool perf_event_fits(const struct perf_event_attr *attr, const void *record, uint64_t size)
{
	struct perf_event event = {0};
	struct bytes b = record_bytes(record, size);

	bytes_skip(&b, sizeof(struct perf_event_header));
	decode_sample(&b, attr, &event);
	return !b.bad && !bytes_left(&b);
}

bool perf_sample_reg(const struct perf_sample *sample, unsigned int reg, uint64_t *ret)
{
	uint64_t below;

	if (reg >= 64 || !sample->regs || !(sample->regs_mask >> reg & 1))
		return false;
	below = sample->regs_mask & ((1ull << reg) - 1);
	*ret = sample->regs[__builtin_popcountll(below)];
	return true;
}

size_t perf_sample_kernel_count(const struct perf_sample *sample)
{
	size_t count = 0;

	while (count < sample->callchain_nr && sample->callchain[count] != PERF_CONTEXT_USER &&
	       sample->callchain[count] != PERF_FILE_CONTEXT_USER_DEFERRED)
		count++;
	return count;
}

bool perf_sample_is_deferred(const struct perf_sample *sample, uint64_t *cookie)
{
	for (uint64_t i = 0; i + 1 < sample->callchain_nr; i++) {
		if (sample->callchain[i] != PERF_FILE_CONTEXT_USER_DEFERRED)
			continue;
		*cookie = sample->callchain[i + 1];
		return true;
	}
	return false;
}

struct owned_id *event_ids_find(const struct event_ids *ids, uint64_t id)
{
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&ids->index, hash_words(id, 0, ids->seed), &at, &i))
		if (ids->ids[i].id == id)
			return &ids->ids[i];
	return NULL;
}

int event_ids_add(struct event_ids *ids, uint64_t id, uint32_t attr)
{
	struct owned_id *known = event_ids_find(ids, id), own = {id, attr};

	if (known) {
		*known = own;
		return 0;
	}
	return hash_index_push(&ids->index, hash_words(id, 0, ids->seed), ids->ids, ids->count,
			       ids->room, own)
		       ? -ENOMEM
		       : 0;
}

void event_ids_fini(struct event_ids *ids)
{
	free(ids->ids);
	hash_index_fini(&ids->index);
	*ids = (struct event_ids){.seed = ids->seed};
}

/* enum perf_hw_id */
static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

/* enum perf_sw_ids */
static const char *const software[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};

static const char *nth_name(const char *const *names, size_t count, uint64_t number)
{
	return number < count ? names[number] : NULL;
}

static const char *known_name(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_HARDWARE)
		return nth_name(hardware, sizeof(hardware) / sizeof(*hardware), attr->config);
	if (attr->type == PERF_TYPE_SOFTWARE)
		return nth_name(software, sizeof(software) / sizeof(*software), attr->config);
	return NULL;
}

/* Of which part alone. */
static const char *modifier(const struct perf_event_attr *attr)
{
	if (attr->exclude_kernel == attr->exclude_user)
		return "";
	return attr->exclude_kernel ? ":u" : ":k";
}

void event_name_of(const struct perf_event_attr *attr, char name[EVENT_NAME_SIZE])
{
	static const char *const kinds[] = {"hardware", "software", "tracepoint",
					    "cache",    "raw",      "breakpoint"};
	const char *known = known_name(attr);
	const char *kind = nth_name(kinds, sizeof(kinds) / sizeof(*kinds), attr->type);
	uint64_t number = attr->type == PERF_TYPE_BREAKPOINT ? attr->bp_addr : attr->config;

	if (known)
		snprintf(name, EVENT_NAME_SIZE, "%s%s", known, modifier(attr));
	else if (attr->type == PERF_TYPE_TRACEPOINT)
		snprintf(name, EVENT_NAME_SIZE, "%s:%" PRIu64, kind, number);
	else if (kind)
		snprintf(name, EVENT_NAME_SIZE, "%s:0x%" PRIx64 "%s", kind, number, modifier(attr));
	else
		snprintf(name, EVENT_NAME_SIZE, "type-%" PRIu32 ":0x%" PRIx64 "%s", attr->type,
			 number, modifier(attr));
}
