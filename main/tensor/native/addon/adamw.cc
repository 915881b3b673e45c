// Kernels that train, in the memory of what they change. The formulas stand in trainer/optimizer.ts.
#include <cmath>
#include <vector>

#include "kernels.h"
#include "rows.h"
#include "simd.h"

namespace braid {

// param, m, v (changed), grad; count, lr, beta1, beta2, eps, weight decay, step from 1, factor of the gradient.
void adamw(const Call &call) {
  const double lr = call.numbers[1], beta1 = call.numbers[2], beta2 = call.numbers[3], step = call.numbers[6];
  const float keepM = 1 - beta1, keepV = 1 - beta2, beta2f = beta2;
  const float decay = 1 - lr * call.numbers[5], eps = call.number(4), gradScale = call.number(7);
  const float size = lr / (1 - std::pow(beta1, step)), root = std::sqrt(1 - std::pow(beta2, step));
  eachRange(call.integer(0), 1, [&](int first, int end) {
    eachVec(end - first, [&](int at, int lanes) {
      at += first;
      float *const param = call.floats(0) + at, *const m = call.floats(1) + at, *const v = call.floats(2) + at;
      const Vec grad = loadUpTo(call.floats(3) + at, lanes) * gradScale;
      const Vec oldM = loadUpTo(m, lanes);
      const Vec newM = oldM + (grad - oldM) * keepM;
      const Vec newV = loadUpTo(v, lanes) * beta2f + grad * grad * keepV;
      Vec denominator;
      for (int i = 0; i < kLanes; i++) denominator[i] = std::sqrt(newV[i]);
      denominator = denominator / root + eps;
      storeUpTo(param, loadUpTo(param, lanes) * decay - newM / denominator * size, lanes);
      storeUpTo(m, newM, lanes);
      storeUpTo(v, newV, lanes);
    });
  });
}

// target (changed), x; count, factor of x.
void addInPlace(const Call &call) {
  const float factor = call.number(1);
  eachRange(call.integer(0), 1, [&](int first, int end) {
    eachVec(end - first, [&](int at, int lanes) {
      float *const target = call.floats(0) + first + at;
      storeUpTo(target, loadUpTo(target, lanes) + loadUpTo(call.floats(1) + first + at, lanes) * factor, lanes);
    });
  });
}

// x → Σ x²; count. In parts that don't depend on the number of threads.
void sumSquares(const Call &call) {
  const int count = call.integer(0);
  std::vector<double> sums((count + kTileNumbers - 1) / kTileNumbers);
  eachRange(count, 1, [&](int first, int end) {
    const float *const x = call.floats(0) + first;
    sums[first / kTileNumbers] = dot(x, x, end - first);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  call.floats(1)[0] = static_cast<float>(total);
}

}  // namespace braid
