/**
 * TensorBoard event files: scalars by step. A file is a sequence of TFRecords (length, its checksum, data, its checksum),
 * each an Event message of protocol buffers; only the few fields that scalars need are written (event.proto,
 * summary.proto of TensorFlow).
 */

export interface ScalarEvent {
  readonly step: number;
  /** Seconds since 1970. */
  readonly wallTime: number;
  readonly values: Readonly<Record<string, number>>;
}

/** The whole file. Non-finite values are written unchanged: TensorBoard shows NaN and infinity. */
export function tensorBoardFile(events: readonly ScalarEvent[]): Uint8Array {
  return concat([versionRecord(events[0]?.wallTime ?? 0), ...events.map(scalarRecord)]);
}

/** The first record of a file. */
export function versionRecord(wallTime: number): Uint8Array {
  return record(message([double(1, wallTime), text(3, 'brain.Event:2')]));
}

/** The record of a step. */
export function scalarRecord(event: ScalarEvent): Uint8Array {
  return record(eventMessage(event));
}

/** SessionLog.START: readers drop what earlier files of the folder have at this step and later. */
const START = 1;

/** The record of a session that starts with a step. */
export function sessionStart(step: number, wallTime: number): Uint8Array {
  return record(message([double(1, wallTime), integer(2, step), bytes(7, message([integer(1, START)]))]));
}

/** A file name that TensorBoard recognises. */
export function tensorBoardName(wallTime: number): string {
  return `events.out.tfevents.${Math.floor(wallTime)}.braid`;
}

/** The second in such a name; 0 in another. */
export function tensorBoardSecond(name: string): number {
  return Number(/^events\.out\.tfevents\.(\d{1,12})\./.exec(name)?.[1] ?? 0);
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

/** Varint: seven bits per byte, lowest first. */
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

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  return crc;
});

/** The checksum of some bytes. */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

/** TFRecord's masked form: rotated and offset, so that checksums of data that contains checksums stay reliable. */
export function maskedCrc(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
