/** Compute programs: WGSL with its parameters and buffers declared, so that a call can't bind them in another order. */
import type { ProgramSource } from './protocol.ts';

export type ParameterType = 'u32' | 'i32' | 'f32';

export interface ProgramSpec {
  readonly name: string;
  /** Members of the uniform `p`, in order; u32 unless said otherwise as "scale:f32". */
  readonly parameters: readonly string[];
  /** Storage buffers, in order: name → WGSL type of their elements; a leading "rw " makes one writable. */
  readonly buffers: Readonly<Record<string, string>>;
  /** What stands before everything else: extensions that it needs. Default: none. */
  readonly directives?: readonly string[];
  /** Invocations of a workgroup. */
  readonly workgroup: number;
  /** Invocations of its subgroups, where they aren't left to the driver. */
  readonly subgroup?: number;
  /** Declarations at module level. */
  readonly declarations?: string;
  /**
   * The body of main. Knows `group` (the workgroup's number over x and y), `wg` (its coordinates) and `lane` (the
   * invocation's number in it).
   */
  readonly main: string;
}

export interface Program extends Omit<ProgramSource, 'id'> {
  readonly parameterTypes: readonly ParameterType[];
}

/** Puts a program's WGSL together. */
export function program(spec: ProgramSpec): Program {
  const { name, directives = [], parameters, buffers, workgroup, subgroup, declarations = '', main } = spec;
  const members = parameters.map((parameter): readonly [string, ParameterType] => {
    const [member = '', type = 'u32'] = parameter.split(':');
    return [member, type as ParameterType];
  });
  const storage = Object.entries(buffers).map(([buffer, type], i) => {
    const writes = type.startsWith('rw ');
    const access = writes ? 'read_write' : 'read';
    return {
      writes,
      line: `@group(0) @binding(${i + 1}) var<storage, ${access}> ${buffer}: array<${writes ? type.slice(3) : type}>;`,
    };
  });
  const wgsl = `${directives.map((directive) => `${directive};\n`).join('')}
struct Parameters { ${members.map(([member, type]) => `${member}: ${type},`).join(' ')} }
@group(0) @binding(0) var<uniform> p: Parameters;
${storage.map(({ line }) => line).join('\n')}
${declarations}
@compute @workgroup_size(${workgroup})${subgroup === undefined ? '' : ` @subgroup_size(${subgroup})`}
fn main(
  @builtin(workgroup_id) wg: vec3<u32>,
  @builtin(num_workgroups) wgs: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let group = wg.x + wg.y * wgs.x;
${main}
}
`;
  return { name, wgsl, writes: storage.map(({ writes }) => writes), parameterTypes: members.map(([, type]) => type) };
}

/** Makes each variant of a program once. */
export function variants<A>(make: (key: A) => Program): (key: A) => Program {
  const made = new Map<string, Program>();
  return (key) => {
    const name = JSON.stringify(key);
    const known = made.get(name) ?? make(key);
    made.set(name, known);
    return known;
  };
}

/** 0 … length − 1: for statements that a program repeats. */
export const range = (length: number): number[] => Array.from({ length }, (_, i) => i);
