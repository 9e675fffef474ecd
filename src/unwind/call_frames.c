/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/call_frames.h"

#include <errno.h>

#include "cfi/cfi_step.h"

static struct bobbin_cfi_view view_of(const struct bobbin_arch *arch, const struct elf_bytes *frame)
{
	return (struct bobbin_cfi_view){
		.arch = arch,
		.frame = frame->data,
		.frame_size = frame->size,
		.frame_addr = frame->addr,
	};
}

static int list_fdes(const struct bobbin_cfi_view *views, struct fde_list *ret)
{
	/* one that is absent has nothing to list */
	return fde_list_init(views, CALL_FRAMES_SECTIONS, ret);
}

static void open_views(struct call_frames *f)
{
	const struct bobbin_cfi_view *eh = &f->views[CALL_FRAMES_EH];

	if (!call_frames_exist(f))
		return;
	bobbin_cfi_view_init(&f->views[CALL_FRAMES_EH], NULL);
	f->unlisted = f->views[CALL_FRAMES_DEBUG].frame || !eh->table_count;
}

static void view_image(const struct elf_image *image,
		       struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS])
{
	struct bobbin_cfi_view *eh = &views[CALL_FRAMES_EH], *debug = &views[CALL_FRAMES_DEBUG];

	*eh = view_of(image->arch, &image->eh_frame);
	eh->hdr = image->eh_frame_hdr.data;
	eh->hdr_size = image->eh_frame_hdr.size;
	eh->hdr_addr = image->eh_frame_hdr.addr;
	*debug = view_of(image->arch, &image->debug_frame);
	debug->debug_frame = true;
	eh->code = debug->code = image->code.ranges;
	eh->code_count = debug->code_count = image->code.count;
}

/* If the file is no longer readable, there is no call-frame information.  0 or -ENOMEM. */
static int read_again(struct call_frames *f)
{
	int r;

	if (!f->rests)
		return 0;
	r = elf_image_init_within(f->file, CALL_FRAMES_READ_AGAIN, NULL, &f->again);
	if (r == -ENOMEM)
		return r;
	f->rests = false;
	f->read_again = !r;
	if (r)
		return 0;
	view_image(&f->again, f->views);
	open_views(f);
	return 0;
}

int call_frames_list(struct call_frames *frames)
{
	int r = read_again(frames);

	if (r)
		return r;
	/* walks of the own process, which may run at the same time, change nothing */
	if (!frames->unlisted)
		return 0;
	r = list_fdes(frames->views, &frames->list);
	if (r)
		return r;
	frames->listed = true;
	frames->unlisted = false;
	return 0;
}

int call_frames_init(const struct elf_image *image, struct call_frames *ret)
{
	call_frames_init_later(image, ret);
	return call_frames_list(ret);
}

void call_frames_init_later(const struct elf_image *image, struct call_frames *ret)
{
	view_image(image, ret->views);
	open_views(ret);
}

unsigned int call_frames_views(const struct elf_image *image,
			       struct bobbin_cfi_view ret[CALL_FRAMES_SECTIONS])
{
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];
	unsigned int count = 0;

	view_image(image, views);
	for (unsigned int i = 0; i < CALL_FRAMES_SECTIONS; i++) {
		if (!views[i].frame)
			continue;
		ret[count] = views[i];
		/* without a sane header FDEs are found by scanning */
		bobbin_cfi_view_init(&ret[count++], NULL);
	}
	return count;
}

int call_frames_init_bare(const struct bobbin_arch *arch, const struct elf_bytes *frame,
			  struct call_frames *ret)
{
	static const struct elf_bytes absent;

	ret->views[CALL_FRAMES_EH] = view_of(arch, frame);
	ret->views[CALL_FRAMES_DEBUG] = view_of(arch, &absent);
	open_views(ret);
	return call_frames_list(ret);
}

void call_frames_rest(struct call_frames *frames, int fd)
{
	call_frames_fini(frames);
	frames->rests = true;
	frames->file = fd;
}

uint64_t call_frames_held(const struct call_frames *frames)
{
	return frames->list.count * sizeof(*frames->list.fdes) +
	       (frames->read_again ? elf_image_copied(&frames->again) : 0);
}

void call_frames_fini(struct call_frames *frames)
{
	fde_list_fini(&frames->list);
	if (frames->read_again)
		elf_image_fini(&frames->again);
	*frames = (struct call_frames){0};
}

bool call_frames_exist(const struct call_frames *frames)
{
	return frames->views[CALL_FRAMES_EH].frame || frames->views[CALL_FRAMES_DEBUG].frame;
}

/*
 * The row for an address, which @rows has come to.  @source: which section covers it.  0;
 * -ENOENT: none; -EBADMSG and @err: its FDE is malformed.
 */
static int find_row(const struct call_frames *f, uint64_t vaddr, struct bobbin_error *err,
		    struct bobbin_cfi_rows *rows, struct bobbin_row *row,
		    enum bobbin_source *source)
{
	const struct listed_fde *listed;
	int r;

	*source = BOBBIN_SOURCE_EH_FRAME;
	if (!f->listed)
		return bobbin_cfi_lookup(&f->views[CALL_FRAMES_EH], vaddr, rows, err, row);
	listed = fde_list_find(&f->list, vaddr);
	if (!listed)
		return -ENOENT;
	if (f->views[listed->view].debug_frame)
		*source = BOBBIN_SOURCE_DEBUG_FRAME;
	rows->view = NULL;
	r = listed_fde_start(f->views, listed, err, rows);
	return r ? r : bobbin_cfi_rows_find(rows, vaddr, err, row);
}

static int lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
		  struct bobbin_error *err, struct table_answer *ret)
{
	struct bobbin_cfi_rows rows;
	int r = call_frames_list(table);

	return r ? r : find_row(table, pc, err, &rows, &ret->row, &ret->source);
}

static enum bobbin_reason step_by_row(void *table, uint64_t pc, const struct bobbin_mem *mem,
				      struct table_step *step)
{
	struct call_frames frames;
	enum bobbin_source source;
	struct bobbin_cfi_rows rows;
	struct bobbin_error error;
	struct bobbin_row row;
	int r;

	if (call_frames_list(table))
		return BOBBIN_REASON_NO_TABLE;
	frames = *(const struct call_frames *)table;
	for (unsigned int i = 0; i < CALL_FRAMES_SECTIONS; i++)
		frames.views[i].arch = step->arch;
	r = find_row(&frames, pc, &error, &rows, &row, &source);
	if (r)
		return r == -EBADMSG ? error.reason : BOBBIN_REASON_NO_TABLE;
	return cfi_step(&rows, pc, mem, step);
}

static int give_functions(const struct fde_list *list, enum call_frames_section section,
			  function_sink sink, void *ctx)
{
	int r = 0;

	for (size_t i = 0; i < list->count && !r; i++)
		if (list->fdes[i].view == section)
			r = sink(ctx, list->fdes[i].start, list->fdes[i].end);
	return r;
}

/* Those of one section, without entries that linkers have dropped, ascending. */
static int functions(void *table, const struct bobbin_arch *arch, enum bobbin_source source,
		     function_sink sink, void *ctx)
{
	const enum call_frames_section section = source == BOBBIN_SOURCE_EH_FRAME
							 ? CALL_FRAMES_EH
							 : CALL_FRAMES_DEBUG;
	struct call_frames *frames = table;
	struct fde_list list;
	int r = read_again(frames);

	if (r)
		return r;
	if (frames->listed || !call_frames_exist(frames))
		return give_functions(&frames->list, section, sink, ctx);
	r = list_fdes(frames->views, &list);
	if (r)
		return r;
	r = give_functions(&list, section, sink, ctx);
	fde_list_fini(&list);
	return r;
}

const struct table_ops call_frames_ops = {
	.kind = TABLE_CALL_FRAMES,
	.sources = {BOBBIN_SOURCE_EH_FRAME, BOBBIN_SOURCE_DEBUG_FRAME},
	.whole = true,
	.lookup = lookup,
	.functions = functions,
	.step = step_by_row,
};
