/** A run as the terminal shows it: a bar, warnings as they come, and Ctrl-C that saves. */
import { costOf } from '../services/run-cost.ts';
import type { LiveRun } from '../services/training.ts';
import type { TrainerEvent } from '../trainer/events.ts';
import { formatDuration, openProgress, type Progress } from './progress.ts';
import type { CommandContext } from './shared.ts';

export interface TrainingView {
  readonly onEvents: (events: readonly TrainerEvent[]) => void;
  end(): void;
}

/** What an hour of the machine costs; 0: nothing is said of it. */
export type Price = Parameters<typeof costOf>[1];

/** Shows a run's events. */
export function followTraining(
  context: CommandContext,
  price: Price = { hourly_price: 0, currency: '' },
): TrainingView {
  let progress: Progress | null = null;
  let total = 0;
  const show = (event: TrainerEvent): void => {
    switch (event.kind) {
      case 'ready':
        total = event.maxSteps;
        context.say(
          `Training ${count(event.trainable)} of ${count(event.parameters)} parameters, completions of up to ${event.maxCompletionLength} tokens. ${event.why}.`,
        );
        return;
      case 'estimate':
        context.say(
          `About ${formatDuration(event.seconds)}${costWords(event.seconds, price)} (${event.secondsPerStep.toPrecision(2)} s a step), ${Math.round(event.memoryBytes / 2 ** 20)} MiB.`,
        );
        return;
      case 'step': {
        progress ??= openProgress({ label: 'training', total, unit: 'steps', from: event.step - 1 }, context.quiet);
        progress.update(event.step, note(event.metrics));
        return;
      }
      case 'warning':
      case 'notice':
        progress?.end();
        context.say(`Step ${event.step}: ${event.message} ${event.remedy}`);
        return;
      case 'evaluation':
        progress?.end();
        context.say(
          `Step ${event.step}: held-out ${Object.entries(event.metrics)
            .map(([name, value]) => `${name.replace('eval_', '')} ${value.toPrecision(3)}`)
            .join(', ')}`,
        );
        return;
      case 'paused':
        progress?.end();
        context.say(
          `Paused at step ${event.step}: ${event.reason} Ctrl-C saves the run; train --resume goes on with it.`,
        );
        return;
      default:
        return;
    }
  };
  return { onEvents: (events) => events.forEach(show), end: () => progress?.end() };
}

function costWords(seconds: number, price: Price): string {
  const { cost, currency } = costOf(seconds, price);
  return cost === null ? '' : `, ${currency}${cost.toFixed(2)}`;
}

function note(metrics: Readonly<Record<string, number>>): string {
  const { reward, loss, tokens_per_second: speed } = metrics;
  const what = reward === undefined ? `loss ${(loss ?? Number.NaN).toFixed(3)}` : `reward ${reward.toFixed(3)}`;
  return speed === undefined ? what : `${what} · ${Math.round(speed)} tokens/s`;
}

function count(parameters: number): string {
  if (parameters >= 1e9) return `${(parameters / 1e9).toPrecision(3)} B`;
  return parameters >= 1e6 ? `${(parameters / 1e6).toPrecision(3)} M` : String(parameters);
}

export interface StopWatch {
  /** Whether Ctrl-C was pressed. */
  readonly asked: () => boolean;
  /** Lets go of the signals. */
  readonly release: () => void;
}

/** The first Ctrl-C finishes the step in hand and saves; the second ends at once. */
export function stopOnSignals(run: Pick<LiveRun, 'send' | 'kill'>, context: CommandContext): StopWatch {
  let asked = false;
  const stop = (): void => {
    if (asked) {
      run.kill();
      return;
    }
    asked = true;
    context.say('\nStopping after this step; the run is saved. Press Ctrl-C again to end at once.');
    run.send({ kind: 'stop' });
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  const release = (): void => {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  };
  return { asked: () => asked, release };
}
