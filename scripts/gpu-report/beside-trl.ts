/** Whole steps of `braid bench` and of TRL with CUDA, one after the other, on the bundled model. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const MODEL = join(root, 'resources/models/tiny');
const SIZES = ['--prompts', '8', '--group', '16', '--words', '10', '--mode', 'lora', '--beta', '0', '--steps', '10'];

/** Loading torch and TRL takes a minute where the disk is cold. */
const MOST_MS = 5 * 60_000;

/** What each said, or why it said nothing. */
export function besideTrl(python: string): readonly string[] {
  const torch = said(python, ['-c', 'import torch; print(torch.cuda.is_available())']);
  if (torch !== 'True')
    return [`TRL was not timed: ${torch === 'False' ? `torch of ${python} has no CUDA` : torch.trim()}`];
  const bench = [join(root, 'main/braid.ts'), 'bench', '--model', MODEL, ...SIZES, '--backend', 'webgpu'];
  const peer = [join(root, 'scripts/bench/trl_peer.py'), MODEL, ...SIZES, '--device', 'cuda'];
  return [
    ...said(process.execPath, bench).split('\n'),
    ...said(python, peer)
      .split('\n')
      .filter((line) => /^(TRL|It )/.test(line)),
  ];
}

/** A program's output, or in its place why there is none. */
function said(program: string, args: readonly string[]): string {
  const { stdout, stderr, status, error } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    timeout: MOST_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 2 ** 26,
  });
  if (status === 0) return stdout.trim();
  const why = error?.message ?? stderr.trim().split('\n').at(-1) ?? '';
  return `It could not be run (${program} ${args[0] ?? ''}): ${why}`;
}
