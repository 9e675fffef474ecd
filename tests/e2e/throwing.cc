// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// throwing MS - main > loop > catches > passes > destroys > throws, again and again: each
// exception passes two frames that destroy something, and is caught in the third.
#include <stdexcept>

#include "spin.h"

static volatile int count;

struct resource {
	NOINLINE ~resource()
	{
		count = count + 1;
	}
};

static NOINLINE void throws()
{
	if (count >= 0)
		throw std::runtime_error("caught soon");
}

static NOINLINE void destroys()
{
	resource here;

	throws();
}

static NOINLINE void passes()
{
	resource here;

	destroys();
}

static NOINLINE void catches()
{
	try {
		resource here;

		passes();
	} catch (const std::exception &) {
		count = 0;
	}
}

static NOINLINE void loop(long ms)
{
	long end = thread_ms() + ms;

	do {
		for (int i = 0; i < 200; i++)
			catches();
	} while (thread_ms() < end);
}

int main(int argc, char **argv)
{
	loop(ms_argument(argc, argv));
	return 0;
}
