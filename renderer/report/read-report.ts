/** Reads the report that the page carries. */
import type { Report } from '../../main/api/contract/index.ts';

/** How numbers that JSON doesn't have come; the arguments of a call may have a "#", too. */
const NUMBERS = ['{"#":"NaN"}', '{"#":"Infinity"}', '{"#":"-Infinity"}'];

/** Decompresses base64 text. */
export async function readReport(packed: string): Promise<Report> {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text(), (_, value: unknown) =>
    typeof value === 'object' && value !== null && '#' in value && NUMBERS.includes(JSON.stringify(value))
      ? Number(value['#'])
      : value,
  ) as Report;
}
