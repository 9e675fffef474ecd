/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/otlp_answer.h"

#include <stdio.h>

#include "export/otlp.pb-c.h"

void otlp_answer_read(const uint8_t *bytes, size_t size, uint64_t *rejected, char *text,
		      size_t text_size)
{
	Otlp__ExportProfilesServiceResponse *answer =
		otlp__export_profiles_service_response__unpack(NULL, size, bytes);
	const Otlp__ExportProfilesPartialSuccess *part = answer ? answer->partial_success : NULL;

	*rejected = part && part->rejected_profiles > 0 ? (uint64_t)part->rejected_profiles : 0;
	snprintf(text, text_size, "%s", part ? part->error_message : "");
	if (answer)
		otlp__export_profiles_service_response__free_unpacked(answer, NULL);
}
