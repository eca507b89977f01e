// SPDX-License-Identifier: GPL-2.0-only
/*
 * Expressions of every shape of type. E(EXPRESSION) means the same in C and to argtrace;
 * D("EXPRESSION", C) is written differently there.
 */
#include <linux/kernel.h>

#include "expressions.h"

#define AX_MEMBERS(E, D) \
	E(p->s8_) E(p->u8_) E(p->s16_) E(p->u16_) E(p->s32_) E(p->u32_) E(p->s64_) E(p->u64_) E(p->bool_) \
	E(p->char_) E(p->schar_) E(p->uchar_) E(p->longlong_) E((*p).u16_) E(p[0].s16_) E((&*p)->s16_) \
	E(*&p->s16_) E((*&*p).u8_) E(p->s8_ + p->u8_) E(-p->s16_) E(~p->u16_) E((u32)p->s32_ >> 3) \
	E(p->s64_ >> 7) E(p->u64_ >> 7) E((s8)p->u64_) E(!p->bool_) E(p->s8_ < 0) E(p->u32_ > p->s32_)

#define AX_ENUMS(E, D) \
	E(p->color) E(p->hue) E(p->tiny) E(p->tiny_signed) E(p->short_) E(p->wide) E(p->wide_signed) \
	E(p->color == AX_BLUE) E(p->color < 0) E(p->hue == AX_DARK) E(p->hue > AX_PALE) E(p->hue + 1) \
	E(p->tiny == AX_LARGE) E(p->tiny + 1) E(p->tiny_signed == AX_BELOW) E(-p->tiny_signed) \
	E(p->short_ + AX_SHORT) E(p->wide == AX_WIDE) E(p->wide >> 4) E(p->wide_signed == AX_WIDE_BELOW) \
	E(p->wide_signed >> 4) E(color) E(color == AX_BLUE) E(color + AX_RED) E((enum ax_tiny)index) \
	E(AX_DARK) E(AX_WIDE_BELOW) E(AX_TINY - 8) E(sizeof(enum ax_tiny)) E(sizeof(p->wide))

#define AX_QUALIFIED(E, D) \
	E(p->cv) E(p->chain) E(p->cv + p->chain) E(p->chain << 1) E((ax_chain_t)p->u64_) E((ax_plain_t)narrow) \
	E(p->le32_) E((*p->handle)->u16_) E(p->handle[0]->s32_) E((**p->far)->s8_) E((*p->far)[0]->u64_) \
	E(p->far[0][0][0].bool_) E(p->handle) E(*p->handle) E(*p->far) E(**p->far == *p->handle) E(p->pchar) \
	E(*p->pchar) E(p->pchar[1]) E(*p->pchar == 'e') E(p->names) E(*p->names) E(**p->names) E(p->names[1][2])

#define AX_BIG_ENDIAN(E, D) \
	D("p->be16_", be16_to_cpu(p->be16_)) D("p->be32_", be32_to_cpu(p->be32_)) \
	D("p->be64_", be64_to_cpu(p->be64_)) D("p->be16_ + 1", be16_to_cpu(p->be16_) + 1) \
	D("p->be16_ == 0x1ff", be16_to_cpu(p->be16_) == 0x1ff) D("p->be32_ < 0x10000", be32_to_cpu(p->be32_) < 0x10000) \
	D("p->be32_ >> 3", be32_to_cpu(p->be32_) >> 3) D("p->be64_ & 0xff", be64_to_cpu(p->be64_) & 0xff) \
	D("(u8)p->be64_", (u8)be64_to_cpu(p->be64_)) E(*(u16 *)&p->be16_) E(*(u64 *)&p->be64_) \
	E(*((u8 *)&p->be32_ + 1)) D("!p->be16_", !p->be16_) D("-p->be32_", -be32_to_cpu(p->be32_)) \
	D("p->be32_ == p->self->be32_", p->be32_ == p->self->be32_)

#define AX_ARRAYS(E, D) \
	E(p->array[0]) E(p->array[3]) E(p->array[index]) E(p->array[unsigned_index]) E(*p->array) \
	E(*(p->array + 2)) E(p->array[index & 1] + p->array[2 + (index & 1)]) E(p->text[3]) E(p->bytes[4]) \
	E(p->bytes[narrow & 3]) E(&p->array[index]) E(p->array + index) E(p->flexible[1]) E(p->flexible[7]) \
	E(&p->flexible[index]) E(p->flexible[p->nr_flexible - 1]) E(p->many[1].b) E(p->many[index & 1].d) \
	E((long)&p->array == (long)p->array) E(&p->many[1] - &p->many[0]) D("p->rows[5]", p->rows[1][2]) \
	D("p->matrix[5]", p->matrix[1][2]) D("p->matrix[index]", p->matrix[0][index]) E(sizeof(p->array)) \
	E(sizeof(p->matrix)) E((*p->prows)[1]) E(p->prows[1][index]) E(p->prows + 1) E((*p->parray)[2]) \
	E(p->parray[1][1]) E(p->parray + 1) E(*(int *)p->address)

#define AX_BIT_FIELDS(E, D) \
	E(p->fields.a) E(p->fields.b) E(p->fields.c) E(p->fields.d) E(p->fields.e) E(p->fields.f) E(p->fields.g) \
	E(p->fields.h) E(p->fields.i) E(p->fields.j) E(p->fields.k) E(p->fields.l) E(p->fields.m) E(p->fields.a - 8) \
	E(p->fields.d < 0) E(p->fields.d + p->fields.e) E(-p->fields.b) E(p->fields.c << 12) E((s8)p->fields.c) \
	E((u64)p->fields.d) E(!p->fields.h) E(p->fields.a == 5) E(p->fields.d == -3) E(p->fields.d >= -3) \
	E(p->fields.b > 100) E(p->fields.m & 0x101) E(p->self->fields.e) E(p->many[index & 1].c) \
	E((s64)p->fields.i >> 3) E(p->fields.f == p->self->fields.f)

#define AX_PACKED(E, D) \
	E(p->packed.first) E(p->packed.x) E(p->packed.y) E(p->packed.z) E(p->packed.last) E(p->packed.x + 1) \
	E((u64)p->packed.y >> 3) E(p->packs[index].x) E(p->packs[2].y) E(p->packs[index].z) E(&p->packs[index].z) \
	E(p->packs[unsigned_index].last) E(sizeof(struct ax_packed)) E(sizeof(p->packs)) \
	E(&p->packs[2] - &p->packs[0])

#define AX_UNIONS(E, D) \
	E(p->u_int) E(p->u_short) E(p->low) E(p->high) E(p->deep) E(p->deeper[1]) E(p->nested.inner) \
	E(p->nested.innermost) E(p->nested.choice.whole) E(p->nested.choice.quarters[2]) \
	E(p->nested.choice.quarters[index]) E(&p->high) E(&p->nested.choice) E(sizeof(p->empty)) \
	E(sizeof(union ax_named)) E((char *)&p->nested.innermost - (char *)p) E((s8)p->low == p->deeper[0]) \
	E(((union ax_named *)&p->s64_)->quarters[1])

#define AX_POINTERS(E, D) \
	E(p->self) E(p->self->u8_) E(p->self->self->s16_) E(p->self->self->self->self->u32_) \
	E(p->self->self->self->self->array[index]) E(*p->pint) E(p->pint[-1]) E(p->pint[index]) E(*(p->pint - 2)) \
	E(p->pint + 1) E(p->pint - 1) E(1 + p->pint) E(p->pint + index) E(p->pint + unsigned_index) \
	E(p->pint + narrow) E(p->pint - narrow) E(p->pint - (int *)p->pvoid) E(p->pvoid) E(p->pvoid + 3) \
	E(p->function) E(p->callback) E(p->function == p->callback) E(p->function == 0) E(!p->callback) \
	E(p->list.next == p->list.prev) E(p->list.next->next == &p->list) E(p->self - p->self) E(p < p->self) \
	E(p->pint >= p->pint) E(!p->self)

#define AX_CASTS(E, D) \
	E(p && p->self) E(((struct ax_shapes *)(unsigned long)p)->u8_) E(*(short *)&p->u64_) E(*((u8 *)p + 5)) \
	E(container_of(&p->list, struct ax_shapes, list)->u16_) \
	E(container_of(p->list.next, struct ax_shapes, list)->u16_) \
	E(container_of(&p->nested.innermost, struct ax_shapes, nested.innermost) == p) \
	E(sizeof(struct ax_shapes)) E(sizeof(*p)) E(sizeof p->s16_) E(p->unknown == 0) E((void *)p->address + 1) \
	E((u64)p->percpu) E(p->percpu) E((bool)p->u64_) E((bool)p->self) E((u16)p->s64_ * 3) E(*(u64 *)&p->huge) \
	E(((u64 *)&p->huge)[1]) E((long)p->address - (long)p->pint) E(flag ? p : 0) E(flag ? p->self : p) \
	E((flag ? p->self : p)->u32_)

#define AX_ARGUMENTS(E, D) \
	E(index) E(unsigned_index) E(narrow) E(flag) E(stacked) E(wide) E(narrow + 1) E(narrow < 0) E(-narrow) \
	E(index - 3 < unsigned_index) E((u32)narrow) E((u64)narrow) E((u16)narrow >> 3) E((u8)index) \
	E(flag ? index : narrow) E((bool)index) E((bool)(index & 2)) E((bool)p) E(!index) E(!!index) E(stacked * 2) \
	E(stacked >> 3) E(stacked < narrow) E(wide / 7) E((u64)wide % 1000) E(wide >> (index & 63)) \
	E((u32)wide << (narrow & 31)) E(p->array[stacked & 3]) E(wide == 0 || p->u8_ > 100) E(flag && wide < 0)

#define AX_WHOLE(E, D) \
	E(pair.first) E(pair.second) E(pair.third[0]) E(pair.third[1]) E(pair.fourth.x) E(pair.fourth.y) \
	E(pair.fourth.y - 1) E(large.first) E(large.inner.a) E(large.inner.b) E(large.text[2]) E(large.bits) \
	E(large.more) E(large.last) D("port + 0", be16_to_cpu(port)) \
	D("port == 8080", be16_to_cpu(port) == 8080) E(after) E(pair.second + after)

#define AX_TEXT(...)		#__VA_ARGS__,
#define AX_TEXT_OF(text, ...)	text,
#define AX_VALUE(...)		AX_SHOW((__VA_ARGS__));
#define AX_VALUE_OF(text, ...)	AX_SHOW((__VA_ARGS__));

/* Each function exists four times, called alike, so that four conditions can be tried at once. */
#define AX_TWINS(name, ...) \
	AX_TRACED(name, __VA_ARGS__) AX_TRACED(name##_2, __VA_ARGS__) \
	AX_TRACED(name##_3, __VA_ARGS__) AX_TRACED(name##_4, __VA_ARGS__)

#define AX_SHAPE(name, EXPRESSIONS) \
	static const char *const name##_texts[] = { EXPRESSIONS(AX_TEXT, AX_TEXT_OF) }; \
	AX_TWINS(ax_##name, struct ax_shapes *p, int index, u32 unsigned_index, s8 narrow, bool flag, \
		 enum ax_color color, s16 stacked, u64 call, s64 wide) \
	static void call_##name(u64 call) \
	{ \
		const ax_words_t functions[] = { (ax_words_t)ax_##name, (ax_words_t)ax_##name##_2, \
						 (ax_words_t)ax_##name##_3, (ax_words_t)ax_##name##_4 }; \
		/* They are indices. */ \
		const u64 words[] = { ax_random() << 32 | ax_random() % 3, ax_random() << 32 | ax_random() % 3, \
				      ax_random(), ax_random_bool(), ax_random(), ax_random(), ax_random() }; \
		struct ax_shapes *const p = ax_object(); \
		const int index = words[0]; \
		const u32 unsigned_index = words[1]; \
		const s8 narrow = words[2]; \
		const bool flag = words[3] & 1; \
		const enum ax_color color = words[4]; \
		const s16 stacked = words[5]; \
		const s64 wide = words[6]; \
		int i; \
		\
		EXPRESSIONS(AX_VALUE, AX_VALUE_OF) \
		for (i = 0; i < ARRAY_SIZE(functions); i++) \
			functions[i]((u64)p, words[0], words[1], words[2], words[3], words[4], words[5], call, \
				     words[6], 0); \
	}

AX_SHAPE(members, AX_MEMBERS)
AX_SHAPE(enums, AX_ENUMS)
AX_SHAPE(qualified, AX_QUALIFIED)
AX_SHAPE(big_endian, AX_BIG_ENDIAN)
AX_SHAPE(arrays, AX_ARRAYS)
AX_SHAPE(bit_fields, AX_BIT_FIELDS)
AX_SHAPE(packed, AX_PACKED)
AX_SHAPE(unions, AX_UNIONS)
AX_SHAPE(pointers, AX_POINTERS)
AX_SHAPE(casts, AX_CASTS)
AX_SHAPE(arguments, AX_ARGUMENTS)

struct ax_pair {
	int first;
	u8 second;
	s16 third[2];
	struct {
		u16 x : 4, y : 12;
	} fourth;
};

struct ax_large {
	u64 first;
	struct {
		u16 a, b;
	} inner;
	char text[4];
	u32 bits : 5;
	s32 more : 7;
	u32 last;
};

/* pair: two registers; large: on the stack. */
static const char *const whole_texts[] = { AX_WHOLE(AX_TEXT, AX_TEXT_OF) };
AX_TWINS(ax_whole, struct ax_pair pair, struct ax_large large, __be16 port, u8 after, u64 call)

typedef void (*ax_whole_t)(struct ax_pair, struct ax_large, u64, u64, u64);

static void call_whole(u64 call)
{
	const ax_whole_t functions[] = { (ax_whole_t)ax_whole, (ax_whole_t)ax_whole_2, (ax_whole_t)ax_whole_3,
					 (ax_whole_t)ax_whole_4 };
	struct ax_pair pair;
	static struct ax_large large;
	u64 words[] = { ax_random(), ax_random(), ax_random(), ax_random(), ax_random(), ax_random() };
	const __be16 port = (__force __be16)words[3];
	const u8 after = words[4];
	int i;

	BUILD_BUG_ON(sizeof(pair) != 12 || sizeof(large) != 24);
	memcpy(&pair, words, sizeof(pair));
	memcpy(&large, words + 1, sizeof(large));
AX_WHOLE(AX_VALUE, AX_VALUE_OF)
	for (i = 0; i < ARRAY_SIZE(functions); i++)
		functions[i](pair, large, words[3], words[4], call);
}

#define AX_ROW(name) { "ax_" #name, name##_texts, ARRAY_SIZE(name##_texts), call_##name }

const struct ax_function ax_shape_functions[] = {
	AX_ROW(members), AX_ROW(enums), AX_ROW(qualified), AX_ROW(big_endian), AX_ROW(arrays), AX_ROW(bit_fields),
	AX_ROW(packed), AX_ROW(unions), AX_ROW(pointers), AX_ROW(casts), AX_ROW(arguments), AX_ROW(whole),
};
const unsigned int ax_nr_shape_functions = ARRAY_SIZE(ax_shape_functions);
