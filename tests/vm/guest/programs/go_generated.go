// SPDX-License-Identifier: GPL-2.0-only
// Calls generated functions (generator/go_functions.cpp) with random values: go_generated LOG SEED ROUNDS. The file LOG has a line for each call that has returned,
// ["NAME", {"PART": VALUE, ...}, USES], with all parts of what it was called with and of what it has returned, as argtrace calls them, and whether it uses what it is
// called with. In all rounds but the first some of them are called by a goroutine that is about to give way.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"os"
	"reflect"
	"runtime/debug"
	"strconv"
	"time"
	"unsafe"
)

type level int16
type label string
type nothing struct{}

type generated struct {
	call func()
	uses bool // all that it is called with
}

var log *json.Encoder
var touched byte
var uses bool
var turns int // of linger()

//go:noinline
func touch(room []byte) bool {
	for i := range room {
		room[i] = byte(i)
	}
	touched += byte(len(room)) + 1
	return touched%2 == 0
}

// Takes the processor for longer than the scheduler leaves it to a goroutine. It is inlined and calls nothing, so that with asyncpreemptoff=1 the first place where the
// goroutine can give way is the stack check of the function that is called next.
func linger() {
	for n := turns; n > 0; n-- {
		touched++
	}
}

// The stack has room for all that follows.
//
//go:noinline
func grow() {
	var room [1000000]byte
	touch(room[:])
}

func twice(n int) int { return n * 2 }

func random(pointer interface{}) { fill(reflect.ValueOf(pointer).Elem(), 0) }

func word() string {
	text := []rune{}
	for n := rand.Intn(12); n > 0; n-- {
		text = append(text, []rune("abcz09 _\"\\\täß€😀")[rand.Intn(15)])
	}
	return string(text)
}

func fraction() float64 {
	return []float64{0, 0.25, -1.5, 1e300, -1e-300, 0.1, math.Inf(1), math.Inf(-1), math.NaN(), 3, float64(rand.Int63()), rand.NormFloat64()}[rand.Intn(12)]
}

// A value of any type but where it leads too far.
func fill(v reflect.Value, depth int) {
	number := rand.Uint64() >> uint(rand.Intn(64))
	if v.Type() == reflect.TypeOf(time.Time{}) {
		times := []time.Time{{}, time.Now(), time.Unix(rand.Int63n(1<<33), rand.Int63n(1e9)), time.Unix(-rand.Int63n(1<<33), 0)}
		v.Set(reflect.ValueOf(times[rand.Intn(len(times))]))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(number%2 == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if rand.Intn(2) == 0 {
			number = -number
		}
		v.SetInt(int64(number) << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(number << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(fraction())
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(fraction(), fraction()))
	case reflect.String:
		v.SetString(word())
	case reflect.Func:
		if rand.Intn(3) > 0 {
			v.Set(reflect.ValueOf(twice))
		}
	case reflect.UnsafePointer:
		if rand.Intn(3) > 0 {
			v.SetPointer(unsafe.Pointer(new(int)))
		}
	case reflect.Ptr:
		if depth < 3 && rand.Intn(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth+1)
		}
	case reflect.Map:
		if rand.Intn(3) > 0 {
			all := map[string]int{}
			for n := rand.Intn(20); n > 0; n-- {
				all[strconv.Itoa(n)] = n
			}
			v.Set(reflect.ValueOf(all))
		}
	case reflect.Chan:
		if rand.Intn(3) > 0 {
			c := make(chan int, 1+rand.Intn(4))
			for n := rand.Intn(cap(c) + 1); n > 0; n-- {
				c <- n
			}
			v.Set(reflect.ValueOf(c))
		}
	case reflect.Interface:
		errs := []interface{}{errors.New("e" + word()), fmt.Errorf("in %s: %w", word(), io.EOF), &os.PathError{Op: "open", Path: "/", Err: io.EOF}}
		all := append(errs, int(number), word(), S1{}, &S2{}, []string{"s"}, [3]int{1, 2, 3}, label("l"), true, 1.5, map[string]int{})
		if v.NumMethod() > 0 {
			all = errs
		}
		if rand.Intn(5) > 0 {
			v.Set(reflect.ValueOf(all[rand.Intn(len(all))]))
		}
	case reflect.Slice:
		if rand.Intn(6) > 0 {
			n := rand.Intn(7) >> depth
			v.Set(reflect.MakeSlice(v.Type(), n, n+rand.Intn(3)))
			for i := 0; i < n; i++ {
				fill(v.Index(i), depth+1)
			}
		}
	case reflect.Array:
		for i := 0; i < v.Len(); i++ {
			fill(v.Index(i), depth+1)
		}
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			if v.Type().Field(i).Name != "_" {
				fill(v.Field(i), depth+1)
			}
		}
	default:
		panic(v.Type())
	}
}

type parts map[string]interface{}

func address(v reflect.Value, word uintptr) string {
	return fmt.Sprintf("0x%x", *(*uintptr)(unsafe.Pointer(v.UnsafeAddr() + word*8)))
}

func number(n float64, bits int) interface{} {
	switch {
	case math.IsNaN(n):
		return "nan"
	case math.IsInf(n, 1):
		return "inf"
	case math.IsInf(n, -1):
		return "-inf"
	case bits == 32:
		return float32(n)
	}
	return n
}

func text(value interface{}) interface{} {
	switch v := value.(type) {
	case string:
		return v
	case error:
		if t := reflect.TypeOf(v).String(); t == "*errors.errorString" || t == "*fmt.wrapError" {
			return v.Error()
		}
	}
	return nil
}

// A value as it is where it has no parts. Those of others are among the parts.
func whole(v reflect.Value) interface{} {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return v.Uint()
	case reflect.Float32, reflect.Float64:
		return number(v.Float(), v.Type().Bits())
	case reflect.String:
		return v.String()
	case reflect.Interface:
		return address(v, 1)
	case reflect.Slice, reflect.Array:
		all := []interface{}{}
		for i := 0; i < v.Len(); i++ {
			all = append(all, whole(v.Index(i)))
		}
		return all
	case reflect.Struct:
		if t, is := v.Interface().(time.Time); is {
			return t.Unix()
		}
		all := parts{}
		for i := 0; i < v.NumField(); i++ {
			all[v.Type().Field(i).Name] = whole(v.Field(i))
		}
		return all
	case reflect.Complex64, reflect.Complex128:
		return nil
	}
	return address(v, 0)
}

func describe(all parts, name string, v reflect.Value) {
	all[name] = whole(v)
	switch v.Kind() {
	case reflect.Complex64, reflect.Complex128:
		all[name+".(real)"] = number(real(v.Complex()), v.Type().Bits()/2)
		all[name+".(imag)"] = number(imag(v.Complex()), v.Type().Bits()/2)
	case reflect.Map, reflect.Chan:
		all[name+".len"] = v.Len()
		if v.Kind() == reflect.Chan {
			all[name+".cap"] = v.Cap()
		}
	case reflect.Interface:
		all[name+".type"], all[name+".text"] = nil, nil
		if !v.IsNil() {
			all[name+".type"], all[name+".text"] = v.Elem().Type().String(), text(v.Interface())
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			all[name+".len"], all[name+".cap"], all[name+".array"] = v.Len(), v.Cap(), address(v, 0)
		}
		for i := 0; i < v.Len(); i++ {
			describe(all, fmt.Sprintf("%s.[%d]", name, i), v.Index(i))
		}
	case reflect.Struct:
		if t, is := v.Interface().(time.Time); is {
			all[name+".nsec"] = t.Nanosecond()
			return
		}
		for i := 0; i < v.NumField(); i++ {
			if field := v.Type().Field(i).Name; field != "_" {
				describe(all, name+"."+field, v.Field(i))
			}
		}
	}
}

func said(name string, values ...interface{}) {
	all := parts{}
	for i := 0; i < len(values); i += 2 {
		describe(all, values[i].(string), reflect.ValueOf(values[i+1]).Elem())
	}
	if err := log.Encode([]interface{}{name, all, uses}); err != nil {
		panic(err)
	}
}

func main() {
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	log = json.NewEncoder(file)
	log.SetEscapeHTML(false)
	seed, _ := strconv.Atoi(os.Args[2])
	rounds, _ := strconv.Atoi(os.Args[3])
	rand.Seed(int64(seed))
	// What a function does not use is lost where the stack grows when it is called: those that may not have room are called by goroutines that have just begun. No
	// stack shrinks but where the collector is at work.
	debug.SetGCPercent(-1)
	grow()
	done := make(chan bool)
	for n := 0; n < rounds; n++ {
		for i, one := range calls {
			uses, turns = one.uses, 0
			if n > 0 && i%100 == 0 {
				turns = 20000000
			}
			if !one.uses {
				one.call()
				continue
			}
			go func() {
				one.call()
				done <- true
			}()
			<-done
		}
	}
}
