import '../tensor/gradients.ts';
import { availableParallelism } from 'node:os';
import { BraidError } from '../errors.ts';
import { type NativeProblem, problemSentence } from '../native/problems.ts';
import { closeNativeBackend, openNativeBackend } from '../tensor/native/open.ts';
import { closeWasmBackend, openWasmBackend } from '../tensor/wasm/boot.ts';

export interface BackendChoice {
  readonly backend: 'auto' | 'native' | 'wasm';
  /** 0: all cores. */
  readonly threads: number;
  readonly kernelsFile: string;
}

/** An open tensor backend and why it was taken. */
export interface OpenBackend {
  readonly name: 'native' | 'wasm';
  readonly threads: number;
  readonly why: string;
  close(): Promise<void>;
}

/** Measured: with TensorFlow's ops alone a step on the processor takes twice as long as on wasm. */
const SLOW_NATIVE =
  "the native backend has no GPU and an addon without Braid's kernels, which is slower; npm run setup:native builds one";

/** Opens the backend that was asked for; `auto` takes native where it works and says which and why. */
export async function openBackend({ backend, threads, kernelsFile }: BackendChoice): Promise<OpenBackend> {
  const count = threads === 0 ? availableParallelism() : threads;
  if (backend === 'wasm') return openWasm(count, kernelsFile, 'as asked');
  const native = await openNativeBackend(count);
  if (native.ok && backend === 'auto' && !native.gpu && !native.kernels) {
    closeNativeBackend();
    return openWasm(count, kernelsFile, SLOW_NATIVE);
  }
  if (native.ok) {
    const device = native.gpu ? 'on the GPU' : `on ${threadCount(count)} of the processor`;
    const reason = backend === 'native' ? 'as asked' : 'its self-check passed';
    return {
      name: 'native',
      threads: count,
      why: `TensorFlow ${native.tensorflow} ${device} (${reason})`,
      close: async () => closeNativeBackend(),
    };
  }
  if (backend === 'native') throw noNative(native.problem);
  return openWasm(count, kernelsFile, problemSentence(native.problem));
}

async function openWasm(threads: number, kernelsFile: string, reason: string): Promise<OpenBackend> {
  const runtime = await openWasmBackend({ threads, kernelsFile });
  return {
    name: 'wasm',
    threads,
    why: `WebAssembly on ${threadCount(threads)}${runtime.wide ? ', 256-bit vectors' : ''} (${reason})`,
    close: () => closeWasmBackend(runtime),
  };
}

const threadCount = (threads: number): string => `${threads} ${threads === 1 ? 'thread' : 'threads'}`;

function noNative(problem: NativeProblem): BraidError {
  return new BraidError('NO_NATIVE_BACKEND', `Expected the native backend to work, but ${problemSentence(problem)}`, {
    kind: 'input',
    remedy: 'Set it up with npm run setup:native, or use --backend wasm, which needs nothing beyond the installation.',
  });
}
