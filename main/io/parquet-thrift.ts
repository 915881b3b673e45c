/** Thrift's compact protocol, in which parquet writes its footer and its pages' headers: only whether it fits its bytes. */
import { readVarInt } from 'hyparquet/src/thrift.js';

type Reader = Parameters<typeof readVarInt>[0];

const [TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, STRUCT] = [1, 2, 3, 7, 8, 9, 12];
/** 16, 32 and 64 bits. */
const INTEGERS = [4, 5, 6];

/** Throws where a list has more items than there are bytes: the library makes room for as many as it says. */
export function checkThrift(view: DataView, offset: number): void {
  skipStruct({ view, offset });
}

function skipStruct(reader: Reader): void {
  for (;;) {
    const byte = reader.view.getUint8(reader.offset++);
    const type = byte & 0x0f;
    if (type === 0) return;
    if (byte >> 4 === 0) readVarInt(reader);
    if (type !== TRUE && type !== FALSE) skipValue(reader, type);
  }
}

function skipValue(reader: Reader, type: number): void {
  if (INTEGERS.includes(type)) skipInteger(reader);
  else if (type === BYTE || type === TRUE || type === FALSE) reader.offset++;
  else if (type === DOUBLE) reader.offset += 8;
  else if (type === BINARY) skipBytes(reader);
  else if (type === LIST) skipList(reader);
  else if (type === STRUCT) skipStruct(reader);
  else throw new Error(`thrift unhandled type: ${type}`);
}

function skipBytes(reader: Reader): void {
  const size = sizeOf(readVarInt(reader), reader);
  reader.offset += size;
}

/** A 64-bit integer has up to ten bytes. */
function skipInteger(reader: Reader): void {
  while (reader.view.getUint8(reader.offset++) & 0x80);
}

function skipList(reader: Reader): void {
  const byte = reader.view.getUint8(reader.offset++);
  const count = sizeOf(byte >> 4 === 15 ? readVarInt(reader) : byte >> 4, reader);
  for (let i = 0; i < count; i++) skipValue(reader, byte & 0x0f);
}

function sizeOf(size: number, { view, offset }: Reader): number {
  const left = view.byteLength - offset;
  if (size >= 0 && size <= left) return size;
  throw new Error(`thrift value of ${size} items or bytes in the last ${left} bytes`);
}
