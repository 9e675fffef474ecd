/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recorder learns of code that the kernel does not tell of.
 */
#include "profile/image_records.h"
#include "profile/recorder_state.h"

int recorder_tell_images(struct recorder *r, struct process *process)
{
	process_table_note(r->processes, process);
	return image_records(process, r->time, r->id, recorder_put, r);
}

int recorder_watch_code(struct recorder *r, struct process *process,
			const struct bobbin_trace *trace)
{
	bool news = code_watch_trace(&r->watcher, process, trace);
	int error = news ? recorder_tell_images(r, process) : 0, copies;

	if (error)
		return error;
	copies = code_watch_text(&r->watcher, process, trace, r->id, recorder_on_description, r);
	return copies < 0 ? copies : news || copies;
}
