/// @file
/// In place of Thrust's iterators (emulator.h).
#pragma once
#include <cstdint>

namespace thrust
{

template <class T>
struct counting_iterator {
  T first;
  explicit counting_iterator(T from) : first(from)
  {
  }
  T operator[](int64_t i) const
  {
    return (T)(first + i);
  }
};

template <class Function, class Iterator>
struct transform_iterator {
  Iterator from;
  Function function;
  auto operator[](int64_t i) const
  {
    return function(from[i]);
  }
};

template <class Iterator, class Function>
transform_iterator<Function, Iterator> make_transform_iterator(Iterator from, Function function)
{
  return {from, function};
}

}  // namespace thrust
