/** The causal convolution of each channel by itself, its gradient, and one token of it. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { CONVOLUTION, CONVOLUTION_GRAD, CONVOLUTION_STEP } from '../kernels/ids.ts';
import { type FusedCall, matrixShape, registerFused, serialElements } from './fused.ts';
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

/** The first parameters of the kernels over packed tokens; `rows` and `before` are addresses. */
function firstArgs(call: FusedCall, { tokens, width, taps }: Sizes, rows: number, before: number): number[] {
  const pointers = [call.pointer('x'), call.pointer('weight'), call.pointer('bias'), rows, before];
  return [...pointers, tokens, width, taps, call.flag('silu') ? 1 : 0];
}

function convolution(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap } = runtime;
  const sizes = sizesOf(call);
  call.expectShape('rows', [sizes.tokens, sizes.taps - 1]);
  const y = heap.output([sizes.tokens, sizes.width], 'float32');
  const args = firstArgs(call, sizes, call.pointer('rows'), call.has('before') ? call.pointer('before') : 0);
  const tiles = Math.ceil(sizes.width / CHANNELS) * Math.ceil(sizes.tokens / TOKENS);
  const isParallel = sizes.tokens * sizes.width > serialElements;
  runtime.pool.run(CONVOLUTION, [...args, TOKENS, heap.pointer(y)], tiles, isParallel);
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

function convolutionStep(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap } = runtime;
  const { tokens: rows, width, taps } = sizesOf(call);
  call.expectShape('states', [rows, (taps - 1) * width]);
  const y = heap.output([rows, width], 'float32');
  const [x, weight, bias] = [call.pointer('x'), call.pointer('weight'), call.pointer('bias')];
  const cell = { weight, bias, taps, silu: call.flag('silu') };
  convolutionStepAt(runtime, { x, ...cell, states: call.pointer('states'), y: heap.pointer(y), rows, width });
  return y;
}

/** One token a row at the level of addresses. */
export interface ConvolutionStepAt {
  readonly x: number;
  readonly weight: number;
  readonly bias: number;
  readonly taps: number;
  readonly silu: boolean;
  /** Of each row the taps - 1 tokens before its own, oldest first; they move on in place. */
  readonly states: number;
  readonly y: number;
  readonly rows: number;
  readonly width: number;
}

export function convolutionStepAt({ pool }: WasmRuntime, step: ConvolutionStepAt): void {
  const { x, weight, bias, states, rows, width, taps, silu, y } = step;
  const args = [x, weight, bias, states, 0, rows, width, taps, silu ? 1 : 0, y];
  pool.run(CONVOLUTION_STEP, args, Math.ceil(width / CHANNELS), rows * width > serialElements);
}
