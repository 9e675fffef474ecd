/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * command.h - what the commands of `bobbin` share.
 */
#ifndef BOBBIN_CLI_COMMAND_H
#define BOBBIN_CLI_COMMAND_H

#include <bobbin/reason.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define EXIT_USAGE 2

struct arguments;
struct naming_loss;
struct symbolizer_options;

/*
 * The commands: functions of their options and operands.  They return the exit status: 0, 1 for
 * a failure (after one line on stderr), 2 for a wrong call.
 */
int run_record(struct arguments *a);
int run_heap(struct arguments *a);
int run_agent(struct arguments *a);
int run_top(struct arguments *a);
int run_report(struct arguments *a);
int run_script(struct arguments *a);
int run_flamegraph(struct arguments *a);
int run_annotate(struct arguments *a);
int run_diff(struct arguments *a);
int run_export(struct arguments *a);
int run_stack(struct arguments *a);
int run_core(struct arguments *a);
int run_maps(struct arguments *a);
int run_doctor(struct arguments *a);
int run_sframe_dump(struct arguments *a);
int run_sframe_check(struct arguments *a);
int run_sframe_lint(struct arguments *a);
int run_sframe_convert(struct arguments *a);
int run_sframe_stat(struct arguments *a);
int run_sframe_merge(struct arguments *a);
int run_sframe_repair(struct arguments *a);
int run_sframe_pack(struct arguments *a);
int run_sframe_unpack(struct arguments *a);

/* "bobbin: " and the message and a line end, on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a wrong call, with the name of the command instead: "bobbin record: ". */
void complain_use(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line on the terminal that stands until it is ended, which the next one and complaints do. */
void progress_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
void end_progress_line(void);

/* From now on complaints about the call are by "bobbin NAME". */
void call_as(const char *name);

/* What is called: "bobbin record". */
const char *called_command(void);

/* A hint on stderr about that command's help; returns EXIT_USAGE. */
int hint(void);

/* complain_use() and hint(). */
int refuse_call(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The line for a file that was refused: reason and offset, or the errno. */
void complain_file(const char *path, int error, const struct bobbin_error *err);

/* The line for a file whose names a symbolizer has lost, for a reason: its symbolizer_loss_fn. */
void complain_loss(void *ctx, const char *path, const char *reason);

/* Have complaints printed about files that cannot be read for their names. */
void complain_of_names(struct symbolizer_options *options);

/* Whether there are any frames without a name; complains of them in one line. */
bool tell_naming_loss(const struct naming_loss *loss);

/* Whether @r is no error; there is that line if it is one. */
bool accept_file(const char *path, int r, const struct bobbin_error *err);

/* A whole decimal number between the bounds, or a complaint and false. */
bool parse_number(const char *option, const char *text, uint64_t least, uint64_t most,
		  uint64_t *ret);

/* An address, "0x1000" or "4096"; false for what is none. */
bool read_address(const char *text, uint64_t *ret);

/* 0 of nothing. */
static inline double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/*
 * How many files may be open at a time: as many as the kernel allows this user; and as it was.
 *
 * A module's file stays open for as long as its tables are used, and each thread that is sampled
 * takes a descriptor or more.  The usual limit is low for the sake of programs that call
 * select(2), which we do not; they may, so a command that is run keeps the limit that we had.
 */
void file_limit_raise(void);
void file_limit_restore(void);

/* Whether stdout took everything; complains if not. */
bool finish_output(void);

#endif
