import { describe, expect, it } from 'vitest';
import { outcome, scoreWith } from './scoring.ts';

const first = (body: string) => outcome(scoreWith(`export const reward = () => ${body};`, ['x'])[0]);

describe('the clock of a reward', () => {
  it.each([
    'Date.now()',
    'new Date().getTime()',
    'Date().length',
    'new (new Date(0).constructor)().getTime()',
    'new (class extends Date {})().getTime()',
    'Reflect.construct(Date, []).getTime()',
    "new Date('2024-01-01').constructor.now()",
  ])('is not available, by name: %s', (body) => {
    expect(first(body)).toMatch(/TypeError: The clock .* is not available: .*Give the date in the record/);
  });

  it('leaves dates that are given as they are, in UTC wherever the machine is', () => {
    const given = [
      "new Date('2024-01-01') - Date.UTC(2024, 0, 1)",
      "new Date('2024-07-01T00:00') - Date.UTC(2024, 6, 1)",
      'new Date(2024, 6, 1) - Date.UTC(2024, 6, 1)',
      "Date.parse('Jul 1 2024 12:00') - Date.UTC(2024, 6, 1, 12)",
      'new Date(0).getHours() + new Date(0).getTimezoneOffset()',
      "new Date(0).toString().indexOf('GMT+0000') - 25",
      '(new Date(0) instanceof Date ? 0 : 1) + (new (class extends Date {})(5).getTime() - 5)',
    ];
    expect(first(`[${given.join(', ')}].reduce((sum, off) => sum + Math.abs(off), 0)`)).toEqual([0]);
  });
});
