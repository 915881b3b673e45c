#include "memory.h"

#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace braid {
namespace {

// A line of the cache.
constexpr size_t kAlignment = 64;
constexpr int kSlots = 8;
// Bytes of a block that is worth keeping until the next step.
constexpr size_t kMostKept = 256 << 20;

struct Memory {
  float *data = nullptr;
  size_t floats = 0;
};

void *allocateAligned(size_t bytes) {
  // A whole number of lines, as aligned_alloc wants it, and at least one, as some systems have no memory of 0 bytes.
  void *const data = std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

// What lies before a large block, in a line of its own.
struct Header {
  size_t bytes;
};

std::mutex keptMutex;
Header *kept = nullptr;

// Takes the kept block away, and puts another one in its place.
Header *exchangeKept(Header *block) {
  std::lock_guard<std::mutex> lock(keptMutex);
  return std::exchange(kept, block);
}

}  // namespace

float *scratch(int slot, size_t floats) {
  static thread_local Memory memories[kSlots];
  Memory &memory = memories[slot];
  if (memory.floats < floats) {
    std::free(memory.data);
    memory = {};
    memory.data = static_cast<float *>(allocateAligned(floats * sizeof(float)));
    memory.floats = floats;
  }
  return memory.data;
}

void *takeLarge(size_t bytes) {
  Header *block = exchangeKept(nullptr);
  // Not one of which more than half would lie idle.
  if (block != nullptr && (block->bytes < bytes || block->bytes / 2 > bytes)) {
    std::free(block);
    block = nullptr;
  }
  if (block == nullptr) {
    block = static_cast<Header *>(allocateAligned(kAlignment + bytes));
    block->bytes = bytes;
  }
  return reinterpret_cast<char *>(block) + kAlignment;
}

void giveLarge(void *block) {
  Header *const header = reinterpret_cast<Header *>(static_cast<char *>(block) - kAlignment);
  std::free(header->bytes <= kMostKept ? exchangeKept(header) : header);
}

Floats takeFloats(size_t floats) {
  const size_t bytes = floats * sizeof(float);
  if (bytes >= kLarge) return Floats(static_cast<float *>(takeLarge(bytes)), giveLarge);
  return Floats(static_cast<float *>(allocateAligned(bytes)), std::free);
}

}  // namespace braid
