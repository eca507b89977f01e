// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table has rows for processes and columns for stack pointers, so that the calls of one
 * process, which may end with it, need not be looked for everywhere. A goroutine's calls are in one
 * column of any row, so that none need be looked for elsewhere when one of them proves that others
 * have been left; the farthest from the end of its stack comes first. Each column has a lock, which
 * is taken in the context of tasks alone, with preemption off.
 */
#include <linux/hash.h>
#include <linux/list_sort.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "base/compat.h"
#include "base/memory.h"
#include "probe/plan.h"
#include "source/returns/leave.h"
#include "source/user.h"
#include "source/user_call_memory.h"
#include "source/user_calls.h"

#define ROW_BITS	5
#define COLUMN_BITS	9
#define ROWS		(1u << ROW_BITS)
#define COLUMNS		(1u << COLUMN_BITS)
#define TABLE_SIZE	(ROWS * COLUMNS * sizeof(struct hlist_bl_head))

static DEFINE_MUTEX(users_lock);
static u32 nr_users;
static struct hlist_bl_head *table;	/* while there are users */
static bool has_goroutines;		/* some of them are of functions of Go */
static struct tracepoint *exit_point, *rename_point;

static struct hlist_bl_head *row_of(pid_t tgid)
{
	return table + hash_32(tgid, ROW_BITS) * COLUMNS;
}

static struct hlist_bl_head *column_of(pid_t tgid, unsigned long goroutine, unsigned long sp)
{
	if (goroutine)
		return table + hash_64((u64)tgid << 48 ^ goroutine, ROW_BITS + COLUMN_BITS);
	return row_of(tgid) + hash_long(sp, COLUMN_BITS);
}

/* Within its column's lock. */
static void take_off(struct argtrace_user_call *call, struct argtrace_user_call **taken)
{
	hlist_bl_del(&call->link);
	call->next = *taken;
	*taken = call;
}

/* Takes those off a column of which picks() is true, onto a list. */
static void take_off_column(struct hlist_bl_head *column, struct argtrace_user_call **taken,
			    bool (*picks)(const struct argtrace_user_call *, const void *),
			    const void *data)
{
	struct hlist_bl_node *node, *next;
	struct argtrace_user_call *call;

	if (hlist_bl_empty(column))
		return;
	hlist_bl_lock(column);
	hlist_bl_for_each_entry_safe(call, node, next, column, link) {
		if (picks(call, data))
			take_off(call, taken);
	}
	hlist_bl_unlock(column);
}

struct argtrace_user_call *argtrace_user_call_alloc(const struct argtrace_user_place *place)
{
	struct argtrace_user_call *call = argtrace_user_call_memory(place->call_size);

	if (likely(call))
		call->size = place->call_size;
	return call;
}

void argtrace_user_call_free(struct argtrace_user_call *call)
{
	argtrace_user_call_memory_free(call, call->size);
}

static struct argtrace_frame *frame_of(struct argtrace_user_call *call)
{
	return &argtrace_user_call_frame(call)->frame;
}

static bool is_recorded(struct argtrace_user_call *call, enum argtrace_user_call_end end)
{
	return end != ARGTRACE_USER_CALL_REMOVED && argtrace_return_record_left(frame_of(call));
}

/* Counts it, unless it is recorded. */
static void end_call(struct argtrace_user_call *call, enum argtrace_user_call_end end)
{
	struct argtrace_counters *following = frame_of(call)->returns->following;

	if (is_recorded(call, end))
		return;
	if (end == ARGTRACE_USER_CALL_LEFT)
		argtrace_count_following(following, left);
	else if (end == ARGTRACE_USER_CALL_EXITED)
		argtrace_count_following(following, exited);
	else
		argtrace_count_following(following, removed);
}

/* As calls return, so that the record of one comes after those of the calls that it has made. */
static int compare_beginnings(void *data, const struct list_head *a, const struct list_head *b)
{
	const u64 a_began = frame_of(list_entry(a, struct argtrace_user_call, ended))->clock;
	const u64 b_began = frame_of(list_entry(b, struct argtrace_user_call, ended))->clock;

	return a_began < b_began ? 1 : a_began > b_began ? -1 : 0;
}

/* Such lists are few, and some are made where a tracepoint calls us, with preemption off. */
void argtrace_user_calls_end(struct argtrace_user_call *calls, enum argtrace_user_call_end end)
{
	struct argtrace_user_call *call, *next;
	LIST_HEAD(ended);

	for (call = calls; call; call = next) {
		next = call->next;
		list_add(&call->ended, &ended);
	}
	list_sort(NULL, &ended, compare_beginnings);
	/* Counters and rings are each CPU's own. */
	preempt_disable_notrace();
	list_for_each_entry_safe(call, next, &ended, ended) {
		end_call(call, end);
		argtrace_user_call_memory_uncharge(call->size);
		kfree_rcu(call, rcu);
	}
	preempt_enable_notrace();
}

/*
 * Whether a uretprobe has replaced the address that a function returns to, by that of its
 * trampoline, which is the first in a page (kernel/events/uprobes.c). So nothing has called the
 * function since.
 */
static bool is_by_uretprobe(unsigned long returns_to)
{
	return returns_to && IS_ALIGNED(returns_to, PAGE_SIZE);
}

/* Whether it is the same call that comes to the function's first instruction again. */
static bool is_again(const struct argtrace_user_call *call, const struct argtrace_user_call *open)
{
	return call->place == open->place && open->place->loops &&
	       (call->returns_to == open->returns_to || is_by_uretprobe(call->returns_to));
}

/*
 * Whether a call that is entered proves that another with its stack pointer has been left. That may
 * have jumped to the function instead of calling it if a uretprobe follows it: only such a function
 * ends with a jump.
 */
static bool is_proved_left(const struct argtrace_user_call *call,
			   const struct argtrace_user_call *open)
{
	return !open->place->by_uretprobe ||
	       (call->returns_to && !is_by_uretprobe(call->returns_to));
}

/* Whether two sessions have a call of the same instruction, and so possibly the same call. */
static bool is_elsewhere(const struct argtrace_user_call *call,
			 const struct argtrace_user_call *open)
{
	return call->place->lane != open->place->lane && call->sp == open->sp &&
	       call->place->points[0].offset == open->place->points[0].offset;
}

bool argtrace_user_calls_enter(struct argtrace_user_call *call, struct argtrace_user_call **left)
{
	struct hlist_bl_head *column = column_of(call->tgid, call->goroutine, call->sp);
	struct hlist_bl_node *node, *next;
	struct argtrace_user_call *open;
	bool is_new = true;

	hlist_bl_lock(column);
	hlist_bl_for_each_entry_safe(open, node, next, column, link) {
		if (open->tgid != call->tgid || open->goroutine != call->goroutine)
			continue;
		if (open->sp != call->sp && !call->goroutine)
			continue;
		if (open->sp < call->sp)
			break;
		if (open->sp == call->sp && is_again(call, open)) {
			is_new = false;
			break;
		}
		if (!is_elsewhere(call, open) && is_proved_left(call, open))
			take_off(open, left);
	}
	if (is_new)
		hlist_bl_add_head(&call->link, column);
	hlist_bl_unlock(column);
	return is_new;
}

struct argtrace_user_call *argtrace_user_calls_leave(const struct argtrace_user_place *place,
						     unsigned long goroutine, unsigned long sp,
						     struct argtrace_user_call **left)
{
	struct hlist_bl_head *column = column_of(current->tgid, goroutine, sp);
	struct argtrace_user_call *call, *found = NULL;
	struct hlist_bl_node *node, *next;

	if (hlist_bl_empty(column))
		return NULL;
	hlist_bl_lock(column);
	hlist_bl_for_each_entry_safe(call, node, next, column, link) {
		if (call->tgid != current->tgid || call->goroutine != goroutine)
			continue;
		if (call->sp == sp && call->place == place) {
			hlist_bl_del(&call->link);
			found = call;
			break;
		}
		if (!goroutine)
			continue;
		if (call->sp < sp)
			break;
		if (call->sp > sp)
			take_off(call, left);
	}
	hlist_bl_unlock(column);
	return found;
}

static bool place_leaves(const struct argtrace_user_call *call, const void *data)
{
	return call->place->leaves;
}

void argtrace_user_calls_forget(void)
{
	struct argtrace_user_call *taken = NULL;
	u32 i;

	for (i = 0; i < ROWS * COLUMNS; i++) {
		take_off_column(&table[i], &taken, place_leaves, NULL);
		if (i % COLUMNS == 0)
			cond_resched();
	}
	argtrace_user_calls_end(taken, ARGTRACE_USER_CALL_REMOVED);
	/* Those that end_calls() has taken off before are still being recorded. */
	argtrace_synchronize();
}

static bool is_of_process(const struct argtrace_user_call *call, const void *data)
{
	const struct task_struct *task = data;

	return call->tgid == task->tgid;
}

static bool is_of_thread(const struct argtrace_user_call *call, const void *data)
{
	const struct task_struct *task = data;

	return is_of_process(call, data) && call->tid == task->pid && !call->goroutine;
}

static void end_calls(const struct task_struct *task,
		      bool (*picks)(const struct argtrace_user_call *, const void *))
{
	const bool everywhere = picks == is_of_process && READ_ONCE(has_goroutines);
	struct hlist_bl_head *columns = everywhere ? table : row_of(task->tgid);
	const u32 count = everywhere ? ROWS * COLUMNS : COLUMNS;
	struct argtrace_user_call *taken = NULL;
	u32 i;

	/* Their plans stay until it is on again: argtrace_user_calls_forget() waits for that. */
	preempt_disable_notrace();
	for (i = 0; i < count; i++)
		take_off_column(&columns[i], &taken, picks, task);
	if (taken)
		argtrace_user_calls_end(taken, ARGTRACE_USER_CALL_EXITED);
	preempt_enable_notrace();
}

static void thread_exits(void *data, ARGTRACE_PROCESS_EXIT_ARGUMENTS)
{
	/* What a thread has entered, and another has gone on with, ends with the process. */
	if (task == current)
		end_calls(task, atomic_read(&task->signal->live) ? is_of_thread : is_of_process);
}

/*
 * A task that executes another program is renamed once nothing can return to the old one and its
 * other threads have ended (begin_new_exec() in fs/exec.c). It still has its old name here, which
 * is that of the program whose calls are left. Others are renamed for other reasons.
 */
static void program_replaced(void *data, struct task_struct *task, const char *comm)
{
	if (task == current && task->in_execve)
		end_calls(task, is_of_process);
}

static void find_points(struct tracepoint *point, void *data)
{
	check_trace_callback_type_sched_process_exit(thread_exits);
	check_trace_callback_type_task_rename(program_replaced);
	if (!strcmp(point->name, "sched_process_exit"))
		exit_point = point;
	if (!strcmp(point->name, "task_rename"))
		rename_point = point;
}

static int begin_watching(void)
{
	int ret;

	for_each_kernel_tracepoint(find_points, NULL);
	if (!exit_point || !rename_point)
		return -EOPNOTSUPP;
	ret = tracepoint_probe_register(exit_point, thread_exits, NULL);
	if (ret)
		return ret;
	ret = tracepoint_probe_register(rename_point, program_replaced, NULL);
	if (ret) {
		tracepoint_probe_unregister(exit_point, thread_exits, NULL);
		tracepoint_synchronize_unregister();
	}
	return ret;
}

static int create_calls(void)
{
	const u64 bytes = argtrace_kvmalloc_size(TABLE_SIZE);
	int ret = argtrace_memory_charge(bytes);

	if (ret)
		return ret;
	table = argtrace_kvzalloc(TABLE_SIZE);
	ret = table ? begin_watching() : -ENOMEM;
	if (ret) {
		kvfree(table);
		table = NULL;
		argtrace_memory_uncharge(bytes);
	}
	return ret;
}

int argtrace_user_calls_get(bool goroutines)
{
	int ret = 0;

	mutex_lock(&users_lock);
	if (!nr_users)
		ret = create_calls();
	nr_users += !ret;
	if (!ret && goroutines)
		WRITE_ONCE(has_goroutines, true);
	mutex_unlock(&users_lock);
	return ret;
}

/* No place is left, and so no call. */
void argtrace_user_calls_put(void)
{
	mutex_lock(&users_lock);
	if (!--nr_users) {
		tracepoint_probe_unregister(exit_point, thread_exits, NULL);
		tracepoint_probe_unregister(rename_point, program_replaced, NULL);
		tracepoint_synchronize_unregister();
		argtrace_user_call_memory_free_spares();
		kvfree(table);
		table = NULL;
		has_goroutines = false;
		argtrace_memory_uncharge(argtrace_kvmalloc_size(TABLE_SIZE));
	}
	mutex_unlock(&users_lock);
}
