/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The list of sessions. It holds a reference to each named session until that is removed, and each
 * file that is bound to a session holds one.
 */
#ifndef ARGTRACE_SESSIONS_H
#define ARGTRACE_SESSIONS_H

#include "session.h"

struct module;

/*
 * Attaches to or makes the session that `wanted` describes and fills in its actual settings.
 * Returns a reference for the caller, or ERR_PTR with the errors of ARGTRACE_IOC_SESSION.
 */
struct argtrace_session *argtrace_session_get(struct argtrace_session_attr *wanted);
void argtrace_session_put(struct argtrace_session *session);

/* Removes the name of a session and disarms it; 0 or -ENOENT. */
int argtrace_session_remove(const char *name);
/* Whether our module is being unloaded: nothing is armed in modules that are loaded meanwhile. */
void argtrace_sessions_close(bool close);
/* Removes the names of all sessions and disarms them, when our module is unloaded. */
void argtrace_sessions_remove_all(void);
/* Whether ftrace may still call us for a session that has been destroyed. */
bool argtrace_sessions_leaked(void);

u32 argtrace_sessions_count(void);

/* A module has been loaded and has not run yet: arms the deferred probes for it. */
void argtrace_sessions_module_coming(const struct module *module);
/* The same for its tracepoints, once the kernel has registered them. */
void argtrace_sessions_tracepoints_coming(const struct module *module);

/* A module, or only its init code, is about to be freed: disarms everything in it. */
void argtrace_sessions_module_going(const struct module *module, bool only_init);

#endif
