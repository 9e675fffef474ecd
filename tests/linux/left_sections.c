/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * left_sections.c - processes of an ordinary user that end with thousands of sections.
 *
 * The kernel frees them when it has time.  It is waited for after each process, so that what
 * it stumbles over there happens while this program runs, and ends the machine.  Root starts
 * it: nobody else may wait so.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>

#include "called_code.h"

#define NOBODY 65534
/* from one section to the next, and from its text to the next one's */
#define EACH 128
#define MOST 60000

enum layout {
	TOUCHING,
	APART,
	DOWNWARD,
	SCATTERED,
	LAYOUTS
};
enum removal {
	NOTHING,
	UPWARD,
	EVERY_SECOND,
	HALF_SCATTERED,
	HALF_THE_TEXT,
	REMOVALS
};
enum ending {
	EXIT,
	KILLED,
	EXEC,
	ENDINGS
};

/* Numbers of choices have no common divisor: so all pairs are tried in 20 lives. */
struct life {
	uint32_t count;
	enum layout layout;
	enum removal removal;
	enum ending ending;
};

static struct life make_life(unsigned int n, uint32_t count)
{
	return (struct life){.count = count,
			     .layout = n % LAYOUTS,
			     .removal = n % REMOVALS,
			     .ending = n % ENDINGS};
}

/* The @n-th of all numbers below @count, in an order of chance. */
static uint32_t scattered(uint32_t n, uint32_t count)
{
	return (uint32_t)((uint64_t)n * 7919 % count);
}

static uint32_t place(const struct life *life, uint32_t n)
{
	switch (life->layout) {
	case DOWNWARD:
		return life->count - 1 - n;
	case SCATTERED:
		return scattered(n, life->count);
	default:
		return n;
	}
}

/* One section, copied: functions are as far from it as it is from its copies'. */
static void fill(const struct life *life, const struct called_code *code, uint8_t *room)
{
	const size_t size = called_code_part(code, 0, 1, room, EACH);
	const uint64_t text_size = life->layout == TOUCHING ? EACH : CALLED_STEP;

	for (uint32_t n = 0; n < life->count; n++) {
		uint32_t at = place(life, n) * EACH;
		const struct sframe_setup setup = {.sframe_start = (uintptr_t)room + at,
						   .sframe_size = size,
						   .text_start = (uintptr_t)code->text + at,
						   .text_size = text_size};

		memmove(room + at, room, size);
		promise(!guest_register(&setup, sizeof(setup)));
	}
}

static void take_out(const struct life *life, const struct called_code *code, uint8_t *room)
{
	const uint32_t count = life->count;

	switch (life->removal) {
	case UPWARD:
		for (uint32_t n = 0; n < count; n++)
			promise(!called_code_unregister(room + n * EACH));
		break;
	case EVERY_SECOND:
		for (uint32_t n = count / 2; n; n--)
			promise(!called_code_unregister(room + (2 * n - 1) * EACH));
		break;
	case HALF_SCATTERED:
		for (uint32_t n = 0; n < count / 2; n++)
			promise(!called_code_unregister(room + scattered(n, count) * EACH));
		break;
	case HALF_THE_TEXT:
		promise(!munmap(code->text, (count / 2 * EACH) & -4096U));
		break;
	default:
		break;
	}
}

/* Not come back: what is left is the kernel's to free. */
static void end(enum ending ending)
{
	if (ending == KILLED)
		kill(getpid(), SIGKILL);
	if (ending == EXEC)
		execl("/proc/self/exe", "left_sections", "end", NULL);
	_exit(ending != EXIT);
}

static bool has_ended(pid_t child, enum ending ending)
{
	int status;

	return waitpid(child, &status, 0) == child &&
	       (ending == KILLED ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL : !status);
}

/* A child loses some of the sections that it inherits, and ends first. */
static void live(const struct life *life)
{
	struct called_code code = called_code_open(life->count * (EACH / CALLED_STEP));
	uint8_t *room = mmap(NULL, (size_t)life->count * EACH, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	promise(room != MAP_FAILED);
	fill(life, &code, room);
	child = fork();
	promise(child >= 0);
	if (!child) {
		take_out(life, &code, room);
		end((life->ending + 1) % ENDINGS);
	}
	promise(has_ended(child, (life->ending + 1) % ENDINGS));
	end(life->ending);
}

/* Until all has been freed that waits for RCU. */
static void wait_for_kernel(void)
{
	int fd = open("/sys/module/rcutree/parameters/do_rcu_barrier", O_WRONLY);

	promise(fd >= 0 && write(fd, "1", 1) == 1);
	close(fd);
}

static void try_life(const struct life *life)
{
	pid_t child = fork();

	promise(child >= 0);
	if (!child) {
		promise(!setgid(NOBODY) && !setuid(NOBODY));
		live(life);
	}
	promise(has_ended(child, life->ending));
	wait_for_kernel();
}

int main(int argc, char **argv)
{
	static const struct {
		uint32_t count, step;
		unsigned int lives;
	} sizes[] = {{1850, 61, LAYOUTS * REMOVALS}, {10000, 997, REMOVALS}, {MOST, 0, 1}};
	unsigned int tried = 0;

	/* exec did it */
	if (argc > 1)
		return strcmp(argv[1], "end") != 0;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (unsigned int n = 0; n < sizes[i].lives; n++) {
			const struct life life = make_life(n, sizes[i].count + n * sizes[i].step);

			try_life(&life);
			tried++;
		}
	}
	printf("left: %u processes ended with sections: done\n", tried);
	return 0;
}
