/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/annotation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct annotated_function spin = {
	.name = "spin",
	.dso = "/tmp/chain",
	.event = "cycles",
	.samples = 8,
	.weight = 800,
	.all_samples = 10,
	.all = 1000,
	.start = 0x1000,
	.end = 0x1010,
};

/* What is printed of some instructions, after the head. */
static char *print(const struct annotated_code *codes, size_t count)
{
	struct annotation annotation;
	char *text, *body;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	annotation_begin(&annotation, &spin, out);
	for (size_t i = 0; i < count; i++)
		annotation_code(&annotation, &codes[i]);
	fclose(out);
	body = strdup(strstr(text, "....\n#\n") + strlen("....\n#\n"));
	free(text);
	return body;
}

static void the_head_says_what_is_shown_and_what_is_missing(void **state)
{
	struct annotated_function function = spin;
	struct annotation annotation;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	annotation_begin(&annotation, &spin, out);
	function.end = function.start;
	function.note = "it is gone";
	annotation_begin(&annotation, &function, out);
	fclose(out);
	assert_non_null(strstr(text, "# spin, in chain: 80.00% of 10 samples of 'cycles'\n"
				     "# /tmp/chain 0x1000-0x1010\n#\n"));
	assert_non_null(strstr(text, "# /tmp/chain\n# No instructions: it is gone\n#\n"));
	free(text);
}

static void a_line_is_shown_where_it_begins(void **state)
{
	const struct annotated_code codes[] = {
		{.address = 0x1000, .text = "nop", .file = "/a.c", .line = 3, .source = "\tx();"},
		{.address = 0x1001, .weight = 200, .text = "nop", .file = "/a.c", .line = 3},
		{.address = 0x1002,
		 .weight = 600,
		 .text = "ret",
		 .file = "/a.h",
		 .line = 3,
		 .inlined = "y"},
		{.address = 0x1003, .text = "int3"},
		{.address = 0x1004, .text = "int3"},
	};
	char *text = print(codes, 5);

	assert_string_equal(text, "                    a.c:3      x();\n"
				  "              1000  nop\n"
				  "   25.00%     1001  nop\n"
				  "                    y (inlined)  a.h:3\n"
				  "   75.00%     1002  ret\n"
				  "              1003  int3\n"
				  "              1004  int3\n");
	free(text);
}

static void targets_have_names(void **state)
{
	const struct annotated_code codes[] = {
		{.address = 0x1000, .text = "call 20", .target = "f"},
		{.address = 0x1005, .text = "jmp 24", .target = "f", .into = 4},
		{.address = 0x1006, .weight = 800, .text = "", .target = "spin", .into = 6},
	};
	char *text = print(codes, 3);

	assert_string_equal(text, "              1000  call 20 <f>\n"
				  "              1005  jmp 24 <f+0x4>\n"
				  "  100.00%     1006 <spin+0x6>\n");
	free(text);
}

static void what_is_left_out_keeps_its_weight(void **state)
{
	struct annotation annotation;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	annotation_begin(&annotation, &spin, out);
	annotation_gap(&annotation, 1, 0);
	annotation_gap(&annotation, 12, 8);
	fclose(out);
	assert_non_null(strstr(text, "                    [ 1 instruction ]\n"
				     "    1.00%           [ 12 instructions ]\n"));
	free(text);
}

static void hostile_names_command_nothing(void **state)
{
	const struct annotated_code code = {.address = 0x1000,
					    .text = "nop",
					    .file = "/\033[2J\n.c",
					    .line = 1,
					    .inlined = "\033]0;x\a",
					    .source = "\t\033[31m\xff\r\n"};
	char *text = print(&code, 1);

	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\a'));
	assert_null(strchr(text, '\r'));
	assert_string_equal(strchr(text, '\n'), "\n              1000  nop\n");
	free(text);
}

static void of_long_names_the_function_stays(void **state)
{
	const struct {
		const char *name, *printed;
	} cases[] = {
		{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
		 ">::compare",
		 "std::__cxx11::basic_string<>::compare"},
		{"list<node<char>, 3>::push", "list<node<char>, 3>::push"},
		{"a_namespace_with_a_long_name::operator<< <std::char_traits<char>, int>",
		 "a_namespace_with_a_long_name::operator<< <>"},
		{"a_namespace_with_a_long_name::pointer<another_long_name<char> >::operator->",
		 "a_namespace_with_a_long_name::pointer<>::operator->"},
		{"a_name_without_sense_that_is_as_long_as_names_should_not_be>>>>::f<",
		 "a_name_without_sense_that_is_as_long_as_names_should_not_be>>>>…"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct annotated_code code = {.text = "nop", .inlined = cases[i].name};
		char *text = print(&code, 1), *end = strstr(text, " (inlined)");

		assert_non_null(end);
		*end = '\0';
		assert_string_equal(text + strspn(text, " "), cases[i].printed);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_long_names_the_function_stays),
		cmocka_unit_test(the_head_says_what_is_shown_and_what_is_missing),
		cmocka_unit_test(a_line_is_shown_where_it_begins),
		cmocka_unit_test(targets_have_names),
		cmocka_unit_test(what_is_left_out_keeps_its_weight),
		cmocka_unit_test(hostile_names_command_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
