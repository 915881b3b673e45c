/** A model folder as bitsandbytes stores it in 8 bits, and safetensors files of any types. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLinearWeight } from '../main/model/names.ts';
import { openSafetensors } from '../main/model/safetensors.ts';

export interface Part {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: ArrayLike<number> & ArrayBufferView;
}

export const f32 = (shape: readonly number[], ...values: number[]): Part => ({
  dtype: 'F32',
  shape,
  data: Float32Array.from(values),
});

/** Writes model.safetensors. */
export function writeSafetensors(folder: string, parts: Readonly<Record<string, Part>>): void {
  const header: Record<string, unknown> = {};
  const pieces: Buffer[] = [];
  let at = 0;
  for (const [name, { dtype, shape, data }] of Object.entries(parts)) {
    header[name] = { dtype, shape, data_offsets: [at, at + data.byteLength] };
    pieces.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    at += data.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([length, json, ...pieces]));
}

/** Quantises a folder's linear layers in place; what each then stands for, by its name. */
export function toInt8(folder: string): ReadonlyMap<string, Float32Array> {
  const file = openSafetensors(join(folder, 'model.safetensors'));
  const stood = new Map<string, Float32Array>();
  const parts = [...file.entries].flatMap(([name, { shape }]): (readonly [string, Part])[] => {
    const values = file.read(name);
    if (!isLinearWeight(name)) return [[name, f32(shape, ...values)]];
    const [rows = 0, columns = 0] = shape;
    const row = (r: number) => values.subarray(r * columns, (r + 1) * columns);
    const scales = Float32Array.from({ length: rows }, (_, r) => Math.max(...row(r).map(Math.abs)));
    const scaleOf = (i: number): number => scales[Math.floor(i / columns)] ?? 1;
    const data = Int8Array.from(values, (value, i) => (127 * value) / scaleOf(i));
    const factor = Math.fround(1 / 127);
    stood.set(
      name,
      Float32Array.from(data, (code, i) => Math.fround(code * scaleOf(i)) * factor),
    );
    return [
      [name, { dtype: 'I8', shape, data }],
      [name.replace(/weight$/, 'SCB'), f32([rows], ...scales)],
    ];
  });
  file.close();
  writeSafetensors(folder, Object.fromEntries(parts));
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as object;
  const settings = { quant_method: 'bitsandbytes', load_in_8bit: true };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, quantization_config: settings }));
  return stood;
}
