/** Dawn's device that computes nothing: it knows the language, and what WebGPU guarantees. */
import { create, globals } from 'webgpu';
import { featuresOf } from '../../../main/tensor/webgpu/matrix-units.ts';
import { AMD } from './units.ts';

/** What Dawn makes of a program. */
export interface Compiled {
  /** Faults and warnings, each with its line. */
  readonly messages: readonly string[];
  /** Bytes of a workgroup's memory, where that is more than WebGPU guarantees; null: it isn't. */
  readonly memory: number | null;
  /** What else is wrong with a pipeline. */
  readonly fault: string | null;
}

/** Compiles programs on a device with all that matrix units need. */
export async function compile(programs: readonly { readonly wgsl: string }[]): Promise<readonly Compiled[]> {
  Object.assign(globalThis, globals);
  const instance = create(['backend=null', 'enable-dawn-features=allow_unsafe_apis']);
  const adapter = await instance.requestAdapter({});
  const device = await adapter?.requestDevice({ requiredFeatures: featuresOf(AMD) });
  if (device === undefined) throw new Error('Expected a device');
  const found: Compiled[] = [];
  for (const { wgsl } of programs) {
    const module = device.createShaderModule({ code: wgsl });
    const { messages } = await module.getCompilationInfo();
    device.pushErrorScope('validation');
    device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint: 'main' } });
    const fault = (await device.popErrorScope())?.message ?? null;
    const bytes = /workgroup storage \((\d+) bytes\)/.exec(fault ?? '')?.[1];
    found.push({
      messages: messages.map(({ lineNum, message }) => `${lineNum}: ${message}`),
      memory: bytes === undefined ? null : Number(bytes),
      fault: bytes === undefined ? fault : null,
    });
  }
  device.destroy();
  await device.lost;
  // Named so that they can't be collected before the device.
  void [instance, adapter];
  return found;
}
