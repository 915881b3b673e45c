// The addon of @tensorflow/tfjs-node-gpu with three functions more: kernels of our own that compute on the processor in
// the memory of TensorFlow's tensors, for which an op of TensorFlow's takes longer to begin than to compute.
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

#include "call.h"
#include "kernels.h"
#include "pool.h"

namespace braid {
namespace {

struct Named {
  const char *name;
  Kernel kernel;
};

constexpr Named kKernels[] = {
    {"product", product},
    {"add", add},
    {"copy", copy},
    {"rmsNorm", rmsNorm},
    {"rmsNormGradX", rmsNormGradX},
    {"rmsNormGradWeight", rmsNormGradWeight},
    {"rope", rope},
    {"swiglu", swiglu},
    {"swigluGrad", swigluGrad},
    {"gatherRows", gatherRows},
    {"scatterAddRows", scatterAddRows},
    {"attention", attention},
    {"attentionGrad", attentionGrad},
    {"decodeAttention", decodeAttention},
    {"logSoftmax", logSoftmax},
    {"logSoftmaxGrad", logSoftmaxGrad},
    {"sample", sample},
    {"adamw", adamw},
    {"addInPlace", addInPlace},
    {"sumSquares", sumSquares},
};

napi_value fail(napi_env env, const std::string &message) {
  napi_throw_error(env, nullptr, message.c_str());
  return nullptr;
}

// The numbers of a JavaScript array; false where it is none or too long.
template <class Number>
bool readNumbers(napi_env env, napi_value array, uint32_t most, Number *to, uint32_t *count) {
  if (napi_get_array_length(env, array, count) != napi_ok || *count > most) return false;
  for (uint32_t i = 0; i < *count; i++) {
    napi_value element;
    double number;
    if (napi_get_element(env, array, i, &element) != napi_ok) return false;
    if (napi_get_value_double(env, element, &number) != napi_ok) return false;
    to[i] = static_cast<Number>(number);
  }
  return true;
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

  // Null where there is no such tensor.
  void *of(tfnodejs::TFJSBackend *backend, int32_t id) {
    const auto entry = backend->tfe_handle_map_.find(id);
    if (entry == backend->tfe_handle_map_.end()) return nullptr;
    TF_Tensor *const tensor = TFE_TensorHandleResolve(entry->second, status_);
    if (tensor == nullptr) return nullptr;
    tensors_[count_++] = tensor;
    return TF_TensorData(tensor);
  }

 private:
  TF_Tensor *tensors_[kMaxTensors];
  int count_ = 0;
  TF_Status *const status_ = TF_NewStatus();
};

// runKernel(name, ids of tensors, numbers)
napi_value runKernel(napi_env env, napi_callback_info info) {
  size_t argc = 3;
  napi_value args[3];
  napi_get_cb_info(env, info, &argc, args, nullptr, nullptr);
  char name[32];
  size_t length;
  if (argc < 3 || napi_get_value_string_utf8(env, args[0], name, sizeof name, &length) != napi_ok)
    return fail(env, "Expected runKernel to get a name, tensors and numbers");
  const Kernel kernel = kernelNamed(name);
  if (kernel == nullptr) return fail(env, std::string("Expected the name of a kernel, got ") + name);
  int32_t ids[kMaxTensors];
  uint32_t count;
  Call call{};
  if (!readNumbers(env, args[1], kMaxTensors, ids, &count)) return fail(env, "Expected a list of tensors");
  uint32_t numbers;
  if (!readNumbers(env, args[2], kMaxNumbers, call.numbers, &numbers)) return fail(env, "Expected a list of numbers");
  Memory memory;
  tfnodejs::TFJSBackend *const backend = backendOf(env);
  for (uint32_t i = 0; i < count; i++) {
    call.tensors[i] = memory.of(backend, ids[i]);
    if (call.tensors[i] == nullptr) return fail(env, std::string(name) + ": expected tensors in the processor's memory");
  }
  try {
    kernel(call);
  } catch (const std::exception &error) {
    return fail(env, std::string(name) + ": " + error.what());
  }
  return nullptr;
}

// allocateTensor(shape, type) → the number of a tensor with dirty memory
napi_value allocateTensor(napi_env env, napi_callback_info info) {
  size_t argc = 2;
  napi_value args[2];
  napi_get_cb_info(env, info, &argc, args, nullptr, nullptr);
  int64_t shape[8];
  uint32_t rank;
  int32_t type;
  if (argc < 2 || !readNumbers(env, args[0], 8, shape, &rank) || napi_get_value_int32(env, args[1], &type) != napi_ok)
    return fail(env, "Expected allocateTensor to get a shape and a type");
  size_t bytes = TF_DataTypeSize(static_cast<TF_DataType>(type));
  for (uint32_t i = 0; i < rank; i++) bytes *= shape[i];
  TF_Tensor *const tensor = TF_AllocateTensor(static_cast<TF_DataType>(type), shape, rank, bytes);
  // TensorFlow gives a tensor without memory where there is none left.
  if (tensor == nullptr || (bytes > 0 && TF_TensorData(tensor) == nullptr)) {
    if (tensor != nullptr) TF_DeleteTensor(tensor);
    return fail(env, "OOM when allocating a tensor of " + std::to_string(bytes) + " bytes");
  }
  TF_Status *const status = TF_NewStatus();
  TFE_TensorHandle *const handle = TFE_NewTensorHandle(tensor, status);
  TF_DeleteTensor(tensor);
  TF_DeleteStatus(status);
  napi_value id;
  napi_create_int32(env, backendOf(env)->InsertHandle(handle), &id);
  return id;
}

// growPool(count)
napi_value growPool(napi_env env, napi_callback_info info) {
  size_t argc = 1;
  napi_value args[1];
  int32_t count = 1;
  napi_get_cb_info(env, info, &argc, args, nullptr, nullptr);
  if (argc < 1 || napi_get_value_int32(env, args[0], &count) != napi_ok) return fail(env, "Expected a number of threads");
  Pool::get().grow(count);
  return nullptr;
}

// Memory that a step gives back serves the next one: returned to the system, each page of it would be cleared anew.
void keepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

void define(napi_env env, napi_value exports, const char *name, napi_callback callback) {
  napi_value function;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function);
  napi_set_named_property(env, exports, name, function);
}

}  // namespace

Kernel kernelNamed(const char *name) {
  for (const Named &each : kKernels)
    if (std::strcmp(each.name, name) == 0) return each.kernel;
  return nullptr;
}

}  // namespace braid

NAPI_MODULE_INIT() {
  exports = tfnodejs::InitTFNodeJSBinding(env, exports);
  if (exports == nullptr) return nullptr;
  braid::keepFreedMemory();
  braid::define(env, exports, "runKernel", braid::runKernel);
  braid::define(env, exports, "allocateTensor", braid::allocateTensor);
  braid::define(env, exports, "growPool", braid::growPool);
  return exports;
}
