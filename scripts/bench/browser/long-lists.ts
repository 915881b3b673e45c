/**
 * How long lists, menus and the palette take in a workspace after years of use: from the click or the typed letter to
 * the frame that shows the result. 10,000 runs, 2,000 checkpoints, 500 datasets, 300 tasks, with names that differ only
 * at their end.
 *
 *   npm run build && node scripts/bench/browser/long-lists.ts FOLDER [ROUNDS]     creates FOLDER if it isn't there
 */
import { existsSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import type { Page } from 'playwright-core';
import { quantile } from '../../../main/text/intervals.ts';
import { launchBrowser } from '../../../tests/e2e/browser.ts';
import { startHost } from './host.ts';
import { type Measured, openProbe, type Probe } from './input-to-paint.ts';
import { makeLongLists } from './make-long-lists.ts';

const [folder, rounds = '5'] = process.argv.slice(2);
if (folder === undefined) throw new Error('Expected the folder of a workspace, got none');
if (!existsSync(folder)) makeLongLists(folder);

interface Interaction {
  readonly name: string;
  /** Preparation, not measured. */
  readonly before?: (page: Page) => Promise<unknown>;
  readonly act: (page: Page) => Promise<void>;
  /** What the page must then show. */
  readonly shown: string;
}

/** Between two interactions, so that work started by the one before is finished. */
const PAUSE_MS = 500;

const rail = (label: string) => (page: Page) => page.getByRole('link', { name: label, exact: true }).click();
const tab = (label: string) => (page: Page) => page.getByRole('link', { name: label, exact: true }).click();
const letters = (text: string) => (page: Page) => page.keyboard.insertText(text);
const close = (page: Page) => page.keyboard.press('Escape');
const says = (text: string): string => `document.querySelector('main').innerText.includes(${JSON.stringify(text)})`;
const heading = (text: string): string => `document.querySelector('h1')?.textContent === ${JSON.stringify(text)}`;
const there = (selector: string): string => `document.querySelector(${JSON.stringify(selector)}) !== null`;
const both = (...conditions: readonly string[]): string => conditions.join(' && ');
/** The first of the options, and not one of before, has this text. */
const option = (text: string): string =>
  `[...document.querySelectorAll('[role="option"]')].find((one) => one.offsetParent !== null)?.textContent.includes(${JSON.stringify(text)})`;
const entry = (text: string): string =>
  `document.querySelector('.mantine-Spotlight-action')?.textContent.includes(${JSON.stringify(text)})`;
const focus = (label: string) => (page: Page) => page.getByLabel(label, { exact: true }).first().focus();
const menu = (label: string) => (page: Page) =>
  page.getByRole('combobox', { name: label, exact: true }).first().click();
const cleared = (label: string) => (page: Page) => page.getByLabel(label, { exact: true }).fill('');

/** Opens a menu, then types into it. */
function ofMenu(name: string, label: string, typed: string, found: string): Interaction[] {
  return [
    { name: `${name}: open the menu`, act: menu(label), shown: there('[role="option"]') },
    { name: `${name}: type into it`, act: letters(typed), shown: option(found) },
  ];
}

/** Types into the search of a list. */
function ofSearch(name: string, label: string, typed: string, found: string): Interaction {
  return { name: `${name}: search`, before: focus(label), act: letters(typed), shown: found };
}

/** In this order: each starts where the previous one ended. */
const interactions: readonly Interaction[] = [
  { name: 'Runs: open', act: rail('Runs'), shown: both(heading('Runs'), there('[data-row="0"]')) },
  ofSearch('Runs', 'Find runs', 'rate 0041/', says('rate 0041/')),
  {
    name: 'Runs: sort',
    before: cleared('Find runs'),
    act: (page) => page.getByRole('button', { name: 'Run', exact: true }).click(),
    shown: there('[aria-sort]'),
  },
  {
    name: 'Datasets: open',
    before: rail('Texts & datasets'),
    act: tab('Datasets'),
    shown: says('attempt '),
  },
  ofSearch('Datasets', 'Search datasets', '0499', says('attempt 0499')),
  { name: 'Tasks: open', act: rail('Tasks'), shown: says('-0000') },
  ofSearch('Tasks', 'Search tasks', '0299', says('-0299')),
  {
    name: 'New task, task to copy: open the menu',
    before: (page) => page.getByRole('button', { name: 'New task …' }).click(),
    act: menu('Task to copy'),
    shown: there('[role="option"]'),
  },
  { name: 'New task, task to copy: type into it', act: letters('0288'), shown: option('0288') },
  {
    name: 'Models: open',
    before: async (page) => {
      await close(page);
      await close(page);
    },
    act: rail('Models'),
    shown: both(heading('Models'), says('seed_')),
  },
  ofSearch('Models', 'Search models', 'rate 0041/', says('rate 0041/')),
  {
    name: 'Compare: open',
    act: (page) => page.getByRole('navigation').getByRole('link', { name: 'Compare', exact: true }).click(),
    shown: both(heading('Compare'), there('[role="combobox"]')),
  },
  ...ofMenu('Compare, baseline', 'Baseline', 'rate 0041', 'rate 0041'),
  ...ofMenu('Compare, against', 'Against', 'rate 0041', 'rate 0041').map(afterClosing),
  ...ofMenu('Compare, prompts', 'Held-out prompts from', '0495', '0495').map(afterClosing),
  {
    name: 'Samples: open',
    before: close,
    act: rail('Samples'),
    shown: both(heading('Samples'), there('[role="combobox"]')),
  },
  ...ofMenu('Samples, run', 'Run', 'rate 0041', 'rate 0041'),
  { name: 'Playground: open', before: close, act: rail('Playground'), shown: heading('Playground') },
  ...ofMenu('Playground, model', 'Model 1', 'rate 0041', 'rate 0041'),
  { name: 'Curriculum: open', before: close, act: rail('Curriculum'), shown: heading('Curriculum') },
  {
    name: 'New stage, dataset: open the menu',
    before: (page) =>
      page
        .getByRole('button', { name: /^Add (a )?stage/ })
        .first()
        .click(),
    act: menu('Dataset'),
    shown: there('[role="option"]'),
  },
  { name: 'New stage, dataset: type into it', act: letters('0499'), shown: option('0499') },
  {
    name: 'Free run: open',
    before: async (page) => {
      await close(page);
      await close(page);
    },
    act: (page) => page.getByRole('button', { name: 'Free run' }).click(),
    shown: 'document.querySelector(\'[role="dialog"] form\') !== null',
  },
  {
    name: 'Free run, dataset: type into it',
    before: async (page) => {
      await page.getByLabel('dataset', { exact: true }).fill('');
    },
    act: letters('0499'),
    shown: option('0499'),
  },
  { name: 'Home: open', before: leave, act: rail('Home'), shown: both(heading('Home'), there('main table tbody tr')) },
  {
    name: 'Palette: open',
    act: (page) => page.keyboard.press('Control+k'),
    shown: there('.mantine-Spotlight-action'),
  },
  { name: 'Palette: type a letter', act: letters('s'), shown: entry('s') },
  {
    name: 'Palette: find a run by its end',
    act: letters('weep of learning rates, rate 0041'),
    shown: entry('rate 0041'),
  },
];

/** A menu that is open closes first; its interaction is otherwise the same. */
function afterClosing(interaction: Interaction, place: number): Interaction {
  return place === 0 ? { ...interaction, before: close } : interaction;
}

/** Leaves a form without saving. */
async function leave(page: Page): Promise<void> {
  await close(page);
  await close(page);
  const discard = page.getByRole('button', { name: 'Discard', exact: true });
  if (await discard.isVisible()) await discard.click();
}

const { url, stop } = await startHost(folder);
const browser = await launchBrowser();
const times = new Map<string, Measured[]>();
try {
  for (let round = 0; round < Number(rounds); round++) await once();
} finally {
  await browser.close();
  stop();
  report();
}

/** A new page, in which each list is opened for the first time. */
async function once(): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, bypassCSP: true });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const probe = await openProbe(page);
  await page.goto(url);
  await page.waitForFunction(both(heading('Home'), there('main table tbody tr')));
  // Users look before they act.
  await page.waitForTimeout(3000);
  for (const interaction of interactions) await measure(page, probe, interaction);
  await context.close();
}

async function measure(page: Page, probe: Probe, { name, before, act, shown }: Interaction): Promise<void> {
  try {
    await before?.(page);
    await page.waitForTimeout(PAUSE_MS);
    const took = await probe.measure(() => act(page), shown, false);
    times.set(name, [...(times.get(name) ?? []), took]);
  } catch (error) {
    throw new Error(`${name}: expected ${shown}`, { cause: error });
  }
}

function report(): void {
  process.stdout.write(`${rounds} pages; load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores\n\n`);
  process.stdout.write('| interaction | best ms | median ms | worst ms | work ms |\n|---|---|---|---|---|\n');
  for (const [name, took] of times) {
    const sorted = took.map(({ ms }) => ms).toSorted((a, b) => a - b);
    const cells = [...[0, 0.5, 1].map((q) => quantile(sorted, q)), Math.min(...took.map(({ work }) => work))];
    process.stdout.write(`| ${name} | ${cells.map((value) => value.toFixed(0)).join(' | ')} |\n`);
  }
}
