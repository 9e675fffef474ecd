/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/convert.h>

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "convert/comparison.h"
#include "convert/converter.h"
#include "core/refusal.h"
#include "unwind/call_frames.h"

static int refuse_kind(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISREG(st.st_mode))
		return 0;
	return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
}

static int convert_views(const struct bobbin_cfi_view *views, unsigned int count, uint64_t addr,
			 struct bobbin_conversion *ret)
{
	const struct convert_options options = {.version = 3, .addr = addr};
	struct bobbin_conversion made = {0};
	struct convert_stats stats;
	int r = convert_cfi(views, count, &options, &stats, &made.data, &made.size);

	if (r)
		return r;
	r = comparison_prove(views, count, NULL, made.data, made.size, addr);
	if (r) {
		free(made.data);
		return r;
	}
	made.functions = stats.functions;
	made.rows = stats.rows;
	made.lost_rows = stats.lost_rows;
	*ret = made;
	return 0;
}

static int convert_image(const struct elf_image *image, uint64_t addr, struct bobbin_error *err,
			 struct bobbin_conversion *ret)
{
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];
	unsigned int count;

	if (!image->linked)
		return refuse(err, offsetof(Elf64_Ehdr, e_type), BOBBIN_REASON_ELF_TYPE);
	if (image->unread.reason)
		return refuse(err, image->unread.offset, image->unread.reason);
	count = call_frames_views(image, views);
	return count ? convert_views(views, count, addr, ret) : -ENODATA;
}

static int convert_file(int fd, uint64_t addr, struct bobbin_error *err,
			struct bobbin_conversion *ret)
{
	struct elf_image image;
	int r = refuse_kind(fd);

	if (!r)
		r = elf_image_init(fd, err, &image);
	if (r)
		return r;
	r = convert_image(&image, addr, err, ret);
	elf_image_fini(&image);
	return r;
}

BOBBIN_API int bobbin_convert(int fd, uint64_t addr, struct bobbin_error *err,
			      struct bobbin_conversion *ret)
{
	struct bobbin_error why = {0};
	int r = convert_file(fd, addr, &why, ret);

	if (r && err)
		*err = why;
	return r;
}
