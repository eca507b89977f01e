// SPDX-License-Identifier: GPL-2.0-only
// What user_stacks.c does, for UserStacksOfGo: wherever a stack is looked at, runtime.Callers() says what it is, and a system call
// follows whose number a tracer's answer is compared by.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	_ "unsafe"
)

const tag = 0x41524754 // the first argument of prctl(), which knows no such option

type look struct {
	shape  string
	frames [128]uintptr
	count  int
	within int // the index of a frame whose function alone is known; 0: there is none
}

var looks [1024]look
var number int64 = -1

//go:noinline
func lookAt(shape string) {
	own := atomic.AddInt64(&number, 1)
	looks[own].shape = shape
	looks[own].count = runtime.Callers(1, looks[own].frames[:])
	syscall.RawSyscall(syscall.SYS_PRCTL, tag, uintptr(own), 0)
}

//go:noinline
func third(shape string) int { lookAt(shape); return 3 }

//go:noinline
func second(shape string) int { return third(shape) + 1 }

//go:noinline
func first(shape string) int { return second(shape) * 2 }

// Its stack has to be moved.
//
//go:noinline
func recurse(depth int) byte {
	var room [1000]byte
	room[depth] = byte(depth)
	if depth == 0 {
		lookAt("recursion")
	} else {
		room[depth] += recurse(depth - 1)
	}
	return room[depth]
}

type speaker interface{ speak(int) int }
type dog struct{ name string }
type cat struct{ lives [9]int }

//go:noinline
func (d *dog) speak(n int) int { lookAt("interface"); return len(d.name) + n }

//go:noinline
func (c *cat) speak(n int) int { lookAt("other"); return c.lives[n%9] }

//go:noinline
func panics(n int) int {
	defer func() {
		recover()
		lookAt("recovered")
	}()
	defer func() { lookAt("deferred") }()
	panic(n)
}

//go:noinline
func dereferences(where *int) int { return *where + 1 }

// A signal's handler has the runtime called by it, at an instruction that is no call.
//
//go:noinline
func faults() (n int) {
	defer func() {
		lookAt("fault")
		recover()
	}()
	n = dereferences(nil)
	return
}

//go:noinline
func sorted(shape string) {
	numbers := []int{3, 1, 2}
	once := true
	sort.Slice(numbers, func(i, j int) bool {
		if once {
			once = false
			lookAt(shape)
		}
		return numbers[i] < numbers[j]
	})
}

//go:noinline
func generic[T any](value T, call func(T) int) int { return call(value) + 1 }

// As the runtime calls functions of its own on the stack of the thread, which belongs to no goroutine.
//
//go:linkname systemstack runtime.systemstack
func systemstack(function func())

// On that stack runtime.Callers() ends where it begins. The rest is as it was before, but for the place in this function.
//
//go:noinline
func onSystemStack(shape string) {
	var outer [64]uintptr
	count := runtime.Callers(1, outer[:])
	var own *look
	systemstack(func() {
		own = &looks[number+1]
		third(shape)
	})
	own.within = own.count
	own.count += copy(own.frames[own.count:], outer[:count])
}

// Its stack grows so often that the runtime needs memory for it.
//
//go:noinline
func grow(depth int) byte {
	var room [4000]byte
	room[depth%len(room)] = byte(depth)
	if depth > 0 {
		room[depth%len(room)] += grow(depth - 1)
	}
	return room[depth%len(room)]
}

// The addresses of the function's code.
func extent(within uintptr) (begin, end uintptr) {
	begin = runtime.FuncForPC(within).Entry()
	for end = within; runtime.FuncForPC(end).Entry() == begin; {
		end++
	}
	return
}

func offsets() func(uintptr) string {
	type mapping struct {
		begin, end, offset uintptr
		name               string
	}
	var mappings []mapping
	file, _ := os.Open("/proc/self/maps")
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var m mapping
		var mode, device string
		var inode int
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s %x %s %d %s", &m.begin, &m.end, &mode, &m.offset, &device, &inode, &m.name); n == 7 {
			m.name = m.name[strings.LastIndex(m.name, "/")+1:]
			mappings = append(mappings, m)
		}
	}
	return func(at uintptr) string {
		for _, m := range mappings {
			if at >= m.begin && at < m.end {
				return fmt.Sprintf("%s+0x%x", m.name, at-m.begin+m.offset)
			}
		}
		return fmt.Sprintf("?+0x%x", at)
	}
}

func main() {
	first("plain")
	recurse(50)
	for _, one := range []speaker{&dog{"rex"}, &cat{}} {
		one.speak(1)
	}
	panics(1)
	faults()
	sorted("sort")
	generic("word", func(word string) int { lookAt("generic"); return len(word) })
	var all sync.WaitGroup
	for i := 0; i < 50; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			first("goroutine")
			runtime.Gosched()
			recurse(10)
			if i := len(looks); i > 0 {
				sorted("goroutine")
			}
		}()
	}
	all.Wait()
	runtime.GC()
	first("collected")
	onSystemStack("system")
	grown := make(chan byte)
	go func() {
		onSystemStack("system")
		grown <- grow(1000)
	}()
	<-grown
	place := offsets()
	for i := range looks[:number+1] {
		fmt.Printf("%d %s", i, looks[i].shape)
		for n, frame := range looks[i].frames[:looks[i].count] {
			if n > 0 && n == looks[i].within {
				begin, end := extent(frame)
				fmt.Printf(" %s-%s", place(begin), place(end-1))
				continue
			}
			fmt.Printf(" %s", place(frame))
		}
		fmt.Println()
	}
}
