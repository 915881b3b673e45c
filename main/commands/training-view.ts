/** A run in the terminal: a progress bar, warnings as they occur, and Ctrl-C that saves. */
import { costOf } from '../services/runs/cost.ts';
import type { LiveRun } from '../services/training/training.ts';
import { formatBytes, formatDuration, formatMoney, limitInWords, pacesInWords } from '../text/format.ts';
import { WARM_UP_LOSS } from '../trainer/config/config.ts';
import type { TrainerEvent } from '../trainer/protocol/trainer-events.ts';
import { openCurve } from './curve.ts';
import { openProgress, type ProgressOptions } from './progress.ts';
import { type CommandContext, END_SIGNALS } from './shared.ts';

export interface TrainingView {
  readonly onEvents: (events: readonly TrainerEvent[]) => void;
  end(): void;
}

/** Hourly price of the machine; 0: costs aren't shown. */
export type Price = Parameters<typeof costOf>[1];

/** What shows where the training is. */
interface Meter {
  step(step: number, metrics: Readonly<Record<string, number>>): void;
  /** Makes room for a line. */
  hide(): void;
  end(): void;
}

/** Shows a run's events; with `curve` its reward as a curve too, where there is a terminal. */
export function followTraining(
  context: CommandContext,
  price: Price = { hourly_price: 0, currency: '' },
  curve = false,
): TrainingView {
  let meter: Meter | null = null;
  let total = 0;
  const show = (event: TrainerEvent): void => {
    switch (event.kind) {
      case 'ready':
        total = event.maxSteps;
        context.say(
          `Training ${count(event.trainable)} of ${count(event.parameters)} parameters, ${limitInWords(event)}. ${event.why}.`,
        );
        return;
      case 'estimate':
        context.say(
          `About ${formatDuration(event.seconds)}${costWords(event.seconds, price)} (${pacesInWords(event)}), ${formatBytes(event.memoryBytes)}.`,
        );
        return;
      case 'step': {
        meter ??= openMeter({ label: 'training', total, unit: 'steps', from: event.step - 1 }, curve, context.quiet);
        meter.step(event.step, event.metrics);
        return;
      }
      case 'warning':
      case 'notice':
        meter?.hide();
        context.say(`Step ${event.step}: ${event.message} ${event.remedy}`);
        return;
      case 'evaluation':
        meter?.hide();
        context.say(
          `Step ${event.step}: held-out ${Object.entries(event.metrics)
            .map(([name, value]) => `${name.replace('eval_', '')} ${value.toPrecision(3)}`)
            .join(', ')}`,
        );
        return;
      case 'paused':
        meter?.hide();
        context.say(`Paused at step ${event.step}: ${event.reason} Ctrl-C saves the run; train --resume resumes it.`);
        return;
      default:
        return;
    }
  };
  return { onEvents: (events) => events.forEach(show), end: () => meter?.end() };
}

function openMeter(options: ProgressOptions, curve: boolean, quiet: boolean): Meter {
  if (curve) {
    const { update, hide, end } = openCurve(options, quiet);
    return { step: (step, metrics) => update(step, metrics.reward ?? Number.NaN, note(metrics)), hide, end };
  }
  const { update, end } = openProgress(options, quiet);
  return { step: (step, metrics) => update(step, note(metrics)), hide: end, end };
}

function costWords(seconds: number, price: Price): string {
  const { cost, currency } = costOf(seconds, price);
  return cost === null ? '' : `, ${formatMoney(cost, currency)}`;
}

function note(metrics: Readonly<Record<string, number>>): string {
  const { reward, loss, [WARM_UP_LOSS]: warmUp, tokens_per_second: speed } = metrics;
  const ofLoss = `${warmUp === undefined ? '' : 'warm-up, '}loss ${(warmUp ?? loss ?? Number.NaN).toFixed(3)}`;
  const { 'completions/clipped_ratio': cut = 0 } = metrics;
  const ofReward = `reward ${(reward ?? Number.NaN).toFixed(3)}${cut === 0 ? '' : `, ${Math.round(100 * cut)}% cut off`}`;
  const what = reward === undefined ? ofLoss : ofReward;
  return speed === undefined ? what : `${what} · ${Math.round(speed)} tokens/s`;
}

function count(parameters: number): string {
  if (parameters >= 1e9) return `${(parameters / 1e9).toPrecision(3)} B`;
  return parameters >= 1e6 ? `${(parameters / 1e6).toPrecision(3)} M` : String(parameters);
}

export interface StopWatch {
  /** Whether Ctrl-C was pressed. */
  readonly asked: () => boolean;
  /** Removes the signal handlers. */
  readonly release: () => void;
}

/**
 * The first Ctrl-C finishes the current step and saves; the second ends at once. A terminal that is closed saves too:
 * the kernel and the shell may each send SIGHUP for it, so that a second one means nothing.
 */
export function stopOnSignals(run: Pick<LiveRun, 'send' | 'kill'>, context: CommandContext): StopWatch {
  let asked = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (asked) {
      if (signal !== 'SIGHUP') run.kill();
      return;
    }
    asked = true;
    context.say('\nStopping after this step, then saving. Press Ctrl-C again to stop at once.');
    run.send({ kind: 'stop' });
  };
  for (const signal of END_SIGNALS) process.on(signal, stop);
  const release = (): void => {
    for (const signal of END_SIGNALS) process.off(signal, stop);
  };
  return { asked: () => asked, release };
}
