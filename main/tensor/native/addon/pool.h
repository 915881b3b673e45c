// The threads that share a kernel's work. A job is a number of independent tiles; threads draw them from one counter,
// so that a thread that loses its core merely draws fewer of them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>

namespace braid {

class Pool {
 public:
  // Never destroyed: its threads may still wait when the process ends.
  static Pool &get();

  // Threads in all, the calling one among them. Only ever grows; throws where the system gives no more.
  void grow(int threads);
  int threads() const { return threads_; }

  // Runs work(tile) for each tile and returns when all are done. Work must not call run itself. Where a tile throws, no
  // further one begins, and what the first threw is thrown here once no thread is at work any more.
  template <class Work>
  void run(int tiles, const Work &work) {
    runTiles(tiles, [](const void *context, int tile) { (*static_cast<const Work *>(context))(tile); }, &work);
  }

 private:
  using RunTile = void (*)(const void *context, int tile);

  void runTiles(int tiles, RunTile run, const void *context);
  bool drawTile();
  void runTile(int tile) noexcept;
  bool seesWork() const;
  void work();

  int threads_ = 1;
  RunTile run_ = nullptr;
  const void *context_ = nullptr;
  int tiles_ = 0;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::condition_variable awake_;
  // What different threads write lies on different cache lines.
  alignas(64) std::atomic<int> remaining_{0};
  alignas(64) std::atomic<int> done_{0};
  alignas(64) std::atomic<int> sleepers_{0};
};

}  // namespace braid
