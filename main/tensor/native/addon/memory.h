// Memory that outlives a kernel, so that the next one needn't have it from the system, which clears every page first.
#pragma once

#include <cstddef>
#include <memory>

namespace braid {

// Memory of the calling thread, at least so many floats, dirty; each slot is a memory of its own.
float *scratch(int slot, size_t floats);

// Bytes from which malloc has memory from the system each time, whatever it may keep.
constexpr size_t kLarge = 32 << 20;

// Dirty memory for something large, aligned as TensorFlow wants it. The last block that was given back serves again where
// it fits; a second one is not kept. Throws std::bad_alloc. On any thread.
void *takeLarge(size_t bytes);
void giveLarge(void *block);

// Dirty memory for so many floats, while a kernel runs.
using Floats = std::unique_ptr<float, void (*)(void *)>;
Floats takeFloats(size_t floats);

}  // namespace braid
