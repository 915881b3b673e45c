import { describe, expect, it } from 'vitest';
import { scrollsBy } from '../../../renderer/frame/taken-keys.ts';

const area = { scrollWidth: 100, clientWidth: 100, scrollHeight: 100, clientHeight: 100 };

describe('scrollsBy', () => {
  it('takes the keys of a direction in which there is more to see', () => {
    const wide = { ...area, scrollWidth: 300 };
    expect(['ArrowLeft', 'ArrowRight', 'ArrowDown', 'Home', ' ', 'j'].map((key) => scrollsBy(key, wide))).toEqual([
      ...[true, true, false, false, false, false],
    ]);
    const high = { ...area, scrollHeight: 300 };
    expect(['ArrowLeft', 'ArrowDown', 'Home', 'End', ' ', 'j'].map((key) => scrollsBy(key, high))).toEqual([
      ...[false, true, true, true, true, false],
    ]);
  });

  it('leaves all keys where everything is visible', () => {
    expect(['ArrowRight', 'ArrowDown', ' '].some((key) => scrollsBy(key, area))).toBe(false);
  });
});
