/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/profile_format.h"

#include <string.h>

#define FORMATS (sizeof(formats) / sizeof(*formats))
#define NAMES_SIZE 128

static const struct profile_format formats[] = {
	{"pprof", {".pb.gz", ".pprof"}, .binary = true, .zipped = true, .write = pprof_write},
	{"callgrind", {".callgrind"}, .write = callgrind_write},
	{"speedscope", {".speedscope.json"}, .timed = true, .write = speedscope_write},
	{"chrome", {".trace.json"}, .timed = true, .write = chrome_trace_write},
	{"firefox", {".profile.json", ".firefox.json"}, .timed = true, .write = firefox_write},
	{"otlp", {".otlp", ".otlp.pb"}, .binary = true, .write = otlp_write},
};

const struct profile_format *profile_format_find(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static bool ends_in(const char *path, size_t length, const char *suffix)
{
	const size_t size = strlen(suffix);

	return length > size && !memcmp(path + length - size, suffix, size);
}

/* Callgrind's own files are called callgrind.out.PID. */
static bool is_callgrinds(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, "callgrind.out", strlen("callgrind.out"));
}

/* The length of the format's longest suffix that the name has, or 0: ".otlp.pb.gz" is no ".pb.gz". */
static size_t named(const struct profile_format *format, const char *path)
{
	const size_t length = strlen(path);
	const size_t plain = ends_in(path, length, ".gz") ? length - strlen(".gz") : length;
	size_t longest = 0;

	for (const char *const *suffix = format->suffixes; *suffix; suffix++) {
		size_t size = 0;

		if (ends_in(path, length, *suffix))
			size = strlen(*suffix);
		else if (ends_in(path, plain, *suffix))
			size = strlen(*suffix) + length - plain;
		if (size > longest)
			longest = size;
	}
	return longest;
}

const struct profile_format *profile_format_of_file(const char *path)
{
	const struct profile_format *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < FORMATS; i++) {
		const size_t length = named(&formats[i], path);

		if (length > longest) {
			longest = length;
			best = &formats[i];
		}
	}
	return best || !is_callgrinds(path) ? best : profile_format_find("callgrind");
}

const char *profile_format_names(void)
{
	static char names[NAMES_SIZE];
	size_t used = 0;

	for (size_t i = 0; i < FORMATS && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 formats[i].name);
	return names;
}
