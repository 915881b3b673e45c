import { describe, expect, it } from 'vitest';
import { rooflineChart } from '../../../main/services/figures/roofline.ts';

const point = (name: string, flop: number, bytes: number, seconds: number) => ({
  name,
  group: 'loss',
  flop,
  bytes,
  seconds,
});
const chart = (...points: ReturnType<typeof point>[]) =>
  rooflineChart({ title: 'A <step>', peakFlops: 100e9, peakBytes: 20e9, points });

describe('rooflineChart', () => {
  it('places work under the limits and numbers what takes long', () => {
    const svg = chart(
      point('product', 1e9, 1e7, 0.02),
      point('attention', 1e8, 1e8, 0.01),
      point('tiny', 1e3, 1e3, 1e-6),
    );
    expect(svg).toContain('A &lt;step&gt;');
    expect(svg).toContain('1  product, loss: 67% of the time');
    expect(svg).toContain('2  attention, loss: 33% of the time');
    expect(svg.match(/<circle/g)).toHaveLength(2);
    const roof =
      /<polyline points="([^"]+)"/
        .exec(svg)?.[1]
        ?.split(' ')
        .map((p) => p.split(',').map(Number)) ?? [];
    const circles = [...svg.matchAll(/cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);
    // Higher is smaller in SVG: no point lies above the flat part of the roof.
    for (const [, y = 0] of circles) expect(y).toBeGreaterThan(roof[1]?.[1] ?? 0);
  });

  it('keeps long names apart, and its whole roof in sight', () => {
    const long = 'Product of rows x 3 + low rank swiglu [1 × 96 × 1]';
    // Far to the right of where the two limits meet.
    const svg = chart(point(long, 1e9, 1e5, 0.02), point(`${long} again`, 1e9, 1e5, 0.01));
    const names = [...svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)"[^>]*>[12] {2}Product/g)];
    expect(names.map(([, x]) => x)).toEqual([names[0]?.[1], names[0]?.[1]]);
    expect(names[0]?.[2]).not.toBe(names[1]?.[2]);
    const [, first = ''] = /<polyline points="[^ ]+ ([\d.]+),/.exec(svg) ?? [];
    expect(Number(first)).toBeGreaterThan(70);
  });

  it('says so where there is nothing to draw', () => {
    expect(chart(point('copy', 0, 1e9, 1))).toContain('no values');
  });
});
