import { describe, expect, it } from 'vitest';
import { counted, formatBytes, formatDuration, formatMoney, formatStepTime, signed } from '../../main/text/format.ts';

describe('formatDuration', () => {
  it('uses at most two units', () => {
    expect([0, 41.6, 60, 190, 3600, 7500].map(formatDuration)).toEqual([
      '0 s',
      '42 s',
      '1 min 0 s',
      '3 min 10 s',
      '1 h 0 min',
      '2 h 5 min',
    ]);
  });

  it('never shows a negative time', () => {
    expect(formatDuration(-3)).toBe('0 s');
  });
});

describe('formatStepTime', () => {
  it('has two digits below a minute, and no exponent above', () => {
    expect([0.0421, 0.4, 7.04, 59.4, 59.9, 111.7].map(formatStepTime)).toEqual([
      '0.042 s',
      '0.40 s',
      '7.0 s',
      '59 s',
      '1 min 0 s',
      '1 min 52 s',
    ]);
  });
});

describe('formatBytes', () => {
  it('changes from MiB to GiB at 1 GiB', () => {
    expect([300 * 2 ** 20, 2 ** 30 - 1, 2 ** 30, 1.55 * 2 ** 30].map(formatBytes)).toEqual([
      '300 MiB',
      '1024 MiB',
      '1.0 GiB',
      '1.6 GiB',
    ]);
  });
});

describe('formatMoney', () => {
  it('has cents, and two digits of what is below one', () => {
    expect([0, 12.4, 0.00996, 0.00641].map((amount) => formatMoney(amount, '$'))).toEqual([
      '$0.00',
      '$12.40',
      '$0.01',
      '$0.0064',
    ]);
    expect(formatMoney(0.25)).toBe('0.25');
  });
});

describe('counted', () => {
  it('has the noun in the number of its count', () => {
    expect([0, 1, 1200].map((count) => counted(count, 'step'))).toEqual(['0 steps', '1 step', '1200 steps']);
    expect([1, 2].map((count) => counted(count, 'reply', 'replies'))).toEqual(['1 reply', '2 replies']);
  });
});

describe('signed', () => {
  it('writes a sign in front of every number', () => {
    expect([0.12, -0.0304, 0].map((value) => signed(value))).toEqual(['+0.120', '−0.030', '+0.000']);
    expect(signed(-1.236, 2)).toBe('−1.24');
    expect([signed(-0.0004), signed(-0), signed(-0.004, 2)]).toEqual(['+0.000', '+0.000', '+0.00']);
  });

  it('marks a value that is not a number', () => {
    expect(signed(Number.NaN)).toBe('–');
  });
});
