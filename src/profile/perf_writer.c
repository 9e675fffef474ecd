/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/draft.h"
#include "profile/perf_format.h"
#include "profile/perf_writer.h"

/* The fields that are written. */
#define SAMPLE_TYPE \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | \
	 PERF_SAMPLE_CGROUP)

struct perf_writer {
	struct draft *draft;
	struct perf_file_header header;
	uint64_t first_time, last_time, samples;
	time_t flushed; /* when, in seconds of clock_seconds() */
	struct byte_buffer record;
	struct byte_buffer features[PERF_FILE_FEATURES];
};

/* A string of a feature: its size, padding included, goes first. */
static void put_sized_string(struct byte_buffer *blob, const char *string)
{
	size_t align = PERF_FILE_STRING_ALIGN;
	size_t size = strlen(string) + 1, padded = (size + align - 1) & ~(align - 1);

	byte_buffer_native32(blob, (uint32_t)padded);
	byte_buffer_put(blob, string, size);
	byte_buffer_zeroes(blob, padded - size);
}

/* records */

static void begin_record(struct byte_buffer *blob, const struct perf_event *event, uint16_t misc)
{
	struct perf_event_header header = {.type = event->type, .misc = misc};

	blob->size = 0;
	byte_buffer_put(blob, &header, sizeof(header));
}

static void put_tid(struct byte_buffer *blob, const struct perf_event *event)
{
	byte_buffer_native32(blob, event->pid);
	byte_buffer_native32(blob, event->tid);
}

static void put_cpu(struct byte_buffer *blob, const struct perf_event *event)
{
	byte_buffer_native32(blob, event->cpu);
	byte_buffer_native32(blob, 0);
}

static void put_trailer(struct byte_buffer *blob, const struct perf_event *event)
{
	put_tid(blob, event);
	byte_buffer_native64(blob, event->time);
	put_cpu(blob, event);
	byte_buffer_native64(blob, event->id);
}

static void put_mmap_file(struct byte_buffer *blob, const struct perf_mmap *mmap)
{
	if (mmap->build_id_len) {
		uint8_t size[4] = {mmap->build_id_len};

		byte_buffer_put(blob, size, sizeof(size));
		byte_buffer_put(blob, mmap->build_id, sizeof(mmap->build_id));
	} else {
		byte_buffer_native32(blob, mmap->maj);
		byte_buffer_native32(blob, mmap->min);
		byte_buffer_native64(blob, mmap->ino);
		byte_buffer_native64(blob, mmap->ino_gen);
	}
	byte_buffer_native32(blob, mmap->prot);
	byte_buffer_native32(blob, mmap->flags);
}

static void put_mmap(struct byte_buffer *blob, const struct perf_event *event)
{
	const struct perf_mmap *mmap = &event->mmap;
	bool mmap2 = event->type == PERF_RECORD_MMAP2;
	uint16_t misc = event->misc & ~PERF_RECORD_MISC_MMAP_BUILD_ID;

	if (mmap2 && mmap->build_id_len)
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	begin_record(blob, event, misc);
	put_tid(blob, event);
	byte_buffer_native64(blob, mmap->addr);
	byte_buffer_native64(blob, mmap->len);
	byte_buffer_native64(blob, mmap->pgoff);
	if (mmap2)
		put_mmap_file(blob, mmap);
	byte_buffer_string(blob, mmap->filename, 8);
}

static void put_comm(struct byte_buffer *blob, const struct perf_event *event)
{
	uint16_t misc = event->misc & ~PERF_RECORD_MISC_COMM_EXEC;

	if (event->comm.exec)
		misc |= PERF_RECORD_MISC_COMM_EXEC;
	begin_record(blob, event, misc);
	put_tid(blob, event);
	byte_buffer_string(blob, event->comm.comm, 8);
}

static void put_ksymbol(struct byte_buffer *blob, const struct perf_event *event)
{
	const struct perf_ksymbol *symbol = &event->ksymbol;
	const uint16_t kind[] = {PERF_RECORD_KSYMBOL_TYPE_BPF,
				 symbol->gone ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0};

	begin_record(blob, event, event->misc);
	byte_buffer_native64(blob, symbol->addr);
	byte_buffer_native32(blob, symbol->len);
	byte_buffer_put(blob, kind, sizeof(kind));
	byte_buffer_string(blob, symbol->name, 8);
}

static void put_task(struct byte_buffer *blob, const struct perf_event *event)
{
	begin_record(blob, event, event->misc);
	byte_buffer_native32(blob, event->pid);
	byte_buffer_native32(blob, event->task.ppid);
	byte_buffer_native32(blob, event->tid);
	byte_buffer_native32(blob, event->task.ptid);
	byte_buffer_native64(blob, event->time);
}

static void put_cgroup(struct byte_buffer *blob, const struct perf_event *event)
{
	begin_record(blob, event, event->misc);
	byte_buffer_native64(blob, event->cgroup.id);
	byte_buffer_string(blob, event->cgroup.path, 8);
}

static void put_lost(struct byte_buffer *blob, const struct perf_event *event)
{
	begin_record(blob, event, event->misc);
	if (event->type == PERF_RECORD_LOST)
		byte_buffer_native64(blob, event->id);
	byte_buffer_native64(blob, event->lost);
}

/* The size field counts the padding, so that a record stays aligned. */
static void put_raw(struct byte_buffer *blob, const void *raw, uint32_t size)
{
	uint32_t padded = ((size + 4 + 7) & ~7u) - 4;

	byte_buffer_native32(blob, padded);
	byte_buffer_put(blob, raw, size);
	byte_buffer_zeroes(blob, padded - size);
}

static void put_sample(struct byte_buffer *blob, const struct perf_event *event)
{
	const struct perf_sample *sample = &event->sample;

	begin_record(blob, event, event->misc);
	byte_buffer_native64(blob, event->id);
	byte_buffer_native64(blob, sample->ip);
	put_tid(blob, event);
	byte_buffer_native64(blob, event->time);
	put_cpu(blob, event);
	byte_buffer_native64(blob, sample->period);
	byte_buffer_native64(blob, sample->callchain_nr);
	byte_buffer_put(blob, sample->callchain, 8 * sample->callchain_nr);
	put_raw(blob, sample->raw, sample->raw_size);
	byte_buffer_native64(blob, sample->cgroup);
}

/* Checked before any size is computed from it. */
static bool sample_fits(const struct perf_sample *sample)
{
	return sample->callchain_nr < PERF_FILE_RECORD_BYTES / 8 &&
	       sample->raw_size < PERF_FILE_RECORD_BYTES;
}

static int put_body(struct byte_buffer *blob, const struct perf_event *event)
{
	switch (event->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		put_mmap(blob, event);
		return 0;
	case PERF_RECORD_COMM:
		put_comm(blob, event);
		return 0;
	case PERF_RECORD_KSYMBOL:
		put_ksymbol(blob, event);
		return 0;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		put_task(blob, event);
		return 0;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		put_lost(blob, event);
		return 0;
	case PERF_RECORD_CGROUP:
		put_cgroup(blob, event);
		return 0;
	case PERF_RECORD_SAMPLE:
		if (!sample_fits(&event->sample))
			return -E2BIG;
		put_sample(blob, event);
		return 0;
	default:
		return -EINVAL;
	}
}

static int write_record(struct perf_writer *writer)
{
	struct byte_buffer *record = &writer->record;
	struct perf_event_header header;

	if (record->failed)
		return -ENOMEM;
	if (record->size > UINT16_MAX)
		return -E2BIG;
	memcpy(&header, record->data, sizeof(header));
	header.size = (uint16_t)record->size;
	memcpy(record->data, &header, sizeof(header));
	return draft_write(writer->draft, record->data, record->size);
}

static void note_time(struct perf_writer *writer, uint64_t time)
{
	if (!writer->first_time || time < writer->first_time)
		writer->first_time = time;
	if (time > writer->last_time)
		writer->last_time = time;
}

int perf_writer_put(struct perf_writer *writer, const struct perf_event *event)
{
	int r = put_body(&writer->record, event);

	if (r)
		return r;
	if (event->type != PERF_RECORD_SAMPLE)
		put_trailer(&writer->record, event);
	r = write_record(writer);
	if (!r && event->type == PERF_RECORD_SAMPLE) {
		note_time(writer, event->time);
		writer->samples++;
	}
	return r;
}

/* Who reads a stream waits for it; a recorder that is killed loses what a file has not. */
static bool is_flush_due(struct perf_writer *writer)
{
	time_t now = clock_seconds();

	if (!perf_writer_is_stream(writer) && now == writer->flushed)
		return false;
	writer->flushed = now;
	return true;
}

int perf_writer_round(struct perf_writer *writer)
{
	struct perf_event event = {.type = PERF_FILE_FINISHED_ROUND};
	int r;

	begin_record(&writer->record, &event, 0);
	r = write_record(writer);
	if (!r && is_flush_due(writer))
		r = draft_flush(writer->draft);
	return r;
}

/* features */

static struct byte_buffer *add_feature(struct perf_writer *writer, unsigned int feature)
{
	writer->header.features[feature / 64] |= 1ull << feature % 64;
	return &writer->features[feature];
}

int perf_writer_feature(struct perf_writer *writer, unsigned int feature, struct byte_buffer *bytes)
{
	if (feature >= PERF_FILE_FEATURES || feature <= PERF_FILE_SAMPLE_TIME ||
	    perf_file_has(&writer->header, feature))
		return -EINVAL;
	*add_feature(writer, feature) = *bytes;
	*bytes = (struct byte_buffer){0};
	return 0;
}

static void add_string(struct perf_writer *writer, unsigned int feature, const char *string)
{
	if (string)
		put_sized_string(add_feature(writer, feature), string);
}

static void add_nr_cpus(struct perf_writer *writer)
{
	struct byte_buffer *blob = add_feature(writer, PERF_FILE_NRCPUS);

	/* perf writes the available ones first, whatever its documents say */
	byte_buffer_native32(blob, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	byte_buffer_native32(blob, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static void add_cmdline(struct perf_writer *writer, const char *const *argv)
{
	struct byte_buffer *blob;
	uint32_t nr = 0;

	if (!argv)
		return;
	while (argv[nr])
		nr++;
	blob = add_feature(writer, PERF_FILE_CMDLINE);
	byte_buffer_native32(blob, nr);
	for (uint32_t i = 0; i < nr; i++)
		put_sized_string(blob, argv[i]);
}

static void add_sample_time(struct perf_writer *writer)
{
	struct byte_buffer *blob;

	if (!writer->last_time)
		return;
	blob = add_feature(writer, PERF_FILE_SAMPLE_TIME);
	byte_buffer_native64(blob, writer->first_time);
	byte_buffer_native64(blob, writer->last_time);
}

static int add_features(struct perf_writer *writer, const struct perf_writer_info *info)
{
	struct utsname machine;

	if (uname(&machine))
		return -errno;
	add_string(writer, PERF_FILE_HOSTNAME, machine.nodename);
	add_string(writer, PERF_FILE_OSRELEASE, machine.release);
	add_string(writer, PERF_FILE_ARCH, machine.machine);
	add_string(writer, PERF_FILE_VERSION, info->version);
	add_nr_cpus(writer);
	add_cmdline(writer, info->argv);
	add_sample_time(writer);
	return 0;
}

/* Those that are too large for a record, and foreign ones, are left out. */
static int stream_features(struct perf_writer *writer)
{
	const struct perf_event event = {.type = PERF_FILE_FEATURE};
	int r = 0;

	for (unsigned int i = 0; i < PERF_FILE_PIPE_FEATURES && !r; i++) {
		const struct byte_buffer *feature = &writer->features[i];

		if (!perf_file_has(&writer->header, i))
			continue;
		if (feature->failed)
			return -ENOMEM;
		begin_record(&writer->record, &event, 0);
		byte_buffer_native64(&writer->record, i);
		byte_buffer_put(&writer->record, feature->data, feature->size);
		byte_buffer_align(&writer->record, 8);
		r = write_record(writer);
		if (r == -E2BIG)
			r = 0;
	}
	return r;
}

static void forget_features(struct perf_writer *writer)
{
	memset(writer->header.features, 0, sizeof(writer->header.features));
	for (unsigned int i = 0; i < PERF_FILE_FEATURES; i++)
		byte_buffer_fini(&writer->features[i]);
}

/* The table of sections, then their bytes, in the order of the bits. */
static int write_features(struct perf_writer *writer)
{
	struct draft *draft = writer->draft;
	uint64_t offset = draft_pos(draft);
	int r = 0;

	for (unsigned int i = 0; i < PERF_FILE_FEATURES; i++)
		offset += perf_file_has(&writer->header, i) ? sizeof(struct perf_file_section) : 0;
	for (unsigned int i = 0; i < PERF_FILE_FEATURES && !r; i++) {
		struct perf_file_section section = {offset, writer->features[i].size};

		if (!perf_file_has(&writer->header, i))
			continue;
		r = writer->features[i].failed ? -ENOMEM : 0;
		if (!r)
			r = draft_write(draft, &section, sizeof(section));
		offset += section.size;
	}
	for (unsigned int i = 0; i < PERF_FILE_FEATURES && !r; i++)
		r = draft_write(draft, writer->features[i].data, writer->features[i].size);
	return r;
}

/* the file */

/* What is written, not what was asked of the kernel. */
static void put_attr(struct byte_buffer *blob, const struct sample_event *event)
{
	struct perf_event_attr attr = event->attr;

	attr.size = sizeof(attr);
	attr.sample_type = SAMPLE_TYPE;
	attr.sample_id_all = 1;
	attr.sample_regs_user = 0;
	attr.sample_stack_user = 0;
	byte_buffer_put(blob, &attr, sizeof(attr));
}

static void put_ids(struct byte_buffer *blob, const struct sample_event *event, size_t nr)
{
	byte_buffer_put(blob, event->ids, nr * sizeof(*event->ids));
}

static void describe_events(struct perf_writer *writer, const struct sample_event *events,
			    size_t count)
{
	struct byte_buffer *blob = add_feature(writer, PERF_FILE_EVENT_DESC);

	byte_buffer_native32(blob, (uint32_t)count);
	byte_buffer_native32(blob, sizeof(struct perf_event_attr));
	for (const struct sample_event *event = events; event < events + count; event++) {
		put_attr(blob, event);
		byte_buffer_native32(blob, (uint32_t)event->nr_ids);
		put_sized_string(blob, event->name ? event->name : "");
		put_ids(blob, event, event->nr_ids);
	}
}

/* When records are made by the time of day, for who compares them with what happens to files. */
static void add_clock(struct perf_writer *writer, const struct sample_event *event)
{
	struct byte_buffer *blob;

	if (!event->attr.use_clockid)
		return;
	blob = add_feature(writer, PERF_FILE_CLOCK_DATA);
	byte_buffer_native32(blob, 1);
	byte_buffer_native32(blob, (uint32_t)event->attr.clockid);
	byte_buffer_native64(blob, clock_ns(CLOCK_REALTIME));
	byte_buffer_native64(blob, clock_ns(event->attr.clockid));
}

/* The first records: features come at the end, which a recording that is killed does not have. */
static int name_events(struct perf_writer *writer, const struct sample_event *events, size_t count)
{
	const struct perf_event update = {.type = PERF_FILE_EVENT_UPDATE};
	int r = 0;

	for (size_t i = 0; i < count && !r; i++) {
		if (!events[i].name || !events[i].nr_ids)
			continue;
		begin_record(&writer->record, &update, 0);
		byte_buffer_native64(&writer->record, PERF_FILE_UPDATE_NAME);
		byte_buffer_native64(&writer->record, events[i].ids[0]);
		byte_buffer_string(&writer->record, events[i].name, 8);
		r = write_record(writer);
	}
	return r;
}

/* Header, ids, attributes: all that stands in front of the records. */
static int write_front(struct perf_writer *writer, const struct sample_event *events, size_t count)
{
	const struct sample_event *end = events + count;
	struct perf_file_section ids = {sizeof(writer->header), 0};
	struct perf_file_header *header = &writer->header;
	struct byte_buffer blob = {0};
	int r = -ENOMEM;

	header->magic = PERF_FILE_MAGIC;
	header->size = sizeof(*header);
	header->attr_size = sizeof(struct perf_event_attr) + sizeof(ids);
	header->attrs.offset = ids.offset;
	for (const struct sample_event *event = events; event < end; event++)
		header->attrs.offset += 8 * event->nr_ids;
	header->attrs.size = count * header->attr_size;
	header->data.offset = header->attrs.offset + header->attrs.size;
	byte_buffer_put(&blob, header, sizeof(*header));
	for (const struct sample_event *event = events; event < end; event++)
		put_ids(&blob, event, event->nr_ids);
	for (const struct sample_event *event = events; event < end; event++) {
		ids.size = 8 * event->nr_ids;
		put_attr(&blob, event);
		byte_buffer_put(&blob, &ids, sizeof(ids));
		ids.offset += ids.size;
	}
	if (!blob.failed)
		r = draft_write(writer->draft, blob.data, blob.size);
	byte_buffer_fini(&blob);
	describe_events(writer, events, count);
	add_clock(writer, events);
	return r;
}

/* One record cannot have more; the records that are written have the first one. */
static size_t streamed_ids(size_t nr)
{
	size_t most =
		(UINT16_MAX - sizeof(struct perf_event_header) - sizeof(struct perf_event_attr)) /
		8;

	return nr > most ? most : nr;
}

/* What a stream begins with; its features do not wait for the end, if they are known. */
static int stream_front(struct perf_writer *writer, const struct sample_event *events, size_t count)
{
	const uint64_t header[] = {PERF_FILE_MAGIC, PERF_FILE_PIPE_HEADER_SIZE};
	const struct perf_event attr = {.type = PERF_FILE_ATTR};
	int r = draft_write(writer->draft, header, sizeof(header));

	for (size_t i = 0; i < count && !r; i++) {
		begin_record(&writer->record, &attr, 0);
		put_attr(&writer->record, &events[i]);
		put_ids(&writer->record, &events[i], streamed_ids(events[i].nr_ids));
		r = write_record(writer);
	}
	describe_events(writer, events, count);
	add_clock(writer, events);
	if (!r)
		r = stream_features(writer);
	forget_features(writer);
	return r;
}

int perf_writer_open(const char *path, const struct sample_event *events, size_t count,
		     struct perf_writer **ret)
{
	struct perf_writer *writer = calloc(1, sizeof(*writer));
	int r;

	if (!writer)
		return -ENOMEM;
	r = draft_open(path, &writer->draft);
	if (!r)
		r = perf_writer_is_stream(writer) ? stream_front(writer, events, count)
						  : write_front(writer, events, count);
	if (!r)
		r = name_events(writer, events, count);
	/* whatever happens from here on, the file can be read; an error is said at its end */
	if (!r && !perf_writer_is_stream(writer))
		draft_flush(writer->draft);
	if (r)
		perf_writer_abort(writer);
	else
		*ret = writer;
	return r;
}

bool perf_writer_is_stream(const struct perf_writer *writer)
{
	return draft_is_stream(writer->draft);
}

/* The end of the records, after which the rest of the file stands. */
static int write_end(struct perf_writer *writer)
{
	struct perf_file_header *header = &writer->header;
	int r;

	header->data.size = draft_pos(writer->draft) - header->data.offset;
	r = write_features(writer);
	return r ? r : draft_rewrite(writer->draft, 0, header, sizeof(*header));
}

static bool lacks_room(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

static uint64_t size_of_end(const struct perf_writer *writer)
{
	/* blocks are given back as a whole */
	uint64_t size = 2 * (uint64_t)sysconf(_SC_PAGESIZE);

	for (unsigned int i = 0; i < PERF_FILE_FEATURES; i++)
		if (perf_file_has(&writer->header, i))
			size += sizeof(struct perf_file_section) + writer->features[i].size;
	return size;
}

/* Where the last record ends that lies before @limit; counts the samples up to there. */
static uint64_t last_record(struct perf_writer *writer, const uint8_t *file, uint64_t limit)
{
	uint64_t pos = writer->header.data.offset;
	struct perf_event_header header;

	writer->samples = 0;
	while (limit - pos >= sizeof(header)) {
		memcpy(&header, file + pos, sizeof(header));
		if (header.size < sizeof(header) || header.size > limit - pos)
			break;
		writer->samples += header.type == PERF_RECORD_SAMPLE;
		pos += header.size;
	}
	return pos;
}

/* There is little room: the samples are worth more. */
static void drop_large_features(struct perf_writer *writer, uint64_t limit)
{
	for (unsigned int i = 0; i < PERF_FILE_FEATURES; i++) {
		if (!perf_file_has(&writer->header, i) || writer->features[i].size <= limit)
			continue;
		writer->header.features[i / 64] &= ~(1ull << i % 64);
		byte_buffer_fini(&writer->features[i]);
	}
}

/* Make room for the end; records reach to @data_end at most. */
static int cut_records(struct perf_writer *writer, uint64_t data_end)
{
	uint64_t need, size, limit;
	int fd, r = draft_recover(writer->draft, &fd, &size);
	void *file;

	if (r)
		return r;
	drop_large_features(writer, size / 8);
	need = size_of_end(writer);
	if (size < need || size - need < writer->header.data.offset)
		return -ENOSPC;
	limit = size - need < data_end ? size - need : data_end;
	file = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		return -errno;
	limit = last_record(writer, file, limit);
	munmap(file, size);
	return writer->samples ? draft_cut(writer->draft, limit) : -ENOSPC;
}

/* 0: the file is whole; *@cut: its last records are missing, for this reason. */
static int finish_file(struct perf_writer *writer, int *cut)
{
	uint64_t data_end;
	int r = draft_flush(writer->draft);

	data_end = draft_pos(writer->draft);
	if (!r)
		r = write_end(writer);
	if (!lacks_room(r))
		return r;
	*cut = r;
	r = cut_records(writer, data_end);
	return r ? r : write_end(writer);
}

static int finish_stream(struct perf_writer *writer)
{
	int r = stream_features(writer);

	return r ? r : draft_flush(writer->draft);
}

static void free_writer(struct perf_writer *writer)
{
	for (unsigned int i = 0; i < PERF_FILE_FEATURES; i++)
		byte_buffer_fini(&writer->features[i]);
	byte_buffer_fini(&writer->record);
	free(writer);
}

int perf_writer_finish(struct perf_writer *writer, const struct perf_writer_info *info)
{
	static const struct perf_writer_info unsaid;
	int r, cut = 0;

	info = info ? info : &unsaid;
	r = add_features(writer, info);
	if (!r)
		r = perf_writer_is_stream(writer) ? finish_stream(writer)
						  : finish_file(writer, &cut);
	if (r)
		draft_discard(writer->draft);
	else
		r = draft_commit(writer->draft);
	if (info->kept)
		*info->kept = r ? 0 : writer->samples;
	free_writer(writer);
	return r ? r : cut;
}

void perf_writer_abort(struct perf_writer *writer)
{
	if (!writer)
		return;
	draft_discard(writer->draft);
	free_writer(writer);
}
