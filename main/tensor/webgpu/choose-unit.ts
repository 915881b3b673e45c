/** The matrix unit that products are written for, of those that an adapter offers. */
import { dividesInto, plainMemory } from './kernels/units-tile.ts';
import { featuresOf, type MatrixUnit } from './matrix-units.ts';

/** As Dawn describes a unit; the types of WebGPU don't know it yet. */
export interface MatrixConfig {
  readonly componentType: string;
  readonly resultComponentType: string;
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

/** What an adapter says that decides. */
export interface Offer {
  readonly configs: readonly MatrixConfig[];
  readonly features: { has(feature: string): boolean };
  readonly subgroupMinSize: number;
  readonly subgroupMaxSize: number;
  /** Bytes of a workgroup's memory. */
  readonly memory: number;
}

/** Null: it has none whose sums are float32 and that the programs' tiles are multiples of. */
export function chooseUnit(offer: Offer): MatrixUnit | null {
  const { configs, features, memory } = offer;
  const units = configs.flatMap((config): MatrixUnit[] => {
    const { componentType: element, resultComponentType, M: m, N: n, K: k } = config;
    const lanes = lanesFor(config, offer);
    if ((element !== 'f16' && element !== 'f32') || resultComponentType !== 'f32' || lanes === null) return [];
    return [{ element, m, n, k, lanes, sized: offer.subgroupMinSize !== offer.subgroupMaxSize }];
  });
  const fitting = units.filter(
    (unit) =>
      dividesInto(unit) && plainMemory(unit) <= memory && featuresOf(unit).every((feature) => features.has(feature)),
  );
  return fitting.sort((a, b) => rankOf(a) - rankOf(b))[0] ?? null;
}

/** Of equal ones the driver lists the better first. */
function rankOf({ element, m, n, k }: MatrixUnit): number {
  if (element === 'f32') return 2;
  return m === 16 && n === 16 && k === 16 ? 0 : 1;
}

/**
 * The only size of subgroups that there is, or the one to ask for: Intel's units of eight rows have an invocation a
 * column, all others work in subgroups of 32. Null: the adapter's are smaller or larger.
 */
function lanesFor({ M, N }: MatrixConfig, { subgroupMinSize: least, subgroupMaxSize: most }: Offer): number | null {
  if (least === most) return least;
  const wanted = M === 8 && N === 16 ? 16 : 32;
  return least <= wanted && wanted <= most ? wanted : null;
}
