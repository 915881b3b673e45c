/**
 * Programs for matrix units as a software adapter can run them: a fragment is a place in workgroup memory, and each of a
 * subgroup's lanes computes eight of a result's 256 numbers. Panels keep two numbers of 16 bits a word.
 */

import { vi } from 'vitest';
import type { WebGpuBackend } from '../../../main/tensor/webgpu/backend.ts';
import type { Program } from '../../../main/tensor/webgpu/program.ts';

/** What stands for the extension's types and functions, for fragments that lie in these arrays. */
const declarations = (panels: readonly string[], targets: readonly string[]): string => `
struct Fragment { panel: u32, at: u32, line: u32, columns: bool }
var<private> emulated: u32;
fn number(f: Fragment, row: u32, column: u32) -> f32 {
  let at = f.at + select(row, column, f.columns) * f.line + select(column, row, f.columns) / 4u;
  let c = select(column, row, f.columns) % 4u;
  var words = vec2<u32>(0u);
${panels.map((panel, i) => `  if (f.panel == ${i}u) { words = ${panel}[at]; }`).join('\n')}
  return unpack2x16float(words[c / 2u])[c % 2u];
}
fn multiplied(l: Fragment, r: Fragment, sum: array<f32, 8>) -> array<f32, 8> {
  var out = sum;
  for (var i = 0u; i < 8u; i++) {
    let id = emulated % 32u * 8u + i;
    for (var k = 0u; k < 16u; k++) { out[i] += number(l, id / 16u, k) * number(r, k, id % 16u); }
  }
  return out;
}
fn scaled(x: array<f32, 8>, by: f32) -> array<f32, 8> {
  var out = x;
  for (var i = 0u; i < 8u; i++) { out[i] *= by; }
  return out;
}
${targets
  .map(
    (target) => `fn stored_${target}(at: u32, x: array<f32, 8>, line: u32) {
  for (var i = 0u; i < 8u; i++) {
    let id = emulated % 32u * 8u + i;
    ${target}[at + id / 16u * line + id % 16u] = x[i];
  }
}`,
  )
  .join('\n')}
fn halves(x: vec4<f32>) -> vec2<u32> { return vec2(pack2x16float(x.xy), pack2x16float(x.zw)); }`;

/** The program without the extension. */
export function emulated(wgsl: string): string {
  const panels = [...wgsl.matchAll(/var<workgroup> (\w+): array<vec4<f16>/g)].map(([, name = '']) => name);
  const targets = new Set([...wgsl.matchAll(/subgroupMatrixStore<row_major>\(&(\w+)/g)].map(([, name = '']) => name));
  const fragment = (panel: string, at: string, line: string, columns: boolean): string =>
    `Fragment(${panels.indexOf(panel)}u, ${at}, ${line}, ${columns})`;
  return wgsl
    .replace(/^(enable|diagnostic).*\n/gm, '')
    .replace(
      /subgroupMatrixLoad<subgroup_matrix_(?:left|right)<f16, 16, 16>, (col|row)_major>\(&(\w+), (.*), (\w+)\);/g,
      (_, order, panel, at, line) => `${fragment(panel, at, line, order === 'col')};`,
    )
    .replaceAll('subgroup_matrix_result<f32, 16, 16>()', 'array<f32, 8>()')
    .replaceAll('subgroupMatrixMultiplyAccumulate(', 'multiplied(')
    .replaceAll('subgroupMatrixScalarMultiply(', 'scaled(')
    .replace(/subgroupMatrixStore<row_major>\(&(\w+), /g, 'stored_$1(')
    .replace(new RegExp(`^( *(?:${panels.join('|')})\\[.*?\\]) = (.*);$`, 'gm'), '$1 = halves($2);')
    .replaceAll('vec4<f16>(', 'vec4<f32>(')
    .replaceAll('array<vec4<f16>', 'array<vec2<u32>')
    .replace(/bitcast<vec2<f16>>\(([^)]*)\)/g, 'unpack2x16float($1)')
    .replace('@compute', `${declarations(panels, [...targets])}\n@compute`)
    .replace(/fn main\(([^{]*)\{/, 'fn main($1{\n  emulated = lane;');
}

/** Lets products on units be computed by a software adapter: the backend takes it for one that has them. */
export function emulateUnits({ gpu }: WebGpuBackend): void {
  // What the emulated panels need, whatever the units' own need.
  Object.assign(gpu.adapter.limits, { maxComputeWorkgroupStorageSize: 48 * 1024 });
  const run = gpu.run.bind(gpu);
  const programs = new Map<Program, Program>();
  vi.spyOn(gpu, 'run').mockImplementation((code, ...rest) => {
    const known =
      programs.get(code) ?? (code.name.includes('by units') ? { ...code, wgsl: emulated(code.wgsl) } : code);
    programs.set(code, known);
    run(known, ...rest);
  });
  gpu.matrixUnits = true;
}
