/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/symbolizer.h"

#include "base/vector.h"
#include "symbol/debuginfod.h"
#include "symbol/demangle.h"
#include "symbol/jit_files.h"
#include "symbol/kallsyms.h"
#include "symbol/symfile.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_LIMIT ((size_t)512 << 20)
#define DEFAULT_DEBUG_PATH "/usr/lib/debug"
#define DEFAULT_KALLSYMS "/proc/kallsyms"
#define OWN_FILES "/proc/self/fd/"

/* By what a file is known; most are known by several. */
struct key {
	size_t size;
	char bytes[2 * PATH_MAX + 2];
};

struct known {
	void *key;
	size_t size;
	unsigned int file;
};

struct symbolizer {
	struct symfile_context context;
	struct remote_process process; /* whose file is read */
	struct debuginfod *debuginfod;
	char *debug_path, *kallsyms_path, *symfs;
	struct symfile **files;
	size_t file_count, file_capacity;
	struct known *known;
	size_t known_count, known_capacity;
	struct hash_index index; /* of what is known */
	size_t known_memory;
	uint64_t clock;
	size_t files_memory;
	struct symlist kernel;
	bool kernel_read;
	struct jit_files jit;
	symbolizer_damage_fn *on_damage;
	void *on_damage_ctx;
};

static int copy_option(const char *value, const char *otherwise, char **ret)
{
	const char *chosen = value ? value : otherwise;

	if (!chosen)
		return 0;
	*ret = strdup(chosen);
	return *ret ? 0 : -ENOMEM;
}

static bool demangle_text(void *ctx, const char *mangled, char *dst, size_t size)
{
	return demangle(mangled, dst, size);
}

static int open_file(void *ctx, const char *path)
{
	struct symbolizer *s = ctx;
	struct remote_process process = s->process;

	/* what is open here is so in no other process */
	if (!strncmp(path, OWN_FILES, strlen(OWN_FILES)))
		process.reader = NULL;
	return process_file_open(&process, path, 0, NULL);
}

static int fetch_file(void *ctx, const struct build_id *id)
{
	struct symbolizer *s = ctx;

	return s->debuginfod ? debuginfod_fetch(s->debuginfod, id->bytes, id->len) : -ENOENT;
}

__attribute__((noreturn)) static void on_no_memory(void)
{
	abort();
}

static int copy_options(struct symbolizer *s, const struct symbolizer_options *o)
{
	int err = copy_option(o->debug_path, DEFAULT_DEBUG_PATH, &s->debug_path);

	err = err ? err : copy_option(o->kallsyms, DEFAULT_KALLSYMS, &s->kallsyms_path);
	err = err ? err : copy_option(o->symfs, NULL, &s->symfs);
	s->context.paths = (struct search_paths){
		.debug_path = s->debug_path,
		.symfs = s->symfs,
		.opener = {open_file, fetch_file, s},
	};
	s->process.reader = o->reader;
	s->jit.reader = o->reader;
	s->context.wish = (struct debug_wish){
		.inlines = o->inlines, .lines = o->lines, .no_memory = on_no_memory};
	s->context.names.demangle = o->demangle ? demangle_text : NULL;
	s->on_damage = o->on_damage;
	s->on_damage_ctx = o->on_damage_ctx;
	s->context.limit = o->memory_limit ? o->memory_limit : DEFAULT_LIMIT;
	return err;
}

int symbolizer_open(const struct symbolizer_options *options, struct symbolizer **ret)
{
	struct symbolizer *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	name_pool_init(&s->context.names.pool);
	err = copy_options(s, options);
	if (!err && options->debuginfod)
		err = debuginfod_open(&s->debuginfod);
	/* Without the library the servers are just not asked. */
	if (err && err != -ENOENT) {
		symbolizer_close(s);
		return err;
	}
	*ret = s;
	return 0;
}

void symbolizer_close(struct symbolizer *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->file_count; i++)
		symfile_free(s->files[i]);
	jit_files_fini(&s->jit);
	symlist_fini(&s->kernel);
	name_pool_fini(&s->context.names.pool);
	debuginfod_close(s->debuginfod);
	for (size_t i = 0; i < s->known_count; i++)
		free(s->known[i].key);
	free(s->known);
	hash_index_fini(&s->index);
	free(s->files);
	free(s->debug_path);
	free(s->kallsyms_path);
	free(s->symfs);
	free(s);
}

static bool add_part(struct key *key, const void *bytes, size_t size)
{
	if (size > sizeof(key->bytes) - key->size)
		return false;
	memcpy(key->bytes + key->size, bytes, size);
	key->size += size;
	return true;
}

static bool add_text(struct key *key, const char *text)
{
	return add_part(key, text ? text : "", text ? strlen(text) + 1 : 1);
}

static uint64_t hash_of(const struct symbolizer *s, const void *bytes, size_t size)
{
	return hash_bytes(bytes, size, s->context.names.pool.seed);
}

static bool find_known(const struct symbolizer *s, const struct key *key, unsigned int *ret)
{
	uint64_t hash = hash_of(s, key->bytes, key->size);
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&s->index, hash, &at, &i)) {
		const struct known *k = &s->known[i];

		if (k->size == key->size && !memcmp(k->key, key->bytes, k->size)) {
			*ret = k->file;
			return true;
		}
	}
	return false;
}

static int add_known(struct symbolizer *s, const struct key *key, unsigned int file)
{
	struct known known = {.size = key->size, .file = file};
	int err;

	if (s->known_count >= INT_MAX)
		return -ENOMEM;
	known.key = malloc(key->size);
	if (!known.key)
		return -ENOMEM;
	memcpy(known.key, key->bytes, key->size);
	err = hash_index_push(&s->index, hash_of(s, known.key, known.size), s->known,
			      s->known_count, s->known_capacity, known);
	if (err)
		free(known.key);
	else
		s->known_memory += sizeof(known) + known.size;
	return err;
}

/* @image is taken over. */
static int add_file(struct symbolizer *s, const struct symbol_file *file, void *image, size_t size,
		    unsigned int *ret)
{
	struct symfile *f;
	int err = vector_reserve(&s->files, &s->file_capacity, s->file_count + 1,
				 sizeof(struct symfile *));

	err = err ? err : symfile_new(file, image, size, &f);
	if (err) {
		free(image);
		return err;
	}
	s->files[s->file_count] = f;
	*ret = (unsigned int)s->file_count++;
	return 0;
}

/* By device and inode, if the file is there. */
static bool inode_key(const struct symbolizer *s, const struct symbol_file *file, struct key *key)
{
	const char *path = file->open_path ? file->open_path : file->path;
	const struct remote_process process = {s->process.reader, file->pid};
	struct stat st;

	*key = (struct key){0};
	return !s->symfs && path && !process_file_stat(&process, path, &st) &&
	       add_part(key, "i", 1) && add_part(key, &st.st_dev, sizeof(st.st_dev)) &&
	       add_part(key, &st.st_ino, sizeof(st.st_ino));
}

/* A file without build ID under new paths. */
static int find_by_inode(struct symbolizer *s, const struct symbol_file *file, unsigned int *ret)
{
	struct key key;
	bool has_inode = inode_key(s, file, &key);
	int err;

	if (has_inode && find_known(s, &key, ret))
		return 0;
	err = add_file(s, file, NULL, 0, ret);
	return err || !has_inode ? err : add_known(s, &key, *ret);
}

static bool file_key(const struct symbol_file *file, struct key *key)
{
	key->size = 0;
	if (file->build_id_len)
		return file->build_id_len <= BUILD_ID_MAX && add_part(key, "b", 1) &&
		       add_part(key, file->build_id, file->build_id_len);
	return (file->path || file->open_path) && add_text(key, file->path) &&
	       add_text(key, file->open_path);
}

int symbolizer_file(struct symbolizer *s, const struct symbol_file *file, unsigned int *ret)
{
	unsigned int id;
	struct key key;
	int err = 0;

	if (!file_key(file, &key))
		return -EINVAL;
	if (find_known(s, &key, &id)) {
		if (s->files[id]->state == SYMFILE_MISSING && !s->files[id]->image)
			err = symfile_set_paths(s->files[id], file->path, file->open_path);
	} else {
		err = file->build_id_len ? add_file(s, file, NULL, 0, &id)
					 : find_by_inode(s, file, &id);
		err = err ? err : add_known(s, &key, id);
	}
	if (!err)
		*ret = id;
	return err;
}

/* Images with a build ID are the same as files that have it. */
static int add_image(struct symbolizer *s, const void *image, size_t size, const char *name,
		     unsigned int *ret)
{
	struct symbol_file file = {.path = name};
	struct build_id id;
	struct elf_file elf;
	struct key key;
	void *copy = malloc(size);
	int err;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, image, size);
	err = elf_file_open_image(copy, size, &elf);
	if (err) {
		free(copy);
		return err;
	}
	elf_file_build_id(elf.elf, &id);
	elf_file_close(&elf);
	file.build_id = id.bytes;
	file.build_id_len = id.len;
	if (id.len && file_key(&file, &key) && find_known(s, &key, ret)) {
		free(copy);
		return 0;
	}
	err = add_file(s, &file, copy, size, ret);
	return err || !id.len ? err : add_known(s, &key, *ret);
}

int symbolizer_image(struct symbolizer *s, const void *image, size_t size, const char *name,
		     unsigned int *ret)
{
	uint64_t hash = hash_of(s, image, size);
	struct key key = {0};
	unsigned int id;
	int err;

	if (!size || !add_part(&key, "m", 1) || !add_part(&key, &hash, sizeof(hash)) ||
	    !add_text(&key, name))
		return -EINVAL;
	if (!find_known(s, &key, &id)) {
		err = add_image(s, image, size, name, &id);
		err = err ? err : add_known(s, &key, id);
		if (err)
			return err;
	}
	*ret = id;
	return 0;
}

static struct symfile *least_recent(struct symbolizer *s)
{
	struct symfile *least = NULL;

	for (size_t i = 0; i < s->file_count; i++) {
		struct symfile *f = s->files[i];

		if (f->state == SYMFILE_OPEN && (!least || f->used < least->used))
			least = f;
	}
	return least;
}

static void measure(struct symbolizer *s, struct symfile *f)
{
	s->files_memory -= f->memory;
	symfile_measure(f);
	s->files_memory += f->memory;
}

/* Shut the least recently used, at last @current itself, if it may still be read again. */
static void enforce_limit(struct symbolizer *s, struct symfile *current)
{
	while (s->files_memory > s->context.limit) {
		struct symfile *f = least_recent(s);

		if (!f || (f == current && !symfile_may_grow(f)))
			break;
		f->overgrown += f == current;
		symfile_shut(f);
		measure(s, f);
	}
}

int symbolizer_resolve(struct symbolizer *s, unsigned int id, uint64_t file_offset,
		       struct symbol *ret, size_t max)
{
	struct offset_range holds;
	struct symfile *f;
	int n;

	if (id >= s->file_count || !max)
		return -EINVAL;
	f = s->files[id];
	f->used = ++s->clock;
	n = symfile_resolve(f, &s->context, file_offset, ret, max, &holds);
	measure(s, f);
	enforce_limit(s, f);
	return n;
}

static struct symbol symbol_of(const struct name_pair *name, uint64_t start, uint64_t size,
			       uint64_t offset)
{
	return (struct symbol){
		.name = name->name,
		.mangled = name->mangled,
		.start = start,
		.size = size,
		.offset = offset,
	};
}

/* "_RNv... [module]": only the first word is mangled. */
static int kernel_name(struct names *names, const char *listed, struct name_pair *ret)
{
	const char *module = strstr(listed, " [");
	char text[NAME_MAX_SIZE];
	int err;

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(listed, " "), listed);
	err = names_symbol(names, text, ret);
	if (err || !module)
		return err;
	snprintf(text, sizeof(text), "%s%s", ret->name, module);
	return names_keep(names, text, &ret->name);
}

int symbolizer_kernel(struct symbolizer *s, uint64_t address, struct symbol *ret)
{
	const struct interval *item;
	struct name_pair name;
	int err;

	if (!s->kernel_read) {
		err = kallsyms_read(s->kallsyms_path, &s->kernel);
		if (err)
			return err;
		s->kernel_read = true;
	}
	item = interval_map_find(&s->kernel.map, address);
	if (!item)
		return 0;
	err = kernel_name(&s->context.names, symlist_name(&s->kernel, item), &name);
	if (err)
		return err;
	*ret = symbol_of(&name, item->start, item->size, address - item->start);
	return 1;
}

int symbolizer_perf_map(struct symbolizer *s, pid_t pid, const char *path, uint64_t address,
			struct symbol *ret, bool *is_there)
{
	struct name_pair name;
	struct interval item;
	struct perfmap *m;
	const char *listed;
	int n = jit_files_map(&s->jit, pid, path, &m);

	*is_there = false;
	if (!n) {
		n = perfmap_find(m, address, &item, &listed);
		*is_there = perfmap_is_there(m);
	}
	if (n <= 0)
		return n;
	n = names_keep(&s->context.names, listed, &name.name);
	if (n)
		return n;
	name.mangled = name.name;
	*ret = symbol_of(&name, item.start, item.size, address - item.start);
	return 1;
}

/* What looks mangled is taken for that: LLVM tells linker symbols, V8 prose. */
static int jit_name(struct names *names, const char *told, struct name_pair *ret)
{
	int err;

	if (!strncmp(told, "_Z", 2) || !strncmp(told, "_R", 2))
		return names_symbol(names, told, ret);
	err = names_keep(names, told, &ret->name);
	ret->mangled = ret->name;
	return err;
}

int symbolizer_jit_name(struct symbolizer *s, const struct jitdump_code *code, uint64_t address,
			struct symbol *ret)
{
	const char *src_file = NULL;
	struct name_pair name;
	int err = jit_name(&s->context.names, code->name, &name);

	if (!err && code->src_file)
		err = names_keep(&s->context.names, code->src_file, &src_file);
	if (err)
		return err;
	*ret = symbol_of(&name, code->start, code->size, address - code->start);
	ret->src_file = src_file;
	ret->line = code->line;
	return 1;
}

int symbolizer_kept(struct symbolizer *s, const char *mangled, uint64_t start, uint64_t offset,
		    struct symbol *ret)
{
	struct name_pair name;
	int err = names_symbol(&s->context.names, mangled, &name);

	if (err)
		return err;
	*ret = symbol_of(&name, start, 0, offset);
	return 1;
}

int symbolizer_jit_dump(struct symbolizer *s, const struct jitdump_file *file, uint64_t address,
			uint64_t time, struct symbol *ret)
{
	struct bobbin_error before, damage;
	struct jitdump_code code;
	struct jitdump *d;
	bool was_damaged;
	int n = jit_files_dump(&s->jit, file, s->context.wish.lines, &d);

	if (n)
		return n;
	was_damaged = jitdump_damage(d, &before);
	n = jitdump_find(d, address, time, &code);
	if (!was_damaged && s->on_damage && jitdump_damage(d, &damage))
		s->on_damage(s->on_damage_ctx, jitdump_path(d), &damage);
	return n <= 0 ? n : symbolizer_jit_name(s, &code, address, ret);
}

void symbolizer_get_stats(const struct symbolizer *s, struct symbolizer_stats *ret)
{
	struct symbolizer_stats stats = {0};

	stats.memory = s->files_memory + name_pool_memory(&s->context.names.pool) +
		       symlist_memory(&s->kernel) + jit_files_memory(&s->jit) + s->known_memory;
	for (size_t i = 0; i < s->file_count; i++)
		stats.open += s->files[i]->state == SYMFILE_OPEN;
	*ret = stats;
}
