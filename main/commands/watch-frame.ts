/** What `braid watch` draws: a run's state, curve, verdict, extreme completions and events as lines of text. Pure. */
import { basename } from 'node:path';
import { wholeText } from '../samples/completion.ts';
import type { RunView } from '../services/runs/run-view.ts';
import type { SampleView } from '../services/runs/samples/samples.ts';
import type { Verdict } from '../services/runs/verdict/verdict.ts';
import type { EventRow } from '../store/events.ts';
import { counted, formatDuration, formatStepTime, withRemedy } from '../text/format.ts';
import { visible } from '../text/visible.ts';
import { WARM_UP_LOSS } from '../trainer/config/config.ts';
import { drawCurve } from './curve.ts';
import { answerLines, legend, textLines } from './pairs.ts';
import { clipped, columnsOf } from './terminal-text.ts';

export interface FrameSize {
  readonly columns: number;
  /** Null: as many as it takes. */
  readonly rows: number | null;
  readonly colour: boolean;
}

const LABEL = 14;
const BAR = 24;
/** Rows of the curve, events and lines of text where there is room for all. */
const FULL = { curve: 8, events: 8, verdict: 8 } as const;
const CURVE = { least: 3, most: 12 } as const;
/** Events that stay when completions are long. */
const LEAST_EVENTS = 3;
const TONES: Readonly<Record<Verdict['tone'], string>> = { good: '32', quiet: '2', warn: '33', bad: '31' };
const SEVERITIES: Readonly<Record<EventRow['severity'], string | null>> = { info: null, warning: '33', error: '31' };
const LEVELS = '▁▂▃▄▅▆▇█';

/** The lines of a frame, none longer than the window, and no more of them than it has rows. */
export function watchFrame(view: RunView, size: FrameSize, hint: string | null = null): string[] {
  const paint = painter(size.colour);
  const foot = hint === null ? [] : [paint('2', clip(hint, size.columns))];
  const head = headLines(view, size);
  const judged = verdictLines(view, size);
  const held = heldOutLines(view, size);
  const samples = sampleLines(view, size);
  if (size.rows === null) {
    const events = eventLines(view, size, FULL.events);
    return blocks(head, curveLines(view, size, FULL.curve), [...held, ...judged], samples.flat(), events, foot);
  }
  const verdict = judged.slice(0, Math.max(1, Math.min(FULL.verdict, Math.floor(size.rows / 5))));
  // An empty line before each of the four groups below the head.
  const room = size.rows - head.length - held.length - verdict.length - foot.length - 4;
  const curve = curveLines(view, size, Math.max(CURVE.least, Math.min(CURVE.most, Math.floor(room * 0.4))));
  const left = room - curve.length;
  const shownSamples = fitted(samples, left - Math.min(LEAST_EVENTS, view.events.length));
  const events = eventLines(view, size, Math.max(0, left - shownSamples.length));
  const lines = blocks(head, curve, [...held, ...verdict], shownSamples, events);
  return [...lines.slice(0, Math.max(0, size.rows - foot.length)), ...foot];
}

function headLines({ run, secondsPerStep, secondsLeft }: RunView, { columns, colour }: FrameSize): string[] {
  const paint = painter(colour);
  const title = clip(`${run.name} (run ${run.id}) · ${run.state}`, columns);
  const facts = [run.method, run.model, basename(run.dataset), ...(run.backend === null ? [] : [run.backend])];
  const filled = Math.round((BAR * Math.min(run.step, run.maxSteps)) / Math.max(run.maxSteps, 1));
  const progress = [
    `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${run.step}/${counted(run.maxSteps, 'step')}`,
    ...(secondsPerStep === null ? [] : [`${formatStepTime(secondsPerStep)} each`]),
    ...(secondsLeft === null ? [] : [`${formatDuration(secondsLeft)} left`]),
  ];
  return [
    paint('1', title),
    clip(facts.join(' · '), columns),
    clip(progress.join(' · '), columns),
    ...(run.reason === null ? [] : textLines(run.state.padEnd(LABEL), run.reason, columns)),
  ];
}

function curveLines({ run, curve }: RunView, { columns, colour }: FrameSize, rows: number): string[] {
  const now = run.latest[curve.metric];
  if (now === undefined) return ['There is nothing to draw before the first step.'];
  const heading = `${curve.metric === WARM_UP_LOSS ? 'warm-up, loss' : curve.metric} ${short(now.value)} at step ${now.step}`;
  return [clip(heading, columns), ...drawCurve(curve.values, curve.total, columns, { rows, colour })];
}

function heldOutLines({ heldOut, standing }: RunView, { columns }: FrameSize): string[] {
  if (standing === null) return [];
  const newest = heldOut.at(-1);
  const interval = newest?.low == null || newest.high === null ? '' : ` [${short(newest.low)}, ${short(newest.high)}]`;
  const more = newest === undefined ? '' : `${interval}, ${counted(newest.n, 'record')}`;
  const words = `${standing.sentence}.${more === '' ? '' : ` ${spark(heldOut.map(({ mean }) => mean))}${more}`}`;
  return textLines('held-out'.padEnd(LABEL), words, columns);
}

/** One block a value, from the least to the greatest; the newest ones. */
function spark(values: readonly number[]): string {
  const finite = values.filter(Number.isFinite).slice(-40);
  const [least, most] = [Math.min(...finite), Math.max(...finite)];
  const level = (value: number): number =>
    most === least ? 3 : Math.round(((value - least) / (most - least)) * (LEVELS.length - 1));
  return finite.map((value) => LEVELS[level(value)]).join('');
}

function verdictLines({ verdict, advice }: RunView, { columns, colour }: FrameSize): string[] {
  const paint = painter(colour);
  const { tone, title, sentences, remedy } = verdict;
  const [first = '', ...more] = textLines('verdict'.padEnd(LABEL), `${title}: ${sentences.join(' ')}`, columns);
  return [
    `${first.slice(0, LABEL)}${paint(TONES[tone], first.slice(LABEL))}`,
    ...more,
    ...(remedy === null ? [] : textLines('to do'.padEnd(LABEL), remedy, columns)),
    ...advice.flatMap(({ message, remedy: next }) =>
      textLines('next run'.padEnd(LABEL), `${message} ${next}`, columns),
    ),
  ];
}

/** The heading, then the lines of each completion. */
function sampleLines({ extremes }: RunView, { columns, colour }: FrameSize): string[][] {
  if (extremes === null) return [];
  const { step, n, best, worst } = extremes;
  const marks = best.alignment === null ? '' : `: ${legend(colour)}`;
  const count = n === 1 ? 'the only completion' : `best and worst of ${n}`;
  const heading = `Step ${step}, ${count}`;
  return [
    [columnsOf(heading + marks) <= columns ? heading + marks : clip(heading, columns)],
    completionLines('best', best, columns, colour),
    worst === null ? [] : completionLines('worst', worst, columns, colour),
  ];
}

/** The start of each completion, in at most so many lines; nothing where there is no room for one line of each. */
function fitted([heading = [], best = [], worst = []]: readonly (readonly string[])[], most: number): string[] {
  if (most < 3) return [];
  const [room, half] = [most - 1, Math.floor((most - 1) / 2)];
  const bestLines = Math.min(best.length, Math.max(half, room - worst.length));
  return [...heading, ...best.slice(0, bestLines), ...worst.slice(0, room - bestLines)];
}

/** Word by word where a task has an exact target, otherwise with its reward and what people answered. */
function completionLines(name: string, sample: SampleView, columns: number, colour: boolean): string[] {
  if (sample.alignment !== null) return answerLines(name.padEnd(8), sample, columns, colour);
  const label = `${name.padEnd(8)}${short(sample.reward)}`.padEnd(LABEL);
  const target = sample.target === '' ? [] : textLines('  target', sample.target, columns);
  const failure = typeof sample.failure === 'string' ? textLines('  failed', sample.failure, columns) : [];
  return [...textLines(label, wholeText(sample), columns), ...target, ...failure];
}

/** A line each in a window, everything without one. */
function eventLines({ events }: RunView, { columns, rows, colour }: FrameSize, most: number): string[] {
  const paint = painter(colour);
  const newest = events.slice(events.length - Math.min(most, events.length));
  return newest.flatMap(({ step, severity, message, remedy }) => {
    const label = `step ${step}`.padEnd(LABEL);
    const text = withRemedy(message, remedy);
    const lines = rows === null ? textLines(label, text, columns) : [clip(`${label}${text}`, columns)];
    const codes = SEVERITIES[severity];
    return codes === null ? lines : lines.map((line) => paint(codes, line));
  });
}

/** Groups of lines with an empty line between them. */
function blocks(...groups: readonly (readonly string[])[]): string[] {
  return groups.filter((lines) => lines.length > 0).flatMap((lines, i) => (i === 0 ? [...lines] : ['', ...lines]));
}

function painter(colour: boolean) {
  return (codes: string, text: string): string => (colour ? `\x1b[${codes}m${text}\x1b[0m` : text);
}

function clip(text: string, columns: number): string {
  return clipped(visible(text).replaceAll('\n', ' '), columns);
}

function short(value: number): string {
  return Number.isFinite(value) ? value.toFixed(3) : 'unknown';
}
