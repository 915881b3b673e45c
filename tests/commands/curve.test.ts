import { describe, expect, it } from 'vitest';
import { drawCurve, openCurve } from '../../main/commands/curve.ts';

const plain = (lines: readonly string[]): string[] =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal codes are what is taken out.
  lines.map((line) => line.replaceAll(/\x1b\[\d*[A-Za-z]/g, ''));

/** A terminal that keeps what was written. */
function terminal(isTTY: boolean) {
  const written: string[] = [];
  const stream = { isTTY, columns: 60, write: (text: string) => written.push(text) > 0 };
  return { written, stream: stream as unknown as NodeJS.WriteStream };
}

describe('drawCurve', () => {
  it('has eight rows from the tenth below the least value to 1', () => {
    const lines = plain(drawCurve([0.52, 0.7, 0.99], 3, 40));
    expect(lines).toHaveLength(8);
    expect(lines[0]).toMatch(/^1\.0 ┤/);
    expect(lines[7]).toMatch(/^0\.5 ┤/);
    expect(lines.every((line) => line.length <= 40)).toBe(true);
  });

  it('puts a rising curve into lower rows on the left and upper rows on the right', () => {
    const lines = plain(drawCurve([0.1, 1], 2, 23));
    // 23 columns less the margin: 18 of them, nine a value.
    expect(lines[7]?.slice(5)).toMatch(/^⣀{9}/);
    expect(lines[0]?.slice(5)).toMatch(/^ {9}.⠉{8}$/);
  });

  it('draws a run of any length', () => {
    const lines = plain(drawCurve(new Array<number>(300_000).fill(0.5), 300_000, 40));
    expect([lines[0], lines[7]]).toEqual([expect.stringMatching(/^1\.0 ┤/), expect.stringMatching(/^0\.5 ┤⣀/)]);
  });

  it('fills only the share of the width that is done', () => {
    const width = (done: number): number =>
      Math.max(...plain(drawCurve(Array(done).fill(0.5), 10, 46)).map((line) => line.length));
    expect(width(10)).toBe(46);
    expect(width(5)).toBe(5 + 21);
  });

  it('keeps its scale when a reward is above 1 or below 0, and leaves out what is not a number', () => {
    const lines = plain(drawCurve([-0.25, Number.NaN, 1.5], 3, 40));
    expect(lines[0]).toMatch(/^ 1\.5 ┤/);
    expect(lines[7]).toMatch(/^-0\.3 ┤/);
  });
});

describe('openCurve', () => {
  const options = { label: 'training', total: 4, unit: 'steps' };

  it('draws over itself and leaves the finished curve above the next line', () => {
    const { written, stream } = terminal(true);
    let clock = 0;
    const curve = openCurve({ ...options, stream, now: () => clock });
    for (let step = 1; step <= 4; step++) {
      clock += 1000;
      curve.update(step, step / 4, 'reward');
    }
    curve.end();
    const all = written.join('');
    expect(all.split('\x1b[8A\x1b[J')).toHaveLength(5);
    expect(all).toContain('4/4 steps');
    expect(all.endsWith('\n')).toBe(true);
  });

  it('wipes itself before a line is printed', () => {
    const { written, stream } = terminal(true);
    const curve = openCurve({ ...options, stream, now: () => 0 });
    curve.update(1, 0.5);
    curve.hide();
    expect(written.at(-1)).toBe('\r\x1b[8A\x1b[J');
  });

  it('writes nothing where nobody watches', () => {
    const { written, stream } = terminal(false);
    const curve = openCurve({ ...options, stream });
    curve.update(1, 0.5);
    curve.end();
    expect(written).toEqual([]);
  });
});
