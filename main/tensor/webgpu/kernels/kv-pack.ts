/** How keys and values lie in a cache's buffer, and how they get there. */
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor } from '../kernel.ts';
import type { GpuBuffer } from '../pool.ts';
import { program, variants } from '../program.ts';

const LANES = 128;

export type KvFormat = 'f32' | 'f16';

/** Bytes of a number in the cache. */
export const kvBytes = (format: KvFormat): number => (format === 'f32' ? 4 : 2);

/** What a cache's buffer is an array of. */
export const kvElement = (format: KvFormat): string => (format === 'f32' ? 'vec4<f32>' : 'vec2<u32>');

/** WGSL functions between four numbers and an element. */
export const KV_CODEC: Readonly<Record<KvFormat, string>> = {
  f32: `fn unpackKv(x: vec4<f32>) -> vec4<f32> { return x; }
fn packKv(x: vec4<f32>) -> vec4<f32> { return x; }`,
  f16: `fn unpackKv(x: vec2<u32>) -> vec4<f32> { return vec4<f32>(unpack2x16float(x.x), unpack2x16float(x.y)); }
fn packKv(x: vec4<f32>) -> vec2<u32> {
  // What 16 bits can't hold is undefined.
  let y = clamp(x, vec4<f32>(-65504.0), vec4<f32>(65504.0));
  return vec2<u32>(pack2x16float(y.xy), pack2x16float(y.zw));
}`,
};

/** Puts float32 keys (or values) into a cache's buffer. */
const packProgram = variants(({ format }: { readonly format: KvFormat }) =>
  program({
    name: `KvCache ${format}`,
    parameters: ['n', 'place'],
    buffers: { x: 'vec4<f32>', cache: `rw ${kvElement(format)}` },
    workgroup: LANES,
    declarations: KV_CODEC[format],
    main: `  let i = group * ${LANES}u + lane;
  if (i < p.n) { cache[p.place + i] = packKv(x[i]); }`,
  }),
);

/** Writes `size` numbers of x into the cache from number `to` on. */
export function packKv(
  backend: WebGpuBackend,
  x: GpuBuffer,
  cache: GpuBuffer,
  to: number,
  size: number,
  format: KvFormat,
): void {
  const n = size / 4;
  backend.gpu.run(packProgram({ format }), [x, cache], [n, to / 4], groupsFor(n, LANES));
}

/** Takes them back. */
const unpackProgram = variants(({ format }: { readonly format: KvFormat }) =>
  program({
    name: `KvCacheBack ${format}`,
    parameters: ['n', 'place', 'to'],
    buffers: { cache: kvElement(format), x: 'rw vec4<f32>' },
    workgroup: LANES,
    declarations: KV_CODEC[format],
    main: `  let i = group * ${LANES}u + lane;
  if (i < p.n) { x[p.to + i] = unpackKv(cache[p.place + i]); }`,
  }),
);

/** Reads `size` numbers of the cache from number `from` on into x, from its number `to` on. */
export function unpackKv(
  backend: WebGpuBackend,
  cache: GpuBuffer,
  from: number,
  x: GpuBuffer,
  to: number,
  size: number,
  format: KvFormat,
): void {
  const n = size / 4;
  backend.gpu.run(unpackProgram({ format }), [cache, x], [n, from / 4, to / 4], groupsFor(n, LANES));
}
