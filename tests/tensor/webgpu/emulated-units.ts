/**
 * Programs for matrix units as a software adapter can run them: a fragment is a place in workgroup memory, and each of a
 * subgroup's lanes computes its share of a result's numbers. Panels of float16 keep two numbers a word.
 */

import { vi } from 'vitest';
import type { WebGpuBackend } from '../../../main/tensor/webgpu/backend.ts';
import type { MatrixUnit } from '../../../main/tensor/webgpu/matrix-units.ts';
import type { Program } from '../../../main/tensor/webgpu/program.ts';
import { NVIDIA } from './units.ts';

/** What a program loads fragments of one side from. */
interface Side {
  readonly panels: readonly string[];
  /** Vectors from one line of the panels to the next. */
  readonly line: string;
  readonly columns: boolean;
}

/** What stands for the extension's functions. A fragment is a panel's number and a place in it. */
function declarations(unit: MatrixUnit, left: Side, right: Side, targets: readonly string[]): string {
  const { element, m, n, k, lanes } = unit;
  const share = (m * n) / lanes;
  const [vector, unpacked] =
    element === 'f16' ? ['vec2<u32>', 'vec4(unpack2x16float(four.x), unpack2x16float(four.y))'] : ['vec4<f32>', 'four'];
  const four = (name: string, { panels }: Side): string => `
fn ${name}(panel: u32, at: u32) -> vec4<f32> {
  var four: ${vector} = ${panels[0]}[at];
${panels
  .slice(1)
  .map((other, i) => `  if (panel == ${i + 1}u) { four = ${other}[at]; }`)
  .join('\n')}
  return ${unpacked};
}`;
  const ofColumn = right.columns
    ? `fourOfRight(r.x, r.y + column * ${right.line} + i)`
    : `vec4(${[0, 1, 2, 3].map((j) => `fourOfRight(r.x, r.y + (4u * i + ${j}u) * ${right.line} + column / 4u)[column % 4u]`).join(', ')})`;
  return `
var<private> emulated: u32;
${four('fourOfLeft', left)}
${four('fourOfRight', right)}
fn multiply(l: vec2<u32>, r: vec2<u32>, sum: ptr<function, array<f32, ${share}>>) {
  for (var at = 0u; at < ${share}u; at++) {
    let id = emulated % ${lanes}u * ${share}u + at;
    let column = id % ${n}u;
    for (var i = 0u; i < ${k / 4}u; i++) {
      (*sum)[at] += dot(fourOfLeft(l.x, l.y + id / ${n}u * ${left.line} + i), ${ofColumn});
    }
  }
}
fn scaled(x: array<f32, ${share}>, by: f32) -> array<f32, ${share}> {
  var out = x;
  for (var i = 0u; i < ${share}u; i++) { out[i] *= by; }
  return out;
}
${targets
  .map(
    (target) => `fn stored_${target}(at: u32, x: array<f32, ${share}>, line: u32) {
  for (var i = 0u; i < ${share}u; i++) {
    let id = emulated % ${lanes}u * ${share}u + i;
    ${target}[at + id / ${n}u * line + id % ${n}u] = x[i];
  }
}`,
  )
  .join('\n')}
fn halves(x: vec4<f32>) -> vec2<u32> { return vec2(pack2x16float(x.xy), pack2x16float(x.zw)); }`;
}

const different = (names: readonly (string | undefined)[]): string[] => [...new Set(names.map((name = '') => name))];

/** The loads of one side; the side and the program without them. */
function withoutLoads(wgsl: string, type: string): readonly [Side, string] {
  const load = new RegExp(
    `subgroupMatrixLoad<subgroup_matrix_${type}, (col|row)_major>\\(&(\\w+), (.*), (\\w+)\\);`,
    'g',
  );
  const loads = [...wgsl.matchAll(load)];
  const panels = different(loads.map(([, , panel]) => panel));
  const [[line = '', more], [order]] = [
    different(loads.map((found) => found[4])),
    different(loads.map(([, found]) => found)),
  ];
  if (more !== undefined) throw new Error(`Expected panels of one stride, got ${line} and ${more}`);
  const rest = wgsl.replace(load, (_, __, panel, at) => `vec2<u32>(${panels.indexOf(panel)}u, ${at});`);
  return [{ panels, line, columns: order === 'col' }, rest];
}

/** The program without the extension. */
export function emulated(wgsl: string, unit: MatrixUnit): string {
  const { element, m, n, k, lanes } = unit;
  const [left, withRight] = withoutLoads(wgsl, `left<${element}, ${k}, ${m}>`);
  const [right, without] = withoutLoads(withRight, `right<${element}, ${n}, ${k}>`);
  const targets = different([...wgsl.matchAll(/subgroupMatrixStore<row_major>\(&(\w+)/g)].map(([, target]) => target));
  const plain = without
    .replace(/^(enable|diagnostic).*\n/gm, '')
    .replace(/ @subgroup_size\(\d+\)/, '')
    .replaceAll(`subgroup_matrix_result<f32, ${n}, ${m}>()`, `array<f32, ${(m * n) / lanes}>()`)
    .replace(/(\w+) = subgroupMatrixMultiplyAccumulate\((\w+), (\w+), \1\)/g, 'multiply($2, $3, &$1)')
    .replaceAll('subgroupMatrixScalarMultiply(', 'scaled(')
    .replace(/subgroupMatrixStore<row_major>\(&(\w+), /g, 'stored_$1(')
    .replace('@compute', `${declarations(unit, left, right, targets)}\n@compute`)
    .replace(/fn main\(([^{]*)\{/, 'fn main($1{\n  emulated = lane;');
  if (element === 'f32') return plain;
  const panels = [...left.panels, ...right.panels].join('|');
  return plain
    .replace(new RegExp(`^( *(?:${panels})\\[.*?\\]) = (.*);$`, 'gm'), '$1 = halves($2);')
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
