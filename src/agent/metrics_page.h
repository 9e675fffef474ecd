/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * metrics_page.h - a page of numbers for Prometheus, at http://ADDRESS:PORT/metrics.
 */
#ifndef BOBBIN_AGENT_METRICS_PAGE_H
#define BOBBIN_AGENT_METRICS_PAGE_H

#include <stdio.h>

struct metrics_page;

/* Writes the page in Prometheus's text format; in a thread of the page's. */
typedef void metrics_writer(void *ctx, FILE *out);

/*
 * Serve it, a few requests at a time.  @address: "127.0.0.1:9464", "[::1]:9464", or a port alone,
 * of this machine's own network; port 0: any that is free.  0; -EINVAL for another text; -ELIBACC:
 * libmicrohttpd is not here; -ENOMEM; or the errno of listening.
 */
int metrics_page_open(const char *address, metrics_writer *write, void *ctx,
		      struct metrics_page **ret);
void metrics_page_close(struct metrics_page *page); /* NULL is fine */

/* Where it listens. */
unsigned int metrics_page_port(const struct metrics_page *page);

#endif
