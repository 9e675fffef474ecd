/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sframe_command.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vector.h"
#include "core/refusal.h"
#include "export/safe_text.h"
#include "object/object_code.h"
#include "unwind/call_frames.h"

/* A pipe that nobody writes to is at its end, and not waited for. */
static int open_now(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	/* who writes to it by now may take a while */
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

int open_input(const char *path)
{
	int fd = strcmp(path, "-") ? open_now(path) : dup(STDIN_FILENO);

	if (fd < 0)
		complain("%s: %s", path, strerror(errno));
	return fd;
}

int open_regular_input(const char *path)
{
	int fd = open_input(path);
	struct stat status;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode))
		return fd;
	complain("%s: not a regular file", path);
	close(fd);
	return -1;
}

const char *output_fault(const struct arguments *a)
{
	if (!a->output == !a->in_place)
		return "one of --output and --in-place is needed";
	if (a->in_place && !strcmp(a->operands[0], "-"))
		return "--in-place: standard input is no file";
	return NULL;
}

bool spares_terminal(const struct arguments *a)
{
	if (!a->output || strcmp(a->output, "-") || !isatty(STDOUT_FILENO))
		return true;
	complain("a section is no text for a terminal: use -o");
	return false;
}

bool read_sframe_file(const char *path, struct sframe_file *ret)
{
	struct bobbin_error error = {0};
	int fd = open_input(path), r;

	if (fd < 0)
		return false;
	r = sframe_file_init(fd, &error, ret);
	close(fd);
	return accept_file(path, r, &error);
}

void complain_function(const char *path, const char *place, uint64_t offset,
		       const struct merge_report *report)
{
	char what[64];

	if (report->fate == MERGE_DROPPED)
		snprintf(what, sizeof(what), "dropped");
	else
		snprintf(what, sizeof(what), "clipped to %" PRIu32 " bytes", report->left);
	complain("%s:%s offset 0x%" PRIx64 ": function 0x%" PRIx64 " of %" PRIu32 " bytes %s: %s",
		 path, place, offset, report->start, report->size, what,
		 bobbin_reason_str(report->reason));
}

int report_files(const struct arguments *a, struct json_output *json,
		 const struct file_report *report)
{
	int status = 0;

	if (a->json) {
		json_object(json, NULL);
		json_array(json, "files");
	}
	for (int i = 0; i < a->operand_count; i++) {
		int r = report->file(report->ctx, a->operands[i]);

		status = r > status ? r : status;
	}
	if (a->json)
		json_array_end(json);
	if (report->total)
		report->total(report->ctx);
	if (a->json)
		json_object_end(json);
	return finish_output() ? status : report->failed;
}

static int init_linked(struct bobbin_error *err, struct file_cfi *ret)
{
	const struct elf_image *image = &ret->image;
	int r = elf_image_init(ret->fd, err, &ret->image);

	if (r)
		return r;
	if (!image->linked)
		return refuse(err, offsetof(Elf64_Ehdr, e_type), BOBBIN_REASON_ELF_TYPE);
	if (image->unread.reason)
		return refuse(err, image->unread.offset, image->unread.reason);
	ret->count = call_frames_views(image, ret->views);
	ret->arch = image->arch;
	ret->bytes = elf_image_cfi(image);
	ret->code = image->code.ranges;
	ret->code_count = image->code.count;
	return 0;
}

static int init_object(struct bobbin_error *err, struct file_cfi *ret)
{
	const struct object_code *object = &ret->object;
	int r = object_code_init(ret->fd, err, &ret->object);

	if (r)
		return r;
	for (int i = 0; i < 2; i++)
		ret->count += object_code_view(object, i, &ret->views[ret->count]);
	ret->arch = object->arch;
	ret->bytes = object->eh_frame.size + object->debug_frame.size;
	ret->code = object->ranges;
	ret->code_count = object->text_count;
	return 0;
}

bool file_cfi_open(const char *path, struct file_cfi *ret)
{
	struct bobbin_error error = {0};
	int r;

	*ret = (struct file_cfi){.path = path, .fd = open_regular_input(path)};
	if (ret->fd < 0)
		return false;
	r = object_code_is_in(ret->fd) ? init_object(&error, ret) : init_linked(&error, ret);
	if (!r)
		return true;
	complain_file(path, r, &error);
	file_cfi_close(ret);
	return false;
}

void file_cfi_close(struct file_cfi *input)
{
	elf_image_fini(&input->image);
	object_code_fini(&input->object);
	close(input->fd);
}

int file_cfi_add_tables(const struct file_cfi *input, const struct sframe_section *section,
			struct sframe_tables *ret)
{
	struct bobbin_sframe_view view;
	uint64_t pos = 0;

	while (section->data && sframe_section_next(section, &pos, NULL, &view) > 0) {
		if (vector_reserve(&ret->views, &ret->capacity, ret->count + (size_t)1,
				   sizeof(view)))
			return -ENOMEM;
		if (section->relocated)
			start_placement_by(&input->object, section, &view);
		ret->views[ret->count++] = view;
	}
	return 0;
}

struct sframe_section file_cfi_sframe(const struct file_cfi *input)
{
	const struct elf_bytes *bytes = &input->image.sframe;

	return (struct sframe_section){
		.data = bytes->data, .size = bytes->size, .addr = bytes->addr};
}

int file_cfi_convert(const struct file_cfi *input, const struct convert_options *options,
		     struct convert_stats *stats, uint8_t **data, uint64_t *size)
{
	const struct object_code *object = &input->object;
	struct convert_options inside = *options;
	uint64_t *bounds;
	int r;

	if (!object->arch)
		return convert_cfi(input->views, input->count, options, stats, data, size);
	bounds = calloc(object->text_count + 1, sizeof(*bounds));
	if (!bounds)
		return -ENOMEM;
	for (size_t i = 0; i < object->text_count; i++)
		bounds[i] = object->texts[i].start;
	inside.floating = true;
	inside.bounds = bounds;
	inside.bound_count = object->text_count;
	r = convert_cfi(input->views, input->count, &inside, stats, data, size);
	free(bounds);
	return r;
}

const char *file_cfi_section(const struct file_cfi *input, uint64_t *addr)
{
	const struct object_text *text = object_code_text(&input->object, *addr);

	if (!text)
		return NULL;
	*addr -= text->start;
	return text->name;
}

void file_cfi_print_range(const struct file_cfi *input, FILE *out, uint64_t start, uint64_t end)
{
	uint64_t offset = start;
	const char *section = file_cfi_section(input, &offset);

	if (section) {
		safe_text_plain(out, section);
		fputc(' ', out);
	}
	fprintf(out, "0x%" PRIx64 "..0x%" PRIx64, offset, end - (start - offset));
}
