/**
 * How long a user waits: `braid --help`, a run of one step by the command line, and a stage's first step by clicks in
 * the app, each several times. `npm run build && node scripts/bench/start-up.ts [--rounds 5] [--json]`; about three
 * minutes on two otherwise idle cores. Needs Chromium for the last one.
 *
 * "First ever" is a start without Node's compile cache, as after an installation.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { quantile } from '../../main/text/intervals.ts';
import { launchBrowser } from '../../tests/e2e/browser.ts';
import { startHost } from './browser/host.ts';

const root = resolve(import.meta.dirname, '../..');
const braid = join(root, 'main/braid.ts');

/** Longer than any healthy start. */
const MOST_MS = 120_000;

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, json: { type: 'boolean', default: false } },
});
const rounds = Number(options.rounds);
const folder = mkdtempSync(join(tmpdir(), 'braid-start-'));
const cache = join(folder, 'compiled');
const dataset = join(folder, '10words.jsonl');
const ONE_STEP = ['--config', 'interleave-tiny', '--dataset', dataset, '--steps', '1', '--workspace'];
const measured: Record<string, number[]> = {};
try {
  for (let round = 0; round < rounds; round += 1) {
    note('node, an empty program', timed(['-e', '0'], {}));
    note('braid --help, first ever', timed([braid, '--help'], { NODE_COMPILE_CACHE: join(folder, `new-${round}`) }));
    timed([braid, '--help'], { NODE_COMPILE_CACHE: cache });
    note('braid --help', timed([braid, '--help'], { NODE_COMPILE_CACHE: cache }));
  }
  timed([braid, 'dataset', '--words', '10', '--output-dir', folder, '--workspace', join(folder, 'texts')], {});
  for (let round = 0; round < rounds; round += 1)
    note(
      'braid train of one step, saved',
      timed([braid, 'train', ...ONE_STEP, join(folder, `run-${round}`)], { NODE_COMPILE_CACHE: cache }),
    );
  await byClicks();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

if (options.json) console.log(JSON.stringify(measured));
else {
  console.log('| what | median s | least | most |\n|---|---|---|---|');
  for (const [what, seconds] of Object.entries(measured)) {
    const sorted = seconds.toSorted((a, b) => a - b);
    const [middle, least, most] = [0.5, 0, 1].map((q) => quantile(sorted, q).toPrecision(3));
    console.log(`| ${what} | ${middle} | ${least} | ${most} |`);
  }
}

function note(what: string, seconds: number): void {
  measured[what] = [...(measured[what] ?? []), seconds];
}

/** Seconds from a program's start to its end. */
function timed(args: readonly string[], env: Readonly<Record<string, string>>): number {
  const began = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`${args.join(' ')} failed:\n${stderr}`);
  return (performance.now() - began) / 1000;
}

/** The stage of 10 words of a planned curriculum: from the click on Start stage, and from that on Start. */
async function byClicks(): Promise<void> {
  const browser = await launchBrowser();
  try {
    for (let round = 0; round < rounds; round += 1) {
      const host = await startHost(join(folder, `clicks-${round}`));
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      page.setDefaultTimeout(MOST_MS);
      await page.goto(host.url);
      await startStage(page);
      await page.close();
      host.stop();
    }
  } finally {
    await browser.close();
  }
}

async function startStage(page: Page): Promise<void> {
  await page.evaluate("location.hash = '/curriculum'");
  await page.getByRole('button', { name: 'Plan the whole curriculum' }).click();
  await page.getByText(/512 training pairs, 64 held out/).waitFor();
  const start = page.getByRole('button', { name: 'Start', exact: true });
  let began = performance.now();
  await page.getByRole('button', { name: 'Start stage' }).click();
  await start.waitFor();
  note('app: pre-flight check', (performance.now() - began) / 1000);
  began = performance.now();
  await start.click();
  await page
    .getByText(/^[1-9]\d*\/\d+$/)
    .first()
    .waitFor();
  note('app: first step on screen after Start', (performance.now() - began) / 1000);
}
