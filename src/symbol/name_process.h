/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * name_process.h - a process that reads files for their names, and answers for it.
 *
 * ELF, DWARF and mangled names are read by libraries that hostile bytes may crash, or take over.
 * So a child reads them, which has no rights and no files but those that it is given here
 * (name_worker.c, file_grant.c).  It is started when it is first needed, and again when it has
 * ended; whoever ends it too often has none any more.
 */
#ifndef BOBBIN_SYMBOL_NAME_PROCESS_H
#define BOBBIN_SYMBOL_NAME_PROCESS_H

#include <limits.h>

#include "base/process_reader.h"
#include "symbol/debug_servers.h"
#include "symbol/name_message.h"
#include "target/mapped_file.h"

/* The status with which it ends when a library finds no memory. */
#define NAME_WORKER_NO_MEMORY 12

struct name_process {
	const struct symbolizer_options *options; /* borrowed */
	struct debug_servers *servers;            /* or NULL */
	pid_t pid;                                /* 0: it does not run */
	int socket;
	int cpu;             /* where it may run; -1: anywhere */
	unsigned int starts; /* the number of the one that runs */
	unsigned int losses; /* what its ends have cost so far */
	char ended[64];      /* how the last one did */
	struct name_request request;
	struct name_reply reply;
	size_t reply_size;
};

/*
 * Which files whoever reads a file may have opened: the file itself; what is in its folder and in
 * .debug there, and below the folders of the debug path, where its debug file is looked for.  The
 * same in the roots of processes.
 *
 * Each NULL if there is none; a path is that of a file, in @symfs unless that is NULL.
 */
struct file_grant {
	const char *path, *open_path, *symfs, *debug_path, *inside;
	const struct file_roots *roots;
};

/* What of @path is below @folder, from a slash on; or NULL. */
const char *path_below(const char *path, const char *folder);

/* Whether a path is granted, and @ret, by which it is then to be opened. */
bool file_grant_covers(const struct file_grant *grant, const char *path, char ret[PATH_MAX]);

/* What is asked for, besides the request; zero, but for @image, if it is not about a file. */
struct name_subject {
	struct file_grant grant;
	pid_t pid; /* that has the file mapped, or 0 */
	int image; /* a descriptor to go with the request, or -1 */
};

/* All of @options are set.  Returns 0, -ENOMEM. */
int name_process_open(const struct symbolizer_options *options, struct name_process **ret);
void name_process_close(struct name_process *p);

/* That it runs.  0; -ENOMEM or -EAGAIN; -ECANCELED: it has ended too often. */
int name_process_start(struct name_process *p);

/* Send @p->request, to which there is no answer.  0; -EPIPE: it had ended. */
int name_process_tell(struct name_process *p);

/*
 * Send @p->request, give what is asked for meanwhile, and have the answer in @p->reply.
 * 0; -EPIPE: it had ended before that; -ECONNRESET, with the reason in @p->ended, or -ENOMEM: it
 * ended meanwhile, the latter for want of memory.
 */
int name_process_ask(struct name_process *p, const struct name_subject *subject);

/* Its answer made no sense: end it.  -ECONNRESET, as above. */
int name_process_reject(struct name_process *p);

/* demangle(), by the process where that is hostile; @ctx is it. */
bool name_process_demangle(void *ctx, const char *mangled, char *dst, size_t size);

/* In the process: serve until the other end of @socket is closed. */
void name_worker_run(int socket, const struct symbolizer_options *options)
	__attribute__((noreturn));

#endif
