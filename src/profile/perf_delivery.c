/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a reader gives out once the file is scanned: records in the order of time, and features.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vector.h"
#include "core/bisect.h"
#include "core/refusal.h"
#include "profile/perf_reader_state.h"

/* Threads whose parts can have one cookie and come after one sample: the cookies are unique. */
#define MAX_SHARED_COOKIE 64

static int check_regular(int fd, uint64_t *ret)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -ESPIPE;
	*ret = (uint64_t)st.st_size;
	return 0;
}

/* The bytes of a file, unless there are none. */
static int map_file(const char *path, const void **ret_data, uint64_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r;
	void *data = NULL;
	uint64_t size = 0;

	if (fd < 0)
		return -errno;
	r = check_regular(fd, &size);
	if (!r && size) {
		data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
		r = data == MAP_FAILED ? -errno : 0;
	}
	close(fd);
	if (r)
		return r;
	*ret_data = data;
	*ret_size = size;
	return 0;
}

static void free_inflated(struct inflated *in)
{
	block_store_fini(&in->store);
	free(in->pieces);
	ZSTD_freeDStream(in->stream);
}

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
	reader->ids.seed = reader->cgroups.seed = hash_seed();
	r = perf_scan(reader, err);
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
	int r = map_file(path, &data, &size);

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
	event_ids_fini(&reader->ids);
	cgroup_table_fini(&reader->cgroups);
	free_inflated(&reader->inflated);
	free(reader->index);
	free(reader->chains);
	free(reader->values);
	hash_index_fini(&reader->value_index);
	if (reader->mapped)
		munmap((void *)reader->data, reader->size);
	free(reader);
}

static const uint8_t *align_record(uint8_t *aligned, const uint8_t *record, uint64_t size)
{
	return (uintptr_t)record % 8 ? memcpy(aligned, record, size) : record;
}

/*
 * What a counter has counted since the last call for it: all of @value at the first, and after it
 * was set back.  @tid: 0 if it counts for all threads alike.
 *
 *	sample of a group's leader: leader 1000, other 60
 *	the next one:               leader 2000, other 75  ──► 1000 and 15 more
 */
static int count_more(struct perf_reader *reader, uint64_t id, uint32_t tid, uint64_t value,
		      uint64_t *ret)
{
	const struct read_value first = {.id = id, .value = value, .tid = tid};
	uint64_t hash = hash_words(id, tid, reader->ids.seed), before;
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&reader->value_index, hash, &at, &i)) {
		struct read_value *known = &reader->values[i];

		if (known->id != id || known->tid != tid)
			continue;
		before = known->value;
		known->value = value;
		*ret = value < before ? value : value - before;
		return 0;
	}
	*ret = value;
	return hash_index_push(&reader->value_index, hash, reader->values, reader->nr_values,
			       reader->max_values, first);
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
		if (count_more(reader, words[values->id_at], apart ? reader->carrier.tid : 0,
			       words[0], &more))
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

	offset = perf_scan_offset(reader, entry->place);
	record = perf_scan_record(reader, entry->place);
	memcpy(&header, record, sizeof(header));
	perf_scan_touch(reader, header.size);
	/* In a pipe, a later attribute can have made the id ambiguous. */
	attr = perf_scan_attr(reader, record, header.size, header.type);
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
	const uint8_t *record = perf_scan_record(reader, place);
	const struct perf_reader_attr *attr;
	struct perf_event_header header;

	memcpy(&header, record, sizeof(header));
	attr = perf_scan_attr(reader, record, header.size, header.type);
	record = align_record(reader->aligned_chain, record, header.size);
	return attr && !perf_event_decode(&attr->attr, record, header.size, ret);
}

bool perf_reader_user_chain(struct perf_reader *reader, const struct perf_event *sample,
			    uint64_t cookie, struct perf_user_chain *ret)
{
	const struct indexed_chain *chains = reader->chains;
	size_t first = bisect(i, 0, reader->nr_chains,
			      chains[i].cookie > cookie || (chains[i].cookie == cookie &&
							    chains[i].time >= sample->time));

	for (size_t i = first;
	     i < reader->nr_chains && i - first < MAX_SHARED_COOKIE && chains[i].cookie == cookie;
	     i++) {
		struct perf_event part;

		if (!decode_user_chain(reader, chains[i].place, &part) || part.tid != sample->tid)
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

const struct cgroup *perf_reader_cgroup(const struct perf_reader *reader, uint64_t id)
{
	return id ? cgroup_table_find(&reader->cgroups, id) : NULL;
}

size_t perf_reader_event_count(const struct perf_reader *reader)
{
	return reader->nr_attrs;
}

const struct perf_reader_attr *perf_reader_event(const struct perf_reader *reader, size_t i)
{
	return i < reader->nr_attrs ? &reader->attrs[i] : NULL;
}

struct perf_span perf_reader_feature(const struct perf_reader *reader, unsigned int feature)
{
	return feature < PERF_FILE_FEATURES ? reader->features[feature] : (struct perf_span){0};
}

struct bytes perf_feature_bytes(struct perf_span feature)
{
	return bytes_of(feature.data, feature.size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

int perf_feature_string(struct perf_span feature, const char **ret)
{
	struct bytes b = perf_feature_bytes(feature);
	const char *string;

	if (!feature.data)
		return -ENODATA;
	string = bytes_string(&b, bytes_u32(&b));
	if (!string)
		return -EBADMSG;
	*ret = string;
	return 0;
}

/* An entry: struct perf_event_header, s32 process, u8 build ID[24], the path. */
#define ID_FIELD 24
#define ID_MOST 20
#define SIZE_AT 20 /* in the field, if misc says so */
#define MISC_HAS_SIZE (1u << 15)

struct file_build_id {
	const char *path;
	const uint8_t *id;
	uint8_t size;
};

static int by_path(const void *left, const void *right)
{
	const struct file_build_id *a = left, *b = right;

	return strcmp(a->path, b->path);
}

/* false: the kernel's, or malformed */
static bool read_entry(struct bytes *b, struct file_build_id *ret)
{
	uint64_t start = b->pos;
	uint16_t misc, size;

	bytes_skip(b, sizeof(uint32_t));
	misc = bytes_u16(b);
	size = bytes_u16(b);
	bytes_skip(b, sizeof(uint32_t));
	ret->id = b->data + b->pos;
	bytes_skip(b, ID_FIELD);
	if (b->bad || size <= b->pos - start) {
		b->bad = true;
		return false;
	}
	ret->size = misc & MISC_HAS_SIZE ? ret->id[SIZE_AT] : ID_MOST;
	ret->path = bytes_string(b, (uint32_t)(size - (b->pos - start)));
	return !b->bad && ret->size && ret->size <= ID_MOST &&
	       (misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL;
}

int file_build_ids_init(struct perf_span feature, struct file_build_ids *ret)
{
	struct bytes b = perf_feature_bytes(feature);
	struct file_build_ids ids = {0};
	struct file_build_id entry;
	int r = 0;

	while (!r && feature.data && !b.bad && bytes_left(&b))
		if (read_entry(&b, &entry))
			r = vector_push(ids.list, ids.count, ids.room, entry);
	if (r) {
		file_build_ids_fini(&ids);
		return r;
	}
	if (ids.count)
		qsort(ids.list, ids.count, sizeof(*ids.list), by_path);
	*ret = ids;
	return 0;
}

void file_build_ids_fini(struct file_build_ids *ids)
{
	free(ids->list);
	*ids = (struct file_build_ids){0};
}

void file_build_ids_fill(const struct file_build_ids *ids, struct perf_mmap *mmap)
{
	const struct file_build_id *found;
	size_t i;

	if (mmap->build_id_len || !ids->count)
		return;
	i = bisect(at, 0, ids->count, strcmp(ids->list[at].path, mmap->filename) >= 0);
	found = &ids->list[i];
	/* of two for one path neither is sure */
	if (i == ids->count || strcmp(found->path, mmap->filename) ||
	    (i + 1 < ids->count && !strcmp(found[1].path, mmap->filename)))
		return;
	memcpy(mmap->build_id, found->id, found->size);
	mmap->build_id_len = found->size;
}
