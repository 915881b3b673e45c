import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { estimateTable } from '../../scripts/gpu-report/estimates.ts';

describe('estimateTable', () => {
  it('is the one in docs/performance.md', () => {
    const docs = readFileSync(join(import.meta.dirname, '../../docs/performance.md'), 'utf8');
    expect(docs).toContain(estimateTable());
  });
});
