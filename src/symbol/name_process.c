/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/name_process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor_message.h"
#include "base/process_stat.h"
#include "symbol/demangle.h"

/* For how long an answer is waited for, in the child's time; and of all where it does not run. */
#define ANSWER_SECONDS 30
/* How often it is looked whether that has passed. */
#define LOOK_US 200000
/* Files that one answer may need: each may be in our root, and in others. */
#define FILES_MAX (32 * (1 + FILE_ROOTS_MAX))
/* Ends in all, and as how many of them a wait for nothing counts. */
#define LOSSES_MAX 256
#define LOSSES_OF_WAIT 64
/* How long its end may take, and how often it is looked for. */
#define END_SECONDS 1
#define FIRST_PAUSE_NS 50000
#define LAST_PAUSE_NS 2000000

int name_process_open(const struct symbolizer_options *options, struct name_process **ret)
{
	struct name_process *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->options = options;
	p->socket = -1;
	/* without the library the servers are just not asked */
	if (options->debuginfod && debug_servers_open(options->on_silence, options->on_damage_ctx,
						      &p->servers) == -ENOMEM) {
		name_process_close(p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

int name_process_start(struct name_process *p)
{
	const struct timeval timeout = {.tv_usec = LOOK_US};
	int sockets[2];

	if (p->pid)
		return 0;
	if (p->losses >= LOSSES_MAX)
		return -ECANCELED;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	p->pid = fork();
	if (!p->pid)
		name_worker_run(sockets[1], p->options);
	close(sockets[1]);
	if (p->pid < 0) {
		p->pid = 0;
		close(sockets[0]);
		return -EAGAIN;
	}
	p->socket = sockets[0];
	p->cpu = -1;
	p->starts++;
	setsockopt(p->socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	return 0;
}

/* Its status, once it has ended, which it is about to; false: it does not. */
static bool await_end(pid_t pid, int *status)
{
	struct timespec pause = {.tv_nsec = FIRST_PAUSE_NS};
	uint64_t begin = clock_now();

	while (!waitpid(pid, status, WNOHANG)) {
		if (clock_now() - begin > END_SECONDS * NS_PER_SECOND)
			return false;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < LAST_PAUSE_NS)
			pause.tv_nsec *= 2;
	}
	return true;
}

/* @status: how it ended, if it did by itself. */
static bool end(struct name_process *p, unsigned int losses, int *status)
{
	bool ended;
	int killed;

	ended = status && await_end(p->pid, status);
	if (!ended) {
		kill(p->pid, SIGKILL);
		await_end(p->pid, &killed);
	}
	close(p->socket);
	p->socket = -1;
	p->pid = 0;
	p->losses += losses;
	p->reply.memory = p->reply.open = 0;
	return ended;
}

void name_process_close(struct name_process *p)
{
	if (!p)
		return;
	if (p->pid)
		end(p, 0, NULL);
	debug_servers_close(p->servers);
	free(p);
}

/* Who may take no more than so much memory may also crash when there is none. */
static bool is_for_memory(int status)
{
	struct rlimit limit;

	if (WIFEXITED(status) && WEXITSTATUS(status) == NAME_WORKER_NO_MEMORY)
		return true;
	return !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

static int note_end(struct name_process *p)
{
	int status;

	if (!end(p, 1, &status))
		snprintf(p->ended, sizeof(p->ended), "said no more");
	else if (is_for_memory(status))
		return -ENOMEM;
	else if (WIFSIGNALED(status))
		snprintf(p->ended, sizeof(p->ended), "ended by signal %d", WTERMSIG(status));
	else
		snprintf(p->ended, sizeof(p->ended), "ended with status %d", WEXITSTATUS(status));
	return -ECONNRESET;
}

int name_process_reject(struct name_process *p)
{
	end(p, 1, NULL);
	snprintf(p->ended, sizeof(p->ended), "gave an answer that makes no sense");
	return -ECONNRESET;
}

static int note_silence(struct name_process *p)
{
	end(p, LOSSES_OF_WAIT, NULL);
	snprintf(p->ended, sizeof(p->ended), "gave no answer");
	return -ECONNRESET;
}

/* @fd: of an image, or -1. */
static int say(struct name_process *p, int fd)
{
	int err = message_send(p->socket, &p->request, name_request_size(&p->request), fd);

	if (!err)
		return 0;
	end(p, 1, NULL);
	return -EPIPE;
}

int name_process_tell(struct name_process *p)
{
	return say(p, -1);
}

static int open_granted(const struct name_process *p, const struct name_subject *subject)
{
	struct remote_process process = {p->options->reader, subject->pid};
	const char *asked = name_reply_text(&p->reply, p->reply_size);
	char path[PATH_MAX];

	if (!asked || !file_grant_covers(&subject->grant, asked, path))
		return -EACCES;
	if (is_own_file(path))
		process.reader = NULL;
	return process_file_open(&process, path, 0, NULL);
}

/* Servers that do not answer are like those that have nothing. */
static int fetch(const struct name_process *p)
{
	const struct build_id *id = &p->reply.build_id;
	int fd = -ENOENT;

	if (p->servers && id->len <= BUILD_ID_MAX)
		fd = debug_servers_fetch(p->servers, id->bytes, id->len);
	return fd < 0 ? -ENOENT : fd;
}

static int give_file(struct name_process *p, const struct name_subject *subject)
{
	int fd = p->reply.wish == NAME_FETCH ? fetch(p) : open_granted(p, subject), err;
	const struct file_reply reply = {fd < 0 ? fd : 0};

	err = message_send(p->socket, &reply, sizeof(reply), fd);
	if (fd >= 0)
		close(fd);
	return err;
}

/* The next packet: 0, or -EAGAIN if there is none yet; -EPIPE. */
static int receive(struct name_process *p)
{
	int fd;
	ssize_t n = message_receive(p->socket, &p->reply, sizeof(p->reply), 0, &fd);

	/* it has nothing to give */
	if (fd >= 0)
		close(fd);
	if (n == -EAGAIN)
		return -EAGAIN;
	if (n <= 0)
		return -EPIPE;
	p->reply_size = (size_t)n;
	return 0;
}

static bool takes_too_long(const struct name_process *p, uint64_t since, uint64_t cpu_ms)
{
	return process_cpu_ms(p->pid) - cpu_ms > ANSWER_SECONDS * 1000 ||
	       process_is_late(p->pid, since, ANSWER_SECONDS * NS_PER_SECOND);
}

static int await_answer(struct name_process *p, const struct name_subject *subject)
{
	uint64_t since = clock_now(), cpu_ms = 0;
	unsigned int files = 0;
	bool looked = false;
	int err;

	for (;;) {
		err = receive(p);
		if (err == -EPIPE)
			return note_end(p);
		if (err == -EAGAIN && looked && takes_too_long(p, since, cpu_ms))
			return note_silence(p);
		if (err == -EAGAIN && !looked) {
			looked = true;
			cpu_ms = process_cpu_ms(p->pid);
		}
		if (err)
			continue;
		if (p->reply_size < offsetof(struct name_reply, symbols) ||
		    (p->reply.wish != NAME_ANSWER && ++files > FILES_MAX))
			return name_process_reject(p);
		if (p->reply.wish == NAME_ANSWER)
			return 0;
		if (give_file(p, subject))
			return note_end(p);
		since = clock_now();
	}
}

/*
 * One of the two waits for the other.  To wake another processor for each answer, which sleeps
 * meanwhile, takes several times as long as the answer.
 */
static void join_processor(struct name_process *p)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE || cpu == p->cpu)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(p->pid, sizeof(set), &set);
	p->cpu = cpu;
}

int name_process_ask(struct name_process *p, const struct name_subject *subject)
{
	int err;

	join_processor(p);
	err = say(p, subject->image);
	return err ? err : await_answer(p, subject);
}

static int ask_readable(struct name_process *p, const char *mangled)
{
	static const struct name_subject none = {.image = -1};
	int err = name_process_start(p);

	p->request = (struct name_request){.job = NAME_DEMANGLE};
	if (!name_request_say(&p->request, mangled))
		return -E2BIG;
	return err ? err : name_process_ask(p, &none);
}

bool name_process_demangle(void *ctx, const char *mangled, char *dst, size_t size)
{
	struct name_process *p = ctx;
	const char *text;
	int err;

	if (!demangle_needs_library(mangled))
		return demangle(mangled, dst, size);
	err = ask_readable(p, mangled);
	if (err == -EPIPE)
		err = ask_readable(p, mangled);
	text = err ? NULL : name_reply_text(&p->reply, p->reply_size);
	if (!text || !*text || strlen(text) >= size)
		return false;
	strcpy(dst, text);
	return true;
}
