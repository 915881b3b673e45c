// What a kernel is given. A kernel asks for its tensors by name, with the type and shape that it is about to read or
// write; what doesn't fit throws, and reaches JavaScript as a RangeError. Nothing before it checks sizes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

namespace braid {

constexpr int kMaxTensors = 16;
constexpr int kMaxNumbers = 16;
constexpr int kMaxRank = 8;

// TensorFlow's numbers of the types that kernels take.
enum class Type : int { kFloat32 = 1, kInt32 = 3, kBfloat16 = 14 };

// A tensor's memory; one that was left out has no data and rank -1.
struct Tensor {
  void *data = nullptr;
  Type type = Type::kFloat32;
  int rank = -1;
  int64_t sizes[kMaxRank] = {};
};

struct Matrix {
  int rows, columns;
};

// A kernel's name and the names of its arguments, in order.
struct Signature {
  std::string name;
  std::vector<std::string> tensors, numbers;
};

// An argument that a kernel can't take.
struct ArgumentError : std::out_of_range {
  using std::out_of_range::out_of_range;
};

// Arguments in the order of their signature.
struct Arguments {
  const Signature &signature;
  Tensor tensors[kMaxTensors];
  double numbers[kMaxNumbers] = {};
};

using Sizes = std::initializer_list<int64_t>;

// The checks behind Call, by an argument's place.
void *checked(const Arguments &call, int tensor, Type type);
void *checked(const Arguments &call, int tensor, Type type, Sizes shape);
const int32_t *checkedIndices(const Arguments &call, int tensor, Sizes shape, int64_t low, int64_t end);
bool isShape(const Tensor &tensor, Sizes shape);
void expectSameShape(const Arguments &call, int tensor, int other);
Matrix matrixOf(const Arguments &call, int tensor);
int countOf(const Arguments &call, int tensor);
int wholeNumber(const Arguments &call, int number, double low, double high);
[[noreturn]] void reject(const Arguments &call, const std::string &argument, const std::string &expected,
                         const std::string &got);

// The arguments of one kernel under its names (kernels.h): `call.floats(call.x)` is its tensor x.
template <class Args>
struct Call : Args {
  using TensorName = typename Args::Tensor;
  using NumberName = typename Args::Number;

  const Arguments &all;

  explicit Call(const Arguments &arguments) : all(arguments) {}

  float *floats(TensorName at) const { return static_cast<float *>(checked(all, at, Type::kFloat32)); }
  float *floats(TensorName at, Sizes shape) const { return static_cast<float *>(checked(all, at, Type::kFloat32, shape)); }
  // Of the shape of another tensor.
  float *floatsLike(TensorName at, TensorName other) const {
    expectSameShape(all, at, other);
    return floats(at);
  }
  // A weight, which may be kept in 16 bits (isHalf).
  const void *floatsOrHalves(TensorName at, Sizes shape) const {
    return checked(all, at, isHalf(at) ? Type::kBfloat16 : Type::kFloat32, shape);
  }
  bool isHalf(TensorName at) const { return all.tensors[at].type == Type::kBfloat16; }
  int32_t *ints(TensorName at, Sizes shape) const { return static_cast<int32_t *>(checked(all, at, Type::kInt32, shape)); }
  // Whole numbers, each from `low` to `end` - 1.
  const int32_t *intsIn(TensorName at, Sizes shape, int64_t low, int64_t end) const {
    return checkedIndices(all, at, shape, low, end);
  }

  // Whether an optional tensor was given, and whether one has a shape.
  bool has(TensorName at) const { return all.tensors[at].rank >= 0; }
  bool isShape(TensorName at, Sizes shape) const { return braid::isShape(all.tensors[at], shape); }
  // A tensor's rows and columns; its size along an axis, 0 where it has none; how many numbers it has.
  Matrix matrix(TensorName at) const { return matrixOf(all, at); }
  int64_t size(TensorName at, int axis) const { return axis < all.tensors[at].rank ? all.tensors[at].sizes[axis] : 0; }
  int count(TensorName at) const { return countOf(all, at); }

  float number(NumberName at) const { return static_cast<float>(all.numbers[at]); }
  double exact(NumberName at) const { return all.numbers[at]; }
  bool flag(NumberName at) const { return all.numbers[at] != 0; }
  // A whole number from `low` to `high`.
  int whole(NumberName at, double low, double high) const { return wholeNumber(all, at, low, high); }

  // Throws about an argument: "Expected K's A `expected`, got `got`".
  [[noreturn]] void reject(TensorName at, const std::string &expected, const std::string &got) const {
    braid::reject(all, all.signature.tensors[at], expected, got);
  }
  [[noreturn]] void reject(NumberName at, const std::string &expected, const std::string &got) const {
    braid::reject(all, all.signature.numbers[at], expected, got);
  }
};

}  // namespace braid
