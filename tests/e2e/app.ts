/** The app as a user runs it: `braid serve` in its own process, and a page in a real browser. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { ok } from '../../main/services/doctor/check.ts';
import { cacheReport } from '../../main/services/doctor/kept.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { openStore } from '../../main/store/index.ts';
import { VERSION } from '../../main/version.ts';
import { atEndOfFile } from '../end-of-file.ts';
import { BRAID } from '../processes/paths.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { forget, newPage } from './browser.ts';

const root = resolve(import.meta.dirname, '../..');

/** Pictures for docs/ are worth waiting for on a busy machine. */
const isForPictures = process.env.BRAID_SCREENSHOTS !== undefined;

const NOWHERE = join(tmpdir(), 'braid-no-models');
const OTHERS_MODELS = { OLLAMA_MODELS: NOWHERE, HF_HUB_CACHE: NOWHERE, LLAMA_CACHE: NOWHERE };

export interface RunningApp {
  /** Including the token. */
  readonly url: string;
  readonly workspace: string;
  readonly host: ChildProcess;
  /** Stops it gracefully and waits. */
  stop(): Promise<void>;
}

/** Starts `braid serve` on a free port; ends with the test file. */
export async function startApp(
  workspace: string = temporaryFolderOfFile(),
  extra: readonly string[] = [],
): Promise<RunningApp> {
  if (!isForPictures) noteExamined(workspace);
  const args = [BRAID, 'serve', '--workspace', workspace, '--port', '0', '--json', ...extra];
  const env = environmentOf(workspace);
  const host = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env });
  let errors = '';
  host.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const exited = new Promise<void>((settle) => host.on('close', () => settle()));
  const stop = async (): Promise<void> => {
    host.kill('SIGTERM');
    await exited;
  };
  atEndOfFile(stop);
  const line = await Promise.race([firstLine(host), exited.then(() => null)]);
  if (line === null) throw new Error(`Expected braid serve to start, but it ended: ${errors}`);
  const { url } = JSON.parse(line) as { url: string };
  return { url, workspace, host, stop };
}

/**
 * Of an app on a workspace, and of commands of the same user. Hides a native backend and other programs' models that this
 * machine may have, and what other tests' apps keep for a user: engines, keys, what tasks may run.
 */
export function environmentOf(workspace: string): NodeJS.ProcessEnv {
  const own = { BRAID_NATIVE: join(workspace, 'native'), XDG_CONFIG_HOME: join(workspace, 'config') };
  return { ...OTHERS_MODELS, ...process.env, ...own };
}

/** Home would have the machine examined, which takes as long as a few tests; the doctor's own page still does. */
function noteExamined(workspace: string): void {
  const store = openStore(openWorkspace({ workspace }).database);
  cacheReport(store, { checks: [ok('Node', process.version)], at: Date.now() }, VERSION);
  store.close();
}

function firstLine(host: ChildProcess): Promise<string> {
  return new Promise((settle) => {
    let text = '';
    host.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('\n')) settle(text);
    });
  });
}

export interface OpenPage {
  readonly page: Page;
  /** Errors that the page logged to its console or threw. */
  readonly complaints: readonly string[];
  /** Goes to a screen: `goto('/runs')`. */
  goto(route: string): Promise<void>;
}

interface PageOptions {
  /**
   * Whether it loads and renders other screens while it is idle, which takes as long as the page itself. Otherwise it is
   * one that has never been idle, as on a busy machine.
   */
  readonly looksAhead?: boolean;
}

/** Several times what a screen waits for its data before it takes the place of the one before. */
const LONGEST_WAIT_MS = 2000;

/** What must come about at last, idle or not, is asked for with a time limit. Runs in the page. */
function neverLookAhead(): void {
  const ask = window.requestIdleCallback.bind(window);
  window.requestIdleCallback = (callback, options) => (options?.timeout === undefined ? 0 : ask(callback, options));
}

/** Opens a page on the app, as new to it as a first visitor's, and closes the one that was opened before. */
export async function openPage(
  app: Pick<RunningApp, 'url'>,
  size = { width: 1280, height: 800 },
  { looksAhead = false }: PageOptions = {},
): Promise<OpenPage> {
  const page = await newPage();
  await page.setViewportSize(size);
  if (!looksAhead) await page.addInitScript(neverLookAhead);
  page.setDefaultTimeout(isForPictures ? 120_000 : 45_000);
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await forget(page, new URL(app.url).origin);
  await page.goto(app.url);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return {
    page,
    complaints,
    goto: async (route) => {
      // The screen before stays up for a moment, while what the next one shows first is fetched.
      await page.evaluate((hash) => {
        const path = (of: string): string => of.replace(/^#?\/?/, '').split('?', 1)[0] ?? '';
        if (path(hash) !== path(window.location.hash)) document.querySelector('h1')?.setAttribute('data-left', '');
        window.location.hash = hash;
      }, route);
      const other = page.locator('h1:not([data-left])').waitFor({ timeout: LONGEST_WAIT_MS });
      // A screen that was open already keeps its heading.
      await other.catch(() => page.getByRole('heading', { level: 1 }).waitFor());
    },
  };
}

/** What a button's fill says to who looks at it: do this, beware, or neither. */
export async function fillOf(button: Locator): Promise<'suggested' | 'dangerous' | 'plain'> {
  const colour = await button.evaluate((element) => getComputedStyle(element).backgroundColor);
  const [red = 0, green = 0] = colour.match(/\d+/g)?.map(Number) ?? [];
  if (red - green > 60) return 'dangerous';
  return green - red > 60 ? 'suggested' : 'plain';
}

/** Content that is about to be replaced is faded. */
async function untilSettled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
}

/**
 * Expects no violation on the current screen that axe-core rates serious or critical. While a dialog is open, only that:
 * the screen behind it is out of reach, and has its own check. `colours`: of a screen that was checked in another theme.
 */
export async function expectAccessible(page: Page, rules: 'all' | 'colours' = 'all'): Promise<void> {
  await untilSettled(page);
  // Evaluated, not added as a script: the page's content security policy allows only its own scripts.
  // Once for each document: it is half a megabyte, and screens change without loading another one.
  if (await page.evaluate(() => !('axe' in window))) await page.evaluate(axeSource);
  const violations = await page.evaluate(
    async (only) => {
      const { axe } = window as unknown as {
        axe: { run(where: object, options: object): Promise<{ violations: Violation[] }> };
      };
      const isBehind = document.querySelector('[role="dialog"][aria-modal="true"]') !== null;
      // What passes is not listed element by element, which takes most of the time.
      const { violations: found } = await axe.run(isBehind ? { exclude: ['#root'] } : document, {
        resultTypes: ['violations'],
        // It would fetch and parse the style sheets each time, for rules about sound and turned screens.
        preload: false,
        ...(only !== null && { runOnly: { type: 'rule', values: only } }),
      });
      return found
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
    },
    rules === 'all' ? null : COLOUR_RULES,
  );
  expect(violations).toEqual([]);
}

/** Those that look at colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** Hides this machine's paths in screenshots. Runs in the page. */
function renamePlaces({ from, to }: { readonly from: readonly string[]; readonly to: string }): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    for (const place of from)
      if (text.nodeValue?.includes(place)) text.nodeValue = text.nodeValue.replaceAll(place, to);
}

/** Takes a screenshot for docs/ if scripts/screenshots.ts asks for it. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.BRAID_SCREENSHOTS;
  if (folder === undefined) return;
  // A job that has just ended is still shown for a moment, and a new host checks the machine first.
  for (const passing of [page.getByText('Checking the machine …'), page.getByRole('contentinfo').getByText('Cancel')])
    await passing.waitFor({ state: 'hidden', timeout: 60_000 }).catch(() => undefined);
  // What is under the mouse would be highlighted.
  await page.mouse.move(0, 0);
  await untilSettled(page);
  await page.evaluate(renamePlaces, { from: [root, tmpdir()], to: '/home/me/braid' });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
