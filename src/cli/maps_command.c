/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/live_process.h"
#include "cli/table_coverage.h"
#include "export/json_output.h"
#include "export/safe_text.h"
#include "unwind/space.h"

/* "V3" after ".sframe" */
static void print_table(const struct code_piece *piece, enum bobbin_source source, const char *gap)
{
	printf("%s%s", gap, bobbin_source_str(source));
	if (source == BOBBIN_SOURCE_SFRAME && piece->sframe_version)
		printf(" V%u", piece->sframe_version);
	printf(" %.2f %%", percent(piece->covered[source], piece->text));
}

/* Of all that cover a part; what goes before something more, "" if there are none. */
static const char *print_tables(const struct code_piece *piece)
{
	const char *gap = "";

	for (enum bobbin_source s = 0; s < BOBBIN_SOURCE_COUNT; s++) {
		if (!piece->covered[s])
			continue;
		print_table(piece, s, gap);
		gap = ", ";
	}
	return gap;
}

static void print_piece(const struct code_piece *piece)
{
	printf("%012" PRIx64 "-%012" PRIx64 " ", piece->start, piece->end);
	if (!*print_tables(piece))
		fputs(piece->frame_pointer ? "frame pointer only" : "none", stdout);
	if (piece->registered)
		fputs(" (registered)", stdout);
	if (piece->debugger_image)
		fputs(" (JIT image)", stdout);
	fputs("  ", stdout);
	safe_text_plain(stdout, piece->path);
	putchar('\n');
	if (piece->dropped.reason)
		printf("%26s.sframe or table dropped: offset 0x%" PRIx64 ": %s\n", "",
		       piece->dropped.offset, bobbin_reason_str(piece->dropped.reason));
}

static void print_total(const struct code_piece *sum)
{
	uint64_t left = sum->text;

	for (enum bobbin_source s = 0; s < BOBBIN_SOURCE_COUNT; s++)
		left -= sum->covered[s];
	printf("total: %" PRIu64 " KiB of code: ", sum->text >> 10);
	printf("%sby no table %.2f %%\n", print_tables(sum), percent(left, sum->text));
}

static void json_piece(struct json_output *json, const char *key, const struct code_piece *piece)
{
	json_object(json, key);
	if (piece->end) {
		json_address(json, "start", piece->start);
		json_address(json, "end", piece->end);
		json_string(json, "path", piece->path);
		json_bool(json, "registered", piece->registered);
		json_bool(json, "jit_image", piece->debugger_image);
		json_bool(json, "frame_pointer", piece->frame_pointer);
	}
	json_unsigned(json, "text", piece->text);
	json_object(json, "covered");
	for (enum bobbin_source s = 0; s < BOBBIN_SOURCE_COUNT; s++)
		if (piece->covered[s])
			json_unsigned(json, bobbin_source_str(s), piece->covered[s]);
	json_object_end(json);
	if (piece->sframe_version)
		json_unsigned(json, "sframe_version", piece->sframe_version);
	if (piece->dropped.reason) {
		json_object(json, "dropped");
		json_unsigned(json, "offset", piece->dropped.offset);
		json_string(json, "reason", bobbin_reason_name(piece->dropped.reason));
		json_object_end(json);
	}
	json_object_end(json);
}

struct listing {
	struct json_output *json; /* or NULL */
	struct code_piece sum;
};

static int list_piece(void *ctx, const struct code_piece *piece)
{
	struct listing *l = ctx;

	if (l->json)
		json_piece(l->json, NULL, piece);
	else
		print_piece(piece);
	l->sum.text += piece->text;
	for (unsigned int s = 0; s < BOBBIN_SOURCE_COUNT; s++)
		l->sum.covered[s] += piece->covered[s];
	return 0;
}

static int list(struct live_process *live, bool as_json)
{
	struct json_output json = json_output(stdout);
	struct listing l = {.json = as_json ? &json : NULL};
	int r;

	if (as_json) {
		json_object(&json, NULL);
		json_unsigned(&json, "pid", (uint64_t)live->pid);
		json_array(&json, "code");
	}
	r = code_pieces(live->unwinder, bobbin_process_space(live->process), list_piece, &l);
	if (as_json) {
		json_array_end(&json);
		json_piece(&json, "total", &l.sum);
		json_object_end(&json);
	} else if (!r) {
		print_total(&l.sum);
	}
	return r;
}

static int show(const struct arguments *a, struct live_process *live)
{
	struct bobbin_space *space = bobbin_process_space(live->process);

	/* the kernel's threads, and what has ended and is not waited for */
	if (!space->maps.count)
		return -ESRCH;
	live_process_tell_code(live, true);
	return list(live, a->json);
}

int run_maps(struct arguments *a)
{
	struct live_process live;
	pid_t pid;
	int r;

	if (!parse_pid(a->operands[0], &pid))
		return EXIT_USAGE;
	r = live_process_open(&a->unwind, a->infer, pid, &live);
	if (!r)
		r = show(a, &live);
	if (r)
		complain_process("process", pid, r);
	live_process_close(&live);
	return !finish_output() || r;
}
