/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recompile MILLISECONDS [wait|memfd] - code at one address, replaced by other code.
 *
 * Runs "early", then "late" in its place, each for the CPU time, as the jitdump file
 * ./jit-PID.dump tells; /tmp/perf-PID.map calls both "map".  With "wait"
 * it prints "ready" and stays in the late code; with "memfd" the code is in a memory
 * file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const uint8_t spin[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};

struct header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct load {
	uint32_t id, size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, address, code_size, index;
};

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *check(void *memory)
{
	if (memory != MAP_FAILED)
		return memory;
	perror("mmap");
	exit(1);
}

static void *map_code(bool in_file)
{
	int fd = in_file ? memfd_create("code", MFD_CLOEXEC) : -1;

	if (in_file && ftruncate(fd, 4096))
		exit(1);
	return check(mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0));
}

static int open_dump(void)
{
	struct header header = {0x4a695444,           1, sizeof(header), 62, 0, (uint32_t)getpid(),
				now(CLOCK_MONOTONIC), 0};
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, &header, sizeof(header)) != sizeof(header)) {
		perror(path);
		exit(1);
	}
	check(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0));
	return fd;
}

static void tell(int dump, const void *code, const char *name)
{
	struct load load = {0,
			    (uint32_t)(sizeof(load) + strlen(name) + 1 + sizeof(spin)),
			    now(CLOCK_MONOTONIC),
			    (uint32_t)getpid(),
			    (uint32_t)getpid(),
			    (uintptr_t)code,
			    (uintptr_t)code,
			    sizeof(spin),
			    1};
	FILE *f = fdopen(dup(dump), "a");

	fwrite(&load, sizeof(load), 1, f);
	fwrite(name, strlen(name) + 1, 1, f);
	fwrite(spin, sizeof(spin), 1, f);
	fclose(f);
}

static void tell_map(const void *code)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	fprintf(f, "%lx %zx map\n", (unsigned long)code, sizeof(spin));
	fclose(f);
}

static void run(void *code, uint64_t nanoseconds)
{
	uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + nanoseconds;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		((void (*)(uint64_t))code)(1000000);
}

int main(int argc, char **argv)
{
	uint64_t nanoseconds = (uint64_t)atoi(argv[1]) * 1000000;
	bool in_file = argc > 2 && !strcmp(argv[2], "memfd");
	void *code = map_code(in_file);
	int dump = open_dump();

	memcpy(code, spin, sizeof(spin));
	tell_map(code);
	tell(dump, code, "early");
	run(code, nanoseconds);
	tell(dump, code, "late");
	if (argc > 2 && !strcmp(argv[2], "wait")) {
		puts("ready");
		fflush(stdout);
		nanoseconds = 60000000000ull;
	}
	run(code, nanoseconds);
	return 0;
}
