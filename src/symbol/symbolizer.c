/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/symbolizer.h"

#include "symbol/kallsyms.h"
#include "symbol/perfmap.h"
#include "symbol/symfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_LIMIT (256ull << 20)
#define DEFAULT_DEBUG_PATH "/usr/lib/debug"
#define DEFAULT_KALLSYMS "/proc/kallsyms"
#define PERF_MAP_DIRECTORY "/tmp"
/* Each may hold two descriptors. */
#define MAX_OPEN_FILES 128
#define MAX_PERF_MAPS 64
#define FIRST_SLOTS 64

struct symbolizer {
	struct symfile_context context;
	char *debug_path, *cache_path, *kallsyms_path, *symfs;
	struct symfile **files;
	size_t file_count, file_capacity;
	unsigned int *slots; /* hash of identities: file number + 1 */
	size_t slot_count;
	uint64_t clock;
	size_t files_memory;
	struct symlist kernel;
	bool kernel_read;
	struct perfmap *perf_maps[MAX_PERF_MAPS]; /* most recently used first */
	unsigned int perf_map_count;
};

static int copy_option(const char *value, const char *otherwise, char **ret)
{
	const char *chosen = value ? value : otherwise;

	if (!chosen)
		return 0;
	*ret = strdup(chosen);
	return *ret ? 0 : -ENOMEM;
}

static int copy_options(struct symbolizer *s, const struct symbolizer_options *o)
{
	int err = copy_option(o->debug_path, DEFAULT_DEBUG_PATH, &s->debug_path);

	err = err ? err : copy_option(o->cache_path, NULL, &s->cache_path);
	err = err ? err : copy_option(o->kallsyms, DEFAULT_KALLSYMS, &s->kallsyms_path);
	err = err ? err : copy_option(o->symfs, NULL, &s->symfs);
	s->context.paths = (struct debug_paths){
		.debug_path = s->debug_path,
		.cache_path = s->cache_path,
		.symfs = s->symfs,
	};
	s->context.wish = (struct debug_wish){.inlines = o->inlines, .lines = o->lines};
	s->context.names.demangle = o->demangle;
	s->context.names.parameters = o->parameters;
	s->context.limit = o->memory_limit ? o->memory_limit : DEFAULT_LIMIT;
	return err;
}

int symbolizer_open(const struct symbolizer_options *options, struct symbolizer **ret)
{
	struct symbolizer *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	err = copy_options(s, options);
	if (!err && options->debuginfod)
		err = debuginfod_open(&s->context.paths.debuginfod);
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
	for (unsigned int i = 0; i < s->perf_map_count; i++)
		perfmap_close(s->perf_maps[i]);
	symlist_fini(&s->kernel);
	symbol_pool_fini(&s->context.names);
	debuginfod_close(s->context.paths.debuginfod);
	free(s->files);
	free(s->slots);
	free(s->debug_path);
	free(s->cache_path);
	free(s->kallsyms_path);
	free(s->symfs);
	free(s);
}

static uint64_t hash_more(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * 0x100000001b3; /* FNV-1a */
	return hash;
}

static uint64_t hash_string(uint64_t hash, const char *s)
{
	return s ? hash_more(hash, s, strlen(s) + 1) : hash_more(hash, "", 1);
}

/* Of what makes two files the same, in the order of symbolizer_file(). */
static uint64_t identity_hash(const struct symfile *f)
{
	uint64_t hash = 0xcbf29ce484222325;

	if (f->build_id_len)
		return hash_more(hash, f->build_id, f->build_id_len);
	if (f->image)
		return hash_more(hash_string(hash, f->path), f->image, f->image_size);
	if (f->device || f->inode)
		return hash_more(hash_more(hash, &f->device, sizeof(f->device)), &f->inode,
				 sizeof(f->inode));
	return hash_string(hash_string(hash, f->path), f->open_path);
}

static bool same_string(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_same(const struct symfile *a, const struct symfile *b)
{
	if (a->build_id_len || b->build_id_len)
		return a->build_id_len == b->build_id_len &&
		       !memcmp(a->build_id, b->build_id, a->build_id_len);
	if (a->image || b->image)
		return a->image && b->image && a->image_size == b->image_size &&
		       same_string(a->path, b->path) && !memcmp(a->image, b->image, a->image_size);
	if (a->device || a->inode || b->device || b->inode)
		return a->device == b->device && a->inode == b->inode;
	return same_string(a->path, b->path) && same_string(a->open_path, b->open_path);
}

/* The slot of the file that is the same as @f, or the free one where it belongs. */
static unsigned int *find_slot(struct symbolizer *s, const struct symfile *f)
{
	uint64_t hash = identity_hash(f);
	size_t i = (hash ^ hash >> 32) & (s->slot_count - 1);

	while (s->slots[i] && !is_same(s->files[s->slots[i] - 1], f))
		i = (i + 1) & (s->slot_count - 1);
	return &s->slots[i];
}

static int grow_slots(struct symbolizer *s)
{
	size_t count = s->slot_count ? 2 * s->slot_count : FIRST_SLOTS;
	unsigned int *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(s->slots);
	s->slots = slots;
	s->slot_count = count;
	for (size_t i = 0; i < s->file_count; i++)
		*find_slot(s, s->files[i]) = (unsigned int)i + 1;
	return 0;
}

static int reserve_file(struct symbolizer *s)
{
	size_t capacity = s->file_capacity ? 2 * s->file_capacity : FIRST_SLOTS;
	struct symfile **files;

	if (2 * s->file_count >= s->slot_count && grow_slots(s))
		return -ENOMEM;
	if (s->file_count < s->file_capacity)
		return 0;
	files = reallocarray(s->files, capacity, sizeof(*files));
	if (!files || s->file_count >= INT_MAX) {
		s->files = files ? files : s->files;
		return -ENOMEM;
	}
	s->files = files;
	s->file_capacity = capacity;
	return 0;
}

/* Takes @f over. */
static int intern_file(struct symbolizer *s, struct symfile *f, unsigned int *ret)
{
	unsigned int *slot;
	int err = reserve_file(s);

	if (err) {
		symfile_free(f);
		return err;
	}
	slot = find_slot(s, f);
	if (*slot) {
		struct symbol_file paths = {.path = f->path, .open_path = f->open_path};

		err = symfile_set_paths(s->files[*slot - 1], &paths);
		symfile_free(f);
	} else {
		s->files[s->file_count++] = f;
		*slot = (unsigned int)s->file_count;
	}
	if (!err)
		*ret = *slot - 1;
	return err;
}

static void look_up_inode(const struct symbolizer *s, struct symfile *f)
{
	const char *path = f->open_path ? f->open_path : f->path;
	struct stat st;

	if (f->build_id_len || s->symfs || !path || stat(path, &st))
		return;
	f->device = st.st_dev;
	f->inode = st.st_ino;
}

int symbolizer_file(struct symbolizer *s, const struct symbol_file *file, unsigned int *ret)
{
	struct symfile *f;
	int err;

	if ((!file->path && !file->open_path && !file->build_id_len) ||
	    file->build_id_len > OBJECT_BUILD_ID_MAX)
		return -EINVAL;
	err = symfile_new(file, &f);
	if (err)
		return err;
	look_up_inode(s, f);
	return intern_file(s, f, ret);
}

/* Images are small, so this one is opened at once, to know its build ID. */
static int take_image(struct symfile *f, const void *image, size_t size)
{
	uint8_t *probe = malloc(size);
	struct object *o;

	f->image = malloc(size);
	if (!f->image || !probe) {
		free(probe);
		return -ENOMEM;
	}
	memcpy(f->image, image, size);
	memcpy(probe, image, size);
	f->image_size = size;
	if (object_open_image(probe, size, &o))
		return -EINVAL;
	memcpy(f->build_id, o->build_id, o->build_id_len);
	f->build_id_len = o->build_id_len;
	object_close(o);
	return 0;
}

int symbolizer_image(struct symbolizer *s, const void *image, size_t size, const char *name,
		     unsigned int *ret)
{
	struct symbol_file file = {.path = name};
	struct symfile *f;
	int err;

	if (!size)
		return -EINVAL;
	err = symfile_new(&file, &f);
	if (err)
		return err;
	err = take_image(f, image, size);
	if (err) {
		symfile_free(f);
		return err;
	}
	return intern_file(s, f, ret);
}

static struct symfile *least_recent(struct symbolizer *s, const struct symfile *current,
				    unsigned int *open)
{
	struct symfile *least = NULL;

	*open = 0;
	for (size_t i = 0; i < s->file_count; i++) {
		struct symfile *f = s->files[i];

		if (f->state != SYMFILE_OPEN)
			continue;
		++*open;
		if (f != current && (!least || f->used < least->used))
			least = f;
	}
	return least;
}

static void measure(struct symbolizer *s, struct symfile *f)
{
	s->files_memory -= f->memory;
	s->files_memory += symfile_measure(f);
}

static bool is_over_limit(const struct symbolizer *s)
{
	return s->files_memory > s->context.limit;
}

/* Shut others, the least recently used first; then save on the current one. */
static void enforce_limits(struct symbolizer *s, struct symfile *current, bool opened)
{
	unsigned int open = 0;

	while (opened || is_over_limit(s)) {
		struct symfile *f = least_recent(s, current, &open);

		opened = false;
		if (!f || (open <= MAX_OPEN_FILES && !is_over_limit(s)))
			break;
		symfile_shut(f);
		measure(s, f);
		opened = open > MAX_OPEN_FILES;
	}
	if (is_over_limit(s)) {
		symfile_trim(current);
		measure(s, current);
	}
}

int symbolizer_resolve(struct symbolizer *s, unsigned int id, uint64_t file_offset,
		       struct symbol *ret, size_t max)
{
	struct symfile *f;
	bool shut;
	int n;

	if (id >= s->file_count || !max)
		return -EINVAL;
	f = s->files[id];
	shut = f->state == SYMFILE_SHUT;
	f->used = ++s->clock;
	n = symfile_resolve(f, &s->context, file_offset, ret, max);
	measure(s, f);
	enforce_limits(s, f, shut);
	return n;
}

static struct symbol listed_symbol(const struct name_pair *name, const struct interval *item,
				   uint64_t address)
{
	return (struct symbol){
		.name = name->name,
		.mangled = name->mangled,
		.start = item->start,
		.size = item->size,
		.offset = address - item->start,
	};
}

/* "_RNv... [module]": only the first word is mangled. */
static int kernel_name(struct name_pool *names, const char *listed, struct name_pair *ret)
{
	const char *module = strstr(listed, " [");
	char text[NAME_MAX_SIZE];
	int err;

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(listed, " "), listed);
	err = symbol_pool_symbol(names, text, ret);
	if (err || !module)
		return err;
	snprintf(text, sizeof(text), "%s%s", ret->name, module);
	ret->name = symbol_pool_keep(names, text, strlen(text));
	return ret->name ? 0 : -ENOMEM;
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
	*ret = listed_symbol(&name, item, address);
	return 1;
}

/* Move the map at @index to the front. */
static struct perfmap *to_front(struct symbolizer *s, unsigned int index)
{
	struct perfmap *m = s->perf_maps[index];

	memmove(&s->perf_maps[1], &s->perf_maps[0], index * sizeof(s->perf_maps[0]));
	s->perf_maps[0] = m;
	return m;
}

static int find_perf_map(struct symbolizer *s, pid_t pid, struct perfmap **ret)
{
	struct perfmap *m;
	int err;

	for (unsigned int i = 0; i < s->perf_map_count; i++)
		if (perfmap_pid(s->perf_maps[i]) == pid) {
			*ret = to_front(s, i);
			return 0;
		}
	err = perfmap_open(pid, PERF_MAP_DIRECTORY, &m);
	if (err)
		return err;
	if (s->perf_map_count == MAX_PERF_MAPS)
		perfmap_close(s->perf_maps[--s->perf_map_count]);
	s->perf_maps[s->perf_map_count] = m;
	*ret = to_front(s, s->perf_map_count++);
	return 0;
}

int symbolizer_perf_map(struct symbolizer *s, pid_t pid, uint64_t address, struct symbol *ret)
{
	struct name_pair name;
	struct interval item;
	struct perfmap *m;
	const char *listed;
	int n = find_perf_map(s, pid, &m);

	if (!n)
		n = perfmap_find(m, address, &item, &listed);
	if (n <= 0)
		return n;
	name.name = name.mangled = symbol_pool_keep(&s->context.names, listed, strlen(listed));
	if (!name.name)
		return -ENOMEM;
	*ret = listed_symbol(&name, &item, address);
	return 1;
}

void symbolizer_get_stats(const struct symbolizer *s, struct symbolizer_stats *ret)
{
	struct symbolizer_stats stats = {.files = (unsigned int)s->file_count};

	stats.memory = s->files_memory + s->context.names.memory + symlist_memory(&s->kernel);
	for (unsigned int i = 0; i < s->perf_map_count; i++)
		stats.memory += perfmap_memory(s->perf_maps[i]);
	for (size_t i = 0; i < s->file_count; i++) {
		stats.open += s->files[i]->state == SYMFILE_OPEN;
		stats.missing += s->files[i]->state == SYMFILE_MISSING;
		stats.mismatched += s->files[i]->mismatched;
	}
	*ret = stats;
}
