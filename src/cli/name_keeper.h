/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * name_keeper.h - notes what is sampled, and names it when the recording ends.
 *
 * Noting costs a look into a small table for each frame.  Names are looked up at
 * the end, through the descriptors that the walker holds of the files, so that
 * it does not matter where a file is by then.  Memory, bytes and time are bounded:
 * what is beyond has no kept name.
 */
#ifndef BOBBIN_CLI_NAME_KEEPER_H
#define BOBBIN_CLI_NAME_KEEPER_H

#include "profile/recorder.h"

struct name_keeper;

/* Returns 0, -ENOMEM. */
int name_keeper_open(struct name_keeper **ret);
void name_keeper_close(struct name_keeper *keeper);

/* For the options of a recorder. */
struct recorder_names name_keeper_hooks(struct name_keeper *keeper);

#endif
