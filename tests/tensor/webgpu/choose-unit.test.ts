import { describe, expect, it } from 'vitest';
import { unitOf } from '../../../main/tensor/webgpu/adapters.ts';
import { chooseUnit, type Offer } from '../../../main/tensor/webgpu/choose-unit.ts';
import { featuresOf, type MatrixUnit } from '../../../main/tensor/webgpu/matrix-units.ts';
import { noBfloat16 } from '../../../main/tensor/webgpu/open.ts';
import { AMD, APPLE, INTEL, MESA, NVIDIA, WIDE } from './units.ts';

const config = (element: string, sums: string, M: number, N = M, K = M) => ({
  componentType: element,
  resultComponentType: sums,
  M,
  N,
  K,
});
const SIXTEEN = config('f16', 'f32', 16);
const features = new Set<string>(featuresOf(AMD));

/** The choice of an adapter that differs in these. */
function chosen({ sizes = [32, 32], ...offer }: Partial<Offer> & { sizes?: readonly number[] }): MatrixUnit | null {
  const [subgroupMinSize = 0, subgroupMaxSize = 0] = sizes;
  return chooseUnit({ configs: [SIXTEEN], features, memory: 32_768, ...offer, subgroupMinSize, subgroupMaxSize });
}

describe('chooseUnit', () => {
  it('takes what NVIDIA, AMD, Intel, Apple and Mesa offer', () => {
    expect(chosen({ configs: [config('f16', 'f16', 16), config('f16', 'f32', 16, 8, 16), SIXTEEN] })).toEqual(NVIDIA);
    expect(chosen({ sizes: [32, 64] })).toEqual(AMD);
    expect(chosen({ sizes: [64, 64] })).toEqual(WIDE);
    expect(chosen({ configs: [config('f16', 'f32', 8, 16, 16)], sizes: [16, 32] })).toEqual(INTEL);
    expect(chosen({ configs: [config('f32', 'f32', 8), config('f16', 'f16', 8)] })).toEqual(APPLE);
    expect(chosen({ configs: [config('f16', 'f16', 8), config('f16', 'f32', 8)], sizes: [8, 8] })).toEqual(MESA);
  });

  it('prefers float16 with float32 sums, of 16 in all directions, then what the driver lists first', () => {
    const [eight, apple] = [config('f16', 'f32', 8), config('f32', 'f32', 8)];
    const other = config('f16', 'f32', 16, 8, 16);
    expect(chosen({ configs: [apple, eight, other, SIXTEEN] })).toEqual(NVIDIA);
    expect(chosen({ configs: [apple, eight, other] })).toMatchObject({ element: 'f16', m: 8, n: 8, k: 8 });
    expect(chosen({ configs: [apple, config('f16', 'f16', 16)] })).toEqual(APPLE);
  });

  it('takes none with other sums or numbers, whose parts of a tile are not whole units, or in too many subgroups', () => {
    expect(chosen({ configs: [] })).toBeNull();
    expect(chosen({ configs: [config('f16', 'f16', 16), config('i8', 'i32', 16, 16, 32)] })).toBeNull();
    expect(chosen({ configs: [config('f16', 'f32', 32)] })).toBeNull();
    expect(chosen({ configs: [config('f16', 'f32', 12)] })).toBeNull();
    // Eight subgroups share sixteen rows: a unit of sixteen is more than the part of one.
    expect(chosen({ sizes: [16, 16] })).toBeNull();
    expect(chosen({ sizes: [8, 8] })).toBeNull();
  });

  it('needs the features, and those of a size that has to be asked for', () => {
    for (const missing of featuresOf(NVIDIA))
      expect(chosen({ features: new Set([...features].filter((feature) => feature !== missing)) })).toBeNull();
    const plain = new Set<string>(featuresOf(NVIDIA));
    expect(chosen({ features: plain })).toEqual(NVIDIA);
    expect(chosen({ features: plain, sizes: [32, 64] })).toBeNull();
    expect(chosen({ sizes: [4, 16] })).toBeNull();
    expect(
      chosen({
        configs: [config('f32', 'f32', 8)],
        features: new Set([...plain].filter((name) => name !== 'shader-f16')),
      }),
    ).toEqual(APPLE);
  });

  it('needs memory for the panels', () => {
    expect(chosen({ configs: [config('f32', 'f32', 8)], memory: 27_903 })).toBeNull();
    expect(chosen({ configs: [config('f32', 'f32', 8)], memory: 27_904 })).toEqual(APPLE);
    expect(chosen({ memory: 16_384 })).toBeNull();
  });
});

describe('unitOf', () => {
  const limits = { maxComputeWorkgroupStorageSize: 32_768 };

  it('reads it from an adapter, and finds none where that says nothing of units', () => {
    const info = { subgroupMatrixConfigs: [SIXTEEN], subgroupMinSize: 32, subgroupMaxSize: 64 };
    expect(unitOf({ info, features, limits } as unknown as GPUAdapter)).toEqual(AMD);
    expect(unitOf({ info: {}, features, limits } as unknown as GPUAdapter)).toBeNull();
  });
});

describe('noBfloat16', () => {
  it('lets products be rounded on units of float16 alone, and says why not', () => {
    expect(noBfloat16(NVIDIA)).toEqual([
      null,
      expect.objectContaining({ why: expect.stringContaining('these are float32') }),
    ]);
    for (const missing of noBfloat16(APPLE)) expect(missing?.why).toContain('units multiply float32 numbers');
    for (const missing of noBfloat16(null)) expect(missing?.why).toContain('has no matrix units');
  });
});
