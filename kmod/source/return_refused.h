/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions whose return is not followed, sorted by name. No kernel state: user space compiles this as well.
 *
 *   NEVER_RETURNS  that does not return, and whose frame would be counted as in flight for ever: those that objtool knows
 *                  (tools/objtool/noreturns.h, Linux 5.19 to 7.3)
 *   IDLE           of the idle task, whose stack is left for good when its CPU goes offline (kernel/sched/idle.c, arch/x86/kernel/smpboot.c)
 *   SWITCHES       begins on behalf of one task and ends as another, or leaves the kernel by another way (arch/x86/kernel/process*.c)
 *
 * A task that ends within any other function is noticed when it ends.
 */
#ifndef ARGTRACE_RETURN_REFUSED_H
#define ARGTRACE_RETURN_REFUSED_H

#define ARGTRACE_RETURN_NEVER_RETURNS	"never returns"
#define ARGTRACE_RETURN_IDLE_TASK	"is a part of the idle task, which does not return when its CPU goes offline"
#define ARGTRACE_RETURN_SWITCHES	"returns to another task than called it"

#define ARGTRACE_RETURN_REFUSED(REFUSED) \
	REFUSED(__fortify_panic, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__ia32_sys_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__ia32_sys_exit_group, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__kunit_abort, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__module_put_and_kthread_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__reiserfs_panic, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__stack_chk_fail, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__switch_to, ARGTRACE_RETURN_SWITCHES) \
	REFUSED(__tdx_hypercall_failed, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__ubsan_handle_builtin_unreachable, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__x64_sys_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__x64_sys_exit_group, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(arch_call_rest_init, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(arch_cpu_idle_dead, ARGTRACE_RETURN_IDLE_TASK) \
	REFUSED(bch2_trans_in_restart_error, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(bch2_trans_restart_error, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(bch2_trans_unlocked_error, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(cpu_bringup_and_idle, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(cpu_startup_entry, ARGTRACE_RETURN_IDLE_TASK) \
	REFUSED(do_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(do_group_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(do_idle, ARGTRACE_RETURN_IDLE_TASK) \
	REFUSED(do_task_dead, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(ex_handler_msr_mce, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(fortify_panic, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(hlt_play_dead, ARGTRACE_RETURN_IDLE_TASK) \
	REFUSED(hv_ghcb_terminate, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(kthread_complete_and_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(kthread_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(kunit_try_catch_throw, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(lbug_with_loc, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(machine_real_restart, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(make_task_dead, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(mpt_halt_firmware, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(mwait_play_dead, ARGTRACE_RETURN_IDLE_TASK) \
	REFUSED(native_play_dead, ARGTRACE_RETURN_IDLE_TASK) \
	REFUSED(nmi_panic_self_stop, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(panic, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(panic_smp_self_stop, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(play_dead, ARGTRACE_RETURN_IDLE_TASK) \
	REFUSED(rest_init, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(ret_from_fork, ARGTRACE_RETURN_SWITCHES) \
	REFUSED(rewind_stack_and_make_dead, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(rust_begin_unwind, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(rust_helper_BUG, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(sev_es_terminate, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(snp_abort, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(start_kernel, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(stop_this_cpu, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(usercopy_abort, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(vpanic, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(x86_64_start_kernel, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(x86_64_start_reservations, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(xen_cpu_bringup_again, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(xen_start_kernel, ARGTRACE_RETURN_NEVER_RETURNS)

#endif
