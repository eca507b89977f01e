// SPDX-License-Identifier: GPL-2.0-only
// What a call of a function of Go costs: as pread_loop.c, timed by the clock, whose nanoseconds are instructions where the time stamp
// counter counts these (scripts/vm --icount).
//
//	go_loop        prints the median batch and the mean, per call
//	go_loop place  prints where benchFunction begins in the program's file, behind the check of its stack
package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"sort"
	"time"
)

const calls, batches = 200, 250

//go:noinline
func kept(n int) int { return n + 1 }

// It calls another, so that it begins with the check of its stack, as most functions do.
//
//go:noinline
func benchFunction(text string, a int, b int32, c uint8) int {
	return kept(len(text)+a+int(b)+int(c)) + 1
}

// The compiler's cmp 0x10(%r14),%rsp and the jump to where the stack grows, of either length.
var checks = []struct {
	begins []byte
	size   int
}{
	{[]byte{0x49, 0x3b, 0x66, 0x10, 0x76}, 6},
	{[]byte{0x49, 0x3b, 0x66, 0x10, 0x0f, 0x86}, 10},
}

func place() (uint64, error) {
	file, err := elf.Open(os.Args[0])
	if err != nil {
		return 0, err
	}
	defer file.Close()
	text := file.Section(".text")
	code, err := text.Data()
	if err != nil {
		return 0, err
	}
	at := uint64(reflect.ValueOf(benchFunction).Pointer()) - text.Addr
	for _, check := range checks {
		if bytes.HasPrefix(code[at:], check.begins) {
			return text.Offset + at + uint64(check.size), nil
		}
	}
	return 0, fmt.Errorf("main.benchFunction begins without a check of its stack")
}

func printCost() {
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	took := make([]float64, batches)
	sum := 0.0
	text := "/etc/something"
	for i := range took {
		start := time.Now()
		for k := 0; k < calls; k++ {
			benchFunction(text, 1, 2, 3)
		}
		took[i] = float64(time.Since(start).Nanoseconds())
		sum += took[i]
	}
	sort.Float64s(took)
	fmt.Printf("%.2f %.2f\n", took[batches/2]/calls, sum/batches/calls)
}

func main() {
	if len(os.Args) == 1 {
		printCost()
		return
	}
	offset, err := place()
	if err != nil {
		fmt.Fprintln(os.Stderr, "go_loop:", err)
		os.Exit(1)
	}
	fmt.Println(offset)
}
