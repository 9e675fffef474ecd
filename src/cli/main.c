/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpfwalk/bpf_walk.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/option_table.h"
#include "infer/machine.h"

#define ANY_NUMBER INT_MAX
#define TEXT_WIDTH 80

/**
 * struct command - a command
 * @name: one word, or two: that of a group goes first
 * @summary: for the list of commands
 * @synopsis: what follows the name; a line for each form
 * @text: sentences
 * @options: the rows of the option table
 * @least, @most: the number of its operands
 * @operand: what one is, for those who complete it; NULL: there is none
 * @wanted: what to say if it is another one
 * @runs_program: the first operand and what follows it are another program's
 * @run: NULL: a group
 */
struct command {
	const char *name, *summary, *synopsis, *text;
	enum option_owner options;
	int least, most;
	const char *operand, *wanted;
	bool runs_program;
	int (*run)(struct arguments *a);
};

static int run_completion(struct arguments *a);

/* clang-format off */
static const struct command commands[] = {
	{"record", "sample a program and all that it starts",
	 "[OPTIONS] [--] COMMAND [ARGUMENTS]\n[OPTIONS] -p PID|-t TID",
	 "Sample a program, its threads and everything that it starts. Each sample is unwound by the "
	 "tables that the program's files have, and its call chain is written to a file that 'bobbin "
	 "report' and 'perf report' read. Without a command, Ctrl-C ends the recording. The exit "
	 "status is the command's.",
	 OF_RECORD, 0, ANY_NUMBER, "COMMAND", .runs_program = true, .run = run_record},
	{"heap", "sample what a program allocates, and what it does not free",
	 "[OPTIONS] [--] COMMAND [ARGUMENTS]",
	 "Sample the blocks that a program and all that it starts allocate, by their bytes, with their call "
	 "chains, and note which of them are not freed in the end. The file is a recording of two events, "
	 "allocated-bytes and live-bytes, for 'bobbin report' and the others. SIGUSR1 adds what is not freed "
	 "then: dumped-bytes. The exit status is the command's.",
	 OF_HEAP, 1, ANY_NUMBER, "COMMAND", "a command to run is needed", .runs_program = true,
	 .run = run_heap},
	{"top", "show what runs now, as a live table",
	 "[OPTIONS] [--] [COMMAND [ARGUMENTS]]\n[OPTIONS] -p PID|-t TID",
	 "Show where the time goes now: a table of functions, with all that they call and alone, of "
	 "everything that runs, of processes, or of a command. In a terminal the table is refreshed "
	 "and keys sort, filter and show call graphs; 'h' lists them. Elsewhere one table after the "
	 "other is printed.",
	 OF_TOP, 0, ANY_NUMBER, "COMMAND", .runs_program = true, .run = run_top},
	{"agent", "profile the whole machine all the time",
	 "[OPTIONS]",
	 "Sample everything that runs, a few times per second, until Ctrl-C or SIGTERM. Each minute "
	 "becomes a recording in a folder, which all commands read; the oldest ones are removed. On "
	 "request each is also sent to an OpenTelemetry collector, or waits until that is there. SIGHUP "
	 "ends the present recording.",
	 OF_AGENT, 0, 0, .run = run_agent},
	{"report", "show where the time went",
	 "[OPTIONS]",
	 "Show where the time of a recording went: by function, with callers and callees. Reads the "
	 "files of 'bobbin record' and of 'perf record', with call chains or with copies of stacks, "
	 "which are unwound here.",
	 OF_REPORT, 0, 0, .run = run_report},
	{"annotate", "show which instructions of a function take the time",
	 "[OPTIONS] [FUNCTION...]",
	 "Show the instructions of functions, and the lines of source that they come from, with the "
	 "shares of the samples that were taken there. FUNCTION is a name, or a pattern of glob(7); without "
	 "one, the functions are shown that have most samples of their own.",
	 OF_ANNOTATE, 0, ANY_NUMBER, "FUNCTION", .run = run_annotate},
	{"script", "print each sample with its call chain",
	 "[OPTIONS]",
	 "Print each sample with its call chain, in the form of 'perf script', which other programs "
	 "can read.",
	 OF_SCRIPT, 0, 0, .run = run_script},
	{"flamegraph", "draw where the time went, as SVG",
	 "[OPTIONS] > FILE.svg",
	 "Draw a recording as a flame graph: one SVG file for any browser, with search (Ctrl-F) and "
	 "zoom (click).",
	 OF_FLAMEGRAPH, 0, 0, .run = run_flamegraph},
	{"export", "write a recording for other viewers",
	 "[OPTIONS] -o FILE",
	 "Write a recording in a format of other programs: pprof (FILE.pb.gz), which pprof, Parca, "
	 "Pyroscope and Perfetto read; callgrind (callgrind.out.NAME), for KCachegrind; firefox "
	 "(FILE.profile.json.gz), for profiler.firefox.com; speedscope (FILE.speedscope.json); chrome "
	 "(FILE.trace.json); or otlp (FILE.otlp), for OpenTelemetry's collector.",
	 OF_EXPORT, 0, 0, .run = run_export},
	{"diff", "show what has changed between two recordings",
	 "[OPTIONS] BEFORE AFTER",
	 "Show by how many percentage points the own share of each function is greater or smaller in the "
	 "second recording, the greatest change first. Files are compared by their names, so that "
	 "another build of a program may be compared with the first one.",
	 OF_DIFF, 2, 2, "FILE", "two recordings are needed", .run = run_diff},
	{"stack", "print the stacks of a running process",
	 "[OPTIONS] PID",
	 "Print the call chains of all threads of a running process. Each thread is stopped while "
	 "its stack is read.",
	 OF_STACK, 1, 1, "PID", "one process number is needed", .run = run_stack},
	{"core", "print the stacks of a core file",
	 "[OPTIONS] FILE\n[OPTIONS] -p PID -o DIR -",
	 "Print the call chains of all threads of a core file, that of the thread first that the signal "
	 "was for; '-' is standard input. The core's machine need not be this one. Code that the "
	 "core lacks is read from the mapped files, if they are here. As a helper of "
	 "kernel.core_pattern, with -p, it writes stacks and no memory.",
	 OF_CORE, 1, 1, "FILE", "one core file is needed", .run = run_core},
	{"maps", "show a process's code and what unwinds it",
	 "[OPTIONS] PID",
	 "Show the code of a running process and which tables cover it: for each mapping, and each "
	 "piece of code that the process registered or describes to debuggers, the share that each "
	 "table covers, in the order in which a walk asks them, and which tables were dropped, and "
	 "why.",
	 OF_MAPS, 1, 1, "PID", "one process number is needed", .run = run_maps},
	{"doctor", "tell what works on this machine",
	 "[OPTIONS]",
	 "Try what bobbin can use of this kernel, for the user who calls it. For what does not work, "
	 "tell what is there without it and what it takes: a setting, a capability or a kernel. The exit "
	 "status is 1 if nothing can be recorded.",
	 OF_DOCTOR, 0, 0, .run = run_doctor},
	{"completion", "print a script for a shell's completion",
	 "[OPTIONS] bash|zsh",
	 "Print a script by which the shell completes commands, their options, and files, processes and "
	 "formats after these.",
	 OF_COMPLETION, 1, 1, "SHELL", "one shell is needed", .run = run_completion},
	{"sframe", "print, check and make SFrame sections",
	 "COMMAND [ARGUMENTS]",
	 "Print, check and make SFrame sections. 'bobbin help sframe COMMAND' explains each command:",
	 0, 0, 0, .run = NULL},
	{"sframe dump", "print SFrame sections",
	 "[OPTIONS] FILE...",
	 "Print the header, the functions and the rows of each SFrame section of a file: a linked, "
	 "relocatable or core ELF file, or a section's bare bytes; '-' is standard input. The text is "
	 "close to that of 'objdump --sframe'.",
	 OF_DUMP, 1, ANY_NUMBER, "FILE", "no file was named", .run = run_sframe_dump},
	{"sframe check", "report what is wrong with SFrame sections",
	 "[OPTIONS] FILE...",
	 "Report all defects of the SFrame sections of files: linked, relocatable or core ELF files, "
	 "or a section's bare bytes; '-' is standard input. The exit status is 0 if there are only "
	 "notes, 1 if there are errors or warnings, 2 for a wrong call, and 3 if a file cannot be "
	 "read or has no SFrame section.",
	 OF_CHECK, 1, ANY_NUMBER, "FILE", "no file was named", .run = run_sframe_check},
	{"sframe lint", "find where unwind tables contradict the code",
	 "[OPTIONS] FILE...",
	 "Compare the call-frame information and the SFrame sections of linked files of x86-64 with the "
	 "rules that are inferred from their machine code, and report where the tables are wrong: "
	 "address and function, the instruction, what the table says, and what the code does. The "
	 "exit status is 0 if there is no such place, 1 if there is one, 2 for a wrong call, and 3 if "
	 "a file cannot be read or has no tables.",
	 OF_LINT, 1, ANY_NUMBER, "FILE", "no file was named", .run = run_sframe_lint},
	{"sframe convert", "make SFrame from call-frame information",
	 "[OPTIONS] FILE -o OUT\n[OPTIONS] FILE --in-place",
	 "Make an SFrame section from a file's .eh_frame and .debug_frame. OUT is a copy of the file "
	 "with the section: loaded, with a PT_GNU_SFRAME header, or, if the file is relocatable, with "
	 "relocations for the linker. With --infer, it also has rules for code without tables. It is "
	 "read back and compared with what it was made of before it gets its name.",
	 OF_CONVERT, 1, 1, "FILE", "one file is needed", .run = run_sframe_convert},
	{"sframe stat", "print sizes and coverage",
	 "[OPTIONS] FILE...",
	 "Print the size and the coverage of files' .sframe sections and of their call-frame "
	 "information, the result of converting the latter, and what is left out and why.",
	 OF_STAT, 1, ANY_NUMBER, "FILE", "at least one file is needed", .run = run_sframe_stat},
	{"sframe merge", "make one sorted section from several",
	 "[OPTIONS] FILE[@ADDRESS]...",
	 "Make one sorted SFrame section from those of several files: linked ELF files, core files, "
	 "or sections' bare bytes, which are at address 0 unless ADDRESS is given. If functions "
	 "overlap, the one of the earlier file is used; what is dropped or clipped is listed on "
	 "standard error.",
	 OF_MERGE, 1, ANY_NUMBER, "FILE", "no file to merge", .run = run_sframe_merge},
	{"sframe repair", "repair the SFrame section of a file",
	 "[OPTIONS] FILE -o OUT\n[OPTIONS] FILE --in-place",
	 "Make one sorted SFrame section from those of a linked ELF file, or from a section's bare "
	 "bytes, whatever is wrong with them. Functions are dropped if they are malformed, have no "
	 "code, are duplicates or are outside of the file's code; overlaps are clipped; headers are "
	 "written anew. Each change is listed on standard error.",
	 OF_REPAIR, 1, 1, "FILE", "exactly one file is needed", .run = run_sframe_repair},
	{"sframe pack", "store unwind tables in compressed side-files",
	 "[OPTIONS] DIR FILE...",
	 "Store the unwind tables of each linked FILE, a program, a library or its debug file, in a "
	 "compressed side-file, DIR/NN/NNNN.sframe.zst, where NN and NNNN are the file's build ID. "
	 "Functions of .sframe that are dropped or clipped are listed on standard error. "
	 "The other commands use side-files for files that have lost their tables, see --sframe-path.",
	 OF_PACK, 2, ANY_NUMBER, "FILE", "a folder and a file are needed", .run = run_sframe_pack},
	{"sframe unpack", "make a section from a side-file",
	 "[OPTIONS] SIDEFILE\n[OPTIONS] DIR FILE\n[OPTIONS] DIR BUILD-ID",
	 "Make an SFrame section from a side-file: from SIDEFILE, or from the one below DIR that "
	 "'bobbin sframe pack' made for FILE or for a file with that build ID in hexadecimal digits.",
	 OF_UNPACK, 1, 2, "FILE", "a side-file, or a folder and a file, are needed",
	 .run = run_sframe_unpack},
};
/* clang-format on */

#define COMMAND_COUNT (sizeof(commands) / sizeof(*commands))
#define COMMANDS (commands + COMMAND_COUNT)

static int run_completion(struct arguments *a)
{
	struct completed_command list[COMMAND_COUNT];

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		list[i] = (struct completed_command){commands[i].name, commands[i].summary,
						     commands[i].operand, !commands[i].run,
						     commands[i].options};
	if (!completion_print(a->operands[0], list, COMMAND_COUNT, stdout))
		return refuse_call("there is no script for '%s'", a->operands[0]);
	return finish_output() ? 0 : 1;
}

/* The word of a command in a group, or NULL; group NULL: of one that is in none. */
static const char *word_in(const struct command *command, const struct command *group)
{
	const char *space = strchr(command->name, ' ');
	size_t length = group ? strlen(group->name) : 0;

	if (!group)
		return space ? NULL : command->name;
	return space == command->name + length && !strncmp(command->name, group->name, length)
		       ? space + 1
		       : NULL;
}

static const struct command *find(const struct command *group, const char *word)
{
	for (const struct command *c = commands; c < COMMANDS; c++)
		if (word_in(c, group) && !strcmp(word_in(c, group), word))
			return c;
	return NULL;
}

static void list(const struct command *group, FILE *out)
{
	for (const struct command *c = commands; c < COMMANDS; c++)
		if (word_in(c, group))
			fprintf(out, "  %-12s %s\n", word_in(c, group), c->summary);
}

static int explain(const struct command *command)
{
	const char *lead = "usage:";

	for (const char *form = command->synopsis; *form; lead = "      ") {
		int length = (int)strcspn(form, "\n");

		printf("%s bobbin %s %.*s\n", lead, command->name, length, form);
		form += length + (form[length] == '\n');
	}
	putchar('\n');
	print_words(command->text, -1, 0, TEXT_WIDTH, stdout);
	fputs("\n\n", stdout);
	options_print(command->options, stdout);
	if (!command->run)
		list(command, stdout);
	return finish_output() ? 0 : 1;
}

/* Runs a command whose options were read. */
static int run_with(const struct command *command, enum option_result read, struct arguments *a)
{
	switch (read) {
	case OPTIONS_HELP:
		return explain(command);
	case OPTIONS_UNKNOWN:
		return hint();
	case OPTIONS_BAD:
		return EXIT_USAGE;
	default:
		if (a->operand_count > command->most && !command->most)
			return refuse_call("unexpected argument '%s'", a->operands[0]);
		if (a->operand_count < command->least || a->operand_count > command->most)
			return refuse_call("%s", command->wanted);
		return command->run(a);
	}
}

static int run(const struct command *command, int argc, char **argv)
{
	enum option_result read;
	struct arguments a;
	int status;

	call_as(command->name);
	read = options_read(command->options, command->runs_program, argc, argv, &a);
	status = run_with(command, read, &a);
	targets_close(&a.targets);
	scope_close(&a.scope);
	event_list_close(&a.events);
	free(a.event_names);
	sample_filter_fini(&a.filter);
	return status;
}

static int complain_unknown(const char *group, const char *word)
{
	complain("there is no command '%s %s'", group, word);
	call_as(group);
	return hint();
}

static int complain_no_command(const char *word)
{
	complain("there is no command '%s'; see 'bobbin help'", word);
	return EXIT_USAGE;
}

static bool is_help_option(const char *word)
{
	return !strcmp(word, "-h") || !strcmp(word, "--help");
}

/* Run the command that @argv names in one or two words. */
static int commands_run(int argc, char **argv)
{
	const struct command *command = find(NULL, argv[0]), *below;

	if (!command)
		return complain_no_command(argv[0]);
	if (command->run)
		return run(command, argc, argv);
	call_as(command->name);
	if (argc < 2)
		return refuse_call("one of its commands is needed");
	if (is_help_option(argv[1]))
		return explain(command);
	below = find(command, argv[1]);
	return below ? run(below, argc - 1, argv + 1) : complain_unknown(command->name, argv[1]);
}

/* Explain the command that @argv names to stdout. */
static int commands_help(int argc, char **argv)
{
	const struct command *command = find(NULL, argv[0]);

	if (!command)
		return complain_no_command(argv[0]);
	for (const char *word; --argc && !is_help_option(word = *++argv);) {
		const struct command *below = find(command, word);

		if (command->run) {
			complain("help: unexpected argument '%s'", word);
			return EXIT_USAGE;
		}
		if (!below)
			return complain_unknown(command->name, word);
		command = below;
	}
	return explain(command);
}

static void list_commands(FILE *out)
{
	fputs("usage: bobbin COMMAND [ARGUMENTS]\n\n"
	      "Profile programs that were built without frame pointers; make unwind tables.\n\n",
	      out);
	list(NULL, out);
	fputs("\n'bobbin help COMMAND' explains a command, 'man bobbin-COMMAND' in full.\n", out);
}

static bool asks_for_help(const char *word)
{
	return !strcmp(word, "help") || is_help_option(word);
}

static int help(int argc, char **argv)
{
	if (argc > 1 && !asks_for_help(argv[1]))
		return commands_help(argc - 1, argv + 1);
	list_commands(stdout);
	return finish_output() ? 0 : 1;
}

/*
 * A file that is opened must not get the number of a standard stream that was
 * closed: /dev/stdout would mean that file.  Whoever uses the stream fails, as if it still were.
 */
static void open_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	open_standard_streams();
	if (argc < 2) {
		list_commands(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("bobbin " BOBBIN_VERSION "%s%s%s\n",
		       bpf_walk_is_built() ? "" : " (without BPF)",
		       machine_amd64.exists() ? "" : " (without Zydis)",
		       machine_aarch64.exists() ? "" : " (without Capstone)");
		return finish_output() ? 0 : 1;
	}
	if (asks_for_help(argv[1]))
		return help(argc - 1, argv + 1);

	/* both are errors of write(2), too */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	file_limit_raise();
	return commands_run(argc - 1, argv + 1);
}
