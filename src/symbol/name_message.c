/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/name_message.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static bool add_string(struct name_request *request, const char *text)
{
	size_t size = strlen(text) + 1;

	if (size > sizeof(request->text) - request->size)
		return false;
	memcpy(request->text + request->size, text, size);
	request->size += (uint32_t)size;
	return true;
}

bool name_request_say(struct name_request *request, const char *text)
{
	request->size = 0;
	return add_string(request, text);
}

/* In this order. */
static void list_paths(struct symbol_file *file, const char **ret[NAME_PATHS])
{
	*ret++ = &file->path;
	*ret++ = &file->open_path;
	*ret++ = &file->inside;
	for (unsigned int i = 0; i < FILE_ROOTS_MAX; i++)
		*ret++ = &file->roots.list[i];
}

bool name_request_paths(struct name_request *request, const struct symbol_file *file)
{
	struct symbol_file copy = *file;
	const char **paths[NAME_PATHS];

	list_paths(&copy, paths);
	request->size = 0;
	for (unsigned int i = 0; i < NAME_PATHS; i++) {
		request->has_path[i] = *paths[i];
		if (*paths[i] && !add_string(request, *paths[i]))
			return false;
	}
	return true;
}

void name_request_take_paths(const struct name_request *request, struct symbol_file *file)
{
	const char **paths[NAME_PATHS], *text = request->text;

	list_paths(file, paths);
	for (unsigned int i = 0; i < NAME_PATHS; i++) {
		*paths[i] = request->has_path[i] ? text : NULL;
		if (request->has_path[i])
			text += strlen(text) + 1;
	}
}

size_t name_request_size(const struct name_request *request)
{
	return offsetof(struct name_request, text) + request->size;
}

/* Symbols that are not there are not sent: the text follows those that are. */
static size_t text_place(int count)
{
	return offsetof(struct name_reply, symbols) + (size_t)count * sizeof(struct wire_symbol);
}

struct text_room {
	char *text;
	size_t used, limit; /* of one string */
};

static uint32_t add_text(struct text_room *room, const char *text)
{
	size_t len, at = room->used;

	if (!text)
		return 0;
	len = strnlen(text, room->limit);
	memcpy(room->text + at, text, len);
	room->text[at + len] = '\0';
	room->used += len + 1;
	return (uint32_t)at + 1;
}

static size_t text_size(const struct symbol *symbols, int count)
{
	size_t sum = 0;

	for (int i = 0; i < count; i++)
		sum += strlen(symbols[i].name) + strlen(symbols[i].mangled) + 3 +
		       (symbols[i].src_file ? strlen(symbols[i].src_file) : 0);
	return sum;
}

/* How long each string may be: all of it if all fit, else its part of what there is. */
static size_t text_limit(const struct symbol *symbols, int count)
{
	if (text_size(symbols, count) <= NAME_TEXT_SIZE)
		return NAME_TEXT_SIZE - 1;
	return NAME_TEXT_SIZE / (3 * (size_t)count) - 1;
}

static struct wire_symbol wire_of(const struct symbol *s, struct text_room *room)
{
	return (struct wire_symbol){
		.start = s->start,
		.size = s->size,
		.offset = s->offset,
		.name = add_text(room, s->name),
		.mangled = s->mangled == s->name ? 0 : add_text(room, s->mangled),
		.src_file = add_text(room, s->src_file),
		.line = s->line,
		.guessed = s->guessed,
		.inlined = s->inlined,
	};
}

size_t name_reply_fill(struct name_reply *reply, const struct symbol *symbols, int count)
{
	struct text_room room = {(char *)reply + text_place(count), 0, text_limit(symbols, count)};

	for (int i = 0; i < count; i++)
		reply->symbols[i] = wire_of(&symbols[i], &room);
	reply->count = count;
	return text_place(count) + room.used;
}

bool name_reply_add(struct name_reply *reply, struct name_reply_text *text,
		    const struct symbol *symbols, int count, const struct offset_range *holds)
{
	struct text_room room = {text->bytes, text->used, NAME_TEXT_SIZE};
	struct wire_symbol *wire = reply->symbols + reply->count;

	if (reply->count + (count ? count : 1) > NAME_FRAMES ||
	    text_size(symbols, count) > NAME_TEXT_SIZE - text->used)
		return false;
	wire[0] = (struct wire_symbol){0};
	for (int i = 0; i < count; i++)
		wire[i] = wire_of(&symbols[i], &room);
	wire[count ? count - 1 : 0].is_last = true;
	wire[count ? count - 1 : 0].holds = *holds;
	reply->count += count ? count : 1;
	text->used = room.used;
	return true;
}

size_t name_reply_end(struct name_reply *reply, const struct name_reply_text *text)
{
	memcpy((char *)reply + text_place(reply->count), text->bytes, text->used);
	return text_place(reply->count) + text->used;
}

size_t name_reply_fail(struct name_reply *reply, int error)
{
	reply->count = error;
	return text_place(0);
}

size_t name_reply_say(struct name_reply *reply, const char *text)
{
	struct text_room room = {(char *)reply + text_place(0), 0, NAME_TEXT_SIZE - 1};

	reply->count = 0;
	add_text(&room, text);
	return text_place(0) + room.used;
}

static const char *text_of(const struct name_reply *reply, size_t size, int count, size_t *ret)
{
	size_t at = text_place(count);
	const char *text = (const char *)reply + at;

	if (size <= at || text[size - at - 1])
		return NULL;
	*ret = size - at;
	return text;
}

const char *name_reply_text(const struct name_reply *reply, size_t size)
{
	size_t text_size;

	return text_of(reply, size, 0, &text_size);
}

/* A string at a place in the text, which ends with a zero; NULL for none. */
static int keep_text(struct names *names, const char *text, size_t size, uint32_t place,
		     const char **ret)
{
	*ret = NULL;
	if (!place)
		return 0;
	return place > size ? -EBADMSG : names_keep(names, text + place - 1, ret);
}

static int read_symbol(const struct wire_symbol *wire, const char *text, size_t size,
		       struct names *names, struct symbol *ret)
{
	struct symbol s = {
		.start = wire->start,
		.size = wire->size,
		.offset = wire->offset,
		.line = wire->line,
		.guessed = wire->guessed == 1,
		.inlined = wire->inlined == 1,
	};
	int err;

	err = keep_text(names, text, size, wire->name, &s.name);
	err = err ? err : keep_text(names, text, size, wire->mangled, &s.mangled);
	err = err ? err : keep_text(names, text, size, wire->src_file, &s.src_file);
	s.mangled = s.mangled ? s.mangled : s.name;
	if (!err)
		*ret = s;
	return err;
}

int name_reply_symbols(const struct name_reply *reply, size_t size, struct names *names,
		       struct symbol *ret, size_t max)
{
	const char *text = NULL;
	size_t text_size = 0;
	int err = 0;

	if (size < text_place(0) || reply->wish != NAME_ANSWER)
		return -EBADMSG;
	if (reply->count <= 0)
		return !reply->count || reply->count == -ENOMEM ? reply->count : -EBADMSG;
	if (reply->count > NAME_FRAMES || (size_t)reply->count > max)
		return -EBADMSG;
	/* where nothing has a name there is no text */
	text = text_of(reply, size, reply->count, &text_size);
	if (!text && size != text_place(reply->count))
		return -EBADMSG;
	for (int i = 0; i < reply->count && !err; i++)
		err = read_symbol(&reply->symbols[i], text, text_size, names, &ret[i]);
	return err ? err : reply->count;
}
