/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * check_cfi.h - SFrame sections against the call-frame information of their file.
 */
#ifndef BOBBIN_CLI_CHECK_CFI_H
#define BOBBIN_CLI_CHECK_CFI_H

#include "cli/file_cfi.h"
#include "cli/json_output.h"
#include "convert/comparison.h"
#include "elf/sframe_file.h"

/**
 * struct check_cfi - a comparison, how it is printed, and its result
 * @path: the file
 * @json: where objects are printed to, or NULL for lines of text
 * @quiet: print only rules that differ
 * @input: call-frame information of the file, while it is compared
 * @comparison: its results
 */
struct check_cfi {
	const char *path;
	struct json_output *json;
	bool quiet;
	const struct file_cfi *input;
	struct comparison comparison;
};

/*
 * Compare all sections of @file, which is that of @check->path, with its .eh_frame
 * and .debug_frame at every address and print the differences.  The starts of
 * functions in a relocatable file's sections are changed for that.  Whether there is
 * anything to compare: false after a complaint.
 */
bool check_cfi(struct check_cfi *check, const struct sframe_file *file);

#endif
