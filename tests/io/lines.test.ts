import { describe, expect, it } from 'vitest';
import { linesOf } from '../../main/io/lines.ts';

const read = async (...pieces: readonly (Uint8Array | string)[]): Promise<readonly string[]> => {
  const stream = async function* () {
    yield* pieces;
  };
  const lines: string[] = [];
  for await (const line of linesOf(stream())) lines.push(line);
  return lines.filter((line) => line !== '');
};

describe('linesOf', () => {
  it('ends lines at line feeds and carriage returns alone: JSON has other separators in its texts', async () => {
    const text = `${JSON.stringify({ a: 'b\u2028c\u2029d\u0085é' })}\r\n{}\r[]\n1`;
    const lines = ['{"a":"b\u2028c\u2029d\u0085é"}', '{}', '[]', '1'];
    expect(await read(text)).toEqual(lines);
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at <= bytes.length; at++)
      expect(await read(bytes.subarray(0, at), bytes.subarray(at))).toEqual(lines);
  });
});
