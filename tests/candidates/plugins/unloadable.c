/* Plugins that cannot be used, each for the reason that its macro names. */
#include <signal.h>
#include <stddef.h>

#include "wgrad_plugin.h"

#ifndef NO_VERSION
#ifdef WRONG_VERSION
int wgrad_plugin_version(void) { return 7; }
#else
int wgrad_plugin_version(void) { return WGRAD_PLUGIN_VERSION; }
#endif
#endif

#ifndef NO_FILTER_GRADIENT
int wgrad_filter_gradient(const struct wgrad_call* call) { return call == NULL ? WGRAD_ERROR : WGRAD_UNSUPPORTED; }
#endif

#ifdef CAPABILITIES
const char* wgrad_capabilities(void) { return CAPABILITIES; }
#endif

#ifdef CRASH_ON_LOAD
__attribute__((constructor)) static void fall(void) { raise(SIGILL); }
#endif
