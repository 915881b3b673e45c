/**
 * How long the app's interactions take on a full workspace, from the user's input to the frame that shows the result;
 * and how soon a newly opened page shows something.
 *
 *   npm run build && node scripts/bench/browser/interactions.ts FOLDER [ROUNDS]     FOLDER from scripts/bench/app-database.ts
 *
 * Besides wall-clock time it shows the work: CPU time of the page's main thread, which other programs on the machine
 * affect less. Each round is a new page, so that every screen is opened for the first time once per round.
 */
import { availableParallelism, loadavg } from 'node:os';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../../../tests/e2e/browser.ts';
import { startHost } from './host.ts';
import { type Measured, openProbe } from './input-to-paint.ts';

/** From app-database.ts: the run of 100,000 steps. */
const LONG_RUN = 101;
const [folder, rounds = '5'] = process.argv.slice(2);
if (folder === undefined) throw new Error('Expected the folder of a workspace, got none');

/** A user action, and what the page must then show. */
interface Interaction {
  readonly name: string;
  /** Preparation, not measured. */
  readonly before?: (page: Page) => Promise<unknown>;
  readonly act: (page: Page) => Promise<void>;
  readonly shown: string;
  /** Whether to wait for all charts too. */
  readonly drawn?: true;
}

/** Pause between two interactions, so that work started by the previous one is finished. */
const PAUSE_MS = 600;

const rail = (label: string) => (page: Page) => page.getByRole('link', { name: label, exact: true }).click();
const choose = (list: string, option: string) => async (page: Page) => {
  await page.getByLabel(list, { exact: true }).selectOption(option);
};
const key = (name: string) => (page: Page) => page.keyboard.press(name);
const heading = (text: string): string => `document.querySelector('h1')?.textContent === ${JSON.stringify(text)}`;
const there = (selector: string): string => `document.querySelector(${JSON.stringify(selector)}) !== null`;
const says = (text: string): string => `document.querySelector('main').innerText.includes(${JSON.stringify(text)})`;
const both = (...conditions: readonly string[]): string => conditions.join(' && ');

/** In this order: each starts where the previous one ended. */
const interactions: readonly Interaction[] = [
  { name: 'open Runs', act: rail('Runs'), shown: both(heading('Runs'), there('[data-row="0"]')) },
  {
    name: 'filter runs by a typed letter',
    before: (page) => page.getByLabel('Find runs').focus(),
    act: key('7'),
    shown: both(there('[data-row="0"]'), "document.querySelector('[data-row=\"0\"]').textContent.includes('7')"),
  },
  {
    name: 'filter runs by state',
    before: (page) => page.getByLabel('Find runs').fill(''),
    act: (page) => page.locator('label', { hasText: /^done$/ }).click(),
    shown: there('[data-row="0"]'),
  },
  {
    name: 'sort runs',
    act: (page) => page.getByRole('button', { name: 'Steps' }).click(),
    shown: there('[aria-sort]'),
  },
  {
    name: 'overlay two runs',
    before: (page) => page.locator('tbody').getByRole('checkbox').nth(0).click(),
    act: (page) => page.locator('tbody').getByRole('checkbox').nth(1).click(),
    shown: says('2 runs'),
    drawn: true,
  },
  {
    name: 'open the run of 100,000 steps',
    act: (page) =>
      page.evaluate((id) => {
        window.dispatchEvent(new Event('probe'));
        window.location.hash = `/runs/${id}`;
      }, LONG_RUN),
    shown: there('.u-over'),
    drawn: true,
  },
  { name: 'zoom into it', act: drag, shown: says('Reset zoom'), drawn: true },
  { name: 'show all steps again', act: key('z'), shown: `!${says('Reset zoom')}`, drawn: true },
  {
    name: 'smooth its charts',
    before: (page) => page.getByRole('slider', { name: 'Smoothing' }).focus(),
    act: key('ArrowRight'),
    shown: says('0.62'),
    drawn: true,
  },
  {
    name: 'logarithmic axis',
    act: (page) => page.getByRole('button', { name: 'Reward: log axis' }).click(),
    shown: there('[aria-label="Reward: log axis"][aria-pressed="true"]'),
    drawn: true,
  },
  {
    name: 'open Samples',
    act: rail('Samples'),
    shown: both(heading('Samples'), there('article[aria-label="best"] p, article[aria-label="best"] [role="group"]')),
  },
  { name: 'the step before (J)', act: key('j'), shown: both(says('3 of 4 saved'), there('[aria-busy="false"]')) },
  { name: 'the step after (K)', act: key('k'), shown: both(says('4 of 4 saved'), there('[aria-busy="false"]')) },
  {
    name: 'the next prompt',
    act: key('ArrowDown'),
    shown: "document.querySelector('h2')?.textContent.startsWith('10w-train')",
  },
  { name: 'open the search', act: key('/'), shown: both(there('[aria-label="Completions found"] li button')) },
  {
    name: 'search in all 100,000 completions',
    before: async (page) => {
      await page.getByLabel('Runs to search').selectOption('all runs');
      await page.getByLabel('Search completions').fill('rive');
      await page.getByText('351 completions').waitFor();
      await page.getByLabel('Search completions').fill('r');
      await page.waitForFunction("document.querySelector('mark')?.textContent !== 'river'");
      await page.evaluate('window.__probe.note()');
    },
    act: (page) => page.keyboard.insertText('iver'),
    shown: "document.querySelector('mark')?.textContent === 'river'",
  },
  {
    name: 'a filter over all of them',
    before: async (page) => {
      await page.getByLabel('Search completions').fill('');
      await page.evaluate('window.__probe.note()');
    },
    act: choose('Exactness', 'not exact'),
    shown: 'window.__probe.changed()',
  },
  {
    name: 'order them by reward',
    before: (page) => page.evaluate('window.__probe.note()'),
    act: choose('Order', 'lowest reward first'),
    shown: 'window.__probe.changed()',
  },
  { name: 'open Compare', act: rail('Compare'), shown: both(heading('Compare'), says('comparison')) },
  { name: 'open Models', act: rail('Models'), shown: both(heading('Models'), says('checkpoint')) },
  { name: 'open Curriculum', act: rail('Curriculum'), shown: both(heading('Curriculum'), says('stage')) },
  { name: 'open Texts & datasets', act: rail('Texts & datasets'), shown: heading('Texts & datasets') },
  { name: 'open Playground', act: rail('Playground'), shown: both(heading('Playground'), there('textarea')) },
  { name: 'open Settings', act: rail('Settings'), shown: both(heading('Settings'), says('Theme')) },
  {
    name: 'switch to the other theme',
    act: (page) => page.getByText('dark', { exact: true }).click(),
    shown: "document.documentElement.dataset.mantineColorScheme === 'dark'",
  },
  { name: 'open Home', act: rail('Home'), shown: both(heading('Home'), there('main table tbody tr')) },
  { name: 'open the palette', act: key('Control+k'), shown: there('.mantine-Spotlight-action') },
];

async function drag(page: Page): Promise<void> {
  const box = await page.locator('.u-over').first().boundingBox();
  if (box === null) throw new Error('Expected a chart');
  await page.mouse.move(box.x + box.width * 0.4, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 40, { steps: 3 });
  await page.mouse.up();
}

const { url, stop } = await startHost(folder);
const browser = await launchBrowser();
const paints: number[] = [];
const homes: number[] = [];
const times = new Map<string, Measured[]>();
try {
  for (let round = 0; round < Number(rounds); round++) await once();
} finally {
  await browser.close();
  stop();
  report();
}

async function once(): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: 'light',
    bypassCSP: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const probe = await openProbe(page);
  await page.goto(url);
  await page.waitForFunction(both(heading('Home'), there('main table tbody tr')), null, { polling: 'raf' });
  homes.push(await page.evaluate(() => performance.now()));
  paints.push(
    await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN),
  );
  // Playwright injects its own script at its first query: that isn't the app's work.
  await page.getByRole('link', { name: 'Home', exact: true }).hover();
  // Users look before they act; the doctor on the home screen has its own pause.
  await page.waitForTimeout(1000);
  for (const { name, before, act, shown, drawn = false } of interactions) {
    await before?.(page);
    await page.waitForTimeout(PAUSE_MS);
    const took = await probe
      .measure(() => act(page), shown, drawn)
      .catch((error: unknown) => {
        throw new Error(`${name}: expected ${shown}`, { cause: error });
      });
    times.set(name, [...(times.get(name) ?? []), took]);
  }
  await context.close();
}

function report(): void {
  const load = loadavg()[0]?.toFixed(1);
  process.stdout.write(`${rounds} pages; load ${load} on ${availableParallelism()} cores\n\n`);
  process.stdout.write(
    '| interaction | best ms | median ms | worst ms | work ms | median ms until all charts are drawn |\n|---|---|---|---|---|---|\n',
  );
  line('first paint of a new page', paints);
  line('its home screen with the recent runs', homes);
  for (const [name, took] of times) {
    line(
      name,
      took.map(({ ms }) => ms),
      took.map(({ work }) => work),
      took.flatMap(({ drawn }) => drawn ?? []),
    );
  }
}

/** Best, median and worst time; the minimum work; the median time of the last chart. */
function line(name: string, ms: readonly number[], work: readonly number[] = [], drawn: readonly number[] = []): void {
  const sorted = ms.toSorted((a, b) => a - b);
  const cells = [sorted[0], median(ms), sorted.at(-1), Math.min(...work), median(drawn)];
  const told = cells.map((value) => (value === undefined || !Number.isFinite(value) ? '' : value.toFixed(0)));
  process.stdout.write(`| ${name} | ${told.join(' | ')} |\n`);
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
