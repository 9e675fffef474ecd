/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/attached_output.h"

#include <errno.h>
#include <string.h>

#include "cli/output_file.h"
#include "elf/elf_image.h"
#include "object/object_attachment.h"

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

static bool put(const struct arguments *a, int fd, int (*write)(void *ctx, int out),
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

	return put(a, attachment->fd, write_linked, read_linked, &linked);
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
		good = put(a, fd, write_object, read_object, &object);
		start_relocations_fini(&object.relocations);
	}
	object_attachment_fini(&object.attachment);
	return good;
}
