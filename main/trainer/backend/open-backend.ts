import '../../tensor/gradients.ts';
import { availableParallelism } from 'node:os';
import * as tf from '@tensorflow/tfjs-core';
import { BraidError } from '../../errors.ts';
import { mayHaveGpu } from '../../native/gpu-memory.ts';
import { gpuNote } from '../../native/gpu-settings.ts';
import { type NativeProblem, problemSentence } from '../../native/problems.ts';
import { vulkanProblem } from '../../native/vulkan-driver.ts';
import { NATIVE_BACKEND } from '../../tensor/native/load.ts';
import { closeNativeBackend, type NativeOpening, openNativeBackend } from '../../tensor/native/open.ts';
import { closeWasmBackend, openWasmBackend } from '../../tensor/wasm/boot.ts';
import { WEBGPU_BACKEND, type WebGpuBackend } from '../../tensor/webgpu/backend.ts';
import { adapterName, gpuOptions } from '../../tensor/webgpu/describe.ts';
import { abandonWebGpuBackend, closeWebGpuBackend, openWebGpuBackend } from '../../tensor/webgpu/open.ts';
import { measureSpeed } from '../../tensor/webgpu/speed.ts';
import { counted } from '../../text/format.ts';
import type { BackendName, BackendSetting } from '../config/backend-names.ts';
import { MOST_TRIAL_MS, secondsOfTrial, type TrialRun, type TrialShapes, trialShapes } from './trial.ts';

export interface BackendChoice {
  readonly backend: BackendSetting;
  /** 0: all cores. */
  readonly threads: number;
  readonly kernelsFile: string;
  /** The model that the work is on: auto tries GPU and processor with its shapes. */
  readonly modelFolder?: string;
  /** The run that it is for: its rows and weights are tried. */
  readonly run?: TrialRun;
  /** Whether a GPU is to time what it computes, piece by piece, which makes all of it slower. */
  readonly timed?: boolean;
}

/** An open tensor backend and why it was chosen. */
export interface OpenBackend {
  readonly name: BackendName;
  readonly threads: number;
  readonly why: string;
  /** What speaks against it, although it was asked for. */
  readonly warning?: string;
  close(): Promise<void>;
}

/** Measured: with TensorFlow's ops alone, a step on the CPU takes twice as long as on wasm. */
const SLOW_NATIVE =
  "the native backend has no GPU, and its addon lacks Braid's kernels, so it is slower; setting it up again (Settings, Native backend) rebuilds it";

/**
 * Opens the requested backend. `auto` uses native on a CUDA GPU, then any real GPU that is faster than the CPU, then the
 * CPU's best backend; it reports which one and why.
 */
export async function openBackend(choice: BackendChoice): Promise<OpenBackend> {
  const { backend, threads, kernelsFile, modelFolder, run, timed = false } = choice;
  const count = threads === 0 ? availableParallelism() : threads;
  if (backend === 'wasm') return openWasm(count, kernelsFile, 'as requested');
  if (backend === 'webgpu') return openGpu(await openWebGpuBackend({ ...gpuOptions(), timed }), count, 'as requested');
  const native = await openNativeBackend(count);
  if (native.ok && (backend === 'native' || native.gpu)) return nativeBackend(native, count, backend);
  if (backend === 'native') throw noNative((native as Extract<NativeOpening, { ok: false }>).problem);
  const shapes = trialShapes(modelFolder, run);
  const found = await tryRealGpu(shapes);
  const processor = await openProcessor(native, count, kernelsFile);
  const name = processor.name === 'native' ? NATIVE_BACKEND : processor.name;
  await tf.setBackend(name);
  if (found === null) return { ...processor, why: `${processor.why}${missingDriver()}` };
  if (typeof found === 'string') return { ...processor, why: `${processor.why}; the GPU isn't used: ${found}` };
  const { gpu, seconds: tried } = found;
  const seconds = secondsOfTrial(shapes);
  if (tried < seconds) {
    await processor.close();
    await tf.setBackend(WEBGPU_BACKEND);
    if (!timed) measureSpeed(gpu);
    return openGpu(
      timed ? await openAgain(gpu) : gpu,
      count,
      `${(seconds / tried).toFixed(1)} times as fast as ${processor.name} when tried`,
    );
  }
  await closeWebGpuBackend(gpu);
  await tf.setBackend(name);
  return { ...processor, why: `${processor.why}; faster than the GPU when tried` };
}

/** A driver that has to wake its GPU takes a second or two. */
const MOST_OPENING_MS = 10_000;

/** Codes of a machine without a GPU, or without the package that reaches one. */
const ABSENT = ['NO_GPU', 'NO_WEBGPU'];

interface TriedGpu {
  readonly gpu: WebGpuBackend;
  /** Of its trial. */
  readonly seconds: number;
}

/**
 * A GPU for `auto`: null where there is none, or only a software one, which is slower than any backend; a text says why
 * one can't be used. One that fails or hangs must not keep a run from starting.
 */
async function tryRealGpu(shapes: TrialShapes): Promise<TriedGpu | string | null> {
  // Electron can't load Dawn, and a checkout without optional packages has none.
  if (process.versions.electron !== undefined || !mayHaveGpu()) return null;
  let gpu: WebGpuBackend;
  try {
    gpu = await openWebGpuBackend({ ...gpuOptions(), deadline: performance.now() + MOST_OPENING_MS });
  } catch (error) {
    // No GPU is nothing wrong: the processor's backends need none, and `doctor` says what is missing.
    if (error instanceof BraidError && ABSENT.includes(error.code)) return null;
    return reasonOf(error, `opening it took longer than ${MOST_OPENING_MS / 1000} s`);
  }
  if (gpu.gpu.adapter.software) {
    await closeWebGpuBackend(gpu);
    return null;
  }
  try {
    gpu.gpu.deadline = performance.now() + MOST_TRIAL_MS;
    const seconds = secondsOfTrial(shapes);
    gpu.gpu.deadline = Number.POSITIVE_INFINITY;
    return { gpu, seconds };
  } catch (error) {
    abandonWebGpuBackend(gpu);
    return reasonOf(error, `its trial took longer than ${MOST_TRIAL_MS / 1000} s`);
  }
}

/** Why a GPU can't be used. */
function reasonOf(error: unknown, slow: string): string {
  if (error instanceof BraidError && error.code === 'GPU_SLOW') return slow;
  return error instanceof Error ? error.message : String(error);
}

/** Of a GPU that is there and has a driver, what this lacks. */
function missingDriver(): string {
  if (process.platform !== 'linux' || !mayHaveGpu()) return '';
  const problem = vulkanProblem();
  return problem?.kind === 'library' ? `; the GPU isn't used: ${problem.what}` : '';
}

/** The same GPU, timing what it computes: while it is tried it must not. */
async function openAgain(gpu: WebGpuBackend): Promise<WebGpuBackend> {
  await closeWebGpuBackend(gpu);
  return openWebGpuBackend({ ...gpuOptions(), timed: true });
}

async function openGpu(backend: WebGpuBackend, threads: number, reason: string): Promise<OpenBackend> {
  const { adapter } = backend.gpu;
  const slow = 'a software adapter: for tests, slower than wasm';
  const software = adapter.software ? `; ${slow}` : '';
  return {
    name: 'webgpu',
    threads,
    why: `${adapterName(adapter)} by WebGPU (${reason}${software})`,
    ...(adapter.software && { warning: `${adapterName(adapter)} is ${slow}` }),
    close: () => closeWebGpuBackend(backend),
  };
}

/** The best that the processor has. */
async function openProcessor(native: NativeOpening, threads: number, kernelsFile: string): Promise<OpenBackend> {
  if (!native.ok) return openWasm(threads, kernelsFile, problemSentence(native.problem));
  if (native.kernels) return nativeBackend(native, threads, 'auto');
  closeNativeBackend();
  return openWasm(threads, kernelsFile, SLOW_NATIVE);
}

function nativeBackend(
  native: Extract<NativeOpening, { ok: true }>,
  threads: number,
  asked: BackendSetting,
): OpenBackend {
  const device = native.gpu ? `on ${gpuNote()}` : `on ${counted(threads, 'thread')} of the CPU`;
  const reason = asked === 'native' ? 'as requested' : 'its self-check passed';
  return {
    name: 'native',
    threads,
    why: `TensorFlow ${native.tensorflow} ${device} (${reason})`,
    close: async () => closeNativeBackend(),
  };
}

async function openWasm(threads: number, kernelsFile: string, reason: string): Promise<OpenBackend> {
  const runtime = await openWasmBackend({ threads, kernelsFile });
  return {
    name: 'wasm',
    threads,
    why: `WebAssembly on ${counted(threads, 'thread')}${runtime.wide ? ', 256-bit vectors' : ''} (${reason})`,
    close: () => closeWasmBackend(runtime),
  };
}

function noNative(problem: NativeProblem): BraidError {
  return new BraidError('NO_NATIVE_BACKEND', `The native backend doesn't work: ${problemSentence(problem)}`, {
    kind: 'input',
    remedy:
      'Set it up in Settings, Native backend, or use the wasm backend, which needs nothing beyond the installation.',
  });
}
