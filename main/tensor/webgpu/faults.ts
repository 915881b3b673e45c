/** What can go wrong with a GPU, in words, with what to do about it. */
import { BraidError } from '../../errors.ts';
import { didNotStart } from '../../io/start-thread.ts';
import { mayHaveGpu } from '../../native/gpu-memory.ts';
import { type VulkanProblem, vulkanProblem } from '../../native/vulkan-driver.ts';
import type { GpuFault } from './protocol.ts';

/** Dawn's binding hands out memory of its own, which Electron's V8 doesn't allow. */
export function inElectron(): BraidError {
  return new BraidError('NO_WEBGPU', 'The webgpu backend runs in plain Node, and the app found none on this system', {
    kind: 'input',
    remedy: 'Install Node 22.18 or newer and start the app again, run it in a browser by "braid serve", or use wasm.',
  });
}

export function outOfMemory(message: string): BraidError {
  return new BraidError('OUT_OF_MEMORY', `Out of GPU memory: ${message}`, {
    remedy: 'Use 16-bit base weights, fewer generations at a time, shorter records or a smaller model.',
  });
}

/** A tensor that one binding can't hold and that isn't a frozen matrix, whose lines can be split. */
export function tooLarge(bytes: number, most: number): BraidError {
  return new BraidError(
    'GPU_BUFFER_TOO_LARGE',
    `Expected a tensor of at most ${mib(most)} MiB on this GPU, got ${mib(bytes)} MiB; only frozen matrices can be split`,
    { remedy: 'Use LoRA instead of full fine-tuning, a smaller activation_memory_mb, or another GPU or backend.' },
  );
}

/** Attention keeps a tile of heads in a workgroup's memory. */
export function headsTooLarge(heads: string, bytes: number): BraidError {
  return new BraidError(
    'GPU_TOO_SMALL',
    `Attention over ${heads} needs more than this GPU's ${bytes} bytes a workgroup`,
    {
      remedy: 'Use another GPU, or the wasm backend.',
    },
  );
}

/** Whether a GPU computes nothing more after this. */
export const endsGpu = (error: unknown): boolean =>
  error instanceof BraidError && ['GPU_LOST', 'GPU_SLOW'].includes(error.code);

export const mib = (bytes: number): number => Math.ceil(bytes / 2 ** 20);

/** `problem`: what the GPU's driver lacks; null: unknown. */
export function noAdapter(message: string, problem: VulkanProblem | null): BraidError {
  const usual =
    process.platform === 'linux'
      ? 'Install the Vulkan loader (libvulkan1) and the driver of your GPU'
      : 'Install or update the driver of your GPU';
  return new BraidError('NO_GPU', `No GPU was found: ${message}${problem === null ? '' : `; ${problem.what}`}`, {
    kind: 'input',
    remedy: problem === null ? `${usual}, or use the wasm backend.` : `${problem.remedy} Or use the wasm backend.`,
  });
}

/** What went wrong with the device, with what to do about it. */
export function faultError(fault: GpuFault, message: string): BraidError {
  switch (fault) {
    case 'no-package':
      return new BraidError('NO_WEBGPU', `The webgpu package could not be loaded: ${message}`, {
        kind: 'input',
        remedy: 'Install Braid again with its optional packages, or use the wasm backend.',
      });
    case 'no-thread':
      return didNotStart('GPU_THREAD', 'The thread that computes on the GPU', message);
    case 'no-adapter':
      return noAdapter(message, process.platform === 'linux' && mayHaveGpu() ? vulkanProblem() : null);
    case 'other-name':
      return new BraidError('GPU_NOT_OPENED', `The GPU that was asked for was not found: ${message}`, {
        kind: 'input',
        remedy: 'Set BRAID_GPU to a part of one of these names, or unset it to leave the choice to the system.',
      });
    case 'no-device':
      return new BraidError('GPU_NOT_OPENED', `The GPU could not be opened: ${message}`, {
        remedy: 'Close other programs that use the GPU, update its driver, or use the wasm backend.',
      });
    case 'too-small':
      return new BraidError('GPU_TOO_SMALL', `This GPU can't run Braid's kernels: ${message}`, {
        kind: 'input',
        remedy: 'Update its driver, choose another GPU by BRAID_GPU, or use the wasm backend.',
      });
    case 'no-clock':
      return new BraidError('NO_GPU_CLOCK', `This GPU can't time what it computes: ${message}`, {
        kind: 'input',
        remedy: 'Time whole steps, without the roofline, or use another GPU or backend.',
      });
    case 'lost':
      return new BraidError('GPU_LOST', `The GPU went away: ${message}`, {
        remedy: 'Resume the run from its last checkpoint. A driver reset or sleep takes the GPU from every program.',
      });
    case 'slow':
      return new BraidError('GPU_SLOW', `The GPU didn't answer in time: ${message}`, {
        remedy: 'Close other programs that use the GPU, update its driver, or use the wasm backend.',
      });
    case 'out-of-memory':
      return outOfMemory(message);
    case 'invalid':
      return new BraidError('GPU_FAILED', `The GPU refused a command: ${message}`, {
        remedy: 'Update the GPU’s driver, or use the wasm backend; please report this with the message.',
      });
  }
}
