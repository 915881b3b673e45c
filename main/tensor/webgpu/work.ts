/**
 * How much a GPU is asked for at once. A driver resets a GPU that one dispatch holds for too long (Windows after two
 * seconds), some count a whole submission (macOS, amdgpu). A small integrated GPU computes these kernels at some 50
 * billion operations a second and reads some 12 GB, so both stay below a second and a half there. A GPU that was found to
 * be faster is asked for more (speed.ts): parts of one product that follow each other leave a large GPU idle in between.
 */

/** Operations of one dispatch on the slowest GPU; what takes more is split, with the same numbers. */
export const MOST_WORK = 2 ** 35;

/** Operations of all recorded dispatches, as the slowest GPU counts them, after which they are posted, full batch or not. */
export const BATCH_WORK = 2 ** 36;

/** Operations in whose time such a GPU reads a byte. */
export const WORK_OF_A_BYTE = 4;

/** Workgroups along a dimension, by the limit that WebGPU guarantees. */
const MOST_GROUPS = 65_535;

/** Workgroups of one dispatch along the dimension that is split, and what they compute. */
export interface WorkPart {
  readonly first: number;
  readonly count: number;
  readonly work: number;
}

/** Splits `count` workgroups, or rows of them, of `each` operations. */
export function equalParts(count: number, each: number, most: number): readonly WorkPart[] {
  const size = Math.max(1, Math.floor(most / each));
  if (count <= size) return [{ first: 0, count, work: count * each }];
  return Array.from({ length: Math.ceil(count / size) }, (_, i) => {
    const part = Math.min(size, count - i * size);
    return { first: i * size, count: part, work: part * each };
  });
}

/** Splits workgroups of different costs, in their order; `scale` operations are one of `costs`. */
export function partsByCost(
  costs: readonly number[],
  scale: number,
  most: number,
  mostGroups = MOST_GROUPS,
): readonly WorkPart[] {
  const parts: WorkPart[] = [];
  let [first, work] = [0, 0];
  costs.forEach((cost, i) => {
    if (i > first && (work + scale * cost > most || i - first === mostGroups)) {
      parts.push({ first, count: i - first, work });
      [first, work] = [i, 0];
    }
    work += scale * cost;
  });
  if (costs.length > first) parts.push({ first, count: costs.length - first, work });
  return parts;
}
