/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A library that is loaded and unloaded. */
static volatile long sink;

__attribute__((noinline)) static long deeper(long n)
{
	sink += n;
	return n ? deeper(n - 1) + 1 : 0;
}

long plugin_work(long n)
{
	return deeper(n) + sink;
}
