import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openParts } from '../../scripts/story/parts.ts';

const conditions = { model_sha256: 'a', options: { steps: 60, rate: undefined } };

function newFile(): string {
  return join(mkdtempSync(join(tmpdir(), 'braid-parts-')), 'story-parts.json');
}

describe('openParts', () => {
  it('measures only what no earlier run of the story has measured, and counts the seconds of both', async () => {
    const file = newFile();
    const first = openParts(file, conditions, 42);
    expect(await first.measure('base', async () => ({ 10: 0.5 }))).toEqual({ 10: 0.5 });
    await expect(first.measure('jump to 50', () => Promise.reject(new Error('stopped')))).rejects.toThrow('stopped');
    const second = openParts(file, conditions, 42);
    expect(second.seconds()).toBe(first.seconds());
    expect(await second.measure('base', () => Promise.reject(new Error('again')))).toEqual({ 10: 0.5 });
    expect(await second.measure('jump to 50', async () => ({ reward: [0.5, 0.6] }))).toEqual({ reward: [0.5, 0.6] });
    expect(second.seconds()).toBeGreaterThan(first.seconds());
  });

  it.each([
    ['another seed', conditions, 7],
    ['other weights', { ...conditions, model_sha256: 'b' }, 42],
    ['other options', { ...conditions, options: { steps: 20 } }, 42],
  ])('drops the parts of %s', async (_, other, seed) => {
    const file = newFile();
    await openParts(file, conditions, 42).measure('base', async () => 1);
    expect(await openParts(file, other, seed).measure('base', async () => 2)).toBe(2);
  });
});
