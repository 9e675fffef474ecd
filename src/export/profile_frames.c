/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/profile_frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_name.h"
#include "base/vector.h"

static const struct profile_location *location_of(const struct profile *profile, uint32_t stack)
{
	return &profile->locations[profile->stacks[stack].location];
}

/* "file.c:12", without the folders, as perf; NULL: it is not known, or not asked for. */
static int find_place(struct profile_frames *frames, const char *file, uint32_t line,
		      const char **ret)
{
	char *place;
	int r;

	*ret = NULL;
	if (!frames->lines || !*file)
		return 0;
	if (asprintf(&place, "%s:%" PRIu32, base_name(file), line) < 0)
		return -ENOMEM;
	r = name_pool_intern(&frames->places, place, ret);
	free(place);
	return r;
}

static int make_frame(struct profile_frames *frames, const struct profile *profile,
		      const struct profile_line *line, struct call_frame *ret)
{
	const struct profile_function *function = &profile->functions[line->function];

	*ret = (struct call_frame){
		.name = strcmp(function->name, PROFILE_UNKNOWN) ? function->name : NULL,
		.dso = function->dso,
		.kind = function->kind,
	};
	return find_place(frames, function->src_file, line->line, &ret->place);
}

int profile_frames_of(const struct profile *profile, uint32_t stack, struct profile_frames *ret)
{
	size_t count = 0;
	int r = 0;

	for (uint32_t at = stack; at != PROFILE_ROOT; at = profile->stacks[at].caller)
		count += location_of(profile, at)->line_count;
	if (vector_reserve(&ret->frames, &ret->room, count, sizeof(*ret->frames)))
		return -ENOMEM;
	ret->count = count;
	for (; stack != PROFILE_ROOT && !r; stack = profile->stacks[stack].caller) {
		const struct profile_location *location = location_of(profile, stack);

		for (uint32_t i = 0; i < location->line_count && !r; i++)
			r = make_frame(ret, profile, &profile->lines[location->lines + i],
				       &ret->frames[--count]);
	}
	return r;
}

void profile_frames_fini(struct profile_frames *frames)
{
	name_pool_fini(&frames->places);
	free(frames->frames);
	*frames = (struct profile_frames){0};
}
