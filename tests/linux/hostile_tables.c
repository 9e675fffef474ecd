/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hostile_tables.c - tables that a kernel must not trust, while it walks by them.
 *
 *	perf record --call-graph fp,defer hostile_tables CASE TURNS
 *
 * The program must end by itself, with status 0, and the kernel must have nothing to say.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "called_code.h"

#define NOINLINE __attribute__((noinline, noclone))
#define FUNCTIONS 64
#define ROOM 16384
#define PAGE 4096

static volatile unsigned long sink;

static NOINLINE void f_leaf(void)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < 30000; i++)
		sum += (i * 3) ^ (sum >> 3);
	sink += sum;
}

static NOINLINE void f_short(void)
{
	sink++;
}

static uint32_t next_random(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 16);
}

static void *map_room(void)
{
	void *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	promise(room != MAP_FAILED);
	return room;
}

/* Sections that walks have removed, and pages that they have waited for. */
static volatile unsigned long removed, answered;

static void take_back(const void *section)
{
	int error = called_code_unregister(section);

	promise(!error || error == ENOENT);
	removed += error != 0;
}

/* Bytes that change before the section is registered, or after. */
static void corrupt(unsigned long turns)
{
	struct called_code code = called_code_open(FUNCTIONS);
	uint8_t *room = map_room();

	for (unsigned long i = 0; i < turns; i++) {
		size_t size = called_code_section(&code, room, ROOM);
		bool before = i & 1;
		int error = before ? 0 : called_code_register(&code, room, size);

		promise(!error);
		for (uint32_t n = 1 + next_random() % 8; n; n--)
			room[next_random() % size] = (uint8_t)next_random();
		if (before)
			error = called_code_register(&code, room, size);
		promise(!error || error == EBADMSG);
		called_code_call(&code, next_random() % FUNCTIONS, f_leaf);
		/* what was refused is not there */
		if (!error)
			take_back(room);
	}
	promise(removed);
	called_code_close(&code);
	munmap(room, ROOM);
}

/* Pages that go away below a section: protected, unmapped, dropped, beyond the end of a file. */
static void fault(unsigned long turns)
{
	struct called_code code = called_code_open(FUNCTIONS);

	for (unsigned long i = 0; i < turns; i++) {
		int fd = open("table", O_RDWR | O_CREAT | O_TRUNC, 0600);
		uint8_t *room;
		size_t size;

		promise(fd >= 0 && !ftruncate(fd, ROOM));
		room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		promise(room != MAP_FAILED);
		size = called_code_section(&code, room, ROOM);
		promise(!called_code_register(&code, room, size));
		called_code_call(&code, next_random() % FUNCTIONS, f_short);
		switch (i % 4) {
		case 0:
			promise(!ftruncate(fd, 0));
			break;
		case 1:
			promise(!mprotect(room, ROOM, PROT_NONE));
			break;
		case 2:
			promise(!munmap(room, ROOM));
			break;
		default:
			promise(!ftruncate(fd, 0) && !ftruncate(fd, ROOM));
		}
		called_code_call(&code, next_random() % FUNCTIONS, f_leaf);
		take_back(room);
		munmap(room, ROOM);
		close(fd);
	}
	promise(removed);
	called_code_close(&code);
}

/* What another thread answers faults with, late. */
struct pager {
	int fd;
	void *from;
};

static void *answer(void *arg)
{
	const struct pager *pager = arg;
	struct uffd_msg message;

	while (read(pager->fd, &message, sizeof(message)) == sizeof(message)) {
		struct uffdio_copy copy = {.dst = message.arg.pagefault.address & -(uint64_t)PAGE,
					   .len = PAGE};

		if (message.event != UFFD_EVENT_PAGEFAULT)
			continue;
		copy.src = (uintptr_t)pager->from + (copy.dst & (ROOM - 1));
		f_leaf();
		answered += !ioctl(pager->fd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

/* Walks wait for pages of the section, which this process provides. */
static void paged(unsigned long turns)
{
	struct called_code code = called_code_open(FUNCTIONS);
	struct uffdio_api api = {.api = UFFD_API};
	uint8_t *all = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	uint8_t *room = (uint8_t *)(((uintptr_t)all + ROOM - 1) & -(uintptr_t)ROOM);
	struct uffdio_register range = {.range = {(uintptr_t)room, ROOM},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	struct pager pager = {.from = malloc(ROOM)};
	pthread_t thread;
	size_t size;

	promise(all != MAP_FAILED && pager.from);
	pager.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	promise(pager.fd >= 0);
	size = called_code_section(&code, room, ROOM);
	memcpy(pager.from, room, ROOM);
	promise(!ioctl(pager.fd, UFFDIO_API, &api));
	promise(!ioctl(pager.fd, UFFDIO_REGISTER, &range));
	promise(!pthread_create(&thread, NULL, answer, &pager));
	promise(!called_code_register(&code, room, size));
	for (unsigned long i = 0; i < turns; i++) {
		promise(!madvise(room, ROOM, MADV_DONTNEED));
		called_code_call(&code, next_random() % FUNCTIONS, f_leaf);
	}
	promise(!called_code_unregister(room));
	promise(answered);
	called_code_close(&code);
}

static volatile bool ended;

struct moving {
	struct called_code *code;
	uint8_t *room;
};

static void *walked(void *arg)
{
	struct moving *moving = arg;

	while (!ended)
		called_code_call(moving->code, next_random() % FUNCTIONS, f_leaf);
	return NULL;
}

/* One thread is walked, another one takes the section away and back. */
static void unmapped(unsigned long turns)
{
	struct called_code code = called_code_open(FUNCTIONS);
	struct moving moving = {&code, map_room()};
	pthread_t thread;

	promise(!pthread_create(&thread, NULL, walked, &moving));
	for (unsigned long i = 0; i < turns; i++) {
		size_t size;

		promise(mmap(moving.room, ROOM, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == moving.room);
		size = called_code_section(&code, moving.room, ROOM);
		promise(!called_code_register(&code, moving.room, size));
		f_leaf();
		if (i & 1)
			promise(!munmap(moving.room, ROOM));
		f_leaf();
		take_back(moving.room);
	}
	ended = true;
	pthread_join(thread, NULL);
	promise(removed);
	called_code_close(&code);
}

#define MOST 65536
#define EACH 256

/* Sections as far from each other as their functions are equal.  @return: how many there are. */
static uint32_t fill(const struct called_code *code, uint8_t *room, uint32_t max)
{
	const size_t size = called_code_part(code, 0, 1, room, EACH);

	for (uint32_t n = 0; n < max; n++) {
		const struct sframe_setup setup = {.sframe_start = (uintptr_t)room + n * EACH,
						   .sframe_size = size,
						   .text_start = (uintptr_t)code->text + n * EACH,
						   .text_size = EACH};
		int error;

		memcpy(room + n * EACH, room, size);
		error = guest_register(&setup, sizeof(setup));
		promise(!error || error == ENOSPC);
		if (error)
			return n;
	}
	return max;
}

/* As many sections as a process may have, again and again. */
static void many(unsigned long turns)
{
	struct called_code code = called_code_open(MOST * (EACH / CALLED_STEP));
	uint8_t *room = mmap(NULL, MOST * EACH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	unsigned long registered = 0, full = 0;

	promise(room != MAP_FAILED);
	while (registered < turns) {
		uint32_t max = turns - registered < MOST ? (uint32_t)(turns - registered) : MOST;
		uint32_t count = fill(&code, room, max);

		registered += count;
		full += count < max;
		called_code_call(&code, count / 2 * (EACH / CALLED_STEP), f_leaf);
		for (uint32_t n = 0; n < count; n++)
			promise(!called_code_unregister(room + n * EACH));
	}
	printf("hostile: %lu sections were registered, %lu times no more fitted\n", registered,
	       full);
	munmap(room, MOST * EACH);
	called_code_close(&code);
}

static void live_as_child(struct called_code *code, uint8_t *room, unsigned long n)
{
	called_code_call(code, next_random() % FUNCTIONS, f_leaf);
	if (n & 1)
		take_back(room);
	if (n & 2)
		munmap(code->text, code->size / 2);
	if (n & 4 && !fork())
		_exit(0);
	_exit(0);
}

/* Children that inherit sections, and lose them in all ways. */
static void forks(unsigned long turns)
{
	struct called_code code = called_code_open(FUNCTIONS);
	uint8_t *room = map_room();
	size_t size = called_code_section(&code, room, ROOM);
	unsigned long alive = 0;

	promise(!called_code_register(&code, room, size));
	for (unsigned long i = 0; i < turns; i++) {
		pid_t child = fork();

		promise(child >= 0);
		if (!child)
			live_as_child(&code, room, i);
		if (++alive == 16) {
			while (wait(NULL) > 0)
				;
			alive = 0;
		}
	}
	while (wait(NULL) > 0)
		;
	promise(!called_code_unregister(room));
	called_code_close(&code);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(unsigned long turns);
	} cases[] = {{"corrupt", corrupt},   {"fault", fault}, {"paged", paged},
		     {"unmapped", unmapped}, {"many", many},   {"forks", forks}};

	if (guest_register(NULL, 0) == ENOSYS)
		return 0;
	for (size_t i = 0; argc == 3 && i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcmp(argv[1], cases[i].name))
			continue;
		cases[i].run(strtoul(argv[2], NULL, 0));
		printf("hostile: %s: done\n", argv[1]);
		return 0;
	}
	return 2;
}
