/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_screen.h - a live table as lines of text.
 *
 *	bobbin top: everything; 1998 samples/s of cpu-clock, 99.9 % of 3995 user stacks complete, 0 lost
 *	27 processes; 3950 stacks walked in the kernel, 45 from copies
 *	every 2 s; sorted by total; symbol: parse
 *	   Total     Self  Shared Object     Symbol
 *	  61.75%    0.00%  cc1               [.] parse
 *
 * Of a recording:
 *
 *	bobbin report: perf.data; 3995 samples of cpu-clock, 99.9 % of 3995 user stacks complete, 0 lost
 *	event count 3995000000; event 1 of 2, Tab shows the next
 *	sorted by total; symbol: parse
 *
 * Lines are valid UTF-8 without control characters, whatever the names are.  Each takes at most
 * the columns of the screen; wide characters are not cut in half.
 */
#ifndef BOBBIN_EXPORT_TOP_SCREEN_H
#define BOBBIN_EXPORT_TOP_SCREEN_H

#include "export/top_page.h"

/**
 * struct top_status - what is said above the table
 * @subject: what is sampled
 * @event: the name of what is counted, or NULL
 * @rate: samples a second
 * @samples: of a recording
 * @user: @complete: user stacks of the last interval, and those that are complete
 * @walked: @copied: of the last interval, walked in the kernel and from copies; @in_kernel: some
 *	may be
 * @lost: records that the kernel had no room for, since the beginning
 * @late_ms: how long ago the last record came that is counted
 * @processes: that had samples in the last interval
 * @ended: there will be no more samples
 */
struct top_status {
	const char *subject, *event;
	double rate;
	uint64_t samples;
	uint64_t user, complete, walked, copied, lost, late_ms;
	size_t processes;
	bool in_kernel, ended;
};

/* Lines above the table. */
#define TOP_SCREEN_HEAD 4

enum top_style {
	TOP_PLAIN,
	TOP_TITLE,
	TOP_CURSOR,
};

struct top_line {
	char *text;
	enum top_style style;
};

struct top_screen {
	struct top_line *lines;
	size_t count;
};

/* Lines of the table on a screen of that height: at least 1. */
size_t top_screen_table(size_t height);

/*
 * What a screen shows: exactly @height lines, of @width columns at most.  0 or -ENOMEM: then
 * there is nothing to free.
 */
int top_screen_init(const struct top_page *page, const struct top_view *view,
		    const struct top_status *status, size_t width, size_t height,
		    struct top_screen *ret);
void top_screen_fini(struct top_screen *screen);

/* All of the head, and @rows rows at most, in lines of any length.  Errors stay in @out. */
void top_screen_print(const struct top_page *page, const struct top_view *view,
		      const struct top_status *status, size_t rows, FILE *out);

#endif
