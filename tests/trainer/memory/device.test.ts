import { describe, expect, it } from 'vitest';
import { cudaUse, heldBytes } from '../../../main/trainer/memory/device.ts';

describe('heldBytes', () => {
  it('leaves out what a trial on native has freed', () => {
    expect(heldBytes('native', 1171, 1507)).toBe(1171);
    expect(heldBytes('native', 1171, 1100)).toBe(1100);
    expect(heldBytes('wasm', 1171, 1507)).toBe(1507);
  });
});

describe('cudaUse', () => {
  it('adds what is free to what the process holds, or to its tensors where that is hidden', () => {
    expect(cudaUse(900, 700, 100)).toEqual({ peakBytes: 900, memory: { bytes: 1000, source: 'nvidia-smi' } });
    expect(cudaUse(null, 700, 100)).toEqual({ peakBytes: 700, memory: { bytes: 800, source: 'nvidia-smi' } });
    expect(cudaUse(null, 700, null)).toEqual({ peakBytes: 700, memory: null });
  });
});
