// Kernels over the vocabulary: log-probabilities of given tokens, their gradient, and drawing tokens.
#include <algorithm>
#include <memory>
#include <vector>

#include "gemm.h"
#include "kernels.h"
#include "rows.h"
#include "simd.h"

namespace braid {
namespace {

struct Row {
  float largest;
  // Σ exp(x - largest)
  float total;
};

// Overwrites a row of logits x by exp(x - largest).
Row exponentiate(float *row, int width) {
  Vec most = splat(-INFINITY);
  eachVec(width, [&](int at, int lanes) { most = larger(most, loadUpTo(row + at, lanes, -INFINITY)); });
  const float largest = maxLanes(most);
  Vec sums{};
  eachVec(width, [&](int at, int lanes) {
    const Vec power = exp(loadUpTo(row + at, lanes, -INFINITY) - largest);
    sums += power;
    storeUpTo(row + at, power, lanes);
  });
  return {largest, sumLanes(sums)};
}

float logSumExp(const float *row, int width) {
  Vec most = splat(-INFINITY), sums{};
  eachVec(width, [&](int at, int lanes) { most = larger(most, loadUpTo(row + at, lanes, -INFINITY)); });
  const float largest = maxLanes(most);
  eachVec(width, [&](int at, int lanes) { sums += exp(loadUpTo(row + at, lanes, -INFINITY) - largest); });
  return largest + std::log(sumLanes(sums));
}

// Σ p·log p over a row of unnormalised weights with total Σ; log p = log weight − log Σ would lose what is tiny, but
// that weighs nothing.
float negativeEntropy(const float *weights, const float *logits, int width, Row row) {
  Vec sums{};
  eachVec(width, [&](int at, int lanes) {
    sums += loadUpTo(weights + at, lanes) * (loadUpTo(logits + at, lanes) - row.largest);
  });
  return sumLanes(sums) / row.total - std::log(row.total);
}

// Memory for the logits of some rows, dirty.
std::unique_ptr<float[]> allocate(int rows, int width) {
  return std::unique_ptr<float[]>(new float[static_cast<size_t>(rows) * width]);
}

// A linear layer over the vocabulary: hidden [N, D], weight [V, D], and the target token of each row [N].
struct Head {
  int n, width, vocabulary;
  const float *hidden;
  const void *weight;
  bool half;
  const int32_t *targets;
  float temperature;

  // logits [rows, V] = hidden · weightᵀ / temperature of the rows from `first` on.
  void logits(int first, int rows, float *to) const {
    Product p{rows, vocabulary, width, hidden + static_cast<int64_t>(first) * width, width, 1, weight, 1, width, to,
              vocabulary};
    p.alpha = 1 / temperature;
    p.bHalf = half;
    multiply(p);
  }
};

template <class Args>
Head headOf(const Call<Args> &call) {
  const auto [n, width] = call.matrix(call.hidden);
  const int vocabulary = call.matrix(call.weight).rows;
  const float temperature = call.number(call.temperature);
  if (!(temperature > 0)) call.reject(call.temperature, "to be above 0", std::to_string(temperature));
  return {n,
          width,
          vocabulary,
          call.floats(call.hidden),
          call.floatsOrHalves(call.weight, {vocabulary, width}),
          call.isHalf(call.weight),
          call.intsIn(call.targets, {n}, 0, vocabulary),
          temperature};
}

// Rows whose logits are in memory at a time.
template <class Args>
int chunkRowsOf(const Call<Args> &call) {
  return call.whole(call.chunkRows, 1, 1 << 30);
}

}  // namespace

// hidden [N, D], weight [V, D], targets [N] → logps [N], entropies [N], and probs [N, V] where they have that shape.
void logSoftmax(const Call<args::logSoftmax> &call) {
  const Head head = headOf(call);
  const int n = head.n, vocabulary = head.vocabulary;
  float *const logps = call.floats(call.logps, {n}), *const entropies = call.floats(call.entropies, {n});
  float *const probs = call.isShape(call.probs, {n, vocabulary}) ? call.floats(call.probs) : nullptr;
  const int chunk = probs != nullptr ? std::max(1, n) : std::min(n, chunkRowsOf(call));
  const auto memory = allocate(probs != nullptr ? 0 : chunk, vocabulary);
  for (int first = 0; first < n; first += std::min(chunk, n - first)) {
    const int rows = std::min(chunk, n - first);
    float *const logits = probs != nullptr ? probs + static_cast<int64_t>(first) * vocabulary : memory.get();
    head.logits(first, rows, logits);
    eachRange(rows, vocabulary, [&](int from, int end) {
      float *const copy = scratch(2, vocabulary);
      for (int i = from; i < end; i++) {
        float *const row = logits + static_cast<int64_t>(i) * vocabulary;
        const float target = row[head.targets[first + i]];
        std::copy_n(row, vocabulary, copy);
        const Row sums = exponentiate(row, vocabulary);
        logps[first + i] = target - (sums.largest + std::log(sums.total));
        entropies[first + i] = -negativeEntropy(row, copy, vocabulary, sums);
        if (probs == nullptr) continue;
        const float factor = 1 / sums.total;
        eachVec(vocabulary, [&](int at, int lanes) { storeUpTo(row + at, loadUpTo(row + at, lanes) * factor, lanes); });
      }
    });
  }
}

namespace {

// dLogits [V] of one row, from its probabilities p, which may lie in the same memory:
//   (dlogp·(onehot − p) − dentropy·p·(log p + H)) / temperature
void dLogitsOfKept(const float *p, float dlogp, int target, int vocabulary, float *dLogits) {
  eachVec(vocabulary, [&](int at, int lanes) { storeUpTo(dLogits + at, loadUpTo(p + at, lanes) * -dlogp, lanes); });
  dLogits[target] += dlogp;
}

// The same from logits, which it overwrites.
void dLogitsOfLogits(float *row, float dlogp, float dentropy, float entropy, int target, int vocabulary) {
  const float lse = logSumExp(row, vocabulary);
  eachVec(vocabulary, [&](int at, int lanes) {
    const Vec x = loadUpTo(row + at, lanes);
    const Vec p = exp(x - lse);
    Vec dLogit = p * -dlogp;
    if (dentropy != 0) dLogit -= p * (x - lse + entropy) * dentropy;
    storeUpTo(row + at, dLogit, lanes);
  });
  row[target] += dlogp;
}

}  // namespace

// dlogp [N], dentropy [N] (none: 0), hidden [N, D], weight [V, D], targets [N], entropy [N], probs [N, V] where they were
// kept → dHidden [N, D], dWeight [V, D], each where it is given. Kept probabilities serve where dentropy is none.
void logSoftmaxGrad(const Call<args::logSoftmaxGrad> &call) {
  const Head head = headOf(call);
  const int n = head.n, width = head.width, vocabulary = head.vocabulary;
  const float *const dlogp = call.floats(call.dlogp, {n}), *const entropy = call.floats(call.entropy, {n});
  const float *const dentropy = call.has(call.dentropy) ? call.floats(call.dentropy, {n}) : nullptr;
  const bool kept = dentropy == nullptr && call.isShape(call.probs, {n, vocabulary});
  const float *const probs = kept ? call.floats(call.probs) : nullptr;
  float *const dHidden = call.has(call.dHidden) ? call.floats(call.dHidden, {n, width}) : nullptr;
  float *const dWeight = call.has(call.dWeight) ? call.floats(call.dWeight, {vocabulary, width}) : nullptr;
  if (n == 0 && dWeight != nullptr) std::fill_n(dWeight, static_cast<int64_t>(vocabulary) * width, 0.0f);
  const int chunk = std::min(n, chunkRowsOf(call));
  const auto dLogits = allocate(chunk, vocabulary);
  for (int first = 0; first < n; first += std::min(chunk, n - first)) {
    const int rows = std::min(chunk, n - first);
    if (!kept) head.logits(first, rows, dLogits.get());
    eachRange(rows, vocabulary, [&](int from, int end) {
      for (int i = from; i < end; i++) {
        float *const row = dLogits.get() + static_cast<int64_t>(i) * vocabulary;
        const int token = first + i, target = head.targets[token];
        const float scaled = dlogp[token] / head.temperature;
        if (kept) {
          dLogitsOfKept(probs + static_cast<int64_t>(token) * vocabulary, scaled, target, vocabulary, row);
        } else {
          const float scaledEntropy = dentropy != nullptr ? dentropy[token] / head.temperature : 0;
          dLogitsOfLogits(row, scaled, scaledEntropy, entropy[token], target, vocabulary);
        }
      }
    });
    if (dHidden != nullptr) {
      Product p{rows, width, vocabulary, dLogits.get(), vocabulary, 1, head.weight, width, 1,
                dHidden + static_cast<int64_t>(first) * width, width};
      p.bHalf = head.half;
      multiply(p);
    }
    if (dWeight != nullptr) {
      Product p{vocabulary, width, rows, dLogits.get(), 1, vocabulary, head.hidden + static_cast<int64_t>(first) * width,
                width, 1, dWeight, width};
      p.accumulate = first > 0;
      multiply(p);
    }
  }
}

namespace {

constexpr int kBlock = 64;

// Where the running sum of weights exceeds `threshold`; never a token that weighs nothing.
int search(const float *weights, int width, const double *sums, double threshold) {
  double before = 0, beforeChosen = 0;
  int chosen = 0;
  for (int first = 0; first < width; first += kBlock) {
    const double sum = sums[first / kBlock];
    if (sum > 0) {
      chosen = first;
      beforeChosen = before;
    }
    before += sum;
    if (before > threshold) break;
  }
  int last = chosen;
  for (int id = chosen; id < std::min(width, chosen + kBlock); id++) {
    if (weights[id] <= 0) continue;
    last = id;
    beforeChosen += weights[id];
    if (beforeChosen > threshold) break;
  }
  return last;
}

}  // namespace

// logits [B, V], uniforms [B] → ids int32 [B], logps [B]; temperature 0 takes the first maximum.
void sample(const Call<args::sample> &call) {
  const Matrix size = call.matrix(call.logits);
  const int width = size.columns;
  const float *const allLogits = call.floats(call.logits), *const uniforms = call.floats(call.uniforms, {size.rows});
  int32_t *const ids = call.ints(call.ids, {size.rows});
  float *const logps = call.floats(call.logps, {size.rows});
  const float temperature = call.number(call.temperature);
  if (!(temperature >= 0)) call.reject(call.temperature, "to be at least 0", std::to_string(temperature));
  if (width == 0) call.reject(call.logits, "to have a column", "none");
  eachRange(size.rows, width, [&](int first, int end) {
    float *const weights = scratch(2, width);
    std::vector<double> sums((static_cast<int64_t>(width) + kBlock - 1) / kBlock);
    for (int row = first; row < end; row++) {
      const float *const logits = allLogits + static_cast<int64_t>(row) * width;
      const float factor = temperature == 0 ? 1 : 1 / temperature;
      eachVec(width, [&](int at, int lanes) { storeUpTo(weights + at, loadUpTo(logits + at, lanes) * factor, lanes); });
      const Row total = exponentiate(weights, width);
      int id = 0;
      if (temperature == 0) {
        id = static_cast<int>(std::max_element(logits, logits + width) - logits);
      } else {
        double all = 0;
        for (int from = 0; from < width; from += kBlock) {
          Vec sum{};
          eachVec(std::min(kBlock, width - from), [&](int at, int lanes) { sum += loadUpTo(weights + from + at, lanes); });
          all += sums[from / kBlock] = sumLanes(sum);
        }
        id = search(weights, width, sums.data(), uniforms[row] * all);
      }
      ids[row] = id;
      logps[row] = logits[id] * factor - total.largest - std::log(total.total);
    }
  });
}

}  // namespace braid
