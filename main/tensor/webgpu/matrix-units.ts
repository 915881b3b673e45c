/** What a matrix unit is to the programs that are written for it. */

export interface MatrixUnit {
  /** Of the factors; the sums are float32. */
  readonly element: 'f16' | 'f32';
  /** Multiplies m × k numbers by k × n at once. */
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Invocations of a subgroup, which share a unit. */
  readonly lanes: number;
  /** The adapter has subgroups of several sizes: a program asks for this one. */
  readonly sized: boolean;
}

/** What a device is asked for to run the unit's programs. */
export const featuresOf = ({ element, sized }: MatrixUnit): GPUFeatureName[] =>
  [
    ...(element === 'f16' ? ['shader-f16'] : []),
    ...['subgroups', 'chromium-experimental-subgroup-matrix'],
    ...(sized ? ['subgroup-size-control'] : []),
  ] as GPUFeatureName[];
