/** The causal convolution of each channel by itself, its gradient, and one token of it. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { CONVOLUTION, CONVOLUTION_GRAD } from '../kernels/ids.ts';
import { type FusedCall, matrixShape, registerFused, serialElements, withTables } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Channels of a tile, as in the kernel. */
const CHANNELS = 64;
/** Tokens of a tile. */
const TOKENS = 128;

/** Registers 'CausalConvolution', 'CausalConvolutionGrad' and 'CausalConvolutionStep'. */
export function registerCausalConvolution(runtime: WasmRuntime): void {
  registerFused(runtime, 'CausalConvolution', convolution);
  registerFused(runtime, 'CausalConvolutionGrad', convolutionGrad);
  registerFused(runtime, 'CausalConvolutionStep', convolutionStep);
}

interface Sizes {
  readonly tokens: number;
  readonly width: number;
  readonly taps: number;
}

function sizesOf(call: FusedCall): Sizes {
  const [tokens, width] = matrixShape(call, 'x');
  const taps = call.shape('weight')[2] ?? 0;
  call.expectShape('weight', [width, 1, taps]);
  call.expectShape('bias', [width]);
  return { tokens, width, taps };
}

/** The first parameters of both kernels; `rows` and `before` are addresses. */
function firstArgs(call: FusedCall, { tokens, width, taps }: Sizes, rows: number, before: number): number[] {
  const pointers = [call.pointer('x'), call.pointer('weight'), call.pointer('bias'), rows, before];
  return [...pointers, tokens, width, taps, call.flag('silu') ? 1 : 0];
}

function run({ pool }: WasmRuntime, { tokens, width }: Sizes, args: readonly number[], y: number): void {
  const tiles = Math.ceil(width / CHANNELS) * Math.ceil(tokens / TOKENS);
  pool.run(CONVOLUTION, [...args, TOKENS, y], tiles, tokens * width > serialElements);
}

function convolution(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap } = runtime;
  const sizes = sizesOf(call);
  call.expectShape('rows', [sizes.tokens, sizes.taps - 1]);
  const y = heap.output([sizes.tokens, sizes.width], 'float32');
  const args = firstArgs(call, sizes, call.pointer('rows'), call.has('before') ? call.pointer('before') : 0);
  run(runtime, sizes, args, heap.pointer(y));
  return y;
}

function convolutionGrad({ heap, pool }: WasmRuntime, call: FusedCall): TensorInfo[] {
  const sizes = sizesOf(call);
  const { tokens, width, taps } = sizes;
  call.expectShape('rows', [tokens, taps - 1]);
  call.expectShape('dy', [tokens, width]);
  const made = [[tokens, width], [width, 1, taps], [width]].map((shape) => heap.output(shape, 'float32'));
  const args = [...firstArgs(call, sizes, call.pointer('rows'), 0), 0, call.pointer('dy')];
  const addresses = made.map((info) => heap.pointer(info));
  pool.run(CONVOLUTION_GRAD, [...args, ...addresses], Math.ceil(width / CHANNELS), tokens * width > serialElements);
  return made;
}

/** A row's state is the taps - 1 tokens before its own, oldest first; it moves on in place. */
function convolutionStep(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap } = runtime;
  const sizes = sizesOf(call);
  const { tokens: rows, width, taps } = sizes;
  const stateWidth = (taps - 1) * width;
  call.expectShape('states', [rows, stateWidth]);
  const y = heap.output([rows, width], 'float32');
  const at = call.pointer('states');
  const places = Array.from({ length: rows * (taps - 1) }, (_, place) => rows + place);
  withTables(heap, [places], ([table = 0]) => run(runtime, sizes, firstArgs(call, sizes, table, at), heap.pointer(y)));
  const states = heap.f32(at, rows * stateWidth);
  const x = heap.f32(call.pointer('x'), rows * width);
  for (let row = 0; row < rows; row++) {
    const [first, end] = [row * stateWidth, (row + 1) * stateWidth];
    states.copyWithin(first, first + width, end);
    states.set(x.subarray(row * width, (row + 1) * width), end - width);
  }
  return y;
}
