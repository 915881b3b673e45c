import { describe, expect, it } from 'vitest';
import { heldBytes } from '../../../main/trainer/memory/device.ts';

describe('heldBytes', () => {
  it('leaves out what a trial on native has freed', () => {
    expect(heldBytes('native', 1171, 1507)).toBe(1171);
    expect(heldBytes('native', 1171, 1100)).toBe(1100);
    expect(heldBytes('wasm', 1171, 1507)).toBe(1507);
  });
});
