#include "device/team.h"

#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"

/// Seconds for which threads that could be had are still to be had: a context tries them, and the
/// loops of its first mesh start them.
static const double MOMENT = 1.0;

_Thread_local int kg_team_threads = 1;
static _Thread_local int refused;      ///< a number of threads that could not be had; 0: none
static _Thread_local int known;        ///< one that could, a moment ago; 0: none
static _Thread_local double known_at;  ///< when, by kg_seconds()

/// A thread that is tried.
typedef struct tried {
  pthread_rwlock_t *all;  ///< written to until all of them are there
  pthread_t thread;
  pid_t id;
} tried;

static void *wait_for_all(void *user)
{
  tried *const t = user;
  t->id = gettid();
  pthread_rwlock_rdlock(t->all);
  pthread_rwlock_unlock(t->all);
  return NULL;
}

/// Bytes that OMP_STACKSIZE, or its older name, asks for: a number, in kilobytes or with a unit; 0:
/// it is not set.
static size_t stack_bytes(void)
{
  static const char units[] = "bkmg";
  const char *const set = getenv("OMP_STACKSIZE");
  const char *const text = set ? set : getenv("GOMP_STACKSIZE");
  char *end = NULL;
  const long number = text ? strtol(text, &end, 10) : 0;
  if (number <= 0 || number > INT32_MAX) return 0;
  while (*end == ' ') ++end;
  const char *const unit = *end ? strchr(units, *end | 0x20) : units + 1;
  return unit ? (size_t)number << (10 * (unit - units)) : 0;
}

/// End a thread. The kernel counts it for a moment longer, and OpenMP is to have its place.
static void end_thread(const tried *t)
{
  enum { TIMES = 10000 };
  pthread_join(t->thread, NULL);
  for (int i = 0; i < TIMES && tgkill(getpid(), t->id, 0) == 0; ++i) sched_yield();
}

/// Make `n` threads that live at once, and end them. Returns 0 or errno. They are woken together:
/// one after the other would take a millisecond each in a virtual machine whose cores sleep.
static int try_threads(int n)
{
  tried *const list = malloc((size_t)n * sizeof *list);
  pthread_rwlock_t all = PTHREAD_RWLOCK_INITIALIZER;
  pthread_attr_t attributes;
  if (!list || pthread_attr_init(&attributes) != 0) {
    free(list);
    return ENOMEM;
  }
  const size_t stack = stack_bytes();
  if (stack) pthread_attr_setstacksize(&attributes, stack);
  int error = 0, made = 0;
  pthread_rwlock_wrlock(&all);
  while (!error && made < n) {
    list[made].all = &all;
    error = pthread_create(&list[made].thread, &attributes, wait_for_all, &list[made]);
    made += !error;
  }
  pthread_rwlock_unlock(&all);
  for (int i = 0; i < made; ++i) end_thread(&list[i]);
  pthread_attr_destroy(&attributes);
  free(list);
  return error;
}

int kg_team_try(int threads)
{
  const int error = threads > kg_team_threads ? try_threads(threads - kg_team_threads) : 0;
  known = error ? 0 : threads;
  known_at = kg_seconds();
  return error;
}

int kg_team_start(int threads)
{
  if (threads <= 1) return 0;  // no team, and the one that is there stays
  const bool good = threads <= known && kg_seconds() - known_at < MOMENT;
  const int error = good ? 0 : kg_team_try(threads);
  if (error) return error;
  known = 0;
  int there = 0;
#pragma omp parallel num_threads(threads) reduction(+ : there)
  ++there;
  kg_team_threads = threads;
  return there > 0 ? 0 : EAGAIN;
}

bool kg_team_starts(int threads)
{
  if (threads <= 1 || omp_in_parallel()) return true;  // OpenMP starts none
  if (threads == refused) return false;
  const bool good = kg_team_start(threads) == 0;
  if (!good) refused = threads;
  return good;
}
