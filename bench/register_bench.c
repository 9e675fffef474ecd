/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * register_bench [-n RANGES] [-r ROUNDS] LIBRARY... - registered code: what changing and
 * asking cost.
 *
 * In one process, one after the other: RANGES pieces of code (default 100,000) are
 * registered and stay; of these, random ones are unregistered and registered again;
 * then random addresses, and one address again and again, are looked up by one
 * thread and by two at the same time, each on a CPU of its own.  The same for
 * libgcc and libunwind.  glibc's _dl_find_object() is asked about the LIBRARIES,
 * which are opened for it.
 *
 * Prints the medians of ROUNDS (default 5), in nanoseconds, and how they compare
 * with bobbin's; then which counters readers wrote.
 */
#include <bobbin/codectl.h>
#include <bobbin/jit.h>
#include <bobbin/sframe_builder.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <libunwind.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "codemap/own_registry.h"

#define CODE_SIZE 64
#define TABLE_SIZE 128
#define ADDRESSES 65536 /* random ones, used again and again */
#define WALK 16         /* lookups of one walk */
#define MAX_ROUNDS 32
#define ROUND_NS 200e6

struct fde_bases {
	void *text, *data, *function;
};

/* libgcc's, which libunwind's of the same name must not replace */
static struct {
	void (*add)(void *begin);
	void (*remove)(void *begin);
	const void *(*find)(void *pc, struct fde_bases *bases);
} libgcc;

static size_t ranges = 100000;
static unsigned int rounds = 5;
static uint8_t *text, *tables;
static unw_dyn_info_t *dynamic;
static uint64_t addresses[ADDRESSES];
static const uint64_t *asked = addresses;
static double base_lookup[3]; /* bobbin's */
static uint64_t section_size;
static struct code_map *code;

static void fail(const char *what, int error)
{
	fprintf(stderr, "register_bench: %s: %s\n", what, strerror(error));
	exit(1);
}

static void check(int r, const char *what)
{
	if (r)
		fail(what, -r);
}

/* Of the thread's own time: what else the machine does counts as little as can be. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *values)
{
	qsort(values, rounds, sizeof(*values), compare);
	return values[rounds / 2];
}

static void *map(size_t size, int rights)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE | rights, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	if (at == MAP_FAILED)
		fail("mmap", errno);
	return at;
}

static uint8_t *code_of(size_t i)
{
	return text + i * CODE_SIZE;
}

static uint8_t *table_of(size_t i)
{
	return tables + i * TABLE_SIZE;
}

/* What each door takes, for one piece of code. */

static void make_section(size_t i)
{
	const struct bobbin_sframe_row row = {0, bobbin_jit_rule_sp(bobbin_arch_amd64(), 8, 0, 0)};
	const struct bobbin_sframe_function function = {
		.start = (uintptr_t)code_of(i), .size = CODE_SIZE, .rows = &row, .count = 1};
	struct bobbin_sframe_built fdes[1];
	struct bobbin_sframe_builder b;
	uint8_t fres[32];

	check(bobbin_sframe_builder_init(bobbin_arch_amd64(), (uintptr_t)table_of(i), 3, &b),
	      "builder");
	b.fdes = fdes;
	b.fde_max = 1;
	b.fres = fres;
	b.fre_max = sizeof(fres);
	check(bobbin_sframe_builder_add(&b, &function), "function");
	section_size = bobbin_sframe_builder_size(&b);
	check(bobbin_sframe_builder_finish(&b, table_of(i), TABLE_SIZE), "section");
}

static int add_section(size_t i)
{
	const struct sframe_setup setup = {.sframe_start = (uintptr_t)table_of(i),
					   .sframe_size = section_size,
					   .text_start = (uintptr_t)code_of(i),
					   .text_size = CODE_SIZE};

	return bobbin_sframe_register(&setup, sizeof(setup), NULL);
}

static int remove_section(size_t i)
{
	const struct sframe_setup setup = {.sframe_start = (uintptr_t)table_of(i)};

	return bobbin_sframe_unregister(&setup, sizeof(setup));
}

static struct code_jit_info jit_info(size_t i)
{
	return (struct code_jit_info){.text_start = (uintptr_t)code_of(i),
				      .text_end = (uintptr_t)code_of(i) + CODE_SIZE,
				      .unwind_head = (uintptr_t)table_of(i)};
}

static void make_jit_table(size_t i)
{
	struct code_jit_unwind_table *table = (struct code_jit_unwind_table *)table_of(i);

	*table = (struct code_jit_unwind_table){.reserved_len = sizeof(table->fre[0]),
						.used_len = sizeof(table->fre[0])};
	table->fre[0] = (struct code_jit_unwind_fre){
		.size = CODE_SIZE, .cfa_off = 8, .info = CODE_JIT_FRE_BASE_SP | 1 << 1};
}

static int add_jit_table(size_t i)
{
	const struct code_jit_info info = jit_info(i);

	return bobbin_codectl(CODE_REGISTER_JIT, &info, sizeof(info), 0, NULL);
}

static int remove_jit_table(size_t i)
{
	const struct code_jit_info info = jit_info(i);

	return bobbin_codectl(CODE_UNREGISTER, &info, sizeof(info), 0, NULL);
}

#define CIE_SIZE 24
#define FDE_SIZE 32

static void put_cie(uint8_t *at)
{
	/* "zR", absolute addresses; CFA = rsp + 8, return address at CFA - 8 */
	static const uint8_t cie[CIE_SIZE] = {CIE_SIZE - 4, 0, 0, 0,    0,  0, 0, 0,  1, 'z',
					      'R',          0, 1, 0x78, 16, 1, 0, 12, 7, 8,
					      0x90,         1};

	memcpy(at, cie, sizeof(cie));
}

static void put_fde(uint8_t *at, uint32_t to_cie, size_t i)
{
	const uint32_t length = FDE_SIZE - 4;
	const uint64_t start = (uintptr_t)code_of(i), size = CODE_SIZE;

	memset(at, 0, FDE_SIZE);
	memcpy(at, &length, sizeof(length));
	memcpy(at + 4, &to_cie, sizeof(to_cie));
	memcpy(at + 8, &start, sizeof(start));
	memcpy(at + 16, &size, sizeof(size));
}

static void make_eh_frame(size_t i)
{
	uint8_t *at = table_of(i);

	put_cie(at);
	put_fde(at + CIE_SIZE, CIE_SIZE + 4, i);
	memset(at + CIE_SIZE + FDE_SIZE, 0, 4);
}

static int add_eh_frame(size_t i)
{
	libgcc.add(table_of(i));
	return 0;
}

static int remove_eh_frame(size_t i)
{
	libgcc.remove(table_of(i));
	return 0;
}

/* All pieces of code in one section, the best that libgcc can be given. */
static uint8_t *make_whole_eh_frame(void)
{
	uint8_t *all = map(CIE_SIZE + ranges * FDE_SIZE + 4, 0);

	put_cie(all);
	for (size_t i = 0; i < ranges; i++)
		put_fde(all + CIE_SIZE + i * FDE_SIZE, (uint32_t)(CIE_SIZE + i * FDE_SIZE + 4), i);
	return all;
}

static void make_dynamic(size_t i)
{
	dynamic[i] = (unw_dyn_info_t){.start_ip = (uintptr_t)code_of(i),
				      .end_ip = (uintptr_t)code_of(i) + CODE_SIZE,
				      .format = UNW_INFO_FORMAT_DYNAMIC};
}

static int add_dynamic(size_t i)
{
	_U_dyn_register(&dynamic[i]);
	return 0;
}

static int remove_dynamic(size_t i)
{
	_U_dyn_cancel(&dynamic[i]);
	return 0;
}

/* A way to register code. */
struct door {
	const char *name;
	void (*make)(size_t i);
	int (*add)(size_t i);
	int (*remove)(size_t i);
};

static const struct door doors[] = {
	{"bobbin, sframe_register", make_section, add_section, remove_section},
	{"bobbin, codectl CODE_REGISTER_JIT", make_jit_table, add_jit_table, remove_jit_table},
	{"libgcc, __register_frame", make_eh_frame, add_eh_frame, remove_eh_frame},
	{"libunwind, _U_dyn_register", make_dynamic, add_dynamic, remove_dynamic},
};

static void add_all(const struct door *door)
{
	for (size_t i = 0; i < ranges; i++) {
		door->make(i);
		check(door->add(i), door->name);
	}
}

/* The latest first: lists are searched from there. */
static void remove_all(const struct door *door)
{
	for (size_t i = ranges; i--;)
		check(door->remove(i), door->name);
}

/* Nanoseconds for taking back one of them and registering it again. */
static double time_changes(const struct door *door, uint64_t *seed)
{
	double start = now(), end;
	unsigned int count = 0;

	do {
		for (unsigned int i = 0; i < 16; i++) {
			size_t which = random_number(seed) % ranges;

			check(door->remove(which), door->name);
			check(door->add(which), door->name);
		}
		count += 16;
		end = now();
	} while (end - start < ROUND_NS);
	return (end - start) / count;
}

static void bench_changes(void)
{
	double values[MAX_ROUNDS], base = 0;
	uint64_t seed = 88172645463325252;

	printf("unregister and register one of %zu pieces of code\n", ranges);
	for (size_t d = 0; d < sizeof(doors) / sizeof(*doors); d++) {
		add_all(&doors[d]);
		for (unsigned int r = 0; r < rounds; r++)
			values[r] = time_changes(&doors[d], &seed);
		remove_all(&doors[d]);
		if (!d)
			base = median(values);
		printf("  %-42s %10.0f ns %9.2f times\n", doors[d].name, median(values),
		       median(values) / base);
	}
}

/* Lookups of as many addresses as a walk has; false: one is not found. */

static bool ask_bobbin(const uint64_t *asking)
{
	struct reader_epochs *readers = code_map_readers(code);
	unsigned int token = read_enter(readers), found = 0;

	for (unsigned int i = 0; i < WALK; i++)
		found += code_map_find(code, asking[i], NULL) != NULL;
	read_leave(readers, token);
	return found == WALK;
}

static bool ask_bobbin_singly(const uint64_t *asking)
{
	struct reader_epochs *readers = code_map_readers(code);
	unsigned int found = 0;

	for (unsigned int i = 0; i < WALK; i++) {
		unsigned int token = read_enter(readers);

		found += code_map_find(code, asking[i], NULL) != NULL;
		read_leave(readers, token);
	}
	return found == WALK;
}

/* Each address is known only when the last answer is. */
static bool ask_bobbin_in_turn(const uint64_t *asking)
{
	struct reader_epochs *readers = code_map_readers(code);
	unsigned int token = read_enter(readers), found = 0;
	uint64_t last = 0;

	for (unsigned int i = 0; i < WALK; i++) {
		struct code *answer = code_map_find(code, asking[i] + (last >> 63), NULL);

		found += answer != NULL;
		last = (uintptr_t)answer;
	}
	read_leave(readers, token);
	return found == WALK;
}

static bool ask_libgcc(const uint64_t *asking)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < WALK; i++) {
		struct fde_bases bases;

		found += libgcc.find((void *)asking[i], &bases) != NULL;
	}
	return found == WALK;
}

static bool ask_glibc(const uint64_t *asking)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < WALK; i++) {
		struct dl_find_object object;

		found += !_dl_find_object((void *)asking[i], &object);
	}
	return found == WALK;
}

/**
 * struct asker - a thread that asks
 * @ask: what it does, until @stop
 * @cpu: where
 * @walks, @ns: how often, and how long that took
 */
struct asker {
	bool (*ask)(const uint64_t *asking);
	unsigned int cpu;
	uint64_t walks;
	double ns;
};

static void *run_asker(void *ctx)
{
	struct asker *asker = ctx;
	double start, end;
	cpu_set_t cpus;
	size_t at = asker->cpu * (ADDRESSES / 2);

	CPU_ZERO(&cpus);
	CPU_SET(asker->cpu, &cpus);
	check(-pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus), "affinity");
	start = now();
	do {
		for (unsigned int i = 0; i < 64; i++) {
			if (!asker->ask(asked + at))
				fail("lookup", ENOENT);
			at = (at + WALK) % ADDRESSES;
			/* those that take so long need no more */
			if (!(i % 8) && now() - start > ROUND_NS) {
				i++;
				asker->walks += i;
				goto out;
			}
		}
		asker->walks += 64;
		end = now();
	} while (end - start < ROUND_NS);
out:
	asker->ns = now() - start;
	return NULL;
}

/* Nanoseconds for a lookup, by each of so many threads. */
static double time_lookups(bool (*ask)(const uint64_t *asking), unsigned int threads)
{
	struct asker askers[2] = {{.ask = ask, .cpu = 0}, {.ask = ask, .cpu = 1}};
	pthread_t ids[2];
	double ns = 0;

	for (unsigned int i = 0; i < threads; i++)
		check(-pthread_create(&ids[i], NULL, run_asker, &askers[i]), "thread");
	for (unsigned int i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		ns += askers[i].ns / (double)(askers[i].walks * WALK);
	}
	return ns / threads;
}

static double median_lookup(bool (*ask)(const uint64_t *asking), unsigned int threads)
{
	double values[MAX_ROUNDS];

	for (unsigned int r = 0; r < rounds; r++)
		values[r] = time_lookups(ask, threads);
	return median(values);
}

/* Random addresses by one and by two threads, then one address. */
static void bench_lookups(const char *name, bool (*ask)(const uint64_t *asking))
{
	static uint64_t same[ADDRESSES];
	double ns[3];

	ns[0] = median_lookup(ask, 1);
	ns[1] = median_lookup(ask, 2);
	for (size_t i = 0; i < ADDRESSES; i++)
		same[i] = addresses[0];
	asked = same;
	ns[2] = median_lookup(ask, 1);
	asked = addresses;
	for (unsigned int i = 0; i < 3; i++)
		if (!base_lookup[i])
			base_lookup[i] = ns[i];
	printf("  %-42s", name);
	for (unsigned int i = 0; i < 3; i++)
		printf(" %9.1f ns %7.2f", ns[i], ns[i] / base_lookup[i]);
	putchar('\n');
}

static void choose_addresses(void)
{
	uint64_t seed = 88172645463325252;

	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = (uintptr_t)code_of(random_number(&seed) % ranges) +
			       random_number(&seed) % CODE_SIZE;
}

/* Which slots two threads wrote, and how often, during a round of lookups. */
static void count_writes(void)
{
	const struct reader_epochs *readers = code_map_readers(code);
	unsigned long before[READ_SLOTS];

	for (unsigned int i = 0; i < READ_SLOTS; i++)
		before[i] = readers->slots[i].entered[0] + readers->slots[i].entered[1];
	for (unsigned int threads = 1; threads <= 2; threads++) {
		unsigned long written = 0;

		time_lookups(ask_bobbin, threads);
		printf("  %u thread%s:", threads, threads == 1 ? "" : "s");
		for (unsigned int i = 0; i < READ_SLOTS; i++) {
			unsigned long after = readers->slots[i].entered[0] +
					      readers->slots[i].entered[1];

			if (after != before[i])
				printf(" %lu by CPU %u", after - before[i], i);
			written += after - before[i];
			before[i] = after;
		}
		printf("; each %zu bytes apart\n", sizeof(readers->slots[0]));
		if (!written)
			fail("counting", ENODATA);
	}
}

static void bench_bobbin(void)
{
	add_all(&doors[0]);
	bench_lookups("bobbin, in walks of 16 frames", ask_bobbin);
	bench_lookups("bobbin, each for itself", ask_bobbin_singly);
	bench_lookups("bobbin, in walks, one after the other", ask_bobbin_in_turn);
	printf("the readers' counters that were written\n");
	count_writes();
	remove_all(&doors[0]);
}

static void bench_libgcc(void)
{
	uint8_t *whole = make_whole_eh_frame();

	libgcc.add(whole);
	bench_lookups("libgcc, _Unwind_Find_FDE, one section", ask_libgcc);
	libgcc.remove(whole);
	add_all(&doors[2]);
	bench_lookups("libgcc, _Unwind_Find_FDE, one section each", ask_libgcc);
	remove_all(&doors[2]);
}

/* Random addresses in functions of libraries, which are opened and stay. */
static void bench_glibc(char **paths, int count)
{
	uint64_t seed = 88172645463325252;
	uint64_t *functions = calloc((size_t)count, sizeof(*functions));
	char name[64];

	if (!functions)
		fail("memory", ENOMEM);
	for (int i = 0; i < count; i++) {
		void *library = dlopen(paths[i], RTLD_NOW);

		functions[i] = library ? (uintptr_t)dlsym(library, "generated") : 0;
		if (!functions[i]) {
			fprintf(stderr, "register_bench: %s\n", dlerror());
			exit(1);
		}
	}
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = functions[random_number(&seed) % (uint64_t)count];
	snprintf(name, sizeof(name), "glibc, _dl_find_object, %d libraries", count);
	bench_lookups(name, ask_glibc);
	free(functions);
}

static void open_libgcc(void)
{
	void *library = dlopen("libgcc_s.so.1", RTLD_NOW);

	if (!library)
		fail("libgcc_s.so.1", ENOENT);
	libgcc.add = (void (*)(void *))dlsym(library, "__register_frame");
	libgcc.remove = (void (*)(void *))dlsym(library, "__deregister_frame");
	libgcc.find = (const void *(*)(void *, struct fde_bases *))dlsym(library,
									 "_Unwind_Find_FDE");
	if (!libgcc.add || !libgcc.remove || !libgcc.find)
		fail("libgcc_s.so.1", ENOSYS);
}

static int usage(void)
{
	fprintf(stderr, "usage: register_bench [-n RANGES] [-r ROUNDS] LIBRARY...\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct registry *registry;
	int option;

	while ((option = getopt(argc, argv, "n:r:")) != -1) {
		if (option == 'n')
			ranges = strtoul(optarg, NULL, 10);
		else if (option == 'r')
			rounds = (unsigned int)strtoul(optarg, NULL, 10);
		else
			return usage();
	}
	if (optind == argc || !ranges || !rounds || rounds > MAX_ROUNDS)
		return usage();
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		puts("register_bench: one CPU only");
		return 77;
	}
	text = map(ranges * CODE_SIZE, PROT_EXEC);
	tables = map(ranges * TABLE_SIZE, 0);
	dynamic = map(ranges * sizeof(*dynamic), 0);
	open_libgcc();
	check(own_registry_open(&registry), "map");
	code = registry_map(registry);

	bench_changes();
	printf("look up, %zu pieces of code: random, by one thread and by two; the same again\n",
	       ranges);
	choose_addresses();
	bench_bobbin();
	bench_libgcc();
	bench_glibc(argv + optind, argc - optind);
	return 0;
}
