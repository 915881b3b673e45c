/**
 * How a process's memory is divided: program, weights, training state, reserve, and the rest for caches and activations.
 * The doctor's plan and the trainer call the same functions. Pure.
 */
import type { ModelConfig } from '../../model/config.ts';
import { parameterShapes, precisionOf } from '../../model/model.ts';
import { isLinearWeight } from '../../model/names.ts';
import { attentionBytes } from '../../tensor/native/kernels/attention-plan.ts';
import { isQuantised, type Quantised, quantisedBytes } from '../../tensor/quantised.ts';
import type { WeightPrecision } from '../../tensor/weights.ts';
import { isReinforcement, type TrainConfig } from '../config/config.ts';
import type { StoredBytes } from './stored-bytes.ts';
import { windowedPassBytes } from './window-memory.ts';

/** What computes, as far as memory is concerned. */
export type Device = 'native' | 'native-gpu' | 'wasm' | 'webgpu' | 'webgpu-software';

export interface Budget {
  readonly device: Device;
  /** All that the process may use of the device's memory. */
  readonly bytes: number;
  /** What program and libraries use of it. */
  readonly program: number;
  /** MiB that the user bounds caches and activations to; null: what is free. */
  readonly activationMb: number | null;
}

const MIB = 2 ** 20;
/** Node, TensorFlow's library and its threads; Node and the kernels (measured: docs/performance.md). */
export const NATIVE_PROGRAM = 430 * MIB;
export const WASM_PROGRAM = 250 * MIB;
/** Of the machine's memory: Node, Dawn and NVIDIA's driver took 730 to 824 MiB on an H200. */
const WEBGPU_PROGRAM = 830 * MIB;
/** By which those runs exceeded what was promised after their trials. */
const WEBGPU_GROWTH = 170 * MIB;
/** Addresses of 32 bits. */
const WASM_HEAP = 4096 * MIB;
/** Chunks of logits and packed operands in flight besides activations (measured). */
const WORKING = 192 * MIB;
/** Left free of a GPU or a heap, for gaps between blocks and what is freed late; of the machine, for other programs too. */
const RESERVE_SHARE = 0.1;
const MACHINE_RESERVE_SHARE = 0.25;
/** A model that leaves less than this for activations is tried anyway, in the smallest parts. */
const LEAST_ACTIVATIONS = 64 * MIB;
const FLOAT = 4;
/** Weights may take this share of the budget in float32; otherwise they are kept in 16 bits. */
const FLOAT_SHARE = 0.6;

/** A device's budget from its free bytes, those that the process already has included. */
export function deviceBudget(device: Device, freeBytes: number, activationMb: number | null = null): Budget {
  const program = isOnGpu(device) ? 0 : device === 'native' ? NATIVE_PROGRAM : WASM_PROGRAM;
  const bytes = device === 'wasm' ? Math.min(freeBytes, WASM_HEAP + WASM_PROGRAM) : freeBytes;
  return { device, program, bytes, activationMb };
}

/** Whether a device has its memory to itself, beside the processor's. */
export const isOnGpu = (device: Device): boolean => device === 'native-gpu' || device === 'webgpu';

/** What is trained: nothing, adapters of a rank on all linear layers, or all weights. */
export type Trained = 'none' | { readonly rank: number } | 'all';

export interface Residents {
  readonly precision: WeightPrecision;
  readonly trained: Trained;
  /** Of a number in the model's files, which "stored" weights keep; default: 2. */
  readonly fileBytes?: StoredBytes;
  /** Whole models besides the trained one: the reference of a full fine-tuning. */
  readonly copies?: number;
  /** Of all weights, where all are trained: gradients that exist at the same time. */
  readonly gradients?: number;
  /** The most tokens of a prompt and of a completion, as far as they are known. */
  readonly promptTokens?: number;
  readonly completionTokens?: number;
}

/** Bytes that stay for as long as the model is open. */
export interface ResidentBytes {
  readonly weights: number;
  /** Adapters, gradients and the optimiser's moments. */
  readonly optimiser: number;
}

export function residentBytes(
  config: ModelConfig,
  { precision, trained, fileBytes = 2, copies = 0, gradients }: Residents,
): ResidentBytes {
  const weights = isQuantised(precision)
    ? quantisedWeights(config, precision, fileBytes)
    : plainWeights(config, precision, fileBytes);
  return { weights: (1 + copies) * weights, optimiser: optimiserBytes(config, trained, gradients) };
}

function plainWeights(
  config: ModelConfig,
  precision: Exclude<WeightPrecision, Quantised>,
  fileBytes: StoredBytes,
): number {
  const count = weightCount(config);
  if (precision === 'float32') return FLOAT * count;
  return precision === 'stored' ? fileBytes * count : 2 * count + largestMatrix(config);
}

/** What a frozen weight takes, without the scales of blocks. */
export type WeightBytes = 0.5 | 1 | 2 | 4;

export function weightBytes(precision: WeightPrecision, fileBytes: StoredBytes): WeightBytes {
  return { float32: 4, bfloat16: 2, stored: fileBytes, int8: 1, nf4: 0.5 }[precision] as WeightBytes;
}

/** Linear layers in blocks, the rest as stored. */
function quantisedWeights(config: ModelConfig, precision: Quantised, fileBytes: StoredBytes): number {
  let bytes = 0;
  for (const [name, shape] of parameterShapes(config)) {
    const size = shape.reduce((product, length) => product * length, 1);
    bytes +=
      precisionOf(name, precision, shape.length) === precision ? quantisedBytes(size, precision) : fileBytes * size;
  }
  return bytes;
}

/** How a precision is kept in a device's memory: only webgpu has kernels for 8 and 4 bits, others unpack them. */
export function keptAs(precision: WeightPrecision, device: Device): WeightPrecision {
  return isQuantised(precision) && !device.startsWith('webgpu') ? 'float32' : precision;
}

/**
 * Bytes for caches and activations: the user's bound, or what is left when everything else has its place, rounded down to four steps an
 * octave, so that small differences in free memory don't change how work is divided.
 */
export function activationBudget(
  config: ModelConfig,
  residents: Residents,
  { device, bytes, program, activationMb }: Budget,
): number {
  if (activationMb !== null) return activationMb * MIB;
  const { weights, optimiser } = residentBytes(config, residents);
  const reserve = (device === 'native' || device === 'webgpu-software' ? MACHINE_RESERVE_SHARE : RESERVE_SHARE) * bytes;
  return quarterSteps(
    Math.max(
      LEAST_ACTIVATIONS,
      bytes - reserve - program - workingBytes(config, residents, device) - weights - optimiser,
    ),
  );
}

/** The largest of 1, 1.25, 1.5 and 1.75 times a power of two that is at most `bytes`. */
export function quarterSteps(bytes: number): number {
  const quarter = 2 ** (Math.floor(Math.log2(bytes)) - 2);
  return quarter * Math.floor(bytes / quarter);
}

/** All that is used when caches and activations take `activations`. `device`: what computes, where it matters. */
export function usedBytes(
  config: ModelConfig,
  residents: Residents,
  program: number,
  activations: number,
  device: Device = 'native',
): number {
  const { weights, optimiser } = residentBytes(config, residents);
  return program + workingBytes(config, residents, device) + weights + optimiser + activations;
}

/** Besides activations: ops of TensorFlow or for windows hold scores in attention, which kernels of our own don't. */
function workingBytes(config: ModelConfig, residents: Residents, device: Device): number {
  const vocabulary = device === 'native' ? vocabularyBytes(config) : 0;
  return WORKING + vocabulary + scoreBytes(config, residents, device);
}

/** Of each token of a vocabulary, while it is read (measured: 234 MiB of Gemma's 262,144). */
const TOKEN_BYTES = 900;

/** Beside the heap on wasm, and beside a GPU. */
export function vocabularyBytes({ vocabSize }: Pick<ModelConfig, 'vocabSize'>): number {
  return TOKEN_BYTES * vocabSize;
}

/** Bytes of attention's scores that a device holds at a time. */
export function scoreBytes(
  config: Pick<ModelConfig, 'numHeads' | 'window'>,
  { promptTokens = 0, completionTokens = 0 }: Pick<Residents, 'promptTokens' | 'completionTokens'>,
  device: Device,
): number {
  const blocks = device === 'native-gpu' ? attentionBytes(config.numHeads, promptTokens, completionTokens) : 0;
  return Math.max(blocks, windowedPassBytes(config, promptTokens, completionTokens));
}

/** Bytes of the machine's memory, and of a GPU's beside it. */
export interface MemoryUse {
  readonly host: number;
  /** 0: the GPU isn't used, or it computes in the machine's memory. */
  readonly gpu: number;
}

/** What a process on a GPU will hold of the machine's memory at its peak, from what it holds after a trial. */
export const hostOfGpuRun = (device: Device, held: number): number =>
  device === 'webgpu' ? held + WEBGPU_GROWTH : held;

/** The same of each memory: on a GPU, only the program is in the machine's. */
export function memoryUse(
  config: ModelConfig,
  residents: Residents,
  { device, program }: Pick<Budget, 'device' | 'program'>,
  activations: number,
): MemoryUse {
  const used = usedBytes(config, residents, program, activations, device);
  if (!isOnGpu(device)) return { host: used, gpu: 0 };
  return { host: device === 'native-gpu' ? NATIVE_PROGRAM : WEBGPU_PROGRAM, gpu: used };
}

type ResidentSettings = Pick<
  TrainConfig,
  'method' | 'base_weights' | 'compute_dtype' | 'use_peft' | 'lora_r' | 'beta' | 'gradient_accumulation_steps'
>;

/** What a run keeps for as long as it is open, by its configuration and by what was decided before. */
export function residentsOfRun(
  { method, base_weights, compute_dtype, use_peft, lora_r, beta, gradient_accumulation_steps }: ResidentSettings,
  model: ModelConfig,
  budget: Pick<Budget, 'device' | 'bytes'>,
  recorded?: WeightPrecision,
): Residents {
  const trained: Trained = use_peft ? { rank: lora_r } : 'all';
  // Products round frozen weights to bfloat16 each time unless they are kept so.
  const wanted = base_weights === 'auto' && compute_dtype === 'bfloat16' ? compute_dtype : base_weights;
  const asked = wanted === 'auto' || trained === 'all' ? undefined : wanted;
  const precision = possible(recorded ?? asked, budget) ?? precisionFor(model, trained, budget);
  if (trained !== 'all') return { precision, trained };
  const gradients = gradientsAtOnce({ gradient_accumulation_steps }, true);
  // Supervised fine-tuning has no KL term, so it loads no reference.
  return { precision, trained, copies: beta > 0 && isReinforcement(method) ? 1 : 0, gradients };
}

/** A precision that was chosen elsewhere, as far as this device has it; "stored" holds the numbers of float32. */
export function possible(
  precision: WeightPrecision | undefined,
  { device }: Pick<Budget, 'device'>,
): WeightPrecision | undefined {
  // Those of 8 and 4 bits are the same numbers everywhere, though elsewhere they take the memory of float32.
  if (precision !== undefined && isQuantised(precision)) return precision;
  if (precision === undefined) return undefined;
  return precision === 'stored' && !device.startsWith('webgpu') ? 'float32' : precision;
}

/** What there must be room for before any work: without it, nothing that is done in parts helps. */
export function leastBytes(config: ModelConfig, residents: Residents, program: number): number {
  const { weights, optimiser } = residentBytes(config, residents);
  return program + weights + optimiser;
}

/** Only frozen weights can have 16 bits (8 and 4 only where they are asked for); they do where float32 leaves too little for the rest. */
export function precisionFor(
  config: ModelConfig,
  trained: Trained,
  { device, bytes }: Pick<Budget, 'device' | 'bytes'>,
): WeightPrecision {
  if (trained === 'all') return 'float32';
  // What the files have in 8 or 4 bits stays so where there are kernels for it.
  const kept = config.quantisation?.keptAs ?? null;
  if (kept !== null && device.startsWith('webgpu')) return kept;
  if (FLOAT * weightCount(config) > FLOAT_SHARE * bytes) return 'bfloat16';
  // Kernels of webgpu read 16-bit weights as fast as they come, so those of a 16-bit file stay so.
  return device.startsWith('webgpu') ? 'stored' : 'float32';
}

/** Total number of weights. */
export function weightCount(config: ModelConfig): number {
  return [...parameterShapes(config).values()].reduce((sum, shape) => sum + shape.reduce((a, b) => a * b, 1), 0);
}

/** The bytes of the largest matrix in float32: matrices of 16 bits are widened one at a time. */
function largestMatrix(config: ModelConfig): number {
  return FLOAT * [...parameterShapes(config).values()].reduce((most, [a = 1, b = 1]) => Math.max(most, a * b), 0);
}

const MOMENTS = 2;

/** Gradients of all weights that exist at once: those of a part, of its micro-batch, and of the micro-batches before it. */
export function gradientsAtOnce(
  { gradient_accumulation_steps }: Pick<TrainConfig, 'gradient_accumulation_steps'>,
  isInParts: boolean,
): number {
  return 1 + (isInParts ? 1 : 0) + (gradient_accumulation_steps > 1 ? 1 : 0);
}

/** Bytes of training state when all weights are trained. */
export function fullTrainingBytes(config: ModelConfig, gradients = 2): number {
  // The embedding's own and the head's are made apart.
  const tied = config.tieWordEmbeddings ? config.vocabSize * config.hiddenSize : 0;
  return FLOAT * ((MOMENTS + gradients) * weightCount(config) + tied);
}

function optimiserBytes(config: ModelConfig, trained: Trained, gradients?: number): number {
  if (trained === 'none') return 0;
  if (trained === 'all') return fullTrainingBytes(config, gradients);
  const widths = [...parameterShapes(config)]
    .filter(([name]) => isLinearWeight(name))
    .reduce((sum, [, [out = 0, width = 0]]) => sum + out + width, 0);
  return 4 * FLOAT * trained.rank * widths;
}
