/** What drivers may do otherwise than the one that these kernels are tried on, looked for in their text. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasMatrixUnits, MATRIX_FEATURES } from '../../../main/tensor/webgpu/adapters.ts';

const folder = join(import.meta.dirname, '../../../main/tensor/webgpu/kernels');

/** Lines of the kernels that have a pattern in them, with where they are. */
function linesWith(pattern: RegExp): string[] {
  return readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => pattern.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
}

describe('the kernels', () => {
  it('are all looked at', () => {
    expect(readdirSync(folder).length).toBeGreaterThan(20);
  });

  it('never divide by the exponential of what may be large: maths without infinity is allowed to assume anything then', () => {
    expect(linesWith(/exp\(-(?!x \* x)/)).toEqual([]);
  });

  it('neither make infinities and numbers that are none, nor ask for them', () => {
    expect(linesWith(/isNan|isInf|\binf\b|0x7f[8c]00000/i)).toEqual([]);
  });

  it('assume nothing of subgroups, whose size is 4 to 128, but where an adapter has them of 32 alone', () => {
    expect(linesWith(/subgroup[A-Z_]/).filter((line) => !/^(?:product|decode)-units\.ts/.test(line))).toEqual([]);
  });
});

describe('hasMatrixUnits', () => {
  const unit = { componentType: 'f16', resultComponentType: 'f32', M: 16, N: 16, K: 16 };
  const offers = ({ units = [unit], sizes = [32, 32], features = [...MATRIX_FEATURES] }): boolean =>
    hasMatrixUnits({
      info: { subgroupMatrixConfigs: units, subgroupMinSize: sizes[0], subgroupMaxSize: sizes[1] },
      features: new Set(features),
    } as unknown as GPUAdapter);

  it('takes units of 16 x 16 that add in float32, in subgroups of 32 and no others', () => {
    expect(offers({})).toBe(true);
    expect(
      offers({
        units: [
          { ...unit, M: 8 },
          { ...unit, resultComponentType: 'f16' },
        ],
      }),
    ).toBe(false);
    expect(offers({ units: [] })).toBe(false);
    expect(offers({ sizes: [32, 64] })).toBe(false);
    expect(offers({ sizes: [16, 32] })).toBe(false);
    expect(offers({ features: MATRIX_FEATURES.slice(1) })).toBe(false);
    expect(hasMatrixUnits({ info: {}, features: new Set(MATRIX_FEATURES) } as unknown as GPUAdapter)).toBe(false);
  });
});
