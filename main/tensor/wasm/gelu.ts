/** GELU by the error function. */
import { GELU } from '../kernels/ids.ts';
import { registerFused } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Elements per tile. */
const perTile = 8192;

/** Registers 'Gelu'. */
export function registerGelu(runtime: WasmRuntime): void {
  registerFused(runtime, 'Gelu', ({ heap, pool }, call) => {
    const shape = call.shape('x');
    const out = heap.output(shape, 'float32');
    const elements = shape.reduce((product, size) => product * size, 1);
    pool.run(GELU, [call.pointer('x'), heap.pointer(out), elements, perTile], Math.ceil(elements / perTile));
    return out;
  });
}
