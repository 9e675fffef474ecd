/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * object_code.h - the code of a relocatable file and what its call-frame
 * information says, as if it had been linked.
 *
 *	0 ──────────────► frames ─┐          ┌─ texts, 16 bytes aligned, ──►
 *	.eh_frame; .debug_frame   │   gap    │  a gap after each
 *
 * Sections of such a file have no addresses.  Here those with code get some that
 * nothing else has and that do not touch, and .eh_frame and .debug_frame are
 * relocated by them.  Whatever else they point to is at address 0, where there
 * is no code.
 */
#ifndef BOBBIN_OBJECT_CODE_H
#define BOBBIN_OBJECT_CODE_H

#include <bobbin/cfi.h>
#include <bobbin/sframe.h>

#include "base/byte_buffer.h"
#include "elf/elf_image.h"
#include "elf/sframe_file.h"

/* Call-frame information and code take fewer bytes: four reach from one to the other. */
#define OBJECT_CODE_MAX ((uint64_t)1 << 30)

/**
 * struct object_text - a section with code
 * @start, @end: addresses given to it
 * @section: index of its header
 * @place: offset of the header in the file
 * @name: of the section, "" if it has none; lives as long as the code
 * @symbol: index of a symbol that stays in this section whatever is linked; 0:
 *	there is none
 * @value: of that symbol, from the section's start
 */
struct object_text {
	uint64_t start, end, place, value;
	size_t section;
	uint32_t symbol;
	const char *name;
};

/**
 * struct object_code - what was read
 * @arch: of the file
 * @eh_frame, @debug_frame: all sections of that name, relocated; data NULL: none
 * @texts: ascending by address and by section; owned
 * @ranges: their addresses; owned
 * @text_count: their number
 * @names: of sections; owned
 */
struct object_code {
	const struct bobbin_arch *arch;
	struct byte_buffer eh_frame, debug_frame;
	struct object_text *texts;
	struct bobbin_range *ranges;
	size_t text_count;
	char *names;
};

/* Whether the file is an ELF file of this kind; false, too, if it cannot be read. */
bool object_code_is_in(int fd);

/*
 * Read the relocatable file of @fd, which stays the caller's.  -EBADMSG with
 * a reason and a file offset for what is no sound one of a known machine;
 * -EFBIG; -ENOTSUP with a reason for another kind of file; -EINVAL if @fd is no
 * regular file; -ENOMEM; the errno of reading.
 */
int object_code_init(int fd, struct bobbin_error *err, struct object_code *ret);
void object_code_fini(struct object_code *code);

/* The view of one of the two; false: the file does not have it. */
bool object_code_view(const struct object_code *code, bool debug_frame,
		      struct bobbin_cfi_view *ret);

/* The section that has code at an address, or NULL. */
const struct object_text *object_code_text(const struct object_code *code, uint64_t addr);

/* What became of the section of the file with this index, or NULL. */
const struct object_text *object_code_section(const struct object_code *code, size_t section);

/*
 * Change the start fields of a table of @section, each that a relocation says
 * something about: @place says where the function is to start.
 */
void start_placement(const struct sframe_section *section, const struct bobbin_sframe_view *view,
		     uint64_t (*place)(const void *ctx, const struct sframe_target *target),
		     const void *ctx);

/*
 * Place them where @code has their code, to be compared with it; the view becomes an
 * unsorted one.  Functions of what is no code, or of undefined symbols, start at
 * OBJECT_CODE_MAX, after all code.
 */
void start_placement_by(const struct object_code *code, const struct sframe_section *section,
			struct bobbin_sframe_view *view);

#endif
