/** The text of `training.log`: what happened to a run and when, one entry per event, for a person to read. */
import { counted, formatBytes, formatDuration, limitInWords, pacesInWords } from '../../text/format.ts';
import { visible } from '../../text/visible.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import type { TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { VERSION } from '../../version.ts';

export interface LogEntry {
  readonly step: number;
  /** The first line starts with the time and the step; others are indented. */
  readonly lines: readonly string[];
}

/** An entry as in the file: `2026-11-22 18:05:03Z  step 20  Paused: …`, and what to do on an indented line. */
export function formatEntry(at: Date, { step, lines }: LogEntry): string {
  const time = `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`;
  const [first = '', ...rest] = lines.flatMap((line) => visible(line).split('\n'));
  return `${[`${time}  step ${step}  ${first}`, ...rest.map((line) => `    ${line}`)].join('\n')}\n`;
}

/** The step of a line of the file; undefined for an indented one. */
export function stepOfEntry(line: string): number | undefined {
  const digits = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}step (\d+)/.exec(line)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** A new run: what it was started with. `rewards`: what of its reward is outside the sandbox, in words. */
export function startEntry(config: TrainConfig, rewards: string | null = null): LogEntry {
  const {
    method,
    max_steps,
    warm_up_steps: warmUp,
    seed,
    model,
    from_checkpoint: from,
    dataset,
    eval_dataset: heldOut,
  } = config;
  return {
    step: 0,
    lines: [
      `Started by Braid ${VERSION}: ${method}, ${counted(max_steps, 'step')}${warmUp === 0 ? '' : ` after ${warmUp} of a warm-up`}, seed ${seed}; all settings are in run.yaml`,
      `Model: ${model}${from === null ? '' : `, from ${from}`}`,
      `Dataset: ${dataset}${heldOut === null ? ', no held-out records' : `, held-out records: ${heldOut}`}`,
      ...(rewards === null ? [] : [rewards]),
    ],
  };
}

/** A run's last state in a sentence: it was interrupted, it had failed. */
export function endedAs(state: string): string {
  return `${state === 'failed' || state === 'collapsed' ? 'had' : 'was'} ${state}`;
}

/** A run that resumes from a checkpoint: what the entries that were cut said last. */
export function resumeEntry(
  step: number,
  before: { readonly state: string; readonly step: number; readonly reason: string | null },
): LogEntry {
  const why = before.reason === null ? '' : ` (${before.reason})`;
  return {
    step,
    lines: [`Resumed from step ${step} by Braid ${VERSION}; it ${endedAs(before.state)} at step ${before.step}${why}`],
  };
}

/** An error or a warning, and what to do about it. */
export function faultEntry(
  step: number,
  kind: 'Error' | 'Warning',
  { message, remedy }: { readonly message: string; readonly remedy?: string | null | undefined },
): LogEntry {
  return { step, lines: [`${kind}: ${message}`, ...(remedy ? [remedy] : [])] };
}

/** The entry of a trainer's event; null for those with files of their own, and for signs of life. */
export function entryOf(event: TrainerEvent, startStep: number): LogEntry | null {
  switch (event.kind) {
    case 'ready': {
      const { backend, threads, why, trainable, parameters } = event;
      return {
        step: startStep,
        lines: [
          // An engine elsewhere has no threads here.
          `Backend: ${backend}${threads === 0 ? '' : `, ${counted(threads, 'thread')}`}. ${why}`,
          `Trains ${trainable} of ${parameters} parameters; ${limitInWords(event)}`,
        ],
      };
    }
    case 'estimate': {
      const pace = `about ${pacesInWords(event)}`;
      return say(event, `Estimate: ${pace}, ${formatDuration(event.seconds)} left, ${formatBytes(event.memoryBytes)}`);
    }
    case 'checkpoint':
      return say(event, `Checkpoint: ${event.path}`);
    case 'evaluation': {
      const scores = Object.entries(event.metrics).map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`);
      return say(event, `Held-out evaluation of ${counted(event.items.length, 'record')}: ${scores.join(', ')}`);
    }
    case 'warning':
      return faultEntry(event.step, 'Warning', event);
    case 'notice':
      return { step: event.step, lines: [`Note: ${event.message}`, event.remedy].filter((line) => line !== '') };
    case 'paused':
      return say(event, `Paused: ${event.reason}`);
    case 'resumed':
      return say(event, 'Resumed after the pause');
    case 'done': {
      const at = event.path === null ? '' : `; its last checkpoint is ${event.path}`;
      return say(event, `${event.stopped ? 'Stopped on request' : 'Finished'}${at}`);
    }
    case 'failed':
      return faultEntry(event.step, 'Error', event);
    case 'alive':
    case 'step':
    case 'samples':
      return null;
    default:
      // Of another version: recording it in the history will report it.
      event satisfies never;
      return null;
  }
}

function say({ step }: { readonly step: number }, line: string): LogEntry {
  return { step, lines: [line] };
}
