/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * process_user.h - the user that a process runs as.
 */
#ifndef BOBBIN_PROFILE_PROCESS_USER_H
#define BOBBIN_PROFILE_PROCESS_USER_H

#include "profile/process_table.h"

/*
 * Whether its real user is this one, which is looked up again after 10 ms.  Of a process that has
 * ended meanwhile, what was known last counts, and before that its parent's user.
 */
bool process_user_is(struct process *process, uint32_t user);

#endif
