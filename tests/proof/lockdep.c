// SPDX-License-Identifier: GPL-2.0-only
/* Who adds takes a lock under session->lock; who becomes the reader takes them the other way round. */
#include <linux/mutex.h>

#include "arm.h"
#include "session.h"

static DEFINE_MUTEX(second_lock);

int __real_argtrace_arm_add(struct argtrace_session *session, struct argtrace_plan **plans,
			    u32 count, unsigned long *failed_addr);
int __wrap_argtrace_arm_add(struct argtrace_session *session, struct argtrace_plan **plans,
			    u32 count, unsigned long *failed_addr);
int __real_argtrace_session_set_reader(struct argtrace_session *session, void *file, bool exclude);
int __wrap_argtrace_session_set_reader(struct argtrace_session *session, void *file, bool exclude);

int __wrap_argtrace_arm_add(struct argtrace_session *session, struct argtrace_plan **plans,
			    u32 count, unsigned long *failed_addr)
{
	int ret;

	mutex_lock(&second_lock);
	ret = __real_argtrace_arm_add(session, plans, count, failed_addr);
	mutex_unlock(&second_lock);
	return ret;
}

int __wrap_argtrace_session_set_reader(struct argtrace_session *session, void *file, bool exclude)
{
	int ret;

	mutex_lock(&second_lock);
	ret = __real_argtrace_session_set_reader(session, file, exclude);
	mutex_unlock(&second_lock);
	return ret;
}
