/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/vector.h"
#include "core/refusal.h"
#include "profile/event_ids.h"
#include "profile/event_name.h"
#include "profile/perf_inflate.h"
#include "profile/perf_reader.h"
#include "profile/read_values.h"
#include "profile/recording_bytes.h"
#include "profile/user_chain_index.h"

/* In the place of a record: it is an inflated one. */
#define INFLATED (1ull << 63)
/* Larger pieces do not fit a COMPRESSED2 record: see inflate_oversized(). */
#define COMPRESSED2_MAX 65519
#define COMPRESSED2_HEADER 16

/* A record: in the file, or among the inflated ones. */
struct indexed {
	uint64_t time, place;
};

struct perf_reader {
	const uint8_t *data;
	uint64_t size;
	bool mapped, pipe, truncated;
	struct perf_reader_attr *attrs;
	size_t nr_attrs, max_attrs;
	uint64_t claimed; /* ids, of all attributes; some more than once */
	struct event_ids ids;
	struct perf_span features[PERF_FILE_FEATURES];
	struct perf_inflate *inflate;
	struct indexed *index; /* in the order of time, once all is read */
	size_t count, room, next;
	struct user_chain_index user_chains;
	char (*made_names)[EVENT_NAME_SIZE]; /* of the attributes that have no others */
	struct read_values values;
	struct perf_event
		carrier; /* a sample whose values from @next_value on are to be given out */
	uint64_t next_value;
	struct perf_reader_stats stats;
	/* a record that is not aligned in the file */
	_Alignas(8) uint8_t aligned[PERF_FILE_RECORD_BYTES];
	_Alignas(8) uint8_t aligned_chain[PERF_FILE_RECORD_BYTES];
};

/* The one pass over the records. */
struct scan {
	struct perf_reader *reader;
	struct bobbin_error *err;
	uint64_t pos, end, time;
};

static struct bytes file_bytes(const struct perf_reader *reader, uint64_t pos)
{
	struct bytes b = bytes_of(reader->data, reader->size,
				  __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	bytes_seek(&b, pos);
	return b;
}

static bool in_file(const struct perf_reader *reader, struct perf_file_section section)
{
	return section.offset <= reader->size && section.size <= reader->size - section.offset;
}

static struct perf_span span_of(const struct perf_reader *reader, uint64_t offset, uint64_t size)
{
	return (struct perf_span){.data = reader->data + offset, .size = size, .offset = offset};
}

/* attributes and their ids */

/* A file may know more or fewer fields of the attributes than we do. */
static bool read_attr(struct bytes *b, struct perf_event_attr *attr)
{
	uint64_t start = b->pos, size;
	const uint8_t *data = b->data + b->pos;

	bytes_skip(b, 4);
	size = bytes_u32(b);
	if (!size)
		size = PERF_FILE_ATTR_MIN;
	bytes_seek(b, start);
	bytes_skip(b, size);
	if (b->bad || size < PERF_FILE_ATTR_MIN)
		return false;
	*attr = (struct perf_event_attr){0};
	memcpy(attr, data, size < sizeof(*attr) ? size : sizeof(*attr));
	attr->size = (uint32_t)size;
	return true;
}

/* @b has the ids; the file cannot have more of them than its size allows. */
static int add_attr(struct scan *scan, const struct perf_event_attr *attr, struct bytes b,
		    uint64_t offset)
{
	struct perf_reader *reader = scan->reader;
	uint64_t nr_ids = bytes_left(&b) / 8;
	int r;

	reader->claimed += nr_ids;
	if (reader->claimed > reader->size / 8 || reader->nr_attrs >= UINT32_MAX - 1 ||
	    (reader->nr_attrs && !perf_event_same_ids(&reader->attrs[0].attr, attr)))
		return refuse(scan->err, offset, BOBBIN_REASON_PERF_ATTR);
	r = vector_reserve(&reader->attrs, &reader->max_attrs, reader->nr_attrs + 1,
			   sizeof(*reader->attrs));
	for (uint64_t i = 0; i < nr_ids && !r; i++)
		r = event_ids_add(&reader->ids, bytes_u64(&b), (uint32_t)reader->nr_attrs);
	if (r)
		return refuse_as(r, scan->err, offset, BOBBIN_REASON_NONE);
	reader->attrs[reader->nr_attrs] = (struct perf_reader_attr){.attr = *attr,
								    .number = reader->nr_attrs};
	reader->nr_attrs++;
	return 0;
}

static int read_file_attr(struct scan *scan, uint64_t offset, uint64_t size)
{
	struct perf_reader *reader = scan->reader;
	struct bytes b = file_bytes(reader, offset), ids;
	struct perf_file_section section;
	struct perf_event_attr attr;

	b.size = offset + size;
	if (!read_attr(&b, &attr))
		return refuse(scan->err, offset, BOBBIN_REASON_PERF_ATTR);
	section.offset = bytes_u64(&b);
	section.size = bytes_u64(&b);
	if (b.bad || !in_file(reader, section))
		return refuse(scan->err, offset, BOBBIN_REASON_PERF_ATTR);
	ids = file_bytes(reader, section.offset);
	ids.size = section.offset + section.size;
	return add_attr(scan, &attr, ids, offset);
}

static int read_file_attrs(struct scan *scan, const struct perf_file_header *header)
{
	const struct perf_file_section *section = &header->attrs;
	uint64_t each = header->attr_size;

	if (each < PERF_FILE_ATTR_MIN || section->size < each || !in_file(scan->reader, *section))
		return refuse(scan->err, offsetof(struct perf_file_header, attrs),
			      BOBBIN_REASON_PERF_HEADER);
	for (uint64_t i = 0; i < section->size / each; i++) {
		int r = read_file_attr(scan, section->offset + i * each, each);

		if (r)
			return r;
	}
	return 0;
}

static int read_attr_record(struct scan *scan, uint64_t pos, uint64_t size)
{
	struct bytes b = file_bytes(scan->reader, pos);
	struct perf_event_attr attr;

	b.size = pos + size;
	bytes_skip(&b, sizeof(struct perf_event_header));
	if (!read_attr(&b, &attr))
		return refuse(scan->err, pos, BOBBIN_REASON_PERF_ATTR);
	return add_attr(scan, &attr, b, pos);
}

/* features */

static int read_feature_record(struct scan *scan, uint64_t pos, uint64_t size)
{
	struct perf_reader *reader = scan->reader;
	struct bytes b = file_bytes(reader, pos);
	uint64_t feature;

	bytes_skip(&b, sizeof(struct perf_event_header));
	feature = bytes_u64(&b);
	if (b.bad || b.pos > pos + size)
		return refuse(scan->err, pos, BOBBIN_REASON_PERF_FEATURE);
	if (feature < PERF_FILE_FEATURES)
		reader->features[feature] = span_of(reader, b.pos, pos + size - b.pos);
	return 0;
}

/* A file that was cut off lacks features; that is no reason to refuse it. */
static void read_feature_table(struct perf_reader *reader, const struct perf_file_header *header)
{
	struct bytes b = file_bytes(reader, header->data.offset + header->data.size);

	for (unsigned int i = 0; i < PERF_FILE_FEATURES; i++) {
		struct perf_file_section section;

		if (!perf_file_has(header, i))
			continue;
		section.offset = bytes_u64(&b);
		section.size = bytes_u64(&b);
		if (b.bad || !in_file(reader, section))
			reader->truncated = true;
		else
			reader->features[i] = span_of(reader, section.offset, section.size);
	}
}

static void name_attr(void *ctx, uint32_t i, const struct perf_event_desc *desc)
{
	struct perf_reader *reader = ctx;
	const struct owned_id *first = event_ids_find(&reader->ids, desc->first_id);

	if (desc->nr_ids && !first)
		return;
	if (desc->nr_ids)
		i = first->attr;
	if (i < reader->nr_attrs)
		reader->attrs[i].name = desc->name;
}

/* Files that are not finished, and pipes, have names among their records. */
static void read_event_update(struct perf_reader *reader, uint64_t pos, uint64_t size)
{
	struct bytes b = file_bytes(reader, pos);
	const struct owned_id *owned;
	uint64_t what;

	b.size = pos + size;
	bytes_skip(&b, sizeof(struct perf_event_header));
	what = bytes_u64(&b);
	owned = event_ids_find(&reader->ids, bytes_u64(&b));
	if (!b.bad && what == PERF_FILE_UPDATE_NAME && owned &&
	    memchr(b.data + b.pos, 0, bytes_left(&b)))
		reader->attrs[owned->attr].name = (const char *)b.data + b.pos;
}

/* What nobody has named is told apart all the same. */
static int make_names(struct perf_reader *reader)
{
	size_t nr = 0;

	for (size_t i = 0; i < reader->nr_attrs; i++)
		nr += !reader->attrs[i].name || !*reader->attrs[i].name;
	if (!nr)
		return 0;
	reader->made_names = calloc(nr, sizeof(*reader->made_names));
	if (!reader->made_names)
		return -ENOMEM;
	for (size_t i = 0; i < reader->nr_attrs; i++) {
		struct perf_reader_attr *attr = &reader->attrs[i];

		if (attr->name && *attr->name)
			continue;
		attr->name = reader->made_names[--nr];
		event_name_of(&attr->attr, reader->made_names[nr]);
	}
	return 0;
}

static int read_features(struct scan *scan)
{
	struct perf_reader *reader = scan->reader;
	struct perf_span descs = reader->features[PERF_FILE_EVENT_DESC];

	return descs.data ? perf_feature_event_descs(descs, scan->err, name_attr, reader) : 0;
}

/* the pass over the records */

/* A sample of an unknown event cannot be read; other records look alike in all. */
static const struct perf_reader_attr *attr_of(const struct perf_reader *reader,
					      const uint8_t *record, uint64_t size, uint32_t type)
{
	const struct owned_id *known;
	uint64_t id;

	if (reader->nr_attrs == 1)
		return &reader->attrs[0];
	id = perf_event_id(&reader->attrs[0].attr, record, size);
	known = event_ids_find(&reader->ids, id);
	if (known)
		return &reader->attrs[known->attr];
	return id && type == PERF_RECORD_SAMPLE ? NULL : &reader->attrs[0];
}

static void count_record(struct perf_reader_stats *stats, const uint8_t *record,
			 const struct perf_event_header *header)
{
	uint64_t words[3] = {0};

	stats->events++;
	stats->samples += header->type == PERF_RECORD_SAMPLE;
	memcpy(words, record, header->size < sizeof(words) ? header->size : sizeof(words));
	if (header->type == PERF_RECORD_LOST)
		stats->lost += words[2];
}

static int index_record(struct scan *scan, uint64_t place, const uint8_t *record,
			const struct perf_event_header *header, uint64_t offset)
{
	struct perf_reader *reader = scan->reader;
	const struct perf_reader_attr *attr;
	uint64_t time;

	if (!reader->nr_attrs)
		return refuse(scan->err, offset, BOBBIN_REASON_PERF_ATTR);
	attr = attr_of(reader, record, header->size, header->type);
	if (!attr)
		return 0;
	time = perf_event_time(&attr->attr, record, header->size);
	if (time)
		scan->time = time;
	count_record(&reader->stats, record, header);
	if (vector_push(reader->index, reader->count, reader->room,
			(struct indexed){scan->time, place}) ||
	    (header->type == PERF_FILE_CALLCHAIN_DEFERRED &&
	     user_chain_index_add(&reader->user_chains, scan->time, place, record, header->size)))
		return refuse_as(-ENOMEM, scan->err, offset, BOBBIN_REASON_NONE);
	return 0;
}

static bool is_kernel_record(uint32_t type)
{
	return type >= PERF_RECORD_MMAP && type <= PERF_FILE_CALLCHAIN_DEFERRED;
}

/* Only what the kernel recorded is ever compressed. */
static int scan_inflated(void *ctx, uint64_t place, const uint8_t *record)
{
	struct scan *scan = ctx;
	struct perf_event_header header;

	memcpy(&header, record, sizeof(header));
	return is_kernel_record(header.type)
		       ? index_record(scan, place | INFLATED, record, &header, scan->pos)
		       : 0;
}

static int inflate(struct scan *scan, uint64_t pos, uint64_t size)
{
	struct perf_reader *reader = scan->reader;
	struct bobbin_error none = {0}, *err = scan->err;
	int r = 0;

	if (!reader->inflate)
		r = perf_inflate_open(&reader->inflate);
	if (r)
		return refuse_as(r, err, scan->pos, BOBBIN_REASON_NONE);
	scan->err = &none;
	r = perf_inflate_put(reader->inflate, reader->data + pos, size, scan->pos, scan_inflated,
			     scan);
	scan->err = err;
	if (r == -EBADMSG && none.reason == BOBBIN_REASON_NONE)
		return refuse(err, scan->pos, BOBBIN_REASON_PERF_COMPRESSED);
	return r ? refuse_as(r, err, none.offset, none.reason) : 0;
}

/*
 * What perf since Linux 6.16 writes if its output does not fit one record: the
 * size in the first header wraps, its u64 size covers all of it, further
 * headers follow at each 65,535 bytes, and there is no padding.
 */
static int inflate_oversized(struct scan *scan, uint64_t pos, uint64_t size)
{
	while (size > COMPRESSED2_MAX) {
		struct bytes b = file_bytes(scan->reader, pos + COMPRESSED2_MAX);
		int r = inflate(scan, pos, COMPRESSED2_MAX);

		if (r)
			return r;
		size -= COMPRESSED2_MAX;
		if (size < COMPRESSED2_HEADER || bytes_u32(&b) != PERF_FILE_COMPRESSED2)
			return refuse(scan->err, scan->pos, BOBBIN_REASON_PERF_COMPRESSED);
		pos += COMPRESSED2_MAX + COMPRESSED2_HEADER;
		size -= COMPRESSED2_HEADER;
	}
	return inflate(scan, pos, size);
}

static uint64_t first_word(const struct scan *scan)
{
	struct bytes b = file_bytes(scan->reader, scan->pos + sizeof(struct perf_event_header));

	return bytes_u64(&b);
}

/*
 * Bytes of the file that a record takes, more than its header says for some.
 * 0: not a record.  UINT64_MAX: too many to be there.
 */
static uint64_t extent(const struct scan *scan, const struct perf_event_header *header)
{
	uint64_t size = header->size, word = first_word(scan), left = scan->end - scan->pos;

	if (header->type == PERF_FILE_COMPRESSED2 && left < COMPRESSED2_HEADER)
		return UINT64_MAX;
	if (header->type == PERF_FILE_COMPRESSED2 &&
	    (word > UINT16_MAX || size < COMPRESSED2_HEADER + word))
		return word > left - COMPRESSED2_HEADER ? UINT64_MAX : COMPRESSED2_HEADER + word;
	if (size < sizeof(*header))
		return 0;
	if (header->type == PERF_FILE_TRACING_DATA && size >= 16)
		size += ((word & UINT32_MAX) + 7) & ~7ull;
	if (header->type == PERF_FILE_AUXTRACE && size >= 16)
		size = word > left ? UINT64_MAX : size + word;
	return size;
}

static int scan_pipe_record(struct scan *scan, const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_FILE_ATTR:
		return read_attr_record(scan, scan->pos, header->size);
	case PERF_FILE_FEATURE:
		return read_feature_record(scan, scan->pos, header->size);
	default:
		return 0;
	}
}

static int scan_record(struct scan *scan, const struct perf_event_header *header)
{
	struct perf_reader *reader = scan->reader;
	uint64_t body = scan->pos + sizeof(*header);

	if (is_kernel_record(header->type))
		return index_record(scan, scan->pos, reader->data + scan->pos, header, scan->pos);
	if (header->type == PERF_FILE_EVENT_UPDATE)
		read_event_update(reader, scan->pos, header->size);
	if (header->type == PERF_FILE_COMPRESSED)
		return inflate(scan, body, header->size - sizeof(*header));
	if (header->type == PERF_FILE_COMPRESSED2)
		return inflate_oversized(scan, body + 8, first_word(scan));
	return reader->pipe ? scan_pipe_record(scan, header) : 0;
}

/* The end of a recording that stopped short: cut off, or never written. */
static bool is_broken_end(const struct scan *scan, const struct perf_event_header *header,
			  uint64_t size)
{
	return size > scan->end - scan->pos || (!header->type && !header->misc && !header->size);
}

static int scan_records(struct scan *scan)
{
	struct perf_reader *reader = scan->reader;
	struct perf_event_header header;

	while (scan->end - scan->pos >= sizeof(header)) {
		uint64_t size;
		int r;

		memcpy(&header, reader->data + scan->pos, sizeof(header));
		size = extent(scan, &header);
		if (is_broken_end(scan, &header, size))
			break;
		if (!size)
			return refuse(scan->err, scan->pos, BOBBIN_REASON_PERF_RECORD);
		r = scan_record(scan, &header);
		if (r)
			return r;
		scan->pos += size;
	}
	if (scan->pos < scan->end || (reader->inflate && perf_inflate_left(reader->inflate)))
		reader->truncated = true;
	return 0;
}

/* the header */

static int read_magic(struct scan *scan)
{
	struct bytes b = file_bytes(scan->reader, 0);
	uint64_t magic = bytes_u64(&b);

	if (magic == PERF_FILE_MAGIC_SWAPPED)
		return refuse(scan->err, 0, BOBBIN_REASON_PERF_ENDIAN);
	if (magic != PERF_FILE_MAGIC)
		return refuse(scan->err, 0, BOBBIN_REASON_PERF_MAGIC);
	return 0;
}

/* An old header is shorter, a new one may be longer. */
static int read_header(struct scan *scan, struct perf_file_header *header)
{
	struct bytes b = file_bytes(scan->reader, sizeof(header->magic));
	uint64_t size = bytes_u64(&b);

	*header = (struct perf_file_header){0};
	if (size > sizeof(*header))
		size = sizeof(*header);
	if (b.bad || size > scan->reader->size)
		return refuse(scan->err, sizeof(header->magic), BOBBIN_REASON_TRUNCATED);
	if (size != PERF_FILE_PIPE_HEADER_SIZE && size < PERF_FILE_BARE_HEADER_SIZE)
		return refuse(scan->err, sizeof(header->magic), BOBBIN_REASON_PERF_HEADER);
	memcpy(header, scan->reader->data, size);
	header->size = size;
	return 0;
}

/* A recording that was killed has no size of its data and no features. */
static void find_end(struct scan *scan, const struct perf_file_header *header)
{
	struct perf_reader *reader = scan->reader;

	if (header->data.size && in_file(reader, header->data)) {
		scan->end = scan->pos + header->data.size;
		read_feature_table(reader, header);
		return;
	}
	scan->end = reader->size;
	reader->truncated = true;
}

static int scan_file(struct scan *scan)
{
	struct perf_reader *reader = scan->reader;
	struct perf_file_header header;
	int r = read_magic(scan);

	if (!r)
		r = read_header(scan, &header);
	if (r)
		return r;
	reader->pipe = header.size == PERF_FILE_PIPE_HEADER_SIZE;
	if (reader->pipe) {
		scan->pos = PERF_FILE_PIPE_HEADER_SIZE;
		scan->end = reader->size;
		return 0;
	}
	scan->pos = header.data.offset;
	if (scan->pos > reader->size)
		return refuse(scan->err, offsetof(struct perf_file_header, data),
			      BOBBIN_REASON_PERF_HEADER);
	find_end(scan, &header);
	return read_file_attrs(scan, &header);
}

/* Where the record, or what it was inflated from, stands in the file. */
static uint64_t file_offset(const struct perf_reader *reader, uint64_t place)
{
	return place & INFLATED ? perf_inflate_offset(reader->inflate, place & ~INFLATED) : place;
}

/* Records of one time stay in the order of the file. */
static int by_time(const void *a, const void *b, void *ctx)
{
	const struct indexed *x = a, *y = b;
	uint64_t before = x->place, after = y->place;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if ((before ^ after) & INFLATED) {
		before = file_offset(ctx, before);
		after = file_offset(ctx, after);
	}
	return before < after ? -1 : before > after;
}

/* Most files are in order, or nearly. */
static void sort_records(struct perf_reader *reader)
{
	for (size_t i = 1; i < reader->count; i++)
		if (reader->index[i - 1].time > reader->index[i].time) {
			qsort_r(reader->index, reader->count, sizeof(*reader->index), by_time,
				reader);
			return;
		}
}

static int scan_all(struct perf_reader *reader, struct bobbin_error *err)
{
	struct scan scan = {.reader = reader, .err = err};
	int r = scan_file(&scan);

	if (!r)
		r = scan_records(&scan);
	if (!r)
		r = read_features(&scan);
	if (r)
		return r;
	if (!reader->nr_attrs)
		return refuse(err, scan.pos, BOBBIN_REASON_PERF_ATTR);
	if (make_names(reader))
		return refuse_as(-ENOMEM, err, 0, BOBBIN_REASON_NONE);
	sort_records(reader);
	user_chain_index_settle(&reader->user_chains);
	return 0;
}

/* the interface */

static int open_data(const void *data, uint64_t size, bool mapped, struct bobbin_error *err,
		     struct perf_reader **ret)
{
	struct perf_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader) {
		if (mapped)
			munmap((void *)data, size);
		return refuse_as(-ENOMEM, err, 0, BOBBIN_REASON_NONE);
	}
	reader->data = data;
	reader->size = size;
	reader->mapped = mapped;
	reader->ids.seed = hash_seed();
	r = scan_all(reader, err);
	if (r)
		perf_reader_close(reader);
	else
		*ret = reader;
	return r;
}

int perf_reader_open_bytes(const void *data, size_t size, struct bobbin_error *err,
			   struct perf_reader **ret)
{
	return open_data(data, size, false, err, ret);
}

int perf_reader_open(const char *path, struct bobbin_error *err, struct perf_reader **ret)
{
	const void *data = NULL;
	uint64_t size = 0;
	int r = recording_bytes_open(path, &data, &size);

	if (r)
		return refuse_as(r, err, 0, BOBBIN_REASON_NONE);
	return open_data(data, size, size != 0, err, ret);
}

void perf_reader_close(struct perf_reader *reader)
{
	if (!reader)
		return;
	free(reader->attrs);
	free(reader->made_names);
	read_values_fini(&reader->values);
	event_ids_fini(&reader->ids);
	free(reader->index);
	user_chain_index_fini(&reader->user_chains);
	perf_inflate_close(reader->inflate);
	if (reader->mapped)
		munmap((void *)reader->data, reader->size);
	free(reader);
}

static const uint8_t *align_record(uint8_t *aligned, const uint8_t *record, uint64_t size)
{
	return (uintptr_t)record % 8 ? memcpy(aligned, record, size) : record;
}

static const uint8_t *record_at(const struct perf_reader *reader, uint64_t place)
{
	return place & INFLATED ? perf_inflate_at(reader->inflate, place & ~INFLATED)
				: reader->data + place;
}

/* The next value of the sample that carries some.  1; 0: there is no other; -ENOMEM. */
static int next_value(struct perf_reader *reader, struct perf_event *ret)
{
	const struct perf_values *values = &reader->carrier.sample.values;

	while (reader->next_value < values->count) {
		const uint64_t *words = values->words + reader->next_value++ * values->each;
		const struct owned_id *owned = event_ids_find(&reader->ids, words[values->id_at]);
		uint64_t more;
		bool apart;

		if (!owned)
			continue;
		apart = reader->attrs[owned->attr].attr.inherit;
		if (read_values_take(&reader->values, reader->ids.seed, words[values->id_at],
				     apart ? reader->carrier.tid : 0, words[0], &more))
			return -ENOMEM;
		if (!more)
			continue;
		*ret = reader->carrier;
		ret->id = words[values->id_at];
		ret->attr = &reader->attrs[owned->attr];
		ret->sample.period = more;
		return 1;
	}
	reader->carrier.sample.values = (struct perf_values){0};
	return 0;
}

static int next_record(struct perf_reader *reader, struct bobbin_error *err, struct perf_event *ret)
{
	const struct indexed *entry = &reader->index[reader->next++];
	const struct perf_reader_attr *attr;
	struct perf_event_header header;
	const uint8_t *record;
	uint64_t offset;

	offset = file_offset(reader, entry->place);
	record = record_at(reader, entry->place);
	memcpy(&header, record, sizeof(header));
	/* In a pipe, a later attribute can have made the id ambiguous. */
	attr = attr_of(reader, record, header.size, header.type);
	record = align_record(reader->aligned, record, header.size);
	if (!attr || perf_event_decode(&attr->attr, record, header.size, ret))
		return refuse(err, offset, BOBBIN_REASON_PERF_RECORD);
	ret->offset = offset;
	ret->time = entry->time;
	ret->attr = attr;
	return 1;
}

int perf_reader_next(struct perf_reader *reader, struct bobbin_error *err, struct perf_event *ret)
{
	struct perf_event event;
	int r = 0;

	while (!(r = next_value(reader, ret)) && reader->next < reader->count) {
		r = next_record(reader, err, &event);
		if (r < 0)
			return r;
		if (event.type != PERF_RECORD_SAMPLE || !event.sample.values.words) {
			*ret = event;
			return 1;
		}
		reader->carrier = event;
		reader->next_value = 0;
	}
	return r < 0 ? refuse_as(r, err, 0, BOBBIN_REASON_NONE) : r;
}

static bool decode_user_chain(struct perf_reader *reader, uint64_t place, struct perf_event *ret)
{
	const uint8_t *record = record_at(reader, place);
	const struct perf_reader_attr *attr;
	struct perf_event_header header;

	memcpy(&header, record, sizeof(header));
	attr = attr_of(reader, record, header.size, header.type);
	record = align_record(reader->aligned_chain, record, header.size);
	return attr && !perf_event_decode(&attr->attr, record, header.size, ret);
}

bool perf_reader_user_chain(struct perf_reader *reader, const struct perf_event *sample,
			    uint64_t cookie, struct perf_user_chain *ret)
{
	const struct user_chain_entry *entry;
	size_t count = user_chain_index_find(&reader->user_chains, cookie, sample->time, &entry);

	for (; count; count--, entry++) {
		struct perf_event part;

		if (!decode_user_chain(reader, entry->place, &part) || part.tid != sample->tid)
			continue;
		*ret = part.user_chain;
		return true;
	}
	return false;
}

bool perf_reader_truncated(const struct perf_reader *reader)
{
	return reader->truncated;
}

const struct perf_reader_stats *perf_reader_stats(const struct perf_reader *reader)
{
	return &reader->stats;
}

bool perf_reader_times(const struct perf_reader *reader, uint64_t *first, uint64_t *last)
{
	size_t i = 0;

	while (i < reader->count && !reader->index[i].time)
		i++;
	if (i == reader->count)
		return false;
	*first = reader->index[i].time;
	*last = reader->index[reader->count - 1].time;
	return true;
}

const struct perf_reader_attr *perf_reader_event(const struct perf_reader *reader, size_t i)
{
	return i < reader->nr_attrs ? &reader->attrs[i] : NULL;
}

struct perf_span perf_reader_feature(const struct perf_reader *reader, unsigned int feature)
{
	return feature < PERF_FILE_FEATURES ? reader->features[feature] : (struct perf_span){0};
}
