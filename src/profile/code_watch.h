/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_watch.h - when to ask processes that are recorded what code they registered, or
 * tell debuggers of.
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
#ifndef BOBBIN_PROFILE_CODE_WATCH_H
#define BOBBIN_PROFILE_CODE_WATCH_H

#include "profile/process_table.h"
#include "profile/snapshot.h"

/**
 * struct code_watcher - who asks; zero but for the unwinder to begin
 * @due: when one of all processes may be searched without a cause again, by CLOCK_MONOTONIC
 * @any_open: a process is known that is to be asked at each sweep
 */
struct code_watcher {
	struct bobbin_unwinder *unwinder;
	uint64_t due;
	bool any_open;
};

/* Ask now what its page says, or its images; true: something is new. */
bool code_watch_ask_images(struct code_watcher *watcher, struct process *process);
bool code_watch_ask_page(struct code_watcher *watcher, struct process *process);

/*
 * At each sweep, of each process, if code_watch_begins() says that there is one to be asked.  true:
 * something is new.
 */
bool code_watch_begins(struct code_watcher *watcher);
bool code_watch_sweep(struct code_watcher *watcher, struct process *process);

/*
 * After a walk.  true: something is new, and the walk may have missed it.
 */
bool code_watch_trace(struct code_watcher *watcher, struct process *process,
		      const struct bobbin_trace *trace);

/*
 * After a walk, too: tell of files' code that the process has copied, with records as
 * text_records().  Above 0: there is something new, which the walk missed; or a negative errno.
 */
int code_watch_text(struct code_watcher *watcher, struct process *process,
		    const struct bobbin_trace *trace, uint64_t id, snapshot_sink sink, void *ctx);

/* Whether a program may have made the code of a frame, or it is not known to be mapped. */
bool code_watch_is_bare(const struct bobbin_space *space, const struct bobbin_frame *frame);

/* Whether a walk met code that has no file, whatever unwinds it. */
bool code_watch_has_bare_code(const struct bobbin_space *space, const struct bobbin_trace *trace);

#endif
