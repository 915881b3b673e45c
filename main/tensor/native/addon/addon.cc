// The addon of @tensorflow/tfjs-node-gpu with kernels of our own: they compute on the processor in the memory of
// TensorFlow's tensors, for which an op of TensorFlow's takes longer to begin than to compute.
// The package's table of tensors is private: this file is compiled without access control.
#include <node_api.h>

// The package's own registration is called by ours.
#undef NAPI_MODULE
#define NAPI_MODULE(name, init)
#include "binding/tfjs_binding.cc"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <exception>
#include <string>

#include "gemm.h"
#include "kernels.h"
#include "memory.h"
#include "pool.h"

namespace braid {
namespace {

// The numbers of a JavaScript array of known length; false where an element is none.
template <class Number>
bool readElements(napi_env env, napi_value array, size_t count, Number *to) {
  for (size_t i = 0; i < count; i++) {
    napi_value element;
    double number;
    if (napi_get_element(env, array, static_cast<uint32_t>(i), &element) != napi_ok) return false;
    if (napi_get_value_double(env, element, &number) != napi_ok) return false;
    to[i] = static_cast<Number>(number);
  }
  return true;
}

// The same, one for each argument of a kernel.
template <class Number>
void readNumbers(napi_env env, napi_value array, const Signature &kernel, size_t count, Number *to) {
  uint32_t length = 0;
  if (napi_get_array_length(env, array, &length) == napi_ok && length == count && readElements(env, array, count, to)) return;
  throw ArgumentError("Expected " + std::to_string(count) + " arguments of " + kernel.name + ", got " +
                      std::to_string(length));
}

tfnodejs::TFJSBackend *backendOf(napi_env env) {
  void *backend = nullptr;
  napi_get_instance_data(env, &backend);
  return static_cast<tfnodejs::TFJSBackend *>(backend);
}

// The memory of tensors, held while a kernel runs.
class Memory {
 public:
  ~Memory() {
    for (int i = 0; i < count_; i++) TF_DeleteTensor(tensors_[i]);
    TF_DeleteStatus(status_);
  }

  // Throws where there is no such tensor on the processor.
  Tensor of(tfnodejs::TFJSBackend *backend, int32_t id) {
    const auto entry = backend->tfe_handle_map_.find(id);
    if (entry == backend->tfe_handle_map_.end())
      throw ArgumentError("Expected the number of a tensor, got " + std::to_string(id));
    TF_Tensor *const tensor = TFE_TensorHandleResolve(entry->second, status_);
    if (tensor == nullptr) throw std::runtime_error(TF_Message(status_));
    tensors_[count_++] = tensor;
    Tensor result;
    result.data = TF_TensorData(tensor);
    result.type = static_cast<Type>(TF_TensorType(tensor));
    result.rank = TF_NumDims(tensor);
    if (result.rank > kMaxRank) throw ArgumentError("Expected at most 8 axes, got " + std::to_string(result.rank));
    for (int axis = 0; axis < result.rank; axis++) result.sizes[axis] = TF_Dim(tensor, axis);
    if (result.data == nullptr && TF_TensorElementCount(tensor) > 0)
      throw ArgumentError("Expected a tensor in the processor's memory, got one without");
    return result;
  }

 private:
  TF_Tensor *tensors_[kMaxTensors];
  int count_ = 0;
  TF_Status *const status_ = TF_NewStatus();
};

// Runs what JavaScript calls; what it throws becomes an exception there, a RangeError where an argument is at fault.
template <napi_value (*function)(napi_env, napi_callback_info)>
napi_value guarded(napi_env env, napi_callback_info info) {
  try {
    return function(env, info);
  } catch (const ArgumentError &error) {
    napi_throw_range_error(env, nullptr, error.what());
  } catch (const std::exception &error) {
    napi_throw_error(env, nullptr, error.what());
  }
  return nullptr;
}

// runKernel(name, numbers of tensors, numbers), both in the order of kernelArguments; -1 is a tensor that is left out.
napi_value runKernel(napi_env env, napi_callback_info info) {
  size_t argc = 3;
  napi_value args[3];
  napi_get_cb_info(env, info, &argc, args, nullptr, nullptr);
  char name[32];
  size_t length;
  if (argc < 3 || napi_get_value_string_utf8(env, args[0], name, sizeof name, &length) != napi_ok)
    throw ArgumentError("Expected runKernel to get a name, tensors and numbers");
  const KernelEntry *const kernel = kernelNamed(name);
  if (kernel == nullptr) throw ArgumentError(std::string("Expected the name of a kernel, got ") + name);
  Arguments call{kernel->signature};
  int32_t ids[kMaxTensors];
  readNumbers(env, args[1], kernel->signature, kernel->signature.tensors.size(), ids);
  readNumbers(env, args[2], kernel->signature, kernel->signature.numbers.size(), call.numbers);
  Memory memory;
  tfnodejs::TFJSBackend *const backend = backendOf(env);
  for (size_t i = 0; i < kernel->signature.tensors.size(); i++)
    if (ids[i] >= 0) call.tensors[i] = memory.of(backend, ids[i]);
  kernel->run(call);
  return nullptr;
}

// A tensor with dirty memory.
TF_Tensor *newTensor(TF_DataType type, const int64_t *shape, int rank, size_t bytes) {
  const auto outOfMemory = [&] { return std::runtime_error("OOM when allocating a tensor of " + std::to_string(bytes) + " bytes"); };
  if (bytes >= kLarge) {
    void *block;
    try {
      block = takeLarge(bytes);
    } catch (const std::bad_alloc &) {
      throw outOfMemory();
    }
    return TF_NewTensor(type, shape, rank, block, bytes, [](void *data, size_t, void *) { giveLarge(data); }, nullptr);
  }
  TF_Tensor *const tensor = TF_AllocateTensor(type, shape, rank, bytes);
  // TensorFlow gives a tensor without memory where there is none left.
  if (tensor != nullptr && (bytes == 0 || TF_TensorData(tensor) != nullptr)) return tensor;
  if (tensor != nullptr) TF_DeleteTensor(tensor);
  throw outOfMemory();
}

// allocateTensor(shape, type) → the number of a tensor with dirty memory
napi_value allocateTensor(napi_env env, napi_callback_info info) {
  size_t argc = 2;
  napi_value args[2];
  napi_get_cb_info(env, info, &argc, args, nullptr, nullptr);
  int64_t shape[kMaxRank];
  uint32_t rank;
  int32_t type;
  if (argc < 2 || napi_get_array_length(env, args[0], &rank) != napi_ok || rank > kMaxRank ||
      !readElements(env, args[0], rank, shape) || napi_get_value_int32(env, args[1], &type) != napi_ok)
    throw ArgumentError("Expected allocateTensor to get a shape and a type");
  int64_t bytes = TF_DataTypeSize(static_cast<TF_DataType>(type));
  if (bytes == 0) throw ArgumentError("Expected a type of numbers, got " + std::to_string(type));
  for (uint32_t i = 0; i < rank; i++) {
    if (shape[i] < 0 || __builtin_mul_overflow(bytes, shape[i], &bytes))
      throw ArgumentError("Expected a shape that memory can hold, got a size of " + std::to_string(shape[i]));
  }
  TF_Tensor *const tensor = newTensor(static_cast<TF_DataType>(type), shape, rank, bytes);
  TF_Status *const status = TF_NewStatus();
  TFE_TensorHandle *const handle = TFE_NewTensorHandle(tensor, status);
  TF_DeleteTensor(tensor);
  TF_DeleteStatus(status);
  napi_value id;
  napi_create_int32(env, backendOf(env)->InsertHandle(handle), &id);
  return id;
}

// More than any machine has.
constexpr int kMaxThreads = 1024;

// growPool(count)
napi_value growPool(napi_env env, napi_callback_info info) {
  size_t argc = 1;
  napi_value args[1];
  int32_t count = 1;
  napi_get_cb_info(env, info, &argc, args, nullptr, nullptr);
  if (argc < 1 || napi_get_value_int32(env, args[0], &count) != napi_ok)
    throw ArgumentError("Expected growPool to get a number of threads");
  if (count < 1 || count > kMaxThreads)
    throw ArgumentError("Expected 1 to 1024 threads, got " + std::to_string(count));
  Pool::get().grow(count);
  return nullptr;
}

// Memory that a step gives back serves the next one: returned to the system, each page of it would be cleared again.
void keepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

void define(napi_env env, napi_value exports, const char *name, napi_callback callback) {
  napi_value function;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function);
  napi_set_named_property(env, exports, name, function);
}

napi_value namesOf(napi_env env, const std::vector<std::string> &names) {
  napi_value array;
  napi_create_array_with_length(env, names.size(), &array);
  for (size_t i = 0; i < names.size(); i++) {
    napi_value name;
    napi_create_string_utf8(env, names[i].c_str(), names[i].size(), &name);
    napi_set_element(env, array, static_cast<uint32_t>(i), name);
  }
  return array;
}

// { product: { tensors: ["a", "b", …], numbers: ["transposeA", …] }, … }
napi_value kernelArguments(napi_env env) {
  napi_value table;
  napi_create_object(env, &table);
  for (const KernelEntry &each : allKernels()) {
    napi_value kernel;
    napi_create_object(env, &kernel);
    napi_set_named_property(env, kernel, "tensors", namesOf(env, each.signature.tensors));
    napi_set_named_property(env, kernel, "numbers", namesOf(env, each.signature.numbers));
    napi_set_named_property(env, table, each.signature.name.c_str(), kernel);
  }
  return table;
}

}  // namespace
}  // namespace braid

NAPI_MODULE_INIT() {
  exports = tfnodejs::InitTFNodeJSBinding(env, exports);
  if (exports == nullptr) return nullptr;
  braid::keepFreedMemory();
  braid::define(env, exports, "runKernel", braid::guarded<braid::runKernel>);
  braid::define(env, exports, "allocateTensor", braid::guarded<braid::allocateTensor>);
  braid::define(env, exports, "growPool", braid::guarded<braid::growPool>);
  napi_set_named_property(env, exports, "kernelArguments", braid::kernelArguments(env));
  // Whether kernels that take "bfloat16" can be told so.
  napi_value bfloat16;
  napi_get_boolean(env, braid::hasBfloat16(), &bfloat16);
  napi_set_named_property(env, exports, "bfloat16", bfloat16);
  return exports;
}
