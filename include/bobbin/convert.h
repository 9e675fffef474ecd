/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * convert.h - an SFrame section from a file's call-frame information.
 *
 *	struct bobbin_conversion made;
 *	struct bobbin_error err;
 *	int r = bobbin_convert(fd, 0, &err, &made);
 *
 *	if (r)
 *		fprintf(stderr, "%s\n", err.reason ? bobbin_reason_str(err.reason) : strerror(-r));
 *	else
 *		fwrite(made.data, 1, made.size, stdout);
 *
 * The bytes are those of `bobbin sframe convert --section-only`.  <bobbin/sframe.h> reads them.
 */
#ifndef BOBBIN_CONVERT_H
#define BOBBIN_CONVERT_H

#include <bobbin/reason.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct bobbin_conversion - a section, and what it lacks
 * @data: the section, version 3; to be released with free()
 * @size: its bytes
 * @functions, @rows: its contents
 * @lost_rows: rows of the call-frame information that SFrame cannot express, or that are
 *	malformed: their code has no row in the section
 */
struct bobbin_conversion {
	uint8_t *data;
	uint64_t size;
	uint64_t functions, rows, lost_rows;
};

/**
 * bobbin_convert() - make an SFrame section of a linked file's .eh_frame and .debug_frame
 * @fd: the file, regular and open for reading; remains the caller's, and its offset does not
 *	change
 * @addr: address of the section's first byte in the file's own space; readers such as
 *	bobbin_sframe_view() must be given the same
 * @err: where in the file and why on failure, or NULL.  BOBBIN_REASON_NONE if the errno says
 *	all
 * @ret: the section; untouched on failure
 *
 * Where the two sections overlap, .eh_frame counts.  The result is compared with what it was made
 * of: it has the same rule at each address, or none.  The file is not trusted; memory and time are
 * bounded by its size.
 *
 * Thread-safe.  Not async-signal-safe.
 *
 * Return: 0; -EBADMSG: it is no sound, linked 64-bit ELF file of a known machine; -ENODATA: it has
 * no call-frame information; -EISDIR or -EINVAL: it is no regular file; -ERANGE: the section would
 * be too large; -ENOMEM; the errno of reading.
 */
int bobbin_convert(int fd, uint64_t addr, struct bobbin_error *err, struct bobbin_conversion *ret);

#ifdef __cplusplus
}
#endif

#endif
