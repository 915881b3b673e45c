/** Whether a model's training fits into this machine's memory. */
import { currentLayout, readManifest } from '../../native/folder.ts';
import { freeTensorMemory } from '../../native/free-memory.ts';
import type { ModelPlan } from '../../trainer/model-plan.ts';
import { type GpuFacts, readGpuFacts } from '../native-setup/machine.ts';
import { gpuIsUsable } from '../native-setup/source.ts';
import { type Check, formatBytes, ok, warn } from './check.ts';

/** The memory that training would have on this machine, in bytes. */
export async function machineBudget(): Promise<number> {
  const manifest = readManifest(currentLayout());
  if (manifest?.cuda !== true) return freeTensorMemory(false);
  const facts = await readGpuFacts();
  return planBudget(facts, gpuIsUsable(facts, manifest.tensorflow));
}

/** The GPU's memory where one is used, else what is free. */
export function planBudget({ gpus }: Pick<GpuFacts, 'gpus'>, gpuIsUsed: boolean): number {
  const [first] = gpus;
  return gpuIsUsed && first !== undefined ? first.memoryMb * 2 ** 20 : freeTensorMemory(false);
}

/** One line for the report. */
export function modelCheck({ parameters, budget, weightBytes, stages }: ModelPlan): Check {
  const size = `${(parameters / 1e6).toFixed(0)} M parameters, ${formatBytes(budget)}`;
  const fitting = stages.filter(({ fits }) => fits).map(({ words }) => words);
  const longest = fitting.at(-1);
  if (longest === undefined) {
    const least = Math.min(...stages.map(({ total }) => total));
    return warn(
      'Model memory',
      `${size}: needs ${formatBytes(least)} at least`,
      'Take a smaller model or a machine with more memory.',
    );
  }
  const kept = weightBytes === 2 ? ', weights as bfloat16 (native only)' : '';
  if (fitting.length === stages.length) return ok('Model memory', `${size}: every stage fits${kept}`);
  return warn('Model memory', `${size}: stages to ${longest} words fit${kept}`, 'Longer stages need more memory.');
}
