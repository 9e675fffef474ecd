/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "frame_set.h"

#include <bobbin/step.h>
#include <string.h>

#include "../accuracy/sample_set.h"
#include "../promise.h"
#include "base/vector.h"
#include "convert/converter.h"
#include "sframe/layout.h"
#include "unwind/module.h"
#include "unwind/space.h"

#define MAX_FILES 1024
#define MAX_DEPTH 1000

/* By number; they are referred to. */
static struct frame_file files[MAX_FILES];

/* What stands before the rows is shorter in V1: its functions have no field for blocks. */
static void make_first_version(struct frame_file *file)
{
	const uint8_t *from = file->data[2];
	struct bobbin_sframe_view v;
	uint8_t *to = malloc(file->size[2]), *p;
	uint32_t fre_off;

	promise(to && !bobbin_sframe_view(from, file->size[2], 0, NULL, &v));
	promise(!(v.flags & BOBBIN_SFRAME_PCREL));
	memcpy(to, from, v.fde_off);
	p = to + v.fde_off;
	for (uint32_t i = 0; i < v.num_fdes; i++, p += SFRAME_V1_FDE_SIZE)
		memcpy(p, from + v.fde_off + i * (uint64_t)v.fde_size, SFRAME_V1_FDE_SIZE);
	memcpy(p, from + v.fre_off, v.fre_len);
	to[SFRAME_AT_VERSION] = 1;
	fre_off = SFRAME_V1_FDE_SIZE * v.num_fdes;
	memcpy(to + SFRAME_AT_FRE_OFF, &fre_off, sizeof(fre_off));
	file->data[1] = to;
	file->size[1] = (uint64_t)(p - to) + v.fre_len;
}

static void make_sections(const struct module *module, struct frame_file *file)
{
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];
	unsigned int count = call_frames_views(&module->image, views);
	struct convert_stats stats;

	if (!count)
		return;
	for (unsigned int version = 2; version <= FRAME_VERSIONS; version++) {
		const struct convert_options options = {.version = version};

		promise(!convert_cfi(views, count, &options, &stats, &file->data[version],
				     &file->size[version]));
	}
	make_first_version(file);
}

/* The file of a frame and where it is; NULL: no section could have a rule. */
static const struct frame_file *file_at(struct bobbin_unwinder *unwinder,
					struct bobbin_space *space, uint64_t pc, uint64_t *bias)
{
	const struct mapping *m = space_find(space, pc);
	const struct module *module = m ? unwinder_file_module(unwinder, m->file) : NULL;
	struct frame_file *file;
	uint64_t vaddr;

	if (!module || !elf_image_vaddr(&module->image, pc - m->start + m->offset, &vaddr))
		return NULL;
	promise(m->file->number < MAX_FILES);
	file = &files[m->file->number];
	if (!file->known)
		make_sections(module, file);
	file->known = true;
	*bias = pc - vaddr;
	return file->data[FRAME_VERSIONS] ? file : NULL;
}

/* To the caller, by the newest version. */
static bool follow(const struct recorded_frame *frame, struct bobbin_regs *regs)
{
	const struct bobbin_mem mem = {bobbin_stack_copy_read, (void *)frame->stack};
	struct bobbin_sframe_view view;
	struct bobbin_row row;

	promise(!bobbin_sframe_view(frame->file->data[FRAME_VERSIONS],
				    frame->file->size[FRAME_VERSIONS], frame->bias, NULL, &view));
	return !bobbin_sframe_lookup(&view, bobbin_regs_lookup_pc(regs), NULL, &row) &&
	       !bobbin_step(view.arch, &row.rule, &mem, regs);
}

void frame_set_load(char **paths, int count, struct frame_set *ret)
{
	struct recorded_frame *frames = NULL;
	struct bobbin_unwinder *unwinder;
	size_t capacity = 0;

	*ret = (struct frame_set){0};
	promise(!bobbin_unwinder_open(NULL, &unwinder));
	for (int i = 0; i < count; i++) {
		struct sample_set samples;

		promise(!sample_set_load(paths[i], unwinder, NULL, &samples));
		for (size_t at = 0; at < samples.count; at++) {
			const struct set_sample *s = &samples.samples[at];
			struct recorded_frame f = {.regs = s->regs, .stack = &s->stack};
			struct bobbin_space *space = samples.layouts[s->layout].space;

			for (unsigned int depth = 0; depth < MAX_DEPTH; depth++) {
				f.file = file_at(unwinder, space, bobbin_regs_lookup_pc(&f.regs),
						 &f.bias);
				if (!f.file)
					break;
				promise(!vector_reserve(&frames, &capacity, ret->count + 1,
							sizeof(f)));
				frames[ret->count++] = f;
				if (!follow(&f, &f.regs))
					break;
			}
		}
	}
	ret->frames = frames;
}
