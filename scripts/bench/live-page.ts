/**
 * How smooth a run's page is during updates: a history is written as by a fast trainer, ten steps per second, and the
 * page is observed for half a minute.
 *
 *   npm run build && node scripts/bench/live-page.ts
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPathAccess } from '../../main/api/path-access.ts';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { serve } from '../../main/serve.ts';
import { openApp } from '../../main/services/app/app.ts';
import { createRun } from '../../main/services/runs/runs.ts';
import type { Store } from '../../main/store/index.ts';
import { parseConfig } from '../../main/trainer/config/config.ts';
import { launchBrowser } from '../../tests/e2e/browser.ts';
import { METRICS } from './metric-names.ts';

const SECONDS = 30;
const STEPS_A_SECOND = 10;
/** Steps that exist when the page opens. */
const BEFORE = 500;

const folder = mkdtempSync(join(tmpdir(), 'braid-live-'));
const app = openApp({
  workspace: folder,
  paths: checkoutPaths(join(import.meta.dirname, '../..')),
  what: 'a measurement',
});
const { store } = app;
const { runId } = createRun(store, parseConfig({ dataset: 'datasets/10words.jsonl', max_steps: 10_000 }));
store.transaction(() => {
  for (let step = 1; step <= BEFORE; step++) record(store, step);
});
const access = openPathAccess(folder, [folder]);
const host = { kind: 'serve', version: '0', dialogs: null, mayLaunch: false } as const;
const serving = await serve({ context: { app, host, access }, page: app.paths.page, port: 0 });
const browser = await launchBrowser();
try {
  await watch();
} finally {
  await browser.close();
  await serving.close();
  await app.close();
  rmSync(folder, { recursive: true, force: true });
}

async function watch(): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 2400 } });
  await page.goto(serving.url);
  await page.evaluate(`location.hash = '/runs/${runId}'`);
  await page.locator('.u-over').nth(11).waitFor();
  await pause(1500);
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Performance.enable', { timeDomain: 'threadTicks' });
  const work = async (): Promise<number> => {
    const { metrics } = await protocol.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  };
  const before = await work();
  const seen = page.evaluate<Frames>(framesFor(SECONDS * 1000));
  const feeding = feed();
  const { longest, long, count } = await seen;
  const share = ((await work()) - before) / SECONDS;
  await feeding;
  process.stdout.write(
    `${await page.locator('.u-over').count()} charts, ${STEPS_A_SECOND} steps per second, ${SECONDS} s: ` +
      `${(count / SECONDS).toFixed(0)} frames per second, longest ${longest.toFixed(0)} ms, ${long} over 50 ms; ` +
      `the page's thread is busy ${(share * 100).toFixed(0)}% of the time\n`,
  );
}

interface Frames {
  readonly longest: number;
  readonly long: number;
  readonly count: number;
}

/** For the page: measures the pauses between its frames. */
function framesFor(ms: number): string {
  return `new Promise((settle) => {
    const begun = performance.now();
    let [last, longest, long, count] = [begun, 0, 0, 0];
    requestAnimationFrame(function frame(now) {
      const gap = now - last;
      last = now;
      count++;
      longest = Math.max(longest, gap);
      if (gap > 50) long++;
      if (now - begun < ${ms}) requestAnimationFrame(frame);
      else settle({ longest, long, count });
    });
  })`;
}

async function feed(): Promise<void> {
  for (let step = BEFORE + 1; step <= BEFORE + SECONDS * STEPS_A_SECOND; step++) {
    store.transaction(() => record(store, step));
    app.changes.publish('run', runId);
    await pause(1000 / STEPS_A_SECOND);
  }
}

function record(into: Store, step: number): void {
  into.metrics.record(
    runId,
    step,
    Object.fromEntries(METRICS.map((name, i) => [name, Math.abs(Math.sin(step / (i + 3)))])),
  );
  into.runs.advance(runId, step);
}
