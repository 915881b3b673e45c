// Kernels over the vocabulary: log-probabilities of given tokens, their gradient, and drawing tokens.
#include <algorithm>
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
    const Vec weight = exp(loadUpTo(row + at, lanes, -INFINITY) - largest);
    sums += weight;
    storeUpTo(row + at, weight, lanes);
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

Product logitsOf(const float *hidden, const void *weight, bool half, float *logits, int rows, int width, int vocabulary,
                 float temperature) {
  Product p{rows, vocabulary, width, hidden, width, 1, weight, 1, width, logits, vocabulary};
  p.alpha = 1 / temperature;
  p.bHalf = half;
  return p;
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

}  // namespace

// hidden [N, D], weight [V, D], targets [N] → logps [N], entropies [N], p [N, V] where it is kept; N, D, V, temperature,
// rows at a time, whether p is kept, whether the weight is bfloat16.
void logSoftmax(const Call &call) {
  const int n = call.integer(0), width = call.integer(1), vocabulary = call.integer(2), most = call.integer(4);
  const bool kept = call.integer(5) != 0;
  std::vector<float> own(kept ? 0 : static_cast<size_t>(std::min(n, most)) * vocabulary);
  for (int first = 0; first < n; first += most) {
    const int rows = std::min(most, n - first);
    float *const logits = kept ? call.floats(5) + static_cast<int64_t>(first) * vocabulary : own.data();
    multiply(logitsOf(call.floats(0) + static_cast<int64_t>(first) * width, call.tensors[1], call.integer(6) != 0, logits,
                      rows, width, vocabulary, call.number(3)));
    eachRange(rows, vocabulary, [&](int from, int end) {
      float *const copy = scratch(2, vocabulary);
      for (int i = from; i < end; i++) {
        float *const row = logits + static_cast<int64_t>(i) * vocabulary;
        const float target = row[call.ints(2)[first + i]];
        std::memcpy(copy, row, vocabulary * sizeof(float));
        const Row sums = exponentiate(row, vocabulary);
        call.floats(3)[first + i] = target - (sums.largest + std::log(sums.total));
        call.floats(4)[first + i] = -negativeEntropy(row, copy, vocabulary, sums);
        if (!kept) continue;
        const float factor = 1 / sums.total;
        eachVec(vocabulary, [&](int at, int lanes) { storeUpTo(row + at, loadUpTo(row + at, lanes) * factor, lanes); });
      }
    });
  }
}

// dlogp, dentropy [N], hidden [N, D], weight [V, D], targets, entropies [N], p [N, V] where it was kept (overwritten),
// dhidden [N, D], dweight [V, D]; N, D, V, temperature, rows at a time, whether p was kept, whether the weight is
// bfloat16, whether each gradient is asked for, and whether dentropy is other than 0 (then p must not be kept).
//   dlogit = (dlogp·(onehot − p) − dentropy·p·(log p + H)) / temperature
void logSoftmaxGrad(const Call &call) {
  const int n = call.integer(0), width = call.integer(1), vocabulary = call.integer(2), most = call.integer(4);
  const float temperature = call.number(3);
  const bool kept = call.integer(5) != 0, half = call.integer(6) != 0, withEntropy = call.integer(9) != 0;
  std::vector<float> own(kept ? 0 : static_cast<size_t>(std::min(n, most)) * vocabulary);
  for (int first = 0; first < n; first += most) {
    const int rows = std::min(most, n - first);
    const float *const hidden = call.floats(2) + static_cast<int64_t>(first) * width;
    float *const slopes = kept ? call.floats(6) + static_cast<int64_t>(first) * vocabulary : own.data();
    if (!kept) multiply(logitsOf(hidden, call.tensors[3], half, slopes, rows, width, vocabulary, temperature));
    eachRange(rows, vocabulary, [&](int from, int end) {
      for (int i = from; i < end; i++) {
        float *const row = slopes + static_cast<int64_t>(i) * vocabulary;
        const float lse = kept ? 0 : logSumExp(row, vocabulary), entropy = call.floats(5)[first + i];
        const float dlogp = call.floats(0)[first + i] / temperature;
        const float dentropy = withEntropy ? call.floats(1)[first + i] / temperature : 0;
        eachVec(vocabulary, [&](int at, int lanes) {
          const Vec x = loadUpTo(row + at, lanes);
          const Vec p = kept ? x : exp(x - lse);
          Vec slope = p * -dlogp;
          if (withEntropy) slope -= p * (x - lse + entropy) * dentropy;
          storeUpTo(row + at, slope, lanes);
        });
        row[call.ints(4)[first + i]] += dlogp;
      }
    });
    if (call.integer(7) != 0) {
      Product p{rows, width, vocabulary, slopes, vocabulary, 1, call.tensors[3], width, 1,
                call.floats(7) + static_cast<int64_t>(first) * width, width};
      p.bHalf = half;
      multiply(p);
    }
    if (call.integer(8) != 0) {
      Product p{vocabulary, width, rows, slopes, 1, vocabulary, hidden, width, 1, call.floats(8), width};
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

// logits [B, V], uniforms [B] → ids [B], logps [B]; B, V, temperature (0: the first maximum).
void sample(const Call &call) {
  const int width = call.integer(1);
  const float temperature = call.number(2);
  eachRange(call.integer(0), width, [&](int first, int end) {
    float *const weights = scratch(2, width);
    std::vector<double> sums((width + kBlock - 1) / kBlock);
    for (int row = first; row < end; row++) {
      const float *const logits = call.floats(0) + static_cast<int64_t>(row) * width;
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
        id = search(weights, width, sums.data(), call.floats(1)[row] * all);
      }
      call.intsOut(2)[row] = id;
      call.floats(3)[row] = logits[id] * factor - total.largest - std::log(total.total);
    }
  });
}

}  // namespace braid
