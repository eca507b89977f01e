// SPDX-License-Identifier: GPL-2.0-only
// Stacks of a process in which Go and C call one another, for UserStacksOfGoWithC: main.outside calls in_c(), and that main.inside again, as often as main() says. The last
// one in C makes a system call with the number of the case.
package main

/*
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void goAgain(int again, int number);

static void __attribute__((noinline)) look(int number) {
	syscall(SYS_prctl, 0x41524754, number, 0, 0, 0);
}

// It has its frame where a register says, which functions of Go use for something else.
static void __attribute__((noinline)) in_c(int again, int number) {
	volatile char room[number * 16 + 1];

	room[number] = 1;
	if (again)
		goAgain(again - 1, number);
	else
		look(number);
	room[0] = room[number];
}

struct task {
	int again, number;
};

static void *thread(void *data) {
	struct task *task = data;
	volatile char room[task->number + 1];

	room[0] = 1;
	goAgain(task->again, task->number);
	room[task->number] = room[0];
	return NULL;
}

static void from_thread(int again, int number) {
	struct task task = { again, number };
	pthread_t other;

	pthread_create(&other, NULL, thread, &task);
	pthread_join(other, NULL);
}
*/
import "C"

//go:noinline
//export goAgain
func goAgain(again, number C.int) { inside(int(again), int(number)) }

//go:noinline
func inside(again, number int) {
	var room [3000]byte
	room[number] = 1
	outside(again, number)
	room[0] = room[number]
}

//go:noinline
func outside(again, number int) { C.in_c(C.int(again), C.int(number)) }

func main() {
	for number := 0; number < 5; number++ {
		outside(number, number)
	}
	done := make(chan bool)
	go func() {
		outside(2, 5)
		done <- true
	}()
	<-done
	C.from_thread(0, 6)
	C.from_thread(3, 7)
}
