// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// cgo_stacks - a crash in C code that Go has called: the report has the C functions, too.
package main

/*
#cgo LDFLAGS: -lbobbin-backtrace
#include <bobbin/backtrace.h>

static __attribute__((noinline)) int inner(volatile int *nowhere)
{
	return *nowhere + 1;
}

static __attribute__((noinline)) int outer(volatile int *nowhere)
{
	return inner(nowhere) + 1;
}

static uintptr_t place_of_outer(void)
{
	return (uintptr_t)outer;
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

func main() {
	runtime.SetCgoTraceback(0, unsafe.Pointer(C.bobbin_cgo_traceback), nil, nil)
	fmt.Fprintf(os.Stderr, "outer is at %#x\n", uint64(C.place_of_outer()))
	fmt.Println(C.outer(nil))
}
