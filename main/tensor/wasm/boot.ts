/**
 * Opens the tfjs wasm backend in Node: its threaded SIMD build, because only that one uses shared memory, but
 * without its own threads, because our pool does the parallel work.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { BackendWasm, setThreadsCount } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { compileKernels } from './compile.ts';
import { widePanelsPay } from './gemm.ts';
import { type Allocator, guardAllocator, openHeap } from './heap.ts';
import { openPool } from './pool.ts';
import { registerKernels } from './register.ts';
import type { WasmRuntime } from './runtime.ts';

export interface WasmBackendOptions {
  /** Compute threads including the main thread; default: as many as the machine has. */
  readonly threads?: number;
  /** The compiled kernels, from main/tensor/kernels/build.ts. */
  readonly kernelsFile: string;
  /** Whether V8 may use 256-bit vectors in our kernels; default: on x64, unless BRAID_REVECTORIZE is 0. */
  readonly revectorize?: boolean;
}

/** The emscripten module as its factory returns it, before the functions that BackendWasm calls are attached. */
interface EmscriptenModule extends Allocator {
  cwrap(name: string, returns: string | null, takes: readonly string[]): (...args: number[]) => number;
  tfjs?: Record<string, unknown>;
}

type ModuleFactory = (options: object) => Promise<EmscriptenModule>;

/** Emscripten's hook in place of its own loading: what it throws rejects the factory's promise. */
type Instantiate = (
  imports: WebAssembly.Imports,
  ready: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
) => WebAssembly.Instance['exports'];

// Not called `require`: electron-vite adds one of that name to its bundles.
const nodeRequire = createRequire(import.meta.url);
const backendName = 'wasm';

/** Opens the backend, puts our kernels in place and makes it tfjs's current one. */
export async function openWasmBackend(options: WasmBackendOptions): Promise<WasmRuntime> {
  const revectorize = options.revectorize ?? wantsWideVectors();
  const kernels = await compileKernels(options.kernelsFile, revectorize);
  const threads = Math.max(1, options.threads ?? os.availableParallelism());
  const memory = new WebAssembly.Memory({ initial: 1024, maximum: 65536, shared: true });
  const module = await loadModule(memory);
  const bytesInUse = guardAllocator(module);
  setThreadsCount(1);
  const backend = new BackendWasm(module as unknown as BackendWasm['wasm']);
  const heap = openHeap(backend, module, memory, bytesInUse);
  const pool = await openPool(heap, kernels, threads);
  const narrow: WasmRuntime = { backend, heap, pool, threads, wide: false };
  const runtime = { ...narrow, wide: revectorize && widePanelsPay(narrow) };
  await makeCurrent(runtime);
  return runtime;
}

/**
 * V8's 256-bit vectors are an experimental pass that exists on x64 only. It makes matrix products 1.5 to
 * 2 times as fast, and is checked bit for bit below.
 */
function wantsWideVectors(): boolean {
  return process.arch === 'x64' && process.env.BRAID_REVECTORIZE !== '0';
}

/** Disposes of the backend with all its tensors and ends its threads. */
export async function closeWasmBackend(runtime: WasmRuntime): Promise<void> {
  await runtime.pool.close();
  if (tf.findBackend(backendName) === runtime.backend) tf.removeBackend(backendName);
}

async function makeCurrent(runtime: WasmRuntime): Promise<void> {
  // tfjs-backend-wasm registered a factory of its own under this name when it was imported.
  if (tf.findBackendFactory(backendName)) tf.removeBackend(backendName);
  tf.registerBackend(backendName, () => runtime.backend, 3);
  registerKernels(runtime);
  await tf.setBackend(backendName);
}

async function loadModule(wasmMemory: WebAssembly.Memory): Promise<EmscriptenModule> {
  const folder = path.resolve(nodeRequire.resolve('@tensorflow/tfjs-backend-wasm'), '../../wasm-out');
  const factory: ModuleFactory = nodeRequire(path.join(folder, 'tfjs-backend-wasm-threaded-simd.js'));
  const compiled = new WebAssembly.Module(await readFile(path.join(folder, 'tfjs-backend-wasm-threaded-simd.wasm')));
  const instantiateWasm: Instantiate = (imports, ready) => {
    // Its own thread pool divides by what os.cpus() counts, which is nothing where processors are hidden.
    const env = { ...imports.env, emscripten_num_logical_cores: () => 1 };
    const instance = new WebAssembly.Instance(compiled, { ...imports, env });
    ready(instance, compiled);
    return instance.exports;
  };
  const module = await withoutSideEffects(() => factory({ wasmMemory, instantiateWasm }));
  const wrap = (name: string, returns: string | null, ...takes: string[]) => module.cwrap(name, returns, takes);
  module.tfjs = {
    init: wrap('init', null),
    initWithThreadsCount: wrap('init_with_threads_count', null, 'number'),
    getThreadsCount: wrap('get_threads_count', 'number'),
    registerTensor: wrap('register_tensor', null, 'number', 'number', 'number'),
    disposeData: wrap('dispose_data', null, 'number'),
    dispose: wrap('dispose', null),
  };
  return module;
}

/**
 * Runs the emscripten factory without what it does to the process: eight workers started at once (a stub reports
 * "loaded" for them), a global Worker, and listeners that rethrow every unhandled error.
 */
async function withoutSideEffects<T>(run: () => Promise<T>): Promise<T> {
  const events = ['uncaughtException', 'unhandledRejection'] as const;
  const before = new Set(events.flatMap((event) => process.rawListeners(event)));
  const worker = Object.getOwnPropertyDescriptor(globalThis, 'Worker');
  Object.defineProperty(globalThis, 'Worker', { configurable: true, get: () => IdleWorker, set: () => undefined });
  try {
    return await run();
  } finally {
    if (worker) Object.defineProperty(globalThis, 'Worker', worker);
    else Reflect.deleteProperty(globalThis, 'Worker');
    for (const event of events) {
      const added = process.rawListeners(event).filter((listener) => !before.has(listener));
      for (const listener of added) process.removeListener(event, listener as () => void);
    }
  }
}

/** A stub for the pthread workers that emscripten starts; with one thread they never get work. */
class IdleWorker {
  onmessage: ((event: { data: { cmd: string } }) => void) | undefined;

  on(): void {}
  ref(): void {}
  unref(): void {}
  terminate(): void {}

  postMessage(message: { cmd: string }): void {
    if (message.cmd === 'load') queueMicrotask(() => this.onmessage?.({ data: { cmd: 'loaded' } }));
  }
}
