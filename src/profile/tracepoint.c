/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/tracepoint.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* Fields come first, so that what is beyond does not matter. */
#define FORMAT_SIZE 16384
#define NAME_SIZE 128
#define PATH_SIZE (NAME_SIZE + 16)
/* The kernel's records have 16 bits for their size. */
#define RAW_SIZE 65536

/* Not below any folder: nobody else's mounts change. */
static int mount_apart(void)
{
	int context = fsopen("tracefs", FSOPEN_CLOEXEC), mounted = -1, error = errno;

	if (context < 0)
		return error == EPERM ? -EPERM : -ENODEV;
	if (!fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mounted = fsmount(context, FSMOUNT_CLOEXEC, 0);
	error = errno;
	close(context);
	return mounted < 0 ? -error : mounted;
}

int tracepoint_folder(void)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		int fd = open(places[i], O_PATH | O_DIRECTORY | O_CLOEXEC), error;

		if (fd < 0)
			continue;
		/* an empty folder waits there for the mount */
		error = faccessat(fd, "events", F_OK, 0) ? errno : 0;
		if (!error)
			return fd;
		close(fd);
		if (error == EACCES)
			return -EACCES;
	}
	return mount_apart();
}

/* The file of SYSTEM:NAME; false: it is no such name. */
static bool format_path(const char *name, char path[PATH_SIZE])
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_-:");
	const char *colon = strchr(name, ':');

	if (name[length] || length >= NAME_SIZE || !colon || colon == name || !colon[1] ||
	    strchr(colon + 1, ':'))
		return false;
	snprintf(path, PATH_SIZE, "events/%.*s/%s/format", (int)(colon - name), name, colon + 1);
	return true;
}

static int read_file(int folder, const char *path, char text[FORMAT_SIZE])
{
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	while (n > 0 && size < FORMAT_SIZE - 1) {
		n = read(fd, text + size, FORMAT_SIZE - 1 - size);
		size += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	text[size] = 0;
	return size ? 0 : -EBADMSG;
}

int tracepoint_find(const char *name, struct tracepoint_field *fields, size_t count, uint64_t *id)
{
	char path[PATH_SIZE], *text;
	int folder, r;

	if (!format_path(name, path))
		return -EINVAL;
	folder = tracepoint_folder();
	if (folder < 0)
		return folder;
	text = malloc(FORMAT_SIZE);
	r = text ? read_file(folder, path, text) : -ENOMEM;
	if (!r)
		r = tracepoint_parse(text, fields, count, id);
	free(text);
	close(folder);
	return r;
}

const char *tracepoint_error(int error, const char *name, char *room, size_t size)
{
	switch (error) {
	case -EINVAL:
		snprintf(room, size, "%s: a tracepoint is named SYSTEM:NAME", name);
		break;
	case -ENOENT:
		snprintf(room, size, "%s: this kernel has no such tracepoint", name);
		break;
	case -ENODATA:
		snprintf(room, size, "%s: it does not say what is needed on this kernel", name);
		break;
	case -ENODEV:
		snprintf(room, size, "%s: this kernel has no tracefs (CONFIG_TRACING)", name);
		break;
	case -EACCES:
	case -EPERM:
		snprintf(room, size, "%s: not allowed to read tracefs: run as root", name);
		break;
	case -EBADMSG:
		snprintf(room, size, "%s: its description in tracefs makes no sense", name);
		break;
	default:
		snprintf(room, size, "%s: %s", name, strerror(-error));
	}
	return room;
}

/* A number after a word in a line; false: it is not there, or greater than @max. */
static bool number_after(const char *line, size_t length, const char *word, uint64_t max,
			 uint64_t *ret)
{
	const char *at = memmem(line, length, word, strlen(word)), *end = line + length;
	uint64_t value = 0;

	at = at ? at + strlen(word) : end;
	if (at == end || !isdigit((unsigned char)*at))
		return false;
	for (; at < end && isdigit((unsigned char)*at); at++) {
		value = 10 * value + (uint64_t)(*at - '0');
		if (value > max)
			return false;
	}
	*ret = value;
	return true;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "TYPE NAME" or "TYPE NAME[COUNT]". */
static bool declares(const char *text, size_t length, const char *name)
{
	size_t size = strlen(name);

	if (length && text[length - 1] == ']')
		while (length && text[length - 1] != '[')
			length--;
	while (length && !is_name(text[length - 1]))
		length--;
	return length > size && !memcmp(text + length - size, name, size) &&
	       !is_name(text[length - size - 1]);
}

static int parse_field(const char *line, size_t length, struct tracepoint_field *field)
{
	uint64_t offset, size, sign;

	if (!number_after(line, length, "\toffset:", RAW_SIZE, &offset) ||
	    !number_after(line, length, "\tsize:", RAW_SIZE, &size) ||
	    !number_after(line, length, "\tsigned:", 1, &sign))
		return -EBADMSG;
	field->offset = (uint32_t)offset;
	field->size = (uint32_t)size;
	field->is_signed = sign;
	return 1;
}

/* 1: the line is of that field; 0: it is not. */
static int take_field(const char *line, size_t length, struct tracepoint_field *field)
{
	static const char begin[] = "\tfield:";
	const size_t skipped = sizeof(begin) - 1;
	const char *end;

	if (length < skipped || memcmp(line, begin, skipped) != 0)
		return 0;
	end = memchr(line, ';', length);
	if (!end)
		return -EBADMSG;
	if (!declares(line + skipped, (size_t)(end - line) - skipped, field->name))
		return 0;
	return parse_field(end, (size_t)(line + length - end), field);
}

static int find_field(const char *text, struct tracepoint_field *field)
{
	int r = 0;

	for (const char *line = text; *line && !r;) {
		size_t length = strcspn(line, "\n");

		r = take_field(line, length, field);
		line += length + (line[length] != 0);
	}
	return r ? r : -ENODATA;
}

int tracepoint_parse(const char *text, struct tracepoint_field *fields, size_t count, uint64_t *id)
{
	const char *line = strstr(text, "\nID: ");
	uint64_t number;
	int r = 1;

	if (!line || !number_after(line, strcspn(line + 1, "\n") + 1, "ID: ", UINT32_MAX, &number))
		return -EBADMSG;
	for (size_t i = 0; i < count && r > 0; i++)
		r = find_field(text, &fields[i]);
	if (r < 0)
		return r;
	*id = number;
	return 0;
}

bool tracepoint_number(const struct tracepoint_field *field, const void *raw, size_t size,
		       int64_t *ret)
{
	unsigned int unused = 64 - 8 * field->size;
	uint64_t value = 0;

	if (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8)
		return false;
	if (field->offset > size || field->size > size - field->offset)
		return false;
	memcpy((uint8_t *)&value + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 8 - field->size : 0),
	       (const uint8_t *)raw + field->offset, field->size);
	*ret = field->is_signed ? (int64_t)(value << unused) >> unused : (int64_t)value;
	return true;
}
