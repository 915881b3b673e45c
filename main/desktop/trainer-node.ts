/**
 * The trainer in plain Node, beside Electron. Dawn hands out memory of its own, which Electron's V8 refuses in all of its
 * processes, whether they run as Node or not: what computes by WebGPU runs in the Node that the package ships.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findProgram } from '../io/programs.ts';
import { mayHaveGpu } from '../native/gpu-memory.ts';
import { forkTrainer, type LaunchTrainer } from '../services/trainer-process/channel.ts';
import type { BackendSetting } from '../trainer/config/backend-names.ts';

/** Where Node is on a Mac, whose apps aren't given the terminal's PATH; the registry has no Node for one. */
const USUAL = ['/opt/homebrew/bin', '/usr/local/bin'];

/** Trainers that may compute by WebGPU run in `node`, if there is one; all others as `launch` starts them. */
export function launchByBackend(
  launch: LaunchTrainer<object>,
  entry: string,
  node: string | null,
  hasGpu: () => boolean = mayHaveGpu,
): LaunchTrainer<object> {
  if (node === null) return launch;
  const inNode = forkTrainer(entry, node);
  return (env, backend) => (mayUseGpu(backend, hasGpu) ? inNode(env) : launch(env));
}

function mayUseGpu(backend: BackendSetting | undefined, hasGpu: () => boolean): boolean {
  return backend === 'webgpu' || (backend === 'auto' && hasGpu());
}

/** The package's Node, that of the checkout, or the system's; null: none. `packaged`: the package's resources folder. */
export function findNode(root: string, packaged: string | null): string | null {
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const shipped =
    packaged === null
      ? join(root, 'node_modules', `node-${system}-${process.arch}`, 'bin', name)
      : join(packaged, 'node', 'bin', name);
  if (existsSync(shipped)) return shipped;
  return findProgram([name], [process.env.PATH ?? '', ...USUAL].join(delimiter)) ?? null;
}
