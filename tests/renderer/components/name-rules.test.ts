import { describe, expect, it } from 'vitest';
import { datasetNameFits, modelNameFits } from '../../../renderer/components/name-rules.ts';

describe('datasetNameFits', () => {
  it('is what the host accepts', () => {
    for (const name of ['', 'river', 'Fluß-10_a.b', 'हिन्दी', '10words']) expect(datasetNameFits(name), name).toBe(true);
    for (const name of ['a b', '-a', 'a/b', 'a.test', 'a.', 'x'.repeat(61)])
      expect(datasetNameFits(name), name).toBe(false);
  });
});

describe('modelNameFits', () => {
  it('is what the host accepts', () => {
    for (const name of ['', 'tiny-export', '_a.b']) expect(modelNameFits(name), name).toBe(true);
    for (const name of ['a b', '-a', 'a/b', 'é', 'a.']) expect(modelNameFits(name), name).toBe(false);
  });
});
