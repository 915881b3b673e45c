/** LayerNorm over [N, D]. */
import { LAYER_NORM } from '../kernels/ids.ts';
import { matrixShape, registerFused, runRows } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Registers 'LayerNorm'. */
export function registerLayerNorm(runtime: WasmRuntime): void {
  registerFused(runtime, 'LayerNorm', ({ heap, pool }, call) => {
    const [rows, width] = matrixShape(call, 'x');
    call.expectShape('weight', [width]);
    call.expectShape('bias', [width]);
    const out = heap.output([rows, width], 'float32');
    const [x, weight, bias] = [call.pointer('x'), call.pointer('weight'), call.pointer('bias')];
    const [y, eps] = [heap.pointer(out), call.number('eps')];
    runRows(pool, LAYER_NORM, { x, y, rows, width }, (each) => [x, weight, bias, y, rows, width, eps, each]);
    return out;
  });
}
