/**
 * Compression of large requests, for servers that say that they take it: by an Accept-Encoding in an answer of theirs
 * (RFC 9110, 12.5.3). It isn't tried on others, which would have to fail a request first.
 */
import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';

export interface Sent {
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Null: as it is. */
  readonly coding: Coding | null;
}

export interface Packing {
  pack(text: string): Promise<Sent>;
  /** Learns from an answer what the server takes; one that refuses it after all gets no more. */
  heard(response: Pick<Response, 'status' | 'headers'>): void;
}

/** The best first. */
const CODINGS = ['zstd', 'gzip'] as const;
type Coding = (typeof CODINGS)[number];

const COMPRESS = { zstd: promisify(zstdCompress), gzip: promisify(gzip) } as const;

/** Smaller ones aren't worth it. */
const LARGE = 64 * 1024;

export function openPacking(): Packing {
  let coding: Coding | null = null;
  let isRefused = false;
  return {
    pack: async (text) => {
      if (coding === null || text.length < LARGE) return { body: text, coding: null };
      const used = coding;
      return { body: Uint8Array.from(await COMPRESS[used](text)), coding: used };
    },
    heard: ({ status, headers }) => {
      if (status === 415) isRefused = true;
      const announced = headers.get('accept-encoding');
      if (isRefused) coding = null;
      else if (announced !== null) coding = CODINGS.find((name) => takes(announced, name)) ?? null;
    },
  };
}

/** `gzip;q=0` says that it isn't taken. */
function takes(announced: string, name: Coding): boolean {
  return announced.split(',').some((entry) => {
    const [coding = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    return coding === name && !parameters.some((part) => /^q=0(\.0*)?$/.test(part));
  });
}
