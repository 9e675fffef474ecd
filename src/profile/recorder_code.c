/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recorder learns of code that the kernel does not tell of: images that a process has loaded
 * itself and registered, and files that it has copied.
 *
 * The kernel knows memory without a file; who reads a recording needs the file for names.  So a
 * recording says that the file was mapped there.
 *
 * A process that is known to publish a page is asked whether it has changed at each
 * sweep, and where a stack leads into memory that nothing is known of: that is one
 * system call.  Reading a large page that changes all the time takes no more than a
 * twentieth of the time.
 *
 * To find out whether a process has a page costs a search of its mappings.  That is
 * done where a stack leads into such memory: the first few times as readily as a page
 * is read, then in no more than a 200th of the time.  As a page may tell of code in files,
 * too, it is also done without a cause, less and less often, and for all processes together in
 * no more than a 500th of the time, whoever takes it.
 *
 * Copies of files' code are looked for on the same occasion and as often: that compares the
 * process's memory with the files.
 *
 * The same goes for the lists of images that compilers hand to debuggers, which are
 * never looked for without a cause: that reads symbol tables, of each file once.
 */
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/clock.h"
#include "profile/recorder_state.h"
#include "unwind/remote_update.h"
#include "unwind/space.h"

#define MS 1000000ull
#define READ_PAUSE (1 * MS)
#define READ_FACTOR 20u
#define SEARCH_PAUSE (50 * MS)
#define SEARCH_FACTOR 200u
/* Programs compile soon after they begin, and nobody should miss it for one search too early. */
#define QUICK_SEARCHES 8u
#define LAST_WAIT (10000 * MS)
/* Of all searches without a cause together; who reads for the recorder takes as much again. */
#define ALL_FACTOR 1000u

/* when to ask */

/* What the recorder itself takes: that others had the CPU meanwhile costs nobody anything. */
static uint64_t own_time(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

/* Nothing was found, at such a cost. */
static void wait_longer(struct code_door *d, uint64_t cost)
{
	if (d->searches < QUICK_SEARCHES) {
		d->searches++;
		d->due = clock_now() + at_least(READ_FACTOR * cost, READ_PAUSE);
	} else {
		d->due = clock_now() + at_least(SEARCH_FACTOR * cost, SEARCH_PAUSE);
	}
	d->wait = at_least(2 * d->wait, SEARCH_PAUSE);
	if (d->wait > LAST_WAIT)
		d->wait = LAST_WAIT;
	d->search = at_least(clock_now() + d->wait, d->due);
}

/* @door: one of them */
static bool ask(struct recorder *r, struct process *process, struct code_door *d, unsigned int door)
{
	uint64_t start = own_time(), cost;
	bool known = d->open;
	int news = unwinder_update_code(r->unwinder, process->space, process->pid, door);

	cost = own_time() - start;
	d->open = news >= 0 || (d->open && news == -ENOMEM);
	r->code_open |= d->open;
	if (d->open) {
		/* the first time it was searched for, too */
		d->due = clock_now() +
			 (known ? at_least(READ_FACTOR * cost, READ_PAUSE) : READ_PAUSE);
		d->wait = 0;
		return news > 0;
	}
	wait_longer(d, cost);
	return false;
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

/* At a sweep.  true: something is new. */
static bool ask_again(struct recorder *r, struct process *process)
{
	struct code_watch *w = &process->code;
	bool news;

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
	start = own_time();
	news = ask_page(r, process);
	r->code_due = now + ALL_FACTOR * (own_time() - start);
	return news;
}

/* After a walk.  true: something is new, and the walk may have missed it. */
static bool search(struct recorder *r, struct process *process, const struct bobbin_trace *trace)
{
	struct code_watch *w = &process->code;
	bool bare = leads_into_bare_memory(process, trace), news;

	if (!w->page.search)
		w->page.search = clock_now() + SEARCH_PAUSE;
	if (bare)
		news = is_due(&w->page) && ask_page(r, process);
	else
		news = search_without_cause(r, process);
	if (bare && is_due(&w->images))
		news |= ask_images(r, process);
	return news;
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
	uint64_t start;
	int count;

	if (!is_due(d) || clock_now() < d->search || !leads_into_a_copy(r, process, trace))
		return 0;
	start = own_time();
	count = snapshot_text_copies(&remote, r->id, recorder_on_description, r);
	if (count > 0)
		*d = (struct code_door){
			.due = clock_now() +
			       at_least(READ_FACTOR * (own_time() - start), READ_PAUSE)};
	else
		wait_longer(d, own_time() - start);
	/* what nobody searches for without a cause waits for its cost only, at first */
	if (d->searches < QUICK_SEARCHES)
		d->search = 0;
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

int recorder_sweep_code(struct recorder *r)
{
	struct sweep sweep = {.recorder = r};

	if (!r->code_open)
		return 0;
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
