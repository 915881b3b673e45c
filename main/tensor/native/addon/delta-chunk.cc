#include "delta-chunk.h"

#include <algorithm>
#include <cmath>

#include "gemm.h"
#include "memory.h"
#include "simd.h"

namespace braid {
namespace {

// Decays below this are 0: numbers so small that processors take long over them.
constexpr float kTiny = 1e-30f;

// Xᵀ·Y of two [K, C].
void relateColumns(const float *x, const float *y, int keyDim, float *square) {
  multiplyHere({kChunk, kChunk, keyDim, x, 1, kChunk, y, kChunk, 1, square, kChunk});
}

// Columns of length `scale` from rows of a head, [K, C].
void unitColumns(const float *from, int64_t stride, int count, int width, float scale, float *to, float *lengths) {
  std::fill_n(to, static_cast<int64_t>(width) * kChunk, 0.0f);
  std::fill_n(lengths, kChunk, 0.0f);
  for (int i = 0; i < count; i++) {
    const float *const row = from + i * stride;
    lengths[i] = inverseLength(row, width);
    for (int c = 0; c < width; c++) to[c * kChunk + i] = row[c] * lengths[i] * scale;
  }
}

// D, from each token's decay. Products of decays: sums of their logarithms would lose what is small beside them.
void decaysBetween(const float *decays, float *between) {
  std::fill_n(between, kChunk * kChunk, 0.0f);
  between[0] = 1;
  for (int i = 1; i < kChunk; i++) {
    const float *const before = between + (i - 1) * kChunk;
    float *const row = between + i * kChunk;
    for (int j = 0; j < i; j++) row[j] = before[j] * decays[i] > kTiny ? before[j] * decays[i] : 0;
    row[i] = 1;
  }
}

}  // namespace

int DeltaShape::line() const { return padded(valueDim) + kLanes; }

float inverseLength(const float *x, int width) { return 1 / std::sqrt(dot(x, x, width) + 1e-6f); }

Gates gatesOf(const DeltaInputs &inputs, const DeltaShape &shape, int token, int head) {
  const int64_t cell = static_cast<int64_t>(token) * shape.valueHeads + head;
  const float x = inputs.a[cell] + inputs.timeBias[head], rate = std::exp(inputs.decay[head]);
  const float small = std::exp(-std::fabs(x));
  Gates gates;
  gates.logarithm = -rate * (std::max(x, 0.0f) + std::log1p(small));
  gates.slope = -rate * (x > 0 ? 1 : small) / (1 + small);
  gates.decay = std::exp(gates.logarithm);
  gates.strength = 1 / (1 + std::exp(-inputs.b[cell]));
  return gates;
}

DeltaChunk::DeltaChunk(const DeltaShape &given) : shape(given), line(given.line()) {
  const size_t columns = static_cast<size_t>(shape.keyDim) * kChunk, lines = static_cast<size_t>(kChunk) * line;
  const size_t square = kChunk * kChunk;
  float *next = scratch(2, 6 * columns + 5 * lines + 7 * square + 11 * kChunk);
  const auto take = [&](size_t count) {
    float *const own = next;
    next += count;
    return own;
  };
  for (float **each : {&keys, &queries, &leftKeys, &dKeys, &dQueries, &other}) *each = take(columns);
  for (float **each : {&values, &written, &out, &rows, &across}) *each = take(lines);
  for (float **each : {&system, &alike, &probs, &between}) *each = take(square);
  squares = take(3 * square);
  for (float **each : {&since, &left, &strength, &logs, &slopes, &keyLengths, &queryLengths}) *each = take(kChunk);
  numbers = take(4 * kChunk);
}

void DeltaChunk::readTokens(const DeltaInputs &inputs, int head, int token, int tokens) {
  count = tokens;
  const int64_t stride = shape.mixedWidth();
  const float *const row = inputs.mixed + token * stride;
  const float scale = 1 / std::sqrt(static_cast<float>(shape.keyDim));
  unitColumns(row + shape.queriesAt(head), stride, count, shape.keyDim, scale, queries, queryLengths);
  unitColumns(row + shape.keysAt(head), stride, count, shape.keyDim, 1, keys, keyLengths);
  copyRows(row + shape.valuesAt(head), stride, values);
  float decays[kChunk], sum = 1;
  for (int i = 0; i < kChunk; i++) {
    const Gates gates = i < count ? gatesOf(inputs, shape, token + i, head) : Gates{0, 0, 1, 0};
    decays[i] = gates.decay;
    sum = sum * gates.decay < kTiny ? 0 : sum * gates.decay;
    since[i] = sum;
    strength[i] = gates.strength;
    logs[i] = gates.logarithm;
    slopes[i] = gates.slope;
  }
  decaysBetween(decays, between);
  std::copy_n(between + (kChunk - 1) * kChunk, kChunk, left);
  scaleColumns(keys, shape.keyDim, left, leftKeys);
}

void DeltaChunk::copyRows(const float *from, int64_t stride, float *to) const {
  std::fill_n(to, static_cast<int64_t>(kChunk) * line, 0.0f);
  for (int i = 0; i < count; i++) std::copy_n(from + i * stride, shape.valueDim, to + static_cast<int64_t>(i) * line);
}

void DeltaChunk::relate(bool withQueries) {
  relateColumns(keys, keys, shape.keyDim, alike);
  if (withQueries) relateColumns(queries, keys, shape.keyDim, probs);
  for (int i = 0; i < kChunk; i++) {
    const int row = i * kChunk;
    for (int j = 0; j < kChunk; j++) {
      alike[row + j] = j < i ? alike[row + j] * between[row + j] : 0;
      system[row + j] = -strength[i] * alike[row + j];
      if (withQueries) probs[row + j] = j <= i ? probs[row + j] * between[row + j] : 0;
    }
  }
}

void DeltaChunk::solve(const float *state) {
  const int width = padded(shape.valueDim);
  multiplyHere({kChunk, shape.valueDim, shape.keyDim, keys, 1, kChunk, state, line, 1, written, line});
  for (int i = 0; i < kChunk; i++) {
    float *const row = written + static_cast<int64_t>(i) * line;
    const float *const value = values + static_cast<int64_t>(i) * line;
    for (int at = 0; at < width; at += kLanes) store(row + at, (load(value + at) - load(row + at) * since[i]) * strength[i]);
  }
  // By blocks of tokens: what those before a block say of it is one product.
  constexpr int kBlock = 8;
  for (int first = 0; first < kChunk; first += kBlock) {
    float *const block = written + static_cast<int64_t>(first) * line;
    if (first > 0)
      multiplyHere({kBlock, shape.valueDim, first, system + first * kChunk, kChunk, 1, written, line, 1, block, line, 1, true});
    for (int i = 1; i < kBlock; i++)
      for (int j = 0; j < i; j++)
        addScaled(block + j * line, system[(first + i) * kChunk + first + j], width, block + i * line);
  }
}

void DeltaChunk::advance(float *state) const {
  const float decay = since[kChunk - 1];
  for (int64_t at = 0; at < shape.stateSize(); at += kLanes) store(state + at, load(state + at) * decay);
  multiplyHere({shape.keyDim, shape.valueDim, kChunk, leftKeys, kChunk, 1, written, line, 1, state, line, 1, true});
}

void transposeInto(const float *from, int fromLine, int rows, int columns, float *to, int toLine) {
  for (int column = 0; column < columns; column++)
    for (int row = 0; row < rows; row++) to[column * toLine + row] = from[row * fromLine + column];
}

void scaleColumns(const float *from, int lines, const float *factors, float *to, bool add) {
  for (int line = 0; line < lines * kChunk; line += kChunk)
    for (int at = 0; at < kChunk; at += kLanes) {
      const Vec product = load(from + line + at) * load(factors + at);
      store(to + line + at, add ? load(to + line + at) + product : product);
    }
}

void addScaled(const float *from, float factor, int count, float *to) {
  for (int at = 0; at < count; at += kLanes) store(to + at, load(to + at) + load(from + at) * factor);
}

}  // namespace braid
