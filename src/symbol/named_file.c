/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/named_file.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file_range.h"

#define FAILURES_MAX 3
#define UNKNOWN_PATH "?"

/* Of one file; each address beyond is asked for. */
#define COUNT_MAX ((size_t)1 << 20)
/* What the C library keeps for each. */
#define NODE_SIZE 48

struct answer_range {
	struct offset_range range; /* first: it is what is searched for */
	int count;
	struct symbol symbols[]; /* @offset: what the file's offset 0 would have */
};

/* What overlaps is the same: there are no two such. */
static int compare_ranges(const void *left, const void *right)
{
	const struct offset_range *a = left, *b = right;

	if (a->end <= b->first)
		return -1;
	return a->first >= b->end;
}

/* That the symbols at @offset, or none, are so in @holds, too; what does not fit is forgotten. */
static void answer_ranges_add(struct answer_ranges *ranges, const struct offset_range *holds,
			      uint64_t offset, const struct symbol *symbols, int count)
{
	size_t size = sizeof(struct answer_range) + (size_t)count * sizeof(*symbols);
	struct answer_range *range = ranges->count < COUNT_MAX ? malloc(size) : NULL, **found;

	if (!range)
		return;
	range->range = *holds;
	range->count = count;
	for (int i = 0; i < count; i++) {
		range->symbols[i] = symbols[i];
		range->symbols[i].offset -= offset;
	}
	found = tsearch(range, &ranges->tree, compare_ranges);
	if (!found || *found != range) {
		free(range);
		return;
	}
	ranges->count++;
	ranges->memory += size + NODE_SIZE;
}

/* Whether they are known; *@count: their number, of which at most @max are written. */
static bool answer_ranges_find(const struct answer_ranges *ranges, uint64_t offset,
			       struct symbol *ret, size_t max, int *count)
{
	const struct offset_range at = {offset, offset + 1};
	struct answer_range **found = tfind(&at, &ranges->tree, compare_ranges);

	if (!found || offset == UINT64_MAX)
		return false;
	*count = (*found)->count;
	for (int i = 0; i < *count && (size_t)i < max; i++) {
		ret[i] = (*found)->symbols[i];
		ret[i].offset += offset;
	}
	return true;
}

static void answer_ranges_fini(struct answer_ranges *ranges)
{
	tdestroy(ranges->tree, free);
	*ranges = (struct answer_ranges){0};
}

/* A path as one in @root, if that is in ours, and the path leads there; or NULL. */
static const char *path_in_root(const char *path, const char *root)
{
	char name[PATH_MAX];
	ssize_t len = readlink(root, name, sizeof(name) - 1);

	if (len <= 1)
		return NULL;
	name[len] = '\0';
	return path_below(path, name);
}

static const char *path_inside(const struct symbol_file *file)
{
	const char *inside = NULL;

	for (unsigned int i = 0; i < file_roots_count(&file->roots) && file->path && !inside; i++)
		inside = path_in_root(file->path, file->roots.list[i]);
	return inside;
}

static struct symbol_file with_path_inside(const struct symbol_file *file)
{
	struct symbol_file ret = *file;

	ret.inside = path_inside(file);
	return ret;
}

int named_file_set_paths(struct named_file *f, const struct symbol_file *file)
{
	const struct symbol_file paths = with_path_inside(file);
	int err = file_paths_set(&f->paths, &paths);

	if (err)
		return err;
	f->known_to = 0;
	f->missing = false;
	answer_ranges_fini(&f->answers);
	return 0;
}

int named_file_new(const struct symbol_file *file, unsigned int number, void *image,
		   size_t image_size, struct named_file **ret)
{
	struct named_file *f = calloc(1, sizeof(*f));
	const struct symbol_file paths = with_path_inside(file);

	if (!f || file_paths_init(&f->paths, &paths)) {
		free(f);
		return -ENOMEM;
	}
	if (file->build_id_len)
		memcpy(f->build_id.bytes, file->build_id, file->build_id_len);
	f->build_id.len = file->build_id_len;
	f->number = number;
	f->pid = file->pid;
	f->image = image;
	f->image_size = image_size;
	*ret = f;
	return 0;
}

void named_file_free(struct named_file *f)
{
	answer_ranges_fini(&f->answers);
	file_paths_fini(&f->paths);
	free(f->image);
	free(f);
}

/* No longer ones can be opened. */
static const char *sent_path(const char *path, size_t size)
{
	return path && strlen(path) < size ? path : NULL;
}

static struct name_subject subject_of(const struct named_file *f, const struct name_process *p)
{
	return (struct name_subject){
		.grant =
			{
				.path = f->paths.path,
				.open_path = f->paths.open_path,
				.symfs = p->options->symfs,
				.debug_path = p->options->debug_path,
				.inside = f->paths.inside,
				.roots = &f->paths.roots,
			},
		.pid = f->pid,
		.image = -1,
	};
}

static void request_description(const struct named_file *f, struct name_process *p,
				enum name_job job)
{
	struct symbol_file file = {
		.path = sent_path(f->paths.path, PATH_MAX),
		.open_path = sent_path(f->paths.open_path, PATH_MAX),
		.inside = sent_path(f->paths.inside, PATH_MAX),
	};

	for (unsigned int i = 0; i < FILE_ROOTS_MAX; i++)
		file.roots.list[i] = sent_path(f->paths.roots.list[i], NAME_ROOT_SIZE);
	p->request = (struct name_request){
		.job = job,
		.file = f->number,
		.build_id = f->build_id,
	};
	name_request_paths(&p->request, &file);
}

/* A descriptor of the bytes, or a negative errno. */
static int open_image(const struct named_file *f)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	int err = fd < 0 ? -errno : file_range_write(fd, 0, f->image, f->image_size);

	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

static int send_image(const struct named_file *f, struct name_process *p)
{
	struct name_subject subject = subject_of(f, p);
	int err;

	subject.image = open_image(f);
	if (subject.image < 0)
		return -ENOMEM;
	request_description(f, p, NAME_IMAGE);
	err = name_process_ask(p, &subject);
	close(subject.image);
	if (err)
		return err;
	if (p->reply.count == -EINVAL || p->reply.count == -ENOMEM)
		return p->reply.count;
	return p->reply.count || p->reply.build_id.len > BUILD_ID_MAX ? name_process_reject(p) : 0;
}

/* That the process runs, and knows the file. */
static int introduce(struct named_file *f, struct name_process *p)
{
	int err = name_process_start(p);

	if (err || f->known_to == p->starts)
		return err;
	if (f->image) {
		err = send_image(f, p);
	} else {
		request_description(f, p, NAME_DESCRIBE);
		err = name_process_tell(p);
	}
	if (!err)
		f->known_to = p->starts;
	return err;
}

static bool is_around(const struct offset_range *holds, uint64_t offset)
{
	return holds->first <= offset && offset < holds->end;
}

static bool are_named(const struct symbol *symbols, int count)
{
	for (int i = 0; i < count; i++)
		if (!symbols[i].name)
			return false;
	return true;
}

static int take_answer(struct named_file *f, struct named_file_context *c, uint64_t offset,
		       struct symbol *ret, size_t max)
{
	struct name_process *p = c->process;
	const struct offset_range holds = p->reply.holds;
	int n = name_reply_symbols(&p->reply, p->reply_size, &c->names, ret, max);

	if (n == -EBADMSG || !are_named(ret, n) ||
	    (n >= 0 && holds.end && !is_around(&holds, offset)))
		return name_process_reject(p);
	if (n < 0)
		return n;
	f->missing = p->reply.missing;
	/* else there may be more */
	if (holds.end && (size_t)n < max)
		answer_ranges_add(&f->answers, &holds, offset, ret, n);
	return n;
}

static int ask(struct named_file *f, struct named_file_context *c, uint64_t offset,
	       struct symbol *ret, size_t max)
{
	struct name_process *p = c->process;
	const struct name_subject subject = subject_of(f, p);
	int err = introduce(f, p);

	if (err)
		return err;
	p->request = (struct name_request){
		.job = NAME_RESOLVE,
		.file = f->number,
		.offset = offset,
		.max = max < NAME_FRAMES ? (uint32_t)max : NAME_FRAMES,
	};
	err = name_process_ask(p, &subject);
	return err ? err : take_answer(f, c, offset, ret, max);
}

static void tell(struct named_file *f, const struct named_file_context *c, const char *reason)
{
	const char *path = f->paths.path ? f->paths.path : f->paths.open_path;
	const struct symbolizer_options *o = c->process->options;

	if (!f->told && o->on_loss)
		o->on_loss(o->on_damage_ctx, path ? path : UNKNOWN_PATH, reason);
	f->told = true;
}

/* What a failure costs: 0, which is a name; or the errno that says more. */
static int note_failure(struct named_file *f, const struct named_file_context *c, int err)
{
	if (err == -ECANCELED) {
		tell(f, c, "ended too often");
		return 0;
	}
	if (err != -ECONNRESET && err != -ENOMEM && err != -EPIPE)
		return err;
	if (err != -ENOMEM)
		tell(f, c, err == -EPIPE ? "ended by itself" : c->process->ended);
	f->failures++;
	f->failure = err == -ENOMEM ? err : 0;
	return f->failure;
}

int named_file_resolve(struct named_file *f, struct named_file_context *c, uint64_t offset,
		       struct symbol *ret, size_t max)
{
	int n;

	if (answer_ranges_find(&f->answers, offset, ret, max, &n))
		return (size_t)n < max ? n : (int)max;
	if (f->failures >= FAILURES_MAX)
		return f->failure;
	if (f->missing)
		return 0;
	n = ask(f, c, offset, ret, max);
	/* it ended when nothing was asked for */
	if (n == -EPIPE)
		n = ask(f, c, offset, ret, max);
	return n < 0 ? note_failure(f, c, n) : n;
}

/* The pieces of an answer: each ends with a symbol that says so, and where it is. */
static int take_pieces(struct named_file *f, struct named_file_context *c)
{
	struct name_process *p = c->process;
	const struct wire_symbol *wire = p->reply.symbols;
	struct symbol symbols[NAME_FRAMES];
	int n = name_reply_symbols(&p->reply, p->reply_size, &c->names, symbols, NAME_FRAMES);
	int first = 0, count;

	for (int i = 0; i < n; i++) {
		const struct offset_range holds = wire[i].holds;

		if (wire[i].is_last != 1)
			continue;
		/* one without a name says that there is none */
		count = first == i && !symbols[i].name ? 0 : i + 1 - first;
		if (holds.first >= holds.end || !are_named(symbols + first, count))
			return name_process_reject(p);
		answer_ranges_add(&f->answers, &holds, holds.first, symbols + first, count);
		first = i + 1;
	}
	return n == -EBADMSG ? name_process_reject(p) : n < 0 ? n : 0;
}

static int expect(struct named_file *f, struct named_file_context *c,
		  const struct offset_range *ranges, size_t *count)
{
	struct name_process *p = c->process;
	const struct name_subject subject = subject_of(f, p);
	int err = introduce(f, p);

	if (err)
		return err;
	if (*count > NAME_RANGES)
		*count = NAME_RANGES;
	p->request = (struct name_request){
		.job = NAME_EXPECT,
		.file = f->number,
		.size = (uint32_t)(*count * sizeof(*ranges)),
	};
	memcpy(p->request.ranges, ranges, *count * sizeof(*ranges));
	err = name_process_ask(p, &subject);
	if (err)
		return err;
	if (p->reply.done < *count)
		*count = p->reply.done;
	return take_pieces(f, c);
}

void named_file_expect(struct named_file *f, struct named_file_context *c,
		       const struct offset_range *ranges, size_t count)
{
	size_t n = 1;
	int err = 0;

	for (size_t i = 0; i < count && n && !err && !f->missing; i += n) {
		n = count - i;
		err = expect(f, c, ranges + i, &n);
	}
	if (err && err != -EPIPE)
		note_failure(f, c, err);
}

int named_file_read_image(struct named_file *f, struct named_file_context *c)
{
	int err = introduce(f, c->process);

	if (err == -EPIPE)
		err = introduce(f, c->process);
	if (err == -ECONNRESET || err == -ECANCELED || err == -EPIPE) {
		/* each look at it would cost a process */
		f->failures = FAILURES_MAX;
		return note_failure(f, c, err);
	}
	if (!err)
		f->build_id = c->process->reply.build_id;
	return err;
}

bool named_file_is_held(const struct named_file *f)
{
	return f->paths.open_path && is_own_file(f->paths.open_path);
}

size_t named_file_memory(const struct named_file *f)
{
	return sizeof(*f) + f->image_size + f->answers.memory;
}
