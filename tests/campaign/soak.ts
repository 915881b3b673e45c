/**
 * A long stay: one run of many tiny steps with a page on it and the API polled, pages opened and closed, then many
 * short runs. Memory after a collection, open files and the database's log are to stay as they are once everything has
 * been used. A short one is a kind of the campaign; the long one is
 * `node tests/campaign/soak.ts --steps 2000 --pages 500 --runs 50 --json`.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Client, type ServeHost, startServe, usageOf } from './hosts.ts';
import type { Kind } from './kind.ts';
import { type Trend, trendOf } from './trend.ts';
import { makeWorld, type World } from './world.ts';

/** How long the stay is. */
interface Stay {
  readonly steps: number;
  readonly pages: number;
  readonly runs: number;
}

/** Looks at the host in each part. */
const SAMPLES = 60;
/** What comes before has not been used yet: code, caches, the database's own pages. */
const SETTLED = 1 / 3;

/** MiB after a collection, MiB of the process, open files, MiB of the database's log. */
const MEASURES = ['heapMiB', 'memoryMiB', 'descriptors', 'walMiB'] as const;
type Measure = (typeof MEASURES)[number];

/**
 * What the campaign takes for a leak: a slope that surely lies above. The process's memory isn't among them: it rises
 * with garbage. A stay as short as the campaign's still compiles code while it is measured, most of it in its runs.
 */
const LEAKS: Readonly<Record<string, Partial<Record<Measure, number>>>> = {
  step: { heapMiB: 0.05, descriptors: 0.1, walMiB: 0.05 },
  page: { heapMiB: 0.05, descriptors: 0.1, walMiB: 0.05 },
  run: { heapMiB: 0.25, descriptors: 0.2, walMiB: 0.1 },
};

type Sample = Readonly<Record<Measure | 'x', number>>;

interface Part {
  readonly per: string;
  readonly trends: Readonly<Record<Measure, Trend>>;
}

/** Stays in a workspace of its own. */
async function soak(folder: string, stay: Stay): Promise<Readonly<Record<string, Part>>> {
  const world = await makeWorld(folder);
  const host = await startServe(folder);
  try {
    const { client, close } = await host.connect();
    const run = await longRun(host, client, world, stay.steps);
    const pages = await manyPages(host, client, stay.pages);
    const runs = await manyRuns(host, client, world, stay.runs);
    close();
    return {
      'one run, followed and polled': { per: 'step', trends: trendsOf(run) },
      'pages opened and closed': { per: 'page', trends: trendsOf(pages) },
      'short runs': { per: 'run', trends: trendsOf(runs) },
    };
  } finally {
    await host.stop();
  }
}

/** The campaign's short stay. */
export const soaks: Kind = {
  name: 'soak',
  share: 0.1,
  least: 1,
  leastShort: 1,
  run: async ({ folder, report, failed }) => {
    const stay: Stay = { steps: 90, pages: 45, runs: 12 };
    const parts = await soak(folder, stay);
    report.tries += stay.steps + stay.pages + stay.runs;
    for (const [name, { per, trends }] of Object.entries(parts))
      for (const measure of MEASURES) {
        const { low, slope } = trends[measure];
        if (low > (LEAKS[per]?.[measure] ?? Number.POSITIVE_INFINITY))
          failed(0, `${name}: ${measure} grows by ${slope.toPrecision(2)} a ${per}`, '');
      }
    const { heapMiB } = parts['pages opened and closed']?.trends ?? {};
    report.measured.heapKiBAPage = Math.round((heapMiB?.slope ?? 0) * 1024);
  },
};

async function longRun(host: ServeHost, client: Client, world: World, steps: number): Promise<Sample[]> {
  const { runId } = await start(client, world, { max_steps: steps, save_steps: 50, sample_steps: 10 });
  const leave = new AbortController();
  const following = follow(client, runId, leave.signal);
  const samples: Sample[] = [];
  for (let step = 0; step < steps; ) {
    const run = await client.runs.get({ runId });
    await Promise.all([client.app.status(), client.runs.list({}), client.samples.newest()]);
    if (run.step >= step + steps / SAMPLES || run.state !== 'running') {
      step = run.step;
      samples.push(await look(host, world, step));
    }
    if (run.state !== 'running') break;
    await sleep(Math.min(250, steps));
  }
  await ended(client, runId);
  leave.abort();
  await following;
  return samples;
}

async function follow(client: Client, runId: number, signal: AbortSignal): Promise<void> {
  try {
    for await (const news of await client.runs.watch({ runId }, { signal })) if (news.live === null) return;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** What a page asks when it is opened: itself, a line, the first questions, and the news of changes. */
async function manyPages(host: ServeHost, world: Client, pages: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  const { workspace } = await world.app.info();
  for (let page = 1; page <= pages; page++) {
    const entry = await host.enter();
    await (await fetch(entry.page, { headers: { Cookie: entry.headers.Cookie ?? '' } })).text();
    const { client, close } = await host.connect();
    const changes = await client.app.changes();
    void changes.next().catch(() => undefined);
    await Promise.all([client.app.status(), client.runs.list({}), client.models.list(), client.runs.get({ runId: 1 })]);
    close();
    if (page % Math.ceil(pages / SAMPLES) === 0) samples.push(await look(host, { root: workspace }, page));
  }
  return samples;
}

async function manyRuns(host: ServeHost, client: Client, world: World, runs: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let run = 1; run <= runs; run++) {
    const { runId } = await start(client, world, { max_steps: 3, save_steps: 3 });
    await ended(client, runId);
    samples.push(await look(host, world, run));
  }
  return samples;
}

function start(client: Client, world: World, changes: object) {
  return client.runs.start({ config: { ...world.config, ...changes } });
}

async function ended(client: Client, runId: number): Promise<void> {
  for (;;) {
    const { state } = await client.runs.get({ runId });
    const { live } = await client.app.status();
    if (live.length === 0 && state === 'done') return;
    if (live.length === 0) throw new Error(`Expected run ${runId} to end well, it is ${state}`);
    await sleep(50);
  }
}

async function look(host: ServeHost, { root }: Pick<World, 'root'>, x: number): Promise<Sample> {
  const heapMiB = await host.collected();
  return { x, heapMiB, ...usageOf(host.process.pid ?? 0), walMiB: statSync(join(root, 'braid.db-wal')).size / 2 ** 20 };
}

function trendsOf(samples: readonly Sample[]): Part['trends'] {
  const settled = samples.slice(Math.floor(samples.length * SETTLED));
  const trend = (name: Measure): Trend => trendOf(settled.map((sample) => ({ x: sample.x, y: sample[name] })));
  return Object.fromEntries(MEASURES.map((name) => [name, trend(name)])) as Record<Measure, Trend>;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      steps: { type: 'string', default: '2000' },
      pages: { type: 'string', default: '500' },
      runs: { type: 'string', default: '50' },
      json: { type: 'boolean', default: false },
    },
  });
  const stay: Stay = { steps: Number(values.steps), pages: Number(values.pages), runs: Number(values.runs) };
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'braid-soak-'));
  try {
    const parts = await soak(folder, stay);
    const seconds = Math.round((performance.now() - began) / 1000);
    if (values.json) process.stdout.write(`${JSON.stringify({ ...stay, seconds, parts })}\n`);
    else for (const [name, part] of Object.entries(parts)) tell(name, part);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tell(name: string, { per, trends }: Part): void {
  for (const [what, { first, last, slope, low, high, samples }] of Object.entries(trends))
    process.stdout.write(
      `${name}, ${what}: ${first.toFixed(1)} to ${last.toFixed(1)}, ${slope.toPrecision(2)} [${low.toPrecision(2)}, ${high.toPrecision(2)}] a ${per}, ${samples} looks\n`,
    );
}

if (import.meta.main) await main();
