/** Whether a model's training fits into this machine's memory. */
import { formatBytes } from '../../text/format.ts';
import { isOnGpu } from '../../trainer/memory/budget.ts';
import type { ModelPlan } from '../../trainer/memory/model-plan.ts';
import { type Check, ok, warn } from './check.ts';

/** One line for the report. */
export function modelCheck({ parameters, device, budget, weightBytes, stages }: ModelPlan): Check {
  const where = device === 'wasm' ? ' on wasm' : isOnGpu(device) ? ' of the GPU' : '';
  const size = `${(parameters / 1e6).toFixed(0)} M parameters, ${formatBytes(budget)}${where}`;
  const fitting = stages.filter(({ fits }) => fits).map(({ words }) => words);
  const longest = fitting.at(-1);
  if (longest === undefined) {
    const least = Math.min(...stages.map(({ total }) => total));
    return warn(
      'Model memory',
      `${size}: needs at least ${formatBytes(least)}`,
      device === 'wasm'
        ? 'The wasm backend can use 4 GiB: set up the native one in Settings, or use a smaller model.'
        : `Use ${device === 'webgpu' ? 'base_weights int8 or nf4, ' : ''}a smaller model or a machine with more memory.`,
    );
  }
  const kept = weightBytes < 4 ? `, weights in ${8 * weightBytes} bits` : '';
  if (fitting.length === stages.length) return ok('Model memory', `${size}: every stage fits${kept}`);
  return warn('Model memory', `${size}: stages to ${longest} words fit${kept}`, 'Longer stages need more memory.');
}
