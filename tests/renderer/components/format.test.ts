import { describe, expect, it } from 'vitest';
import {
  ago,
  backendText,
  bytes,
  compact,
  counted,
  duration,
  fullDate,
  gibibytes,
  money,
  number,
  score,
  signed,
} from '../../../renderer/components/format.ts';
import { heardHostTime } from '../../../renderer/components/host-time.ts';

const GIB = 2 ** 30;

describe('score and signed', () => {
  it('have three decimals, and a dash for no value', () => {
    expect([score(0.98), score(null), score(Number.NaN)]).toEqual(['0.980', '–', '–']);
    expect([signed(0.12), signed(-0.5), signed(0)]).toEqual(['+0.120', '−0.500', '+0.000']);
    expect([signed(null), signed(undefined), signed(Number.NaN)]).toEqual(['–', '–', '–']);
  });

  it('write a difference that rounds to 0 without a minus', () => {
    expect([signed(-0.0004), signed(-0), signed(-0.0006)]).toEqual(['+0.000', '+0.000', '−0.001']);
    expect(signed(-0.04, (size) => size.toFixed(1))).toBe('+0.0');
  });

  it('write the size of a difference in another format', () => {
    expect(signed(-11.24, (size) => size.toFixed(1))).toBe('−11.2');
  });
});

describe('number and compact', () => {
  it('write whole numbers in full and others with three digits', () => {
    expect([number(1234), number(0.123456), number(1234.5), number(0.0001)]).toEqual([
      '1,234',
      '0.123',
      '1,235',
      '1.00e-4',
    ]);
  });

  it.each([
    [590_000, '590 k'],
    [134_515_008, '135 M'],
    [7_615_616_512, '7.62 B'],
    [null, '–'],
  ])('write %s in short as %s', (count, text) => expect(compact(count)).toBe(text));
});

describe('counted', () => {
  it('has the noun in the number of its count', () => {
    expect([0, 1, 1200].map((count) => counted(count, 'step'))).toEqual(['0 steps', '1 step', '1,200 steps']);
    expect([1, 2].map((count) => counted(count, 'reply', 'replies'))).toEqual(['1 reply', '2 replies']);
  });
});

describe('money', () => {
  it('has cents, and two digits below one', () => {
    expect([0, 0.00637, 0.0123, 12.4].map((amount) => money(amount, '$'))).toEqual([
      '$0.00',
      '$0.0064',
      '$0.01',
      '$12.40',
    ]);
  });
});

describe('backendText', () => {
  it('counts threads where there are some', () => {
    expect([backendText('wasm', 1), backendText('native', 4)]).toEqual(['wasm, 1 thread', 'native, 4 threads']);
    expect([backendText('my-engine', 0), backendText('wasm', null)]).toEqual(['my-engine', 'wasm']);
  });
});

describe('duration', () => {
  it.each([
    [0.25, '0.25 s'],
    [48, '48 s'],
    [660, '11 min'],
    [7500, '2 h 05 min'],
    [null, '–'],
  ])('writes %s s as %s', (seconds, text) => expect(duration(seconds)).toBe(text));
});

describe('bytes and gibibytes', () => {
  it('count in binary units', () => {
    expect([bytes(512), bytes(690 * 2 ** 20), bytes(1.2 * GIB), bytes(null)]).toEqual([
      '512 B',
      '690 MiB',
      '1.2 GiB',
      '–',
    ]);
    expect([gibibytes(1.25 * GIB), gibibytes(GIB / 100)]).toEqual(['1.3', '< 0.1']);
  });
});

describe('ago', () => {
  const MINUTE = 60_000;

  it("counts by the host's clock, and gives the date of what is still to come", () => {
    const host = Date.now() - 300 * MINUTE;
    heardHostTime(host);
    expect([ago(host - 12 * MINUTE), ago(host + MINUTE)]).toEqual(['12 min ago', 'just now']);
    expect(ago(host + 60 * MINUTE)).toBe(fullDate(host + 60 * MINUTE));
    heardHostTime(Date.now());
  });
});

describe('fullDate', () => {
  it('is in English with Latin digits and the zone, whatever the browser is set to', () => {
    expect(fullDate(0)).toMatch(/^\w{3} \d+, 19\d\d, \d\d:\d\d:\d\d (?!AM|PM)\S+$/);
  });
});
