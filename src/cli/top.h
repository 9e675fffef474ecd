/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top.h - the parts of the live table: signals, a recorder, samples and a terminal.
 */
#ifndef BOBBIN_CLI_TOP_H
#define BOBBIN_CLI_TOP_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/arguments.h"
#include "export/top_page.h"
#include "export/top_screen.h"
#include "profile/recorder.h"

/* What signals ask of a command that shows something live; the caller clears it. */
struct top_signals {
	volatile sig_atomic_t end;     /* the signal that ends the command, or 0 */
	volatile sig_atomic_t stop;    /* SIGTSTP: leave the terminal and stop */
	volatile sig_atomic_t resumed; /* SIGCONT: the terminal was somebody else's */
	volatile sig_atomic_t resized; /* SIGWINCH */
};

extern struct top_signals top_signals;

/* From now on signals are noted; @screen: those of a terminal, too. */
void top_signals_catch(bool screen);

/* Stop, as SIGTSTP does; where nobody could let the process go on, it goes on at once. */
void top_signals_stop(void);

/* From now on those that end a command end this one at once. */
void top_signals_let(void);

/* poll(2), which a signal ends even if it comes right before. */
int top_signals_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

/* The exit status of a command that a signal has ended, or 0: an interrupt is a way to quit. */
int top_signals_status(int signal);

/* A thread that takes no signals.  0 or a negative errno. */
int top_signals_thread(pthread_t *thread, void *(*run)(void *ctx), void *ctx);

/*
 * A recorder in a thread of its own.  Its sink may be slow: the recorder waits then, and in the
 * end the kernel drops records and counts them.
 */
struct live_recorder;

/*
 * Open a recorder.  Errors as recorder_open(); and -EINTR if top_signals.end is set meanwhile: then
 * it goes on opening, and the process is to be ended.
 */
int live_recorder_open(const struct recorder_options *options, enum recorder_stage *stage,
		       struct live_recorder **ret);

/* The counts so far. */
void live_recorder_stats(struct live_recorder *recorder, struct recorder_stats *ret);

/* Whether it samples no more, because it failed; the errno, or 0. */
int live_recorder_failure(struct live_recorder *recorder);

/*
 * Sample no more, give what there is, and end the sink.  The recorder, or NULL, is gone.
 * @stats: all counts, or NULL.
 */
void live_recorder_close(struct live_recorder *recorder, struct recorder_stats *stats);

/*
 * Samples that are named and counted while they are taken, by a thread, because names may take a
 * while:
 *
 *	queue ──► process table ──► names ──► live counts
 */
#define LIVE_EVENT_SIZE 64

struct live_samples;
struct sample_queue;

/* What was read besides stacks. */
struct live_samples_stats {
	char event[LIVE_EVENT_SIZE]; /* "": none yet */
	/* since the last live_samples_next() */
	size_t processes; /* that had samples */
	uint64_t samples;
	uint64_t user, complete; /* samples with a user stack, and those that are complete */
	uint64_t first, last; /* the times of the earliest and the latest one; 0: there is none */
	uint64_t
		read_until; /* if many samples wait to be counted, the time of the last one; else 0 */
	bool ended;         /* nobody gives any more */
	int error;          /* and that is why */
};

/* 0 or a negative errno. */
int live_samples_open(const struct arguments *arguments, struct live_samples **ret);

/* What is given there is counted. */
struct sample_queue *live_samples_queue(struct live_samples *samples);

/* Whether samples are dropped. */
void live_samples_pause(struct live_samples *samples, bool paused);

/* The table as it is now, in the middle of an interval.  0 or -ENOMEM. */
int live_samples_page(struct live_samples *samples, const struct top_view *view,
		      struct top_page *ret);

/*
 * An interval is over: its table, if @page is not NULL, and what was read; @forget: all counts.
 * 0 or a negative errno, and then there is no table.
 */
int live_samples_next(struct live_samples *samples, const struct top_view *view, bool forget,
		      struct top_page *page, struct live_samples_stats *ret);

/* Count nothing more, so that whoever gives need not wait. */
void live_samples_discard(struct live_samples *samples);

/* Nobody gives any more: wait until all is counted that was given. */
void live_samples_drain(struct live_samples *samples);

/*
 * When nobody gives any more.  The samples, or NULL, are gone; what was lost of their names is
 * returned.
 */
struct naming_loss live_samples_close(struct live_samples *samples);

/*
 * The terminal: a screen of lines, and keys.
 *
 * Plain ANSI sequences, which all terminals in use know, so no terminfo of this machine has to
 * know the terminal at the other end of ssh.  The screen is the alternate one.  What was set is
 * put back by terminal_leave() and by signals that end the process, but for SIGKILL.
 */

/* Whether standard input and output are a terminal that can show a screen. */
bool terminal_is_usable(void);

/*
 * Take the screen; or take it again, if somebody else had it meanwhile.  A job in the background
 * stops.  0 or a negative errno; -EINTR: there was a signal, such as that to go on.
 */
int terminal_enter(void);
void terminal_leave(void);

void terminal_size(size_t *width, size_t *height);

/* Show lines; those that have not changed are not sent.  0, or the errno of write(2). */
int terminal_draw(const struct top_screen *screen, size_t width);

/* Send all lines next time. */
void terminal_forget(void);

/*
 * The next key that was typed, enum top_key; 0: none so far; -1: there will be none.  Reads
 * what there is and does not wait for more than the rest of an escape sequence.
 */
int terminal_key(void);

/*
 * What terminals send for keys: the first key of what was typed, enum top_key, and how many bytes it takes; 0 for a key that
 * nobody knows.  @more: bytes may follow soon; then *@used is 0 if they are needed.
 */
int terminal_bytes_key(const char *bytes, size_t size, bool more, size_t *used);

/*
 * A table on the terminal, and the signals that concern the terminal.
 */

/* As terminal_enter(); in the background this takes until the command is in the foreground, or is to end. */
int table_screen_enter(void);

/* Stop, go on, or note another size, if signals say so.  0 or a negative errno. */
int table_screen_heed_signals(void);

/* Show what there is, with the cursor on it.  0 or a negative errno. */
int table_screen_draw(const struct top_page *page, struct top_view *view,
		      const struct top_status *status);

/* A key is pressed, which is about what is shown. */
void table_screen_press(const struct top_page *page, struct top_view *view, int key);

#endif
