/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/eh_return.h"
#include "core/entry_code.h"
#include "core/known_code.h"
#include "core/root_code.h"
#include "golang/stack_switch.h"
#include "target/backing_file.h"
#include "unwind/inner_file.h"

/* A malformed section is not used at all. */
static int open_sframe(struct module *m)
{
	const struct elf_bytes *s = &m->image.sframe;
	struct bobbin_error error;
	int r = indexed_sections_open(s->data, s->size, s->addr, m->image.arch, &error, &m->sframe);

	if (r == -EBADMSG)
		table_set_drop(&m->tables, &error);
	else if (!r && m->sframe.count)
		table_set_add(&m->tables, &indexed_sections_ops, &m->sframe);
	return r == -EBADMSG ? 0 : r;
}

static int go_lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
		     struct bobbin_error *err, struct table_answer *ret)
{
	return pclntab_lookup(table, arch, pc, err, &ret->row);
}

static bool go_function(const void *table, uint64_t pc, uint64_t *ret)
{
	uint64_t end;

	return !pclntab_function(table, pc, NULL, ret, &end);
}

static int go_functions(void *table, const struct bobbin_arch *arch, enum bobbin_source source,
			function_sink sink, void *ctx)
{
	const struct pclntab *t = table;
	uint64_t start, end;
	int r = 0;

	for (uint32_t i = 0; i < t->count && !r; i++)
		if (!pclntab_entry(t, i, &start, &end))
			r = sink(ctx, start, end);
	return r;
}

static const struct table_ops go_ops = {
	.kind = TABLE_GO,
	.sources = {BOBBIN_SOURCE_GO},
	.whole = true,
	.lookup = go_lookup,
	.function = go_function,
	.functions = go_functions,
};

uint64_t module_go_code(const struct module *module, const char *name, void *dst, size_t size)
{
	const uint64_t start = pclntab_named(&module->go, name);
	uint64_t offset;

	return start && elf_image_offset(&module->image, start, &offset) &&
			       module_code(module, offset, dst, size)
		       ? start
		       : 0;
}

/* Which of the calls of asmcgocall() is on another stack, its table does not say. */
static void find_c_call(struct module *m)
{
	uint8_t code[STACK_SWITCH_CODE];
	const uint64_t start = module_go_code(m, "runtime.asmcgocall", code, sizeof(code));
	const uint32_t after = start ? stack_switch_call(code) : 0;

	if (after)
		pclntab_note_c_call(&m->go, start + after);
}

/* One of another version, or malformed, is none. */
static void open_go(struct module *m)
{
	const struct elf_bytes *s = &m->image.gopclntab;

	if (!s->data ||
	    pclntab_init(s->data, s->size, m->image.go_text, m->image.arch, NULL, &m->go))
		return;
	find_c_call(m);
	table_set_add(&m->tables, &go_ops, &m->go);
}

static int open_frames(struct module *m)
{
	int r = 0;

	if (m->cache && cached_cfi_find(m->cache, &m->image, &m->kept)) {
		table_set_add(&m->tables, &cached_cfi_ops, &m->kept);
		call_frames_init_later(&m->image, &m->frames);
	} else {
		r = call_frames_init(&m->image, &m->frames);
	}
	if (!r && call_frames_exist(&m->frames))
		table_set_add(&m->tables, &call_frames_ops, &m->frames);
	return r;
}

/* Side-files are unpacked while they are read, and call-frame information may be listed later. */
static int prepare_inferred(void *ctx, function_sink sink, void *sink_ctx)
{
	struct module *m = ctx;

	return call_frames_list(&m->frames) == -ENOMEM
		       ? -ENOMEM
		       : late_sidefile_functions(&m->sidefile, sink, sink_ctx);
}

/* All functions of the other tables before it. */
static int list_functions(void *ctx, function_sink sink, void *sink_ctx)
{
	const struct module *m = ctx;
	enum bobbin_source sources[TABLE_SOURCES];
	unsigned int count = table_set_sources(&m->tables, sources);
	int r = 0;

	for (unsigned int i = 0; i < count && r != -ENOMEM; i++)
		if (sources[i] != BOBBIN_SOURCE_SIDEFILE)
			r = table_set_functions(&m->tables, sources[i], sink, sink_ctx);
	return r;
}

static void open_inferred(struct module *m, const struct module_context *context)
{
	if (!context->infer || m->elf_fd < 0 || !m->image.linked ||
	    !context->infer->reads(m->image.arch))
		return;
	m->inferred = (struct inferred_rules){
		.infer = context->infer,
		.queue = context->queue,
		.made = context->made,
		.fd = m->elf_fd,
		.image = &m->image,
		.prepare = prepare_inferred,
		.list = list_functions,
		.ctx = m,
		.ignores = context->options->ignore_sframe,
		/* a copy's date is new each time */
		.cache = m->base ? NULL : m->cache,
	};
	/* names need to know where functions begin all the same */
	if (!context->options->ignore_code)
		table_set_add(&m->tables, &inferred_rules_ops, &m->inferred);
}

static int open_tables(struct module *m, const struct module_context *context)
{
	const struct bobbin_unwinder_options *options = context->options;
	int r;

	table_set_init(m->image.arch, &m->tables);
	r = options->ignore_sframe ? 0 : open_sframe(m);
	if (!r)
		r = open_frames(m);
	if (r)
		return r;
	open_go(m);
	m->sidefile = (struct late_sidefile){&m->image, options->sframe_path, NULL};
	if (options->sframe_path)
		table_set_add(&m->tables, &late_sidefile_ops, &m->sidefile);
	open_inferred(m, context);
	return 0;
}

static int open_vdso(struct module *m, const struct mapped_file *file)
{
	size_t size;
	const void *vdso = mapped_vdso(file, &size);
	int r = vdso ? elf_image_init_memory(vdso, size, NULL, &m->image) : -ENOENT;

	/* another kernel's vDSO in an old recording */
	if (!r && file->build_id_len &&
	    memcmp(file->build_id, m->image.build_id, sizeof(file->build_id)))
		r = -ESTALE;
	return r;
}

static int open_image(struct module *m, const struct module_context *context,
		      const struct mapped_file *file, uint64_t room)
{
	if (file->kind == FILE_VDSO)
		return open_vdso(m, file);
	m->fd = backing_file_open(context->reader, file, context->options->debug_path);
	if (m->fd < 0 && file->image_size)
		return elf_image_init_memory(file->image, file->image_size, NULL, &m->image);
	if (m->fd < 0)
		return m->fd;
	m->elf_fd = m->fd;
	if (fstat(m->fd, &m->opened))
		return -errno;
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

/* How far the first code reaches. */
static uint32_t entry_size(const struct module *m)
{
	uint8_t code[ENTRY_CODE_READ] = {0};
	uint64_t offset;

	if (elf_image_offset(&m->image, m->image.entry, &offset) &&
	    !module_code(m, offset, code, sizeof(code)))
		module_code(m, offset, code, ENTRY_CODE_SIZE / 2);
	return entry_code_size(m->image.arch, code);
}

static void note_code(struct module *m)
{
	m->tables.entry = is_started(m) ? m->image.entry : 0;
	m->tables.entry_size = m->tables.entry ? entry_size(m) : 0;
	m->cfi_bytes = elf_image_cfi(&m->image);
	m->tables.eh_returns = eh_return_possible(m->image.eh_frame.data, m->image.eh_frame.size);
}

static struct module *begin(const struct module_context *context, int fd)
{
	struct module *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->fd = fd;
	m->elf_fd = -1;
	m->cache = context->cache;
	return m;
}

/* @r: of its image.  A module that fails is closed. */
static int finish(struct module *m, const struct module_context *context, int r,
		  struct module **ret)
{
	if (!r)
		r = open_tables(m, context);
	if (r) {
		module_close(m);
		return r;
	}
	note_code(m);
	if (m->kept.found)
		module_rest(m);
	*ret = m;
	return 0;
}

int module_open(const struct module_context *context, const struct mapped_file *file, uint64_t room,
		struct module **ret)
{
	struct module *m = begin(context, -1);

	return m ? finish(m, context, open_image(m, context, file, room), ret) : -ENOMEM;
}

static int open_inner_image(struct module *m, uint64_t offset, uint64_t room)
{
	struct stat copy;
	int r;

	m->elf_fd = inner_file_open(m->fd, offset, room, &m->base);
	if (m->elf_fd < 0)
		return m->elf_fd;
	if (fstat(m->fd, &m->opened) || fstat(m->elf_fd, &copy))
		return -errno;
	m->copied = (uint64_t)copy.st_size;
	r = elf_image_init_within(m->elf_fd, room - m->copied, NULL, &m->image);
	if (r)
		return r;
	for (size_t i = 0; i < m->image.segment_count; i++)
		m->image.segments[i].offset += m->base;
	return 0;
}

int module_open_inner(const struct module_context *context, int container, uint64_t offset,
		      uint64_t room, struct module **ret)
{
	struct module *m = begin(context, container);

	if (m)
		return finish(m, context, open_inner_image(m, offset, room), ret);
	close(container);
	return -ENOMEM;
}

void module_leave_file(struct module *module)
{
	if (module->elf_fd >= 0 && module->elf_fd != module->fd)
		close(module->elf_fd);
	if (module->fd >= 0)
		close(module->fd);
	module->fd = module->elf_fd = -1;
}

static bool has_cfi(const struct elf_image *image)
{
	return image->eh_frame.data || image->debug_frame.data;
}

/* A table for the next time. */
static void keep_table(struct module *m)
{
	struct elf_image own = {0};
	const struct elf_image *image = has_cfi(&m->image) ? &m->image : module_sections(m, &own);

	if (image)
		cached_cfi_make(m->cache, image, &m->kept);
	elf_image_fini(&own);
}

void module_close(struct module *module)
{
	if (!module)
		return;
	if (module->cache && module->asked && !module->kept.found)
		keep_table(module);
	cached_cfi_fini(&module->kept);
	sidefile_close(module->sidefile.file);
	inferred_rules_fini(&module->inferred);
	indexed_sections_fini(&module->sframe);
	call_frames_fini(&module->frames);
	elf_image_fini(&module->image);
	module_leave_file(module);
	free(module);
}

const struct elf_image *module_sections(const struct module *module, struct elf_image *own)
{
	if (module->elf_fd < 0)
		return &module->image;
	return elf_image_init_within(module->elf_fd, CALL_FRAMES_READ_AGAIN, NULL, own) ? NULL
											: own;
}

/* The analysis of its code, in another thread, may be listing its functions. */
static bool may_rest(const struct module *m)
{
	return m->elf_fd >= 0 && !m->inferred.waits;
}

uint64_t module_held(const struct module *module)
{
	return elf_image_copied(&module->image) + call_frames_held(&module->frames) +
	       module->copied;
}

uint64_t module_rests_from(const struct module *module)
{
	if (!may_rest(module) || (module->kept.found && module->kept.count > 1))
		return 0;
	return call_frames_held(&module->frames) + elf_image_cfi(&module->image);
}

void module_rest(struct module *module)
{
	struct cached_cfi *kept = &module->kept;

	if (!may_rest(module))
		return;
	if (!module->compiling && !cached_cfi_rest(module->cache, module->image.arch, kept))
		return;
	if (kept->found && !module->compiling && !table_set_has(&module->tables, TABLE_CACHED_CFI))
		table_set_add(&module->tables, &cached_cfi_ops, kept);
	call_frames_rest(&module->frames, module->elf_fd);
	elf_image_drop_cfi(&module->image);
}

size_t module_code_part(const struct module *module, uint64_t offset, void *dst, size_t size)
{
	const ssize_t n = module->fd < 0 ? 0 : pread(module->fd, dst, size, (off_t)offset);

	return n < 0 ? 0 : (size_t)n;
}

bool module_code(const struct module *module, uint64_t offset, void *dst, size_t size)
{
	return module_code_part(module, offset, dst, size) == size;
}

/* File offsets for addresses. */
static bool read_code(void *ctx, uint64_t offset, void *dst, size_t size)
{
	return module_code(ctx, offset, dst, size);
}

bool module_rule(struct module *module, uint64_t offset, struct table_answer *ret)
{
	const struct code_reader code = {read_code, module};
	uint64_t vaddr;

	if (!elf_image_vaddr(&module->image, offset, &vaddr))
		return false;
	module->asked = true;
	table_set_rule(&module->tables, vaddr, &code, offset, ret);
	return true;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool module_is_overwritten(const struct module *module)
{
	const struct stat *then = &module->opened;
	struct stat now;

	if (module->fd < 0 || fstat(module->fd, &now))
		return false;
	if (now.st_size != then->st_size || !same_time(&now.st_mtim, &then->st_mtim))
		return true;
	/* the time of a modification can be set; a name that was removed is none */
	return !same_time(&now.st_ctim, &then->st_ctim) && now.st_nlink == then->st_nlink;
}

bool module_after_syscall(struct module *module, uint64_t offset)
{
	const struct code_reader code = {read_code, module};

	return known_code_syscall(module->image.arch, &code, offset);
}

struct gap {
	uint64_t vaddr, start, end;
};

/* A function begins here, though no table says so. */
static void split(struct gap *gap, uint64_t start)
{
	if (start <= gap->vaddr && start > gap->start)
		gap->start = start;
	if (start > gap->vaddr && start < gap->end)
		gap->end = start;
}

static int narrow(void *ctx, uint64_t start, uint64_t end)
{
	struct gap *gap = ctx;

	if (end <= gap->vaddr && end > gap->start)
		gap->start = end;
	if (start > gap->vaddr && start < gap->end)
		gap->end = start;
	return 0;
}

static struct gap segment_around(const struct module *m, uint64_t vaddr)
{
	for (size_t i = 0; i < m->image.segment_count; i++) {
		const struct elf_segment *s = &m->image.segments[i];

		if (s->exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->memsz)
			return (struct gap){vaddr, s->vaddr, s->vaddr + s->memsz};
	}
	return (struct gap){vaddr, 0, UINT64_MAX};
}

void module_gap(struct module *module, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	struct gap gap = segment_around(module, vaddr);
	enum bobbin_source sources[TABLE_SOURCES];
	unsigned int count = table_set_sources(&module->tables, sources);
	uint64_t first, last;

	for (unsigned int i = 0; i < count; i++)
		table_set_functions(&module->tables, sources[i], narrow, &gap);
	if (module->tables.entry)
		split(&gap, module->tables.entry);
	if (inferred_rules_function(&module->inferred, vaddr, &first, &last)) {
		split(&gap, first);
		narrow(&gap, last, last);
	}
	/* nothing is inferred of its end, which nobody returns to */
	*start = table_set_is_entry(&module->tables, vaddr) ? module->tables.entry : gap.start;
	*end = gap.end;
}
