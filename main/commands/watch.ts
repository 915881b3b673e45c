/** `braid watch`: a run in the terminal, of any process, as it trains. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { findRun } from '../services/runs/find-run.ts';
import { eventReport, runReport } from '../services/runs/run-report.ts';
import { type RunView, runView } from '../services/runs/run-view.ts';
import { openForReading } from '../services/workspace/read-only.ts';
import type { EventRow } from '../store/events.ts';
import type { Store } from '../store/index.ts';
import { INTERRUPTED } from './interrupt.ts';
import { takesColour } from './pairs.ts';
import { type CommandContext, commandContext, END_SIGNALS, withCommonOptions } from './shared.ts';
import { watchFrame } from './watch-frame.ts';
import { openWatchScreen, type WatchScreen } from './watch-screen.ts';

/** A look every half second, and less often where one takes long. */
const LOOK_MS = 500;
const SHARE = 10;
/** Without a change in the database, whether the run's process still exists is checked every so many looks. */
const CHECK_EVERY = 4;
const MAX_COLUMNS = 120;
/** In a pipe, and on terminals that don't say how wide they are. */
const USUAL_COLUMNS = 80;
/** Events in the first JSON object; later ones have what is new. */
const FIRST_EVENTS = 10;

const HELP = `
RUN is an id or a name; without it, the newest run that trains, otherwise the newest. The run isn't affected: q or
Ctrl-C ends the view only. --json prints one JSON object a change, the last one when the run has ended. Where stdout is
no terminal, --once is the default.`;

/** Adds `watch` to the program. */
export function registerWatch(program: Command): void {
  withCommonOptions(program.command('watch'))
    .argument('[run]', 'id or name of the run')
    .option('--once', 'print one frame, or with --json one object, and end', false)
    .addHelpText('after', HELP)
    .action((run: string | undefined, { once }: { readonly once: boolean }, command: Command) =>
      watch(run, once, command),
    );
}

async function watch(choice: string | undefined, once: boolean, command: Command): Promise<void> {
  const context = commandContext(command);
  const store = openForReading(context.workspace);
  try {
    const { id } = findRun(store, choice);
    const look = (): RunView => store.snapshot(() => runView(store, id, 2 * columnsOf(process.stdout)));
    const first = look();
    if (context.json) return await followJson(store, first, look, once, context);
    if (once || !first.live || process.stdout.isTTY !== true) return printFrame(first, context);
    await followScreen(store, look, context);
  } finally {
    store.close();
  }
}

async function followJson(
  store: Store,
  first: RunView,
  look: () => RunView,
  once: boolean,
  context: CommandContext,
): Promise<void> {
  let printed = '';
  let seen: readonly EventRow[] = first.events.slice(0, -FIRST_EVENTS);
  const print = (view: RunView): void => {
    const news = view.events.filter(({ id, at }) => !seen.some((event) => event.id === id && event.at === at));
    const report = runReport(view);
    const text = JSON.stringify(report);
    if (text === printed && news.length === 0) return;
    [printed, seen] = [text, view.events];
    context.out({ ...report, events: news.map(eventReport) });
  };
  print(first);
  if (once || !first.live) return;
  const stop = stopOnSignals();
  try {
    await lookUntilEnd(store, look, print, stop.signal);
  } finally {
    stop.release();
  }
}

async function followScreen(store: Store, look: () => RunView, context: CommandContext): Promise<void> {
  const stop = stopOnSignals();
  const { stdout } = process;
  const screen: WatchScreen = openWatchScreen(process, (key) => {
    if (key === 'interrupt') process.exitCode = INTERRUPTED;
    stop.end();
  });
  let size = '';
  const resized = (): boolean => size !== `${stdout.columns}x${stdout.rows}`;
  try {
    const last = await lookUntilEnd(
      store,
      look,
      (view) => {
        size = `${stdout.columns}x${stdout.rows}`;
        // The last column stays free: erasing the rest of a full line would take its last character.
        const frame = { columns: columnsOf(stdout) - 1, rows: stdout.rows || 24, colour: takesColour(stdout) };
        screen.draw(watchFrame(view, frame, 'q quits; the run continues'));
      },
      stop.signal,
      resized,
    );
    screen.close();
    if (!stop.signal.aborted) printFrame(last, context);
  } finally {
    screen.close();
    stop.release();
  }
}

/** Looks at the run until it has ended or the signal aborts; `show` gets each look at something new. */
async function lookUntilEnd(
  store: Store,
  look: () => RunView,
  show: (view: RunView) => void,
  signal: AbortSignal,
  resized: () => boolean = () => false,
): Promise<RunView> {
  store.changedElsewhere();
  let view = look();
  show(view);
  for (let looks = 1; view.live; looks++) {
    const began = performance.now();
    const changed = store.changedElsewhere();
    if (changed || resized() || looks % CHECK_EVERY === 0) {
      view = look();
      show(view);
    }
    if (!view.live) break;
    const pause = Math.max(LOOK_MS, SHARE * (performance.now() - began));
    if (await sleep(pause, false, { signal }).catch(() => true)) break;
  }
  return view;
}

function printFrame(view: RunView, context: CommandContext): void {
  const size = { columns: columnsOf(process.stdout), rows: null, colour: takesColour(process.stdout) };
  for (const line of watchFrame(view, size)) context.printRaw(line);
}

function columnsOf(stdout: NodeJS.WriteStream): number {
  return Math.min(stdout.columns || USUAL_COLUMNS, MAX_COLUMNS);
}

/** Ctrl-C, a polite kill and a closed terminal end the view. */
function stopOnSignals(): { readonly signal: AbortSignal; end(): void; release(): void } {
  const controller = new AbortController();
  const interrupt = (): void => {
    process.exitCode = INTERRUPTED;
    controller.abort();
  };
  for (const signal of END_SIGNALS) process.on(signal, interrupt);
  const release = (): void => {
    for (const signal of END_SIGNALS) process.off(signal, interrupt);
  };
  return { signal: controller.signal, end: () => controller.abort(), release };
}
