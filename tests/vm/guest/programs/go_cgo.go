// SPDX-License-Identifier: GPL-2.0-only
// Functions of Go that call those of C, which call functions of Go: go_functions_cgo LOG. The file LOG has a line for each call of main.outside and main.inside that has
// returned, as go_functions.go has it.
package main

/*
extern long inGo(long n, double x);
static long __attribute__((noinline)) in_c(long n, double x) { return inGo(n + 1, x * 2) + 1; }
*/
import "C"

import (
	"encoding/json"
	"os"
	"runtime"
	"sync"
)

var log struct {
	sync.Mutex
	*json.Encoder
}

func said(values ...interface{}) {
	log.Lock()
	defer log.Unlock()
	log.Encode(values)
}

//export inGo
func inGo(n C.long, x C.double) C.long { return C.long(inside(int(n), float64(x))) }

// Where it is called again from C there are several such calls in one another.
//
//go:noinline
func inside(n int, x float64) int {
	sum := n
	if n%3 != 0 {
		sum += outside(n+1, x)
	}
	runtime.Gosched()
	said("inside", n, x, sum)
	return sum
}

//go:noinline
func outside(n int, x float64) int {
	sum := int(C.in_c(C.long(n), C.double(x)))
	said("outside", n, x, sum)
	return sum
}

func main() {
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	log.Encoder = json.NewEncoder(file)
	var all sync.WaitGroup
	for n := 0; n < 100; n++ {
		all.Add(1)
		go func(n int) {
			defer all.Done()
			outside(n, 0.3)
		}(n)
	}
	all.Wait()
}
