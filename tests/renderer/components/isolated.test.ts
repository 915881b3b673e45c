import { describe, expect, it } from 'vitest';
import { isolated } from '../../../renderer/components/isolated.ts';

describe('isolated', () => {
  it('keeps what follows a name behind it, whatever its direction', () => {
    expect(isolated('النهر')).toBe('\u2068النهر\u2069');
    expect(isolated('a\u202etxt.exe')).toBe('a\\u202etxt.exe');
    expect(isolated('run-7-שלום')).toBe('\u2068run-7-שלום\u2069');
    for (const name of ['10words', '河流 🎉', '']) expect(isolated(name)).toBe(name);
  });
});
