// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * infer_judge - compare inferred rules with call-frame information.
 *
 *	infer_judge [-d] [-f] [-l] [-w LIST] [@CLASS] FILE...
 *
 * While rules are inferred, nothing of .eh_frame is looked at; with -f where its functions begin, with
 * -l where exceptions continue.  Then, at each instruction of its functions, what it says of the CFA
 * and of the frame pointer, and of a return address that functions save, is worked out in the state that was
 * inferred: rules that name different
 * registers for the same value are equal.  With -d each difference is printed.  LIST has places
 * where a table is known to be wrong, such as wrong-tables: differences there are counted by
 * themselves, and not as equal.
 *
 * One line for each file, and one for each class of files that follow a @CLASS, with its worst files:
 *
 *	instructions ruled equal verified verified-equal fp-equal reached-not-ruled MB seconds FILE
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/vector.h"
#include "cfi_image.h"
#include "infer/infer.h"
#include "infer/program_elf.h"
#include "infer/stated_rows.h"

/* What is known of an instruction, for each byte of code. */
enum {
	REACHED = 1,
	RULED = 2,
	VERIFIED = 4,
	EQUAL = 8,
	FP_EQUAL = 16,
	OUTSIDE = 32,  /* what the table says cannot be compared, or is that there is no caller */
	DISPUTED = 64, /* functions of one grade disagree: neither has a rule */
};

/* A place where a file's table is wrong. */
struct wrong_place {
	char file[64];
	uint64_t start, end;
};

struct judge {
	struct wrong_place *wrong;
	size_t wrong_count, wrong_capacity;
	const char *name; /* of the file at hand */
	bool details, with_bounds, with_pads;
	struct stated_rows stated;
	struct program program;
	uint8_t *marks;
	uint64_t base, size;
};

struct tally {
	uint64_t instructions, ruled, equal, verified, verified_equal, fp_equal, reached;
	uint64_t functions, spent, rejected;
	uint64_t table_wrong, verified_table_wrong;
	double bytes, seconds;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool has_caller(const struct judge *j, const struct bobbin_rule *stated)
{
	return stated && stated_rule_has_caller(stated, j->program.machine);
}

static void print_difference(const struct judge *j, uint64_t pc, const struct frame_state *state,
			     const struct bobbin_rule *stated, bool verified)
{
	char ours[BOBBIN_RULE_STR_MAX] = "", theirs[BOBBIN_RULE_STR_MAX];
	struct bobbin_rule rule;

	if (frame_state_rule(state, false, &rule))
		bobbin_rule_str(state->machine->arch(), &rule, ours);
	bobbin_rule_str(state->machine->arch(), stated, theirs);
	printf("%#lx %s inferred %s, table %s\n", pc, verified ? "verified" : "unverified", ours,
	       theirs);
}

static int observe(void *ctx, const struct infer_observation *o)
{
	struct judge *j = ctx;
	const struct bobbin_rule *stated = stated_rows_at(&j->stated, o->pc);
	uint8_t *mark = &j->marks[o->pc - j->base];
	struct bobbin_rule rule;
	unsigned int faults;
	uint64_t word;
	uint8_t before;

	*mark |= REACHED;
	if (!stated || *mark & DISPUTED || !frame_state_rule(o->state, false, &rule) ||
	    bobbin_rule_pack(&rule, &word))
		return 0;
	before = *mark;
	/* what is verified counts where both are */
	if (before & VERIFIED && !o->verified)
		return 0;
	faults = stated_rule_check(stated, o->state);
	*mark = REACHED | RULED | (o->verified ? VERIFIED : 0) |
		(faults & (STATED_CFA_DIFFERS | STATED_RA_DIFFERS) ? 0 : EQUAL) |
		(faults & STATED_FP_DIFFERS ? 0 : FP_EQUAL);
	if (before & RULED && (before & VERIFIED) == (*mark & VERIFIED) && before != *mark)
		*mark = REACHED | DISPUTED;
	if (j->details && has_caller(j, stated) && (~*mark & (EQUAL | FP_EQUAL)))
		print_difference(j, o->pc, o->state, stated, o->verified);
	return 0;
}

static int read_wrong(struct judge *j, const char *path)
{
	FILE *in = fopen(path, "r");
	struct wrong_place place;
	char line[128];
	int r = in ? 0 : -errno;

	while (in && !r && fgets(line, sizeof(line), in))
		if (*line != '#' &&
		    sscanf(line, "%63s %lx %lx", place.file, &place.start, &place.end) == 3)
			r = vector_push(j->wrong, j->wrong_count, j->wrong_capacity, place);
	if (in)
		fclose(in);
	return r;
}

static bool is_wrong(const struct judge *j, uint64_t pc)
{
	for (size_t i = 0; i < j->wrong_count; i++)
		if (pc >= j->wrong[i].start && pc < j->wrong[i].end &&
		    !strcmp(j->wrong[i].file, j->name))
			return true;
	return false;
}

static void count_fde(const struct judge *j, const struct insn_decoder *decoder,
		      const struct listed_fde *fde, struct tally *t)
{
	struct insn insn = {0};
	uint64_t size, pc = fde->start;
	const uint8_t *code = program_bytes(&j->program, pc, &size);

	for (; code && pc < fde->end && pc - fde->start < size; pc += insn.len) {
		uint8_t mark;

		insn_decode(decoder, code + (pc - fde->start), size - (pc - fde->start), pc, &insn);
		if (pc - j->base >= j->size)
			return;
		mark = j->marks[pc - j->base];
		/* what is never run has no rule, and needs none */
		if (!has_caller(j, stated_rows_at(&j->stated, pc)) ||
		    (!mark && j->program.machine->is_padding(code + (pc - fde->start), insn.len)))
			continue;
		t->instructions++;
		t->reached += !!(mark & REACHED);
		t->ruled += !!(mark & RULED);
		t->equal += !!(mark & EQUAL);
		t->fp_equal += !!(mark & FP_EQUAL);
		t->verified += !!(mark & VERIFIED);
		t->verified_equal += (mark & VERIFIED) && mark & EQUAL;
		if (mark & RULED && !(mark & EQUAL) && is_wrong(j, pc)) {
			t->table_wrong++;
			t->verified_table_wrong += !!(mark & VERIFIED);
		}
		if (j->details && !(mark & RULED))
			printf("%#lx not ruled%s\n", pc, mark & REACHED ? ", reached" : "");
	}
}

static int judge(struct judge *j, const char *path, struct tally *t)
{
	const struct infer_options options = {.observe = observe, .ctx = j};
	struct insn_decoder *decoder = insn_decoder_open(j->program.machine);
	struct infer_rows rows;
	double start;
	int r;

	if (program_settle(&j->program) || !j->program.code.count || !decoder) {
		insn_decoder_close(decoder);
		return -ENODATA;
	}
	j->base = j->program.code.ranges[0].start;
	j->size = j->program.code.ranges[j->program.code.count - 1].end - j->base;
	j->marks = calloc(j->size, 1);
	start = now();
	r = j->marks ? infer_rows(&j->program, &options, &rows) : -ENOMEM;
	t->seconds = now() - start;
	t->bytes = (double)coverage_bytes(&j->program.code);
	for (size_t i = 0; i < j->stated.fdes.count && !r; i++)
		count_fde(j, decoder, &j->stated.fdes.fdes[i], t);
	insn_decoder_close(decoder);
	if (r)
		return r;
	t->functions = rows.counts.functions;
	t->spent = rows.counts.spent + rows.counts.skipped;
	t->rejected = rows.counts.rejected;
	infer_rows_fini(&rows);
	return 0;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_tally(const struct tally *t, const char *name)
{
	printf("%9lu ruled %7.3f equal %8.4f verified %7.3f equal %8.4f fp %8.4f unruled %6lu reached "
	       "functions %6lu spent %lu rejected %lu %6.2f MB %5.2f MB/s %s\n",
	       t->instructions, percent(t->ruled, t->instructions), percent(t->equal, t->ruled),
	       percent(t->verified, t->instructions), percent(t->verified_equal, t->verified),
	       percent(t->fp_equal, t->ruled), t->reached - t->ruled, t->functions, t->spent,
	       t->rejected, t->bytes / 1e6, t->seconds > 0 ? t->bytes / 1e6 / t->seconds : 0, name);
	fflush(stdout);
}

/* Of a class of files, the one that is worst in something. */
struct worst {
	double share;
	const char *file;
};

enum measure {
	MEASURE_RULED,
	MEASURE_EQUAL,
	MEASURE_VERIFIED,
	MEASURE_VERIFIED_EQUAL,
	MEASURES,
};

struct class
{
	const char *name; /* "@C", or NULL: the files have none */
	struct tally sum;
	struct worst worst[MEASURES];
};

static void note_worst(struct class *c, const struct tally *t, const char *file)
{
	const double shares[MEASURES] = {
		percent(t->ruled, t->instructions), percent(t->equal + t->table_wrong, t->ruled),
		percent(t->verified, t->instructions),
		percent(t->verified_equal + t->verified_table_wrong, t->verified)};

	for (unsigned int i = 0; i < MEASURES; i++)
		if (!c->worst[i].file || shares[i] < c->worst[i].share)
			c->worst[i] = (struct worst){shares[i], file};
}

static void print_class(const struct class *c)
{
	static const char *const names[MEASURES] = {"ruled", "equal", "verified",
						    "equal of verified"};

	if (!c->name || !c->sum.instructions)
		return;
	print_tally(&c->sum, c->name);
	for (unsigned int i = 0; i < MEASURES; i++)
		printf("%s worst %s: %.4f %s\n", c->name, names[i], c->worst[i].share,
		       c->worst[i].file);
}

static void add(struct tally *sum, const struct tally *t)
{
	sum->instructions += t->instructions;
	sum->ruled += t->ruled;
	sum->equal += t->equal;
	sum->verified += t->verified;
	sum->verified_equal += t->verified_equal;
	sum->fp_equal += t->fp_equal;
	sum->reached += t->reached;
	sum->table_wrong += t->table_wrong;
	sum->verified_table_wrong += t->verified_table_wrong;
	sum->functions += t->functions;
	sum->spent += t->spent;
	sum->rejected += t->rejected;
	sum->bytes += t->bytes;
	sum->seconds += t->seconds;
}

static int judge_file(const char *path, struct judge j, struct class *class)
{
	struct tally t = {0};
	struct cfi_image image;
	int fd = open(path, O_RDONLY | O_CLOEXEC), r = fd < 0 ? -errno : cfi_image_init(fd, &image);

	if (r)
		return r;
	j.name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	r = program_of_elf(fd, NULL, &j.program);
	if (!r)
		r = stated_rows_init(image.views, image.count, &j.stated);
	if (!r)
		r = stated_rows_bound(&j.stated, image.views, j.with_pads ? image.count : 0,
				      j.with_bounds, &j.program);
	if (!r)
		r = judge(&j, path, &t);
	if (!r && t.instructions) {
		print_tally(&t, path);
		add(&class->sum, &t);
		note_worst(class, &t, path);
	}
	program_fini(&j.program);
	stated_rows_fini(&j.stated);
	free(j.marks);
	cfi_image_fini(&image);
	close(fd);
	return r;
}

int main(int argc, char **argv)
{
	struct judge options = {0};
	struct class class = {0};
	struct tally sum = {0};
	struct rusage usage;
	int c, files = 0;

	while ((c = getopt(argc, argv, "dflw:")) != -1) {
		if (c == 'w' && read_wrong(&options, optarg)) {
			fprintf(stderr, "%s: cannot be read\n", optarg);
			return 2;
		}
		options.details |= c == 'd';
		options.with_bounds |= c == 'f';
		options.with_pads |= c == 'l';
		if (c == '?')
			return 2;
	}
	for (int i = optind; i < argc; i++) {
		int r;

		if (*argv[i] == '@') {
			print_class(&class);
			add(&sum, &class.sum);
			class = (struct class){.name = argv[i]};
			continue;
		}
		r = judge_file(argv[i], options, &class);
		if (r)
			fprintf(stderr, "%s: %s\n", argv[i], strerror(-r));
		files += !r;
	}
	print_class(&class);
	add(&sum, &class.sum);
	if (!files)
		return 1;
	print_tally(&sum, "all");
	printf("table is wrong, confirmed: %lu; without these equal %.4f verified equal %.4f\n",
	       sum.table_wrong, percent(sum.equal, sum.ruled - sum.table_wrong),
	       percent(sum.verified_equal, sum.verified - sum.verified_table_wrong));
	free(options.wrong);
	getrusage(RUSAGE_SELF, &usage);
	printf("files %d, memory at most %ld KiB\n", files, usage.ru_maxrss);
	return 0;
}
