// test_emulator.cpp: the emulator does what kernels ask for, and ends a program whose kernel does what a
// GPU leaves undefined. Each case of the second kind runs in a process of its own.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "include/cuda_pipeline.h"
#include "include/device/cuda_only.cuh"

namespace
{

int failures;

void check(bool right, const char *claim)
{
  printf("%s: %s\n", right ? "ok" : "FAILED", claim);
  failures += !right;
}

void run(unsigned blocks, unsigned threads, size_t shared, const std::function<void()> &kernel)
{
  emulated::launch("test", blocks, threads, shared, kernel);
}

/// What the kernel's process says when it is ended; empty where it is not.
std::string last_words(unsigned threads, size_t shared, const std::function<void()> &kernel)
{
  int ends[2];
  if (pipe(ends) != 0) abort();
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    run(2, threads, shared, kernel);
    _exit(0);
  }
  close(ends[1]);
  char text[1024];
  std::string said;
  for (ssize_t n; (n = read(ends[0], text, sizeof text)) > 0;) said.append(text, (size_t)n);
  close(ends[0]);
  int status;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? said : "";
}

void ends_with(const char *words, const char *claim, unsigned threads, size_t shared,
               const std::function<void()> &kernel)
{
  const std::string said = last_words(threads, shared, kernel);
  check(said.find(words) != std::string::npos, claim);
  if (said.find(words) == std::string::npos) printf("  it said: %s\n", said.c_str());
}

void lanes_exchange()
{
  double sum[64], down[64], other[64];
  unsigned votes[64];
  run(1, 64, 0, [&] {
    const int t = (int)threadIdx.x;
    double value = t;
    for (int offset = 16; offset > 0; offset /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, offset);
    sum[t] = value;
    down[t] = __shfl_down_sync(0xffffffffu, (double)t, 2, 8);
    other[t] = __shfl_sync(0xffffffffu, (double)t, 3, 4);
    votes[t] = __ballot_sync(0xffffffffu, t % 2 == 1);
  });
  check(sum[0] == 496.0 && sum[31] == 496.0 && sum[32] == 1520.0, "a warp adds up by shuffles");
  check(down[0] == 2.0 && down[6] == 6.0 && down[13] == 15.0, "segments end a shuffle down");
  check(other[0] == 3.0 && other[9] == 11.0, "a shuffle stays in its segment");
  check(votes[5] == 0xaaaaaaaau, "a ballot has the bits of its lanes");
}

void tensor_cores_multiply()
{
  double c[8][8];
  run(1, 32, 0, [&] {
    const int lane = (int)threadIdx.x, row = lane / 4, k = lane % 4;
    double2 sum = make_double2(1.0, 1.0);
    kg::tensor_multiply(sum, row + 10.0 * k, row - 5.0 * k);  // a[row][k], b[k][column = row]
    c[row][2 * k] = sum.x;
    c[row][2 * k + 1] = sum.y;
  });
  bool right = true;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      double want = 1.0;
      for (int k = 0; k < 4; ++k) want += (i + 10.0 * k) * (j - 5.0 * k);
      right &= c[i][j] == want;
    }
  check(right, "tensor cores give c += a b");
}

void blocks_meet()
{
  int got[2] = {};
  run(2, 96, sizeof(int) * 96, [&] {
    int *const s = (int *)emulated::shared_memory();
    s[threadIdx.x] = (int)threadIdx.x;
    if (threadIdx.x >= 64) return;  // threads that have ended are not waited for
    __syncthreads();
    if (__syncthreads_or(s[63 - threadIdx.x] == 0) && threadIdx.x == 0) got[blockIdx.x] = s[63];
  });
  check(got[0] == 63 && got[1] == 63, "threads of a block meet, without those that have ended");
}

void copies_arrive()
{
  alignas(16) double from[64], got[2];
  for (int i = 0; i < 64; ++i) from[i] = i;
  run(2, 32, sizeof from, [&] {
    double *const s = (double *)emulated::shared_memory();
    __pipeline_memcpy_async(s + 2 * threadIdx.x, from + 2 * threadIdx.x, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    if (threadIdx.x == 0) got[blockIdx.x] = s[63];
  });
  check(got[0] == 63.0 && got[1] == 63.0, "copies are there when they have been waited for");
  double early[2];
  run(2, 32, sizeof from, [&] {
    double *const s = (double *)emulated::shared_memory();
    __pipeline_memcpy_async(s + 2 * threadIdx.x, from + 2 * threadIdx.x, 16);
    if (threadIdx.x == 0) early[blockIdx.x] = s[0];
  });
  check(early[0] == 0.0 && std::isnan(early[1]), "and not before, in one block of two");
}

void faults_end_the_program()
{
  ends_with("wait for others that never come", "a barrier that some never reach is found", 64, 0, [] {
    if (threadIdx.x < 32)
      __syncthreads();
    else
      emulated::barrier(1, 64);
  });
  ends_with("different operations", "lanes that meet at different operations are found", 32, 0, [] {
    if (threadIdx.x < 16)
      __syncwarp();
    else
      __shfl_sync(0xffffffffu, 1.0, 0);
  });
  ends_with("has ended", "a shuffle with a lane that has ended is found", 32, 0, [] {
    if (threadIdx.x < 16) return;
    __shfl_sync(0xffffffffu, 1.0, 0);
  });
  ends_with("not in mask", "a shuffle from a lane outside the mask is found", 32, 0, [] {
    if (threadIdx.x < 16) __shfl_sync(0xffffu, 1.0, 20);
  });
  ends_with("behind the", "a write behind the shared memory is found", 32, 64,
            [] { ((char *)emulated::shared_memory())[64 + threadIdx.x] = 1; });
  ends_with("the copy engine writes", "a block that ends before a bulk copy is found", 32, 1024, [] {
    alignas(16) static const double from[2] = {};
    char *const s = (char *)emulated::shared_memory();
    if (threadIdx.x != 0) return;
    kg::barrier_init((uint64_t *)s, 1);
    kg::bulk_copy(s + 16, from, 16, (uint64_t *)s);
  });
  ends_with("not aligned", "a copy to an odd place is found", 32, 1024, [] {
    __pipeline_memcpy_async((char *)emulated::shared_memory() + 4, emulated::shared_memory(), 16);
  });
}

void races_show()
{
  int last[2];
  run(2, 64, sizeof(int), [&] {
    int *const s = (int *)emulated::shared_memory();
    *s = (int)threadIdx.x;
    __syncthreads();
    last[blockIdx.x] = *s;
  });
  check(last[0] != last[1], "what depends on the order of threads differs between two blocks");
}

void arrays_are_guarded()
{
  double *array;
  check(cudaMalloc((void **)&array, 80) == cudaSuccess && std::isnan(array[9]), "fresh memory is NaN");
  const pid_t child = fork();
  if (child == 0) {
    fclose(stderr);
    array[10] = 1.0;
    cudaFree(array);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  check(WIFSIGNALED(status), "a write behind an array is found when it is freed");
  check(cudaFree(array) == cudaSuccess, "an untouched guard is no fault");
}

}  // namespace

int main()
{
  lanes_exchange();
  tensor_cores_multiply();
  blocks_meet();
  copies_arrive();
  races_show();
  faults_end_the_program();
  arrays_are_guarded();
  return failures > 0;
}
