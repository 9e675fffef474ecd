/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * otlp_answer.h - what a server of OpenTelemetry's protocol says of a request that it accepts.
 */
#ifndef BOBBIN_EXPORT_OTLP_ANSWER_H
#define BOBBIN_EXPORT_OTLP_ANSWER_H

#include <stddef.h>
#include <stdint.h>

/*
 * The body of the answer, an ExportProfilesServiceResponse: how many profiles were not taken all
 * the same, and why.  What cannot be read says nothing.
 */
void otlp_answer_read(const uint8_t *bytes, size_t size, uint64_t *rejected, char *text,
		      size_t text_size);

#endif
