/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/reason.h>

#include "core/deps.h"

struct reason_text {
	const char *name;
	const char *sentence;
};

#define REASON_TEXT(name, text) {#name, text},
static const struct reason_text texts[] = {BOBBIN_REASONS(REASON_TEXT)};
#undef REASON_TEXT

BOBBIN_API const char *bobbin_reason_name(enum bobbin_reason reason)
{
	if ((unsigned int)reason >= BOBBIN_REASON_COUNT)
		return "UNKNOWN";
	return texts[reason].name;
}

BOBBIN_API const char *bobbin_reason_str(enum bobbin_reason reason)
{
	if ((unsigned int)reason >= BOBBIN_REASON_COUNT)
		return "unknown reason";
	return texts[reason].sentence;
}
