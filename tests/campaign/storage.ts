/** Disks that are full, read-only, broken, taken away, or give back other bytes than were written. */
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RandomStream } from '../../main/random.ts';
import { openStore } from '../../main/store/index.ts';
import { startCommand } from './hosts.ts';
import type { Kind } from './kind.ts';
import { pick } from './mutate.ts';
import { difference, leftIn, makeWorld, newestRun, rawError, trainWhole, type World } from './world.ts';

type Whole = NonNullable<ReturnType<typeof leftIn>>;

export const storage: Kind = {
  name: 'storage',
  share: 0.25,
  least: 12,
  leastShort: 3,
  run: async (context) => {
    const world = await makeWorld(join(context.folder, 'whole'));
    await trainWhole(world);
    const whole = leftIn(world.root, 1) as Whole;
    const stopped = join(context.folder, 'stopped');
    await makeStopped(world, stopped);
    for (let number = 1; context.goesOn(); number++) {
      const stream = context.stream(number);
      const root = join(context.folder, `try-${number}`);
      const story: string[] = [];
      try {
        const fault = await pick(stream, [damaged, damaged, failing, takenAway])({
          world,
          stopped,
          root,
          stream,
          story,
        });
        if (fault !== null) context.failed(number, fault, story.join(', '));
        else {
          const run = newestRun(root);
          // What a damaged database lost, nobody can know: that it was said in words is all that is asked.
          const differs = run?.state === 'done' && !story.includes('braid.db') ? differing(root, run.id, whole) : null;
          if (differs !== null) context.failed(number, `other numbers: ${differs}`, story.join(', '));
        }
      } catch (error) {
        const { message } = error as Error;
        // The campaign's own look at a damaged database.
        if (!story.includes('braid.db')) context.failed(number, message, story.join(', '));
      }
      context.report.tries++;
      rmSync(root, { recursive: true, force: true });
    }
  },
};

/** Metrics of the history, weights and moments: files for reading only may have been damaged themselves. */
function differing(root: string, runId: number, whole: Whole): string | null {
  const { lines: _, log: __, samples: ___, ...left } = leftIn(root, runId) as Whole;
  return difference({ ...whole, ...left }, whole);
}

/** A workspace whose run stands in its middle, with two checkpoints and no process. */
async function makeStopped(world: World, root: string): Promise<void> {
  cpSync(world.root, root, {
    recursive: true,
    filter: (path) => !/outputs.|braid\.db/.test(relative(world.root, path)),
  });
  const args = ['train', '--config', world.configFile, '--workspace', root];
  const { process: host, ended } = startCommand(args);
  for (let waited = 0; waited < 60_000 && checkpointsIn(root) < 2; waited += 20) await sleep(20);
  host.kill('SIGKILL');
  await ended;
  if (newestRun(root)?.state === 'done') throw new Error('Expected a run to be killed before its end');
}

function checkpointsIn(root: string): number {
  try {
    const outputs = join(root, 'outputs');
    return readdirSync(join(outputs, readdirSync(outputs)[0] ?? '')).filter((name) => /^checkpoint-/.test(name)).length;
  } catch {
    return 0;
  }
}

interface Try {
  readonly world: World;
  readonly stopped: string;
  readonly root: string;
  readonly stream: RandomStream;
  readonly story: string[];
}

/** Other bytes in one file of a stopped run: the run resumes with the same numbers, or it is refused in words. */
async function damaged({ stopped, root, stream, story }: Try): Promise<string | null> {
  cpSync(stopped, root, { recursive: true });
  const newest = newestCheckpointIn(root);
  const files = readdirSync(newest).map((name) => join(newest, name));
  const file = stream.below(6) === 0 ? join(root, 'braid.db') : pick(stream, files);
  story.push(relative(root, file).split(/[\\/]/).at(-1) ?? '');
  const bytes = readFileSync(file);
  writeFileSync(file, spoilt(bytes, stream, story));
  const same = readFileSync(file).equals(bytes);
  const { code, stderr } = await resume(root);
  const raw = rawError(stderr);
  if (raw !== null) return `raw error: ${raw}`;
  // A list of digests with another byte is no list, or names another digest: it is damaged itself.
  return code === 0 && !same && !story.includes('braid.db') ? 'damage was trained on without a word' : null;
}

/** The one that the run resumes from. A kill may have left a newer folder that the history doesn't know yet. */
function newestCheckpointIn(root: string): string {
  const store = openStore(join(root, 'braid.db'));
  try {
    return join(root, store.checkpoints.ofRun(1).at(-1)?.path ?? '');
  } finally {
    store.close();
  }
}

function spoilt(bytes: Buffer, stream: RandomStream, story: string[]): Buffer {
  const at = stream.below(bytes.length);
  const copy = Buffer.from(bytes);
  const how = pick(stream, ['a flipped bit', 'zeros', 'a cut', 'an appendix', 'random bytes'] as const);
  story.push(`${how} at ${at}`);
  if (how === 'a cut') return copy.subarray(0, at);
  if (how === 'an appendix') return Buffer.concat([copy, Buffer.alloc(1 + stream.below(100), stream.below(256))]);
  if (how === 'a flipped bit') copy[at] = (copy[at] ?? 0) ^ (1 << stream.below(8));
  else for (let i = at; i < Math.min(copy.length, at + 512); i++) copy[i] = how === 'zeros' ? 0 : stream.below(256);
  return copy;
}

const CODES = ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EACCES'] as const;

/** Writing calls that fail while a run resumes from its middle; without the fault it then reaches the same end. */
async function failing({ stopped, root, stream, story }: Try): Promise<string | null> {
  cpSync(stopped, root, { recursive: true });
  const code = pick(stream, CODES);
  const after = 1 + stream.below(150);
  const lasting = stream.below(2);
  story.push(`${code} at write ${after}${lasting === 1 ? ' and later' : ''}`);
  const layer = new URL('fault-layer.ts', import.meta.url).pathname;
  const broken = await resume(root, {
    NODE_OPTIONS: `--import ${layer}`,
    BRAID_FAULT_BELOW: join(root, 'outputs'),
    BRAID_FAULT_CODE: code,
    BRAID_FAULT_AFTER: String(after),
    BRAID_FAULT_LASTING: String(lasting),
  });
  const raw = rawError(broken.stderr);
  if (raw !== null) return `raw error: ${raw}`;
  if (broken.code !== 0 && broken.code !== 1 && broken.code !== 2 && broken.code !== 130)
    return `ended with code ${broken.code}`;
  if (newestRun(root)?.state === 'done') return null;
  const { code: resumed, stderr } = await resume(root);
  return resumed === 0 ? null : `does not resume on a good disk: ${stderr.slice(-200)}`;
}

/** The run's folder is renamed away in the middle: it must not end as if nothing had happened. */
async function takenAway({ stopped, root, stream, story }: Try): Promise<string | null> {
  cpSync(stopped, root, { recursive: true });
  const what = pick(stream, ['outputs', 'the run'] as const);
  const waited = 200 + stream.below(3000);
  story.push(`${what} gone after ${waited} ms`);
  const { process: host, ended } = startCommand(['train', '--resume', '--workspace', root]);
  await sleep(waited);
  const outputs = join(root, 'outputs');
  const run = join(outputs, readdirSync(outputs)[0] ?? '');
  const path = what === 'outputs' ? outputs : run;
  // All was written: the process only had to exit.
  const over = host.exitCode !== null || newestRun(root)?.state === 'done';
  const steps = statSync(join(run, 'metrics.jsonl')).size;
  renameSync(path, join(root, 'away'));
  const { code, stderr } = await ended;
  const raw = rawError(stderr);
  if (raw !== null) return `raw error: ${raw}`;
  // What is written beside the folder that was taken away is no end of this run.
  const kept = leftWhole(path, steps);
  if (code === 0 && !over && !kept) return 'ended with code 0 though its files were gone';
  putBack(join(root, 'away'), path);
  return null;
}

/** As a user would after the message: what was written meanwhile is kept beside what had been taken away. */
function putBack(away: string, path: string): void {
  if (existsSync(path)) cpSync(path, away, { recursive: true, force: false });
  rmSync(path, { recursive: true, force: true });
  renameSync(away, path);
}

function leftWhole(path: string, steps: number): boolean {
  try {
    const files = readdirSync(path, { recursive: true }).map(String);
    const metrics = files.find((name) => name.endsWith('metrics.jsonl'));
    return metrics !== undefined && statSync(join(path, metrics)).size > steps;
  } catch {
    return false;
  }
}

async function resume(root: string, env: Readonly<Record<string, string>> = {}) {
  return startCommand(['train', '--resume', '--workspace', root], env).ended;
}
