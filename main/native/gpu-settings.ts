/**
 * How TensorFlow uses an NVIDIA GPU, as environment variables that it and CUDA read once, when they are loaded: which
 * GPU, TF32, determinism. What a person has set of TensorFlow's and CUDA's own variables stays.
 */
import { inputError } from '../errors.ts';
import { type NvidiaGpu, nvidiaGpusNow } from './nvidia-smi.ts';

type Environment = Record<string, string | undefined>;

/** Which of several GPUs: a number from 0, as nvidia-smi lists them, or part of a name. webgpu reads it too. */
const WHICH = 'BRAID_GPU';
/** 1: products of float32 in TF32, 10 bits of mantissa instead of 23. */
export const TF32 = 'BRAID_TF32';

/** Sets what TensorFlow and CUDA are to read. */
export function prepareGpu(
  env: Environment = process.env,
  listGpus: () => readonly Pick<NvidiaGpu, 'name'>[] = nvidiaGpusNow,
): void {
  // nvidia-smi counts so; CUDA puts the fastest first by itself.
  env.CUDA_DEVICE_ORDER ??= 'PCI_BUS_ID';
  // The addon places tensors on the last GPU that it sees, so it is to see one.
  if (env.CUDA_VISIBLE_DEVICES === undefined) {
    const names = listGpus().map(({ name }) => name);
    if (names.length > 0) env.CUDA_VISIBLE_DEVICES = String(chosenGpu(names, env[WHICH]?.trim()));
  }
  // Without the variable TensorFlow uses TF32 where the GPU has it.
  if (env[TF32] !== '1') env.NVIDIA_TF32_OVERRIDE ??= '0';
}

/** The number of the GPU to use: the first unless another is asked for; -1 for the name of one that isn't NVIDIA's. */
function chosenGpu(names: readonly string[], asked = ''): number {
  if (asked === '') return 0;
  if (!/^\d+$/.test(asked)) return names.findIndex((name) => name.toLowerCase().includes(asked.toLowerCase()));
  if (Number(asked) < names.length) return Number(asked);
  const found = names.map((name, i) => `${i} (${name})`).join(', ');
  throw inputError(
    'NO_SUCH_GPU',
    `Expected ${WHICH} to be one of ${found}, got ${asked}`,
    `Set ${WHICH} to one of them.`,
  );
}

/** The line of nvidia-smi's list that TensorFlow computes on: the last that CUDA shows it; 0 if unknown. */
export function usedGpu(env: Environment = process.env): number {
  const last = env.CUDA_VISIBLE_DEVICES?.split(',').at(-1)?.trim() ?? '';
  return /^\d+$/.test(last) ? Number(last) : 0;
}

/** The one of these that a process with this environment will compute on; null: none, or it will refuse to start. */
export function gpuToUse<G extends Pick<NvidiaGpu, 'name'>>(
  gpus: readonly G[],
  env: Environment = process.env,
): G | null {
  const prepared = { ...env };
  try {
    prepareGpu(prepared, () => gpus);
  } catch {
    return null;
  }
  const hidden = /^(-|$)/.test(prepared.CUDA_VISIBLE_DEVICES?.trim() ?? '0');
  return hidden ? null : (gpus[usedGpu(prepared)] ?? null);
}

/** Whether float32 products may be computed in TF32. */
export function usesTf32(env: Environment = process.env): boolean {
  return env.NVIDIA_TF32_OVERRIDE !== '0';
}

/** Whether TensorFlow has to use deterministic ops only: its own variable, slower on a GPU. */
export function isDeterministic(env: Environment = process.env): boolean {
  return /^(1|true)$/i.test(env.TF_DETERMINISTIC_OPS ?? '');
}

/** What a run records about the GPU that it computes on. */
export function gpuNote(env: Environment = process.env): string {
  const products = usesTf32(env) ? 'TF32 where the GPU has it' : 'products in float32';
  return `GPU ${usedGpu(env)}, ${products}${isDeterministic(env) ? ', deterministic ops' : ''}`;
}
