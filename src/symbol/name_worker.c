/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * name_worker.c - what the process does that reads files for their names.
 *
 * It has no rights and no files but those that its parent sends it.  Root becomes nobody, without
 * groups and capabilities.  Nothing new can be opened, started or connected to; memory, and the
 * descriptors that are there, stay.  It ends with its parent.  Where the kernel, or who emulates
 * it, lacks a part, the others hold.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/net.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptor_message.h"
#include "base/file_range.h"
#include "symbol/debuginfo.h"
#include "symbol/demangle.h"
#include "symbol/name_message.h"
#include "symbol/name_process.h"
#include "symbol/symfile.h"

/* Sanitizers read files for what they report on stderr. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LETS_REPORT 1
#else
#define LETS_REPORT 0
#endif

#define NOBODY 65534

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#elif defined(__s390x__)
#define MACHINE AUDIT_ARCH_S390X
#endif

/* Where in a register's eight bytes the low four are. */
#define LOW (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4u : 0u)

/* What libraries try by themselves, and do without; so it is for system calls to come. */
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)

#define LOAD(member) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, member))
#define LOW_WORD(member) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, member) + LOW)
#define UNLESS(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 1, 0)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (uint32_t)(action))
#define ON(number, action) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(number), 0, 1), RETURN(action)
#define ALLOW(number) ON(number, SECCOMP_RET_ALLOW)
/* No library that reads files comes to these: what does so is the file's. */
#define KILL(number) ON(number, SECCOMP_RET_KILL_PROCESS)

#ifdef MACHINE
static const struct sock_filter calls[] = {
	LOAD(arch),
	UNLESS(MACHINE),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	LOAD(nr),
	ALLOW(__NR_recvmsg),
	ALLOW(__NR_sendmsg),
	ALLOW(__NR_pread64),
	ALLOW(__NR_read),
	ALLOW(__NR_lseek),
	ALLOW(__NR_fstat),
	/* fstat() is this, with an empty path */
	ALLOW(__NR_newfstatat),
	ALLOW(__NR_close),
	ALLOW(__NR_fcntl),
	ALLOW(__NR_mmap),
	ALLOW(__NR_munmap),
	ALLOW(__NR_mremap),
	ALLOW(__NR_mprotect),
	ALLOW(__NR_brk),
	ALLOW(__NR_madvise),
	ALLOW(__NR_futex),
	ALLOW(__NR_clock_gettime),
	ALLOW(__NR_gettimeofday),
	ALLOW(__NR_getrandom),
	/* qsort() asks how much memory there is */
	ALLOW(__NR_sysinfo),
	ALLOW(__NR_getrusage),
	ALLOW(__NR_rt_sigaction),
	ALLOW(__NR_rt_sigprocmask),
	ALLOW(__NR_rt_sigreturn),
	ALLOW(__NR_sigaltstack),
	ALLOW(__NR_restart_syscall),
	ALLOW(__NR_getpid),
	ALLOW(__NR_gettid),
	ALLOW(__NR_geteuid),
	ALLOW(__NR_getuid),
	ALLOW(__NR_exit),
	ALLOW(__NR_exit_group),
#if LETS_REPORT
	ALLOW(__NR_write),
	ALLOW(__NR_openat),
#ifdef __NR_readlink
	ALLOW(__NR_readlink),
#endif
	ALLOW(__NR_readlinkat),
	ALLOW(__NR_sched_yield),
	ALLOW(__NR_prlimit64),
#endif
	KILL(__NR_execve),
	KILL(__NR_execveat),
	KILL(__NR_clone),
	KILL(__NR_clone3),
#ifdef __NR_fork
	KILL(__NR_fork),
#endif
	KILL(__NR_socket),
	KILL(__NR_connect),
	KILL(__NR_ptrace),
	KILL(__NR_process_vm_writev),
	KILL(__NR_bpf),
	KILL(__NR_io_uring_setup),
};

/* abort() sends a signal: to nobody else. */
static void filter_calls(void)
{
	const struct sock_filter rest[] = {
#ifdef __NR_socketcall
		/* what the C library of s390x sends by: the first argument says how */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socketcall, 0, 6),
		LOW_WORD(args[0]),
		ALLOW(SYS_RECVMSG),
		ALLOW(SYS_SENDMSG),
		RETURN(REFUSE),
#endif
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_tgkill, 0, 3),
		LOW_WORD(args[0]),
		ALLOW((uint32_t)getpid()),
		RETURN(REFUSE),
	};
	struct sock_filter filter[sizeof(calls) / sizeof(*calls) + sizeof(rest) / sizeof(*rest)];
	const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	memcpy(filter, calls, sizeof(calls));
	memcpy(filter + sizeof(calls) / sizeof(*calls), rest, sizeof(rest));
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static void filter_calls(void)
{
}
#endif

/* Of more than root only: who was started with some may have them as another user. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	syscall(SYS_capset, &head, none);
}

/* In a user namespace there may be no other user. */
static void drop_user(void)
{
	if (geteuid() || setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY))
		return;
	(void)!setresuid(NOBODY, NOBODY, NOBODY);
}

/* Give up all rights, for good; the process must have one thread. */
static void confine(void)
{
	const struct rlimit none = {0, 0};

	drop_user();
	drop_capabilities();
	/* another user ends that */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	filter_calls();
}

/* Names are kept no longer than until they are sent. */
#define NAMES_MAX ((size_t)1 << 20)
/* How many pieces of a range are looked at: long functions have hundreds. */
#define PIECES_MAX 32

struct name_worker {
	int socket;
	bool is_limited; /* its memory */
	struct symfile_set files;
	struct name_request request;
	struct name_reply reply;
	struct name_reply_text text;
};

/* Nobody waits for an answer any more, or nobody can be given one. */
__attribute__((noreturn)) static void give_up(int status)
{
	_exit(status);
}

__attribute__((noreturn)) static void on_no_memory(void)
{
	give_up(NAME_WORKER_NO_MEMORY);
}

/* What the parent is asked for: a descriptor, or a negative errno. */
static int ask_parent(struct name_worker *w, size_t size)
{
	struct file_reply answer;
	int fd, err = message_send(w->socket, &w->reply, size, -1);

	if (err || message_receive(w->socket, &answer, sizeof(answer), 0, &fd) != sizeof(answer))
		give_up(0);
	if (fd < 0)
		return answer.error ? answer.error : -EMFILE;
	return fd;
}

static int open_file(void *ctx, const char *path)
{
	struct name_worker *w = ctx;

	w->reply.wish = NAME_OPEN;
	return ask_parent(w, name_reply_say(&w->reply, path));
}

static int fetch_file(void *ctx, const struct build_id *id)
{
	struct name_worker *w = ctx;

	w->reply.wish = NAME_FETCH;
	w->reply.build_id = *id;
	return ask_parent(w, name_reply_say(&w->reply, ""));
}

static struct symbol_file file_of(const struct name_request *request)
{
	struct symbol_file file = {
		.build_id = request->build_id.bytes,
		.build_id_len = request->build_id.len,
	};

	name_request_take_paths(request, &file);
	return file;
}

static int describe(struct name_worker *w, void *image, size_t size)
{
	const struct symbol_file file = file_of(&w->request);

	return symfile_set_put(&w->files, w->request.file, &file, image, size);
}

/* All bytes of @fd, or NULL. */
static void *read_image(int fd, size_t *size)
{
	struct stat st;
	void *image;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return NULL;
	image = malloc((size_t)st.st_size);
	if (!image || file_range_read(fd, 0, image, (size_t)st.st_size)) {
		free(image);
		return NULL;
	}
	*size = (size_t)st.st_size;
	return image;
}

/* The build ID of an image is its answer; -EINVAL: it is none. */
static int take_image(struct name_worker *w, int fd)
{
	size_t size;
	void *image = read_image(fd, &size);
	struct elf_file elf;
	int err = image ? elf_file_open_image(image, size, &elf) : -ENOMEM;

	if (!err) {
		elf_file_build_id(elf.elf, &w->reply.build_id);
		elf_file_close(&elf);
		return describe(w, image, size);
	}
	free(image);
	return err;
}

/* libelf tells of files that cannot be read, not of memory that was not there. */
static int check_memory(struct name_worker *w, int n)
{
	if (n < 0 || !w->is_limited || errno != ENOMEM)
		return n;
	symfile_set_shut(&w->files, w->request.file);
	return -ENOMEM;
}

static void note_files(struct name_worker *w)
{
	w->reply.missing = symfile_set_misses(&w->files, w->request.file);
	w->reply.memory = w->files.memory;
	w->reply.open = symfile_set_open(&w->files);
}

static size_t resolve(struct name_worker *w)
{
	struct symbol symbols[NAME_FRAMES];
	const struct name_request *request = &w->request;
	size_t max = request->max < NAME_FRAMES ? request->max : NAME_FRAMES;
	struct offset_range holds = {0};
	int n = -ENOENT;

	errno = 0;
	if (symfile_set_has(&w->files, request->file))
		n = symfile_set_resolve(&w->files, request->file, request->offset, symbols, max,
					&holds);
	n = check_memory(w, n);
	w->reply.holds = holds;
	note_files(w);
	return n < 0 ? name_reply_fail(&w->reply, n) : name_reply_fill(&w->reply, symbols, n);
}

/* What there is in a range, piece by piece; false if there is no room or memory for it. */
static bool expect_range(struct name_worker *w, const struct offset_range *range)
{
	struct symbol symbols[NAME_FRAMES];
	struct offset_range holds;
	uint64_t at = range->first;
	int n;

	for (int i = 0; i < PIECES_MAX && at < range->end; i++, at = holds.end) {
		errno = 0;
		n = symfile_set_resolve(&w->files, w->request.file, at, symbols, NAME_FRAMES,
					&holds);
		n = check_memory(w, n);
		if (n < 0)
			return false;
		if (holds.end <= at)
			return true;
		for (int k = 0; k < n; k++)
			symbols[k].offset -= at - holds.first;
		if (!name_reply_add(&w->reply, &w->text, symbols, n, &holds))
			return false;
	}
	return true;
}

static size_t expect(struct name_worker *w)
{
	const struct name_request *request = &w->request;
	size_t count = request->size / sizeof(*request->ranges), i = 0;

	w->reply.count = 0;
	w->text.used = 0;
	if (symfile_set_has(&w->files, request->file))
		while (i < count && expect_range(w, &request->ranges[i]))
			i++;
	w->reply.done = (uint32_t)i;
	note_files(w);
	return name_reply_end(&w->reply, &w->text);
}

static bool demangle_text(void *ctx, const char *mangled, char *dst, size_t size)
{
	return demangle(mangled, dst, size);
}

static size_t demangle_request(struct name_worker *w)
{
	char readable[NAME_MAX_SIZE];

	if (!demangle(w->request.text, readable, sizeof(readable)))
		readable[0] = '\0';
	return name_reply_say(&w->reply, readable);
}

static void answer(struct name_worker *w, size_t size)
{
	w->reply.wish = NAME_ANSWER;
	if (message_send(w->socket, &w->reply, size, -1))
		give_up(0);
}

static void serve(struct name_worker *w, int fd)
{
	struct name_pool *pool = &w->files.context.names.pool;

	switch (w->request.job) {
	case NAME_DESCRIBE:
		if (describe(w, NULL, 0))
			on_no_memory();
		break;
	case NAME_IMAGE:
		answer(w, name_reply_fail(&w->reply, take_image(w, fd)));
		break;
	case NAME_RESOLVE:
		answer(w, resolve(w));
		break;
	case NAME_EXPECT:
		answer(w, expect(w));
		break;
	case NAME_DEMANGLE:
		answer(w, demangle_request(w));
		break;
	}
	if (name_pool_memory(pool) > NAMES_MAX) {
		name_pool_fini(pool);
		name_pool_init(pool);
	}
}

static bool has_limited_memory(void)
{
	struct rlimit space, data;

	return (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY) ||
	       (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur != RLIM_INFINITY);
}

static struct name_worker *make_worker(int socket, const struct symbolizer_options *options)
{
	struct name_worker *w = calloc(1, sizeof(*w));
	struct symfile_context *c;

	if (!w)
		on_no_memory();
	w->socket = socket;
	w->is_limited = has_limited_memory();
	c = &w->files.context;
	c->paths = (struct search_paths){
		.debug_path = options->debug_path,
		.symfs = options->symfs,
		.opener = {open_file, fetch_file, w},
	};
	c->wish = (struct debug_wish){options->inlines, options->lines, on_no_memory};
	c->names.demangle = options->demangle ? demangle_text : NULL;
	c->limit = options->memory_limit;
	name_pool_init(&c->names.pool);
	return w;
}

/* Whoever waits for the other end of a pipe of ours must not wait for the worker. */
static int keep_only(int socket)
{
	/* what libraries say to nobody must not be taken for answers */
	int kept = fcntl(socket, F_DUPFD_CLOEXEC, 3);

	if (kept < 0)
		give_up(1);
	close_range(0, LETS_REPORT ? 1 : 2, 0);
	if (kept > 3)
		close_range(3, (unsigned int)kept - 1, 0);
	close_range((unsigned int)kept + 1, ~0u, 0);
	return kept;
}

/* Faults end it, and what a keyboard says is for others. */
static void heed_faults_only(void)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
	sigset_t others;

	sigfillset(&others);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&others, faults[i]);
	sigprocmask(SIG_SETMASK, &others, NULL);
}

void name_worker_run(int socket, const struct symbolizer_options *options)
{
	struct name_worker *w;
	int fd;

	heed_faults_only();
	prctl(PR_SET_NAME, "bobbin-names");
	socket = keep_only(socket);
	confine();
	w = make_worker(socket, options);
	while (message_receive(socket, &w->request, sizeof(w->request), 0, &fd) > 0) {
		serve(w, fd);
		if (fd >= 0)
			close(fd);
	}
	give_up(0);
}
