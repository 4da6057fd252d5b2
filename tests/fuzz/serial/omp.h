/// @file
/// OpenMP for programs compiled without it: one thread. Only what kedge calls.
#pragma once

typedef enum omp_proc_bind_t { omp_proc_bind_false = 0 } omp_proc_bind_t;

static inline int omp_get_thread_num(void)
{
  return 0;
}

static inline int omp_get_num_threads(void)
{
  return 1;
}

static inline int omp_get_max_threads(void)
{
  return 1;
}

static inline int omp_in_parallel(void)
{
  return 0;
}

static inline omp_proc_bind_t omp_get_proc_bind(void)
{
  return omp_proc_bind_false;
}

static inline int omp_get_num_places(void)
{
  return 0;
}

static inline int omp_get_place_num_procs(int place)
{
  (void)place;
  return 0;
}

static inline void omp_get_place_proc_ids(int place, int *ids)
{
  (void)place, (void)ids;
}
