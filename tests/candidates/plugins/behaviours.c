/* Plugins with one fault each; BEHAVIOUR is what this one does instead of a clean answer. Filters with 7 outputs are
   computed rightly by all of them, so that a test can see the run go on. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wgrad_plugin.h"

enum behaviour {
  CORRECT,
  CRASH,
  ABORT,
  EXIT,
  HANG,
  EAT_MEMORY,
  WRITE_PAST_END,
  WRITE_BEFORE_START,
  LEAVE_UNWRITTEN,
  CHANGE_INPUT,
  PRINT_MEGABYTES,
  SAY_UNSUPPORTED,
  SAY_REJECTED,
  SAY_ERROR,
  STRANGE_CODE,
  CLOSE_ANSWERS,
  WRITE_INTO_ANSWERS
};

int wgrad_plugin_version(void) { return WGRAD_PLUGIN_VERSION; }

/* 1x1 filter over a 1x1 image of batch 1 without groups: an outer product. */
static void compute(const struct wgrad_call* call) {
  const float* input = call->input;
  const float* out_backprop = call->out_backprop;
  float* result = call->filter_backprop;
  for (int64_t ic = 0; ic < call->filter_depth; ++ic) {
    for (int64_t oc = 0; oc < call->out_depth; ++oc) result[ic * call->out_depth + oc] = input[ic] * out_backprop[oc];
  }
}

static int say(const struct wgrad_call* call, int code, const char* sentence) {
  snprintf(call->message, call->message_size, "%s", sentence);
  return code;
}

static void eat_memory(void) {
  for (;;) {
    char* block = malloc(4 << 20);
    if (block != NULL) memset(block, 1, 4 << 20);
    usleep(200);
  }
}

static void print_megabytes(void) {
  char line[1024];
  memset(line, 'x', sizeof line);
  line[sizeof line - 1] = '\n';
  for (int i = 0; i < 4096; ++i) fwrite(line, 1, sizeof line, i % 2 == 0 ? stdout : stderr);
  fflush(stdout);
}

static void write_into_answers(void) {
  const char text[] = "hello from a plugin\n";
  if (write(4, text, sizeof text - 1) < 0) abort();
}

static int misbehave(const struct wgrad_call* call) {
  float* result = call->filter_backprop;
  const int64_t count = call->filter_depth * call->out_depth;
  switch (BEHAVIOUR) {
    case CRASH:
      fprintf(stderr, "about to fall\n");
      raise(SIGSEGV);
      break;
    case ABORT:
      abort();
    case EXIT:
      exit(3);
    case HANG:
      for (;;) pause();
    case EAT_MEMORY:
      eat_memory();
      break;
    case WRITE_PAST_END:
      compute(call);
      result[count] = 1;
      break;
    case WRITE_BEFORE_START:
      compute(call);
      result[-1] = 1;
      break;
    case LEAVE_UNWRITTEN:
      result[0] = 1;
      break;
    case CHANGE_INPUT:
      compute(call);
      *(float*)call->input += 1;
      break;
    case PRINT_MEGABYTES:
      print_megabytes();
      compute(call);
      break;
    case SAY_UNSUPPORTED:
      return say(call, WGRAD_UNSUPPORTED, "no filters of this kind");
    case SAY_REJECTED:
      return say(call, WGRAD_REJECTED, "these sizes are wrong");
    case SAY_ERROR:
      return say(call, WGRAD_ERROR, "out of luck");
    case STRANGE_CODE:
      return 17;
    case CLOSE_ANSWERS:
      close(4);
      for (;;) pause();
    case WRITE_INTO_ANSWERS:
      write_into_answers();
      compute(call);
      break;
    default:
      compute(call);
  }
  return WGRAD_OK;
}

int wgrad_filter_gradient(const struct wgrad_call* call) {
  if (call->out_depth == 7) {
    compute(call);
    return WGRAD_OK;
  }
  return misbehave(call);
}
