/**
 * Programs for matrix units as a software adapter can run them: a fragment is a place in workgroup memory, and each of a
 * subgroup's lanes computes its share of a result's numbers. Panels of float16 keep two numbers a word.
 */

import { vi } from 'vitest';
import type { WebGpuBackend } from '../../../main/tensor/webgpu/backend.ts';
import type { MatrixUnit } from '../../../main/tensor/webgpu/matrix-units.ts';
import type { Program } from '../../../main/tensor/webgpu/program.ts';
import { NVIDIA } from './units.ts';

/** An array that fragments are loaded from or stored to. */
interface Panel {
  readonly name: string;
  /** Its elements are vectors of four. */
  readonly vectors: boolean;
}

/** What stands for the extension's functions. A fragment of a factor is a panel's number, a place in it, its stride and order. */
function declarations(unit: MatrixUnit, panels: readonly string[], sums: readonly Panel[]): string {
  const { element, m, n, k, lanes } = unit;
  const share = (m * n) / lanes;
  const [vector, unpacked] =
    element === 'f16' ? ['vec2<u32>', 'vec4(unpack2x16float(four.x), unpack2x16float(four.y))'] : ['vec4<f32>', 'four'];
  const place = ({ name, vectors }: Panel): string =>
    vectors ? `${name}[at + row * line + column / 4u][column % 4u]` : `${name}[at + row * line + column]`;
  const each = (statement: string): string => `  for (var i = 0u; i < ${share}u; i++) {
    let id = emulated % ${lanes}u * ${share}u + i;
    let row = id / ${n}u;
    let column = id % ${n}u;
    ${statement}
  }`;
  return `
var<private> emulated: u32;
fn fourOf(which: u32, at: u32) -> vec4<f32> {
  var four: ${vector};
${panels.map((panel, i) => `  if (which == ${i}u) { four = ${panel}[at]; }`).join('\n')}
  return ${unpacked};
}
/** Four numbers of a line along K, or of a column of lines. */
fn along(part: vec4<u32>, line: u32, i: u32) -> vec4<f32> { return fourOf(part.x, part.y + line * part.z + i); }
fn across(part: vec4<u32>, column: u32, i: u32) -> vec4<f32> {
  let at = part.y + 4u * i * part.z + column / 4u;
  let c = column % 4u;
  return vec4(${[0, 1, 2, 3].map((j) => `fourOf(part.x, at + ${j}u * part.z)[c]`).join(', ')});
}
fn multiply(l: vec4<u32>, r: vec4<u32>, sum: ptr<function, array<f32, ${share}>>) {
  for (var at = 0u; at < ${share}u; at++) {
    let id = emulated % ${lanes}u * ${share}u + at;
    for (var i = 0u; i < ${k / 4}u; i++) {
      let left = along(l, id / ${n}u, i);
      if (r.w == 1u) { (*sum)[at] += dot(left, along(r, id % ${n}u, i)); } else { (*sum)[at] += dot(left, across(r, id % ${n}u, i)); }
    }
  }
}
fn scaled(x: array<f32, ${share}>, by: f32) -> array<f32, ${share}> {
  var out = x;
  for (var i = 0u; i < ${share}u; i++) { out[i] *= by; }
  return out;
}
${sums
  .map(
    (panel) => `fn stored_${panel.name}(at: u32, x: array<f32, ${share}>, line: u32) {
${each(`${place(panel)} = x[i];`)}
}
fn loaded_${panel.name}(at: u32, line: u32) -> array<f32, ${share}> {
  var x: array<f32, ${share}>;
${each(`x[i] = ${place(panel)};`)}
  return x;
}`,
  )
  .join('\n')}
fn halves(x: vec4<f32>) -> vec2<u32> { return vec2(pack2x16float(x.xy), pack2x16float(x.zw)); }`;
}

const different = (names: readonly (string | undefined)[]): string[] => [...new Set(names.map((name = '') => name))];

const LOAD = /subgroupMatrixLoad<subgroup_matrix_(?:left|right)<[^>]*>, (col|row)_major>\(&(\w+), (.*), (\w+)\);/g;

/** The program without the extension. */
export function emulated(wgsl: string, unit: MatrixUnit): string {
  const { element, m, n, lanes } = unit;
  const panels = different([...wgsl.matchAll(LOAD)].map(([, , panel]) => panel));
  const sums = different([...wgsl.matchAll(/subgroupMatrixStore<row_major>\(&(\w+)/g)].map(([, target]) => target));
  const own = declarations(
    unit,
    panels,
    sums.map((name) => ({ name, vectors: wgsl.includes(`var<workgroup> ${name}: array<vec4`) })),
  );
  const plain = wgsl
    .replace(
      LOAD,
      (_, order, panel, at, stride) =>
        `vec4<u32>(${panels.indexOf(panel)}u, ${at}, ${stride}, ${order === 'col' ? 1 : 0}u);`,
    )
    .replace(/subgroupMatrixLoad<subgroup_matrix_result<[^>]*>, row_major>\(&(\w+), /g, 'loaded_$1(')
    .replace(/^(enable|diagnostic).*\n/gm, '')
    .replace(/ @subgroup_size\(\d+\)/, '')
    .replaceAll(`subgroup_matrix_result<f32, ${n}, ${m}>()`, `array<f32, ${(m * n) / lanes}>()`)
    .replace(/(\w+) = subgroupMatrixMultiplyAccumulate\((\w+), (\w+), \1\)/g, 'multiply($2, $3, &$1)')
    .replaceAll('subgroupMatrixScalarMultiply(', 'scaled(')
    .replace(/subgroupMatrixStore<row_major>\(&(\w+), /g, 'stored_$1(')
    .replace('@compute', `${own}\n@compute`)
    .replace(/fn main\(([^{]*)\{/, 'fn main($1{\n  emulated = lane;');
  if (element === 'f32') return plain;
  return plain
    .replace(new RegExp(`^( *(?:${panels.join('|')})\\[.*?\\]) = (.*);$`, 'gm'), '$1 = halves($2);')
    .replaceAll('vec4<f16>(', 'vec4<f32>(')
    .replaceAll('array<vec4<f16>', 'array<vec2<u32>')
    .replace(/bitcast<vec2<f16>>\(([^)]*)\)/g, 'unpack2x16float($1)');
}

/**
 * Lets products on units be computed by a software adapter: the backend takes it for one that has them. Those of the
 * adapter's own unit aren't emulated.
 */
export function emulateUnits({ gpu }: WebGpuBackend, unit: MatrixUnit = NVIDIA): void {
  const run = gpu.run.bind(gpu);
  const own = gpu.adapter.matrixUnit;
  const programs = new Map<Program, Program>();
  vi.spyOn(gpu, 'run').mockImplementation((code, ...rest) => {
    const { matrixUnit: used } = gpu;
    const emulate = used !== null && used !== own && code.name.includes('by units');
    const known = programs.get(code) ?? (emulate ? { ...code, wgsl: emulated(code.wgsl, used) } : code);
    programs.set(code, known);
    run(known, ...rest);
  });
  gpu.matrixUnit = unit;
}
