/**
 * TensorBoard event files: scalars by step. A file is a row of TFRecords (length, its checksum, data, its checksum),
 * each an Event message of protocol buffers; only the few fields that scalars need are written (event.proto,
 * summary.proto of TensorFlow).
 */
import { maskedCrc } from './crc32c.ts';

export interface ScalarEvent {
  readonly step: number;
  /** Seconds since 1970. */
  readonly wallTime: number;
  readonly values: Readonly<Record<string, number>>;
}

/** The whole file. Values that are not finite are written as they are: TensorBoard shows NaN and infinity. */
export function tensorBoardFile(events: readonly ScalarEvent[]): Uint8Array {
  const start = events[0]?.wallTime ?? 0;
  const version = message([double(1, start), text(3, 'brain.Event:2')]);
  const records = [version, ...events.map(eventMessage)].map(record);
  return concat(records);
}

/** The name that TensorBoard looks for. */
export function tensorBoardName(wallTime: number): string {
  return `events.out.tfevents.${Math.floor(wallTime)}.braid`;
}

function eventMessage({ step, wallTime, values }: ScalarEvent): Uint8Array {
  const summary = message(
    Object.entries(values).map(([tag, value]) => bytes(1, message([text(1, tag), float(2, value)]))),
  );
  return message([double(1, wallTime), integer(2, step), bytes(5, summary)]);
}

function record(data: Uint8Array): Uint8Array {
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(data.length), true);
  return concat([length, word(maskedCrc(length)), data, word(maskedCrc(data))]);
}

function word(value: number): Uint8Array {
  const out = new Uint8Array(4);
  new DataView(out.buffer).setUint32(0, value, true);
  return out;
}

// Wire types of protocol buffers: 0 variable length, 1 eight bytes, 2 with length, 5 four bytes.

function message(fields: readonly Uint8Array[]): Uint8Array {
  return concat(fields);
}

function integer(field: number, value: number): Uint8Array {
  return concat([varint(field * 8), varint(value)]);
}

function double(field: number, value: number): Uint8Array {
  const data = new Uint8Array(8);
  new DataView(data.buffer).setFloat64(0, value, true);
  return concat([varint(field * 8 + 1), data]);
}

function float(field: number, value: number): Uint8Array {
  const data = new Uint8Array(4);
  new DataView(data.buffer).setFloat32(0, value, true);
  return concat([varint(field * 8 + 5), data]);
}

function bytes(field: number, data: Uint8Array): Uint8Array {
  return concat([varint(field * 8 + 2), varint(data.length), data]);
}

function text(field: number, value: string): Uint8Array {
  return bytes(field, new TextEncoder().encode(value));
}

/** Seven bits a byte, the lowest first. */
function varint(value: number): Uint8Array {
  const out: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) out.push((rest % 128) + 128);
  out.push(rest);
  return Uint8Array.from(out);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => {
    out.set(part, at);
    return at + part.length;
  }, 0);
  return out;
}
