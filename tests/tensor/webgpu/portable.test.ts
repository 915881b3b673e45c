/** What drivers may do otherwise than the one that these kernels are tried on, looked for in their text. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

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

  it('assume nothing of subgroups, whose size is 4 to 128, but in programs for matrix units', () => {
    expect(
      linesWith(/subgroup[A-Z_]/).filter((line) => !/^(?:(?:product|decode|attention)-units|units-\w+)\.ts/.test(line)),
    ).toEqual([]);
  });
});
