/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that is made at run time, without tables: "frames", each function keeps a frame pointer
 * but the leaf; "bare", none does, and rbp is a register like others.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static uint8_t *at;
volatile long sink;

static void put(const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	at += size;
}

#define PUT(...) put((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void put_call(const uint8_t *to)
{
	int32_t distance = (int32_t)(to - (at + 5));

	PUT(0xe8);
	put(&distance, sizeof(distance));
}

static uint8_t *begin(void)
{
	at += -(uintptr_t)at % 64;
	return at;
}

static uint8_t *make_leaf(int framed)
{
	uint8_t *start = begin();

	if (framed)
		PUT(0x55, 0x48, 0x89, 0xe5); /* push %rbp; mov %rsp,%rbp */
	PUT(0x48, 0x8d, 0x47, 0x01);         /* lea 1(%rdi),%rax */
	if (framed)
		PUT(0x5d); /* pop %rbp */
	PUT(0xc3);
	return start;
}

/* push %rbp; mov %rsp,%rbp; push %rbx; sub $24,%rsp; mov %rdi,%rbx; call; add %rbx,%rax ... */
static uint8_t *make_framed(const uint8_t *to, int leaves)
{
	uint8_t *start = begin();

	PUT(0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0xfb);
	put_call(to);
	PUT(0x48, 0x01, 0xd8, 0x48, 0x89, 0xdf);
	put_call(to);
	if (leaves)
		PUT(0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0xc3); /* mov -8(%rbp),%rbx; leave; ret */
	else
		PUT(0x48, 0x83, 0xc4, 0x18, 0x5b, 0x5d, 0xc3);
	return start;
}

/* push %rbp; push %rbx; sub $40,%rsp; mov %rdi,%rbp; call; mov %rax,%rbx; add %rbp,%rbx ... */
static uint8_t *make_bare(const uint8_t *to, int branches)
{
	uint8_t *start = begin();

	PUT(0x55, 0x53, 0x48, 0x83, 0xec, 0x28, 0x48, 0x89, 0xfd);
	put_call(to);
	PUT(0x48, 0x89, 0xc3, 0x48, 0x01, 0xeb);
	if (branches) {
		PUT(0x40, 0xf6, 0xc5, 0x01, 0x74, 0x05); /* test $1,%bpl; je over the call */
		put_call(to);
	}
	PUT(0x48, 0x89, 0xd8, 0x48, 0x83, 0xc4, 0x28, 0x5b, 0x5d, 0xc3);
	return start;
}

__attribute__((noinline)) static long enter(long (*made)(long), long a)
{
	return made(a) + 1;
}

int main(int argc, char **argv)
{
	const size_t size = 1 << 16;
	const int framed = argc > 1 && !strcmp(argv[1], "frames");
	uint8_t *code = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *top;

	at = code;
	top = make_leaf(framed);
	for (int i = 0; i < 4; i++)
		top = framed ? make_framed(top, i & 1) : make_bare(top, i & 1);
	for (long n = 0; n < 50; n++)
		sink += enter((long (*)(long))(uintptr_t)top, n);
	return 0;
}
