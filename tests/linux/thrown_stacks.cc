/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thrown_stacks.cc - known stacks in C++: code that is inlined, exceptions that pass through it,
 * destructors that run meanwhile, and handlers.
 *
 * f_leaf() computes; samples are also taken in libgcc and libstdc++, between f_thrower() and the
 * handler.
 */
#include <cstdlib>
#include <stdexcept>

#define NOINLINE __attribute__((noinline, noclone))
#define INLINE inline __attribute__((always_inline))

static volatile unsigned long sink;

extern "C" NOINLINE unsigned long f_leaf(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < 20000; i++)
		sum += (i * n) ^ (sum >> 3);
	return sum;
}

namespace
{
struct at_end {
	unsigned long n;
	INLINE ~at_end() { sink = sink + f_leaf(n); }
};

template <unsigned long N> INLINE unsigned long nested(unsigned long n)
{
	at_end end{n};

	return nested<N - 1>(n + 1) + 1;
}

template <> INLINE unsigned long nested<0>(unsigned long n)
{
	return f_leaf(n);
}
}

extern "C" NOINLINE void f_thrower(unsigned long n)
{
	sink = sink + nested<3>(n);
	throw std::runtime_error("thrown");
}

extern "C" NOINLINE void f_between(unsigned long n)
{
	at_end end{n};
	char room[512];

	*(volatile char *)room = 1;
	f_thrower(n);
}

extern "C" NOINLINE void f_catcher(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		try {
			f_between(i);
		} catch (const std::exception &) {
			sink = sink + f_leaf(i);
		}
	}
}

int main(int argc, char **argv)
{
	f_catcher(argc == 2 ? std::atoi(argv[1]) : 0);
	sink = sink + 1;
	return 0;
}
