/** Hosts and trainers killed at random moments: every run is listed truthfully, resumes, and ends as an unbroken one. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RandomStream } from '../../main/random.ts';
import { forkDesktop } from '../desktop/drive.ts';
import { type Client, childrenOf, startCommand, startServe } from './hosts.ts';
import type { Kind, KindContext } from './kind.ts';
import { pick } from './mutate.ts';
import { difference, leftIn, makeWorld, newestRun, rawError, trainWhole, type World } from './world.ts';

const MOST_KILLS = 3;
const END_MS = 120_000;

export const kills: Kind = {
  name: 'kills',
  share: 0.3,
  least: 8,
  leastShort: 2,
  run: async (context) => {
    const world = await makeWorld(context.folder);
    const began = performance.now();
    await trainWhole(world);
    const wholeMs = performance.now() - began;
    for (let number = 1; context.goesOn(); number++) {
      const stream = context.stream(number);
      const host = pick(stream, ['command', 'serve', 'app'] as const);
      const story: string[] = [host];
      const from = performance.now();
      try {
        await tries[host](world, stream, wholeMs, story);
        const run = newestRun(world.root);
        const differs = difference(leftIn(world.root, run?.id ?? 0), leftIn(world.root, 1));
        if (differs !== null) context.failed(number, `after kills another ${differs} than unbroken`, story.join(', '));
      } catch (error) {
        context.failed(number, error instanceof Error ? error.message : String(error), story.join(', '));
      }
      note(context, story, (performance.now() - from) / 1000);
    }
  },
};

function note({ report }: KindContext, story: readonly string[], seconds: number): void {
  report.tries++;
  report.measured.kills = (report.measured.kills ?? 0) + story.filter((part) => part.startsWith('killed')).length;
  report.measured.longestStory_s = Math.max(report.measured.longestStory_s ?? 0, Math.round(seconds));
}

const tries = { command: killCommand, serve: killServe, app: killApp } as const;

/** Waits for a random moment, or, four times in ten, until a checkpoint is being written. */
async function moment(world: World, stream: RandomStream, wholeMs: number, story: string[]): Promise<void> {
  const during = stream.next() < 0.4;
  const waited = stream.next() * wholeMs;
  story.push(during ? 'during a checkpoint' : `after ${Math.round(waited)} ms`);
  if (!during) return sleep(waited);
  for (const until = performance.now() + wholeMs; performance.now() < until && !writesCheckpoint(world.root); )
    await new Promise((later) => setImmediate(later));
}

function writesCheckpoint(root: string): boolean {
  const outputs = join(root, 'outputs');
  try {
    const newest = readdirSync(outputs).sort().at(-1) ?? '';
    return readdirSync(join(outputs, newest)).some((name) => /^\.checkpoint-.*\.tmp$/.test(name));
  } catch {
    // Not there yet, or gone between two looks.
    return false;
  }
}

async function killCommand(world: World, stream: RandomStream, wholeMs: number, story: string[]): Promise<void> {
  const before = newestRun(world.root)?.id ?? 0;
  for (let kill = 0; ; kill++) {
    const run = newestRun(world.root);
    const begun = run !== null && run.id > before;
    if (begun && run.state === 'done') return;
    const how = begun ? ['--resume'] : ['--config', world.configFile];
    const { process: host, ended } = startCommand(['train', ...how, '--workspace', world.root]);
    if (kill < MOST_KILLS) {
      await moment(world, stream, wholeMs, story);
      const trainers = childrenOf(host.pid ?? 0);
      const trainer = stream.below(2) === 0 ? trainers[0] : undefined;
      story.push(`killed ${trainer === undefined ? 'the command' : 'its trainer'}`);
      if (trainer === undefined) host.kill('SIGKILL');
      else killQuietly(trainer);
    }
    const { code, stderr } = await inTime(ended, 'the command');
    const raw = rawError(stderr);
    if (raw !== null) throw new Error(`raw error of the command: ${raw}`);
    if (kill >= MOST_KILLS && code !== 0) throw new Error(`resumed, it ended with code ${code}: ${stderr.slice(-300)}`);
  }
}

async function killServe(world: World, stream: RandomStream, wholeMs: number, story: string[]): Promise<void> {
  let runId = 0;
  for (let kill = 0; ; kill++) {
    const host = await startServe(world.root);
    try {
      const { client } = await host.connect();
      runId = await begin(client, world, runId);
      if (kill === MOST_KILLS) return await finish(client, runId);
      await moment(world, stream, wholeMs, story);
      story.push('killed serve');
    } finally {
      if (kill === MOST_KILLS) await host.stop();
      else host.process.kill('SIGKILL');
      await host.exited;
    }
  }
}

async function killApp(world: World, stream: RandomStream, wholeMs: number, story: string[]): Promise<void> {
  let runId = 0;
  for (let kill = 0; ; kill++) {
    const userData = join(world.root, 'app-data');
    const app = forkDesktop({ userData, workspace: world.root });
    try {
      await inTime(app.asked('window.show'), 'the app');
      const page = await inTime(app.page(), "the app's page");
      if (page === null) throw new Error('the app gave its page no line');
      runId = await begin(page.client, world, runId);
      if (kill === MOST_KILLS) return await finish(page.client, runId);
      await moment(world, stream, wholeMs, story);
      story.push('killed the app');
    } finally {
      app.process.kill('SIGKILL');
      await app.exited;
    }
  }
}

/** Starts the run, or resumes it where the kill before left it: listed as interrupted, or done. */
async function begin(client: Client, world: World, runId: number): Promise<number> {
  if (runId === 0) {
    const config = world.config as unknown as Record<string, unknown>;
    return (await inTime(client.runs.start({ config }), 'a start')).runId;
  }
  const { state } = await inTime(client.runs.get({ runId }), 'a run');
  if (state === 'done') return runId;
  if (state !== 'interrupted') throw new Error(`a killed run is listed as ${state}`);
  await inTime(client.runs.resume({ runId }), 'a resume');
  return runId;
}

async function finish(client: Client, runId: number): Promise<void> {
  for (const until = performance.now() + END_MS; performance.now() < until; await sleep(100)) {
    const { state, reason } = await client.runs.get({ runId });
    const status = await client.app.status();
    if (state === 'done' && status.live.length === 0) return;
    if (state === 'failed' || state === 'collapsed') throw new Error(`resumed, the run ended as ${state}: ${reason}`);
  }
  throw new Error('resumed, the run did not finish in time');
}

async function inTime<T>(work: Promise<T>, what: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what} gave no answer within ${END_MS / 1000} s`)), END_MS);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}
