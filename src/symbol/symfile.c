/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/symfile.h"

#include "symbol/inflate.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FRAMES 256
#define UNKNOWN_NAME "??"
#define HASH_BITS 9
#define HASH_SIZE (1 << HASH_BITS)
#define MAX_MINI_SIZE (64ull << 20)

/* Direct-mapped caches: function -> name, offset -> result. */
struct symfile_name {
	const struct interval *function;
	struct name_pair name;
};

struct symfile_result {
	uint64_t offset;
	struct symbol *symbols;
	unsigned int count;
	bool valid;
};

static unsigned int hash(uint64_t n)
{
	return (unsigned int)(n * 0x9e3779b97f4a7c15 >> (64 - HASH_BITS));
}

static int copy_string(const char *s, char **ret)
{
	char *copy = s ? strdup(s) : NULL;

	if (s && !copy)
		return -ENOMEM;
	free(*ret);
	*ret = copy;
	return 0;
}

int symfile_set_paths(struct symfile *f, const struct symbol_file *file)
{
	int err = 0;

	if (f->state == SYMFILE_OPEN || f->image)
		return 0;
	err = copy_string(file->path, &f->path);
	err = err ? err : copy_string(file->open_path, &f->open_path);
	f->state = SYMFILE_SHUT;
	return err;
}

int symfile_new(const struct symbol_file *file, struct symfile **ret)
{
	struct symfile *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	if (file->build_id_len)
		memcpy(f->build_id, file->build_id, file->build_id_len);
	f->build_id_len = file->build_id_len;
	if (symfile_set_paths(f, file)) {
		symfile_free(f);
		return -ENOMEM;
	}
	*ret = f;
	return 0;
}

void symfile_free(struct symfile *f)
{
	if (!f)
		return;
	symfile_shut(f);
	free(f->path);
	free(f->open_path);
	free(f->image);
	free(f);
}

static bool has_symtab(const struct object *o)
{
	return o && object_section_of_type(o, SHT_SYMTAB);
}

static bool has_dwarf(const struct object *o)
{
	const struct object_section *s = object_section(o, ".debug_info");

	if (!s)
		s = object_section(o, ".zdebug_info");
	return s && s->type != SHT_NOBITS;
}

static int open_image(struct symfile *f)
{
	uint8_t *copy = malloc(f->image_size);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, f->image, f->image_size);
	return object_open_image(copy, f->image_size, &f->main);
}

/* Leaves what cannot be found NULL. */
static int open_objects(struct symfile *f, struct symfile_context *c)
{
	struct debug_query query = {
		.path = f->path,
		.open_path = f->open_path,
		.build_id = f->build_id,
		.build_id_len = f->build_id_len,
	};
	bool wants_dwarf = c->wish.inlines || c->wish.lines;
	int err = f->image ? open_image(f) : debugfile_open_main(&c->paths, &query, &f->main);

	f->mismatched = err == -ESTALE;
	if (err == -ENOMEM)
		return err;
	if (f->main && has_symtab(f->main) && (!wants_dwarf || has_dwarf(f->main)))
		return 0;
	err = debugfile_open_debug(&c->paths, &query, f->main, &f->debug);
	return err == -ENOMEM ? err : 0;
}

/* .gnu_debugdata: an ELF file with the symbols that .dynsym lacks. */
static int open_mini(struct symfile *f, const struct symfile_context *c)
{
	const struct object_section *s = f->main ? object_section(f->main, ".gnu_debugdata") : NULL;
	uint64_t limit = c->limit < MAX_MINI_SIZE ? c->limit : MAX_MINI_SIZE, packed_size;
	uint8_t *packed, *data;
	size_t size;
	int err;

	if (!s || object_load(f->main, s, limit, &packed, &packed_size))
		return 0;
	err = inflate_xz(packed, packed_size, limit, &data, &size);
	free(packed);
	err = err ? err : object_open_image(data, size, &f->mini);
	return err == -ENOMEM ? err : 0;
}

static int add_table(struct symtab *t, const struct object *o, uint32_t type)
{
	return o ? symtab_add(t, o, object_section_of_type(o, type)) : 0;
}

static int read_symbols(struct symfile *f, const struct symfile_context *c)
{
	const struct object *o = f->main ? f->main : f->debug;
	int err;

	symtab_init(&f->symtab);
	if (has_symtab(f->main) || has_symtab(f->debug)) {
		err = add_table(&f->symtab, has_symtab(f->main) ? f->main : f->debug, SHT_SYMTAB);
	} else {
		err = open_mini(f, c);
		err = err ? err : add_table(&f->symtab, f->mini, SHT_SYMTAB);
		err = err ? err : add_table(&f->symtab, f->main, SHT_DYNSYM);
	}
	err = err ? err : symtab_finish(&f->symtab, o);
	return err || !f->main ? err : symtab_add_plt(&f->symtab, f->main);
}

static int symfile_open(struct symfile *f, struct symfile_context *c)
{
	int err;

	if (f->state != SYMFILE_SHUT)
		return 0;
	err = open_objects(f, c);
	if (!err && (f->main || f->debug))
		err = read_symbols(f, c);
	if (err) {
		symfile_shut(f);
		return err;
	}
	f->state = f->main || f->debug ? SYMFILE_OPEN : SYMFILE_MISSING;
	return 0;
}

/* DWARF that cannot be used, for whatever reason, is the same as none. */
static void open_debuginfo(struct symfile *f, struct symfile_context *c)
{
	const struct object *o = f->main && has_dwarf(f->main) ? f->main : f->debug;

	if (f->debuginfo_tried || (!c->wish.inlines && !c->wish.lines))
		return;
	f->debuginfo_tried = true;
	if (o)
		debuginfo_open(o, &c->paths, &c->names, c->limit, &f->debuginfo);
}

static int function_name(struct symfile *f, struct symfile_context *c,
			 const struct interval *function, struct name_pair *ret)
{
	char name[NAME_MAX_SIZE];
	struct symfile_name *e;
	int err;

	if (!f->names)
		f->names = calloc(HASH_SIZE, sizeof(*f->names));
	if (!f->names)
		return -ENOMEM;
	e = &f->names[hash(function->start)];
	if (e->function != function) {
		if (symtab_name(&f->symtab, function, name, sizeof(name)) <= 0)
			return 0;
		err = symbol_pool_symbol(&c->names, name, &e->name);
		if (err)
			return err;
		e->function = function;
	}
	*ret = e->name;
	return 0;
}

static struct symbol symbol_of(const struct debug_frame *frame, const struct interval *function,
			       uint64_t address)
{
	struct symbol s = {
		.name = frame->name.name ? frame->name.name : UNKNOWN_NAME,
		.mangled = frame->name.mangled ? frame->name.mangled : UNKNOWN_NAME,
		.src_file = frame->file,
		.line = frame->line,
		.inlined = frame->inlined,
	};

	if (function) {
		s.start = function->start;
		s.size = function->size;
		s.offset = address - function->start;
	}
	return s;
}

/*
 * Inlined functions by DWARF, the one around them by the symbol table, which
 * tells clones and cold parts apart.
 */
static int resolve_address(struct symfile *f, struct symfile_context *c, uint64_t address,
			   struct symbol *ret)
{
	const struct interval *function = symtab_find(&f->symtab, address);
	struct debug_frame frames[MAX_FRAMES];
	int n = 0, err = 0;

	open_debuginfo(f, c);
	if (f->debuginfo)
		n = debuginfo_frames(f->debuginfo, address, &c->wish, frames, MAX_FRAMES);
	if (n < 0)
		return n;
	if (!n && function)
		frames[n++] = (struct debug_frame){0};
	if (function && !frames[n - 1].inlined)
		err = function_name(f, c, function, &frames[n - 1].name);
	if (err)
		return err;
	/* Padding between functions may have a line. */
	if (n == 1 && !frames[0].name.name)
		return 0;
	for (int i = 0; i < n; i++)
		ret[i] = symbol_of(&frames[i], function, address);
	return n;
}

static int resolve_offset(struct symfile *f, struct symfile_context *c, uint64_t offset,
			  struct symbol *ret)
{
	uint64_t address;
	int err = symfile_open(f, c);

	if (err || f->state != SYMFILE_OPEN)
		return err;
	if (f->main ? object_address(f->main, offset, &address)
		    : object_debug_address(f->debug, offset, &address))
		return 0;
	return resolve_address(f, c, address, ret);
}

static struct symfile_result *cached(struct symfile *f, uint64_t offset)
{
	if (!f->results)
		f->results = calloc(HASH_SIZE, sizeof(*f->results));
	return f->results ? &f->results[hash(offset)] : NULL;
}

/* Without memory the result is just not kept. */
static void keep(struct symfile_result *r, uint64_t offset, const struct symbol *symbols, int n)
{
	struct symbol *copy = malloc((size_t)n * sizeof(*copy) + 1);

	if (!copy)
		return;
	memcpy(copy, symbols, (size_t)n * sizeof(*copy));
	free(r->symbols);
	*r = (struct symfile_result){
		.offset = offset,
		.symbols = copy,
		.count = (unsigned int)n,
		.valid = true,
	};
}

int symfile_resolve(struct symfile *f, struct symfile_context *c, uint64_t offset,
		    struct symbol *ret, size_t max)
{
	struct symfile_result *r = f->state == SYMFILE_OPEN ? cached(f, offset) : NULL;
	struct symbol symbols[MAX_FRAMES];
	int n;

	if (r && r->valid && r->offset == offset) {
		n = (int)(r->count < max ? r->count : max);
		memcpy(ret, r->symbols, (size_t)n * sizeof(*ret));
		return n;
	}
	n = resolve_offset(f, c, offset, symbols);
	if (n < 0)
		return n;
	if (r)
		keep(r, offset, symbols, n);
	n = (int)((size_t)n < max ? (size_t)n : max);
	memcpy(ret, symbols, (size_t)n * sizeof(*ret));
	return n;
}

static size_t results_memory(const struct symfile *f)
{
	size_t sum = f->names ? HASH_SIZE * sizeof(*f->names) : 0;

	if (!f->results)
		return sum;
	/* As if each held two symbols: exact counts are not worth a pass. */
	return sum + HASH_SIZE * (sizeof(*f->results) + 2 * sizeof(struct symbol));
}

size_t symfile_measure(struct symfile *f)
{
	size_t sum = sizeof(*f) + f->image_size + interval_map_memory(&f->symtab.map) +
		     results_memory(f);

	sum += f->main ? object_memory(f->main) : 0;
	sum += f->debug ? object_memory(f->debug) : 0;
	sum += f->mini ? object_memory(f->mini) : 0;
	sum += f->debuginfo ? debuginfo_memory(f->debuginfo) : 0;
	f->memory = sum;
	return sum;
}

void symfile_trim(struct symfile *f)
{
	if (f->debuginfo)
		debuginfo_trim(f->debuginfo);
}

void symfile_shut(struct symfile *f)
{
	for (size_t i = 0; f->results && i < HASH_SIZE; i++)
		free(f->results[i].symbols);
	free(f->results);
	free(f->names);
	f->results = NULL;
	f->names = NULL;
	debuginfo_close(f->debuginfo);
	f->debuginfo = NULL;
	f->debuginfo_tried = false;
	symtab_fini(&f->symtab);
	object_close(f->mini);
	object_close(f->debug);
	object_close(f->main);
	f->mini = f->debug = f->main = NULL;
	f->state = SYMFILE_SHUT;
}
