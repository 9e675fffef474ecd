/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recorder learns of code that the kernel does not tell of: images that a process has loaded
 * itself and registered, and files that it has copied.
 *
 * The kernel knows memory without a file; who reads a recording needs the file for names.  So a
 * recording says that the file was mapped there.
 *
 * A process that is known to publish a page is asked whether it has changed before the first
 * sample of a sweep is walked, and where a stack leads into memory that nothing is known of: that
 * is one system call.  Those that have no samples are asked twice a second, so that what they
 * have told is known if they end.  Reading a large page that changes all the time takes no more
 * than a twentieth of the time.
 *
 * To find out whether a process has a page costs a search of its mappings.  That is
 * done where a stack leads into such memory: the first few times as readily as a page
 * is read, then the less often the longer nothing has been mapped.  As a page may tell of code in
 * files, too, it is also done without a cause, likewise.  But for the first few of a process,
 * searches of all processes together take no more than a 1,000th of the time.
 *
 * Copies of files' code are looked for on the same occasion and as often: that compares the
 * process's memory with the files.
 *
 * The same goes for the lists of images that compilers hand to debuggers, which are
 * never looked for without a cause: that reads symbol tables, of each file once.
 *
 * What all of this takes is the time of the recorder and of the process that reads for it.
 */
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/clock.h"
#include "profile/recorder_state.h"
#include "unwind/remote_update.h"
#include "unwind/space.h"

/* Of all searches together, but for quick ones. */
#define ALL_FACTOR 1000u
/* Processes without samples are asked that often. */
#define SWEEP_NS (NS_PER_SECOND / 2)

/* when to ask */

/* That others had the CPU meanwhile costs nobody anything. */
static uint64_t time_taken(const struct recorder *r)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) +
	       process_reader_time(unwinder_reader(r->unwinder));
}

/* Since @start.  A reader that was given up in between has taken its time with it. */
static uint64_t cost_since(const struct recorder *r, uint64_t start)
{
	uint64_t now = time_taken(r);

	return now > start ? now - start : 0;
}

/* @door: one of them */
static bool ask(struct recorder *r, struct process *process, struct code_door *d, unsigned int door)
{
	uint64_t start = time_taken(r);
	bool known = d->open;
	int news;

	code_door_note(d, process->space->generation, clock_now());
	news = unwinder_update_code(r->unwinder, process->space, process->pid, door);
	if (news >= 0 || (known && news == -ENOMEM))
		/* the first time it was searched for, too */
		code_door_read(d, known ? cost_since(r, start) : 0, clock_now());
	else
		code_door_miss(d, cost_since(r, start), clock_now());
	r->code_open |= d->open;
	return d->open && news > 0;
}

static bool ask_page(struct recorder *r, struct process *process)
{
	return ask(r, process, &process->code.page, REMOTE_PAGE);
}

static bool ask_images(struct recorder *r, struct process *process)
{
	return ask(r, process, &process->code.images, REMOTE_IMAGES);
}

static bool is_due(const struct code_door *d)
{
	return clock_now() >= d->due;
}

/* At most once a sweep.  true: something is new. */
static bool ask_again(struct recorder *r, struct process *process)
{
	struct code_watch *w = &process->code;
	bool news;

	w->sweep = r->sweeps;
	/* a child that is born with its parent's is told apart from others by the next sweep */
	r->code_open |= w->page.open || w->images.open;
	news = w->page.open && is_due(&w->page) && ask_page(r, process);

	return (w->images.open && is_due(&w->images) && ask_images(r, process)) || news;
}

/* Left by what the stack or the code says. */
static bool is_without_table(const struct bobbin_frame *frame)
{
	return frame->source == BOBBIN_SOURCE_FRAME_POINTER ||
	       frame->source == BOBBIN_SOURCE_PATH || frame->source == BOBBIN_SOURCE_GUESS;
}

/* Whether a walk met code that has no file and no unwind table of its own. */
static bool leads_into_bare_memory(const struct process *process, const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++) {
		bool last = i + 1 == trace->count && trace->reason != BOBBIN_REASON_OUTERMOST;

		if ((last || is_without_table(&trace->frames[i])) &&
		    process_is_bare(process, &trace->frames[i]))
			return true;
	}
	return false;
}

/* Whether a search with a cause may be made now: the first few of a process wait for no others. */
static bool may_search(const struct recorder *r, const struct code_door *d)
{
	return is_due(d) && (d->open || code_door_is_quick(d) || clock_now() >= r->code_due);
}

/* What began at @start was not a quick search. */
static void charge(struct recorder *r, uint64_t start)
{
	r->code_due = clock_now() + ALL_FACTOR * cost_since(r, start);
}

/* true: something is new. */
static bool search_with_cause(struct recorder *r, struct process *process, struct code_door *d,
			      unsigned int door)
{
	bool counts = !d->open && !code_door_is_quick(d), news;
	uint64_t start;

	if (!may_search(r, d))
		return false;
	start = time_taken(r);
	news = ask(r, process, d, door);
	if (counts)
		charge(r, start);
	return news;
}

/*
 * Whoever has a sample when the time has come is next, so those with many samples come first.
 * true: something is new.
 */
static bool search_without_cause(struct recorder *r, struct process *process)
{
	const struct code_door *page = &process->code.page;
	uint64_t now = clock_now(), start;
	bool news;

	if (page->open || now < r->code_due || now < page->search || now < page->due)
		return false;
	start = time_taken(r);
	news = ask_page(r, process);
	charge(r, start);
	return news;
}

static void note_mappings(struct code_watch *w, uint64_t generation)
{
	uint64_t now = clock_now();

	code_door_note(&w->page, generation, now);
	code_door_note(&w->images, generation, now);
	code_door_note(&w->text, generation, now);
}

/* After a walk.  true: something is new, and the walk may have missed it. */
static bool search(struct recorder *r, struct process *process, const struct bobbin_trace *trace)
{
	struct code_watch *w = &process->code;
	bool news;

	note_mappings(w, process->space->generation);
	if (!leads_into_bare_memory(process, trace))
		return search_without_cause(r, process);
	news = search_with_cause(r, process, &w->page, REMOTE_PAGE);
	return search_with_cause(r, process, &w->images, REMOTE_IMAGES) || news;
}

/* Made memory, or a file that has no code of its own, such as one of hugetlbfs. */
static bool leads_into_a_copy(struct recorder *r, struct process *process,
			      const struct bobbin_trace *trace)
{
	const struct bobbin_frame *last;

	if (leads_into_bare_memory(process, trace))
		return true;
	if (!trace->count || trace->reason == BOBBIN_REASON_OUTERMOST)
		return false;
	last = &trace->frames[trace->count - 1];
	return !unwinder_module(r->unwinder, process->space, bobbin_frame_lookup_pc(last));
}

/*
 * After a walk, too: tell of files' code that the process has copied.  Above 0: there is something
 * new, which the walk missed; or a negative errno.
 */
static int tell_copies(struct recorder *r, struct process *process,
		       const struct bobbin_trace *trace)
{
	const struct remote_process remote = {unwinder_reader(r->unwinder), process->pid};
	struct code_door *d = &process->code.text;
	bool counts = !code_door_is_quick(d);
	uint64_t start;
	int count;

	if (!may_search(r, d) || !leads_into_a_copy(r, process, trace))
		return 0;
	start = time_taken(r);
	count = snapshot_text_copies(&remote, &process->space->maps, r->id, recorder_on_description,
				     r);
	if (count > 0) {
		*d = (struct code_door){0};
		code_door_read(d, cost_since(r, start), clock_now());
		/* there is nothing to be read again: others are searched for */
		d->open = false;
	} else {
		code_door_miss(d, cost_since(r, start), clock_now());
	}
	if (counts)
		charge(r, start);
	return count;
}

/* records */

/* The kernel's word counts more: a file that is mapped there has been told of. */
static bool is_unknown_to_kernel(const struct bobbin_space *space, const struct remote_range *range)
{
	struct bobbin_place_info place;

	return range->image->path[0] == '/' && !bobbin_space_find(space, range->start, &place) &&
	       place.mapping.path == range->image->path;
}

/*
 * Which file is at an image's path now, if its build ID is not known: names are shown of it as
 * long as nobody changes it.
 */
static void note_file(const struct process *process, const struct page_image *image,
		      struct perf_mmap *ret)
{
	const struct remote_process remote = {process->space->maps.reader, process->pid};
	struct stat st;

	if (image->build_id_len || process_file_stat(&remote, image->path, &st) ||
	    !S_ISREG(st.st_mode))
		return;
	ret->maj = major(st.st_dev);
	ret->min = minor(st.st_dev);
	ret->ino = st.st_ino;
}

static int tell(struct recorder *r, const struct process *process, const struct remote_range *range,
		uint64_t time)
{
	const struct page_image *image = range->image;
	struct perf_event event;

	if (range->start < image->start || !is_unknown_to_kernel(process->space, range))
		return 0;
	event = snapshot_code(process->pid, time, r->id, range->start, range->end - range->start);
	event.mmap.pgoff = range->start - image->start;
	event.mmap.build_id_len = image->build_id_len;
	event.mmap.filename = image->path;
	memcpy(event.mmap.build_id, image->build_id, sizeof(image->build_id));
	note_file(process, image, &event.mmap);
	return recorder_put(r, &event);
}

/* The first told image's range that ends after @from and begins in the memory, or NULL. */
static const struct remote_range *next_told(const struct process *process,
					    const struct perf_mmap *memory, uint64_t from)
{
	const struct remote_code *code = process->space->remote;

	for (size_t i = code ? remote_code_after(code, from) : 0;
	     code && i < code->count && code->ranges[i].start < memory->addr + memory->len; i++)
		if (code->ranges[i].image && code->ranges[i].id <= process->code.told)
			return &code->ranges[i];
	return NULL;
}

/* Each range that the process has registered and that was not told yet. */
static int tell_images(struct recorder *r, struct process *process)
{
	const struct remote_code *code = process->space->remote;
	uint64_t told = process->code.told;
	int error = 0;

	process_table_note(r->processes, process);
	for (size_t i = 0; code && i < code->count && !error; i++) {
		const struct remote_range *range = &code->ranges[i];

		if (range->id <= process->code.told || !range->image)
			continue;
		error = tell(r, process, range, r->time);
		if (range->id > told)
			told = range->id;
	}
	process->code.told = told;
	return error;
}

/* A busy recorder knows a process's registrations sooner than its mappings. */
int recorder_tell_images_over(struct recorder *r, const struct perf_event *mapped)
{
	const struct perf_mmap *memory = &mapped->mmap;
	const struct remote_range *range;
	struct thread *thread;
	int error = 0;

	if (process_table_thread(r->processes, (int)mapped->pid, (int)mapped->tid, &thread) ||
	    !next_told(thread->process, memory, memory->addr))
		return 0;
	if (ask_page(r, thread->process))
		error = tell_images(r, thread->process);
	range = next_told(thread->process, memory, memory->addr);
	for (; range && !error; range = next_told(thread->process, memory, range->end))
		error = tell(r, thread->process, range, mapped->time);
	return error;
}

int recorder_ask_code(struct recorder *r, pid_t pid, bool page)
{
	struct thread *thread;
	int error = process_table_thread(r->processes, pid, pid, &thread);
	bool news;

	if (error)
		return error;
	news = page && ask_page(r, thread->process);
	news |= ask_images(r, thread->process);
	return news ? tell_images(r, thread->process) : 0;
}

struct sweep {
	struct recorder *recorder;
	int error;
};

static void sweep_process(void *ctx, struct process *process)
{
	struct sweep *sweep = ctx;

	if (ask_again(sweep->recorder, process) && !sweep->error)
		sweep->error = tell_images(sweep->recorder, process);
}

int recorder_ask_sampled(struct recorder *r, struct process *process)
{
	const struct code_watch *w = &process->code;
	int error = recorder_ask_cgroup(r, process);

	if (error || (!w->page.open && !w->images.open) || w->sweep == r->sweeps)
		return error;
	return ask_again(r, process) ? tell_images(r, process) : 0;
}

int recorder_sweep_code(struct recorder *r)
{
	struct sweep sweep = {.recorder = r};
	uint64_t now;

	r->sweeps++;
	if (!r->code_open)
		return 0;
	now = clock_now();
	if (now < r->code_sweep)
		return 0;
	r->code_sweep = now + SWEEP_NS;
	r->code_open = false;
	process_table_visit(r->processes, sweep_process, &sweep);
	return sweep.error;
}

int recorder_watch_code(struct recorder *r, struct process *process,
			const struct bobbin_trace *trace)
{
	bool news = search(r, process, trace);
	int error = news ? tell_images(r, process) : 0, copies;

	if (error)
		return error;
	copies = tell_copies(r, process, trace);
	return copies < 0 ? copies : news || copies;
}
