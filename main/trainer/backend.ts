import '../tensor/gradients.ts';
import { availableParallelism } from 'node:os';
import { BraidError } from '../errors.ts';
import { closeWasmBackend, openWasmBackend } from '../tensor/wasm/boot.ts';

export interface BackendChoice {
  readonly backend: 'auto' | 'native' | 'wasm';
  /** 0: all cores. */
  readonly threads: number;
  readonly kernelsFile: string;
}

/** An open tensor backend and why it was taken. */
export interface OpenBackend {
  readonly name: 'wasm';
  readonly threads: number;
  readonly why: string;
  close(): Promise<void>;
}

/** Opens the backend that was asked for; `auto` takes the best that works and says which and why. */
export async function openBackend({ backend, threads, kernelsFile }: BackendChoice): Promise<OpenBackend> {
  if (backend === 'native') {
    throw new BraidError(
      'NO_NATIVE_BACKEND',
      'Expected the native backend, but this version of Braid has no set-up for it yet',
      {
        kind: 'input',
        remedy: 'Use --backend wasm, which needs nothing beyond the installation.',
      },
    );
  }
  const count = threads === 0 ? availableParallelism() : threads;
  const runtime = await openWasmBackend({ threads: count, kernelsFile });
  const asked = backend === 'wasm' ? 'as asked' : 'the native backend is not set up';
  return {
    name: 'wasm',
    threads: count,
    why: `WebAssembly on ${count} ${count === 1 ? 'thread' : 'threads'}${runtime.wide ? ', 256-bit vectors' : ''} (${asked})`,
    close: () => closeWasmBackend(runtime),
  };
}
