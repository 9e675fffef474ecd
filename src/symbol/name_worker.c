/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/name_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor_message.h"
#include "base/file_range.h"
#include "base/vector.h"
#include "symbol/confinement.h"
#include "symbol/demangle.h"
#include "symbol/name_message.h"
#include "symbol/symfile.h"

/*
 * Files by number, within a limit of memory.  What of them was read is given back when all
 * together take more, the least recently used first.
 */
struct symfile_set {
	struct symfile_context context;
	struct symfile **files; /* NULL: not known */
	size_t count, capacity;
	uint64_t clock;
	size_t memory;
};

static void measure(struct symfile_set *set, struct symfile *f)
{
	set->memory -= f->memory;
	symfile_measure(f);
	set->memory += f->memory;
}

static void forget(struct symfile_set *set, unsigned int number)
{
	struct symfile *f = set->files[number];

	if (!f)
		return;
	set->memory -= f->memory;
	symfile_free(f);
	set->files[number] = NULL;
}

static int make_room(struct symfile_set *set, unsigned int number)
{
	int err = vector_reserve(&set->files, &set->capacity, (size_t)number + 1,
				 sizeof(struct symfile *));

	while (!err && set->count <= number)
		set->files[set->count++] = NULL;
	return err;
}

/*
 * Make a file known by a number, or tell of other paths of the one that is.  @image is taken
 * over, if not NULL, and replaces the file.  Returns 0, -ENOMEM.
 */
static int symfile_set_put(struct symfile_set *set, unsigned int number,
			   const struct symbol_file *file, void *image, size_t image_size)
{
	int err = make_room(set, number);

	if (!err && !image && set->files[number]) {
		err = symfile_set_paths(set->files[number], file);
		measure(set, set->files[number]);
		return err;
	}
	if (!err)
		forget(set, number);
	err = err ? err : symfile_new(file, image, image_size, &set->files[number]);
	if (err)
		free(image);
	return err;
}

/* The file with a number, or NULL. */
static struct symfile *symfile_set_get(const struct symfile_set *set, unsigned int number)
{
	return number < set->count ? set->files[number] : NULL;
}

static struct symfile *least_recent(const struct symfile_set *set)
{
	struct symfile *least = NULL;

	for (size_t i = 0; i < set->count; i++) {
		struct symfile *f = set->files[i];

		if (f && f->state == SYMFILE_OPEN && (!least || f->used < least->used))
			least = f;
	}
	return least;
}

/* Shut the least recently used, at last @current itself, if it may still be read again. */
static void enforce_limit(struct symfile_set *set, struct symfile *current)
{
	while (set->memory > set->context.limit) {
		struct symfile *f = least_recent(set);

		if (!f || (f == current && !symfile_may_grow(f)))
			break;
		f->overgrown += f == current;
		symfile_shut(f);
		measure(set, f);
	}
}

/* As symfile_resolve(); the file must be known. */
static int symfile_set_resolve(struct symfile_set *set, unsigned int number, uint64_t offset,
			       struct symbol *ret, size_t max, struct offset_range *holds)
{
	struct symfile *f = set->files[number];
	const bool was_shut = f->state == SYMFILE_SHUT;
	int n;

	f->used = ++set->clock;
	n = symfile_resolve(f, &set->context, offset, ret, max, holds);
	measure(set, f);
	enforce_limit(set, f);
	/* to read a file takes several times what stays of it */
	if (was_shut)
		malloc_trim(0);
	return n;
}

/* Files that are open. */
static unsigned int symfile_set_open(const struct symfile_set *set)
{
	unsigned int n = 0;

	for (size_t i = 0; i < set->count; i++)
		n += set->files[i] && set->files[i]->state == SYMFILE_OPEN;
	return n;
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
	struct symfile *f = symfile_set_get(&w->files, w->request.file);

	if (n < 0 || !w->is_limited || errno != ENOMEM)
		return n;
	symfile_shut(f);
	return -ENOMEM;
}

static void note_files(struct name_worker *w)
{
	const struct symfile *f = symfile_set_get(&w->files, w->request.file);

	w->reply.missing = f && f->state == SYMFILE_MISSING;
	w->reply.memory = w->files.memory;
	w->reply.open = symfile_set_open(&w->files);
}

static size_t resolve(struct name_worker *w)
{
	struct symbol symbols[NAME_FRAMES];
	const struct name_request *request = &w->request;
	size_t max = request->max < NAME_FRAMES ? request->max : NAME_FRAMES;
	const struct symfile *f = symfile_set_get(&w->files, request->file);
	struct offset_range holds = {0};
	int n = f ? 0 : -ENOENT;

	errno = 0;
	if (f)
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
	if (symfile_set_get(&w->files, request->file))
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

static struct name_worker *make_worker(int socket, const struct name_worker_options *options)
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
	c->limit = options->limit;
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
	close_range(0, CONFINEMENT_LETS_REPORT ? 1 : 2, 0);
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

void name_worker_run(int socket, const struct name_worker_options *options)
{
	struct name_worker *w;
	int fd;

	heed_faults_only();
	prctl(PR_SET_NAME, "bobbin-names");
	socket = keep_only(socket);
	confinement_enter();
	w = make_worker(socket, options);
	while (message_receive(socket, &w->request, sizeof(w->request), 0, &fd) > 0) {
		serve(w, fd);
		if (fd >= 0)
			close(fd);
	}
	give_up(0);
}
