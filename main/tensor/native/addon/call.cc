#include "call.h"

#include <climits>
#include <cmath>

namespace braid {
namespace {

const char *nameOf(Type type) {
  switch (type) {
    case Type::kFloat32:
      return "float32";
    case Type::kInt32:
      return "int32";
    case Type::kBfloat16:
      return "bfloat16";
  }
  return "another type";
}

std::string shapeText(const int64_t *sizes, int rank) {
  std::string text = "[";
  for (int axis = 0; axis < rank; axis++) text += (axis > 0 ? ", " : "") + std::to_string(sizes[axis]);
  return text + "]";
}

std::string shapeText(const Tensor &tensor) {
  return tensor.rank < 0 ? "none" : shapeText(tensor.sizes, tensor.rank);
}

std::string numberText(double number) {
  const std::string text = std::to_string(number);
  return number == std::floor(number) && std::isfinite(number) ? text.substr(0, text.find('.')) : text;
}

[[noreturn]] void rejectTensor(const Arguments &call, int at, const std::string &expected, const std::string &got) {
  reject(call, call.signature.tensors[at], "to be " + expected, got);
}

}  // namespace

void reject(const Arguments &call, const std::string &argument, const std::string &expected, const std::string &got) {
  throw ArgumentError("Expected " + call.signature.name + "'s \"" + argument + "\" " + expected + ", got " + got);
}

void *checked(const Arguments &call, int tensor, Type type) {
  const Tensor &given = call.tensors[tensor];
  if (given.rank < 0) rejectTensor(call, tensor, std::string("a tensor of ") + nameOf(type), "none");
  if (given.type != type) rejectTensor(call, tensor, nameOf(type), nameOf(given.type));
  return given.data;
}

void *checked(const Arguments &call, int tensor, Type type, Sizes shape) {
  const Tensor &given = call.tensors[tensor];
  if (!isShape(given, shape))
    rejectTensor(call, tensor, shapeText(shape.begin(), static_cast<int>(shape.size())), shapeText(given));
  return checked(call, tensor, type);
}

const int32_t *checkedIndices(const Arguments &call, int tensor, Sizes shape, int64_t low, int64_t end) {
  const int32_t *const values = static_cast<const int32_t *>(checked(call, tensor, Type::kInt32, shape));
  const int count = countOf(call, tensor);
  for (int i = 0; i < count; i++) {
    if (values[i] >= low && values[i] < end) continue;
    rejectTensor(call, tensor, "from " + std::to_string(low) + " to " + std::to_string(end - 1), std::to_string(values[i]));
  }
  return values;
}

bool isShape(const Tensor &tensor, Sizes shape) {
  if (tensor.rank != static_cast<int>(shape.size())) return false;
  for (int axis = 0; axis < tensor.rank; axis++)
    if (tensor.sizes[axis] != shape.begin()[axis]) return false;
  return true;
}

void expectSameShape(const Arguments &call, int tensor, int other) {
  const Tensor &given = call.tensors[tensor], &like = call.tensors[other];
  bool same = given.rank == like.rank;
  for (int axis = 0; same && axis < given.rank; axis++) same = given.sizes[axis] == like.sizes[axis];
  if (!same) rejectTensor(call, tensor, shapeText(like), shapeText(given));
}

Matrix matrixOf(const Arguments &call, int tensor) {
  const Tensor &given = call.tensors[tensor];
  if (given.rank != 2) rejectTensor(call, tensor, "a matrix", shapeText(given));
  if (given.sizes[0] > INT_MAX || given.sizes[1] > INT_MAX)
    rejectTensor(call, tensor, "at most 2147483647 rows and columns", shapeText(given));
  return {static_cast<int>(given.sizes[0]), static_cast<int>(given.sizes[1])};
}

int countOf(const Arguments &call, int tensor) {
  const Tensor &given = call.tensors[tensor];
  int64_t count = 1;
  for (int axis = 0; axis < given.rank; axis++) {
    if (__builtin_mul_overflow(count, given.sizes[axis], &count) || count > INT_MAX)
      rejectTensor(call, tensor, "at most 2147483647 numbers", shapeText(given));
  }
  return static_cast<int>(count);
}

int wholeNumber(const Arguments &call, int number, double low, double high) {
  const double value = call.numbers[number];
  if (value >= low && value <= high && value == std::floor(value)) return static_cast<int>(value);
  reject(call, call.signature.numbers[number], "to be a whole number from " + numberText(low) + " to " + numberText(high),
         numberText(value));
}

}  // namespace braid
