/**
 * A long stay: one run of many tiny steps with a page on it and the API polled, pages opened and closed, then many
 * short runs. Memory, open files and the database's log are to stay as they are once everything has been used.
 * `node tests/campaign/soak.ts --steps 2000 --pages 500 --runs 50 --json`
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Client, type ServeHost, startServe, usageOf } from './hosts.ts';
import { type Trend, trendOf } from './trend.ts';
import { makeWorld, type World } from './world.ts';

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '2000' },
    pages: { type: 'string', default: '500' },
    runs: { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
  },
});
const [steps, pages, runs] = [values.steps, values.pages, values.runs].map(Number) as [number, number, number];
/** Looks at the host in each part. */
const SAMPLES = 60;
/** What comes before has not been used yet: code, caches, the database's own pages. */
const SETTLED = 1 / 3;

interface Sample {
  readonly x: number;
  readonly memoryMiB: number;
  readonly descriptors: number;
  readonly walMiB: number;
}

interface Part {
  readonly per: string;
  readonly samples: readonly Sample[];
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function soak(): Promise<Readonly<Record<string, Part>>> {
  const folder = mkdtempSync(join(tmpdir(), 'braid-soak-'));
  try {
    const world = await makeWorld(folder);
    const host = await startServe(folder);
    const { client, close } = await host.connect();
    const found = {
      'one run, followed and polled': { per: 'step', samples: await longRun(host, client, world) },
      'pages opened and closed': { per: 'page', samples: await manyPages(host, client) },
      'short runs': { per: 'run', samples: await manyRuns(host, client, world) },
    };
    close();
    await host.stop();
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function longRun(host: ServeHost, client: Client, world: World): Promise<Sample[]> {
  const { runId } = await start(client, world, { max_steps: steps, save_steps: 50, sample_steps: 10 });
  const leave = new AbortController();
  const following = follow(client, runId, leave.signal);
  const samples: Sample[] = [];
  for (let step = 0; step < steps; ) {
    const run = await client.runs.get({ runId });
    await Promise.all([client.app.status(), client.runs.list({}), client.samples.newest()]);
    if (run.step >= step + steps / SAMPLES || run.state !== 'running') {
      step = run.step;
      samples.push(look(host, world, step));
      say(`step ${step}: ${samples.at(-1)?.memoryMiB.toFixed(0)} MiB`);
    }
    if (run.state !== 'running') break;
    await sleep(250);
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
async function manyPages(host: ServeHost, world: Client): Promise<Sample[]> {
  const samples: Sample[] = [];
  const { workspace } = await world.app.info();
  for (let page = 1; page <= pages; page++) {
    const { Cookie = '' } = await host.headers();
    await (await fetch(`http://127.0.0.1:${host.port}/`, { headers: { Cookie } })).text();
    const { client, close } = await host.connect();
    const changes = await client.app.changes();
    void changes.next().catch(() => undefined);
    await Promise.all([client.app.status(), client.runs.list({}), client.models.list(), client.runs.get({ runId: 1 })]);
    close();
    if (page % Math.ceil(pages / SAMPLES) === 0) samples.push(look(host, { root: workspace }, page));
  }
  say(`${pages} pages`);
  return samples;
}

async function manyRuns(host: ServeHost, client: Client, world: World): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let run = 1; run <= runs; run++) {
    const { runId } = await start(client, world, { max_steps: 3, save_steps: 3 });
    await ended(client, runId);
    samples.push(look(host, world, run));
  }
  say(`${runs} runs`);
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

function look(host: ServeHost, { root }: Pick<World, 'root'>, x: number): Sample {
  const wal = join(root, 'braid.db-wal');
  return { x, ...usageOf(host.process.pid ?? 0), walMiB: statSync(wal).size / 2 ** 20 };
}

function trends({ samples }: Part): Readonly<Record<'memoryMiB' | 'descriptors' | 'walMiB', Trend>> {
  const settled = samples.slice(Math.floor(samples.length * SETTLED));
  const of = (name: 'memoryMiB' | 'descriptors' | 'walMiB') => trendOf(settled.map((s) => ({ x: s.x, y: s[name] })));
  return { memoryMiB: of('memoryMiB'), descriptors: of('descriptors'), walMiB: of('walMiB') };
}

const began = performance.now();
const parts = await soak();
const measured = Object.fromEntries(
  Object.entries(parts).map(([name, part]) => [name, { per: part.per, ...trends(part) }]),
);
const seconds = Math.round((performance.now() - began) / 1000);
if (values.json) process.stdout.write(`${JSON.stringify({ steps, pages, runs, seconds, parts: measured })}\n`);
else
  for (const [name, { per, ...rest }] of Object.entries(measured))
    for (const [what, { first, last, slope, low, high, samples }] of Object.entries(rest))
      process.stdout.write(
        `${name}, ${what}: ${first.toFixed(1)} to ${last.toFixed(1)}, ${slope.toPrecision(2)} [${low.toPrecision(2)}, ${high.toPrecision(2)}] a ${per}, ${samples} looks\n`,
      );
