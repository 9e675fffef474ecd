/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pass over a perf.data file: attributes, features, and an index of the records.
 */
#include "profile/perf_reader_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/vector.h"
#include "core/bisect.h"
#include "core/refusal.h"

/* In the place of a record: it is an inflated one. */
#define INFLATED (1ull << 63)
/* Bound of the memory: stack copies repeat themselves, 260 times was measured. */
#define INFLATED_RATIO 1024
/* Of records that are mapped at a time, more or less. */
#define MAPPED_BYTES (32u << 20)
/* Of sixteen bytes, at a time. */
#define SORTED_RECORDS (1u << 17)
/* Larger pieces do not fit a COMPRESSED2 record: see inflate_oversized(). */
#define COMPRESSED2_MAX 65519
#define COMPRESSED2_HEADER 16

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

void perf_scan_touch(struct perf_reader *reader, uint64_t size)
{
	reader->touched += size;
	if (reader->touched < MAPPED_BYTES)
		return;
	if (reader->mapped)
		madvise((void *)reader->data, reader->size, MADV_DONTNEED);
	block_store_rest(&reader->inflated.store);
	reader->touched = 0;
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

/* The next event that EVENT_DESC describes, which is the @i-th: by its first id, if it has ids. */
static void name_attr(struct perf_reader *reader, struct bytes *b, uint32_t attr_size, uint32_t i)
{
	const struct owned_id *first;
	const char *name;
	uint32_t nr_ids;

	bytes_skip(b, attr_size);
	nr_ids = bytes_u32(b);
	name = bytes_string(b, bytes_u32(b));
	if (nr_ids) {
		first = event_ids_find(&reader->ids, bytes_u64(b));
		bytes_skip(b, 8 * (uint64_t)(nr_ids - 1));
		i = first ? first->attr : UINT32_MAX;
	}
	if (!b->bad && i < reader->nr_attrs)
		reader->attrs[i].name = name;
}

static int name_attrs(struct scan *scan)
{
	struct perf_span descs = scan->reader->features[PERF_FILE_EVENT_DESC];
	struct bytes b = perf_feature_bytes(descs);
	uint32_t nr = bytes_u32(&b), attr_size = bytes_u32(&b);

	if (!descs.data)
		return 0;
	for (uint32_t i = 0; i < nr && !b.bad; i++)
		name_attr(scan->reader, &b, attr_size, i);
	return b.bad ? refuse(scan->err, descs.offset + b.pos, BOBBIN_REASON_PERF_FEATURE) : 0;
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

/* the pass over the records */

/* A sample of an unknown event cannot be read; other records look alike in all. */
const struct perf_reader_attr *perf_scan_attr(const struct perf_reader *reader,
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

/* One that is too short to have a cookie is of no use. */
static int index_chain(struct scan *scan, uint64_t place, const uint8_t *record, uint16_t size)
{
	struct perf_reader *reader = scan->reader;
	struct indexed_chain chain = {.time = scan->time, .place = place};

	if (size < sizeof(struct perf_event_header) + sizeof(chain.cookie))
		return 0;
	memcpy(&chain.cookie, record + sizeof(struct perf_event_header), sizeof(chain.cookie));
	return vector_push(reader->chains, reader->nr_chains, reader->max_chains, chain);
}

/*
 * They are taken in before anything is delivered: perf gives them no time, and samples that come
 * before them may be of them.  Whoever asks for a damaged one hears of it later.
 */
static int take_cgroup(struct scan *scan, const struct perf_event_attr *attr, const uint8_t *record,
		       uint16_t size)
{
	struct perf_reader *reader = scan->reader;
	struct perf_event event;
	int r;

	memcpy(reader->aligned, record, size);
	if (perf_event_decode(attr, reader->aligned, size, &event))
		return 0;
	r = cgroup_table_add(&reader->cgroups, event.cgroup.id, event.cgroup.path);
	return r == -E2BIG ? 0 : r;
}

static int index_record(struct scan *scan, uint64_t place, const uint8_t *record,
			const struct perf_event_header *header, uint64_t offset)
{
	struct perf_reader *reader = scan->reader;
	const struct perf_reader_attr *attr;
	uint64_t time;

	if (!reader->nr_attrs)
		return refuse(scan->err, offset, BOBBIN_REASON_PERF_ATTR);
	attr = perf_scan_attr(reader, record, header->size, header->type);
	if (!attr)
		return 0;
	time = perf_event_time(&attr->attr, record, header->size);
	if (time)
		scan->time = time;
	count_record(&reader->stats, record, header);
	if (vector_push(reader->index, reader->count, reader->room,
			(struct indexed){scan->time, place}) ||
	    (header->type == PERF_FILE_CALLCHAIN_DEFERRED &&
	     index_chain(scan, place, record, header->size)) ||
	    (header->type == PERF_RECORD_CGROUP &&
	     take_cgroup(scan, &attr->attr, record, header->size)))
		return refuse_as(-ENOMEM, scan->err, offset, BOBBIN_REASON_NONE);
	return 0;
}

static bool is_kernel_record(uint32_t type)
{
	return type >= PERF_RECORD_MMAP && type <= PERF_FILE_CALLCHAIN_DEFERRED;
}

/* what is compressed */

static uint64_t inflated_left(const struct inflated *in)
{
	return in->filled - in->parsed;
}

/* The place where the last block begins. */
static uint64_t last_block(const struct inflated *in)
{
	return in->store.count ? (in->store.count - 1) * (uint64_t)STORED_BLOCK : 0;
}

static uint8_t *block_data(const struct inflated *in, size_t i)
{
	return in->store.blocks[i].data;
}

/* The unfinished record moves to the new block. */
static int add_block(struct perf_reader *reader)
{
	struct inflated *in = &reader->inflated;
	const size_t last = in->store.count;
	uint64_t left = inflated_left(in);

	if (block_store_add(&in->store))
		return -ENOMEM;
	if (left)
		memcpy(block_data(in, last), block_data(in, last - 1) + in->parsed, left);
	in->parsed = 0;
	in->filled = left;
	perf_scan_touch(reader, STORED_BLOCK);
	return 0;
}

/* Fill the rest of the last block; the stream may have more than fits. */
static int fill_block(struct inflated *in, ZSTD_inBuffer *bytes)
{
	ZSTD_outBuffer out = {.dst = block_data(in, in->store.count - 1),
			      .size = STORED_BLOCK,
			      .pos = in->filled};
	size_t consumed = bytes->pos, r = ZSTD_decompressStream(in->stream, &out, bytes);

	if (ZSTD_isError(r))
		return -EBADMSG;
	if (bytes->pos == consumed && out.pos == in->filled && bytes->pos < bytes->size)
		return -EBADMSG;
	in->total_out += out.pos - in->filled;
	in->filled = out.pos;
	return in->total_out / INFLATED_RATIO > in->total_in ? -EBADMSG : 0;
}

/* The records that are complete now.  Only what the kernel recorded is ever compressed. */
static int index_inflated(struct scan *scan)
{
	struct inflated *in = &scan->reader->inflated;
	struct perf_event_header header;
	int r = 0;

	while (!r && inflated_left(in) >= sizeof(header)) {
		const uint8_t *record = block_data(in, in->store.count - 1) + in->parsed;

		memcpy(&header, record, sizeof(header));
		if (header.size < sizeof(header))
			return refuse(scan->err, scan->pos, BOBBIN_REASON_PERF_COMPRESSED);
		if (header.size > inflated_left(in))
			break;
		if (is_kernel_record(header.type))
			r = index_record(scan, (last_block(in) + in->parsed) | INFLATED, record,
					 &header, scan->pos);
		in->parsed += header.size;
	}
	return r;
}

/* The bytes of one compressed record. */
static int inflate(struct scan *scan, uint64_t pos, uint64_t size)
{
	struct inflated *in = &scan->reader->inflated;
	ZSTD_inBuffer bytes = {.src = scan->reader->data + pos, .size = size};
	const struct inflated_piece piece = {last_block(in) + in->parsed, scan->pos};
	int r = 0;

	if (!in->stream)
		in->stream = ZSTD_createDStream();
	if (!in->stream || vector_push(in->pieces, in->nr_pieces, in->max_pieces, piece))
		return refuse_as(-ENOMEM, scan->err, scan->pos, BOBBIN_REASON_NONE);
	in->total_in += size;
	while (bytes.pos < bytes.size || in->filled == STORED_BLOCK) {
		if (!in->store.count || in->filled == STORED_BLOCK)
			r = add_block(scan->reader);
		if (!r)
			r = fill_block(in, &bytes);
		if (r)
			return refuse_as(r, scan->err, scan->pos,
					 r == -EBADMSG ? BOBBIN_REASON_PERF_COMPRESSED
						       : BOBBIN_REASON_NONE);
		r = index_inflated(scan);
		if (r)
			return r;
	}
	return 0;
}

uint64_t perf_scan_offset(const struct perf_reader *reader, uint64_t place)
{
	const struct inflated *in = &reader->inflated;
	size_t after;

	if (!(place & INFLATED))
		return place;
	/* the first piece is at the first place */
	after = bisect(i, 1, in->nr_pieces, in->pieces[i].place > (place & ~INFLATED));
	return in->pieces[after - 1].offset;
}

const uint8_t *perf_scan_record(const struct perf_reader *reader, uint64_t place)
{
	uint64_t at = place & ~INFLATED;

	return place & INFLATED
		       ? block_data(&reader->inflated, at / STORED_BLOCK) + at % STORED_BLOCK
		       : reader->data + place;
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
		perf_scan_touch(reader, size);
	}
	if (scan->pos < scan->end || inflated_left(&reader->inflated))
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

/* Records of one time stay in the order of the file. */
static int by_time(const void *a, const void *b, void *ctx)
{
	const struct indexed *x = a, *y = b;
	uint64_t before = x->place, after = y->place;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if ((before ^ after) & INFLATED) {
		before = perf_scan_offset(ctx, before);
		after = perf_scan_offset(ctx, after);
	}
	return before < after ? -1 : before > after;
}

static int by_cookie(const void *a, const void *b)
{
	const struct indexed_chain *x = a, *y = b;

	if (x->cookie != y->cookie)
		return x->cookie < y->cookie ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

static bool is_sorted(struct perf_reader *reader, size_t from, size_t to)
{
	for (size_t i = from + 1; i < to; i++)
		if (by_time(&reader->index[i - 1], &reader->index[i], reader) > 0)
			return false;
	return true;
}

static void sort_part(struct perf_reader *reader, size_t from, size_t to)
{
	if (!is_sorted(reader, from, to))
		qsort_r(reader->index + from, to - from, sizeof(*reader->index), by_time, reader);
}

/*
 * Most files are in order, but for what the CPUs had in their buffers at a time.  Parts that overlap by
 * half sort all that is not further away than that, in little memory.
 */
static void sort_records(struct perf_reader *reader)
{
	for (size_t at = 0; at < reader->count; at += SORTED_RECORDS / 2) {
		const size_t left = reader->count - at;

		sort_part(reader, at, at + (left < SORTED_RECORDS ? left : SORTED_RECORDS));
	}
	sort_part(reader, 0, reader->count);
}

int perf_scan(struct perf_reader *reader, struct bobbin_error *err)
{
	struct scan scan = {.reader = reader, .err = err};
	int r = scan_file(&scan);

	if (!r)
		r = scan_records(&scan);
	if (!r)
		r = name_attrs(&scan);
	if (r)
		return r;
	if (!reader->nr_attrs)
		return refuse(err, scan.pos, BOBBIN_REASON_PERF_ATTR);
	if (make_names(reader))
		return refuse_as(-ENOMEM, err, 0, BOBBIN_REASON_NONE);
	sort_records(reader);
	if (reader->nr_chains)
		qsort(reader->chains, reader->nr_chains, sizeof(*reader->chains), by_cookie);
	return 0;
}
