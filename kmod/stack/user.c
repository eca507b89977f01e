// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "arch/walk.h"
#include "base/compat.h"
#include "mapping/atlas.h"
#include "read/user_word.h"
#include "stack/user.h"

/* What a step of a walk has found out. */
enum step {
	STEP_ON,
	STEP_LAST,			/* there is no caller */
	STEP_CARE,			/* it takes more registers than a quick walk has */
	STEP_END,			/* ... + enum argtrace_end */
};

#define ALL_REGISTERS	((argtrace_user_set)GENMASK_ULL(ARGTRACE_USER_REGS - 1, 0))

/* How far a walk has come. */
struct place {
	u64 ip;
	bool exact;			/* ip has been interrupted; else it is a return address */
	u8 back;			/* bytes back to what has been executed: 0 or 1 */
	argtrace_user_set known;	/* the registers whose values are known */
	/* a quick walk has the stack and the frame pointer, and at first the link, alone */
	u64 *registers;

	const struct argtrace_mappings *mappings;
	/* the one that was found last, and the one before it, as libraries call back; or NULL */
	const struct argtrace_mapping *mapping, *previous;
	u64 vdso, vdso_size;
	u64 outermost;			/* where the stack pointer is when a program begins */
	u64 missing;			/* after STEP_END + ARGTRACE_END_UNREADABLE: see user.h */
	/* of a walk with care: where the last rule by words of memory has found them */
	u64 last_word;			/* the one that led to CFA */
	u64 callback;			/* CFA_CALLBACK: what that was; 0: there was none */
};

/* Where code is. It is as large as what a function returns in registers. */
struct code {
	u64 word;			/* for the frame */
	struct argtrace_atlas_object *object;	/* NULL: it is in no file */
};

static noinline struct code find_outside(const struct argtrace_atlas *atlas,
					 const struct place *place)
{
	const u64 offset = place->ip - place->vdso;

	if (offset - place->back < place->vdso_size)
		return (struct code){ argtrace_frame_word(ARGTRACE_OBJECT_VDSO, offset),
				      atlas->objects[ARGTRACE_OBJECT_VDSO] };
	return (struct code){ argtrace_frame_word(place->ip & BIT_ULL(ARGTRACE_FRAME_OBJECT_SHIFT) ?
						  ARGTRACE_OBJECT_HIGH_MEMORY :
						  ARGTRACE_OBJECT_MEMORY,
						  place->ip & ARGTRACE_FRAME_OFFSET_MASK) };
}

static __always_inline bool is_in(const struct argtrace_mapping *mapping, u64 addr)
{
	return mapping && addr - mapping->begin < mapping->end - mapping->begin;
}

static __always_inline const struct argtrace_mapping *find_mapping(struct place *place, u64 addr)
{
	const struct argtrace_mapping *found = place->previous;

	if (likely(is_in(place->mapping, addr)))
		return place->mapping;
	if (!is_in(found, addr)) {
		found = place->mappings ? argtrace_mappings_find(place->mappings, addr) : NULL;
		if (unlikely(!found))
			return NULL;
	}
	place->previous = place->mapping;
	place->mapping = found;
	return found;
}

/*
 * A return address may be the first of another function, so what precedes it is looked for; and so
 * may be the one behind a system call that does not return, or returns from a signal.
 */
static __always_inline struct code find_code(const struct argtrace_atlas *atlas,
					     struct place *place)
{
	const struct argtrace_mapping *mapping = find_mapping(place, place->ip - place->back);

	if (unlikely(!mapping))
		return find_outside(atlas, place);
	if (unlikely(!mapping->object->in_stack))
		WRITE_ONCE(mapping->object->in_stack, true);
	return (struct code){ mapping->word + (place->ip - mapping->begin), mapping->object };
}

static __always_inline const struct argtrace_unwind_table *table_of(struct code code)
{
	/* Pairs with the release of argtrace_atlas_set_table(). */
	return likely(code.object) ? smp_load_acquire(&code.object->table) : NULL;
}

/* NULL: there is no table, or it does not know the instruction. */
static __always_inline const struct argtrace_unwind_rule *find_rule(struct code code, u8 back)
{
	const struct argtrace_unwind_table *table = table_of(code);
	const u64 offset = (code.word & ARGTRACE_FRAME_OFFSET_MASK) - back;

	return likely(table) ? argtrace_unwind_find(table, offset) : NULL;
}

/* What precedes a return address in its page, if the page before that cannot be read. */
static noinline bool load_rest_before(u64 ip, u64 *bytes)
{
	const u64 there = ip & ~PAGE_MASK;

	if (!there || there >= sizeof(*bytes) || !argtrace_user_word(ip - there, bytes))
		return false;
	*bytes <<= (sizeof(*bytes) - there) * BITS_PER_BYTE;
	return true;
}

static __always_inline bool load_before(u64 ip, u64 *bytes)
{
	return likely(argtrace_user_word(ip - sizeof(*bytes), bytes)) ||
	       load_rest_before(ip, bytes);
}

/*
 * Whether a return address follows a call, as far as can be seen: code that is not in memory has
 * been executed all the same. Where stacks end, nothing has called: whoever made the stack has put
 * the address there (goroutines, makecontext()).
 */
static __always_inline bool follows_call(u64 ip, const struct argtrace_unwind_rule *rule)
{
	u64 bytes;

	if (likely(load_before(ip, &bytes)))
		return likely(argtrace_user_calls(bytes)) ||
		       (rule && rule->ra == ARGTRACE_RA_END);
	return rule;
}

/* The word at `addr` is absent, or if that is present, the one at `other`. */
static noinline enum step end_unreadable(struct place *place, u64 addr, u64 other)
{
	u64 word;

	place->missing = argtrace_user_word(addr, &word) ? other : addr;
	return STEP_END + ARGTRACE_END_UNREADABLE;
}

/* All registers are those that the kernel has saved for a signal. */
static noinline enum step step_out_of_signal(struct place *place, u64 context)
{
	u64 value, ip, at = context + argtrace_user_signal_ip();
	u32 i;

	if (!argtrace_user_word(at, &ip))
		return end_unreadable(place, at, at);
	for (i = 0; i < ARGTRACE_USER_REGS; i++) {
		at = context + argtrace_user_signal_register(i);
		if (!argtrace_user_word(at, &value))
			return end_unreadable(place, at, at);
		place->registers[i] = value;
	}
	place->known = ALL_REGISTERS;
	place->ip = ip;
	place->exact = true;
	place->back = 0;
	return STEP_ON;
}

static bool follow_word(struct place *place, u64 at, u64 *word, enum step *step)
{
	if (likely(argtrace_user_word(at, word)))
		return true;
	*step = end_unreadable(place, at, at);
	return false;
}

/* Along the words that lead from the thread, or its goroutine, to the stack of what it runs for. */
static enum step follow_thread(struct place *place, const struct argtrace_unwind_rule *rule,
			       u64 *value)
{
	u64 at = argtrace_user_thread(place->registers[rule->reg]) + rule->offset;
	enum step step = STEP_LAST;
	u32 i;

	for (i = 0; i < ARGTRACE_USER_THREAD_OFFSETS; i++) {
		u64 word;

		if (!follow_word(place, at, &word, &step) || !word)
			return step;
		at = word + rule->at[i];
	}
	place->last_word = at;
	if (!follow_word(place, at, value, &step) || !*value)
		return step;
	return STEP_ON;
}

/*
 * Where code was called back on another stack, that one's pointer is kept until it returns, and if
 * that happens again, the former one is kept there. So the walk meets the last one first, and each
 * is above the one before.
 */
static enum step follow_callback(struct place *place, const struct argtrace_unwind_rule *rule,
				 u64 *value)
{
	enum step step = STEP_ON;

	if (!place->callback)
		step = follow_thread(place, rule, value);
	else if (follow_word(place, place->callback + rule->at[ARGTRACE_USER_THREAD_OFFSETS],
			     value, &step) &&
		 *value <= place->callback)
		step = STEP_END + ARGTRACE_END_NO_RULE;
	place->callback = *value;
	return step;
}

/* A stack that may be moved is left at a distance from its end. */
static enum step follow_depth(struct place *place, const struct argtrace_unwind_rule *rule,
			      u64 *value)
{
	const u64 base = place->registers[rule->reg];
	enum step step = STEP_ON;
	u64 depth;

	if (follow_word(place, base + rule->offset, value, &step) &&
	    follow_word(place, *value + rule->at[0], value, &step) &&
	    follow_word(place, base + rule->at[1], &depth, &step))
		*value -= depth;
	return step;
}

static noinline enum step find_elsewhere(struct place *place,
					 const struct argtrace_unwind_rule *rule, u64 *cfa)
{
	enum step step;
	u64 value = 0;

	if (rule->cfa == ARGTRACE_CFA_THREAD)
		step = follow_thread(place, rule, &value);
	else if (rule->cfa == ARGTRACE_CFA_CALLBACK)
		step = follow_callback(place, rule, &value);
	else
		step = follow_depth(place, rule, &value);
	*cfa = value + rule->add;
	return step;
}

/* Restores the registers that the frame has saved, of which a quick walk needs one alone. */
static noinline enum step restore_with_care(struct place *place,
					    const struct argtrace_unwind_rule *rule, u64 cfa)
{
	const u64 frame = place->registers[ARGTRACE_USER_FRAME];
	u32 i;

	for (i = 0; i < ARGTRACE_USER_SAVED; i++) {
		const u64 at = (rule->by_frame & BIT(i) ? frame : cfa) + 8 * (s64)rule->at[i];
		u64 value;

		if (!(rule->saved & BIT(i)))
			continue;
		if (!argtrace_user_word(at, &value))
			return end_unreadable(place, at, at);
		place->registers[argtrace_user_saved[i]] = value;
		place->known |= BIT(argtrace_user_saved[i]);
	}
	return STEP_ON;
}

/* That of a caller which goes on from the middle of its code, without having called. */
static noinline enum step restore_link(struct place *place,
				       const struct argtrace_unwind_rule *rule, u64 cfa)
{
	u64 at = cfa - ARGTRACE_USER_PUSHED_LINK, link;

	if (rule->ra == ARGTRACE_RA_BESIDE)
		at = place->last_word + rule->at[ARGTRACE_USER_THREAD_OFFSETS];
	if (!argtrace_user_word(at, &link))
		return end_unreadable(place, at, at);
	place->registers[ARGTRACE_USER_LINK] = link;
	place->known |= BIT(ARGTRACE_USER_LINK);
	return STEP_ON;
}

/* A function that has saved nothing yet, as most that make system calls, needs no care. */
static __always_inline bool is_link(const struct argtrace_unwind_rule *rule)
{
	return ARGTRACE_USER_HAS_LINK && rule->ra_at == ARGTRACE_USER_LINK && !rule->saved;
}

/* Where the caller goes on, and the registers that the frame has saved. */
static __always_inline enum step load_caller(struct place *place,
					     const struct argtrace_unwind_rule *rule, u64 cfa,
					     u64 *ip, const bool care)
{
	u64 *const frame = &place->registers[ARGTRACE_USER_FRAME];
	const u64 at = cfa + 8 * (s64)rule->ra_at;
	u64 frame_at = at;
	bool readable;

	if (unlikely(rule->ra != ARGTRACE_RA_MEMORY) &&
	    !(care && rule->ra == ARGTRACE_RA_INTERRUPTED)) {
		if (!care && !is_link(rule))
			return STEP_CARE;
		if (care && rule->ra == ARGTRACE_RA_BESIDE) {
			const u64 beside = place->last_word + sizeof(u64);

			return argtrace_user_word(beside, ip) ? STEP_ON :
				       end_unreadable(place, beside, beside);
		}
		if (!(place->known & BIT(rule->ra_at)))
			return STEP_END + ARGTRACE_END_NO_RULE;
		*ip = place->registers[rule->ra_at];
		return care ? restore_with_care(place, rule, cfa) : STEP_ON;
	}
	if (!care && (rule->saved & BIT(ARGTRACE_USER_SAVED_FRAME))) {
		u64 base = cfa;

		if (unlikely(rule->by_frame & BIT(ARGTRACE_USER_SAVED_FRAME)))
			base = *frame;
		frame_at = base + 8 * (s64)rule->at[ARGTRACE_USER_SAVED_FRAME];
		readable = argtrace_user_two_words(at, ip, frame_at, frame);
	} else {
		readable = argtrace_user_word(at, ip);
	}
	if (unlikely(!readable))
		return end_unreadable(place, at, frame_at);
	return care ? restore_with_care(place, rule, cfa) : STEP_ON;
}

static __always_inline bool is_quick_register(unsigned int number)
{
	return number == ARGTRACE_USER_SP || number == ARGTRACE_USER_FRAME;
}

/* To the caller, by a rule. */
static __always_inline enum step step_by_rule(struct place *place,
					      const struct argtrace_unwind_rule *rule,
					      const bool care)
{
	enum step step;
	u64 cfa, ip;

	if (unlikely(rule->ra == ARGTRACE_RA_END))
		return STEP_LAST;
	if (!is_quick_register(rule->reg)) {
		if (!care)
			return STEP_CARE;
		if (!(place->known & BIT(rule->reg)))
			return STEP_END + ARGTRACE_END_NO_RULE;
	}
	cfa = place->registers[rule->reg] + rule->offset;
	if (unlikely(rule->cfa != ARGTRACE_CFA_REGISTER)) {
		if (rule->cfa >= ARGTRACE_CFA_SIGNAL) {
			if (!care)
				return STEP_CARE;
			if (rule->cfa == ARGTRACE_CFA_SIGNAL)
				return step_out_of_signal(place, cfa);
			step = find_elsewhere(place, rule, &cfa);
			if (step != STEP_ON)
				return step;
		} else if (rule->cfa == ARGTRACE_CFA_PLT) {
			cfa += (place->ip & 15) >= rule->add ? sizeof(u64) : 0;
		} else {
			if (!argtrace_user_word(cfa, &cfa))
				return end_unreadable(place, cfa, cfa);
			cfa += rule->add;
		}
	}
	step = load_caller(place, rule, cfa, &ip, care);
	if (unlikely(step != STEP_ON))
		return step;
	place->registers[ARGTRACE_USER_SP] = cfa;
	place->known &= argtrace_user_kept;
	if (ARGTRACE_USER_HAS_LINK && care && unlikely(rule->ra >= ARGTRACE_RA_BESIDE)) {
		step = restore_link(place, rule, cfa);
		if (step != STEP_ON)
			return step;
	}
	place->exact = care && rule->ra == ARGTRACE_RA_INTERRUPTED;
	place->back = !place->exact;
	place->ip = argtrace_user_code(ip);
	return STEP_ON;
}

/* If the address is one behind a call. What else the caller has is not known. */
static bool go_on_at(struct place *place, u64 ip, u64 sp, u64 frame, argtrace_user_set known)
{
	u64 bytes;

	ip = argtrace_user_code(ip);
	if (!load_before(ip, &bytes) || !argtrace_user_calls(bytes))
		return false;
	place->ip = ip;
	place->exact = false;
	place->back = 1;
	place->registers[ARGTRACE_USER_SP] = sp;
	place->registers[ARGTRACE_USER_FRAME] = frame;
	place->known = known;
	return true;
}

#define BOTH_POINTERS	((argtrace_user_set)(BIT(ARGTRACE_USER_SP) | BIT(ARGTRACE_USER_FRAME)))

/* If what lies there is the address behind a call. */
static bool take_caller(struct place *place, u64 at, u64 frame, argtrace_user_set known)
{
	u64 ip;

	return argtrace_user_word(at, &ip) &&
	       go_on_at(place, ip, at + sizeof(ip), frame, known);
}

/*
 * If a function has just been entered, or has `pushed` some of its frame without changing the frame
 * pointer, and it returns to an address behind a call.
 */
static bool take_entered(struct place *place, u32 pushed)
{
	const u64 sp = place->registers[ARGTRACE_USER_SP] + pushed;
	const u64 frame = place->registers[ARGTRACE_USER_FRAME];

	if (!place->exact)
		return false;
	if (!ARGTRACE_USER_HAS_LINK)
		return take_caller(place, sp, frame, BOTH_POINTERS);
	return (place->known & BIT(ARGTRACE_USER_LINK)) &&
	       go_on_at(place, place->registers[ARGTRACE_USER_LINK], sp, frame, BOTH_POINTERS);
}

/*
 * If the code that was interrupted has no frame, as its instructions tell: the frame pointer is its
 * caller's, and would lead past that.
 */
static noinline bool take_frameless(struct place *place)
{
	u64 code[ARGTRACE_USER_CODE_WORDS], before;
	unsigned int count = 0;
	int pushed;

	if (!place->exact)
		return false;
	if (!load_before(place->ip, &before))
		before = 0;
	while (count < ARRAY_SIZE(code) &&
	       argtrace_user_word(place->ip + count * sizeof(*code), &code[count]))
		count++;
	pushed = argtrace_user_pushed(before, code, count);
	return pushed >= 0 && take_entered(place, pushed);
}

/*
 * Whether the rule can be followed. Behind a frame without one the stack pointer may not be known,
 * but only that the caller's is not below what the walk has for it.
 */
static __always_inline bool knows_base(const struct place *place,
				       const struct argtrace_unwind_rule *rule)
{
	return ARGTRACE_USER_RECORD_IS_LAST || rule->reg != ARGTRACE_USER_SP ||
	       rule->ra == ARGTRACE_RA_END || (place->known & BIT(ARGTRACE_USER_SP));
}

/* A frame pointer that is farther above the stack pointer is none. */
#define FRAME_FAR	(1ul << 20)

/*
 * To the caller without a rule: where a function has no frame (a call through a null pointer is at
 * no instruction of any), by what is on top of the stack or in the register for it, and else by the
 * frame pointer. `by_frame`: this is how the walk has come here.
 */
static noinline enum step step_by_frame(struct place *place, struct code code, bool by_frame)
{
	const struct argtrace_unwind_table *table = table_of(code);
	const u64 sp = place->registers[ARGTRACE_USER_SP];
	const u64 frame = place->registers[ARGTRACE_USER_FRAME];
	u64 saved;

	if (place->ip ? take_frameless(place) : take_entered(place, 0))
		return STEP_ON;
	if (frame >= sp && argtrace_user_word(frame, &saved) &&
	    take_caller(place, frame + sizeof(u64), saved,
			ARGTRACE_USER_RECORD_IS_LAST ? BOTH_POINTERS : BIT(ARGTRACE_USER_FRAME)))
		return STEP_ON;
	if (take_entered(place, 0))
		return STEP_ON;
	/*
	 * Where a program begins, of which the dynamic linker's rules say nothing, and the
	 * outermost frame of code that has frame pointers. Behind a rule a 0 may be what the
	 * thread began with, in a function that has no frame pointer.
	 */
	if (sp == place->outermost || (!frame && !place->exact && by_frame))
		return STEP_LAST;
	if (place->exact && !argtrace_user_word(sp, &saved))
		return end_unreadable(place, sp, sp);
	if (frame >= sp && frame - sp < FRAME_FAR &&
	    (!argtrace_user_word(frame, &saved) ||
	     !argtrace_user_word(frame + sizeof(u64), &saved)))
		return end_unreadable(place, frame, frame + sizeof(u64));
	return STEP_END + (table && table->nr_rows ? ARGTRACE_END_NO_RULE : ARGTRACE_END_NO_TABLE);
}

static __always_inline void add_user_frame(struct argtrace_user_room *room, u32 *count, u64 *hash,
					   u64 word)
{
	room->frames[(*count)++] = word;
	*hash = argtrace_stack_hash(*hash, word);
}

static void add_end(struct argtrace_user_room *room, struct argtrace_user_walked *walked, s8 end)
{
	add_user_frame(room, &walked->count, &walked->hash,
		       argtrace_frame_word(ARGTRACE_OBJECT_END, end));
	walked->end = end;
}

/* False if it takes care: nothing that has been walked counts. */
static __always_inline bool walk_user(const struct argtrace_atlas *atlas, struct place *place,
				      struct argtrace_user_room *room, u32 max,
				      struct argtrace_user_walked *walked, const bool care)
{
	bool cut = false, by_frame = false;
	enum step step = STEP_ON;
	u64 hash = 0;
	u32 count = 0;

	do {
		const struct code code = find_code(atlas, place);
		const struct argtrace_unwind_rule *rule = find_rule(code, place->back);

		/* What a signal's handler returns to has not been called from. */
		if (!place->exact && (!rule || likely(rule->cfa != ARGTRACE_CFA_SIGNAL)) &&
		    unlikely(!follows_call(place->ip, rule))) {
			step = STEP_END + ARGTRACE_END_NO_CALL;
			break;
		}
		if (unlikely(count == max)) {
			cut = true;
			break;
		}
		add_user_frame(room, &count, &hash,
			       code.word | (place->back ? 0 : ARGTRACE_FRAME_EXACT));
		if (likely(rule) && likely(knows_base(place, rule))) {
			step = step_by_rule(place, rule, care);
			by_frame = false;
		} else {
			step = step_by_frame(place, code, by_frame);
			by_frame = true;
		}
	} while (likely(step == STEP_ON) && likely(place->ip || place->exact));
	*walked = (struct argtrace_user_walked){
		.count = count, .cut = cut, .end = -1, .hash = hash,
	};
	if (step >= STEP_END) {
		add_end(room, walked, step - STEP_END);
		if (step == STEP_END + ARGTRACE_END_UNREADABLE)
			walked->missing = place->missing;
	}
	return step != STEP_CARE;
}

static noinline bool walk_with_care(const struct argtrace_atlas *atlas, struct place *place,
				    struct argtrace_user_room *room, u32 max,
				    struct argtrace_user_walked *walked)
{
	return walk_user(atlas, place, room, max, walked, true);
}

static __always_inline void start(struct place *place, const argtrace_full_regs *regs,
				  struct argtrace_user_room *room, const bool care)
{
	u32 i;

	place->ip = argtrace_user_ip(regs);
	place->exact = true;
	place->back = argtrace_user_in_syscall(regs);
	place->registers = room->registers;
	place->mapping = NULL;
	place->previous = NULL;
	place->known = ALL_REGISTERS;
	room->registers[ARGTRACE_USER_SP] = argtrace_user_sp(regs);
	room->registers[ARGTRACE_USER_FRAME] = argtrace_user_frame(regs);
	if (ARGTRACE_USER_HAS_LINK)
		room->registers[ARGTRACE_USER_LINK] = argtrace_user_link(regs);
	if (care) {
		place->last_word = 0;
		place->callback = 0;
	}
	for (i = 0; care && i < ARGTRACE_USER_REGS; i++)
		room->registers[i] = argtrace_user_register(regs, i);
}

static noinline void walk_nothing(struct argtrace_user_room *room,
				  struct argtrace_user_walked *walked, enum argtrace_end end)
{
	*walked = (struct argtrace_user_walked){ };
	add_end(room, walked, end);
}

/*
 * Whether a space, if there is one, is that of the program whose registers the task has. If not,
 * the walk is over: while a program is executed, the task has the mm of the new one and the
 * registers of the old one. The mm is in no space until something is mapped.
 */
static noinline bool is_walkable(const struct argtrace_atlas *atlas, struct argtrace_space *space,
				 struct argtrace_user_room *room,
				 struct argtrace_user_walked *walked)
{
	*walked = (struct argtrace_user_walked){ .end = -1 };
	if (space ? !READ_ONCE(space->begun) && current->in_execve : READ_ONCE(atlas->filled))
		return false;
	if (!space || !READ_ONCE(space->whole)) {
		walk_nothing(room, walked, ARGTRACE_END_UNMAPPED);
		return false;
	}
	WRITE_ONCE(space->begun, true);
	return true;
}

void argtrace_user_stack_walk(const struct argtrace_atlas *atlas, const struct mm_struct *mm,
			      const argtrace_full_regs *regs, struct argtrace_user_room *room,
			      u32 max, struct argtrace_user_walked *walked)
{
	struct argtrace_space *space = argtrace_atlas_space(atlas, mm);
	struct place place argtrace_uninitialized;

	if (unlikely(!regs))
		return walk_nothing(room, walked, ARGTRACE_END_32_BIT);
	if (unlikely(!space || !READ_ONCE(space->whole) || !READ_ONCE(space->begun)) &&
	    !is_walkable(atlas, space, room, walked))
		return;
	place.mappings = rcu_dereference_raw(space->mappings);
	place.vdso = argtrace_user_vdso(mm, &place.vdso_size);
	place.outermost = READ_ONCE(mm->start_stack);
	start(&place, regs, room, false);
	if (unlikely(!argtrace_user_words_begin(argtrace_user_sp(regs))))
		return walk_nothing(room, walked, ARGTRACE_END_UNREADABLE);
	if (unlikely(!walk_user(atlas, &place, room, max, walked, false))) {
		start(&place, regs, room, true);
		walk_with_care(atlas, &place, room, max, walked);
	}
	argtrace_user_words_end();
}
