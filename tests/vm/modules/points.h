/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints of every width, more of them than there are registers, with an event by which the kernel itself shows the values. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM argtrace_points

#if !defined(ARGTRACE_POINTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define ARGTRACE_POINTS_H

#include <linux/tracepoint.h>

#ifndef ARGTRACE_POINTS_TYPES
#define ARGTRACE_POINTS_TYPES

enum point_colour { POINT_RED, POINT_GREEN = 7, POINT_BLUE = -3 };

struct point_pair {
	s16 first;
	s64 second;
};

#endif

TRACE_EVENT(at_point,
	TP_PROTO(u8 a, s8 b, u16 c, s16 d, u32 e, s32 f, u64 g, s64 h, bool i, const char *j, int k, u64 l),
	TP_ARGS(a, b, c, d, e, f, g, h, i, j, k, l),
	TP_STRUCT__entry(
		__field(u8, a) __field(s8, b) __field(u16, c) __field(s16, d) __field(u32, e) __field(s32, f)
		__field(u64, g) __field(s64, h) __field(bool, i) __array(char, j, 16) __field(int, k) __field(u64, l)
	),
	TP_fast_assign(
		__entry->a = a; __entry->b = b; __entry->c = c; __entry->d = d; __entry->e = e; __entry->f = f;
		__entry->g = g; __entry->h = h; __entry->i = i; strscpy(__entry->j, j, 16); __entry->k = k; __entry->l = l;
	),
	TP_printk("a=%u b=%d c=%u d=%d e=%u f=%d g=%llu h=%lld i=%d j=%s k=%d l=%llu", __entry->a, __entry->b, __entry->c,
		  __entry->d, __entry->e, __entry->f, __entry->g, __entry->h, __entry->i, __entry->j, __entry->k, __entry->l)
);

/* In registers what at_point has on the stack, and on the stack what it has in registers. */
TRACE_EVENT(at_stack,
	TP_PROTO(enum point_colour a, const struct point_pair *b, long c, bool d, u64 e, u8 f, s8 g, u16 h, s16 i, enum point_colour j,
		 const struct point_pair *k, long l),
	TP_ARGS(a, b, c, d, e, f, g, h, i, j, k, l),
	TP_STRUCT__entry(
		__field(int, a) __field(int, b) __field(long, c) __field(bool, d) __field(u64, e) __field(u8, f) __field(s8, g)
		__field(u16, h) __field(s16, i) __field(int, j) __field(s64, k) __field(long, l)
	),
	TP_fast_assign(
		__entry->a = a; __entry->b = b->first; __entry->c = c; __entry->d = d; __entry->e = e; __entry->f = f;
		__entry->g = g; __entry->h = h; __entry->i = i; __entry->j = j; __entry->k = k->second; __entry->l = l;
	),
	TP_printk("a=%d b=%d c=%ld d=%d e=%llu f=%u g=%d h=%u i=%d j=%d k=%lld l=%ld", __entry->a, __entry->b, __entry->c,
		  __entry->d, __entry->e, __entry->f, __entry->g, __entry->h, __entry->i, __entry->j, __entry->k, __entry->l)
);

TRACE_EVENT(at_empty,
	TP_PROTO(int once),
	TP_ARGS(once),
	TP_STRUCT__entry(__field(int, once)),
	TP_fast_assign(__entry->once = once;),
	TP_printk("once=%d", __entry->once)
);

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE points
#include <trace/define_trace.h>
