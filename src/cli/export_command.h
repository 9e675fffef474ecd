/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export_command.h - what export has in common with record, which can write the same formats.
 */
#ifndef BOBBIN_CLI_EXPORT_COMMAND_H
#define BOBBIN_CLI_EXPORT_COMMAND_H

#include "base/draft.h"
#include "cli/input.h"
#include "export/profile_format.h"

/* The format that is asked for, or that the name of the output tells; NULL after a complaint. */
const struct profile_format *export_format(const struct arguments *a);

/* Begin the output; NULL after a complaint. */
struct draft *export_output_open(const char *path);

/*
 * Write what @input has to @draft, the begun output.  The draft is gone afterwards, and the file
 * has its name unless there was a failure.  0, or 1 after a complaint.
 */
int export_recording(struct input *input, const struct profile_format *format, struct draft *draft);

#endif
