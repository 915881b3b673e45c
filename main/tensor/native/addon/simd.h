// Vectors of the widest kind that the processor has, in the compiler's own notation: the same source on x64 and arm64.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace braid {

#ifdef __AVX512F__
constexpr int kLanes = 16;
#else
constexpr int kLanes = 8;
#endif

// Before a loop over an array that is to stay in registers.
#if defined(__clang__)
#define BRAID_UNROLL _Pragma("clang loop unroll(full)")
#else
#define BRAID_UNROLL _Pragma("GCC unroll 16")
#endif

typedef float Vec __attribute__((vector_size(kLanes * sizeof(float))));
typedef int32_t IntVec __attribute__((vector_size(kLanes * sizeof(int32_t))));

inline Vec load(const float *from) {
  Vec x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

inline void store(float *to, Vec x) { std::memcpy(to, &x, sizeof x); }

inline Vec splat(float x) { return x - Vec{}; }

// Numbers of float32 or bfloat16 as float32.
inline float numberAt(const float *b, int64_t at) { return b[at]; }

inline float numberAt(const uint16_t *b, int64_t at) {
  const uint32_t bits = static_cast<uint32_t>(b[at]) << 16;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

inline Vec vecAt(const float *b) { return load(b); }

inline Vec vecAt(const uint16_t *b) {
  typedef uint16_t Halves __attribute__((vector_size(kLanes * sizeof(uint16_t))));
  Halves halves;
  std::memcpy(&halves, b, sizeof halves);
  const IntVec bits = __builtin_convertvector(halves, IntVec) << 16;
  Vec x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// The first `count` lanes, `rest` in the others.
inline Vec loadPart(const float *from, int count, float rest) {
  Vec x = splat(rest);
  std::memcpy(&x, from, count * sizeof(float));
  return x;
}

inline void storePart(float *to, Vec x, int count) { std::memcpy(to, &x, count * sizeof(float)); }

// Lanes of two vectors in blocks of `half`: the even blocks of both, one of a, one of b and so on, or the odd ones.
constexpr int exchangedLane(int lane, int half, bool odd) {
  if ((lane & half) == 0) return odd ? lane + half : lane;
  return odd ? lane + kLanes : lane - half + kLanes;
}

template <int half, bool odd, int... lanes>
inline Vec exchange(Vec a, Vec b, std::integer_sequence<int, lanes...>) {
// Clang has no __builtin_shuffle, and GCC before 12 has nothing else.
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(a, b, exchangedLane(lanes, half, odd)...);
#else
  return __builtin_shuffle(a, b, IntVec{exchangedLane(lanes, half, odd)...});
#endif
}

template <int half, bool odd>
inline Vec exchange(Vec a, Vec b) {
  return exchange<half, odd>(a, b, std::make_integer_sequence<int, kLanes>());
}

// Transposes a square of vectors, by halves, then quarters …
template <int half = kLanes / 2>
inline void transpose(Vec (&rows)[kLanes]) {
  for (int i = 0; i < kLanes; i++) {
    if ((i & half) != 0) continue;
    const Vec a = rows[i], b = rows[i + half];
    rows[i] = exchange<half, false>(a, b);
    rows[i + half] = exchange<half, true>(a, b);
  }
  if constexpr (half > 1) transpose<half / 2>(rows);
}

inline Vec larger(Vec a, Vec b) { return a > b ? a : b; }

inline float sumLanes(Vec x) {
  float sums[kLanes];
  store(sums, x);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) sums[i] += sums[i + half];
  return sums[0];
}

inline float maxLanes(Vec x) {
  float values[kLanes];
  store(values, x);
  for (int i = 1; i < kLanes; i++) values[0] = values[i] > values[0] ? values[i] : values[0];
  return values[0];
}

// e^x to two units in the last place; 0 below -87, and never beyond the largest float. (Cody and Waite's reduction,
// the polynomial is a Taylor series good to half of ln 2.)
inline Vec exp(Vec x) {
  const Vec low = splat(-87.0f), high = splat(88.0f);
  const Vec clamped = x < low ? low : (x > high ? high : x);
  // Adding 1.5 * 2^23 rounds to a whole number, which then stands in the low bits.
  const Vec magic = splat(12582912.0f);
  const Vec shifted = clamped * 1.44269504f + magic;
  const Vec n = shifted - magic;
  const Vec r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
  Vec p = splat(1.0f / 5040);
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  IntVec bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  const IntVec exponent = (bits - 0x4B400000 + 127) << 23;
  Vec power;
  std::memcpy(&power, &exponent, sizeof power);
  return x < low ? Vec{} : p * power;
}

// Calls visit(offset, lanes) for each vector of a row, the last one perhaps a part.
template <class Visit>
inline void eachVec(int width, const Visit &visit) {
  int at = 0;
  for (; at + kLanes <= width; at += kLanes) visit(at, kLanes);
  if (at < width) visit(at, width - at);
}

// The same vector with `rest` in all but the first `count` lanes.
template <int... lanes>
inline Vec onlyFirst(Vec x, int count, float rest, std::integer_sequence<int, lanes...>) {
  return IntVec{lanes...} < count ? x : splat(rest);
}

inline Vec onlyFirst(Vec x, int count, float rest) {
  return onlyFirst(x, count, rest, std::make_integer_sequence<int, kLanes>());
}

// A width rounded up to whole vectors.
inline int padded(int width) { return (width + kLanes - 1) / kLanes * kLanes; }

inline Vec loadUpTo(const float *from, int lanes, float rest = 0) {
  return lanes == kLanes ? load(from) : loadPart(from, lanes, rest);
}

inline void storeUpTo(float *to, Vec x, int lanes) {
  if (lanes == kLanes) store(to, x);
  else storePart(to, x, lanes);
}

// The largest number of a row; -∞ where it has none.
inline float largest(const float *row, int width) {
  Vec most = splat(-INFINITY);
  eachVec(width, [&](int at, int lanes) { most = larger(most, loadUpTo(row + at, lanes, -INFINITY)); });
  return maxLanes(most);
}

// The same where the row has room for whole vectors.
inline float largestPadded(const float *row, int width) {
  Vec most = splat(-INFINITY);
  for (int at = 0; at < width; at += kLanes) most = larger(most, onlyFirst(load(row + at), width - at, -INFINITY));
  return maxLanes(most);
}

// Copies a row, with zeros up to whole vectors.
inline void copyPadded(const float *from, int width, float *to) {
  eachVec(width, [&](int at, int lanes) { store(to + at, loadUpTo(from + at, lanes)); });
}

// The sum of a·b over a row.
inline float dot(const float *a, const float *b, int width) {
  Vec sum{};
  eachVec(width, [&](int at, int lanes) { sum += loadUpTo(a + at, lanes) * loadUpTo(b + at, lanes); });
  return sumLanes(sum);
}

}  // namespace braid
