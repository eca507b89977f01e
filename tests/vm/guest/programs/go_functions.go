// SPDX-License-Identifier: GPL-2.0-only
// Functions of Go for tests that trace them: go_functions MODE LOG. The file LOG has a line for each call that has returned, with what it was
// called with and what it has returned, as a JSON array: ["NAME", ARGUMENTS..., RESULTS...].
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
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

type pair struct {
	X int
	S string
}

type server struct {
	number int
	name   string
	served int64
}

type direction uint8

//go:noinline
func none() { runtime.KeepAlive(&log) }

//go:noinline
func leaf(a int) int { return a + 1 }

//go:noinline
func numbers(a int, b int8, c uint16, d bool, e uintptr, f int32, g int64, h byte, i int) int64 {
	if a < -5000000 {
		fmt.Println(a)
	}
	return int64(a) + int64(b) + int64(c) + int64(e) + int64(f) + g + int64(h) + int64(i)
}

//go:noinline
func tenth(a, b, c, d, e, f, g, h, i, j int) int {
	if a < -5000000 {
		fmt.Println(a)
	}
	return a + b + c + d + e + f + g + h + i + j
}

//go:noinline
func text(s string, n int) string {
	if n%3 == 0 {
		return ""
	}
	return strings.Repeat(s, 1+n%2)
}

//go:noinline
func two(a int, s string) (int, string) {
	if len(s) > 3 {
		return a, s[1:]
	}
	return -a, s
}

//go:noinline
func fails(a int) (n int, err error) {
	if a%2 == 0 {
		return a, errors.New("even")
	}
	return -a, nil
}

//go:noinline
func (s *server) add(n int) int { s.number += n; said("note"); return s.number }

//go:noinline
func real(x float64, n int, y float32) float64 { return float64(n) + x + float64(y) }

//go:noinline
func structs(p pair, n int, d direction, z struct{}) int { return p.X + len(p.S) + n + int(d) }

//go:noinline
func lists(b []byte, ss []string, is []int) []int {
	if len(is) == 0 {
		return nil
	}
	return is[:1]
}

//go:noinline
func holds(p pair, four [4]int16, d time.Duration, e error, i interface{}) (error, time.Duration) {
	if four[1] > 1000 {
		fmt.Println(p, i)
	}
	return e, d + time.Duration(four[0])
}

//go:noinline
func keeps(m map[string]int, c chan int, at time.Time) int { return len(m) + len(c) + at.Nanosecond() }

// Its own number is in the first line of its stack: "goroutine 18 [running]:".
//
//go:noinline
func own(n int) (id int) {
	var text [64]byte
	fmt.Sscanf(string(text[:runtime.Stack(text[:], false)]), "goroutine %d ", &id)
	return id
}

// Where its goroutine was begun is at the end of its stack: "created by main.f in goroutine 1", and below it "\t/path/file.go:42 +0x6f".
//
//go:noinline
func begun(n int) (place string) {
	text := make([]byte, 8192)
	_, last, _ := strings.Cut(string(text[:runtime.Stack(text, false)]), "created by ")
	function, line, _ := strings.Cut(last, "\n")
	function, _, _ = strings.Cut(function, " ")
	line, _, _ = strings.Cut(line, " +")
	return function + " " + line[strings.LastIndex(line, "/")+1:]
}

func beginnings(count int) {
	var all sync.WaitGroup
	for n := 0; n < count; n++ {
		all.Add(2)
		go func(n int) {
			defer all.Done()
			said("begun", n, begun(n))
		}(n)
		another := func(n int) {
			defer all.Done()
			said("begun", n, begun(n))
		}
		go another(n + 1000)
	}
	all.Wait()
}

//go:noinline
func blank(_ int, b int, _ string, c uint8) int { return b + int(c) }

//go:noinline
func generic[T any](v T, n int) int { return n + len(fmt.Sprint(v)) }

//go:noinline
func slices(b []byte, m map[string]int, c chan int, f func(int) int, i interface{}, n int) []byte {
	return append(b, byte(n+f(len(m))+cap(c)))
}

// Its stack is moved.
//
//go:noinline
func deep(n int) int {
	var room [300]byte
	room[n%300] = byte(n)
	if n == 0 {
		return 0
	}
	return deep(n-1) + 1 + int(room[(n+1)%300])
}

//go:noinline
func huge(n int) int {
	var room [100000]byte
	room[n] = 1
	return n + int(room[n/2]) + middle(n)
}

//go:noinline
func middle(n int) int {
	var room [2000]byte
	room[n%2000] = 1
	return n + int(room[(n+1)%2000])
}

//go:noinline
func panics(n int) int {
	if n%3 == 0 {
		panic(n)
	}
	return n
}

//go:noinline
func recovers(n int) (r int) {
	defer func() {
		if e := recover(); e != nil {
			r = -n
		}
	}()
	return panics(n) + 1
}

//go:noinline
func alwaysPanics(n int) {
	panic(n + 1)
}

func recoversAlways(n int) {
	defer func() {
		recover()
	}()
	alwaysPanics(n)
}

//go:noinline
func leaves(n int) int {
	if n%2 == 0 {
		runtime.Goexit()
	}
	return n
}

//go:noinline
func blocks(n int, from chan int, to chan int) int {
	got := <-from
	runtime.Gosched()
	sum := deep(n%40) + got
	to <- sum
	return sum + n
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := atomic.AddInt64(&s.served, 1)
	fmt.Fprintf(w, "%s %d", s.path(r.URL.Path, int(n)), n)
}

//go:noinline
func (s *server) path(path string, n int) string { return s.name + path }

type inner struct{ N int }

//go:noinline
func (i inner) value(n int) int { return i.N + n }

//go:noinline
func (i *inner) pointer(n int) int { i.N++; return i.N + n }

// The compiler makes it a part of what calls it.
func (i inner) small(n int) int { return i.N*2 + n }

type outer struct {
	name string
	inner
}

type far struct {
	depth int
	*outer
}

type clashing struct {
	far
	near inner
	inner
	twin
}

type twin struct{ depth int }

type shaped interface {
	value(int) int
	pointer(int) int
	small(int) int
}

//go:noinline
func through(s shaped, n int) (int, int, int) { return s.value(n), s.pointer(n), s.small(n) }

//go:noinline
func bound(f func(int) int, n int) int { return f(n) }

//go:noinline
func embeds(o *outer, f far, c *clashing, n int) int { return o.N + f.N + c.N + n }

//go:noinline
func choose[T any](v T, n int) (first T, second int) {
	if n%7 == 8 {
		fmt.Println(v)
	}
	return v, n
}

type box[T any] struct{ all []T }

//go:noinline
func (b *box[T]) put(v T, n int) int { b.all = append(b.all, v); return len(b.all) + n }

type places struct {
	first *pair
	next  *places
	at    time.Time
}

//go:noinline
func shows(c complex64, e struct{}, z complex128, ps []pair, s *server, p *places, none [0]int) complex128 {
	return complex128(c) + z + complex(float64(len(ps)), 0)
}

// Methods that are called by functions which the compiler makes.
func wrappers(count int) {
	for n := 0; n < count; n++ {
		o := &outer{"o", inner{n}}
		through(o, n)
		said("value", o.N, n+1, bound(o.value, n+1))
		said("pointer", o.N+1+n, bound(o.pointer, n))
		done := make(chan bool)
		go func() {
			defer close(done)
			defer o.value(n)
		}()
		<-done
		far := far{n, &outer{"far", inner{n * 2}}}
		c := &clashing{far, inner{n * 3}, inner{n * 5}, twin{n}}
		said("embeds", o.N, far.N, "far", n, c.N, c.near.N, embeds(o, far, c, n))
	}
}

func generics(count int) {
	b, words := &box[pair]{}, &box[string]{}
	for n := 0; n < count; n++ {
		word := strings.Repeat("ab", n%5) + fmt.Sprint(n)
		number, _ := choose(n, n)
		said("choose", n, n, number, n)
		text, _ := choose(word, n)
		said("choose", word, n, text, n)
		choose(direction(n), n)
		said("choose", n%256, n, n%256, n)
		choose(pair{n, word}, n)
		said("choose", n, word, n, n, word, n)
		said("put", n, word, n, b.put(pair{n, word}, n))
		said("put", word, n, words.put(word, n))
	}
}

func shown(count int) {
	for n := 0; n < count; n++ {
		ps := []pair{{n, "first"}, {-n, fmt.Sprint("second", n)}, {7, ""}}[:n%4]
		s := &server{number: n, name: fmt.Sprint("name", n)}
		p := &places{first: &pair{n, "in"}, at: time.Unix(int64(n)*1000000, int64(n)).UTC()}
		p.next = p
		c, z := complex(float32(n)+0.5, -float32(n)-0.5), complex(float64(n)+0.25, 1.5)
		sum := shows(c, struct{}{}, z, ps, s, p, [0]int{})
		all := parts{"c.(real)": float64(n) + 0.5, "c.(imag)": -float64(n) - 0.5, "z.(real)": float64(n) + 0.25, "z.(imag)": 1.5, "ret.(imag)": imag(sum), "ps.len": len(ps),
			"s.number": s.number, "s.name": s.name, "s.served": 0, "p.at": p.at.Unix(), "p.at.nsec": n}
		for i, one := range ps {
			all[fmt.Sprintf("ps.[%d].X", i)] = one.X
			if one.S != "" {
				all[fmt.Sprintf("ps.[%d].S", i)] = one.S
			}
		}
		said("shows", all)
	}
}

func values(count int) {
	said("none")
	none()
	s := &server{name: "n"}
	for n := 0; n < count; n++ {
		a, b, c, d, e, f, g, h, i := n-100, int8(-n), uint16(n*7), n%2 == 0, uintptr(n)<<33, int32(-n*1000), int64(n)<<40, byte(n), -n
		said("numbers", a, b, c, d, e, f, g, h, i, numbers(a, b, c, d, e, f, g, h, i))
		said("tenth", n, 1, 2, 3, 4, 5, 6, 7, 8, n*2, tenth(n, 1, 2, 3, 4, 5, 6, 7, 8, n*2))
		word := strings.Repeat("ab", n%5) + fmt.Sprint(n)
		said("text", word, n, text(word, n))
		first, second := two(n, word)
		said("two", n, word, first, second)
		number, _ := fails(n)
		said("fails", n, number, nil)
		before := s.number
		said("add", n, before+n, s.add(n))
		said("real", float64(n)+0.25, n, 1.5, real(float64(n)+0.25, n, 1.5)) // none of them whole, so that all have a point
		said("structs", n, word, n, n%250, struct{}{}, structs(pair{n, word}, n, direction(n%250), struct{}{}))
		said("blank", n*3, n%200, blank(n, n*3, word, uint8(n%200)))
		said("generic", generic(pair{n, word}, n))
		generic(word, n)
		said("slices", n)
		slices([]byte(word), nil, nil, func(a int) int { return a }, n, n)
		said("leaf", n, leaf(n))
	}
}

type parts map[string]interface{}

// What is said of a call is an object of the values that are recorded of it.
func composites(count int) {
	c := make(chan int, 8)
	var all sync.WaitGroup
	for n := 0; n < count; n++ {
		b := make([]byte, n%5, n%5+3)
		for i := range b {
			b[i] = byte(n + i)
		}
		numbers := make([]int, len(b))
		for i := range b {
			numbers[i] = int(b[i])
		}
		ss := []string{"one", "", fmt.Sprint(n)}[:n%4]
		is := []int{n, -n, n << 40}[:n%4]
		if n%7 == 0 {
			is = nil
		}
		first := lists(b, ss, is)
		lists_ := parts{"b": numbers, "b.len": len(b), "b.cap": cap(b), "ss.len": len(ss), "is": append([]int{}, is...), "is.len": len(is), "is.cap": cap(is), "ret": append([]int{}, first...), "ret.len": len(first)}
		for i, s := range ss {
			if s != "" {
				lists_[fmt.Sprintf("ss.[%d]", i)] = s
			}
		}
		said("lists", lists_)

		errs := []error{nil, errors.New(fmt.Sprint("e", n)), fmt.Errorf("in %d: %w", n, io.EOF), &os.PathError{Op: "open", Path: "/", Err: io.EOF}}
		types := []interface{}{nil, "*errors.errorString", "*fmt.wrapError", "*fs.PathError"}
		texts := []interface{}{nil, fmt.Sprint("e", n), fmt.Sprintf("in %d: EOF", n), nil}
		values := []interface{}{nil, n, "text", pair{n, "p"}, &pair{}, []int{n}}
		names := []interface{}{nil, "int", "string", "main.pair", "*main.pair", "[]int"}
		which, value := n%len(errs), n%len(values)
		d := time.Duration(n) * time.Millisecond
		_, later := holds(pair{n, fmt.Sprint(n)}, [4]int16{int16(n), 2, 3, -4}, d, errs[which], values[value])
		var inside interface{}
		if value == 2 {
			inside = "text"
		}
		said("holds", parts{"p.X": n, "p.S": fmt.Sprint(n), "four": []int{n, 2, 3, -4}, "d": int64(d), "e.type": types[which], "e.text": texts[which],
			"i.type": names[value], "i.text": inside, "ret0.type": types[which], "ret0.text": texts[which], "ret1": int64(later)})

		var m map[string]int
		if n%3 > 0 {
			m = map[string]int{}
		}
		for i := 0; i < n%3*10; i++ {
			m[fmt.Sprint(i)] = i
		}
		if n%2 == 0 {
			c <- n
		} else if n%4 == 3 {
			<-c
			<-c
		}
		at := time.Unix(int64(n)*1000000, int64(n))
		keeps(m, c, at)
		said("keeps", parts{"m.len": len(m), "c.len": len(c), "c.cap": cap(c), "at": at.Unix(), "at.nsec": at.Nanosecond()})

		all.Add(1)
		go func(n int) {
			defer all.Done()
			said("own", n, own(n))
		}(n)
	}
	all.Wait()
}

func stacks(count int) {
	var all sync.WaitGroup
	for n := 0; n < count; n++ {
		all.Add(1)
		go func(n int) {
			defer all.Done()
			said("deep", n, deep(n))
			said("huge", n, huge(n))
		}(n % 150)
	}
	all.Wait()
}

func goroutines(count int) {
	var all sync.WaitGroup
	from, to := make(chan int), make(chan int, count)
	for n := 0; n < count; n++ {
		all.Add(1)
		go func(n int) {
			defer all.Done()
			said("blocks", n, blocks(n, from, to))
		}(n)
	}
	for n := 0; n < count; n++ {
		from <- n
	}
	all.Wait()
}

// Others run in its thread while it waits, and it goes on in another.
//
//go:noinline
func waits(n int, c chan int, fd int) int {
	sum := writes(n, 1, fd)
	<-c
	sum += writes(n, 2, fd)
	<-c
	return sum
}

//go:noinline
func writes(n, step, fd int) int {
	written, _ := syscall.Write(fd, make([]byte, n*10+step))
	return written
}

func trees(count int) {
	null, err := syscall.Open("/dev/null", syscall.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	var all sync.WaitGroup
	channels := make([]chan int, count)
	for n := range channels {
		channels[n] = make(chan int)
		all.Add(1)
		go func(n int) {
			defer all.Done()
			waits(n, channels[n], null)
		}(n)
	}
	for round := 0; round < 2; round++ {
		for _, c := range channels {
			c <- 1
		}
	}
	all.Wait()
}

func panicking(count int) {
	var all sync.WaitGroup
	for n := 0; n < count; n++ {
		said("recovers", n, recovers(n))
		recoversAlways(n)
		if n%3 != 0 {
			said("panics", n, n)
		}
		all.Add(1)
		go func(n int) {
			defer all.Done()
			said("leaves", n, leaves(n))
		}(n)
		all.Wait()
	}
}

func serve(count int) {
	const socket = "/tmp/go_functions.sock"
	os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	s := &server{name: "go"}
	go http.Serve(listener, s)
	client := http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConns: 4, DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", socket) }}}
	var all sync.WaitGroup
	for worker := 0; worker < 8; worker++ {
		all.Add(1)
		go func(worker int) {
			defer all.Done()
			for n := 0; n < count/8; n++ {
				path := fmt.Sprintf("/%d/%d", worker, n)
				answer, err := client.Get("http://go" + path)
				if err != nil {
					panic(err)
				}
				body, _ := io.ReadAll(answer.Body)
				answer.Body.Close()
				var name string
				var number int
				fmt.Sscan(string(body), &name, &number)
				if name != "go"+path {
					panic("another answer: " + string(body))
				}
				said("path", path, number, name)
			}
		}(worker)
	}
	all.Wait()
}

func main() {
	file, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	log.Encoder = json.NewEncoder(file)
	switch os.Args[1] {
	case "values":
		values(300)
	case "composites":
		composites(200)
	case "wrappers":
		wrappers(200)
	case "beginnings":
		beginnings(100)
	case "generics":
		generics(100)
	case "shown":
		shown(20)
	case "stacks":
		stacks(600)
	case "collected":
		debug.SetGCPercent(1)
		stacks(300)
		goroutines(300)
	case "goroutines":
		goroutines(2000)
	case "crowd":
		goroutines(10000)
	case "trees":
		trees(100)
	case "panics":
		panicking(300)
	case "server":
		serve(400)
	case "forever":
		go stacks(100000000)
		never := make(chan int)
		for {
			go blocks(1, never, never)
			time.Sleep(time.Millisecond)
		}
	}
}
