/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sframe_command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
