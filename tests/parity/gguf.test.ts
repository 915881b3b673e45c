import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dequantise, READABLE_TYPES } from '../../main/model/gguf/import/dequantise.ts';

const NUMBERS = 64 * 256;

/** SHA-256 of the float32 numbers that gguf_types.py reads from the same bytes. */
const DIGESTS: Readonly<Record<string, string>> = {
  F32: 'ee2c533da301ccbc499450abe19b8aaaa7d290e5edead26cec17f4bee0017e04',
  F16: '87f58fc872917542b1223d2118a37cd435550f32d68c034d0e892511aac83375',
  BF16: '846c7008729ea2deb0b53fe654ebc4b867a312eccc6f76a7c071319d61e1671a',
  Q4_0: '029f9b311feef76b20a914db8645c301b536f8ad96a7189eec09cd864b29b6b3',
  Q4_1: '1824f1d5d2de0bf9b8fbd87642d78ea8c7b58f083f560ded12596bf431728003',
  Q5_0: 'ba69ab52df7ffa3e6bd5a6b0d72474b3b1da874ab542b81bc7b221cafdbcb438',
  Q5_1: 'dcabc488875a40e6eecbdccbbf8f7117f83a77aa9799688cd466295d6cf059af',
  Q8_0: '904ce4a9748290aba2d2c8dde448ae5ea912773138e690afc7a4835f3d64e950',
  Q2_K: '0441719ae8a7d99dcf388f2380743fb55ab87591815804549129938a1ceecc2d',
  Q3_K: 'a09fc5e955f1b1d7b3e559547c02e49dbdc304fb1a2854e499751662854e59b3',
  Q4_K: '90cec9973a08b2b4ac9d5bad1928998f25f338e00ce8d8d891020318a5997c00',
  Q5_K: '1a8a5a8e7f019ff8139a85b94ed9306766e5d0fe619bd5ac56e3562b6df2ba82',
  Q6_K: '991e0e1b59a45047f4fe0071fbf89e469a66e6f7d9f9345c0271ae742ade9cd5',
  IQ4_NL: 'b798848b1d90504280461c6ee41deca78769defeed2f6285751b9a55a7608b25',
};

/** As in gguf_types.py. */
function randomBytes(count: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(count);
  let state = 1;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

describe('dequantise', () => {
  it.each(READABLE_TYPES)('reads $name as the gguf package does, bit by bit', (type) => {
    const numbers = dequantise(randomBytes((NUMBERS / type.block) * type.bytes), type);
    const known = numbers.map((number) => (Number.isNaN(number) ? 0 : number));
    expect(createHash('sha256').update(Buffer.from(known.buffer)).digest('hex')).toBe(DIGESTS[type.name]);
  });

  it('has a digest for every type that can be read', () => {
    expect(READABLE_TYPES.map(({ name }) => name).sort()).toEqual(Object.keys(DIGESTS).sort());
  });
});
