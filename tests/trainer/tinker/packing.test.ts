import { createServer } from 'node:http';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openHttp } from '../../../main/trainer/tinker/http.ts';
import { listenInTest } from '../../local-server.ts';

interface Seen {
  readonly coding: string | undefined;
  readonly bytes: number;
  readonly text: string;
}

/** A server that announces what it takes, or refuses everything that is compressed. */
async function serve(announces: string | null, refuses = false) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const bytes = Buffer.concat(pieces);
      const coding = request.headers['content-encoding'];
      const unpacked = coding === 'gzip' ? gunzipSync(bytes) : coding === 'zstd' ? zstdDecompressSync(bytes) : bytes;
      seen.push({ coding, bytes: bytes.length, text: unpacked.toString('utf8') });
      response.writeHead(refuses && coding !== undefined ? 415 : 200, {
        'content-type': 'application/json',
        ...(announces !== null && { 'accept-encoding': announces }),
      });
      response.end('{}');
    });
  });
  const url = await listenInTest(server);
  return { seen, http: openHttp({ name: 'e', url, baseModel: 'm', allowPlain: false, key: null, prices: null }) };
}

const large = { data: Array.from({ length: 20_000 }, (_, i) => i % 1000) };

describe('large requests', () => {
  it('are compressed once the server has said that it takes it, by the best that it names', async () => {
    const { seen, http } = await serve('gzip, zstd;q=0.5');
    await http.get('healthz');
    await http.post('forward', large);
    await http.post('forward', { small: 1 });
    expect(seen.map(({ coding }) => coding)).toEqual([undefined, 'zstd', undefined]);
    expect(JSON.parse(seen[1]?.text ?? '')).toEqual(large);
    expect(seen[1]?.bytes).toBeLessThan(JSON.stringify(large).length / 2);
    expect(http.traffic.sentBytes).toBe((seen[1]?.bytes ?? 0) + '{"small":1}'.length);
  });

  it('stay as they are where the server says nothing, or that it takes none', async () => {
    for (const announces of [null, 'identity, gzip;q=0']) {
      const { seen, http } = await serve(announces);
      await http.get('healthz');
      await http.post('forward', large);
      expect(seen[1]?.coding).toBeUndefined();
    }
  });

  it('are sent once more as they are where compression is refused after all, and from then on', async () => {
    const { seen, http } = await serve('gzip', true);
    await http.get('healthz');
    expect((await http.post('forward', large)).status).toBe(200);
    await http.post('forward', large);
    expect(seen.map(({ coding }) => coding)).toEqual([undefined, 'gzip', undefined, undefined]);
  });
});
