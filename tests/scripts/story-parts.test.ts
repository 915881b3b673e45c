import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openParts } from '../../scripts/story/parts.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const settings = { model_sha256: 'a', seed: 42, rate: undefined, stages: [{ words: 10, steps: 60 }] };
const never = () => Promise.reject(new Error('again'));

function newFile(): string {
  return join(temporaryFolder(), 'story-parts.json');
}

describe('openParts', () => {
  it('measures only what no earlier run of the story has measured, and counts the seconds of both', async () => {
    const file = newFile();
    const first = openParts(file);
    expect(await first.measure('base', settings, async () => ({ 10: 0.5 }))).toEqual({ 10: 0.5 });
    await expect(first.measure('jump to 50', settings, () => Promise.reject(new Error('stopped')))).rejects.toThrow(
      'stopped',
    );
    const second = openParts(file);
    expect(await second.measure('base', settings, never)).toEqual({ 10: 0.5 });
    expect(second.seconds()).toBe(first.seconds());
    const jump = { reward: [0.5, 0.6] };
    expect(await second.measure('jump to 50', settings, async () => jump)).toEqual(jump);
    expect(second.seconds()).toBeGreaterThan(first.seconds());
  });

  it.each([
    ['another seed', { ...settings, seed: 7 }],
    ['other weights', { ...settings, model_sha256: 'b' }],
    ['other options', { ...settings, stages: [{ words: 10, steps: 20 }] }],
    ['one setting more', { ...settings, backend: 'wasm' }],
  ])('measures a part again with %s', async (_, other) => {
    const file = newFile();
    await openParts(file).measure('base', settings, async () => 1);
    expect(await openParts(file).measure('base', other, async () => 2)).toBe(2);
  });

  it('keeps the other parts, and what was measured with earlier settings', async () => {
    const file = newFile();
    const ladder = (...rates: number[]) => ({ seed: 42, rates });
    const first = openParts(file);
    await first.measure('stage of 10', ladder(2e-4), async () => 'ten');
    await first.measure('stage of 100', ladder(2e-4, 2e-4), async () => 'hundred');
    const second = openParts(file);
    expect(await second.measure('stage of 10', ladder(2e-4), never)).toBe('ten');
    expect(await second.measure('stage of 100', ladder(2e-4, 7e-5), async () => 'better')).toBe('better');
    const third = openParts(file);
    expect(await third.measure('stage of 100', ladder(2e-4, 7e-5), never)).toBe('better');
    expect(await third.measure('stage of 100', ladder(2e-4, 2e-4), never)).toBe('hundred');
  });

  it('counts a part once, and only what the story has asked for', async () => {
    const file = newFile();
    const first = openParts(file);
    await first.measure('base', settings, async () => 1);
    const base = first.seconds();
    await first.measure('base', { ...settings, seed: 7 }, async () => 2);
    const second = openParts(file);
    expect(second.seconds()).toBe(0);
    for (const _ of [1, 2]) await second.measure('base', settings, never);
    expect(second.seconds()).toBe(base);
  });

  it('numbers the sessions that have measured something', async () => {
    const file = newFile();
    expect(openParts(file).session).toBe(1);
    const first = openParts(file);
    expect(first.session).toBe(1);
    await first.measure('base', settings, async () => 1);
    const second = openParts(file);
    await second.measure('base', settings, never);
    expect(second.session).toBe(2);
    expect(openParts(file).session).toBe(2);
  });

  it('ignores a file of an older version', async () => {
    const file = newFile();
    writeFileSync(file, JSON.stringify({ ...settings, parts: { base: { value: 1, seconds: 1 } } }));
    expect(await openParts(file).measure('base', settings, async () => 2)).toBe(2);
  });
});
