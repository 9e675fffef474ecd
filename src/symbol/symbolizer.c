/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/symbolizer.h"

#include "base/vector.h"
#include "symbol/jitdump.h"
#include "symbol/kallsyms.h"
#include "symbol/named_file.h"
#include "symbol/perfmap.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_LIMIT ((size_t)512 << 20)
#define DEFAULT_DEBUG_PATH "/usr/lib/debug"
#define DEFAULT_KALLSYMS "/proc/kallsyms"
#define JIT_FILES_MAX 64

/* In place of a number: of a file that is known no more. */
#define FORGOTTEN UINT_MAX

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

/* The perf maps and jitdump files that were used most recently, the latest first. */
struct jit_files {
	struct process_reader *reader; /* or NULL */
	void *maps[JIT_FILES_MAX], *dumps[JIT_FILES_MAX];
	unsigned int map_count, dump_count;
};

/* Move the item at @index to the front. */
static void *to_front(void **items, unsigned int index)
{
	void *item = items[index];

	memmove(&items[1], &items[0], index * sizeof(*items));
	items[0] = item;
	return item;
}

/* The perf map of @pid, or, if it is not NULL, the one at @path; new or known.  Returns 0, -ENOMEM. */
static int jit_files_map(struct jit_files *files, pid_t pid, const char *path, struct perfmap **ret)
{
	const struct remote_process process = {files->reader, path ? 0 : pid};
	struct perfmap *m;
	int err;

	for (unsigned int i = 0; i < files->map_count; i++)
		if (perfmap_is(files->maps[i], pid, path)) {
			*ret = to_front(files->maps, i);
			return 0;
		}
	err = perfmap_open(&process, PERFMAP_FOLDER, path, &m);
	if (err)
		return err;
	if (files->map_count == JIT_FILES_MAX)
		perfmap_close(files->maps[--files->map_count]);
	files->maps[files->map_count] = m;
	*ret = to_front(files->maps, files->map_count++);
	return 0;
}

/* The jitdump file, by process and path.  Returns 0, -ENOMEM. */
static int jit_files_dump(struct jit_files *files, const struct jitdump_file *file, bool lines,
			  struct jitdump **ret)
{
	struct jitdump *d;
	int err;

	for (unsigned int i = 0; i < files->dump_count; i++)
		if (jitdump_is_of(files->dumps[i], file->pid, file->path)) {
			*ret = to_front(files->dumps, i);
			return 0;
		}
	err = jitdump_open(files->reader, file, lines, &d);
	if (err)
		return err;
	if (files->dump_count == JIT_FILES_MAX)
		jitdump_close(files->dumps[--files->dump_count]);
	files->dumps[files->dump_count] = d;
	*ret = to_front(files->dumps, files->dump_count++);
	return 0;
}

static size_t jit_files_memory(const struct jit_files *files)
{
	size_t memory = 0;

	for (unsigned int i = 0; i < files->map_count; i++)
		memory += perfmap_memory(files->maps[i]);
	for (unsigned int i = 0; i < files->dump_count; i++)
		memory += jitdump_memory(files->dumps[i]);
	return memory;
}

static void jit_files_fini(struct jit_files *files)
{
	for (unsigned int i = 0; i < files->map_count; i++)
		perfmap_close(files->maps[i]);
	for (unsigned int i = 0; i < files->dump_count; i++)
		jitdump_close(files->dumps[i]);
	*files = (struct jit_files){0};
}

struct symbolizer {
	struct named_file_context context;
	struct symbolizer_options options; /* strings are owned */
	struct named_file **files;
	size_t file_count, file_capacity;
	struct known *known;
	size_t known_count, known_capacity;
	struct hash_index index; /* of what is known */
	size_t known_memory;
	struct symlist kernel;
	bool kernel_read;
	struct jit_files jit;
};

/* In place of a string, or of none, its copy; or another one. */
static int copy_option(const char **option, const char *otherwise)
{
	const char *chosen = *option ? *option : otherwise;

	*option = chosen ? strdup(chosen) : NULL;
	return chosen && !*option ? -ENOMEM : 0;
}

static int copy_options(struct symbolizer *s, const struct symbolizer_options *options)
{
	struct symbolizer_options *o = &s->options;
	int err;

	*o = *options;
	if (!o->memory_limit)
		o->memory_limit = DEFAULT_LIMIT;
	s->jit.reader = o->reader;
	err = copy_option(&o->debug_path, DEFAULT_DEBUG_PATH) |
	      copy_option(&o->kallsyms, DEFAULT_KALLSYMS) | copy_option(&o->symfs, NULL);
	return err ? -ENOMEM : 0;
}

int symbolizer_open(const struct symbolizer_options *options, struct symbolizer **ret)
{
	struct symbolizer *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	name_pool_init(&s->context.names.pool);
	err = copy_options(s, options);
	err = err ? err : name_process_open(&s->options, &s->context.process);
	if (err) {
		symbolizer_close(s);
		return err;
	}
	s->context.names.demangle = options->demangle ? name_process_demangle : NULL;
	s->context.names.ctx = s->context.process;
	*ret = s;
	return 0;
}

void symbolizer_close(struct symbolizer *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->file_count; i++)
		named_file_free(s->files[i]);
	name_process_close(s->context.process);
	jit_files_fini(&s->jit);
	symlist_fini(&s->kernel);
	name_pool_fini(&s->context.names.pool);
	for (size_t i = 0; i < s->known_count; i++)
		free(s->known[i].key);
	free(s->known);
	hash_index_fini(&s->index);
	free(s->files);
	free((char *)s->options.debug_path);
	free((char *)s->options.kallsyms);
	free((char *)s->options.symfs);
	free(s);
}

void symbolizer_start(struct symbolizer *s)
{
	name_process_start(s->context.process);
}

void symbolizer_refresh(struct symbolizer *s)
{
	struct process_reader *reader = s->jit.reader;

	for (size_t i = 0; i < s->known_count; i++)
		if (s->known[i].file != FORGOTTEN && named_file_is_held(s->files[s->known[i].file]))
			s->known[i].file = FORGOTTEN;

	jit_files_fini(&s->jit);
	s->jit.reader = reader;
	symlist_fini(&s->kernel);
	s->kernel_read = false;
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

		if (k->file != FORGOTTEN && k->size == key->size &&
		    !memcmp(k->key, key->bytes, k->size)) {
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

/* The next file, which is not known by its number before keep_file(); @image is taken over. */
static int make_file(struct symbolizer *s, const struct symbol_file *file, void *image, size_t size,
		     struct named_file **ret)
{
	int err = vector_reserve(&s->files, &s->file_capacity, s->file_count + 1,
				 sizeof(struct named_file *));

	err = err ? err : named_file_new(file, (unsigned int)s->file_count, image, size, ret);
	if (err)
		free(image);
	return err;
}

static unsigned int keep_file(struct symbolizer *s, struct named_file *f)
{
	s->files[s->file_count++] = f;
	return f->number;
}

static int add_file(struct symbolizer *s, const struct symbol_file *file, unsigned int *ret)
{
	struct named_file *f;
	int err = make_file(s, file, NULL, 0, &f);

	if (!err)
		*ret = keep_file(s, f);
	return err;
}

/* By device and inode, if the file is there. */
static bool inode_key(const struct symbolizer *s, const struct symbol_file *file, struct key *key)
{
	const struct remote_process process = {s->options.reader, file->pid};
	const char *path = file->open_path ? file->open_path : file->path;
	struct stat st;

	*key = (struct key){0};
	return !s->options.symfs && path && !process_file_stat(&process, path, &st) &&
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
	err = add_file(s, file, ret);
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

/* Another root may have the debug file. */
static bool is_worth_another_try(const struct named_file *f, const struct symbol_file *file)
{
	return !f->image &&
	       (f->missing || file_roots_count(&file->roots) > file_roots_count(&f->paths.roots));
}

int symbolizer_file(struct symbolizer *s, const struct symbol_file *file, unsigned int *ret)
{
	unsigned int id;
	struct key key;
	int err = 0;

	if (!file_key(file, &key))
		return -EINVAL;
	if (find_known(s, &key, &id)) {
		if (is_worth_another_try(s->files[id], file))
			err = named_file_set_paths(s->files[id], file);
	} else {
		err = file->build_id_len ? add_file(s, file, &id) : find_by_inode(s, file, &id);
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
	struct named_file *f;
	struct key key;
	void *copy = malloc(size);
	int err;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, image, size);
	err = make_file(s, &file, copy, size, &f);
	if (err)
		return err;
	err = named_file_read_image(f, &s->context);
	file.build_id = f->build_id.bytes;
	file.build_id_len = f->build_id.len;
	if (!file.build_id_len || !file_key(&file, &key))
		key.size = 0;
	if (err || (key.size && find_known(s, &key, ret))) {
		named_file_free(f);
		return err;
	}
	*ret = keep_file(s, f);
	return key.size ? add_known(s, &key, *ret) : 0;
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

int symbolizer_resolve(struct symbolizer *s, unsigned int id, uint64_t file_offset,
		       struct symbol *ret, size_t max)
{
	if (id >= s->file_count || !max)
		return -EINVAL;
	return named_file_resolve(s->files[id], &s->context, file_offset, ret, max);
}

void symbolizer_expect(struct symbolizer *s, unsigned int id, const struct offset_range *ranges,
		       size_t count)
{
	if (id < s->file_count)
		named_file_expect(s->files[id], &s->context, ranges, count);
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

static int read_kernel(struct symbolizer *s)
{
	int err = s->kernel_read ? 0 : kallsyms_read(s->options.kallsyms, &s->kernel);

	s->kernel_read = !err;
	return err;
}

int symbolizer_kernel(struct symbolizer *s, uint64_t address, struct symbol *ret)
{
	const struct interval *item;
	struct name_pair name;
	int err = read_kernel(s);

	if (err)
		return err;
	item = interval_map_find(&s->kernel.map, address);
	if (!item)
		return 0;
	err = kernel_name(&s->context.names, symlist_name(&s->kernel, item), &name);
	if (err)
		return err;
	*ret = symbol_of(&name, item->start, item->size, address - item->start);
	return 1;
}

const char *symbolizer_kernel_listed(struct symbolizer *s, uint64_t address, uint64_t *start)
{
	const struct interval *item = read_kernel(s) ? NULL
						     : interval_map_find(&s->kernel.map, address);

	if (!item)
		return NULL;
	*start = item->start;
	return symlist_name(&s->kernel, item);
}

int symbolizer_kernel_kept(struct symbolizer *s, const char *listed, uint64_t start,
			   uint64_t offset, struct symbol *ret)
{
	struct name_pair name;
	int err = kernel_name(&s->context.names, listed, &name);

	if (err)
		return err;
	*ret = symbol_of(&name, start, 0, offset);
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
	if (n)
		return n;
	n = perfmap_find(m, address, &item, &listed);
	*is_there = perfmap_is_there(m);
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
	int n = jit_files_dump(&s->jit, file, s->options.lines, &d);

	if (n)
		return n;
	was_damaged = jitdump_damage(d, &before);
	n = jitdump_find(d, address, time, &code);
	if (!was_damaged && s->options.on_damage && jitdump_damage(d, &damage))
		s->options.on_damage(s->options.on_damage_ctx, jitdump_path(d), &damage);
	return n <= 0 ? n : symbolizer_jit_name(s, &code, address, ret);
}

void symbolizer_get_stats(const struct symbolizer *s, struct symbolizer_stats *ret)
{
	const struct name_process *p = s->context.process;
	struct symbolizer_stats stats = {.open = p->reply.open};

	/* nobody vouches for what it says */
	stats.memory = p->reply.memory < SIZE_MAX / 2 ? p->reply.memory : SIZE_MAX / 2;
	stats.memory += name_pool_memory(&s->context.names.pool) + symlist_memory(&s->kernel) +
			jit_files_memory(&s->jit) + s->known_memory;
	for (size_t i = 0; i < s->file_count; i++)
		stats.memory += named_file_memory(s->files[i]);
	*ret = stats;
}
