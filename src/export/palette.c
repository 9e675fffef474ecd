/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/palette.h"

/* clang-format off */
static const char *const fills[2][PALETTE_FAMILIES][PALETTE_SHADES] = {
	{
		[FRAME_USER] = {
			"#ffb47a", "#ffc17f", "#f7b970", "#fec778",
			"#edbf6b", "#f3cd75", "#e1c56a", "#e6d377",
		},
		[FRAME_KERNEL] = {
			"#f2747c", "#fe7f80", "#f27570", "#fe8174",
			"#f27764", "#fd8368", "#f17957", "#fc865b",
		},
		[FRAME_INLINED] = {
			"#93d9d8", "#9de3e8", "#93d7e2", "#9fe1f1",
			"#96d5ea", "#a4dff9", "#9dd2f1", "#abdcff",
		},
		[FRAME_JIT] = {
			"#a9d47b", "#ace18b", "#9bd786", "#9ee397",
			"#8cd992", "#90e6a3", "#7edb9e", "#82e7af",
		},
		[FRAME_UNKNOWN] = {
			"#d4cfcb", "#dfdad6", "#d4cfcb", "#dfdbd6",
			"#d3d0cb", "#dedbd6", "#d3d0cb", "#dddbd6",
		},
		[FRAME_COMMAND] = {
			"#b2c2d7", "#becce3", "#b5c1d8", "#c1cbe3",
			"#b8bfd8", "#c5cae3", "#bcbed7", "#c8c9e2",
		},
		[FRAME_ON_CPU] = {
			"#c6c458", "#ced066", "#c0c65c", "#c8d26a",
			"#bac860", "#c1d46e", "#b3ca65", "#bbd673",
		},
		[FRAME_OFF_CPU] = {
			"#c4b2ee", "#d2bdf8", "#c9b1eb", "#d7bbf5",
			"#ceafe8", "#dcb9f1", "#d3aee4", "#e0b8ed",
		},
		[PALETTE_GROWN] = {
			"#eed8d6", "#f1ccc8", "#f4c0ba", "#f6b3ad",
			"#f7a69f", "#f89992", "#f88c84", "#f87e77",
		},
		[PALETTE_SHRUNK] = {
			"#d1e0ee", "#bfdaf1", "#aed3f4", "#9cccf7",
			"#89c6f9", "#75befb", "#5fb7fd", "#46b0ff",
		},
	},
	{
		[FRAME_USER] = {
			"#7c4a25", "#835429", "#774e1c", "#7d5822",
			"#715215", "#765c1f", "#695613", "#6d6020",
		},
		[FRAME_KERNEL] = {
			"#8a2e37", "#94373b", "#8a2f2f", "#943933",
			"#8a3026", "#943a2a", "#8a321c", "#933c20",
		},
		[FRAME_INLINED] = {
			"#1a5d60", "#25656d", "#1d5c68", "#2a6374",
			"#245a6e", "#316179", "#2d5772", "#3a5f7d",
		},
		[FRAME_JIT] = {
			"#3e602a", "#436936", "#366131", "#3a6b3c",
			"#2d6237", "#316c43", "#23633e", "#286d4a",
		},
		[FRAME_UNKNOWN] = {
			"#4e4946", "#56524e", "#4d4946", "#55524e",
			"#4d4a45", "#55524e", "#4c4a45", "#54524e",
		},
		[FRAME_COMMAND] = {
			"#36465a", "#404e63", "#3a455b", "#434d63",
			"#3d445b", "#474b63", "#41435a", "#4a4a62",
		},
		[FRAME_ON_CPU] = {
			"#515015", "#585920", "#4e5118", "#555a22",
			"#4b521b", "#515b25", "#48531d", "#4e5c28",
		},
		[FRAME_OFF_CPU] = {
			"#504766", "#5a4f6d", "#534664", "#5c4e6c",
			"#554562", "#5f4d6a", "#584560", "#614c68",
		},
		[PALETTE_GROWN] = {
			"#453a39", "#4f3a38", "#583936", "#613835",
			"#6a3633", "#733431", "#7c322f", "#852e2c",
		},
		[PALETTE_SHRUNK] = {
			"#373e45", "#33424f", "#2e4559", "#274863",
			"#204b6d", "#154e78", "#015182", "#00548c",
		},
	},
};
/* clang-format on */

static const struct {
	const char *label;
	char class;
} families[PALETTE_FAMILIES] = {
	[FRAME_USER] = {"user", 'u'},       [FRAME_KERNEL] = {"kernel", 'k'},
	[FRAME_INLINED] = {"inlined", 'i'}, [FRAME_JIT] = {"JIT", 'j'},
	[FRAME_UNKNOWN] = {"unknown", 'x'}, [FRAME_COMMAND] = {"command", 'c'},
	[FRAME_ON_CPU] = {"on CPU", 'o'},   [FRAME_OFF_CPU] = {"off CPU", 'w'},
	[PALETTE_GROWN] = {"more", 'g'},    [PALETTE_SHRUNK] = {"less", 's'},
};

/* FNV-1a: unkeyed, for a name must look the same in every picture. */
unsigned int palette_colour(const struct call_frame *frame)
{
	uint32_t hash = 2166136261;

	for (const char *c = frame->name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619;
	hash ^= hash >> 15;
	return (unsigned int)frame->kind * PALETTE_SHADES + hash % PALETTE_SHADES;
}

const char *palette_fill(unsigned int colour, bool dark)
{
	return fills[dark][colour / PALETTE_SHADES][colour % PALETTE_SHADES];
}

unsigned int palette_change(int64_t points, int64_t most)
{
	const unsigned int family = points > 0 ? PALETTE_GROWN : PALETTE_SHRUNK;
	const int64_t size = points < 0 ? -points : points;

	if (!points)
		return FRAME_UNKNOWN * PALETTE_SHADES;
	return family * PALETTE_SHADES +
	       (unsigned int)(size >= most ? PALETTE_SHADES - 1 : size * PALETTE_SHADES / most);
}

char palette_class(unsigned int family)
{
	return families[family].class;
}

const char *palette_label(unsigned int family)
{
	return families[family].label;
}
