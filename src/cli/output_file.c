/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/draft.h"
#include "base/file_range.h"
#include "cli/command.h"
#include "elf/elf_image.h"
#include "object/object_attachment.h"
#include "sidefile/sidefile.h"

#define SET_ID ((mode_t)(S_ISUID | S_ISGID))

/**
 * struct output - what is to appear
 * @path: where; a symbolic link is followed; "-" is standard output
 * @is_copy: of the file that is open at @original, and gets its mode
 * @in_place: @path is that file: its owner and its attributes are kept, too
 * @write: write all of it to a descriptor
 * @check: read it back, or NULL
 * @ctx: for both
 */
struct output {
	const char *path;
	bool is_copy, in_place;
	int original;
	int (*write)(void *ctx, int fd);
	int (*check)(void *ctx, int fd);
	void *ctx;
};

/* Whether an attribute is one that this user, or this file system, cannot give. */
static bool is_denied(int error)
{
	return error == EPERM || error == EACCES || error == ENOTSUP;
}

static int keep_xattr(const char *name, int from, int to)
{
	ssize_t size = fgetxattr(from, name, NULL, 0);
	void *value;
	int r = 0;

	if (size < 0)
		return is_denied(errno) ? 0 : -errno;
	value = malloc(size ? (size_t)size : 1);
	if (!value)
		return -ENOMEM;
	size = fgetxattr(from, name, value, (size_t)size);
	if (size < 0 || fsetxattr(to, name, value, (size_t)size, 0))
		r = is_denied(errno) ? 0 : -errno;
	free(value);
	return r;
}

/* Whether an attribute lets whoever runs the file do more than they may. */
static bool is_privilege(const char *name)
{
	return !strcmp(name, "security.capability");
}

/* Access control lists, labels; or, if @privileges, capabilities. */
static int keep_xattrs(int from, int to, bool privileges)
{
	ssize_t size = flistxattr(from, NULL, 0);
	char *names;
	int r = 0;

	if (size <= 0)
		return size && !is_denied(errno) ? -errno : 0;
	names = malloc((size_t)size);
	if (!names)
		return -ENOMEM;
	size = flistxattr(from, names, (size_t)size);
	if (size < 0)
		r = -errno;
	for (ssize_t at = 0; at < size && !r; at += (ssize_t)strlen(names + at) + 1)
		if (is_privilege(names + at) == privileges)
			r = keep_xattr(names + at, from, to);
	free(names);
	return r;
}

/*
 * Give all but what gives privileges: from the file at @from, whose @status is known, to that
 * at @to.  *@mode: the whole mode that it is to have.  0 or a negative errno.
 */
static int file_attributes_keep(const struct stat *status, int from, int to, mode_t *mode)
{
	*mode = status->st_mode & 07777;
	/*
	 * Only root may give files away, and a user namespace may not know the owner;
	 * set-ID bits of another owner must go then.
	 */
	if (fchown(to, status->st_uid, status->st_gid)) {
		if (errno != EPERM && errno != EINVAL)
			return -errno;
		*mode &= 0777;
	}
	if (fchmod(to, *mode & ~SET_ID))
		return -errno;
	return keep_xattrs(from, to, false);
}

/*
 * Give the privileges.  They must wait until the old file is gone, so that no second file
 * ever has them.
 */
static int file_attributes_keep_privileges(mode_t mode, int from, int to)
{
	if (mode & SET_ID && fchmod(to, mode))
		return -errno;
	return keep_xattrs(from, to, true);
}

struct output_file {
	char *target, *temp; /* owned; no @temp: it has no name of its own */
	bool special;        /* the target is a device or a pipe */
	int fd;              /* to write to and to read from, at any offset */
};

/*
 * The file that @path means, through symbolic links; @path if it is new, or
 * @special: a device or a pipe.
 */
static int resolve(const char *path, char **ret, bool *special)
{
	struct stat status;
	bool is_new = lstat(path, &status);

	if (is_new && errno != ENOENT)
		return -errno;
	if (!is_new && stat(path, &status))
		return -errno;
	if (!is_new && S_ISDIR(status.st_mode))
		return -EISDIR;
	*special = !is_new && !S_ISREG(status.st_mode);
	if (!*special)
		return output_path(path, !is_new, ret);
	*ret = strdup(path);
	return *ret ? 0 : -ENOMEM;
}

/* The mode that open(2) would have given. */
static int apply_mode(int fd, mode_t mode)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, mode & ~mask) ? -errno : 0;
}

static void forget(struct output_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->temp);
	free(file->target);
	*file = (struct output_file){.fd = -1};
}

/* In the target's folder. */
static int create_nameless(struct output_file *file)
{
	char *slash = strrchr(file->target, '/'), next = slash[1];

	slash[1] = '\0';
	file->fd = nameless_file_open(file->target);
	slash[1] = next;
	return file->fd < 0 ? -ENOTSUP : 0;
}

static int create_named(struct output_file *file)
{
	if (asprintf(&file->temp, "%s.XXXXXX", file->target) < 0) {
		file->temp = NULL;
		return -ENOMEM;
	}
	file->fd = mkostemp(file->temp, O_CLOEXEC);
	return file->fd < 0 ? -errno : 0;
}

static int create_beside(mode_t mode, struct output_file *file)
{
	int r = create_nameless(file);

	if (r == -ENOTSUP)
		r = create_named(file);
	if (r)
		return r;
	r = apply_mode(file->fd, mode);
	if (r && file->temp)
		unlink(file->temp);
	return r;
}

static int create_in_memory(struct output_file *file)
{
	file->fd = memfd_create("output", MFD_CLOEXEC);
	return file->fd < 0 ? -errno : 0;
}

/* Start a file of this mode for @path; commit() or discard() ends it. */
static int start(const char *path, mode_t mode, struct output_file *ret)
{
	struct output_file file = {.fd = -1};
	int r = resolve(path, &file.target, &file.special);

	if (!r)
		r = file.special ? create_in_memory(&file) : create_beside(mode, &file);
	if (r)
		forget(&file);
	else
		*ret = file;
	return r;
}

/* All bytes to the device or the pipe. */
static int send_all(const struct output_file *file)
{
	int to = open(file->target, O_WRONLY | O_CLOEXEC | O_NOCTTY), r;
	off_t size = lseek(file->fd, 0, SEEK_END);
	void *bytes;

	if (to < 0)
		return -errno;
	bytes = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, file->fd, 0) : NULL;
	if (bytes == MAP_FAILED) {
		r = -errno;
	} else {
		r = file_append(to, bytes, (size_t)size);
		if (bytes)
			munmap(bytes, (size_t)size);
	}
	if (close(to) && !r)
		r = -errno;
	return r;
}

/*
 * No call puts a file without a name in the place of another one, so it gets a second name
 * for a moment: if we are killed between the two calls, it is left.
 */
static int give_second_name(struct output_file *file)
{
	char *start;
	int r;

	if (asprintf(&start, "%s.", file->target) < 0)
		return -ENOMEM;
	r = nameless_file_name_like(file->fd, start, &file->temp);
	free(start);
	return r;
}

static int give_name(struct output_file *file)
{
	int r = nameless_file_name(file->fd, file->target);

	return r == -EEXIST ? give_second_name(file) : r;
}

/* Give the file its name; it is gone on failure. */
static int commit(struct output_file *file)
{
	int r;

	if (file->special) {
		r = send_all(file);
		forget(file);
		return r;
	}
	r = file->temp ? 0 : give_name(file);
	/* NFS tells of a full disk only now */
	if (close(file->fd) && !r)
		r = -errno;
	file->fd = -1;
	if (!file->temp) {
		forget(file);
		return r;
	}
	if (!r && rename(file->temp, file->target))
		r = -errno;
	if (r)
		unlink(file->temp);
	forget(file);
	return r;
}

static void discard(struct output_file *file)
{
	if (file->temp)
		unlink(file->temp);
	forget(file);
}

/* Let a file that is complete take the place of the one that is open at @original. */
static int replace(struct output_file *file, const struct stat *status, int original)
{
	/* the old file goes: a crash must not leave an empty one in its place */
	int r = fsync(file->fd) ? -errno : 0, replacement;
	mode_t mode;

	if (!r)
		r = file_attributes_keep(status, original, file->fd, &mode);
	replacement = r ? -1 : fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	if (!r && replacement < 0)
		r = -errno;
	if (r) {
		discard(file);
		return r;
	}
	r = commit(file);
	if (!r)
		r = file_attributes_keep_privileges(mode, original, replacement);
	close(replacement);
	return r;
}

static int put(const struct output *output, struct stat *status)
{
	struct output_file file;
	int r = output->is_copy && fstat(output->original, status) ? -errno : 0;

	if (!r)
		r = start(output->path, status->st_mode & 0777, &file);
	if (r)
		return r;
	r = output->write(output->ctx, file.fd);
	if (!r && output->check)
		r = output->check(output->ctx, file.fd);
	if (!r && output->in_place)
		return replace(&file, status, output->original);
	if (!r)
		return commit(&file);
	discard(&file);
	return r;
}

/* Make it appear; false after a complaint, and then nothing has changed. */
static bool output_put(const struct output *output)
{
	bool is_stdout = !strcmp(output->path, "-");
	struct stat status = {.st_mode = 0666};
	int r = is_stdout ? output->write(output->ctx, STDOUT_FILENO) : put(output, &status);

	if (r)
		complain_file(is_stdout ? "standard output" : output->path, r, NULL);
	else if (output->in_place && status.st_nlink > 1)
		complain("%s: the file has other names (hard links), which keep the old one",
			 output->path);
	return !r;
}

struct span {
	const void *bytes;
	size_t size;
};

static int write_span(void *ctx, int fd)
{
	const struct span *span = ctx;

	return file_append(fd, span->bytes, span->size);
}

bool output_put_bytes(const char *path, int replaced, const void *bytes, size_t size)
{
	struct span span = {bytes, size};
	const struct output output = {
		.path = path,
		.is_copy = replaced >= 0,
		.in_place = replaced >= 0,
		.original = replaced,
		.write = write_span,
		.ctx = &span,
	};

	return output_put(&output);
}

/* A linked file in the making. */
struct linked {
	struct sframe_attachment *attachment;
	const struct made_section *section;
};

static int write_linked(void *ctx, int out)
{
	const struct linked *l = ctx;

	return sframe_attachment_write(l->attachment, l->section->data, l->section->size, out);
}

static int read_linked(void *ctx, int out)
{
	const struct linked *l = ctx;
	struct elf_image image;
	int r = elf_image_init(out, NULL, &image);

	if (r)
		return r;
	if (image.sframe.size < l->section->size || image.sframe.addr != l->attachment->addr ||
	    memcmp(image.sframe.data, l->section->data, l->section->size))
		r = -EBADMSG;
	elf_image_fini(&image);
	return r;
}

/* A relocatable file in the making. */
struct object {
	struct object_attachment attachment;
	struct start_relocations relocations;
	const struct object_code *code;
	const struct made_section *section;
};

static int write_object(void *ctx, int out)
{
	struct object *o = ctx;

	return object_attachment_write(&o->attachment, o->section->data, o->section->size,
				       &o->relocations, out);
}

static int read_object(void *ctx, int out)
{
	const struct object *o = ctx;

	return start_relocations_check(&o->relocations, o->code, o->section->data, o->section->size,
				       out);
}

static bool put_copy(const struct arguments *a, int fd, int (*write)(void *ctx, int out),
		     int (*check)(void *ctx, int out), void *ctx)
{
	const struct output output = {
		.path = a->in_place ? a->operands[0] : a->output,
		.is_copy = true,
		.in_place = a->in_place,
		.original = fd,
		.write = write,
		.check = check,
		.ctx = ctx,
	};

	return output_put(&output);
}

bool attached_output_plan(const struct arguments *a, int fd, struct sframe_attachment *ret)
{
	struct bobbin_error error = {0};
	int r = sframe_attachment_init(fd, &error, ret);

	return accept_file(a->operands[0], r, &error);
}

bool attached_output_put(const struct arguments *a, struct sframe_attachment *attachment,
			 const struct made_section *section)
{
	struct linked linked = {attachment, section};

	return put_copy(a, attachment->fd, write_linked, read_linked, &linked);
}

bool attached_output_put_object(const struct arguments *a, int fd, const struct object_code *code,
				const struct made_section *section)
{
	struct object object = {.code = code, .section = section};
	struct bobbin_error error = {0};
	bool good = false;
	int r = object_attachment_init(fd, &error, &object.attachment);

	if (!accept_file(a->operands[0], r, &error))
		return false;
	r = start_relocations_init(code, section->data, section->size, &error, &object.relocations);
	if (r) {
		complain_file(a->operands[0], r, &error);
	} else {
		good = put_copy(a, fd, write_object, read_object, &object);
		start_relocations_fini(&object.relocations);
	}
	object_attachment_fini(&object.attachment);
	return good;
}

/* Whether the side-file says of an address what a row of the table does. */
static bool says(struct sidefile *sidefile, const struct table_builder *b, size_t i, uint64_t addr)
{
	const struct rule_row *row = &b->rows.row[i];
	uint64_t end = i + 1 < b->rows.count ? row[1].start : b->end;
	struct bobbin_row found;
	bool begins;
	int r = sidefile_lookup_row(sidefile, addr, &found, &begins);

	if (row->rule == RULE_NONE)
		return r == -ENOENT;
	return !r && found.start == row->start && found.end == end && begins == row->begins &&
	       bobbin_rule_equal(&found.rule, rule_rows_rule(&b->rows, i));
}

static int compare_rows(struct sidefile *sidefile, const struct table_builder *b)
{
	const struct rule_rows *rows = &b->rows;

	for (size_t i = 0; i < rows->count; i++) {
		uint64_t end = i + 1 < rows->count ? rows->row[i + 1].start : b->end;

		if (!says(sidefile, b, i, rows->row[i].start) || !says(sidefile, b, i, end - 1))
			return -EBADMSG;
	}
	return 0;
}

static int write_bytes(void *ctx, int fd)
{
	const struct sidefile_output *m = ctx;

	return file_append(fd, m->data, m->size);
}

/* Read it back as an unwinder does, and compare. */
static int prove(void *ctx, int fd)
{
	const struct sidefile_output *m = ctx;
	struct sidefile *sidefile;
	int copy = dup(fd), r;

	if (copy < 0)
		return -errno;
	r = sidefile_open(copy, NULL, &sidefile);
	if (r) {
		close(copy);
		return r;
	}
	r = compare_rows(sidefile, &m->table);
	sidefile_close(sidefile);
	return r;
}

bool sidefile_output_init(const char *path, const struct elf_image *image,
			  const struct table_sources *sources, bool compiled,
			  struct sidefile_output *ret)
{
	int r = table_builder_init(sources->arch, image->build_id, image->build_id_len,
				   &ret->table);

	if (!r)
		r = table_sources_rows(sources, &ret->table);
	if (!r)
		r = compiled ? table_builder_make(&ret->table, &ret->data, &ret->size)
			     : sidefile_make(&ret->table, &ret->data, &ret->size);
	if (r == -E2BIG)
		complain("%s: functions claim more rows than is sane", path);
	else if (r == -EBADMSG)
		complain("%s: .sframe: %s", path, bobbin_reason_str(BOBBIN_REASON_SFRAME_ORDER));
	else if (r)
		complain_file(path, r, NULL);
	return !r;
}

bool sidefile_output_put(struct sidefile_output *output, const char *path)
{
	return output_put(&(struct output){
		.path = path, .write = write_bytes, .check = prove, .ctx = output});
}

void sidefile_output_fini(struct sidefile_output *output)
{
	table_builder_fini(&output->table);
	free(output->data);
}
