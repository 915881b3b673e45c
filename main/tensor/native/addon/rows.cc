// Kernels that work row by row: norm, rotary embedding, gated unit, gather and scatter.
#include "rows.h"

#include <vector>

#include "kernels.h"
#include "simd.h"

namespace braid {

// a, b → sum; count.
void add(const Call &call) {
  const float *const a = call.floats(0), *const b = call.floats(1);
  float *const sum = call.floats(2);
  eachRange(call.integer(0), 1, [=](int first, int end) {
    eachVec(end - first, [&](int at, int lanes) {
      at += first;
      storeUpTo(sum + at, loadUpTo(a + at, lanes) + loadUpTo(b + at, lanes), lanes);
    });
  });
}

// from → to; count.
void copy(const Call &call) { std::memcpy(call.floats(1), call.floats(0), call.numbers[0] * sizeof(float)); }

static float inverseRms(const float *x, int width, float eps) { return 1 / std::sqrt(dot(x, x, width) / width + eps); }

// x [N, D], weight [D] → x / rms(x) * weight; N, D, eps.
void rmsNorm(const Call &call) {
  const float *const weight = call.floats(1);
  const int width = call.integer(1);
  eachRange(call.integer(0), width, [&](int first, int end) {
    for (int row = first; row < end; row++) {
      const float *const x = call.floats(0) + static_cast<int64_t>(row) * width;
      float *const y = call.floats(2) + static_cast<int64_t>(row) * width;
      const float inverse = inverseRms(x, width, call.number(2));
      eachVec(width, [&](int at, int lanes) {
        storeUpTo(y + at, loadUpTo(x + at, lanes) * inverse * loadUpTo(weight + at, lanes), lanes);
      });
    }
  });
}

// dy, x [N, D], weight [D] → dx; N, D, eps.
void rmsNormGradX(const Call &call) {
  const float *const weight = call.floats(2);
  const int width = call.integer(1);
  eachRange(call.integer(0), width, [&](int first, int end) {
    for (int row = first; row < end; row++) {
      const int64_t start = static_cast<int64_t>(row) * width;
      const float *const dy = call.floats(0) + start, *const x = call.floats(1) + start;
      float *const dx = call.floats(3) + start;
      const float inverse = inverseRms(x, width, call.number(2));
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

// dy, x [N, D] → dweight [D]; N, D, eps. Sums of rows in parts that don't depend on the number of threads.
void rmsNormGradWeight(const Call &call) {
  const int rows = call.integer(0), width = call.integer(1);
  constexpr int kPart = 64;
  const int parts = (rows + kPart - 1) / kPart;
  std::vector<float> sums(static_cast<size_t>(parts) * width);
  Pool::get().run(parts, [&](int part) {
    float *const sum = sums.data() + static_cast<int64_t>(part) * width;
    for (int row = part * kPart; row < std::min(rows, (part + 1) * kPart); row++) {
      const int64_t start = static_cast<int64_t>(row) * width;
      const float *const dy = call.floats(0) + start, *const x = call.floats(1) + start;
      const float inverse = inverseRms(x, width, call.number(2));
      eachVec(width, [&](int at, int lanes) {
        storeUpTo(sum + at, loadUpTo(sum + at, lanes) + loadUpTo(dy + at, lanes) * loadUpTo(x + at, lanes) * inverse, lanes);
      });
    }
  });
  float *const out = call.floats(2);
  std::fill(out, out + width, 0.0f);
  for (int part = 0; part < parts; part++)
    for (int i = 0; i < width; i++) out[i] += sums[static_cast<int64_t>(part) * width + i];
}

// x [N, h*d], positions [N], cos, sin [P, d/2] → the rotation; N, h*d, d, direction (1, or -1 for back).
void rope(const Call &call) {
  const int width = call.integer(1), headDim = call.integer(2), half = headDim / 2;
  const float direction = call.number(3);
  eachRange(call.integer(0), width, [&](int first, int end) {
    for (int row = first; row < end; row++) {
      const int64_t angle = static_cast<int64_t>(call.ints(1)[row]) * half;
      const float *const cos = call.floats(2) + angle, *const sin = call.floats(3) + angle;
      for (int head = 0; head < width; head += headDim) {
        const float *const x = call.floats(0) + static_cast<int64_t>(row) * width + head;
        float *const y = call.floats(4) + static_cast<int64_t>(row) * width + head;
        eachVec(half, [&](int at, int lanes) {
          const Vec c = loadUpTo(cos + at, lanes), s = loadUpTo(sin + at, lanes) * direction;
          const Vec a = loadUpTo(x + at, lanes), b = loadUpTo(x + half + at, lanes);
          storeUpTo(y + at, a * c - b * s, lanes);
          storeUpTo(y + half + at, b * c + a * s, lanes);
        });
      }
    }
  });
}

// gate, up → silu(gate) * up; count.
void swiglu(const Call &call) {
  eachRange(call.integer(0), 4, [&](int first, int end) {
    eachVec(end - first, [&](int at, int lanes) {
      at += first;
      const Vec gate = loadUpTo(call.floats(0) + at, lanes);
      storeUpTo(call.floats(2) + at, gate / (1.0f + exp(-gate)) * loadUpTo(call.floats(1) + at, lanes), lanes);
    });
  });
}

// dy, gate, up → dgate, dup; count.
void swigluGrad(const Call &call) {
  eachRange(call.integer(0), 4, [&](int first, int end) {
    eachVec(end - first, [&](int at, int lanes) {
      at += first;
      const Vec dy = loadUpTo(call.floats(0) + at, lanes), gate = loadUpTo(call.floats(1) + at, lanes);
      const Vec sigmoid = 1.0f / (1.0f + exp(-gate));
      const Vec silu = gate * sigmoid;
      const Vec slope = sigmoid * (1.0f + gate * (1.0f - sigmoid));
      storeUpTo(call.floats(3) + at, dy * loadUpTo(call.floats(2) + at, lanes) * slope, lanes);
      storeUpTo(call.floats(4) + at, dy * silu, lanes);
    });
  });
}

template <class Number>
static void gatherFrom(const Call &call) {
  const int width = call.integer(1);
  eachRange(call.integer(0), width, [&](int first, int end) {
    for (int row = first; row < end; row++) {
      const int index = call.ints(1)[row];
      const Number *const from = static_cast<const Number *>(call.tensors[0]) + static_cast<int64_t>(index) * width;
      float *const to = call.floats(2) + static_cast<int64_t>(row) * width;
      if (index < 0) std::fill(to, to + width, 0.0f);
      else
        for (int i = 0; i < width; i++) to[i] = numberAt(from, i);
    }
  });
}

// x [R, D], indices [N] → its rows, zeros for -1; N, D, whether x is bfloat16.
void gatherRows(const Call &call) {
  if (call.integer(2) != 0) gatherFrom<uint16_t>(call);
  else gatherFrom<float>(call);
}

// dy [N, D], indices [N] → sums [R, D]; N, D, R. A tile takes some columns, so that no two write the same place.
void scatterAddRows(const Call &call) {
  const int rows = call.integer(0), width = call.integer(1), targets = call.integer(2);
  constexpr int kColumns = 64;
  Pool::get().run((width + kColumns - 1) / kColumns, [&](int tile) {
    const int first = tile * kColumns, count = std::min(kColumns, width - first);
    float *const sums = call.floats(2) + first;
    for (int row = 0; row < targets; row++) std::fill_n(sums + static_cast<int64_t>(row) * width, count, 0.0f);
    for (int row = 0; row < rows; row++) {
      const int64_t target = call.ints(1)[row];
      if (target < 0) continue;
      const float *const dy = call.floats(0) + static_cast<int64_t>(row) * width + first;
      float *const to = sums + target * width;
      eachVec(count, [&](int at, int lanes) {
        storeUpTo(to + at, loadUpTo(to + at, lanes) + loadUpTo(dy + at, lanes), lanes);
      });
    }
  });
}

}  // namespace braid
