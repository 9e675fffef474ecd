/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A library that carrier.c loads by itself: position-independent, without relocations. */
__attribute__((noipa)) int carry(int (*function)(long), long argument)
{
	int result = function(argument);

	__asm__ volatile("" ::: "memory");
	return result;
}
