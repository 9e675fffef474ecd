/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Methods that call each other: main, a, five times b, c, which computes. */
public class Chain {
	static volatile long sink;

	static void c(int n) {
		long sum = 0;

		for (int i = 0; i < n; i++)
			sum += (long) i * i ^ sum;
		sink = sum;
	}

	static void b(int depth) {
		if (depth > 1)
			b(depth - 1);
		else
			c(20000);
		sink++;
	}

	static void a() {
		b(5);
		sink++;
	}

	public static void main(String[] args) {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000000L;

		while (System.nanoTime() < end)
			a();
	}
}
