/** docs/study.md out of the figures of all runs. */
import { randomStream } from '../../main/random.ts';
import { bootstrapMean, type Interval } from '../../main/text/intervals.ts';
import { type Arm, arms } from './arms.ts';

/** One arm with one seed. */
export interface StudyRun {
  readonly arm: string;
  readonly seed: number;
  readonly steps: number;
  /** Of its steps, evaluations left out. */
  readonly seconds: number;
  /** Held-out mean alignment at the length that is aimed at, with the time of the steps until then. */
  readonly heldOut: readonly { readonly step: number; readonly seconds: number; readonly mean: number }[];
}

const REACHED = 0.95;

/** When a run first had the score that counts; null: never. */
export function reachedAt({ heldOut }: Pick<StudyRun, 'heldOut'>, score = REACHED) {
  return heldOut.find(({ mean }) => mean >= score) ?? null;
}

/** The last score measured within so many seconds of steps. */
export function scoreWithin({ heldOut }: Pick<StudyRun, 'heldOut'>, seconds: number): number | null {
  return heldOut.findLast((point) => point.seconds <= seconds)?.mean ?? null;
}

export function studyPage(runs: readonly StudyRun[]): string {
  const of = (name: string): StudyRun[] => runs.filter(({ arm }) => arm === name).sort((a, b) => a.seed - b.seed);
  const options = arms.filter(({ against }) => against === 'plain');
  return `# Which settings pay

Made by \`npm run study\`, on the bundled tiny model with the preset \`interleave-tiny\`; settings and seeds were fixed before the runs. Held-out: mean alignment of greedy answers on 64 pairs of unseen texts, every 5 steps. Seconds are those of steps alone, on one machine; compare them with each other only. In brackets: 95 % bootstrap intervals over seeds, which are wide with five of them.

## Settings that spend rollouts where there is a signal

Time until the held-out score at 10 words first reaches ${REACHED}, and the score after the last step. Ratio: seconds over those of the plain loop with the same seed; below 1 is faster.

| | setting | reached | steps | seconds | ratio | held-out at the end |
|---|---|---|---|---|---|---|
${options.map((arm) => optionRow(arm, of(arm.name), of('plain'))).join('\n')}

## A curriculum against training on long texts directly

As in [the story](story.md): held-out at 50 words after as many steps, and within as many seconds as the faster of the two took with the same seed.

| | stages | held-out, equal steps | held-out, equal seconds | seconds |
|---|---|---|---|---|
${farRows(of('direct'), of('curriculum'))}

Seeds: ${[...new Set(runs.map(({ seed }) => seed))].sort((a, b) => a - b).join(', ')}. Each run's figures: \`docs/study/\`.
`;
}

function optionRow({ name, about }: Arm, runs: readonly StudyRun[], plain: readonly StudyRun[]): string {
  const reached = runs.flatMap((run) => reachedAt(run) ?? []);
  const ratios = runs.flatMap((run) => {
    const own = reachedAt(run);
    const base = plain.find(({ seed }) => seed === run.seed);
    const its = base === undefined ? null : reachedAt(base);
    return own === null || its === null ? [] : [own.seconds / its.seconds];
  });
  const cells = [
    `${reached.length} of ${runs.length}`,
    withInterval(
      reached.map(({ step }) => step),
      0,
    ),
    withInterval(
      reached.map(({ seconds }) => seconds),
      0,
    ),
    name === 'plain' ? '1' : withInterval(ratios, 2),
    withInterval(runs.map(lastScore), 3),
  ];
  return `| ${name} | ${about} | ${cells.join(' | ')} |`;
}

function farRows(direct: readonly StudyRun[], curriculum: readonly StudyRun[]): string {
  const shortest = (seed: number): number =>
    Math.min(...[...direct, ...curriculum].filter((run) => run.seed === seed).map(({ seconds }) => seconds));
  return arms
    .filter(({ against }) => against === 'direct')
    .map(({ name, about }) => {
      const runs = name === 'direct' ? direct : curriculum;
      const within = runs.flatMap((run) => scoreWithin(run, shortest(run.seed)) ?? []);
      const seconds = runs.map((run) => run.seconds);
      return `| ${name} | ${about} | ${withInterval(runs.map(lastScore), 3)} | ${withInterval(within, 3)} | ${withInterval(seconds, 0)} |`;
    })
    .join('\n');
}

function lastScore({ heldOut }: StudyRun): number {
  return heldOut.at(-1)?.mean ?? Number.NaN;
}

function withInterval(values: readonly number[], digits: number): string {
  if (values.length === 0) return '–';
  const { mean, low, high }: Interval = bootstrapMean(values, randomStream(1, values.length).next);
  return `${mean.toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`;
}
