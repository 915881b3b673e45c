/** Whether a model's training fits into this machine's memory. */
import { currentLayout, readManifest } from '../../native/folder.ts';
import { freeTensorMemory } from '../../native/free-memory.ts';
import { formatBytes } from '../../text/format.ts';
import { type Budget, type Device, deviceBudget } from '../../trainer/memory/budget.ts';
import type { ModelPlan } from '../../trainer/memory/model-plan.ts';
import { type GpuFacts, readGpuFacts } from '../native-setup/machine.ts';
import { gpuIsUsable } from '../native-setup/source.ts';
import { type Check, ok, warn } from './check.ts';

/** What trains on this machine: the native backend where it is set up, otherwise the embedded one. */
export function machineDevice(): Device {
  return readManifest(currentLayout()) === null ? 'wasm' : 'native';
}

/** The memory for training on this machine; `bytes` stands for what is free. */
export async function machineBudget(bytes: number | null = null): Promise<Budget> {
  const manifest = readManifest(currentLayout());
  if (manifest?.cuda !== true) return deviceBudget(machineDevice(), bytes ?? freeTensorMemory(false));
  const facts = await readGpuFacts();
  return planBudget(facts, gpuIsUsable(facts, manifest.tensorflow), bytes);
}

/** The GPU's memory if one is used, otherwise the free memory. */
export function planBudget({ gpus }: Pick<GpuFacts, 'gpus'>, gpuIsUsed: boolean, bytes: number | null = null): Budget {
  const [first] = gpus;
  return gpuIsUsed && first !== undefined
    ? deviceBudget('native-gpu', bytes ?? first.memoryMb * 2 ** 20)
    : deviceBudget('native', bytes ?? freeTensorMemory(false));
}

/** One line for the report. */
export function modelCheck({ parameters, device, budget, weightBytes, stages }: ModelPlan): Check {
  const where = device === 'wasm' ? ' on wasm' : '';
  const size = `${(parameters / 1e6).toFixed(0)} M parameters, ${formatBytes(budget)}${where}`;
  const fitting = stages.filter(({ fits }) => fits).map(({ words }) => words);
  const longest = fitting.at(-1);
  if (longest === undefined) {
    const least = Math.min(...stages.map(({ total }) => total));
    return warn(
      'Model memory',
      `${size}: needs at least ${formatBytes(least)}`,
      device === 'wasm'
        ? 'The wasm backend can use 4 GiB: set up the native one with npm run setup:native, or use a smaller model.'
        : 'Use a smaller model or a machine with more memory.',
    );
  }
  const kept = weightBytes === 2 ? ', weights as bfloat16' : '';
  if (fitting.length === stages.length) return ok('Model memory', `${size}: every stage fits${kept}`);
  return warn('Model memory', `${size}: stages to ${longest} words fit${kept}`, 'Longer stages need more memory.');
}
