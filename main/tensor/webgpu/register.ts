/** Puts our kernels for the webgpu backend in place. One line a kernel file. */
import { registerKvCache } from '../ops/decode-attention.ts';
import { registerDecodeRun } from '../ops/decode-step.ts';
import { registerStartRead } from '../ops/pending-read.ts';
import { registerWeightMaker } from '../weights.ts';
import { WEBGPU_BACKEND, type WebGpuBackend } from './backend.ts';
import { openGpuDecodeRun } from './decode.ts';
import { registerFor } from './kernel.ts';
import { registerAdamW } from './kernels/adamw.ts';
import { registerAttention } from './kernels/attention.ts';
import { registerConvolution } from './kernels/causal-convolution.ts';
import { registerDeltaRule } from './kernels/delta-rule.ts';
import { registerElementwise } from './kernels/elementwise.ts';
import { registerLogSoftmax } from './kernels/log-softmax.ts';
import { registerLoraLinear, registerMatMul } from './kernels/matmul.ts';
import { registerNormRopeSwiGlu } from './kernels/norm-rope-swiglu.ts';
import { registerRecurrentSteps } from './kernels/recurrent-steps.ts';
import { registerReduce } from './kernels/reduce.ts';
import { registerRows } from './kernels/rows.ts';
import { registerSample } from './kernels/sample.ts';
import { registerSampleFiltered } from './kernels/sample-filtered.ts';
import { registerShape } from './kernels/shape.ts';
import { cacheFormat, openGpuKvCache } from './kv-cache.ts';
import { gpuWeight } from './weights.ts';

export function registerWebGpuKernels(backend: WebGpuBackend): void {
  const register = registerFor(backend);
  registerElementwise(register);
  registerShape(register);
  registerReduce(register);
  registerRows(register);
  registerMatMul(register);
  registerLoraLinear(register);
  registerNormRopeSwiGlu(register);
  registerAttention(register);
  registerConvolution(register);
  registerDeltaRule(register);
  registerRecurrentSteps(register);
  registerLogSoftmax(register);
  registerSample(register);
  registerSampleFiltered(register);
  registerAdamW(register);
  registerWeightMaker(WEBGPU_BACKEND, (source, shape, precision) => gpuWeight(backend, source, shape, precision));
  registerKvCache(WEBGPU_BACKEND, (prefix, rows, shape, capacity, weights) =>
    openGpuKvCache(backend, prefix, rows, capacity, shape, cacheFormat(backend, weights)),
  );
  registerStartRead(WEBGPU_BACKEND, (x) => backend.startRead(x));
  registerDecodeRun(WEBGPU_BACKEND, (model, prefix, rows, capacity) =>
    openGpuDecodeRun(backend, model, prefix, rows, capacity),
  );
}
