/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attach FILE SECTION OUT - write a copy of FILE whose .sframe is SECTION's bytes.
 *
 * Prints address and offset of the section, or why not (exit status 1).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_range.h"
#include "elf/sframe_attachment.h"

static int read_file(const char *path, void **ret, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		return -errno;
	*size = (size_t)status.st_size;
	*ret = malloc(*size ? *size : 1);
	r = *ret ? file_range_read(fd, 0, *ret, *size) : -ENOMEM;
	close(fd);
	return r;
}

static int attach(int in, const void *section, size_t size, int out, struct bobbin_error *err)
{
	struct sframe_attachment attachment;
	int r = sframe_attachment_init(in, err, &attachment);

	if (r)
		return r;
	r = sframe_attachment_write(&attachment, section, size, out);
	printf("%#" PRIx64 " %#" PRIx64 "\n", attachment.addr, attachment.offset);
	sframe_attachment_fini(&attachment);
	return r;
}

int main(int argc, char **argv)
{
	struct bobbin_error err = {0};
	void *section = NULL;
	int in, out, r;
	size_t size = 0;

	if (argc != 4)
		return 2;
	in = open(argv[1], O_RDONLY | O_CLOEXEC);
	out = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (in < 0 || out < 0) {
		perror("attach");
		return 2;
	}
	r = read_file(argv[2], &section, &size);
	if (!r)
		r = attach(in, section, size, out, &err);
	if (r)
		fprintf(stderr, "attach: %s: %s: %s at %" PRIu64 "\n", argv[1], strerror(-r),
			bobbin_reason_name(err.reason), err.offset);
	free(section);
	return r != 0;
}
