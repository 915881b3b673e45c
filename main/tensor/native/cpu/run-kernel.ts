/** Calls a kernel of the addon by the names of its arguments (../addon/kernels.h), in the order that the addon states. */
import { BraidError } from '../../../errors.ts';
import type { NativeBinding } from '../binding.ts';

/** The names of what a kernel takes, in order. */
interface KernelArguments {
  readonly tensors: readonly string[];
  readonly numbers: readonly string[];
}

/** What this version calls. */
const KERNELS = [
  ...(['adamw', 'add', 'addInPlace', 'attention', 'attentionGrad', 'columns', 'convolution'] as const),
  ...([
    'convolutionGrad',
    'convolutionStep',
    'copy',
    'decodeAttention',
    'gatedDelta',
    'gatedDeltaGrad',
    'gatedDeltaStep',
  ] as const),
  ...(['gatherRows'] as const),
  ...(['gelu', 'layerNorm', 'logSoftmax', 'logSoftmaxGrad', 'packPrefix', 'product', 'rmsNorm'] as const),
  ...(['rmsNormGradWeight', 'rmsNormGradX', 'rope', 'sample', 'scatterAddRows', 'sumSquares', 'swiglu'] as const),
  ...(['stateSpaceStep', 'swigluGrad'] as const),
];

export type KernelName = (typeof KERNELS)[number];

/** What our addon has more than the package's. */
export interface KernelBinding extends NativeBinding {
  readonly kernelArguments: Readonly<Record<string, KernelArguments>>;
  /** Whether it multiplies in bfloat16: the processor that it was built on can. Absent: it is of an earlier version. */
  readonly bfloat16?: boolean;
  /** Runs a kernel on tensors, -1 for one that is left out, and numbers; throws a RangeError where they don't fit. */
  runKernel(name: string, tensors: readonly number[], numbers: readonly number[]): void;
  /** A tensor with dirty memory. */
  allocateTensor(shape: readonly number[], dtype: number): number;
  /** Makes it at least so many threads. */
  growPool(count: number): void;
}

/** Whether the addon brings our kernels, all that this version calls: one of an earlier version may lack some. */
export function hasKernels(binding: NativeBinding): binding is KernelBinding {
  const { kernelArguments } = binding as Partial<KernelBinding>;
  return kernelArguments !== undefined && KERNELS.every((name) => name in kernelArguments);
}

/** A tensor by its number in the addon. */
export interface KernelTensor {
  readonly id: number;
}

/** Runs a kernel; an optional tensor may be undefined. */
export function runKernel(
  binding: KernelBinding,
  name: KernelName,
  tensors: Readonly<Record<string, KernelTensor | undefined>>,
  numbers: Readonly<Record<string, number | boolean>> = {},
): void {
  const expected = binding.kernelArguments[name];
  if (expected === undefined || !fits(expected, tensors, numbers))
    throw mismatch(name, expected, [...Object.keys(tensors), ...Object.keys(numbers)]);
  binding.runKernel(
    name,
    expected.tensors.map((key) => tensors[key]?.id ?? -1),
    expected.numbers.map((key) => Number(numbers[key])),
  );
}

/**
 * Whether all names are known to the kernel and no number is missing; a flag that is off may be newer than the addon. In
 * loops: it runs before every kernel.
 */
function fits(expected: KernelArguments, tensors: object, numbers: Readonly<Record<string, unknown>>): boolean {
  for (const key in tensors) if (!expected.tensors.includes(key)) return false;
  for (const key in numbers) if (numbers[key] !== false && !expected.numbers.includes(key)) return false;
  for (const key of expected.numbers) if (!(key in numbers)) return false;
  return true;
}

function mismatch(name: string, expected: KernelArguments | undefined, got: readonly string[]): BraidError {
  const taken = expected === undefined ? 'none' : [...expected.tensors, ...expected.numbers].join(', ');
  return new BraidError(
    'KERNEL_MISMATCH',
    `Expected the arguments of the addon's kernel "${name}" (${taken}), got ${got.join(', ')}`,
    { remedy: 'The addon was built for another version of Braid: set it up again in Settings, Native backend.' },
  );
}
