/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/recording.h>

#include <errno.h>
#include <stdlib.h>

#include "codemap/struct_copy.h"
#include "core/deps.h"
#include "infer/code_table.h"
#include "infer/machine.h"
#include "profile/session.h"
#include "target/mapping_list.h"
#include "unwind/space.h"

/* As the command has them. */
#define DEBUG_PATH "/usr/lib/debug"
#define SIDEFILE_PATH "/usr/lib/debug/.build-id"
#define DEADLINE_MS 1000

struct bobbin_recording {
	struct session *session;
	struct bobbin_recording_info info;
	struct stack_sample read; /* process NULL: there is none */
	struct bobbin_sample sample;
	struct bobbin_frame named; /* whose names those are */
	struct bobbin_name names[NAMING_MAX_INLINES];
	size_t name_count; /* 0: of no frame */
};

static int open_session(struct bobbin_recording *rec, const char *path,
			const struct bobbin_recording_options *options, struct bobbin_error *err)
{
	struct bobbin_recording_options own = {0};
	int r = options ? struct_copy(&own, sizeof(own), options, options->size) : 0;
	const struct session_options all = {
		.unwind =
			{
				.size = sizeof(all.unwind),
				.debug_path = own.debug_path ? own.debug_path : DEBUG_PATH,
				.sframe_path = SIDEFILE_PATH,
				.deadline_ms = DEADLINE_MS,
			},
		.infer = machine_any_is_read() ? &code_table_ops : NULL,
		.naming =
			{
				.inlines = true,
				.demangle = true,
				.debug_path = own.debug_path,
				.lines = own.lines,
			},
	};

	return r ? r : session_open(path, &all, err, &rec->session);
}

BOBBIN_API int bobbin_recording_open(const char *path,
				     const struct bobbin_recording_options *options,
				     struct bobbin_error *err, struct bobbin_recording **ret)
{
	struct bobbin_recording *rec = calloc(1, sizeof(*rec));
	struct bobbin_error why = {0};
	int r = rec ? open_session(rec, path, options, &why) : -ENOMEM;

	if (!r) {
		*ret = rec;
		return 0;
	}
	if (err)
		*err = why;
	bobbin_recording_close(rec);
	return r;
}

BOBBIN_API void bobbin_recording_close(struct bobbin_recording *recording)
{
	if (!recording)
		return;
	session_close(recording->session);
	free(recording);
}

BOBBIN_API const struct bobbin_recording_info *bobbin_recording_info(
	struct bobbin_recording *recording)
{
	const struct perf_reader *reader = session_reader(recording->session);
	const struct perf_reader_stats *stats = perf_reader_stats(reader);
	struct naming_loss loss = naming_loss(session_naming(recording->session));

	recording->info = (struct bobbin_recording_info){
		.samples = stats->samples,
		.lost_records = stats->lost,
		.unnamed = loss.frames,
		.unnamed_error = loss.error,
		.cut_off = perf_reader_truncated(reader),
	};
	return &recording->info;
}

static struct bobbin_sample sample_of(const struct stack_sample *read)
{
	return (struct bobbin_sample){
		.event = read->event,
		.comm = read->comm,
		.pid = read->pid,
		.tid = read->tid,
		.cpu = read->cpu,
		.time = read->time,
		.period = read->period,
		.frames = read->frames,
		.count = read->count,
		.reason = read->traced ? read->reason : BOBBIN_REASON_NONE,
	};
}

static int take_sample(void *ctx, const struct stack_sample *sample)
{
	struct stack_sample *read = ctx;

	*read = *sample;
	return 0;
}

static const struct sample_sink read_sink = {.sample = take_sample};

BOBBIN_API int bobbin_recording_next(struct bobbin_recording *recording, struct bobbin_error *err,
				     const struct bobbin_sample **ret)
{
	struct bobbin_error why = {0};
	int r;

	recording->read.process = NULL;
	recording->name_count = 0;
	r = session_next(recording->session, &read_sink, &recording->read, &why);
	if (r < 0 && err)
		*err = why;
	if (r <= 0)
		return r;
	recording->sample = sample_of(&recording->read);
	*ret = &recording->sample;
	return 1;
}

BOBBIN_API int bobbin_recording_find(struct bobbin_recording *recording, uint64_t addr,
				     struct bobbin_place_info *ret)
{
	const struct process *process = recording->read.process;

	return process ? bobbin_space_find(process->space, addr, ret) : -ENOENT;
}

/* What a recorder keeps stands in front, where no process can map anything. */
static size_t kept_mappings(const struct mapping_list *maps)
{
	size_t count = 0;

	while (count < maps->count && maps->list[count].start < KEPT_MAP_ADDRESS + KEPT_SIZE &&
	       (is_jitdump_path(maps->list[count].path) ||
		is_kept_map_path(maps->list[count].path)))
		count++;
	return count;
}

BOBBIN_API int bobbin_recording_mapping(struct bobbin_recording *recording, size_t number,
					struct bobbin_mapping *ret)
{
	const struct process *process = recording->read.process;
	const struct bobbin_space *space;
	struct bobbin_place_info place;
	size_t kept;
	int r;

	if (!process)
		return -ENOENT;
	space = process->space;
	kept = kept_mappings(&space->maps);
	if (number >= space->maps.count - kept)
		return -ENOENT;
	r = bobbin_space_find(space, space->maps.list[kept + number].start, &place);
	if (!r)
		*ret = place.mapping;
	return r;
}

static struct bobbin_name name_of(const struct named_frame *frame)
{
	return (struct bobbin_name){
		.function = frame->symbol.name,
		.file = frame->dso,
		.offset = frame->symbol.offset,
		.source_file = frame->symbol.src_file,
		.line = frame->symbol.line,
		.inlined = frame->inlined,
	};
}

static void look_up(struct bobbin_recording *rec, const struct bobbin_frame *frame)
{
	const struct stack_sample *read = &rec->read;
	const struct naming_moment moment = {read->pid, read->code_time, &read->process->lineage};
	struct named_frame named[NAMING_MAX_INLINES];

	rec->name_count = naming_frame(session_naming(rec->session), read->process->space, &moment,
				       frame, named);
	for (size_t i = 0; i < rec->name_count; i++)
		rec->names[i] = name_of(&named[i]);
	rec->named = *frame;
}

static bool is_same(const struct bobbin_frame *a, const struct bobbin_frame *b)
{
	return a->pc == b->pc && a->source == b->source && a->exact == b->exact &&
	       a->kernel == b->kernel;
}

BOBBIN_API const struct bobbin_name *bobbin_recording_name(struct bobbin_recording *recording,
							   const struct bobbin_frame *frame,
							   size_t number)
{
	if (!recording->read.process)
		return NULL;
	if (!recording->name_count || !is_same(&recording->named, frame))
		look_up(recording, frame);
	return number < recording->name_count ? &recording->names[number] : NULL;
}
