import { expect, it } from 'vitest';
import { crc32c } from '../../../../main/services/runs/exports/tensorboard.ts';

it('gives the check value of the Castagnoli polynomial', () => {
  expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
  expect(crc32c(new Uint8Array(0))).toBe(0);
});
