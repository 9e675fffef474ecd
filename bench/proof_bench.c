/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proof_bench [-v] - what the kernel's proof of the program takes that walks stacks.
 *
 * Loads it as `bobbin record -a` does, three times, and prints the CPU time of each in milliseconds;
 * then, of each of its programs, the instructions that the verifier has gone over.  With -v also
 * those of each function, in one more load with the verifier's log.  Exit status 77: it cannot be
 * loaded here.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpfwalk/sampler_program.h"
#include "sampler.skel.h"

#define LOADS 3
/* Level 2 of the verifier's log has a line for each instruction that is gone over. */
#define LOG_LEVEL 2
#define LOG_BYTES (1000u << 20)

static const struct bpf_walk_options all = {.all = true};
static const struct stack_key key = {1, 1};

static int open_program(struct sampler_program *ret)
{
	*ret = (struct sampler_program){0};
	return sampler_program_open(&all, &key, true, ret);
}

static int measure(void)
{
	struct sampler_program p;
	uint64_t start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	int r = open_program(&p);

	if (!r)
		r = sampler_bpf__load(p.bpf);
	if (!r)
		printf("%8.0f ms\n", (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / 1e6);
	sampler_program_unload(&p);
	return r;
}

static uint32_t gone_over(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) ? 0
									      : info.verified_insns;
}

static int count_programs(void)
{
	struct bpf_program *program;
	struct sampler_program p;
	int r = open_program(&p);

	if (!r)
		r = sampler_bpf__load(p.bpf);
	if (!r)
		bpf_object__for_each_program(program,
					     p.bpf->obj) if (bpf_program__autoload(program))
			printf("%8u %s\n", gone_over(program), bpf_program__name(program));
	sampler_program_unload(&p);
	return r;
}

/* What is proved by itself begins with a line of its own; the first is the program. */
static void count_lines(const char *name, char *log)
{
	char function[128];
	uint64_t count = 0;
	unsigned int at;

	snprintf(function, sizeof(function), "%s", name);
	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) {
		char next[128];
		int end = 0;

		if (sscanf(line, "Validating %127[^(](", next) == 1) {
			printf("%8lu %s\n", count, function);
			memcpy(function, next, sizeof(function));
			count = 0;
		}
		if (sscanf(line, "%u: (%n", &at, &end) == 1 && end)
			count++;
	}
	printf("%8lu %s\n", count, function);
}

static int count_functions(void)
{
	struct bpf_program *program;
	struct sampler_program p;
	int r = open_program(&p);

	if (!r)
		bpf_object__for_each_program(program,
					     p.bpf->obj) if (bpf_program__autoload(program))
		{
			bpf_program__set_log_level(program, LOG_LEVEL);
			bpf_program__set_log_buf(program, malloc(LOG_BYTES), LOG_BYTES);
		}
	if (!r)
		r = sampler_bpf__load(p.bpf);
	if (!r)
		bpf_object__for_each_program(program,
					     p.bpf->obj) if (bpf_program__autoload(program))
		{
			size_t size;
			char *log = (char *)(uintptr_t)bpf_program__log_buf(program, &size);

			count_lines(bpf_program__name(program), log);
			free(log);
		}
	sampler_program_unload(&p);
	return r;
}

int main(int argc, char **argv)
{
	int r = 0;

	for (unsigned int i = 0; i < LOADS && !r; i++)
		r = measure();
	if (!r)
		r = count_programs();
	if (!r && argc > 1 && !strcmp(argv[1], "-v"))
		r = count_functions();
	if (r)
		printf("proof_bench: the program cannot be loaded: %s\n", strerror(-r));
	return r ? 77 : 0;
}
