/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/kernel_setting.h"

#include <inttypes.h>
#include <stdio.h>

#define PATH_SIZE 128

bool kernel_setting(const char *name, int64_t *ret)
{
	char path[PATH_SIZE];
	int64_t value;
	bool read;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	f = fopen(path, "re");
	if (!f)
		return false;
	read = fscanf(f, "%" SCNd64, &value) == 1;
	fclose(f);
	if (read)
		*ret = value;
	return read;
}

uint32_t kernel_most_samples(void)
{
	int64_t most;

	if (!kernel_setting("perf_event_max_sample_rate", &most) || most < 1 || most > UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t)most;
}
