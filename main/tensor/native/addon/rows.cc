// Kernels that work row by row: norm, rotary embedding, gated unit, gather and scatter.
#include "rows.h"

#include <vector>

#include "kernels.h"
#include "simd.h"

namespace braid {

// out = a + b.
void add(const Call<args::add> &call) {
  const float *const a = call.floats(call.a), *const b = call.floatsLike(call.b, call.a);
  float *const out = call.floatsLike(call.out, call.a);
  eachRange(call.count(call.a), 1, [=](int first, int end) {
    eachVec(end - first, [&](int at, int lanes) {
      at += first;
      storeUpTo(out + at, loadUpTo(a + at, lanes) + loadUpTo(b + at, lanes), lanes);
    });
  });
}

void copy(const Call<args::copy> &call) {
  const float *const from = call.floats(call.from);
  std::copy_n(from, call.count(call.from), call.floatsLike(call.to, call.from));
}

static float inverseRms(const float *x, int width, float eps) { return 1 / std::sqrt(dot(x, x, width) / width + eps); }

// x [N, D], weight [D] → out [N, D] = x / rms(x) · weight.
void rmsNorm(const Call<args::rmsNorm> &call) {
  const auto [n, width] = call.matrix(call.x);
  const float *const allX = call.floats(call.x), *const weight = call.floats(call.weight, {width});
  float *const out = call.floats(call.out, {n, width});
  const float eps = call.number(call.eps);
  eachRange(n, width, [=, width = width](int first, int end) {
    for (int row = first; row < end; row++) {
      const float *const x = allX + static_cast<int64_t>(row) * width;
      float *const y = out + static_cast<int64_t>(row) * width;
      const float inverse = inverseRms(x, width, eps);
      eachVec(width, [&](int at, int lanes) {
        storeUpTo(y + at, loadUpTo(x + at, lanes) * inverse * loadUpTo(weight + at, lanes), lanes);
      });
    }
  });
}

// dy, x [N, D], weight [D] → dx [N, D].
void rmsNormGradX(const Call<args::rmsNormGradX> &call) {
  const auto [n, width] = call.matrix(call.x);
  const float *const allDy = call.floats(call.dy, {n, width}), *const allX = call.floats(call.x);
  const float *const weight = call.floats(call.weight, {width});
  float *const allDx = call.floats(call.dx, {n, width});
  const float eps = call.number(call.eps);
  eachRange(n, width, [=, width = width](int first, int end) {
    for (int row = first; row < end; row++) {
      const int64_t start = static_cast<int64_t>(row) * width;
      const float *const dy = allDy + start, *const x = allX + start;
      float *const dx = allDx + start;
      const float inverse = inverseRms(x, width, eps);
      Vec sums{};
      eachVec(width, [&](int at, int lanes) {
        sums += loadUpTo(dy + at, lanes) * loadUpTo(weight + at, lanes) * loadUpTo(x + at, lanes);
      });
      const float projected = sumLanes(sums) / width * inverse * inverse;
      eachVec(width, [&](int at, int lanes) {
        const Vec g = loadUpTo(dy + at, lanes) * loadUpTo(weight + at, lanes);
        storeUpTo(dx + at, (g - loadUpTo(x + at, lanes) * projected) * inverse, lanes);
      });
    }
  });
}

// dy, x [N, D] → dWeight [D]. Sums of rows in parts that don't depend on the number of threads.
void rmsNormGradWeight(const Call<args::rmsNormGradWeight> &call) {
  const Matrix size = call.matrix(call.x);
  const int rows = size.rows, width = size.columns;
  const float *const allDy = call.floats(call.dy, {rows, width}), *const allX = call.floats(call.x);
  float *const dWeight = call.floats(call.dWeight, {width});
  const float eps = call.number(call.eps);
  constexpr int kPart = 64;
  const int parts = rows / kPart + (rows % kPart > 0 ? 1 : 0);
  std::vector<float> sums(static_cast<size_t>(parts) * width);
  Pool::get().run(parts, [&](int part) {
    float *const sum = sums.data() + static_cast<int64_t>(part) * width;
    const int first = part * kPart, end = first + std::min(kPart, rows - first);
    for (int row = first; row < end; row++) {
      const int64_t start = static_cast<int64_t>(row) * width;
      const float *const dy = allDy + start, *const x = allX + start;
      const float inverse = inverseRms(x, width, eps);
      eachVec(width, [&](int at, int lanes) {
        storeUpTo(sum + at, loadUpTo(sum + at, lanes) + loadUpTo(dy + at, lanes) * loadUpTo(x + at, lanes) * inverse, lanes);
      });
    }
  });
  std::fill(dWeight, dWeight + width, 0.0f);
  for (int part = 0; part < parts; part++)
    for (int i = 0; i < width; i++) dWeight[i] += sums[static_cast<int64_t>(part) * width + i];
}

// x [N, D], weight, bias [D] → out [N, D] = (x − mean) / deviation · weight + bias.
void layerNorm(const Call<args::layerNorm> &call) {
  const auto [n, width] = call.matrix(call.x);
  const float *const allX = call.floats(call.x), *const weight = call.floats(call.weight, {width});
  const float *const bias = call.floats(call.bias, {width});
  float *const out = call.floats(call.out, {n, width});
  const float eps = call.number(call.eps);
  eachRange(n, width, [=, width = width](int first, int end) {
    for (int row = first; row < end; row++) {
      const float *const x = allX + static_cast<int64_t>(row) * width;
      float *const y = out + static_cast<int64_t>(row) * width;
      Vec sums{};
      eachVec(width, [&](int at, int lanes) { sums += loadUpTo(x + at, lanes); });
      const float mean = sumLanes(sums) / width;
      Vec squares{};
      eachVec(width, [&](int at, int lanes) {
        const Vec from = loadUpTo(x + at, lanes, mean) - mean;
        squares += from * from;
      });
      const float inverse = 1 / std::sqrt(sumLanes(squares) / width + eps);
      eachVec(width, [&](int at, int lanes) {
        const Vec normed = (loadUpTo(x + at, lanes) - mean) * inverse;
        storeUpTo(y + at, normed * loadUpTo(weight + at, lanes) + loadUpTo(bias + at, lanes), lanes);
      });
    }
  });
}

// erf within 1e-7, as a quotient of polynomials (as in Eigen); beyond ±4 it is ±1.
static Vec erf(Vec x) {
  const Vec low = splat(-4.0f), high = splat(4.0f);
  const Vec z = x < low ? low : (x > high ? high : x), s = z * z;
  Vec p = s * -2.72614225801306e-10f + 2.77068142495902e-8f;
  p = p * s - 2.10102402082508e-6f;
  p = p * s - 5.69250639462346e-5f;
  p = p * s - 7.3499063032685e-4f;
  p = p * s - 2.954599803854025e-3f;
  p = p * s - 1.60960333262415e-2f;
  Vec q = s * -1.45660718464996e-5f - 2.13374055278905e-4f;
  q = q * s - 1.68282697438203e-3f;
  q = q * s - 7.37332916720468e-3f;
  q = q * s - 1.42647390514189e-2f;
  return z * p / q;
}

// out = x/2 · (1 + erf(x/√2)).
void gelu(const Call<args::gelu> &call) {
  const float *const x = call.floats(call.x);
  float *const out = call.floatsLike(call.out, call.x);
  eachRange(call.count(call.x), 1, [=](int first, int end) {
    eachVec(end - first, [&](int at, int lanes) {
      const Vec value = loadUpTo(x + first + at, lanes);
      storeUpTo(out + first + at, value * 0.5f * (1.0f + erf(value * 0.70710678f)), lanes);
    });
  });
}

// x [N, h*d], positions [N], cos, sin [P, r/2] → out [N, h*d], of each head the first r dimensions rotated; back where it is
// inverse.
void rope(const Call<args::rope> &call) {
  const auto [n, width] = call.matrix(call.x);
  const auto [tableRows, half] = call.matrix(call.cos);
  const int headDim = call.whole(call.headDim, 2, std::max(2, width));
  if (half > headDim / 2 || width % headDim != 0)
    call.reject(call.headDim, "to divide " + std::to_string(width) + " and to be at least twice " + std::to_string(half),
                std::to_string(headDim));
  const float *const allX = call.floats(call.x);
  const int32_t *const positions = call.intsIn(call.positions, {n}, 0, tableRows);
  const float *const allCos = call.floats(call.cos, {tableRows, half}), *const allSin = call.floats(call.sin, {tableRows, half});
  float *const out = call.floats(call.out, {n, width});
  const float direction = call.flag(call.inverse) ? -1 : 1;
  eachRange(n, width, [=, width = width, half = half](int first, int end) {
    for (int row = first; row < end; row++) {
      const int64_t angle = static_cast<int64_t>(positions[row]) * half;
      const float *const cos = allCos + angle, *const sin = allSin + angle;
      for (int head = 0; head < width; head += headDim) {
        const float *const x = allX + static_cast<int64_t>(row) * width + head;
        float *const y = out + static_cast<int64_t>(row) * width + head;
        eachVec(half, [&](int at, int lanes) {
          const Vec c = loadUpTo(cos + at, lanes), s = loadUpTo(sin + at, lanes) * direction;
          const Vec a = loadUpTo(x + at, lanes), b = loadUpTo(x + half + at, lanes);
          storeUpTo(y + at, a * c - b * s, lanes);
          storeUpTo(y + half + at, b * c + a * s, lanes);
        });
        if (x != y) std::copy(x + 2 * half, x + headDim, y + 2 * half);
      }
    }
  });
}

// out = silu(gate) · up.
void swiglu(const Call<args::swiglu> &call) {
  const float *const allGate = call.floats(call.gate), *const up = call.floatsLike(call.up, call.gate);
  float *const out = call.floatsLike(call.out, call.gate);
  eachRange(call.count(call.gate), 4, [=](int first, int end) {
    eachVec(end - first, [&](int at, int lanes) {
      at += first;
      const Vec gate = loadUpTo(allGate + at, lanes);
      storeUpTo(out + at, gate / (1.0f + exp(-gate)) * loadUpTo(up + at, lanes), lanes);
    });
  });
}

// dy, gate, up → dGate, dUp.
void swigluGrad(const Call<args::swigluGrad> &call) {
  const float *const allDy = call.floatsLike(call.dy, call.gate), *const allGate = call.floats(call.gate);
  const float *const up = call.floatsLike(call.up, call.gate);
  float *const dGate = call.floatsLike(call.dGate, call.gate), *const dUp = call.floatsLike(call.dUp, call.gate);
  eachRange(call.count(call.gate), 4, [=](int first, int end) {
    eachVec(end - first, [&](int at, int lanes) {
      at += first;
      const Vec dy = loadUpTo(allDy + at, lanes), gate = loadUpTo(allGate + at, lanes);
      const Vec sigmoid = 1.0f / (1.0f + exp(-gate));
      const Vec silu = gate * sigmoid;
      const Vec dSilu = sigmoid * (1.0f + gate * (1.0f - sigmoid));
      storeUpTo(dGate + at, dy * loadUpTo(up + at, lanes) * dSilu, lanes);
      storeUpTo(dUp + at, dy * silu, lanes);
    });
  });
}

// Columns of a from aFirst on, whose lines begin aLine numbers after one another; the same of b, or none → out, lines of
// `width`: a, a · b, or σ(a) · b.
void columns(const Call<args::columns> &call) {
  constexpr int kMost = 1 << 30;
  const int count = call.count(call.out), width = call.whole(call.width, 1, kMost);
  if (count % width != 0) call.reject(call.width, "to divide " + std::to_string(count), std::to_string(width));
  const int rows = count / width;
  const auto part = [&](auto tensor, auto line, auto first) -> const float * {
    const int64_t end = call.whole(first, 0, kMost) + std::max(0, rows - 1) * static_cast<int64_t>(call.whole(line, 0, kMost)) + width;
    if (rows > 0 && end > call.count(tensor))
      call.reject(tensor, "to have " + std::to_string(end) + " numbers", std::to_string(call.count(tensor)));
    return call.floats(tensor) + call.whole(first, 0, kMost);
  };
  const float *const a = part(call.a, call.aLine, call.aFirst);
  const float *const b = call.has(call.b) ? part(call.b, call.bLine, call.bFirst) : nullptr;
  const int64_t aLine = call.whole(call.aLine, 0, kMost), bLine = call.whole(call.bLine, 0, kMost);
  float *const out = call.floats(call.out);
  const bool gate = call.flag(call.gate);
  eachRange(rows, width, [=](int first, int end) {
    for (int64_t row = first; row < end; row++) {
      const float *const x = a + row * aLine, *const y = b == nullptr ? nullptr : b + row * bLine;
      float *const to = out + row * width;
      if (y == nullptr) std::copy_n(x, width, to);
      else
        eachVec(width, [&](int at, int lanes) {
          const Vec factor = loadUpTo(x + at, lanes);
          storeUpTo(to + at, (gate ? 1.0f / (1.0f + exp(-factor)) : factor) * loadUpTo(y + at, lanes), lanes);
        });
    }
  });
}

template <class Number>
static void gatherFrom(const Number *x, const int32_t *indices, int n, int width, float *out) {
  eachRange(n, width, [=](int first, int end) {
    for (int row = first; row < end; row++) {
      float *const to = out + static_cast<int64_t>(row) * width;
      if (indices[row] < 0) {
        std::fill(to, to + width, 0.0f);
        continue;
      }
      const Number *const from = x + static_cast<int64_t>(indices[row]) * width;
      for (int i = 0; i < width; i++) to[i] = numberAt(from, i);
    }
  });
}

// x [R, D], indices [N] → out [N, D]: rows of x, zeros for -1.
void gatherRows(const Call<args::gatherRows> &call) {
  const auto [rows, width] = call.matrix(call.x);
  const int n = call.matrix(call.out).rows;
  const void *const x = call.floatsOrHalves(call.x, {rows, width});
  const int32_t *const indices = call.intsIn(call.indices, {n}, -1, rows);
  float *const out = call.floats(call.out, {n, width});
  if (call.isHalf(call.x)) gatherFrom(static_cast<const uint16_t *>(x), indices, n, width, out);
  else gatherFrom(static_cast<const float *>(x), indices, n, width, out);
}

// dy [N, D], indices [N] → out [R, D]: sums of the rows of dy by index, those with -1 left out. A tile takes some
// columns, so that no two write the same place.
void scatterAddRows(const Call<args::scatterAddRows> &call) {
  const Matrix size = call.matrix(call.dy);
  const int n = size.rows, width = size.columns, rows = call.matrix(call.out).rows;
  const float *const dy = call.floats(call.dy);
  const int32_t *const indices = call.intsIn(call.indices, {n}, -1, rows);
  float *const out = call.floats(call.out, {rows, width});
  constexpr int kColumns = 64;
  Pool::get().run(width / kColumns + (width % kColumns > 0 ? 1 : 0), [&](int tile) {
    const int first = tile * kColumns, count = std::min(kColumns, width - first);
    float *const sums = out + first;
    for (int row = 0; row < rows; row++) std::fill_n(sums + static_cast<int64_t>(row) * width, count, 0.0f);
    for (int row = 0; row < n; row++) {
      if (indices[row] < 0) continue;
      const float *const from = dy + static_cast<int64_t>(row) * width + first;
      float *const to = sums + static_cast<int64_t>(indices[row]) * width;
      eachVec(count, [&](int at, int lanes) {
        storeUpTo(to + at, loadUpTo(to + at, lanes) + loadUpTo(from + at, lanes), lanes);
      });
    }
  });
}

}  // namespace braid
