/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/unwind.h>

#include "core/deps.h"

BOBBIN_API const char *bobbin_source_str(unsigned int source)
{
#define SOURCE_TEXT(name, text) text,
	static const char *const texts[] = {BOBBIN_SOURCES(SOURCE_TEXT)};
#undef SOURCE_TEXT

	if (source >= BOBBIN_SOURCE_COUNT)
		return "unknown";
	return texts[source];
}
