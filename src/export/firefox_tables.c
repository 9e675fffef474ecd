/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/firefox_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/safe_text.h"

uint32_t firefox_string(struct firefox_tables *tables, const char *text)
{
	const uint64_t hash = hash_bytes(text, strlen(text), tables->profile->names.seed);
	size_t at = 0;
	uint32_t id;
	int r;

	while (hash_index_next(&tables->string_index, hash, &at, &id))
		if (tables->strings[id] == text || !strcmp(tables->strings[id], text))
			return id;
	r = hash_index_push(&tables->string_index, hash, tables->strings, tables->string_count,
			    tables->string_room, text);
	if (!r)
		return (uint32_t)tables->string_count - 1;
	tables->error = r;
	return 0;
}

uint32_t firefox_passing_string(struct firefox_tables *tables, const char *text)
{
	const char *own = "";
	int r = name_pool_intern(&tables->pool, text, &own);

	if (r)
		tables->error = r;
	return firefox_string(tables, own);
}

void firefox_put_text(struct firefox_tables *tables, struct json_output *json, const char *key,
		      const char *text)
{
	char *clean = safe_text_copy(text);

	if (!clean)
		tables->error = -ENOMEM;
	json_string(json, key, clean ? clean : "");
	free(clean);
}

static bool same_file(const struct profile_mapping *a, const struct profile_mapping *b)
{
	return a->path == b->path && a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

static int add_lib(struct firefox_tables *t, uint32_t mapping)
{
	const struct profile_mapping *m = &t->profile->mappings[mapping];
	const uint64_t hash = hash_words((uintptr_t)m->path, 0, t->profile->names.seed);
	uint32_t *ret = &t->mapping_libs[mapping];
	size_t at = 0;
	int r;

	*ret = PROFILE_NONE;
	if (!m->is_file)
		return 0;
	while (hash_index_next(&t->lib_index, hash, &at, ret))
		if (same_file(firefox_lib_mapping(t, *ret), m))
			return 0;
	r = hash_index_push(&t->lib_index, hash, t->libs, t->lib_count, t->lib_room,
			    (struct firefox_lib){mapping});
	*ret = (uint32_t)t->lib_count - 1;
	return r;
}

static int add_resource(struct firefox_tables *t, const char *name, uint32_t lib, uint32_t *ret)
{
	const uint64_t hash = hash_words((uintptr_t)name, lib, t->profile->names.seed);
	size_t at = 0;
	int r;

	while (hash_index_next(&t->resource_index, hash, &at, ret))
		if (t->resources[*ret].name == name && t->resources[*ret].lib == lib)
			return 0;
	r = hash_index_push(&t->resource_index, hash, t->resources, t->resource_count,
			    t->resource_room, (struct firefox_resource){name, lib});
	*ret = (uint32_t)t->resource_count - 1;
	return r;
}

static int add_source(struct firefox_tables *t, const char *path, uint32_t *ret)
{
	const uint64_t hash = hash_words((uintptr_t)path, 0, t->profile->names.seed);
	size_t at = 0;
	int r;

	while (hash_index_next(&t->source_index, hash, &at, ret))
		if (t->sources[*ret] == path)
			return 0;
	r = hash_index_push(&t->source_index, hash, t->sources, t->source_count, t->source_room,
			    path);
	*ret = (uint32_t)t->source_count - 1;
	return r;
}

static int new_function(struct firefox_tables *t, uint64_t hash, uint32_t function, uint32_t lib)
{
	const struct profile_function *f = &t->profile->functions[function];
	struct firefox_function own = {function, lib, PROFILE_NONE, PROFILE_NONE};
	int r = 0;

	if (lib != PROFILE_NONE)
		r = add_resource(t, firefox_lib_mapping(t, lib)->path, lib, &own.resource);
	else if (*f->dso)
		r = add_resource(t, f->dso, lib, &own.resource);
	if (!r && *f->src_file)
		r = add_source(t, f->src_file, &own.source);
	return r ? r
		 : hash_index_push(&t->function_index, hash, t->functions, t->function_count,
				   t->function_room, own);
}

/* What the viewer would show alike is one: overloaded functions differ by their arguments, which are not shown. */
static bool looks_like(const struct firefox_tables *t, const struct firefox_function *own,
		       uint32_t function, uint32_t lib)
{
	const struct profile_function *a = &t->profile->functions[own->function];
	const struct profile_function *b = &t->profile->functions[function];

	return own->lib == lib && a->name == b->name && a->dso == b->dso &&
	       a->src_file == b->src_file && a->kind == b->kind;
}

static int add_function(struct firefox_tables *t, uint32_t function, uint32_t lib, uint32_t *ret)
{
	const char *name = t->profile->functions[function].name;
	const uint64_t hash = hash_words((uintptr_t)name, lib, t->profile->names.seed);
	size_t at = 0;
	int r;

	while (hash_index_next(&t->function_index, hash, &at, ret))
		if (looks_like(t, &t->functions[*ret], function, lib))
			return 0;
	r = new_function(t, hash, function, lib);
	*ret = (uint32_t)t->function_count - 1;
	return r;
}

static int new_symbol(struct firefox_tables *t, const struct firefox_symbol *own, uint32_t *ret)
{
	const uint64_t hash = hash_words(own->address, (uint64_t)own->lib << 32 | own->function,
					 t->profile->names.seed);
	size_t at = 0;
	int r;

	while (hash_index_next(&t->symbol_index, hash, &at, ret))
		if (t->symbols[*ret].address == own->address && t->symbols[*ret].lib == own->lib &&
		    t->symbols[*ret].function == own->function)
			return 0;
	r = hash_index_push(&t->symbol_index, hash, t->symbols, t->symbol_count, t->symbol_room,
			    *own);
	*ret = (uint32_t)t->symbol_count - 1;
	return r;
}

/* The last line is of the function that holds the code. */
static int add_symbol(struct firefox_tables *t, const struct profile_location *l, uint32_t lib,
		      uint32_t *ret)
{
	struct firefox_symbol own = {.lib = lib, .size = l->extent.size};

	*ret = PROFILE_NONE;
	if (lib == PROFILE_NONE || !l->extent.known || l->extent.before > firefox_address(t, l))
		return 0;
	own.address = firefox_address(t, l) - l->extent.before;
	own.function = t->profile->lines[l->lines + l->line_count - 1].function;
	return new_symbol(t, &own, ret);
}

static int add_frames(struct firefox_tables *t, uint32_t location)
{
	const struct profile_location *l = &t->profile->locations[location];
	const uint32_t lib = l->mapping == PROFILE_NONE ? PROFILE_NONE
							: t->mapping_libs[l->mapping];
	uint32_t symbol;
	int r = add_symbol(t, l, lib, &symbol);

	for (uint32_t i = l->lines; i < l->lines + l->line_count && !r; i++) {
		t->frames[i].location = location;
		t->frames[i].symbol = symbol;
		r = add_function(t, t->profile->lines[i].function, lib, &t->frames[i].function);
	}
	return r;
}

static int add_stacks(struct firefox_tables *t)
{
	const struct profile *p = t->profile;

	for (size_t i = PROFILE_ROOT + 1; i < p->stack_count; i++) {
		t->stack_count += firefox_location(t, i)->line_count;
		if (t->stack_count >= UINT32_MAX)
			return -E2BIG;
		t->leaves[i] = (uint32_t)t->stack_count - 1;
	}
	return 0;
}

int firefox_tables_init(struct firefox_tables *tables, const struct profile *profile)
{
	int r = 0;

	*tables = (struct firefox_tables){.profile = profile};
	name_pool_init(&tables->pool);
	tables->mapping_libs = calloc(profile->mapping_count + 1, sizeof(*tables->mapping_libs));
	tables->frames = calloc(profile->line_count + 1, sizeof(*tables->frames));
	tables->leaves = calloc(profile->stack_count + 1, sizeof(*tables->leaves));
	if (!tables->mapping_libs || !tables->frames || !tables->leaves)
		return -ENOMEM;
	for (size_t i = 0; i < profile->mapping_count && !r; i++)
		r = add_lib(tables, (uint32_t)i);
	for (size_t i = 0; i < profile->location_count && !r; i++)
		r = add_frames(tables, (uint32_t)i);
	return r ? r : add_stacks(tables);
}

void firefox_tables_fini(struct firefox_tables *tables)
{
	hash_index_fini(&tables->string_index);
	hash_index_fini(&tables->lib_index);
	hash_index_fini(&tables->resource_index);
	hash_index_fini(&tables->function_index);
	hash_index_fini(&tables->source_index);
	hash_index_fini(&tables->symbol_index);
	name_pool_fini(&tables->pool);
	free(tables->strings);
	free(tables->libs);
	free(tables->resources);
	free(tables->functions);
	free(tables->symbols);
	free(tables->sources);
	free(tables->frames);
	free(tables->leaves);
	free(tables->mapping_libs);
}
