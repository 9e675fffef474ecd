/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * script_fields.h - what 'script' prints, in perf's words.
 */
#ifndef BOBBIN_CLI_SCRIPT_FIELDS_H
#define BOBBIN_CLI_SCRIPT_FIELDS_H

#include <stdbool.h>

enum script_field {
	FIELD_COMM = 1 << 0,
	FIELD_PID = 1 << 1,
	FIELD_TID = 1 << 2,
	FIELD_CPU = 1 << 3,
	FIELD_TIME = 1 << 4,
	FIELD_EVENT = 1 << 5,
	FIELD_IP = 1 << 6,
	FIELD_SYM = 1 << 7,
	FIELD_DSO = 1 << 8,
	FIELD_SOURCE = 1 << 9,
	FIELD_REASON = 1 << 10,
	FIELD_PERIOD = 1 << 11,
	FIELD_SYMOFF = 1 << 12,
	FIELD_SRCLINE = 1 << 13,
};

/*
 * Change @fields by a list, as of 'perf script -F': "comm,ip" is what to print, "+pid" and
 * "-ip" what more and what not; "hw:" and other types of events go before it.  false after a
 * complaint, which names the @option.
 */
bool script_fields_parse(const char *option, const char *list, unsigned int *fields);

#endif
