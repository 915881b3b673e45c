import { describe, expect, it } from 'vitest';
import { barChart } from '../../../main/services/figures/bar-chart.ts';
import { lineChart } from '../../../main/services/figures/line-chart.ts';
import { linearScale } from '../../../main/services/figures/svg.ts';

describe('linearScale', () => {
  it('places values and ticks at round numbers', () => {
    const scale = linearScale(0, 1, 100, 200);
    expect(scale.at(0.5)).toBe(150);
    expect(scale.ticks.map((tick) => Number(tick.toFixed(6)))).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(linearScale(3, 3, 0, 10).at(3)).toBe(0);
  });
});

describe('lineChart', () => {
  const chart = (points: { x: number; y: number; low?: number; high?: number }[]) =>
    lineChart({ title: 'A < B', xLabel: 'step', yLabel: 'reward', series: [{ name: 'run', points }] });

  it('draws a line and its band, and escapes words', () => {
    const svg = chart([
      { x: 0, y: 0, low: 0, high: 0.5 },
      { x: 10, y: 1, low: 0.5, high: 1 },
    ]);
    expect(svg).toContain('A &lt; B');
    expect(svg).toContain('<polyline points="70,340 700,48"');
    expect(svg).toContain('<polygon points="70,194 700,48 700,194 70,340"');
  });

  it('stays XML whatever is in a name, and cuts no character in two', () => {
    const series = ['a\u0001b\ud800', `x${'😀'.repeat(200)}`].map((name) => ({ name, points: [{ x: 0, y: 1 }] }));
    const svg = lineChart({ title: '', xLabel: '', yLabel: '', series });
    expect(svg).toContain('>a\ufffdb\ufffd</text>');
    expect(svg).toMatch(/>x(😀)+…(😀)+</u);
  });

  it('uses the given colour of a series in the plot and in the legend', () => {
    const points = [{ x: 0, y: 1 }];
    const series = [{ name: 'third of three', points, colour: 2 }];
    const svg = lineChart({ title: '', xLabel: '', yLabel: '', series });
    expect(svg.match(/#009e73/gi)).toHaveLength(3);
  });

  it('tells checkpoints of one run apart in the legend, however many and however long their names', () => {
    const legendOf = (names: readonly string[]): string =>
      lineChart({
        title: '',
        xLabel: '',
        yLabel: '',
        series: names.map((name) => ({ name, points: [{ x: 0, y: 1 }] })),
      });
    const seven = Array.from({ length: 7 }, (_, i) => `run-0001-10words-grpo · step ${i + 1}0`);
    const svg = legendOf(seven);
    for (const name of seven) expect(svg).toContain(`>${name}</text>`);
    expect(svg).toContain('height="480"');
    expect(legendOf(['tiny', 'trained'])).toContain('height="420"');
    expect(legendOf([`${'a'.repeat(200)} · step 20`])).toMatch(/>a+…a+ · step 20<\/text>/);
  });

  it('leaves out what is not a number and says when nothing is left', () => {
    expect(chart([{ x: 0, y: Number.NaN }])).toContain('no values');
    expect(
      chart([
        { x: 0, y: Number.NaN },
        { x: 1, y: 1 },
        { x: 2, y: 1 },
      ]),
    ).not.toContain('NaN');
  });
});

describe('barChart', () => {
  it('draws one bar a series and group with its whisker', () => {
    const svg = barChart({
      title: 't',
      yLabel: 'y',
      groups: ['g1', 'g2'],
      series: [
        { name: 'a', bars: [{ value: 1, low: 0.5, high: 1 }, { value: Number.NaN }] },
        { name: 'b', bars: [{ value: 0.5 }, { value: -0.5 }] },
      ],
    });
    expect(svg.match(/<rect [^>]*fill="#0072b2"/g)?.length).toBe(2); // one bar and its place in the legend
    expect(svg.match(/<rect [^>]*fill="#d55e00"/g)?.length).toBe(3);
    expect(svg.match(/stroke="#222"/g)?.length).toBe(1);
  });
});
