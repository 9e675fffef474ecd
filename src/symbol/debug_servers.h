/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * debug_servers.h - debug files from the servers of $DEBUGINFOD_URLS.
 *
 * libdebuginfod asks them, and keeps what it gets in a cache of its own.  It is bound at run time:
 * it draws in an HTTP client, and most profiles never ask a server.
 *
 * It waits a minute and a half, several times, for each file.  A server that does not answer has been
 * waited for once: nothing is asked afterwards.
 */
#ifndef BOBBIN_SYMBOL_DEBUG_SERVERS_H
#define BOBBIN_SYMBOL_DEBUG_SERVERS_H

#include <stddef.h>
#include <stdint.h>

/* Seconds until an answer begins, unless $DEBUGINFOD_TIMEOUT says otherwise. */
#define DEBUG_SERVERS_PATIENCE 30

struct debug_servers;

/* @on_silence: called once, when they are given up; or NULL.  0; -ENOENT: no library; -ENOMEM. */
int debug_servers_open(void (*on_silence)(void *ctx), void *ctx, struct debug_servers **ret);
void debug_servers_close(struct debug_servers *servers); /* or NULL */

/*
 * A descriptor for reading the debug file of a build ID.  -ENOENT: they do not have it; -ETIMEDOUT:
 * they do not answer, or did not before.
 */
int debug_servers_fetch(struct debug_servers *servers, const uint8_t *build_id, size_t length);

#endif
