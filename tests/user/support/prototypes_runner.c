// SPDX-License-Identifier: GPL-2.0-only

// Calls the generated functions and writes to standard output what each call found at its
// entry: the argument registers, the stack pointer, the stack, the vector registers that
// pass arguments, then the values that were passed. It stands alone, without libc, so that a cross compiler needs none.

#define STACK 2048
#define ROUNDS 3 // with other values each

struct value {
	void *data;
	unsigned long size;
	int is_bool;
};

struct call {
	void (*run)(void);
	const struct value *values;
	unsigned long count;
};

extern const struct call calls[];
extern const unsigned long nr_calls;

struct {
	unsigned long registers[8];
	unsigned long sp;
	unsigned char stack[STACK];
	unsigned long vectors[8][2];
} captured __attribute__((aligned(16)));

void *memcpy(void *to, const void *from, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		((volatile unsigned char *)to)[i] = ((const unsigned char *)from)[i];
	return to;
}

void *memset(void *to, int c, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		((volatile unsigned char *)to)[i] = c;
	return to;
}

#ifdef __x86_64__
asm(".text\n"
    ".globl callee\n"
    "callee:\n"
    "	mov %rdi, captured(%rip)\n"
    "	mov %rsi, captured+8(%rip)\n"
    "	mov %rdx, captured+16(%rip)\n"
    "	mov %rcx, captured+24(%rip)\n"
    "	mov %r8, captured+32(%rip)\n"
    "	mov %r9, captured+40(%rip)\n"
    "	mov %rsp, captured+64(%rip)\n"
    "	movups %xmm0, captured+2120(%rip)\n"
    "	movups %xmm1, captured+2136(%rip)\n"
    "	movups %xmm2, captured+2152(%rip)\n"
    "	movups %xmm3, captured+2168(%rip)\n"
    "	movups %xmm4, captured+2184(%rip)\n"
    "	movups %xmm5, captured+2200(%rip)\n"
    "	movups %xmm6, captured+2216(%rip)\n"
    "	movups %xmm7, captured+2232(%rip)\n"
    "	mov %rdi, %rax\n"
    "	lea captured+72(%rip), %rdi\n"
    "	mov %rsp, %rsi\n"
    "	mov $256, %ecx\n"
    "	rep movsq\n"
    "	ret\n"
    ".globl _start\n"
    "_start:\n"
    "	sub $4096, %rsp\n"
    "	and $-64, %rsp\n"
    "	call run\n"
    "	ud2\n"
    ".section .note.GNU-stack\n"
    ".text\n");

static long call_system(long nr, long a, long b, long c)
{
	long result;

	asm volatile("syscall" : "=a"(result) : "a"(nr), "D"(a), "S"(b), "d"(c)
		     : "rcx", "r11", "memory");
	return result;
}
#define NR_WRITE 1
#define NR_EXIT 60
#else
asm(".text\n"
    ".globl callee\n"
    "callee:\n"
    "	adrp x9, captured\n"
    "	add x9, x9, :lo12:captured\n"
    "	stp x0, x1, [x9]\n"
    "	stp x2, x3, [x9, #16]\n"
    "	stp x4, x5, [x9, #32]\n"
    "	stp x6, x7, [x9, #48]\n"
    "	mov x10, sp\n"
    "	str x10, [x9, #64]\n"
    "	add x9, x9, #72\n"
    "	mov x11, #256\n"
    "1:	ldr x12, [x10], #8\n"
    "	str x12, [x9], #8\n"
    "	subs x11, x11, #1\n"
    "	b.ne 1b\n"
    "	.arch_extension fp\n"
    "	stp q0, q1, [x9]\n"
    "	stp q2, q3, [x9, #32]\n"
    "	stp q4, q5, [x9, #64]\n"
    "	stp q6, q7, [x9, #96]\n"
    "	ret\n"
    ".globl _start\n"
    "_start:\n"
    "	sub sp, sp, #4096\n"
    "	bl run\n"
    "	brk #1\n");

static long call_system(long nr, long a, long b, long c)
{
	register long x8 asm("x8") = nr;
	register long x0 asm("x0") = a;
	register long x1 asm("x1") = b;
	register long x2 asm("x2") = c;

	asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
}
#define NR_WRITE 64
#define NR_EXIT 93
#endif

static unsigned char buffer[1 << 16];
static unsigned long used;

static void flush(void)
{
	unsigned long done = 0;

	while (done < used) {
		long n = call_system(NR_WRITE, 1, (long)(buffer + done), (long)(used - done));

		if (n <= 0)
			call_system(NR_EXIT, 1, 0, 0);
		done += (unsigned long)n;
	}
	used = 0;
}

static void put(const void *data, unsigned long size)
{
	if (used + size > sizeof(buffer))
		flush();
	memcpy(buffer + used, data, size);
	used += size;
}

static unsigned char random_byte(void)
{
	static unsigned long state = 88172645463325252ul;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned char)(state >> 24);
}

void run(void)
{
	for (unsigned long i = 0; i < nr_calls * ROUNDS; i++) {
		const struct call *call = &calls[i / ROUNDS];

		for (unsigned long v = 0; v < call->count; v++)
			for (unsigned long b = 0; b < call->values[v].size; b++)
				((unsigned char *)call->values[v].data)[b] =
					call->values[v].is_bool ? random_byte() & 1 : random_byte();
		call->run();
		put(&captured, sizeof(captured));
		for (unsigned long v = 0; v < call->count; v++) {
			put(&call->values[v].size, 8);
			put(call->values[v].data, call->values[v].size);
		}
	}
	flush();
	call_system(NR_EXIT, 0, 0, 0);
}
