/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/process_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor_message.h"
#include "base/living_file.h"
#include "base/process_stat.h"
#include "base/reader_helper.h"
#include "base/stalls.h"

/* How often it is looked whether a wait has become too long, at least. */
#define LOOK_US 20000

struct process_reader {
	struct stalls stalls;
	pid_t helper; /* 0: none */
	int socket;
	struct helper_memory *memory;
	pid_t stuck[READER_STUCK_MAX]; /* helpers that were abandoned; 0: none */
};

int process_reader_open(unsigned int deadline_ms, struct process_reader **ret)
{
	struct process_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->stalls.deadline_us = deadline_ms * UINT64_C(1000);
	r->socket = -1;
	*ret = r;
	return 0;
}

/* FNV-1a; never 0. */
static uint64_t hash_path(const char *path)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *path; path++)
		hash = (hash ^ (uint8_t)*path) * UINT64_C(0x100000001b3);
	return hash | 1;
}

/* Our side of it only. */
static void close_ends(struct process_reader *r)
{
	if (r->socket >= 0)
		close(r->socket);
	if (r->memory)
		munmap(r->memory, sizeof(*r->memory));
	r->socket = -1;
	r->memory = NULL;
	r->helper = 0;
}

static bool has_ended(pid_t helper)
{
	return waitpid(helper, NULL, WNOHANG);
}

/* Forget helpers that have ended meanwhile; a free place among them, or NULL. */
static pid_t *stuck_place(struct process_reader *r)
{
	pid_t *place = NULL;

	for (unsigned int i = 0; i < READER_STUCK_MAX; i++) {
		if (r->stuck[i] && has_ended(r->stuck[i]))
			r->stuck[i] = 0;
		if (!r->stuck[i])
			place = &r->stuck[i];
	}
	return place;
}

/* It may not end before what it waits for comes. */
static void abandon(struct process_reader *r)
{
	pid_t *place = stuck_place(r);

	kill(r->helper, SIGKILL);
	if (place)
		*place = r->helper;
	close_ends(r);
}

void process_reader_close(struct process_reader *reader)
{
	if (!reader)
		return;
	if (reader->helper) {
		/* it waits for a request */
		kill(reader->helper, SIGKILL);
		waitpid(reader->helper, NULL, 0);
	}
	close_ends(reader);
	stuck_place(reader);
	free(reader);
}

struct process_reader_stats process_reader_stats(struct process_reader *reader)
{
	struct process_reader_stats stats = {0};

	if (!reader)
		return stats;
	stats.given_up = stalls_given_up(&reader->stalls);
	stuck_place(reader);
	for (unsigned int i = 0; i < READER_STUCK_MAX; i++)
		stats.stuck += !!reader->stuck[i];
	return stats;
}

uint64_t process_reader_time(const struct process_reader *reader)
{
	clockid_t clock;

	if (!reader || !reader->helper || clock_getcpuclockid(reader->helper, &clock))
		return 0;
	return clock_ns(clock);
}

static int start_helper(struct process_reader *r)
{
	const struct timeval timeout = {.tv_usec = LOOK_US};
	int sockets[2];
	void *memory;

	if (!stuck_place(r))
		return -ETIMEDOUT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	memory = mmap(NULL, sizeof(*r->memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	r->helper = memory == MAP_FAILED ? -1 : _Fork();
	if (!r->helper)
		reader_helper_run(sockets[1], memory);
	close(sockets[1]);
	r->socket = sockets[0];
	r->memory = memory == MAP_FAILED ? NULL : memory;
	if (r->helper > 0 &&
	    !setsockopt(r->socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))
		return 0;
	close_ends(r);
	return -EAGAIN;
}

void process_reader_start(struct process_reader *reader)
{
	if (reader && !reader->helper)
		start_helper(reader);
}

/* 0; -ETIMEDOUT; -EPIPE: the helper has ended. */
static int receive(struct process_reader *r, uint64_t begin, bool is_file,
		   struct helper_reply *reply, int *fd)
{
	bool late = false;

	for (;;) {
		ssize_t n = message_receive(r->socket, reply, sizeof(*reply),
					    late ? MSG_DONTWAIT : 0, fd);

		if (n == sizeof(*reply))
			return 0;
		if (n != -EAGAIN)
			return -EPIPE;
		if (late)
			return -ETIMEDOUT;
		/* it may answer before we see that it does not run */
		late = process_is_late(r->helper, begin, stalls_limit_ns(&r->stalls, is_file));
	}
}

/* 0, or a negative errno, and then nothing is known; -EPIPE: somebody killed the helper. */
static int ask(struct process_reader *r, const struct helper_request *request, uint64_t path,
	       struct helper_reply *reply, int *ret_fd)
{
	uint64_t begin = clock_now();
	int fd = -1, error;

	if (send(r->socket, request, sizeof(*request), MSG_NOSIGNAL) != sizeof(*request))
		error = -EPIPE;
	else
		error = receive(r, begin, path, reply, &fd);
	if (!error) {
		if (reply->waited_us && request->pid)
			stalls_note_answer(&r->stalls, request->pid, reply->waited_us);
		*ret_fd = fd;
		return 0;
	}
	abandon(r);
	if (error == -ETIMEDOUT)
		stalls_note_silence(&r->stalls, request->pid, path, (clock_now() - begin) / 1000);
	return error;
}

void process_reader_hurry(struct process_reader *reader, const volatile sig_atomic_t *hurry)
{
	if (reader)
		reader->stalls.hurry = hurry;
}

static int prepare(struct process_reader *r, pid_t pid, uint64_t path)
{
	if (stalls_refuse(&r->stalls, pid, path))
		return -ETIMEDOUT;
	return r->helper ? 0 : start_helper(r);
}

/*
 * Where only ancestors may look into a process (Yama), the helper may not and its parent
 * may.  Who is root may anyhow, and gets no second answer.
 */
static int second_answer(pid_t pid, struct process_read *read)
{
	if (read->error != -EPERM || !geteuid())
		return read->error;
	return read_remotely(pid, read->addr, read->dst, read->size);
}

/* As many pieces as fit; at least one, which is not larger than the room. */
static size_t pack(struct helper_memory *memory, const struct process_read *reads, size_t count)
{
	size_t used = 0, n = 0;

	while (n < count && n < HELPER_RANGES && reads[n].size <= HELPER_BYTES - used) {
		memory->ranges[n] = (struct helper_range){reads[n].addr, (uint32_t)reads[n].size,
							  0};
		used += reads[n++].size;
	}
	return n;
}

static void unpack(const struct helper_memory *memory, struct process_read *reads, size_t count)
{
	const uint8_t *from = memory->data;

	for (size_t i = 0; i < count; i++) {
		reads[i].error = memory->ranges[i].error;
		if (!reads[i].error && reads[i].size)
			memcpy(reads[i].dst, from, reads[i].size);
		from += reads[i].size;
	}
}

/* How many pieces were asked for; a negative errno for all. */
static int try_to_read(struct process_reader *r, pid_t pid, struct process_read *reads,
		       size_t count)
{
	struct helper_request request = {.job = HELPER_READ, .pid = pid};
	struct helper_reply reply;
	int fd, error = prepare(r, pid, 0);

	if (error)
		return error;
	request.count = (uint32_t)pack(r->memory, reads, count);
	error = ask(r, &request, 0, &reply, &fd);
	if (error)
		return error;
	unpack(r->memory, reads, request.count);
	for (size_t i = 0; i < request.count; i++)
		reads[i].error = second_answer(pid, &reads[i]);
	return (int)request.count;
}

static int read_some(struct process_reader *r, pid_t pid, struct process_read *reads, size_t count)
{
	int n = try_to_read(r, pid, reads, count);

	return n == -EPIPE ? try_to_read(r, pid, reads, count) : n;
}

/* A piece that is larger than what is read at once. */
static void read_large(struct process_reader *r, pid_t pid, struct process_read *read)
{
	size_t done = 0;

	read->error = 0;
	while (!read->error && done < read->size) {
		struct process_read part = {read->addr + done, (uint8_t *)read->dst + done,
					    read->size - done, 0};
		int n;

		if (part.size > HELPER_BYTES)
			part.size = HELPER_BYTES;
		n = read_some(r, pid, &part, 1);
		read->error = n < 0 ? n : part.error;
		done += part.size;
	}
}

static void read_by_helper(struct process_reader *r, pid_t pid, struct process_read *reads,
			   size_t count)
{
	size_t done = 0;

	while (done < count) {
		int n = 1;

		if (reads[done].size > HELPER_BYTES)
			read_large(r, pid, &reads[done]);
		else
			n = read_some(r, pid, &reads[done], count - done);
		if (n < 0) {
			reads[done].error = n;
			n = 1;
		}
		done += (size_t)n;
	}
}

void process_read_all(const struct remote_process *process, struct process_read *reads,
		      size_t count)
{
	/* what we are ourselves waits for nobody else */
	if (process->reader && process->pid != getpid()) {
		read_by_helper(process->reader, process->pid, reads, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		reads[i].error = read_remotely(process->pid, reads[i].addr, reads[i].dst,
					       reads[i].size);
}

int process_read(const struct remote_process *process, uint64_t addr, void *dst, size_t size)
{
	struct process_read read = {addr, dst, size, 0};

	process_read_all(process, &read, 1);
	return read.error;
}

void *process_read_copy(const struct remote_process *process, uint64_t addr, size_t size,
			int *error)
{
	char *copy = malloc(size + 1);

	*error = copy ? process_read(process, addr, copy, size) : -ENOMEM;
	if (*error) {
		free(copy);
		return NULL;
	}
	copy[size] = 0;
	return copy;
}

/* 0, or a negative errno; @fd: -1 if the job gives none. */
static int try_with_path(const struct remote_process *process, enum helper_job job,
			 const char *path, int flags, struct stat *st, int *fd)
{
	struct helper_request request = {.job = job, .pid = process->pid, .flags = flags};
	struct process_reader *r = process->reader;
	struct helper_reply reply;
	uint64_t hash = hash_path(path);
	int error = prepare(r, process->pid, hash);

	if (error)
		return error;
	if (strlen(path) >= sizeof(r->memory->path))
		return -ENAMETOOLONG;
	strcpy(r->memory->path, path);
	error = ask(r, &request, hash, &reply, fd);
	error = error ? error : reply.error;
	if (!error && st)
		*st = reply.st;
	return error;
}

static int do_with_path(const struct remote_process *process, enum helper_job job, const char *path,
			int flags, struct stat *st, int *fd)
{
	int error = try_with_path(process, job, path, flags, st, fd);

	return error == -EPIPE ? try_with_path(process, job, path, flags, st, fd) : error;
}

static int open_by_helper(const struct remote_process *process, enum helper_job job,
			  const char *path, int flags, struct stat *st)
{
	int fd = -1, error = do_with_path(process, job, path, flags, st, &fd);

	if (error)
		return error;
	return fd < 0 ? -EMFILE : fd;
}

int process_file_open(const struct remote_process *process, const char *path, int flags,
		      struct stat *st)
{
	return process->reader ? open_by_helper(process, HELPER_OPEN, path, flags, st)
			       : living_file_open(path, flags, st);
}

int process_file_stat(const struct remote_process *process, const char *path, struct stat *st)
{
	int none = -1;

	return process->reader ? do_with_path(process, HELPER_STAT, path, 0, st, &none)
			       : living_file_stat(path, st);
}

int process_text_open(const struct remote_process *process, const char *path)
{
	return process->reader ? open_by_helper(process, HELPER_TEXT, path, 0, NULL)
			       : living_text_open(path);
}
