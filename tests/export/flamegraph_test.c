/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stacks.h"

#include <errno.h>
#include <stdbool.h>

#include "export/flamegraph.h"
#include "export/palette.h"
#include "xml_reader.h"

static const struct flamegraph_options usual_options = {.min_width = 0.1};

static char *drawn(const struct call_tree *tree, const struct flamegraph_options *options)
{
	struct text text;
	const char *fault;

	assert_int_equal(
		flamegraph_write(tree, options ? options : &usual_options, text_stream(&text)), 0);
	fault = xml_reader_check(text_finish(&text));
	if (fault)
		print_error("not well-formed: %s\n", fault);
	assert_null(fault);
	return text.data;
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

static struct call_tree *example(void)
{
	struct call_tree *tree = tree_open();

	tree_add(tree, "main;alpha;beta", 60);
	tree_add(tree, "main;alpha;k:write", 20);
	tree_add(tree, "main;gamma;i:tiny", 20);
	return tree;
}

static void the_reader_of_the_test_is_strict(void **state)
{
	static const char *const wrong[] = {
		"<a/>",
		"<?xml version=\"1.0\"?>",
		"<?xml version=\"1.0\"?><a>",
		"<?xml version=\"1.0\"?><a></b>",
		"<?xml version=\"1.0\"?><a/><b/>",
		"<?xml version=\"1.0\"?><a b=\"<\"/>",
		"<?xml version=\"1.0\"?><a b=\"1\" b=\"2\"/>",
		"<?xml version=\"1.0\"?><a b=\"1\"c=\"2\"/>",
		"<?xml version=\"1.0\"?><a>&</a>",
		"<?xml version=\"1.0\"?><a>&#1;</a>",
		"<?xml version=\"1.0\"?><a>\x01</a>",
		"<?xml version=\"1.0\"?><a>\xff</a>",
		"<?xml version=\"1.0\"?><a>]]></a>",
		"<?xml version=\"1.0\"?><a><![CDATA[</a>",
		"<?xml version=\"1.0\"?><a/>x",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_non_null(xml_reader_check(wrong[i]));
	assert_null(xml_reader_check(
		"<?xml version=\"1.0\"?>\n<a b=\"&#60;\">t<c/><![CDATA[<&]]></a>\n"));
}

static void a_picture_needs_nothing_else(void **state)
{
	struct call_tree *tree = example();
	char *svg = drawn(tree, NULL);

	assert_int_equal(count(svg, "http"), 2); /* the names of SVG and of HTML */
	assert_int_equal(count(svg, "http://www.w3.org/2000/svg"), 1);
	assert_int_equal(count(svg, "http://www.w3.org/1999/xhtml"), 1);
	assert_int_equal(count(svg, "href") + count(svg, "url(") + count(svg, "@import"), 0);
	free(svg);
	call_tree_close(tree);
}

static void the_still_picture_shows_every_frame(void **state)
{
	struct call_tree *tree = example();
	char *svg = drawn(tree, NULL);

	assert_non_null(strstr(svg, ">all</text>"));
	assert_non_null(strstr(svg, ">main</text>"));
	assert_non_null(strstr(svg, ">write</text>"));
	assert_non_null(strstr(svg, ">Flame graph</title>") || strstr(svg, "<title>Flame graph<"));
	/* the root spans all of the lowest row, alpha four fifths of the third */
	assert_non_null(strstr(svg, "M10,138h1179.3v17h-1179.3z"));
	assert_non_null(strstr(svg, "M10,102h943.3v17h-943.3z"));
	/* callers first: symbol, levels to climb, gap, weight */
	assert_non_null(strstr(svg, "nodes:[0,0,0,100,1,0,0,100,2,0,0,80,3,0,0,60,4,1,0,20,"
				    "5,2,0,20,6,0,0,20,]"));
	free(svg);
	call_tree_close(tree);
}

static void inverted_pictures_hang_from_the_top(void **state)
{
	struct flamegraph_options options = usual_options;
	struct call_tree *tree = example();
	char *svg;

	options.inverted = true;
	svg = drawn(tree, &options);
	assert_non_null(strstr(svg, "M10,84h1179.3v17h-1179.3z"));
	assert_non_null(strstr(svg, "M10,120h943.3v17h-943.3z"));
	free(svg);
	call_tree_close(tree);
}

/* What is seen of it first is its top. */
static void high_pictures_hang_from_the_top(void **state)
{
	struct flamegraph_options options = usual_options;
	struct call_frame frames[60];
	struct call_tree *tree;
	char *svg;

	for (size_t i = 0; i < 60; i++)
		frames[i] = (struct call_frame){.name = "f", .dso = i % 2 ? "a" : "b"};
	assert_int_equal(call_tree_open(&tree), 0);
	assert_int_equal(call_tree_add(tree, frames, 40, 1), 0);
	svg = drawn(tree, &options);
	assert_non_null(strstr(svg, "inverted:0"));
	free(svg);
	assert_int_equal(call_tree_add(tree, frames, 60, 1), 0);
	svg = drawn(tree, &options);
	assert_non_null(strstr(svg, "inverted:1"));
	free(svg);
	options.upright = true;
	svg = drawn(tree, &options);
	assert_non_null(strstr(svg, "inverted:0"));
	free(svg);
	call_tree_close(tree);
}

static void title_reaches_the_picture(void **state)
{
	struct flamegraph_options options = {.title = "a <b> & \"c\x1b\""};
	struct call_tree *tree = example();
	char *svg = drawn(tree, &options);

	assert_int_equal(count(svg, "a &#60;b&#62; &#38; &#34;c&#34;<"), 2);
	assert_non_null(strstr(svg, ">100 samples<"));
	free(svg);
	call_tree_close(tree);
}

static void absurd_width_is_refused(void **state)
{
	struct call_tree *tree = example();

	assert_int_equal(
		flamegraph_write(tree, &(struct flamegraph_options){.min_width = 1e300}, stderr),
		-EINVAL);
	call_tree_close(tree);
}

static void frames_too_narrow_to_see_are_left_out_and_counted(void **state)
{
	struct flamegraph_options options = usual_options;
	struct call_tree *tree = example();
	char *svg;

	tree_add(tree, "main;hair;split", 1);
	tree_add(tree, "main;zeta", 1000000);
	svg = drawn(tree, &options);
	assert_null(strstr(svg, "hair"));
	assert_non_null(strstr(svg, ">Frames left out as too narrow to see: 7<"));
	assert_non_null(strstr(svg, "nodes:[0,0,0,1000101,1,0,0,1000101,2,0,101,1000000,]"));
	free(svg);
	options.min_width = 0;
	svg = drawn(tree, &options);
	assert_non_null(strstr(svg, "\"hair\""));
	assert_null(strstr(svg, "left out as"));
	free(svg);
	call_tree_close(tree);
}

static void hostile_names_are_harmless(void **state)
{
	static const char *const names[] = {
		"</text><script>alert(1)</script>",
		"]]></script><script>",
		"\"];alert(1);[\"",
		"\\",
		"a\x01\x1b\n\x7f",
		"\xff\xfe\xc3",
		"\xe2\x80\xae gnitset",
		"&amp;&#0;",
		"'",
		"\xef\xbf\xbf",
	};
	struct call_tree *tree = tree_open();
	char *svg;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct call_frame frame = {names[i], names[i], FRAME_USER, 0, NULL};

		assert_int_equal(call_tree_add(tree, &frame, 1, 1), 0);
	}
	svg = drawn(tree, NULL);
	assert_int_equal(count(svg, "<script>"), 1);
	assert_int_equal(count(svg, "]]>"), 1);
	assert_non_null(strstr(svg, "\"\\x22\\x5d;alert(1);[\\x22\""));
	assert_non_null(strstr(svg, "\"\\x5c\""));
	free(svg);
	call_tree_close(tree);
}

static void a_very_long_name_is_cut(void **state)
{
	struct call_tree *tree = tree_open();
	struct call_frame frame = {.name = NULL};
	char name[5000];
	char *svg;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	frame.name = name;
	assert_int_equal(call_tree_add(tree, &frame, 1, 1), 0);
	svg = drawn(tree, NULL);
	name[512] = '\0';
	assert_null(strstr(svg, name));
	name[511] = '\0';
	assert_non_null(strstr(svg, name));
	free(svg);
	call_tree_close(tree);
}

static void an_empty_tree_is_a_picture_without_a_script(void **state)
{
	struct call_tree *tree = tree_open();
	char *svg = drawn(tree, NULL);

	assert_null(strstr(svg, "<script"));
	assert_non_null(strstr(svg, ">0 samples<"));
	free(svg);
	call_tree_close(tree);
}

static void a_stack_of_4000_frames_is_a_high_picture(void **state)
{
	struct call_tree *tree = tree_open();
	char *svg;

	tree_add_deep(tree, 4000, 1);
	svg = drawn(tree, NULL);
	assert_non_null(strstr(svg, "height=\"72112\""));
	assert_true(strlen(svg) < 800000);
	free(svg);
	call_tree_close(tree);
}

/* 100 callers with 100 callees each, names of 40 bytes. */
static void ten_thousand_frames_stay_small(void **state)
{
	struct flamegraph_options options = {.min_width = 0};
	struct call_tree *tree = tree_open();
	char *svg;

	for (int i = 0; i < 10000; i++) {
		char text[128];

		snprintf(text, sizeof(text),
			 "main;some_function_with_a_longish_name_nr_%04d;"
			 "another_function_that_is_called_there_%04d",
			 i / 100, i % 3000);
		tree_add(tree, text, (uint64_t)(1 + i % 7));
	}
	svg = drawn(tree, &options);
	assert_int_equal(count(svg, "v17h-"), 10102);
	assert_true(strlen(svg) < 1000000);
	free(svg);
	call_tree_close(tree);
}

static void the_greatest_weight_is_drawn(void **state)
{
	struct call_tree *tree = tree_open();
	char *svg;

	tree_add(tree, "main;half", UINT64_MAX / 2);
	tree_add(tree, "main;rest", UINT64_MAX - UINT64_MAX / 2);
	svg = drawn(tree, NULL);
	assert_non_null(strstr(svg, "M600,84h589.3v17h-589.3z") ||
			strstr(svg, "M599.9,84h589.4v17h-589.4z"));
	free(svg);
	call_tree_close(tree);
}

static void colours_tell_kinds_and_depend_on_names_only(void **state)
{
	struct call_frame user = {"memcpy", "/lib/a", FRAME_USER, 0, NULL};
	struct call_frame other = {"memcpy", "/lib/b", FRAME_USER, 0, NULL};
	struct call_frame kernel = {"memcpy", "/lib/a", FRAME_KERNEL, 0, NULL};

	assert_int_equal(palette_colour(&user), palette_colour(&other));
	assert_int_not_equal(palette_colour(&user), palette_colour(&kernel));
	for (unsigned int i = 0; i < PALETTE_SIZE; i++) {
		assert_int_equal(strlen(palette_fill(i, false)), 7);
		assert_int_equal(strlen(palette_fill(i, true)), 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reader_of_the_test_is_strict),
		cmocka_unit_test(a_picture_needs_nothing_else),
		cmocka_unit_test(the_still_picture_shows_every_frame),
		cmocka_unit_test(inverted_pictures_hang_from_the_top),
		cmocka_unit_test(high_pictures_hang_from_the_top),
		cmocka_unit_test(title_reaches_the_picture),
		cmocka_unit_test(absurd_width_is_refused),
		cmocka_unit_test(frames_too_narrow_to_see_are_left_out_and_counted),
		cmocka_unit_test(hostile_names_are_harmless),
		cmocka_unit_test(a_very_long_name_is_cut),
		cmocka_unit_test(an_empty_tree_is_a_picture_without_a_script),
		cmocka_unit_test(a_stack_of_4000_frames_is_a_high_picture),
		cmocka_unit_test(ten_thousand_frames_stay_small),
		cmocka_unit_test(the_greatest_weight_is_drawn),
		cmocka_unit_test(colours_tell_kinds_and_depend_on_names_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
