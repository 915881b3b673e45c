// Kernels over the vocabulary: log-probabilities of given tokens, their gradient, and drawing tokens.
#include <algorithm>
#include <vector>

#include "gemm.h"
#include "kernels.h"
#include "memory.h"
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
  const float most = largest(row, width);
  Vec sums{};
  eachVec(width, [&](int at, int lanes) {
    const Vec power = exp(loadUpTo(row + at, lanes, -INFINITY) - most);
    sums += power;
    storeUpTo(row + at, power, lanes);
  });
  return {most, sumLanes(sums)};
}

float logSumExp(const float *row, int width) {
  const float most = largest(row, width);
  Vec sums{};
  eachVec(width, [&](int at, int lanes) { sums += exp(loadUpTo(row + at, lanes, -INFINITY) - most); });
  return most + std::log(sumLanes(sums));
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
Floats allocate(int rows, int width) { return takeFloats(static_cast<size_t>(rows) * width); }

// A linear layer over the vocabulary: hidden [N, D], weight [V, D], and the target token of each row [N].
struct Head {
  int n, width, vocabulary;
  const float *hidden;
  const void *weight;
  bool half;
  const int32_t *targets;
  float temperature;
  // Whether products are of numbers that are rounded to bfloat16.
  bool rounds;

  // logits [rows, V] = hidden · weightᵀ / temperature of the rows from `first` on.
  void logits(int first, int rows, float *to) const {
    Product p{rows, vocabulary, width, hidden + static_cast<int64_t>(first) * width, width, 1, weight, 1, width, to,
              vocabulary};
    p.alpha = 1 / temperature;
    p.bHalf = half;
    p.rounds = rounds;
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
          temperature,
          call.flag(call.bfloat16)};
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

// Numbers of dLogits that are in memory at a time where probabilities were kept.
constexpr int kGradientsAtOnce = 1 << 22;

// What a gradient by dLogits goes into, each where it is wanted.
struct HeadGradients {
  float *dHidden, *dWeight;
};

// Adds a block of dLogits [rows, tokens], of the rows and the tokens from the given ones on, to both gradients. Blocks
// come by rows, then by tokens.
void addGradients(const Head &head, const HeadGradients &to, const float *dLogits, int firstRow, int rows, int firstToken,
                  int tokens) {
  const int width = head.width;
  const int64_t fromRow = static_cast<int64_t>(firstRow) * width, fromToken = static_cast<int64_t>(firstToken) * width;
  if (to.dHidden != nullptr) {
    const void *const weight = head.half ? static_cast<const void *>(static_cast<const uint16_t *>(head.weight) + fromToken)
                                         : static_cast<const float *>(head.weight) + fromToken;
    Product p{rows, width, tokens, dLogits, tokens, 1, weight, width, 1, to.dHidden + fromRow, width};
    p.bHalf = head.half;
    p.rounds = head.rounds;
    p.accumulate = firstToken > 0;
    multiply(p);
  }
  if (to.dWeight != nullptr) {
    Product p{tokens, width, rows, dLogits, 1, tokens, head.hidden + fromRow, width, 1, to.dWeight + fromToken, width};
    p.rounds = head.rounds;
    p.accumulate = firstRow > 0;
    multiply(p);
  }
}

// dLogits of one row from its logits, which it overwrites:
//   (dlogp·(onehot − p) − dentropy·p·(log p + H)) / temperature
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

// The gradients from kept probabilities [N, V], a block of tokens after the other: what a block overwrites is still near,
// while a matrix of all dLogits would be new memory, which the system clears first.
void gradientsOfKept(const Head &head, const HeadGradients &to, const float *probs, const float *dlogp) {
  const int vocabulary = head.vocabulary;
  // Whole parts of the products' inner dimension.
  const int most = std::min(vocabulary, kDepth * std::clamp(kGradientsAtOnce / head.n / kDepth, 1, 10));
  const auto memory = allocate(head.n, most);
  float *const dLogits = memory.get();
  for (int first = 0; first < vocabulary; first += most) {
    const int tokens = std::min(most, vocabulary - first);
    eachRange(head.n, tokens, [&](int from, int end) {
      for (int i = from; i < end; i++) {
        const float scaled = dlogp[i] / head.temperature;
        const float *const p = probs + static_cast<int64_t>(i) * vocabulary + first;
        float *const row = dLogits + static_cast<int64_t>(i) * tokens;
        eachVec(tokens, [&](int at, int lanes) { storeUpTo(row + at, loadUpTo(p + at, lanes) * -scaled, lanes); });
        const int target = head.targets[i] - first;
        if (target >= 0 && target < tokens) row[target] += scaled;
      }
    });
    addGradients(head, to, dLogits, 0, head.n, first, tokens);
  }
}

}  // namespace

// dlogp [N], dentropy [N] (none: 0), hidden [N, D], weight [V, D], targets [N], entropy [N], probs [N, V] where they were
// kept → dHidden [N, D], dWeight [V, D], each where it is given. Kept probabilities serve where dentropy is none.
void logSoftmaxGrad(const Call<args::logSoftmaxGrad> &call) {
  const Head head = headOf(call);
  const int n = head.n, width = head.width, vocabulary = head.vocabulary;
  const float *const dlogp = call.floats(call.dlogp, {n}), *const entropy = call.floats(call.entropy, {n});
  const float *const dentropy = call.has(call.dentropy) ? call.floats(call.dentropy, {n}) : nullptr;
  const HeadGradients to{call.has(call.dHidden) ? call.floats(call.dHidden, {n, width}) : nullptr,
                         call.has(call.dWeight) ? call.floats(call.dWeight, {vocabulary, width}) : nullptr};
  const int most = chunkRowsOf(call);
  if (n == 0 && to.dWeight != nullptr) std::fill_n(to.dWeight, static_cast<int64_t>(vocabulary) * width, 0.0f);
  if (n == 0) return;
  if (dentropy == nullptr && call.isShape(call.probs, {n, vocabulary}))
    return gradientsOfKept(head, to, call.floats(call.probs), dlogp);
  const int chunk = std::min(n, most);
  const auto memory = allocate(chunk, vocabulary);
  float *const dLogits = memory.get();
  for (int first = 0; first < n; first += std::min(chunk, n - first)) {
    const int rows = std::min(chunk, n - first);
    head.logits(first, rows, dLogits);
    eachRange(rows, vocabulary, [&](int from, int end) {
      for (int i = from; i < end; i++) {
        const int token = first + i;
        const float scaledEntropy = dentropy != nullptr ? dentropy[token] / head.temperature : 0;
        dLogitsOfLogits(dLogits + static_cast<int64_t>(i) * vocabulary, dlogp[token] / head.temperature, scaledEntropy,
                        entropy[token], head.targets[token], vocabulary);
      }
    });
    addGradients(head, to, dLogits, first, rows, 0, vocabulary);
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
