// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// calling_c - goroutines that call C, and allocate, for so many milliseconds
package main

/*
#include <stdlib.h>

static __attribute__((noinline)) int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) int sorted(unsigned int seed)
{
	const size_t count = 2000;
	int *numbers = malloc(count * sizeof(*numbers)), middle;

	for (size_t i = 0; i < count; i++)
		numbers[i] = (seed = seed * 1103515245 + 12345) >> 8 & 0xffff;
	qsort(numbers, count, sizeof(*numbers), by_number);
	middle = numbers[count / 2];
	free(numbers);
	return middle;
}
*/
import "C"

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:noinline
func work(seed int) int {
	var text strings.Builder
	sum := int(C.sorted(C.uint(seed)))
	for i := 0; i < 500; i++ {
		fmt.Fprintf(&text, "%d,", i*seed)
	}
	return sum + len(strings.Split(text.String(), ","))
}

func main() {
	milliseconds, _ := strconv.Atoi(os.Args[1])
	end := time.Now().Add(time.Duration(milliseconds) * time.Millisecond)
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func(seed int) {
			defer all.Done()
			for time.Now().Before(end) {
				seed += work(seed) & 1
			}
		}(i)
	}
	all.Wait()
}
