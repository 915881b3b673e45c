#include "kernels.h"

#include <sstream>

namespace braid {
namespace {

// "(a, b)" of the list of kernels → its names.
std::vector<std::string> namesIn(const std::string &list) {
  std::vector<std::string> names;
  std::istringstream stream(list.substr(1, list.size() - 2));
  for (std::string name; std::getline(stream >> std::ws, name, ',');) names.push_back(name);
  return names;
}

template <class Args, void (*kernel)(const Call<Args> &)>
void run(const Arguments &arguments) {
  kernel(Call<Args>(arguments));
}

}  // namespace

const std::vector<KernelEntry> &allKernels() {
#define BRAID_ENTRY(name, tensors, numbers) {{#name, namesIn(#tensors), namesIn(#numbers)}, run<args::name, name>},
  static const std::vector<KernelEntry> kernels = {BRAID_KERNELS(BRAID_ENTRY)};
#undef BRAID_ENTRY
  return kernels;
}

const KernelEntry *kernelNamed(const std::string &name) {
  for (const KernelEntry &each : allKernels())
    if (each.signature.name == name) return &each;
  return nullptr;
}

}  // namespace braid
