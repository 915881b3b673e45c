// What a kernel is given: the memory of its tensors, inputs before outputs, and numbers. Sizes are its caller's to
// check (../cpu/).
#pragma once

#include <cstdint>

namespace braid {

constexpr int kMaxTensors = 16;
constexpr int kMaxNumbers = 24;

struct Call {
  void *tensors[kMaxTensors];
  double numbers[kMaxNumbers];

  float *floats(int i) const { return static_cast<float *>(tensors[i]); }
  const int32_t *ints(int i) const { return static_cast<const int32_t *>(tensors[i]); }
  int32_t *intsOut(int i) const { return static_cast<int32_t *>(tensors[i]); }
  int integer(int i) const { return static_cast<int>(numbers[i]); }
  float number(int i) const { return static_cast<float>(numbers[i]); }
};

using Kernel = void (*)(const Call &call);

// The kernel of a name; null where there is none.
Kernel kernelNamed(const char *name);

}  // namespace braid
