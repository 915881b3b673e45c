// Kernels that train, in the memory of what they change. The formulas stand in trainer/optim/optimizer.ts.
#include <cmath>
#include <vector>

#include "kernels.h"
#include "rows.h"
#include "simd.h"

namespace braid {

// Changes param, m and v, all of the shape of grad; step counts from 1, gradScale is a factor of the gradient.
void adamw(const Call<args::adamw> &call) {
  float *const param = call.floatsLike(call.param, call.grad);
  float *const m = call.floatsLike(call.m, call.grad), *const v = call.floatsLike(call.v, call.grad);
  const float *const grad = call.floats(call.grad);
  const double lr = call.exact(call.lr), beta1 = call.exact(call.beta1), beta2 = call.exact(call.beta2);
  const double step = call.exact(call.step);
  const float keepM = 1 - beta1, keepV = 1 - beta2, beta2f = beta2;
  const float decay = 1 - lr * call.exact(call.weightDecay), eps = call.number(call.eps);
  const float gradScale = call.number(call.gradScale);
  const float size = lr / (1 - std::pow(beta1, step)), root = std::sqrt(1 - std::pow(beta2, step));
  eachRange(call.count(call.grad), 1, [=](int first, int end) {
    eachVec(end - first, [&](int at, int lanes) {
      at += first;
      const Vec g = loadUpTo(grad + at, lanes) * gradScale;
      const Vec oldM = loadUpTo(m + at, lanes);
      const Vec newM = oldM + (g - oldM) * keepM;
      const Vec newV = loadUpTo(v + at, lanes) * beta2f + g * g * keepV;
      Vec denominator;
      for (int i = 0; i < kLanes; i++) denominator[i] = std::sqrt(newV[i]);
      denominator = denominator / root + eps;
      storeUpTo(param + at, loadUpTo(param + at, lanes) * decay - newM / denominator * size, lanes);
      storeUpTo(m + at, newM, lanes);
      storeUpTo(v + at, newV, lanes);
    });
  });
}

// target += scale · x.
void addInPlace(const Call<args::addInPlace> &call) {
  float *const target = call.floats(call.target);
  const float *const x = call.floatsLike(call.x, call.target);
  const float scale = call.number(call.scale);
  eachRange(call.count(call.x), 1, [=](int first, int end) {
    eachVec(end - first, [&](int at, int lanes) {
      at += first;
      storeUpTo(target + at, loadUpTo(target + at, lanes) + loadUpTo(x + at, lanes) * scale, lanes);
    });
  });
}

// out [] = Σ x². In parts that don't depend on the number of threads.
void sumSquares(const Call<args::sumSquares> &call) {
  const float *const x = call.floats(call.x);
  float *const out = call.floats(call.out, {});
  const int64_t count = call.count(call.x);
  std::vector<double> sums((count + kTileNumbers - 1) / kTileNumbers);
  eachRange(static_cast<int>(count), 1, [&](int first, int end) {
    sums[first / kTileNumbers] = dot(x + first, x + first, end - first);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  *out = static_cast<float>(total);
}

}  // namespace braid
