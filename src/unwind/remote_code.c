/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/remote_code.h"

#include <stdlib.h>

#include "core/bisect.h"

size_t remote_code_after(const struct remote_code *code, uint64_t addr)
{
	/* mostly none is near */
	if (!code->count || addr >= code->ranges[code->count - 1].end)
		return code->count;
	if (addr < code->ranges[0].end)
		return 0;
	return bisect(i, 0, code->count, code->ranges[i].end > addr);
}

const struct remote_range *remote_code_find(const struct remote_code *code, uint64_t addr)
{
	size_t i;

	if (!code)
		return NULL;
	i = remote_code_after(code, addr);
	return i < code->count && addr >= code->ranges[i].start ? &code->ranges[i] : NULL;
}

struct hotspot_code *remote_code_machine(const struct remote_code *code, uint64_t addr)
{
	const struct remote_range *range = remote_code_find(code, addr);

	return range && range->table ? range->table->hotspot : NULL;
}

struct remote_code *remote_code_share(struct remote_code *code)
{
	if (code)
		code->users++;
	return code;
}

static void close_image(struct page_image *image)
{
	if (!image)
		return;
	free(image->path);
	free(image);
}

void remote_code_release(struct remote_code *code)
{
	if (!code || --code->users)
		return;
	for (size_t i = 0; i < code->count; i++) {
		remote_table_release(code->ranges[i].table);
		close_image(code->ranges[i].image);
	}
	free(code->ranges);
	page_copy_fini(&code->published);
	debugger_images_fini(&code->images);
	remote_table_release(code->machine.table);
	if (code->room)
		code->room->used -= code->charged;
	free(code);
}
