// A causal convolution of each channel by itself, f(bias + Σ_j weight_j x_j) over a token and the T − 1 before it, where f
// is SiLU or nothing. N tokens, D channels, T taps, the last one for the token itself.
#include <algorithm>
#include <vector>

#include "kernels.h"
#include "rows.h"
#include "simd.h"

namespace braid {
namespace {

constexpr int kMaxTaps = 16;
// Channels of a tile.
constexpr int kChannels = 64;

// Taps and channels of a weight [D, 1, T].
template <class Args>
Matrix weightOf(const Call<Args> &call, int width) {
  const int64_t taps = call.size(call.weight, 2);
  if (taps < 1 || taps > kMaxTaps)
    call.reject(call.weight, "to have 1 to " + std::to_string(kMaxTaps) + " taps", std::to_string(taps));
  call.floats(call.weight, {width, 1, taps});
  return {static_cast<int>(taps), width};
}

// The weight by tap, [T, D].
template <class Args>
std::vector<float> byTap(const Call<Args> &call, Matrix size) {
  const float *const weight = call.floats(call.weight);
  std::vector<float> lines(static_cast<size_t>(size.rows) * size.columns);
  for (int c = 0; c < size.columns; c++)
    for (int j = 0; j < size.rows; j++) lines[static_cast<size_t>(j) * size.columns + c] = weight[c * size.rows + j];
  return lines;
}

Vec sigmoid(Vec x) { return 1.0f / (1.0f + exp(-x)); }

// A token's sums, of which each tap reads a line of `lines`; null: zeros.
Vec sumTaps(const float *weights, const float *bias, const float *const *lines, int taps, int width, int at, int lanes) {
  Vec sum = loadUpTo(bias + at, lanes);
  for (int j = 0; j < taps; j++)
    if (lines[j] != nullptr)
      sum += loadUpTo(weights + static_cast<int64_t>(j) * width + at, lanes) * loadUpTo(lines[j] + at, lanes);
  return sum;
}

void convolveToken(const float *weights, const float *bias, const float *const *lines, Matrix size, bool silu, float *out) {
  eachVec(size.columns, [&](int at, int lanes) {
    const Vec sum = sumTaps(weights, bias, lines, size.rows, size.columns, at, lanes);
    storeUpTo(out + at, silu ? sum * sigmoid(sum) : sum, lanes);
  });
}

}  // namespace

// x [N, D], weight [D, 1, T], bias [D], rows int32 [N, T-1] (of each earlier tap the line of x, from N on of `before`; -1:
// zeros), before [R, D] or none → out [N, D].
void convolution(const Call<args::convolution> &call) {
  const auto [n, width] = call.matrix(call.x);
  const Matrix size = weightOf(call, width);
  const int earlier = size.rows - 1, more = call.has(call.before) ? call.matrix(call.before).rows : 0;
  const float *const x = call.floats(call.x), *const bias = call.floats(call.bias, {width});
  const float *const before = more > 0 ? call.floats(call.before, {more, width}) : nullptr;
  const int32_t *const rows = call.intsIn(call.rows, {n, earlier}, -1, static_cast<int64_t>(n) + more);
  float *const out = call.floats(call.out, {n, width});
  const bool silu = call.flag(call.silu);
  const std::vector<float> weights = byTap(call, size);
  eachRange(n, 4 * width, [&, n = n, width = width](int first, int end) {
    for (int token = first; token < end; token++) {
      const float *lines[kMaxTaps];
      for (int j = 0; j < earlier; j++) {
        const int64_t row = rows[static_cast<int64_t>(token) * earlier + j];
        lines[j] = row < 0 ? nullptr : row < n ? x + row * width : before + (row - n) * width;
      }
      lines[earlier] = x + static_cast<int64_t>(token) * width;
      convolveToken(weights.data(), bias, lines, size, silu, out + static_cast<int64_t>(token) * width);
    }
  });
}

// x [B, D], weight [D, 1, T], bias [D], states [B, (T-1)·D], which move on → out [B, D]. A tile takes some channels of all
// rows.
void convolutionStep(const Call<args::convolutionStep> &call) {
  const Matrix all = call.matrix(call.x);
  const int n = all.rows, width = all.columns;
  const int taps = weightOf(call, width).rows, earlier = taps - 1;
  const int64_t stateWidth = static_cast<int64_t>(earlier) * width;
  const float *const x = call.floats(call.x), *const bias = call.floats(call.bias, {width});
  const float *const weight = call.floats(call.weight);
  float *const states = call.floats(call.states, {n, stateWidth}), *const out = call.floats(call.out, {n, width});
  const bool silu = call.flag(call.silu);
  const auto work = [=](int tile) {
    const int first = tile * kChannels, count = std::min(kChannels, width - first);
    float weights[kMaxTaps * kChannels];
    for (int c = 0; c < count; c++)
      for (int j = 0; j < taps; j++) weights[j * count + c] = weight[static_cast<int64_t>(first + c) * taps + j];
    for (int64_t row = 0; row < n; row++) {
      float *const state = states + row * stateWidth + first;
      const float *lines[kMaxTaps];
      for (int j = 0; j < earlier; j++) lines[j] = state + static_cast<int64_t>(j) * width;
      lines[earlier] = x + row * width + first;
      convolveToken(weights, bias + first, lines, {taps, count}, silu, out + row * width + first);
      for (int j = 0; j < earlier; j++) std::copy_n(lines[j + 1], count, state + static_cast<int64_t>(j) * width);
    }
  };
  const int tiles = (width + kChannels - 1) / kChannels;
  if (static_cast<int64_t>(n) * width > kTileNumbers) return Pool::get().run(tiles, work);
  for (int tile = 0; tile < tiles; tile++) work(tile);
}

// dy, x [N, D], weight [D, 1, T], bias [D], rows int32 [N, T-1] → dx [N, D], dWeight [D, 1, T], dBias [D]. A tile takes some
// channels of all tokens.
void convolutionGrad(const Call<args::convolutionGrad> &call) {
  const Matrix all = call.matrix(call.x);
  const int n = all.rows, width = all.columns;
  const Matrix size = weightOf(call, width);
  const int taps = size.rows, earlier = taps - 1;
  const float *const x = call.floats(call.x), *const dy = call.floats(call.dy, {n, width});
  const float *const bias = call.floats(call.bias, {width});
  const int32_t *const rows = call.intsIn(call.rows, {n, earlier}, -1, n);
  float *const dx = call.floats(call.dx, {n, width}), *const dWeight = call.floats(call.dWeight, {width, 1, taps});
  float *const dBias = call.floats(call.dBias, {width});
  const bool silu = call.flag(call.silu);
  const std::vector<float> weights = byTap(call, size);
  Pool::get().run((width + kChannels - 1) / kChannels, [&](int tile) {
    const int first = tile * kChannels, count = std::min(kChannels, width - first);
    // Of the taps, then of the bias.
    float sums[(kMaxTaps + 1) * kChannels] = {};
    for (int token = 0; token < n; token++) std::fill_n(dx + static_cast<int64_t>(token) * width + first, count, 0.0f);
    for (int token = 0; token < n; token++) {
      int64_t places[kMaxTaps];
      const float *lines[kMaxTaps];
      for (int j = 0; j < taps; j++) {
        const int64_t row = j == earlier ? token : rows[static_cast<int64_t>(token) * earlier + j];
        places[j] = row * width;
        lines[j] = row < 0 ? nullptr : x + places[j];
      }
      eachVec(count, [&](int offset, int lanes) {
        const int at = first + offset;
        Vec d = loadUpTo(dy + static_cast<int64_t>(token) * width + at, lanes);
        if (silu) {
          const Vec sum = sumTaps(weights.data(), bias, lines, taps, width, at, lanes), gate = sigmoid(sum);
          d *= gate * (1.0f + sum * (1.0f - gate));
        }
        for (int j = 0; j < taps; j++) {
          if (lines[j] == nullptr) continue;
          float *const dTap = sums + j * kChannels + offset, *const to = dx + places[j] + at;
          storeUpTo(dTap, loadUpTo(dTap, lanes) + d * loadUpTo(lines[j] + at, lanes), lanes);
          storeUpTo(to, loadUpTo(to, lanes) + d * loadUpTo(weights.data() + static_cast<int64_t>(j) * width + at, lanes), lanes);
        }
        float *const total = sums + kMaxTaps * kChannels + offset;
        storeUpTo(total, loadUpTo(total, lanes) + d, lanes);
      });
    }
    for (int c = 0; c < count; c++) {
      for (int j = 0; j < taps; j++) dWeight[static_cast<int64_t>(first + c) * taps + j] = sums[j * kChannels + c];
      dBias[first + c] = sums[kMaxTaps * kChannels + c];
    }
  });
}

}  // namespace braid
