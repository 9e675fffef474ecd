/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * replay FILE|DIRECTORY... - run a fuzz target over inputs that exist.
 *
 * The main() of a fuzz target in ordinary builds: each file, and each file of
 * each directory, is given to the target once.  The target aborts when its
 * parser breaks its contract; the name of the input is printed before that.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes are in memory of exactly their size, so that sanitizers see an overrun. */
static int replay_stream(FILE *stream, size_t size)
{
	uint8_t *data = malloc(size ? size : 1);
	size_t got;

	if (!data)
		return -ENOMEM;
	got = fread(data, 1, size, stream);
	if (got == size)
		LLVMFuzzerTestOneInput(data, size);
	free(data);
	return got == size ? 1 : -EIO;
}

static int replay_file(const char *path, size_t size)
{
	FILE *stream = fopen(path, "rb");
	int n;

	if (!stream)
		return -errno;
	printf("%s: %zu bytes\n", path, size);
	fflush(stdout);
	n = replay_stream(stream, size);
	fclose(stream);
	return n;
}

static int replay(const char *path);

static int replay_directory(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char name[4096];
	int n, count = 0;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)) && count >= 0) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		n = replay(name);
		count = n < 0 ? n : count + n;
	}
	closedir(dir);
	return count;
}

/* Returns the number of inputs, or a negative errno. */
static int replay(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return replay_directory(path);
	return replay_file(path, (size_t)st.st_size);
}

int main(int argc, char **argv)
{
	int n, count = 0;

	for (int i = 1; i < argc; i++) {
		n = replay(argv[i]);
		if (n < 0) {
			fprintf(stderr, "replay: %s: %s\n", argv[i], strerror(-n));
			return 1;
		}
		count += n;
	}
	printf("%d inputs\n", count);
	return count ? 0 : 1;
}
