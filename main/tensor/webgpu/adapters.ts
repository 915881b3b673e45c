/** The adapters of this machine: which there are, which one is wanted, what one says of itself. */
import { chooseUnit, type MatrixConfig } from './choose-unit.ts';
import { messageOf } from './device-faults.ts';
import type { MatrixUnit } from './matrix-units.ts';
import type { AdapterFacts, GpuFault, GpuLimits } from './protocol.ts';

/** Why no device was opened. */
export class OpenFault extends Error {
  readonly fault: GpuFault;

  constructor(fault: GpuFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

interface NamedAdapter {
  readonly name: string;
  /** vulkan, metal, d3d12 … */
  readonly api: string;
}

/** Dawn names its adapters only where it is asked for one that doesn't exist. */
export async function listAdapters(): Promise<readonly NamedAdapter[]> {
  const { create } = await import('webgpu');
  const message = await create(['adapter=none has this name'])
    .requestAdapter({})
    .then(() => '', messageOf);
  return [...message.matchAll(/backend: '([^']*)', name: '([^']*)'/g)].map(([, api = '', name = '']) => ({
    name,
    api,
  }));
}

export const inWords = ({ name, api }: NamedAdapter): string => `${name} (${api})`;

/** The whole name of the adapter that has `wanted` in it, in capitals or not: Dawn tells them apart. */
export async function adapterNamed(wanted: string): Promise<string> {
  const adapters = await listAdapters();
  if (adapters.length === 0) throw new OpenFault('no-adapter', 'no adapter was found');
  const found = adapters.find(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
  if (found !== undefined) return found.name;
  const names = adapters.map(inWords).join(', ');
  throw new OpenFault('other-name', `none has "${wanted}" in its name, there are: ${names}`);
}

export function limitsOf({ limits }: GPUAdapter): GpuLimits {
  return {
    maxBufferSize: limits.maxBufferSize,
    maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
    maxComputeWorkgroupStorageSize: limits.maxComputeWorkgroupStorageSize,
    maxComputeInvocationsPerWorkgroup: limits.maxComputeInvocationsPerWorkgroup,
    maxComputeWorkgroupsPerDimension: limits.maxComputeWorkgroupsPerDimension,
    maxStorageBuffersPerShaderStage: limits.maxStorageBuffersPerShaderStage,
  };
}

/** The unit that products on this adapter are written for. */
export function unitOf({ features, info, limits }: GPUAdapter): MatrixUnit | null {
  const { subgroupMatrixConfigs = [] } = info as GPUAdapterInfo & { subgroupMatrixConfigs?: Iterable<MatrixConfig> };
  return chooseUnit({
    configs: [...subgroupMatrixConfigs],
    features,
    subgroupMinSize: info.subgroupMinSize ?? 0,
    subgroupMaxSize: info.subgroupMaxSize ?? 0,
    memory: limits.maxComputeWorkgroupStorageSize,
  });
}

export function describe(adapter: GPUAdapter): AdapterFacts {
  const { vendor, architecture, device, description } = adapter.info;
  return {
    vendor,
    architecture,
    device,
    description,
    software:
      adapter.info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render/i.test(`${device} ${description}`),
    matrixUnit: unitOf(adapter),
    features: [...adapter.features].sort(),
    limits: limitsOf(adapter),
  };
}
