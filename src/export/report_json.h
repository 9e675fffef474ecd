/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_json.h - the rows of a report in a JSON document, see bobbin-report(1).
 */
#ifndef BOBBIN_EXPORT_REPORT_JSON_H
#define BOBBIN_EXPORT_REPORT_JSON_H

#include "export/json_output.h"
#include "export/report.h"

/* An array of the names of keys, under "keys". */
void report_json_keys(struct json_output *json, const struct report_options *options);

/*
 * Write members of an object: the event, its samples and their weight, the rows that @options show
 * and what is left out.  @report may be NULL, which has none.  0 or -ENOMEM.
 */
int report_json_write(const struct report *report, const struct report_options *options,
		      struct json_output *json);

#endif
