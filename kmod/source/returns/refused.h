/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions whose return is not followed, sorted by name. No kernel state: user space compiles this
 * as well.
 *
 *   NEVER_RETURNS  does not return, and its frame would be counted as in flight for ever: those
 *                  that objtool knows
 *                  (tools/objtool/noreturns.h, Linux 5.19 to 7.3; tests/scripts/noreturns_test.py
 *                  compares), and those of arm64, where there is no objtool
 *   IDLE_TASK      of the idle task, whose stack is left for good when its CPU goes offline
 *   SWITCHES       begins on behalf of one task and ends as another, or leaves the kernel by
 *                  another way
 *
 * A task that ends within any other function is noticed when it ends.
 *
 * Those that ask for the address they return to (_RET_IP_, __builtin_return_address(0)) are not
 * among them: it is one in the trampoline, as it is one of their own with the kretprobes and the
 * function graph tracer of the kernel, and matters to what is shown.
 */
#ifndef ARGTRACE_RETURN_REFUSED_H
#define ARGTRACE_RETURN_REFUSED_H

#define ARGTRACE_RETURN_NEVER_RETURNS	"never returns"
#define ARGTRACE_RETURN_IDLE_TASK \
	"is a part of the idle task, which does not return when its CPU goes offline"
#define ARGTRACE_RETURN_SWITCHES	"returns to another task than called it"

#define ARGTRACE_RETURN_REFUSED(REFUSED) \
	REFUSED(__arm64_sys_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__arm64_sys_exit_group, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__fortify_panic, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__ia32_sys_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__ia32_sys_exit_group, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__invalid_creds, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__kunit_abort, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__module_put_and_kthread_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__reiserfs_panic, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__stack_chk_fail, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__switch_to, ARGTRACE_RETURN_SWITCHES) /* arch/x86/kernel/process_64.c */ \
	REFUSED(__tdx_hypercall_failed, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__ubsan_handle_builtin_unreachable, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__x64_sys_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(__x64_sys_exit_group, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(acpi_idle_play_dead, ARGTRACE_RETURN_IDLE_TASK) /* drivers/acpi/processor_idle.c */ \
	REFUSED(acpi_mp_play_dead, ARGTRACE_RETURN_IDLE_TASK) /* arch/x86/kernel/acpi/madt_wakeup.c */ \
	REFUSED(acpi_processor_ffh_play_dead, ARGTRACE_RETURN_IDLE_TASK) /* arch/x86/kernel/acpi/cstate.c */ \
	REFUSED(arch_call_rest_init, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(arch_cpu_idle_dead, ARGTRACE_RETURN_IDLE_TASK) /* arch/x86/kernel/process.c */ \
	REFUSED(bch2_trans_in_restart_error, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(bch2_trans_restart_error, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(bch2_trans_unlocked_error, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(bch2_trans_unlocked_or_in_restart_error, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(cpu_bringup_and_idle, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(cpu_startup_entry, ARGTRACE_RETURN_IDLE_TASK) /* kernel/sched/idle.c */ \
	REFUSED(cpuidle_play_dead, ARGTRACE_RETURN_IDLE_TASK) /* drivers/cpuidle/cpuidle.c */ \
	REFUSED(do_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(do_group_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(do_idle, ARGTRACE_RETURN_IDLE_TASK) /* kernel/sched/idle.c */ \
	REFUSED(do_task_dead, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(efi_rts_park_worker, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(ex_handler_msr_mce, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(fortify_panic, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(hlt_play_dead, ARGTRACE_RETURN_IDLE_TASK) /* arch/x86/kernel/smpboot.c */ \
	REFUSED(hv_ghcb_terminate, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(intel_idle_enter_dead, ARGTRACE_RETURN_IDLE_TASK) /* drivers/idle/intel_idle.c */ \
	REFUSED(kthread_complete_and_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(kthread_exit, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(kunit_try_catch_throw, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(lbug_with_loc, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(machine_real_restart, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(make_task_dead, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(mpt_halt_firmware, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(mwait_play_dead, ARGTRACE_RETURN_IDLE_TASK) /* arch/x86/kernel/smpboot.c */ \
	REFUSED(mwait_play_dead_cpuid_hint, ARGTRACE_RETURN_IDLE_TASK) /* arch/x86/kernel/smpboot.c */ \
	REFUSED(native_play_dead, ARGTRACE_RETURN_IDLE_TASK) /* arch/x86/kernel/smpboot.c */ \
	REFUSED(nmi_panic_self_stop, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(panic, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(panic_smp_self_stop, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(play_dead, ARGTRACE_RETURN_IDLE_TASK) /* arch/x86/kernel/process.c */ \
	REFUSED(rest_init, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(resume_play_dead, ARGTRACE_RETURN_IDLE_TASK) /* arch/x86/power/cpu.c */ \
	REFUSED(ret_from_fork, ARGTRACE_RETURN_SWITCHES) /* arch/x86/kernel/process.c */ \
	REFUSED(rewind_stack_and_make_dead, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(rust_begin_unwind, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(rust_helper_BUG, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(sev_es_play_dead, ARGTRACE_RETURN_IDLE_TASK) /* arch/x86/coco/sev/core.c */ \
	REFUSED(sev_es_terminate, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(snp_abort, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(start_kernel, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(stop_this_cpu, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(usercopy_abort, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(vpanic, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(x86_64_start_kernel, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(x86_64_start_reservations, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(xen_cpu_bringup_again, ARGTRACE_RETURN_NEVER_RETURNS) \
	REFUSED(xen_pv_play_dead, ARGTRACE_RETURN_IDLE_TASK) /* arch/x86/xen/smp_pv.c */ \
	REFUSED(xen_start_kernel, ARGTRACE_RETURN_NEVER_RETURNS)

#endif
