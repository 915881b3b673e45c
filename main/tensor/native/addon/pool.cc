#include "pool.h"

#include <utility>

namespace braid {

// How often a thread looks for work, about a nanosecond each, before it sleeps or gives its core away.
constexpr int kSpins = 30000;

Pool &Pool::get() {
  static Pool *const pool = new Pool();
  return *pool;
}

void Pool::grow(int threads) {
  for (; threads_ < threads; threads_++) std::thread([this] { work(); }).detach();
}

void Pool::runTiles(int tiles, RunTile run, const void *context) {
  if (tiles <= 1 || threads_ == 1) {
    for (int tile = 0; tile < tiles; tile++) run(context, tile);
    return;
  }
  run_ = run;
  context_ = context;
  tiles_ = tiles;
  done_.store(0);
  remaining_.store(tiles);
  if (sleepers_.load() > 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    awake_.notify_all();
  }
  while (drawTile()) {
  }
  for (int spins = 0; done_.load() < tiles; spins++) {
    if (spins > kSpins) std::this_thread::yield();
  }
  if (!failed_.load()) return;
  failed_.store(false);
  std::rethrow_exception(std::exchange(error_, nullptr));
}

// A drawn tile keeps its job alive, because run waits for it: whoever holds one may read the job without a lock.
bool Pool::drawTile() {
  if (!seesWork()) return false;
  const int left = remaining_.fetch_sub(1);
  if (left <= 0) return false;
  runTile(tiles_ - left);
  done_.fetch_add(1);
  return true;
}

// An exception must neither end a worker, and with it the process, nor let the job's memory go while others read it.
void Pool::runTile(int tile) noexcept {
  if (failed_.load()) return;
  try {
    run_(context_, tile);
  } catch (...) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (error_ == nullptr) error_ = std::current_exception();
    failed_.store(true);
  }
}

bool Pool::seesWork() const { return remaining_.load() > 0; }

void Pool::work() {
  for (int idle = 0;; idle++) {
    if (drawTile()) idle = 0;
    if (idle < kSpins) continue;
    std::unique_lock<std::mutex> lock(mutex_);
    sleepers_.fetch_add(1);
    awake_.wait(lock, [this] { return seesWork(); });
    sleepers_.fetch_sub(1);
    idle = 0;
  }
}

}  // namespace braid
