/** `braid demo`: the main job on the bundled tiny model, end to end. */
import type { Command } from 'commander';
import type { EvaluationSummary } from '../services/evaluation/summary.ts';
import { type DemoResult, runDemo } from '../services/recipes/demo.ts';
import { markAbandonedRuns } from '../services/runs/runs.ts';
import { openWorkspace } from '../services/workspace/workspace.ts';
import { openStore } from '../store/index.ts';
import { counted, formatDuration, signed } from '../text/format.ts';
import { hostPaths } from './host-paths.ts';
import { pairLines, takesColour } from './pairs.ts';
import { openProgress, type Progress } from './progress.ts';
import { backendChoice, type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { followTraining, stopOnSignals, type TrainingView } from './training-view.ts';

/** Held-out pairs that are shown before and after. */
const SHOWN_PAIRS = 3;

/** Adds `demo` to the program. */
export function registerDemo(program: Command): void {
  withCommonOptions(program.command('demo'))
    .option('--words <n>', 'words per fragment', '10')
    .action((options: { words: string }, command: Command) => demo(wholeNumber('--words', options.words), command));
}

async function demo(words: number, command: Command): Promise<void> {
  const context = commandContext(command);
  const began = performance.now();
  const workspace = openWorkspace({ workspace: context.workspace.root });
  const store = openStore(workspace.database);
  const screen = openScreen(context);
  try {
    markAbandonedRuns(store);
    const result = await runDemo(store, {
      paths: hostPaths(),
      workspace,
      words,
      seed: context.seed,
      backend: backendChoice(context.backend),
      threads: context.threads,
      ...screen.options,
    });
    screen.end();
    report(result, (performance.now() - began) / 1000, workspace.root, context);
  } finally {
    screen.end();
    store.close();
  }
}

/** The terminal output of the demo: one line per part, progress bars for long ones, Ctrl-C saves. */
function openScreen(context: CommandContext) {
  let bar: Progress | null = null;
  let view: TrainingView | null = null;
  let release: (() => void) | null = null;
  const end = (): void => {
    bar?.end();
    view?.end();
    release?.();
    [bar, view, release] = [null, null, null];
  };
  const words = {
    dataset: 'Generating the dataset.',
    baseline: 'Evaluating the baseline.',
    training: 'Training with GRPO.',
    trained: 'Evaluating the trained checkpoint.',
  };
  const options: Pick<Parameters<typeof runDemo>[1], 'onPart' | 'onProgress' | 'onEvents' | 'onRun'> = {
    onPart: (part) => {
      end();
      context.say(words[part]);
    },
    onProgress: (done, total) => {
      bar ??= openProgress({ label: 'evaluating', total, unit: 'prompts' }, context.quiet);
      bar.update(done);
    },
    onEvents: (events) => view?.onEvents(events),
    onRun: (run) => {
      view = followTraining(context, undefined, true);
      release = stopOnSignals(run, context).release;
    },
  };
  return { options, end };
}

function report(result: DemoResult, seconds: number, workspace: string, context: CommandContext): void {
  const { outcome, baseline, trained } = result;
  context.out({
    baseline: figures(baseline.summary),
    trained: trained === null ? null : figures(trained.summary),
    difference: result.comparison?.difference ?? null,
    steps: outcome.step,
    seconds: Number(seconds.toFixed(1)),
    backend: result.backend,
    run_id: outcome.runId,
    checkpoint: outcome.checkpoint,
    workspace,
  });
  for (const line of table(result)) context.print(line);
  if (trained === null) {
    context.print(`Stopped at step ${outcome.step}. Resume with: npm run braid -- train --resume`);
    process.exitCode = 130;
    return;
  }
  const columns = Math.min(process.stdout.columns ?? 100, 120);
  context.print('');
  for (const line of pairLines(shownPairs(result), columns, takesColour(process.stdout))) context.printRaw(line);
  context.print(
    `\n${counted(outcome.step, 'step')} in ${formatDuration(seconds)} on ${result.backend}. Run ${outcome.runId} in ${workspace}`,
  );
}

/** The first held-out pairs, whatever became of them. */
function shownPairs({ baseline, trained }: DemoResult) {
  return baseline.items.slice(0, SHOWN_PAIRS).map(({ id, target, completion }) => ({
    target,
    before: completion,
    after: trained?.items.find((item) => item.id === id)?.completion ?? '',
  }));
}

function figures({ mean_alignment, low, high, exact_match, n }: EvaluationSummary) {
  return { mean_alignment, low, high, exact_match, n };
}

/** Baseline and trained side by side, then wins, ties and losses. */
function table({ baseline, trained, comparison }: DemoResult): string[] {
  const row = (name: string, s: EvaluationSummary): string =>
    `${name.padEnd(10)} ${s.mean_alignment.toFixed(3).padStart(9)}  ${`${s.low.toFixed(3)}–${s.high.toFixed(3)}`.padStart(13)}  ${`${Math.round(s.exact_match * s.n)} of ${s.n}`.padStart(9)}  ${firstError(s).padStart(11)}`;
  const head = `${''.padEnd(10)} ${'alignment'.padStart(9)}  ${'95% interval'.padStart(13)}  ${'exact'.padStart(9)}  ${'first error'.padStart(11)}`;
  const lines = ['', head, row('baseline', baseline.summary)];
  if (trained !== null) lines.push(row('trained', trained.summary));
  if (comparison !== null) {
    const { difference: d, wins, ties, losses } = comparison;
    lines.push(
      '',
      `Trained against baseline, prompt by prompt: ${signed(d.mean)} [${signed(d.low)}, ${signed(d.high)}], ${wins} wins, ${ties} ties, ${losses} losses.`,
    );
  }
  return lines;
}

function firstError({ first_error }: EvaluationSummary): string {
  return first_error.median === null ? 'none' : `word ${first_error.median + 1}`;
}
