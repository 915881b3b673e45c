import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ScalarEvent, tensorBoardFile } from '../../main/services/runs/exports/tensorboard.ts';

const file = new URL('./fixtures/tensorboard.json', import.meta.url);
const reference = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly events: readonly ScalarEvent[];
  /** Base64. */
  readonly file: string;
};

describe("tensorBoardFile against TensorBoard's own messages", () => {
  it('is the same byte for byte', () => {
    expect(Buffer.from(tensorBoardFile(reference.events)).toString('base64')).toBe(reference.file);
  });
});
