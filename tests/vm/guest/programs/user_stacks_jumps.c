// SPDX-License-Identifier: GPL-2.0-only
// Code in memory without a file, which nothing describes, for UserStacksOfCode (tests/vm/guest/sinks/user_stack_programs_test.cpp): functions that make a
// frame, and pieces that jump to a function without making one, as the closures of libffi and the nested functions of GCC are called. All are called
// from one place for ever, by a function that has a frame itself. Prints where that is, and the last byte of the memory:
//
//	user_stacks_jumps+0xOFFSET 0xADDRESS
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define noinline __attribute__((noinline))

int main(void);
static void *volatile called_from;

static noinline int target(int number) { called_from = __builtin_return_address(0); return number + 1; }

typedef int function(int number, int (*target)(int));

#ifdef __aarch64__
// stp x29, x30, [sp, #-32]!; mov x29, sp; blr x1; ldp x29, x30, [sp], #32; ret
static const uint32_t with_frame[] = { 0xa9be7bfd, 0x910003fd, 0xd63f0020, 0xa8c27bfd, 0xd65f03c0 };
// paciasp; stp x29, x30, [sp, #-16]!; mov x29, sp; blr x1; ldp x29, x30, [sp], #16; autiasp; ret
static const uint32_t with_marked_frame[] = { 0xd503233f, 0xa9bf7bfd, 0x910003fd, 0xd63f0020, 0xa8c17bfd, 0xd50323bf, 0xd65f03c0 };
// bti c; ldr x17, .+20; ldr x16, .+16; br x16; nop; nop; TARGET
static const uint32_t closure[] = { 0xd503245f, 0x580000b1, 0x58000090, 0xd61f0200, 0xd503201f, 0xd503201f, 0, 0 };
enum { CLOSURE_TARGET = 24 };
// bti c; ldr x17, .+20; ldr x18, .+16; br x17; nop; nop; TARGET
static const uint32_t nested[] = { 0xd503245f, 0x580000b1, 0x58000092, 0xd61f0220, 0xd503201f, 0xd503201f, 0, 0 };
enum { NESTED_TARGET = 24 };
#else
// push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret
static const uint8_t with_frame[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3 };
// endbr64; push %rbp; mov %rsp,%rbp; sub $16,%rsp; call *%rsi; leave; ret
static const uint8_t with_marked_frame[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xff, 0xd6, 0xc9, 0xc3 };
// endbr64; lea -11(%rip),%r10; jmp *7(%rip); nop; TARGET: libffi
static const uint8_t closure[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x4c, 0x8d, 0x15, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x25, 1, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 0, 0, 0 };
enum { CLOSURE_TARGET = 18 };
// endbr64; movabs $TARGET,%r11; movabs $1,%r10; jmp *%r11: GCC
static const uint8_t nested[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x49, 0xba, 1, 0, 0, 0, 0, 0, 0, 0, 0x49, 0xff, 0xe3 };
enum { NESTED_TARGET = 6 };
#endif

static union { char *bytes; function *call; } at;
static char *page;

static function *put(const void *code, size_t size, int target_at)
{
	int (*const to)(int) = target;

	at.bytes = page;
	memcpy(page, code, size);
	if (target_at)
		memcpy(page + target_at, &to, sizeof(to));
	page += 64;
	return at.call;
}

// Has a frame in all compilations.
static noinline int call(function *code, int number)
{
	volatile int result;

	result = code(number, target);
	return result + 1;
}

static noinline int call_all(function *const *code, int number)
{
	volatile int result = 0;
	int i;

	for (i = 0; i < 4; i++)
		result += call(code[i], number);
	return result;
}

static unsigned long offset_of(const void *code)
{
	unsigned long begin = 0, end = 0, offset = 0;
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 && (unsigned long)code - begin < end - begin)
			break;
	}
	fclose(file);
	return (unsigned long)code - begin + offset;
}

int main(void)
{
	char *const begin = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	function *code[4];

	page = begin;
	code[0] = put(with_frame, sizeof(with_frame), 0);
	code[1] = put(with_marked_frame, sizeof(with_marked_frame), 0);
	code[2] = put(closure, sizeof(closure), CLOSURE_TARGET);
	code[3] = put(nested, sizeof(nested), NESTED_TARGET);
	__builtin___clear_cache(begin, begin + 4096);
	if (mprotect(begin, 4096, PROT_READ | PROT_EXEC))
		return 1;
	call(code[2], 1);
	printf("user_stacks_jumps+0x%lx 0x%lx\n", offset_of(called_from), (unsigned long)begin + 4095);
	fflush(stdout);
	for (;;)
		call_all(code, 2);
}
