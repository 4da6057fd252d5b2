/// @file
/// In place of CUB (emulator.h): the functions that kedge calls, one thing after another. Without
/// scratch they say how much they want, as CUB does.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "cuda_runtime.h"

namespace cub
{

template <class T>
struct DoubleBuffer {
  T *d_buffers[2] = {};
  int selector = 0;
  DoubleBuffer() = default;
  DoubleBuffer(T *first, T *second) : d_buffers{first, second}
  {
  }
  T *Current()
  {
    return d_buffers[selector];
  }
  T *Alternate()
  {
    return d_buffers[selector ^ 1];
  }
};

inline bool asks(void *scratch, size_t &bytes)
{
  if (scratch == nullptr) bytes = 1;
  return scratch == nullptr;
}

struct DeviceRadixSort {
  template <class Key, class Value>
  static cudaError_t SortPairs(void *scratch, size_t &bytes, const Key *key, Key *key_out,
                               const Value *value, Value *value_out, int64_t n, int begin, int end,
                               cudaStream_t)
  {
    if (asks(scratch, bytes)) return cudaSuccess;
    const auto digits = [&](int64_t i) {
      const uint64_t all = (uint64_t)key[i] >> begin;
      return end - begin >= 64 ? all : all & ((uint64_t(1) << (end - begin)) - 1);
    };
    std::vector<int64_t> order((size_t)n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t i, int64_t j) { return digits(i) < digits(j); });
    std::vector<Key> keys((size_t)n);
    std::vector<Value> values((size_t)n);
    for (size_t i = 0; i < (size_t)n; ++i) keys[i] = key[order[i]], values[i] = value[order[i]];
    std::copy(keys.begin(), keys.end(), key_out);
    std::copy(values.begin(), values.end(), value_out);
    return cudaSuccess;
  }

  template <class Key, class Value>
  static cudaError_t SortPairs(void *scratch, size_t &bytes, DoubleBuffer<Key> &key,
                               DoubleBuffer<Value> &value, int64_t n, int begin, int end,
                               cudaStream_t stream)
  {
    if (asks(scratch, bytes)) return cudaSuccess;
    SortPairs(scratch, bytes, key.Current(), key.Alternate(), value.Current(), value.Alternate(), n,
              begin, end, stream);
    key.selector ^= 1;
    value.selector ^= 1;
    return cudaSuccess;
  }
};

struct DeviceScan {
  template <class In, class Out>
  static cudaError_t InclusiveSum(void *scratch, size_t &bytes, In in, Out *out, int64_t n,
                                  cudaStream_t)
  {
    if (asks(scratch, bytes)) return cudaSuccess;
    Out sum = 0;
    for (int64_t i = 0; i < n; ++i) out[i] = sum = (Out)(sum + in[i]);
    return cudaSuccess;
  }

  template <class In, class Out>
  static cudaError_t ExclusiveSum(void *scratch, size_t &bytes, In in, Out *out, int64_t n,
                                  cudaStream_t)
  {
    if (asks(scratch, bytes)) return cudaSuccess;
    Out sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const Out before = sum;
      sum = (Out)(sum + in[i]);
      out[i] = before;
    }
    return cudaSuccess;
  }
};

struct DeviceReduce {
  template <class In, class Out, class Union>
  static cudaError_t Reduce(void *scratch, size_t &bytes, In in, Out *out, int64_t n, Union both,
                            Out first, cudaStream_t)
  {
    if (asks(scratch, bytes)) return cudaSuccess;
    for (int64_t i = 0; i < n; ++i) first = both(first, in[i]);
    *out = first;
    return cudaSuccess;
  }
};

struct DeviceRunLengthEncode {
  template <class T, class Length>
  static cudaError_t Encode(void *scratch, size_t &bytes, const T *in, T *distinct, Length *length,
                            Length *n_runs, int64_t n, cudaStream_t)
  {
    if (asks(scratch, bytes)) return cudaSuccess;
    Length runs = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (i == 0 || !(in[i] == in[i - 1])) distinct[runs] = in[i], length[runs++] = 0;
      ++length[runs - 1];
    }
    *n_runs = runs;
    return cudaSuccess;
  }
};

}  // namespace cub
