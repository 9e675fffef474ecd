/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "base/base_name.h"
#include "export/firefox_tables.h"

/* enum ResourceType of the reader */
#define RESOURCE_UNKNOWN 0
#define RESOURCE_LIBRARY 1

static void put_category(struct json_output *json, const char *name, const char *color)
{
	json_object(json, NULL);
	json_string(json, "name", name);
	json_string(json, "color", color);
	json_array(json, "subcategories");
	json_string(json, NULL, "Other");
	json_array_end(json);
	json_object_end(json);
}

/* A grey one is the default. */
void firefox_put_categories(struct json_output *json)
{
	json_array(json, "categories");
	put_category(json, "Other", "grey");
	put_category(json, "User", "yellow");
	put_category(json, "Kernel", "orange");
	put_category(json, "JIT", "green");
	json_array_end(json);
}

/* As Breakpad spells a build ID: a GUID, which begins with numbers of this byte order, and an age. */
static void put_breakpad_id(struct json_output *json, const struct profile_mapping *m)
{
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	char id[2 * sizeof(order) + 2] = "";

	for (size_t i = 0; i < sizeof(order); i++)
		snprintf(id + 2 * i, 3, "%02X",
			 order[i] < m->build_id_len ? m->build_id[order[i]] : 0);
	json_string(json, "breakpadId", m->build_id_len ? strcat(id, "0") : "");
}

static void put_code_id(struct json_output *json, const struct profile_mapping *m)
{
	char id[2 * sizeof(m->build_id) + 1] = "";

	for (size_t i = 0; i < m->build_id_len; i++)
		snprintf(id + 2 * i, 3, "%02x", m->build_id[i]);
	if (m->build_id_len)
		json_string(json, "codeId", id);
	else
		json_null(json, "codeId");
}

void firefox_put_libs(struct firefox_tables *tables, struct json_output *json)
{
	json_array(json, "libs");
	for (uint32_t i = 0; i < tables->lib_count; i++) {
		const struct profile_mapping *m = firefox_lib_mapping(tables, i);

		json_object(json, NULL);
		json_null(json, "arch");
		firefox_put_text(tables, json, "name", base_name(m->path));
		firefox_put_text(tables, json, "path", m->path);
		firefox_put_text(tables, json, "debugName", base_name(m->path));
		firefox_put_text(tables, json, "debugPath", m->path);
		put_breakpad_id(json, m);
		put_code_id(json, m);
		json_object_end(json);
	}
	json_array_end(json);
}

typedef void put_cell(struct firefox_tables *tables, struct json_output *json, size_t row);

static void put_column(struct firefox_tables *t, struct json_output *json, const char *key,
		       size_t rows, put_cell *put)
{
	json_array(json, key);
	for (size_t i = 0; i < rows; i++)
		put(t, json, i);
	json_array_end(json);
}

static void put_number_or_null(struct json_output *json, uint64_t number, uint64_t null)
{
	if (number == null)
		json_null(json, NULL);
	else
		json_unsigned(json, NULL, number);
}

static void put_null(struct firefox_tables *t, struct json_output *json, size_t row)
{
	(void)t;
	(void)row;
	json_null(json, NULL);
}

static void put_zero(struct firefox_tables *t, struct json_output *json, size_t row)
{
	(void)t;
	(void)row;
	json_unsigned(json, NULL, 0);
}

static void put_one(struct firefox_tables *t, struct json_output *json, size_t row)
{
	(void)t;
	(void)row;
	json_unsigned(json, NULL, 1);
}

static void put_false(struct firefox_tables *t, struct json_output *json, size_t row)
{
	(void)t;
	(void)row;
	json_bool(json, NULL, false);
}

/* Columns of the stack table: a stack of the profile has a row for each line of its location. */
static void put_stacks(struct firefox_tables *t, struct json_output *json)
{
	const struct profile *p = t->profile;

	json_object(json, "stackTable");
	json_array(json, "frame");
	for (size_t i = PROFILE_ROOT + 1; i < p->stack_count; i++)
		for (uint32_t k = firefox_location(t, i)->line_count; k-- > 0;)
			json_unsigned(json, NULL, firefox_location(t, i)->lines + k);
	json_array_end(json);
	json_array(json, "prefixOffset");
	for (size_t i = PROFILE_ROOT + 1; i < p->stack_count; i++) {
		const uint32_t caller = p->stacks[i].caller;
		const uint32_t lines = firefox_location(t, i)->line_count;
		const uint32_t first = t->leaves[i] + 1 - lines;

		json_unsigned(json, NULL, caller == PROFILE_ROOT ? 0 : first - t->leaves[caller]);
		for (uint32_t k = 1; k < lines; k++)
			json_unsigned(json, NULL, 1);
	}
	json_array_end(json);
	json_unsigned(json, "length", t->stack_count);
	json_object_end(json);
}

/* In the lib's file. */
static void put_address(struct firefox_tables *t, struct json_output *json, size_t row)
{
	const struct profile_location *l = &t->profile->locations[t->frames[row].location];

	if (t->functions[t->frames[row].function].lib == PROFILE_NONE)
		json_number(json, NULL, -1);
	else
		json_unsigned(json, NULL, firefox_address(t, l));
}

/* The outermost frame of a location has depth 0. */
static void put_inline_depth(struct firefox_tables *t, struct json_output *json, size_t row)
{
	const struct profile_location *l = &t->profile->locations[t->frames[row].location];

	json_unsigned(json, NULL, l->lines + l->line_count - 1 - row);
}

static void put_frame_category(struct firefox_tables *t, struct json_output *json, size_t row)
{
	static const enum firefox_category categories[FRAME_KIND_COUNT] = {
		[FRAME_USER] = FIREFOX_USER,     [FRAME_KERNEL] = FIREFOX_KERNEL,
		[FRAME_INLINED] = FIREFOX_USER,  [FRAME_JIT] = FIREFOX_JIT,
		[FRAME_UNKNOWN] = FIREFOX_OTHER, [FRAME_COMMAND] = FIREFOX_OTHER,
	};
	const struct profile_line *line = &t->profile->lines[row];

	json_unsigned(json, NULL, categories[t->profile->functions[line->function].kind]);
}

static void put_frame_function(struct firefox_tables *t, struct json_output *json, size_t row)
{
	json_unsigned(json, NULL, t->frames[row].function);
}

static void put_frame_symbol(struct firefox_tables *t, struct json_output *json, size_t row)
{
	put_number_or_null(json, t->frames[row].symbol, PROFILE_NONE);
}

static void put_frame_line(struct firefox_tables *t, struct json_output *json, size_t row)
{
	put_number_or_null(json, t->profile->lines[row].line, 0);
}

static void put_frames(struct firefox_tables *t, struct json_output *json)
{
	const size_t rows = t->profile->line_count;

	json_object(json, "frameTable");
	put_column(t, json, "address", rows, put_address);
	put_column(t, json, "inlineDepth", rows, put_inline_depth);
	put_column(t, json, "category", rows, put_frame_category);
	put_column(t, json, "subcategory", rows, put_zero);
	put_column(t, json, "func", rows, put_frame_function);
	put_column(t, json, "nativeSymbol", rows, put_frame_symbol);
	put_column(t, json, "innerWindowID", rows, put_zero);
	put_column(t, json, "line", rows, put_frame_line);
	put_column(t, json, "column", rows, put_null);
	put_column(t, json, "originalLocation", rows, put_null);
	json_unsigned(json, "length", rows);
	json_object_end(json);
}

static const struct profile_function *function_of(const struct firefox_tables *t, size_t row)
{
	return &t->profile->functions[t->functions[row].function];
}

static void put_function_name(struct firefox_tables *t, struct json_output *json, size_t row)
{
	json_unsigned(json, NULL, firefox_string(t, function_of(t, row)->name));
}

static void put_function_resource(struct firefox_tables *t, struct json_output *json, size_t row)
{
	const uint32_t resource = t->functions[row].resource;

	json_number(json, NULL, resource == PROFILE_NONE ? -1 : (int64_t)resource);
}

static void put_function_source(struct firefox_tables *t, struct json_output *json, size_t row)
{
	put_number_or_null(json, t->functions[row].source, PROFILE_NONE);
}

static void put_functions(struct firefox_tables *t, struct json_output *json)
{
	const size_t rows = t->function_count;

	json_object(json, "funcTable");
	put_column(t, json, "name", rows, put_function_name);
	put_column(t, json, "isJS", rows, put_false);
	put_column(t, json, "relevantForJS", rows, put_false);
	put_column(t, json, "resource", rows, put_function_resource);
	put_column(t, json, "source", rows, put_function_source);
	put_column(t, json, "lineNumber", rows, put_null);
	put_column(t, json, "columnNumber", rows, put_null);
	put_column(t, json, "originalLocation", rows, put_null);
	json_unsigned(json, "length", rows);
	json_object_end(json);
}

static void put_resource_name(struct firefox_tables *t, struct json_output *json, size_t row)
{
	json_unsigned(json, NULL, firefox_string(t, base_name(t->resources[row].name)));
}

static void put_resource_lib(struct firefox_tables *t, struct json_output *json, size_t row)
{
	put_number_or_null(json, t->resources[row].lib, PROFILE_NONE);
}

static void put_resource_type(struct firefox_tables *t, struct json_output *json, size_t row)
{
	const bool library = t->resources[row].lib != PROFILE_NONE;

	json_unsigned(json, NULL, library ? RESOURCE_LIBRARY : RESOURCE_UNKNOWN);
}

static void put_resources(struct firefox_tables *t, struct json_output *json)
{
	const size_t rows = t->resource_count;

	json_object(json, "resourceTable");
	put_column(t, json, "name", rows, put_resource_name);
	put_column(t, json, "host", rows, put_null);
	put_column(t, json, "lib", rows, put_resource_lib);
	put_column(t, json, "type", rows, put_resource_type);
	json_unsigned(json, "length", rows);
	json_object_end(json);
}

static void put_symbol_lib(struct firefox_tables *t, struct json_output *json, size_t row)
{
	json_unsigned(json, NULL, t->symbols[row].lib);
}

static void put_symbol_address(struct firefox_tables *t, struct json_output *json, size_t row)
{
	json_unsigned(json, NULL, t->symbols[row].address);
}

static void put_symbol_name(struct firefox_tables *t, struct json_output *json, size_t row)
{
	const struct profile_function *f = &t->profile->functions[t->symbols[row].function];

	json_unsigned(json, NULL, firefox_string(t, f->name));
}

static void put_symbol_size(struct firefox_tables *t, struct json_output *json, size_t row)
{
	put_number_or_null(json, t->symbols[row].size, 0);
}

static void put_symbols(struct firefox_tables *t, struct json_output *json)
{
	const size_t rows = t->symbol_count;

	json_object(json, "nativeSymbols");
	put_column(t, json, "libIndex", rows, put_symbol_lib);
	put_column(t, json, "address", rows, put_symbol_address);
	put_column(t, json, "name", rows, put_symbol_name);
	put_column(t, json, "functionSize", rows, put_symbol_size);
	json_unsigned(json, "length", rows);
	json_object_end(json);
}

static void put_source_name(struct firefox_tables *t, struct json_output *json, size_t row)
{
	json_unsigned(json, NULL, firefox_string(t, t->sources[row]));
}

static void put_sources(struct firefox_tables *t, struct json_output *json)
{
	const size_t rows = t->source_count;

	json_object(json, "sources");
	put_column(t, json, "id", rows, put_null);
	put_column(t, json, "filename", rows, put_source_name);
	put_column(t, json, "startLine", rows, put_one);
	put_column(t, json, "startColumn", rows, put_one);
	put_column(t, json, "sourceMapURL", rows, put_null);
	put_column(t, json, "content", rows, put_null);
	json_unsigned(json, "length", rows);
	json_object_end(json);
}

/* Tables that have rows in no profile of this writer. */
static void put_empty_table(struct json_output *json, const char *key, const char *const *columns)
{
	json_object(json, key);
	for (; *columns; columns++) {
		json_array(json, *columns);
		json_array_end(json);
	}
	json_unsigned(json, "length", 0);
	json_object_end(json);
}

static void put_text(struct firefox_tables *t, struct json_output *json, size_t row)
{
	firefox_put_text(t, json, NULL, t->strings[row]);
}

void firefox_put_shared(struct firefox_tables *tables, struct json_output *json)
{
	static const char *const places[] = {"source", "line", "column", NULL};

	json_object(json, "shared");
	put_stacks(tables, json);
	put_frames(tables, json);
	put_functions(tables, json);
	put_resources(tables, json);
	put_symbols(tables, json);
	put_sources(tables, json);
	put_empty_table(json, "sourceLocationTable", places);
	put_column(tables, json, "stringArray", tables->string_count, put_text);
	json_object_end(json);
}
