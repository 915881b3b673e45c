/** Samples one token per row. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { SAMPLE_ROW } from '../kernels/ids.ts';
import { type FusedCall, matrixShape, registerFused } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Logits below which waking the workers costs more than it saves. */
const serialLogits = 8192;

/** Registers 'SampleRows'. */
export function registerSample(runtime: WasmRuntime): void {
  registerFused(runtime, 'SampleRows', sampleRows);
}

/** [ids int32, logp float32], each [B]. Temperature 0 takes the first largest logit, its logp at temperature 1. */
function sampleRows({ heap, pool }: WasmRuntime, call: FusedCall): TensorInfo[] {
  const [batch, vocabulary] = matrixShape(call, 'logits');
  const temperature = call.number('temperature');
  call.expectShape('uniforms', [batch]);
  if (!(temperature >= 0)) throw new RangeError(`Expected "temperature" to be at least 0, got ${temperature}`);
  const ids = heap.output([batch], 'int32');
  const logp = heap.output([batch], 'float32');
  const pointers = [call.pointer('logits'), call.pointer('uniforms'), heap.pointer(ids), heap.pointer(logp)];
  pool.run(SAMPLE_ROW, [...pointers, vocabulary, temperature], batch, batch * vocabulary > serialLogits);
  return [ids, logp];
}
