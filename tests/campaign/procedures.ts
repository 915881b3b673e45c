/** Random calls of every procedure of the contract, enumerated from it: answered or refused in words, within seconds. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ORPCError } from '@orpc/client';
import type { z } from 'zod';
import { contract } from '../../main/api/contract/index.ts';
import { openStore } from '../../main/store/index.ts';
import { hostileFolders } from './hostile-folders.ts';
import { type Client, peakMemory, type ServeHost, startServe, usageOf } from './hosts.ts';
import { type Kind, type KindContext, MOST_MEMORY_MIB, SLOW_SECONDS } from './kind.ts';
import { pick } from './mutate.ts';
import { inputFor, type Known } from './schema-values.ts';
import { makeWorld, trainWhole, type World } from './world.ts';

/** Never called: what they begin leaves this machine or changes it. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'native.setUp': 'runs pip, npm and a compiler',
  'models.download': 'asks the network',
};
/** These answer when their work is done, or begin work of minutes: called seldom, and given longer. */
const WORKING =
  /^(runs\.(start|preflight|resume|export)|stages\.(start|preflight|queue|check|release)|sweeps\.(estimate|estimateReplies)|replies\.(whole|trial|compare|start|split)|comparisons\.(start|resume)|playground\.(answer|play)|datasets\.make|app\.doctor)$/;
const WORKING_SECONDS = 60;
const SELDOM = 25;
const MOST_GROWTH_MIB = 300;
/** A stream is read that far, or that long. */
const ITEMS = 3;
const ITEM_MS = 300;

export interface Procedure {
  readonly name: string;
  readonly input: z.ZodType | undefined;
}

/** The procedures of the contract, whatever they are by now. */
export function proceduresOf(part: object, path = ''): Procedure[] {
  return Object.entries(part).flatMap(([name, value]) => {
    const full = path === '' ? name : `${path}.${name}`;
    if (!('~orpc' in value)) return proceduresOf(value, full);
    return [{ name: full, input: (value['~orpc'] as { readonly inputSchema?: z.ZodType }).inputSchema }];
  });
}

export const procedures: Kind = {
  name: 'procedures',
  share: 0.2,
  least: 2000,
  leastShort: 300,
  run: async (context) => {
    const world = await makeWorld(context.folder);
    await trainWhole(world);
    const known = knownOf(world, hostileFolders(world.root, context.stream(0)));
    const all = proceduresOf(contract).filter(({ name }) => !(name in LEFT_OUT));
    context.report.measured.procedures = all.length;
    const caller = await openCaller(world, context, all.length);
    try {
      for (let number = 1; context.goesOn(); number++) {
        const stream = context.stream(number);
        // Each has its turn; the rest is drawn.
        const procedure = all[number - 1] ?? pick(stream, all);
        if (number > all.length && WORKING.test(procedure.name) && stream.below(SELDOM) > 0) continue;
        const input = inputFor(procedure.input, stream, known);
        await caller.call(number, procedure.name, input);
      }
    } finally {
      await caller.close();
    }
  },
};

function knownOf({ root, config }: World, hostile: readonly string[]): Known {
  mkdirSync(join(root, 'other'), { recursive: true });
  const own = [config.dataset, config.model, join(root, 'outputs'), join(root, 'other'), root, ...hostile];
  return {
    paths: [...own, '/etc/passwd', '/dev/zero', '../../x', join(root, 'nothing'), `${root}/\0`, 'x'.repeat(4096)],
    references: ['bundled:tiny', 'bundled:tiny-reply', 'checkpoint:1', 'checkpoint:99', 'workspace:tiny-test', 'run:1'],
    config: config as unknown as Record<string, unknown>,
  };
}

interface Caller {
  call(number: number, name: string, input: unknown): Promise<void>;
  close(): Promise<void>;
}

/** `turns`: calls until every procedure has been called once. */
async function openCaller(world: World, context: KindContext, turns: number): Promise<Caller> {
  const { report } = context;
  let host = await startServe(world.root);
  let page = await host.connect();
  let heard = 0;
  let first = 0;
  const memory = (): number => usageOf(host.process.pid ?? 0).memoryMiB;

  async function again(): Promise<void> {
    host = await startServe(world.root);
    page = await host.connect();
    [heard, first] = [0, 0];
    report.measured.restarts = (report.measured.restarts ?? 0) + 1;
  }

  async function settle(number: number): Promise<void> {
    const { client } = page;
    for (const { id, state } of (await client.app.status()).jobs)
      if (state === 'running') await client.app.cancelJob({ id });
    for (const { runId } of (await client.app.status()).live) await client.runs.kill({ runId }).catch(() => undefined);
    // A stream that was left, a run that has ended: the host needs a moment to release them.
    await sleep(200);
    // What is loaded once is no growth: every procedure has had its turn before.
    if (number <= turns) return;
    if (first === 0) first = memory();
    report.measured.hostGrowthMiB = Math.round(memory() - first);
    if (memory() - first <= MOST_GROWTH_MIB) return;
    context.failed(number, `the host grew by more than ${MOST_GROWTH_MIB} MiB`, '');
    first = memory();
  }

  return {
    call: async (number, name, input) => {
      report.tries++;
      const memory = peakMemory(host.process.pid ?? 0);
      const seconds = await timed(
        () => answerOf(page.client, name, input, host),
        (what) => context.failed(number, `${name}: ${what}`, shown(input)),
      );
      const limit = WORKING.test(name) ? WORKING_SECONDS : SLOW_SECONDS;
      if (seconds > limit && !host.hasEnded()) {
        // On a busy machine anything may be late once.
        const second = await timed(
          () => answerOf(page.client, name, input, host),
          () => undefined,
        );
        if (second > limit) context.failed(number, `${name}: answered after ${second.toFixed(0)} s`, shown(input));
        report.slowest = Math.max(report.slowest, Math.min(seconds, second));
      } else if (!WORKING.test(name)) report.slowest = Math.max(report.slowest, seconds);
      const mebibytes = host.hasEnded() ? 0 : memory.grownMiB();
      if (mebibytes > MOST_MEMORY_MIB)
        context.failed(number, `${name}: took ${Math.round(mebibytes)} MiB`, shown(input));
      const said = host.stderr().slice(heard);
      heard = host.stderr().length;
      const stack = /^\s+at .+:\d+:\d+\)?$/m.exec(said)?.[0].trim();
      if (stack !== undefined)
        context.failed(number, `${name}: a stack on stderr (${said.split('\n')[0]})`, shown(input));
      if (host.hasEnded()) {
        context.failed(number, `${name}: the host ended (${said.slice(-200)})`, shown(input));
        await again();
      }
      if (WORKING.test(name) || number % 200 === 0) await settle(number);
    },
    close: async () => {
      page.close();
      await host.stop();
      const store = openStore(join(world.root, 'braid.db'));
      store.close();
    },
  };
}

async function timed(work: () => Promise<string | null>, failed: (what: string) => void): Promise<number> {
  const from = performance.now();
  const what = await work();
  if (what !== null) failed(what);
  return (performance.now() - from) / 1000;
}

/** Calls a procedure; null where it answered or refused in words. */
async function answerOf(client: Client, name: string, input: unknown, host: ServeHost): Promise<string | null> {
  const call = name.split('.').reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], client);
  const lost = host.exited.then(() => 'no answer: the host ended');
  const late = sleep((WORKING_SECONDS + 30) * 1000, `no answer within ${WORKING_SECONDS + 30} s`, { ref: false });
  try {
    const answered = (async () => {
      const result = await (call as (input: unknown) => Promise<unknown>)(input);
      await read(result);
      return null;
    })();
    return await Promise.race([answered, lost, late]);
  } catch (error) {
    if (!(error instanceof ORPCError)) return `raw ${error instanceof Error ? error.message : String(error)}`;
    const { code } = (error.data ?? {}) as { readonly code?: unknown };
    if (error.code !== 'REFUSED' && error.code !== 'FAILED') return `answered ${error.code}: ${error.message}`;
    return code === 'UNEXPECTED' || typeof code !== 'string' ? `raw error: ${error.message}` : null;
  }
}

async function read(result: unknown): Promise<void> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return;
  const stream = result as AsyncIterableIterator<unknown>;
  for (let i = 0; i < ITEMS; i++) {
    const item = await Promise.race([stream.next(), sleep(ITEM_MS, null, { ref: false })]);
    if (item === null || item.done === true) break;
  }
  await stream.return?.();
}

function shown(input: unknown): string {
  try {
    return JSON.stringify(input) ?? 'nothing';
  } catch {
    return String(input);
  }
}
