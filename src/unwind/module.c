/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/eh_return.h"
#include "core/root_code.h"
#include "sidefile/sidefile_path.h"
#include "target/backing_file.h"
#include "unwind/frame_step.h"
#include "unwind/known_code.h"

/* e_entry's first instructions clear the frame pointer and call into C. */
#define ENTRY_SIZE 64

/* A malformed section gives up all. */
static void drop_sframe(struct module *m, struct bobbin_error error)
{
	m->sframe_error = error;
	indexed_sections_fini(&m->sframe);
}

static int open_sframe(struct module *m)
{
	const struct elf_bytes *s = &m->image.sframe;
	struct bobbin_error error;
	int r = indexed_sections_open(s->data, s->size, s->addr, m->image.arch, &error, &m->sframe);

	if (r != -EBADMSG)
		return r;
	drop_sframe(m, error);
	return 0;
}

/* One of another version, or malformed, is none. */
static void open_go(struct module *m)
{
	const struct elf_bytes *s = &m->image.gopclntab;

	if (s->data)
		pclntab_init(s->data, s->size, m->image.arch, NULL, &m->go);
}

static int open_tables(struct module *m, const struct bobbin_unwinder_options *options)
{
	int r = options->ignore_sframe ? 0 : open_sframe(m);

	open_go(m);
	return r ? r : call_frames_init(&m->image, &m->frames);
}

static int open_image(struct module *m, struct process_reader *reader,
		      const struct mapped_file *file, const struct bobbin_unwinder_options *options,
		      uint64_t room)
{
	size_t size;
	const void *vdso;

	if (file->kind == FILE_VDSO) {
		vdso = own_vdso(&size);
		if (!vdso)
			return -ENOENT;
		return elf_image_init_memory(vdso, size, NULL, &m->image);
	}
	m->fd = backing_file_open(reader, file, options->debug_path);
	if (m->fd < 0)
		return m->fd;
	return elf_image_init_within(m->fd, room, NULL, &m->image);
}

/* Old linkers gave libraries an entry, too: the start of their code. */
static bool is_started(const struct module *m)
{
	const struct elf_image *image = &m->image;
	uint8_t code[ROOT_CODE_SIZE];
	uint64_t offset;

	return image->program ||
	       (elf_image_offset(image, image->entry, &offset) &&
		module_code(m, offset, code, sizeof(code)) && root_code_entry(image->arch, code));
}

static void note_code(struct module *m)
{
	if (!is_started(m))
		m->image.entry = 0;
	m->eh_returns = eh_return_possible(m->image.eh_frame.data, m->image.eh_frame.size);
}

int module_open(struct process_reader *reader, const struct mapped_file *file,
		const struct bobbin_unwinder_options *options, uint64_t room, struct module **ret)
{
	struct module *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->fd = -1;
	m->sframe_path = options->sframe_path;
	r = open_image(m, reader, file, options, room);
	if (!r)
		r = open_tables(m, options);
	if (!r)
		note_code(m);
	/* another kernel's vDSO in an old recording */
	if (!r && file->kind == FILE_VDSO && file->build_id_len &&
	    memcmp(file->build_id, m->image.build_id, sizeof(file->build_id)))
		r = -ESTALE;
	if (r)
		module_close(m);
	else
		*ret = m;
	return r;
}

void module_close(struct module *module)
{
	if (!module)
		return;
	sidefile_close(module->sidefile);
	indexed_sections_fini(&module->sframe);
	call_frames_fini(&module->frames);
	elf_image_fini(&module->image);
	if (module->fd >= 0)
		close(module->fd);
	free(module);
}

/* false: it is not in a Go function, or there is no table. */
static bool ask_go(const struct module *m, uint64_t vaddr, struct bobbin_row *row)
{
	struct bobbin_error error;
	int r;

	if (!m->go.data)
		return false;
	r = pclntab_lookup(&m->go, m->image.arch, vaddr, &error, row);
	if (r == -EBADMSG)
		row->rule = bobbin_rule_none(error.reason);
	return !r || r == -EBADMSG;
}

/* false: .sframe does not know the address (any more). */
static bool ask_or_drop_sframe(struct module *m, uint64_t vaddr, struct bobbin_row *row)
{
	struct bobbin_error error;
	int r = indexed_sections_lookup(&m->sframe, vaddr, &error, row);

	if (r == -EBADMSG)
		drop_sframe(m, error);
	return !r;
}

/* Once, for the first address that the own tables do not know. */
void module_open_sidefile(struct module *m)
{
	const struct elf_image *image = &m->image;
	const struct sidefile_head *head;
	int fd;

	if (!m->sframe_path)
		return;
	fd = sidefile_find(m->sframe_path, image->build_id, image->build_id_len);
	m->sframe_path = NULL;
	if (fd < 0)
		return;
	if (sidefile_open(fd, NULL, &m->sidefile)) {
		close(fd);
		return;
	}
	head = sidefile_head(m->sidefile);
	if (head->arch == image->arch && head->build_id_len == image->build_id_len &&
	    !memcmp(head->build_id, image->build_id, image->build_id_len))
		return;
	sidefile_close(m->sidefile);
	m->sidefile = NULL;
}

static bool ask_sidefile(struct module *m, uint64_t vaddr, struct bobbin_row *row)
{
	int r;

	module_open_sidefile(m);
	if (!m->sidefile)
		return false;
	r = sidefile_lookup(m->sidefile, vaddr, NULL, row);
	if (r && r != -ENOENT) {
		sidefile_close(m->sidefile);
		m->sidefile = NULL;
	}
	return !r;
}

static bool has_tables(const struct module *m)
{
	return m->go.data || m->sidefile || m->sframe.count || call_frames_exist(&m->frames);
}

static struct bobbin_row no_row(uint64_t vaddr)
{
	return (struct bobbin_row){.start = vaddr, .end = vaddr + 1, .function = vaddr};
}

bool module_is_entry(const struct module *module, uint64_t vaddr)
{
	uint64_t entry = module->image.entry;

	return entry && vaddr >= entry && vaddr - entry < ENTRY_SIZE;
}

/*
 * The first function of a program has no caller, whatever its table says: compilers do
 * not know that it is the first.
 */
static void check_entry(const struct module *m, struct bobbin_row *row, enum bobbin_source *source)
{
	if (!m->image.entry || row->function != m->image.entry ||
	    row->rule.ra.how == BOBBIN_HOW_UNDEFINED)
		return;
	*source = BOBBIN_SOURCE_ENTRY;
	row->rule = outermost_rule(m->image.arch);
}

/* No table knows the address. */
static void answer_without(const struct module *m, uint64_t vaddr, struct bobbin_row *row,
			   enum bobbin_source *source)
{
	if (module_is_entry(m, vaddr)) {
		*source = BOBBIN_SOURCE_ENTRY;
		row->rule = outermost_rule(m->image.arch);
		return;
	}
	*source = BOBBIN_SOURCE_NONE;
	row->rule = bobbin_rule_none(has_tables(m) ? BOBBIN_REASON_NO_FUNCTION
						   : BOBBIN_REASON_NO_TABLE);
}

void module_lookup(struct module *module, uint64_t vaddr, struct bobbin_row *row,
		   enum bobbin_source *source)
{
	*row = no_row(vaddr);
	*source = BOBBIN_SOURCE_GO;
	if (ask_go(module, vaddr, row))
		return;
	*source = BOBBIN_SOURCE_SFRAME;
	if (!ask_or_drop_sframe(module, vaddr, row) &&
	    !call_frames_ask(&module->frames, vaddr, row, source)) {
		*source = BOBBIN_SOURCE_SIDEFILE;
		if (!ask_sidefile(module, vaddr, row)) {
			answer_without(module, vaddr, row, source);
			return;
		}
	}
	check_entry(module, row, source);
}

int module_ask(const struct module *module, bool use_sframe, uint64_t vaddr,
	       struct bobbin_error *err, struct bobbin_row *row, enum bobbin_source *source)
{
	int r = -ENOENT;

	*row = no_row(vaddr);
	*source = BOBBIN_SOURCE_GO;
	if (ask_go(module, vaddr, row))
		return 0;
	*source = BOBBIN_SOURCE_SFRAME;
	if (use_sframe)
		r = indexed_sections_lookup(&module->sframe, vaddr, err, row);
	if (r && !call_frames_ask(&module->frames, vaddr, row, source))
		answer_without(module, vaddr, row, source);
	else
		check_entry(module, row, source);
	return r == -EBADMSG ? r : 0;
}

bool module_follow(const struct module *module, const struct bobbin_arch *arch, uint64_t vaddr,
		   struct bobbin_rule *ret)
{
	struct call_frames frames = module->frames;
	enum bobbin_source source;
	struct bobbin_row row;

	for (unsigned int i = 0; i < CALL_FRAMES_SECTIONS; i++)
		frames.views[i].arch = arch;
	if (!call_frames_ask(&frames, vaddr, &row, &source))
		return false;
	*ret = row.rule;
	return true;
}

bool module_function(struct module *module, uint64_t vaddr, uint64_t *ret)
{
	struct bobbin_row row = {.function = vaddr};
	enum bobbin_source source;
	uint64_t end;

	if (module->go.data && !pclntab_function(&module->go, vaddr, NULL, ret, &end))
		return true;
	if (!call_frames_ask(&module->frames, vaddr, &row, &source) &&
	    !ask_or_drop_sframe(module, vaddr, &row) && !ask_sidefile(module, vaddr, &row))
		return false;
	*ret = row.function;
	return true;
}

bool module_code(const struct module *module, uint64_t offset, void *dst, size_t size)
{
	return module->fd >= 0 && pread(module->fd, dst, size, (off_t)offset) == (ssize_t)size;
}

/* File offsets for addresses. */
static bool read_code(void *ctx, uint64_t offset, void *dst, size_t size)
{
	return module_code(ctx, offset, dst, size);
}

void module_look_at_code(struct module *module, uint64_t offset, bool row_ends,
			 struct bobbin_rule *rule, enum bobbin_source *source)
{
	const struct code_reader code = {read_code, module};
	const struct bobbin_arch *arch = module->image.arch;

	if (*source == BOBBIN_SOURCE_NONE) {
		known_code_rule(arch, &code, offset, rule, source);
	} else if (row_ends && known_code_root(arch, &code, offset + 1)) {
		*source = BOBBIN_SOURCE_ENTRY;
		*rule = outermost_rule(arch);
	} else if (module->eh_returns && known_code_eh_return(arch, &code, offset)) {
		*rule = bobbin_rule_none(BOBBIN_REASON_EH_RETURN);
	}
}

bool module_after_syscall(struct module *module, uint64_t offset)
{
	const struct code_reader code = {read_code, module};

	return known_code_syscall(module->image.arch, &code, offset);
}
