// Every kernel of the addon with random shapes, for the sanitizers (../sanitizers.test.ts): calls that fit, checked where
// a plain formula exists, then the same calls with one thing made wrong, which must be refused or do no harm. Each tensor
// is a block of memory of exactly its size, so that AddressSanitizer sees one number too far. Arguments: seed, rounds.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>

#include "gemm.h"
#include "kernels.h"
#include "pool.h"

using namespace braid;

namespace {

std::mt19937 generator;

int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator); }
bool chance(int percent) { return pick(1, 100) <= percent; }
float real() { return std::uniform_real_distribution<float>(-1, 1)(generator); }

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  std::exit(1);
}

using Shape = std::vector<int64_t>;

// A tensor in memory of its own.
struct Owned {
  Tensor tensor;
  std::shared_ptr<void> memory;

  Owned(Type type, const Shape &shape) {
    tensor.type = type;
    tensor.rank = static_cast<int>(shape.size());
    size_t count = 1;
    for (size_t i = 0; i < shape.size(); i++) count *= tensor.sizes[i] = shape[i];
    const size_t bytes = count * (type == Type::kBfloat16 ? 2 : 4);
    memory = std::shared_ptr<void>(std::malloc(bytes), std::free);
    tensor.data = memory.get();
    if (type == Type::kFloat32)
      for (size_t i = 0; i < count; i++) floats()[i] = real();
    else if (type == Type::kBfloat16)
      for (size_t i = 0; i < count; i++) static_cast<uint16_t *>(tensor.data)[i] = static_cast<uint16_t>(pick(0x3e00, 0x3f80));
  }

  float *floats() const { return static_cast<float *>(tensor.data); }
  int32_t *ints() const { return static_cast<int32_t *>(tensor.data); }
  size_t count() const {
    size_t all = 1;
    for (int i = 0; i < tensor.rank; i++) all *= tensor.sizes[i];
    return all;
  }
};

Owned floats(const Shape &shape) { return Owned(Type::kFloat32, shape); }

Owned indices(const Shape &shape, int low, int high) {
  Owned made(Type::kInt32, shape);
  for (size_t i = 0; i < made.count(); i++) made.ints()[i] = pick(low, high);
  return made;
}

Owned weight(const Shape &shape) { return Owned(chance(40) ? Type::kBfloat16 : Type::kFloat32, shape); }

// A call by the names of its arguments.
struct Trial {
  std::string kernel;
  std::map<std::string, Owned> tensors;
  std::map<std::string, double> numbers;

  // Throws what the kernel throws.
  void run() const {
    const KernelEntry *const entry = kernelNamed(kernel);
    if (entry == nullptr) fail("no kernel " + kernel);
    Arguments call{entry->signature};
    for (size_t i = 0; i < entry->signature.tensors.size(); i++) {
      const auto found = tensors.find(entry->signature.tensors[i]);
      if (found != tensors.end()) call.tensors[i] = found->second.tensor;
    }
    for (size_t i = 0; i < entry->signature.numbers.size(); i++) {
      const auto found = numbers.find(entry->signature.numbers[i]);
      if (found == numbers.end()) fail(kernel + " wants the number " + entry->signature.numbers[i]);
      call.numbers[i] = found->second;
    }
    entry->run(call);
  }
};

int size(int most = 70) { return chance(10) ? pick(0, 2) : pick(1, most); }

// Whether a trial computes in bfloat16.
bool rounds() { return hasBfloat16() && chance(50); }

Trial product() {
  const int m = chance(10) ? pick(100, 600) : size(), n = size(chance(10) ? 700 : 90), k = size(chance(10) ? 900 : 70);
  const bool transposeA = chance(50), transposeB = chance(50);
  Trial trial{"product",
              {{"a", floats(transposeA ? Shape{k, m} : Shape{m, k})},
               {"b", weight(transposeB ? Shape{n, k} : Shape{k, n})},
               {"out", floats({m, n})}},
              {{"transposeA", transposeA}, {"transposeB", transposeB}, {"alpha", real()}, {"bfloat16", rounds()}}};
  if (k > 0 && chance(30)) {
    const int rank = pick(1, 40);
    trial.tensors.insert({"lowA", floats({m, rank})});
    trial.tensors.insert({"lowB", floats(transposeB ? Shape{n, rank} : Shape{rank, n})});
  }
  return trial;
}

float numberOf(const Owned &from, int64_t at) {
  if (from.tensor.type == Type::kFloat32) return from.floats()[at];
  const uint32_t bits = static_cast<uint32_t>(static_cast<uint16_t *>(from.tensor.data)[at]) << 16;
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

// The nearest bfloat16; ties go to even.
float rounded(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

// A product against the sum that it is.
void checkProduct() {
  const Trial trial = product();
  const Owned &a = trial.tensors.at("a"), &b = trial.tensors.at("b"), &out = trial.tensors.at("out");
  const bool transposeA = trial.numbers.at("transposeA") != 0, transposeB = trial.numbers.at("transposeB") != 0;
  const int64_t m = out.tensor.sizes[0], n = out.tensor.sizes[1], k = a.tensor.sizes[transposeA ? 0 : 1];
  const auto factor = [rounds = trial.numbers.at("bfloat16") != 0](float x) -> double { return rounds ? rounded(x) : x; };
  trial.run();
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += factor(numberOf(a, transposeA ? l * m + i : i * k + l)) * factor(numberOf(b, transposeB ? j * k + l : l * n + j));
      if (trial.tensors.count("lowA") > 0) {
        const Owned &lowA = trial.tensors.at("lowA"), &lowB = trial.tensors.at("lowB");
        const int64_t rank = lowA.tensor.sizes[1];
        for (int64_t l = 0; l < rank; l++)
          sum += static_cast<double>(lowA.floats()[i * rank + l]) * lowB.floats()[transposeB ? j * rank + l : l * n + j];
      }
      const double expected = trial.numbers.at("alpha") * sum;
      if (!(std::abs(expected - out.floats()[i * n + j]) < 1e-4 + 1e-6 * k)) fail("a product is wrong");
    }
  }
}

Trial elementwise() {
  const Shape shape = chance(20) ? Shape{pick(30000, 90000)} : Shape{size(), size()};
  switch (pick(0, 5)) {
    case 0:
      return {"add", {{"a", floats(shape)}, {"b", floats(shape)}, {"out", floats(shape)}}, {}};
    case 1:
      return {"copy", {{"from", floats(shape)}, {"to", floats(shape)}}, {}};
    case 2:
      return {"swiglu", {{"gate", floats(shape)}, {"up", floats(shape)}, {"out", floats(shape)}}, {}};
    case 3:
      return {"swigluGrad",
              {{"dy", floats(shape)}, {"gate", floats(shape)}, {"up", floats(shape)}, {"dGate", floats(shape)}, {"dUp", floats(shape)}},
              {}};
    case 4:
      return {"addInPlace", {{"target", floats(shape)}, {"x", floats(shape)}}, {{"scale", real()}}};
    default:
      return {"sumSquares", {{"x", floats(shape)}, {"out", floats({})}}, {}};
  }
}

Trial adamw() {
  const Shape shape = {size(), size(300)};
  Trial trial{"adamw",
              {{"param", floats(shape)}, {"m", floats(shape)}, {"v", floats(shape)}, {"grad", floats(shape)}},
              {{"lr", 1e-3}, {"beta1", 0.9}, {"beta2", 0.99}, {"eps", 1e-8}, {"weightDecay", 0.1}, {"step", pick(1, 9)}, {"gradScale", 1}}};
  const Owned &v = trial.tensors.at("v");
  for (size_t i = 0; i < v.count(); i++) v.floats()[i] = std::abs(v.floats()[i]);
  return trial;
}

Trial norm() {
  const int n = chance(20) ? pick(200, 700) : size(), width = pick(1, 90);
  switch (pick(0, 2)) {
    case 0:
      return {"rmsNorm", {{"x", floats({n, width})}, {"weight", floats({width})}, {"out", floats({n, width})}}, {{"eps", 1e-5}}};
    case 1:
      return {"rmsNormGradX",
              {{"dy", floats({n, width})}, {"x", floats({n, width})}, {"weight", floats({width})}, {"dx", floats({n, width})}},
              {{"eps", 1e-5}}};
    default:
      return {"rmsNormGradWeight",
              {{"dy", floats({n, width})}, {"x", floats({n, width})}, {"dWeight", floats({width})}},
              {{"eps", 1e-5}}};
  }
}

Trial rope() {
  const int n = size(), headDim = 2 * pick(1, 40), heads = pick(1, 5), positions = pick(1, 30);
  const int half = chance(70) ? headDim / 2 : pick(1, headDim / 2);
  return {"rope",
          {{"x", floats({n, heads * headDim})},
           {"positions", indices({n}, 0, positions - 1)},
           {"cos", floats({positions, half})},
           {"sin", floats({positions, half})},
           {"out", floats({n, heads * headDim})}},
          {{"headDim", headDim}, {"inverse", chance(50)}}};
}

Trial columns() {
  const int rows = size(), width = pick(1, 40), aFirst = pick(0, 9), bFirst = pick(0, 9);
  const int aLine = width + aFirst + pick(0, 9), bLine = width + bFirst + pick(0, 9);
  Trial trial{"columns",
              {{"a", floats({rows, aLine})}, {"out", floats({rows, width})}},
              {{"width", width}, {"aLine", aLine}, {"aFirst", aFirst}, {"bLine", bLine}, {"bFirst", bFirst}, {"gate", chance(50)}}};
  if (chance(70)) trial.tensors.insert({"b", floats({rows, bLine})});
  return trial;
}

Trial table() {
  const int rows = pick(1, 40), width = size(200), n = size();
  if (chance(50))
    return {"gatherRows", {{"x", weight({rows, width})}, {"indices", indices({n}, -1, rows - 1)}, {"out", floats({n, width})}}, {}};
  return {"scatterAddRows", {{"dy", floats({n, width})}, {"indices", indices({n}, -1, rows - 1)}, {"out", floats({rows, width})}}, {}};
}

struct HeadSizes {
  int kvHeads = pick(1, 3), group = pick(1, 4), headDim = chance(50) ? 8 * pick(1, 6) : pick(1, 40);
  int heads() const { return kvHeads * group; }
  std::map<std::string, double> numbers() const {
    return {{"numHeads", heads()}, {"numKvHeads", kvHeads}, {"headDim", headDim}, {"scale", 0.3}};
  }
};

// Segments one after the other, some of them with a prefix among those before or after, in a random order.
Owned segments(int *tokens) {
  std::vector<std::vector<int>> rows;
  *tokens = 0;
  for (int i = pick(1, 7); i > 0; i--) {
    const int length = chance(10) ? 0 : pick(1, chance(10) ? 130 : 30);
    rows.push_back({*tokens, length, 0, 0});
    *tokens += length;
  }
  for (auto &row : rows) {
    if (chance(40)) continue;
    const bool before = chance(50);
    const int low = before ? 0 : row[0] + row[1], high = before ? row[0] : *tokens;
    if (high <= low) continue;
    row[2] = pick(low, high - 1);
    row[3] = pick(1, high - row[2]);
  }
  std::shuffle(rows.begin(), rows.end(), generator);
  Owned made(Type::kInt32, {static_cast<int64_t>(rows.size()), 4});
  for (size_t i = 0; i < rows.size(); i++) std::copy(rows[i].begin(), rows[i].end(), made.ints() + 4 * i);
  return made;
}

Trial attention() {
  const HeadSizes heads;
  int n;
  const Owned table = segments(&n);
  const Shape q = {n, heads.heads() * heads.headDim}, k = {n, heads.kvHeads * heads.headDim}, lse = {n, heads.heads()};
  if (chance(50))
    return {"attention",
            {{"q", floats(q)}, {"k", floats(k)}, {"v", floats(k)}, {"segments", table}, {"out", floats(q)}, {"lse", floats(lse)}},
            heads.numbers()};
  return {"attentionGrad",
          {{"dy", floats(q)}, {"q", floats(q)}, {"k", floats(k)}, {"v", floats(k)}, {"out", floats(q)}, {"lse", floats(lse)},
           {"segments", table}, {"dq", floats(q)}, {"dk", floats(k)}, {"dv", floats(k)}},
          heads.numbers()};
}

Trial decode() {
  const HeadSizes heads;
  const int batch = size(40), slots = batch + pick(0, 4), capacity = pick(1, 12), prompt = size(60), places = 64 * pick(1, 2);
  const Shape q = {batch, heads.heads() * heads.headDim}, k = {batch, heads.kvHeads * heads.headDim};
  Owned rows(Type::kInt32, {batch, 3}), positions(Type::kInt32, {batch});
  int start = 0, length = 0;
  for (int i = 0; i < batch; i++) {
    if (i == 0 || chance(20)) {
      length = prompt == 0 ? 0 : pick(0, prompt);
      start = pick(0, places - 64);
    }
    rows.ints()[3 * i] = i;
    rows.ints()[3 * i + 1] = start;
    rows.ints()[3 * i + 2] = length;
    positions.ints()[i] = length + pick(0, capacity - 1);
  }
  return {"decodeAttention",
          {{"q", floats(q)}, {"k", floats(k)}, {"v", floats(k)}, {"prefixK", floats({heads.kvHeads, places, heads.headDim})},
           {"prefixV", floats({heads.kvHeads, places, heads.headDim})}, {"ownK", floats({slots, heads.kvHeads, capacity, heads.headDim})},
           {"ownV", floats({slots, heads.kvHeads, capacity, heads.headDim})}, {"rows", rows}, {"positions", positions},
           {"out", floats(q)}},
          heads.numbers()};
}

Trial packPrefix() {
  const HeadSizes heads;
  const int tokens = pick(1, 90), count = size(4);
  const Shape k = {tokens, heads.kvHeads * heads.headDim}, packed = {heads.kvHeads, 128 * std::max(1, count), heads.headDim};
  Owned prompts(Type::kInt32, {count, 3});
  for (int i = 0; i < count; i++) {
    const int length = pick(0, tokens);
    prompts.ints()[3 * i] = pick(0, tokens - length);
    prompts.ints()[3 * i + 1] = length;
    prompts.ints()[3 * i + 2] = 128 * i;
  }
  return {"packPrefix",
          {{"k", floats(k)}, {"v", floats(k)}, {"prompts", prompts}, {"packedK", floats(packed)}, {"packedV", floats(packed)}},
          heads.numbers()};
}

Trial softmax() {
  const int n = size(40), width = pick(1, 40), vocabulary = pick(1, chance(20) ? 1500 : 200);
  const std::map<std::string, double> numbers = {{"temperature", 0.7}, {"chunkRows", pick(1, 30)}, {"bfloat16", rounds()}};
  const Shape probs = chance(50) ? Shape{n, vocabulary} : Shape{0};
  Trial trial{"logSoftmax",
              {{"hidden", floats({n, width})}, {"weight", weight({vocabulary, width})}, {"targets", indices({n}, 0, vocabulary - 1)}},
              numbers};
  if (chance(50)) {
    trial.tensors.insert({{"logps", floats({n})}, {"entropies", floats({n})}, {"probs", floats(probs)}});
    return trial;
  }
  trial.kernel = "logSoftmaxGrad";
  trial.tensors.insert({{"dlogp", floats({n})}, {"entropy", floats({n})}, {"probs", floats(probs)}});
  if (chance(40)) trial.tensors.insert({"dentropy", floats({n})});
  if (chance(70)) trial.tensors.insert({"dHidden", floats({n, width})});
  if (chance(70)) trial.tensors.insert({"dWeight", floats({vocabulary, width})});
  return trial;
}

Trial sample() {
  const int n = size(20), vocabulary = pick(1, 1000);
  const Owned uniforms = floats({n});
  for (int i = 0; i < n; i++) uniforms.floats()[i] = std::abs(uniforms.floats()[i]);
  return {"sample",
          {{"logits", floats({n, vocabulary})}, {"uniforms", uniforms}, {"ids", indices({n}, 0, 0)}, {"logps", floats({n})}},
          {{"temperature", chance(30) ? 0 : 0.8}}};
}

// A convolution, the delta rule or a step of a state space, over a prompt with two completions and a sequence by itself.
Trial recurrence() {
  const int n = pick(4, 90), states = 4;
  if (chance(40)) {
    const int width = pick(1, 90), taps = pick(1, 6);
    Trial trial{"convolution", {{"x", floats({n, width})}, {"weight", floats({width, 1, taps})}, {"bias", floats({width})}}, {{"silu", chance(50)}}};
    const auto add = [&](const char *name, const Owned &made) { trial.tensors.insert({name, made}); };
    if (chance(30)) {
      trial.kernel = "convolutionStep";
      add("states", floats({n, (taps - 1) * width}));
      add("out", floats({n, width}));
      return trial;
    }
    const bool isGradient = chance(50);
    const int more = !isGradient && chance(50) ? pick(1, 9) : 0;
    add("rows", indices({n, taps - 1}, -1, n + more - 1));
    if (more > 0) add("before", floats({more, width}));
    if (!isGradient) add("out", floats({n, width}));
    if (!isGradient) return trial;
    trial.kernel = "convolutionGrad";
    add("dy", floats({n, width}));
    add("dx", floats({n, width}));
    add("dWeight", floats({width, 1, taps}));
    add("dBias", floats({width}));
    return trial;
  }
  if (chance(20)) {
    const int groups = pick(1, 3), all = groups * pick(1, 2), stateDim = pick(1, 40), headDim = pick(1, 80);
    Trial trial{"stateSpaceStep",
                {{"mixed", floats({n, all * headDim + 2 * groups * stateDim})}, {"dt", floats({n, all})}, {"states", floats({n, all * stateDim * headDim})}, {"out", floats({n, all * headDim})}},
                {{"groups", groups}, {"heads", all}, {"stateDim", stateDim}, {"headDim", headDim}}};
    for (const char *name : {"timeBias", "decay", "skip"}) trial.tensors.insert({name, floats({all})});
    return trial;
  }
  const int keyHeads = pick(1, 3), heads = keyHeads * pick(1, 2), keyDim = pick(1, 40), valueDim = pick(1, 40);
  const int width = 2 * keyHeads * keyDim + heads * valueDim, stateWidth = heads * keyDim * valueDim;
  Trial trial{"gatedDelta",
              {{"mixed", floats({n, width})}, {"a", floats({n, heads})}, {"b", floats({n, heads})}, {"timeBias", floats({heads})}, {"decay", floats({heads})}},
              {{"keyHeads", keyHeads}, {"valueHeads", heads}, {"keyDim", keyDim}, {"valueDim", valueDim}}};
  const auto add = [&](const char *name, const Owned &made) { trial.tensors.insert({name, made}); };
  if (chance(30)) {
    trial.kernel = "gatedDeltaStep";
    add("states", floats({n, stateWidth}));
    add("out", floats({n, heads * valueDim}));
    return trial;
  }
  Owned sequences = indices({states, 3}, 0, 0), trees = indices({2, 2}, 0, 0);
  for (int i = 0, start = 0; i < states; i++) {
    const int length = i == states - 1 ? n - start : pick(0, n - start);
    const int row[] = {start, length, i};
    std::copy_n(row, 3, sequences.ints() + 3 * i);
    start += length;
  }
  const int table[] = {0, 3, 3, 1};
  std::copy_n(table, 4, trees.ints());
  add("sequences", sequences);
  add("trees", trees);
  if (chance(50)) {
    trial.kernel = "gatedDeltaGrad";
    add("dy", floats({n, heads * valueDim}));
    add("dMixed", floats({n, width}));
    for (const char *name : {"dA", "dB", "dDecay"}) add(name, floats({n, heads}));
    return trial;
  }
  add("out", floats({n, heads * valueDim}));
  for (const char *name : {"initial", "last"})
    if (chance(50)) add(name, floats({states, stateWidth}));
  return trial;
}

Trial any() {
  switch (pick(0, 12)) {
    case 0:
      return product();
    case 1:
      return elementwise();
    case 2:
      return adamw();
    case 3:
      return norm();
    case 4:
      return rope();
    case 5:
      return table();
    case 6:
      return attention();
    case 7:
      return decode();
    case 8:
      return softmax();
    case 9:
      return packPrefix();
    case 10:
      return recurrence();
    case 11:
      return columns();
    default:
      return sample();
  }
}

const int kOddInts[] = {-1, -2, 1, 3, 1000, INT32_MAX, INT32_MIN, 1 << 20};
const double kOddNumbers[] = {-1, 0, 0.5, 3, 1e9, -1e300, 1e300, NAN, INFINITY};

// Makes one thing of a call wrong.
void spoil(Trial &trial) {
  const int fault = pick(0, 4);
  auto at = trial.tensors.begin();
  std::advance(at, pick(0, static_cast<int>(trial.tensors.size()) - 1));
  // A wrong index needs one of the few tensors that hold some.
  if (fault == 2)
    for (auto other = trial.tensors.begin(); other != trial.tensors.end(); ++other)
      if (other->second.tensor.type == Type::kInt32 && chance(90)) at = other;
  Owned &tensor = at->second;
  Shape shape(tensor.tensor.sizes, tensor.tensor.sizes + tensor.tensor.rank);
  switch (fault) {
    case 0:
      if (!trial.numbers.empty()) {
        auto number = trial.numbers.begin();
        std::advance(number, pick(0, static_cast<int>(trial.numbers.size()) - 1));
        number->second = kOddNumbers[pick(0, 8)];
      }
      return;
    case 1:
      trial.tensors.erase(at);
      return;
    case 2:
      if (tensor.tensor.type == Type::kInt32 && tensor.count() > 0) {
        tensor.ints()[pick(0, static_cast<int>(tensor.count()) - 1)] = kOddInts[pick(0, 7)];
        return;
      }
      tensor = Owned(chance(50) ? Type::kInt32 : Type::kBfloat16, shape);
      if (tensor.tensor.type == Type::kInt32) std::fill_n(tensor.ints(), tensor.count(), pick(-3, 3));
      return;
    case 3:
      if (chance(50) || shape.empty()) shape.push_back(pick(1, 3));
      else shape.pop_back();
      break;
    default:
      if (!shape.empty()) {
        int64_t &axis = shape[pick(0, static_cast<int>(shape.size()) - 1)];
        axis = std::max<int64_t>(0, axis + (chance(50) ? pick(-3, -1) : pick(1, 3)));
      }
  }
  const Type type = tensor.tensor.type;
  tensor = Owned(type, shape);
  if (type == Type::kInt32) std::fill_n(tensor.ints(), tensor.count(), 0);
}

// What a tile throws reaches the caller, once all threads have stopped, and the pool works on.
void checkPool() {
  for (int round = 0; round < 200; round++) {
    std::atomic<int> inside{0};
    std::vector<int> local(64);
    const int bad = pick(0, 63);
    bool caught = false;
    try {
      Pool::get().run(64, [&](int tile) {
        inside++;
        local[tile] = tile;
        inside--;
        if (tile == bad || tile == 63 - bad) throw std::runtime_error("tile " + std::to_string(tile));
      });
    } catch (const std::runtime_error &error) {
      const std::string what = error.what();
      caught = what == "tile " + std::to_string(bad) || what == "tile " + std::to_string(63 - bad);
    }
    if (!caught || inside != 0) fail("an exception of a tile was lost, or a thread was still at work");
    std::atomic<int> sum{0};
    Pool::get().run(100, [&](int tile) { sum += tile; });
    if (sum != 4950) fail("the pool does not work after an exception");
  }
}

}  // namespace

int main(int argc, char **argv) {
  const unsigned seed = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 1000;
  generator.seed(seed);
  Pool::get().grow(3);
  checkPool();
  int refused = 0;
  for (int round = 0; round < rounds; round++) {
    checkProduct();
    Trial trial = any();
    try {
      trial.run();
    } catch (const ArgumentError &error) {
      fail(std::string("refused a call that fits: ") + error.what());
    }
    Trial spoilt = any();
    spoil(spoilt);
    try {
      spoilt.run();
    } catch (const ArgumentError &) {
      refused++;
    }
  }
  std::printf("seed %u: %d products, %d calls that fit, %d spoilt ones of which %d were refused\n", seed, rounds, rounds,
              rounds, refused);
  // The pool's threads never end.
  std::fflush(stdout);
  std::_Exit(0);
}
