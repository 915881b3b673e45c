/** The study's part of docs/results.md out of the figures of all runs. */
import { type Interval, meanOf } from '../../main/text/intervals.ts';
import { tInterval } from '../../main/text/student-t.ts';
import { type Arm, CHECKPOINT_STEPS, ladders, options, RATE, RECORDS, STEPS, TEST_PAIRS } from './arms.ts';
import { type Comparison, compare, didNothing, lastScore, REACHED, reachedAt, scoreWithin } from './compare.ts';
import type { StudyRun } from './results.ts';

export function studyPage(runs: readonly StudyRun[]): string {
  const of = (name: string | null): StudyRun[] =>
    runs.filter(({ arm }) => arm === name).sort((a, b) => a.seed - b.seed);
  const compared = options.map((arm) => ({
    arm,
    runs: of(arm.name),
    comparison: arm.against === null ? null : compare(of(arm.name), of(arm.against)),
  }));
  return `## Which settings pay

Made by \`npm run study\`, on the bundled tiny model with the preset \`interleave-tiny\`; settings and seeds were fixed before the runs (\`scripts/study/arms.ts\`). Held-out: mean alignment of greedy answers on ${TEST_PAIRS} pairs of unseen texts. Seconds are those of steps alone, on one machine; compare them with each other only. In brackets: 95% t-intervals over seeds.

### Settings that spend rollouts where there is a signal

Time until the held-out score at 10 words, measured after every step, first reaches ${REACHED}, and the score after the last of ${STEPS} steps. Every arm trains on ${RECORDS} pairs, so that prompts come back, at a learning rate of ${RATE}, half of the preset's, so that settings have time to differ. Each is compared over the same seeds with the arm that differs in nothing else: seconds as a ratio (geometric mean; below 1 is faster), the last score as a difference.

| | setting | against | reached | steps | seconds | ratio | held-out at the end | difference |
|---|---|---|---|---|---|---|---|---|
${compared.map(optionRow).join('\n')}

### What was tried and did nothing

${nothing(compared)}

### A curriculum against training on long texts directly

As in the curriculum above. The held-out score at 50 words, from checkpoints every ${CHECKPOINT_STEPS} steps: once after the same number of steps, and once within the time that the faster of the two took with the same seed. Seeds that have both: ${paired(
    of('direct'),
    of('curriculum'),
  )[0]
    .map(({ seed }) => seed)
    .join(', ')}.${limits(runs)}

| | stages | held-out, equal steps | held-out, equal seconds | seconds |
|---|---|---|---|---|
${ladderRows(...paired(of('direct'), of('curriculum')))}

Seeds: ${[...new Set(runs.map(({ seed }) => seed))].sort((a, b) => a - b).join(', ')}. Weights: SHA-256 ${[...new Set(runs.map(({ model_sha256 }) => model_sha256))].join(', ')}. Each run's figures: \`docs/study/\`.
`;
}

interface Compared {
  readonly arm: Arm;
  readonly runs: readonly StudyRun[];
  /** null: others are compared with this arm. */
  readonly comparison: Comparison | null;
}

function optionRow({ arm, runs, comparison }: Compared): string {
  const reached = runs.flatMap((run) => reachedAt(run) ?? []);
  const cells = [
    arm.against ?? '',
    `${reached.length} of ${runs.length}`,
    ofSeeds(
      reached.map(({ step }) => step),
      0,
    ),
    ofSeeds(
      reached.map(({ seconds }) => seconds),
      0,
    ),
    comparison === null ? '' : withInterval(comparison.ratio, 2),
    ofSeeds(runs.map(lastScore), 3),
    comparison === null ? '' : withInterval(comparison.difference, 3),
  ];
  return `| ${arm.name} | ${arm.about} | ${cells.join(' | ')} |`;
}

/** The settings whose intervals include no difference, and those of which too little was measured to have intervals. */
function nothing(compared: readonly Compared[]): string {
  const found = compared.filter(({ comparison }) => comparison !== null && didNothing(comparison));
  const open = compared.filter(({ comparison }) => comparison !== null && comparison.difference === null);
  const parts = [
    found.length === 0
      ? 'No setting: each of those that were measured differs in time, in the last score or in how often it reached the score.'
      : `Both intervals include no difference, and the score was reached as often: ${found.map(({ arm }) => arm.name).join(', ')}. With so few seeds that doesn't show that there is none.`,
    ...(open.length === 0 ? [] : [`Too few seeds to tell: ${open.map(({ arm }) => arm.name).join(', ')}.`]),
  ];
  return (found.length === 0 && open.length > 0 ? parts.slice(1) : parts).join('\n\n');
}

/** The runs of both whose seed the other has too. */
function paired(a: readonly StudyRun[], b: readonly StudyRun[]): readonly [readonly StudyRun[], readonly StudyRun[]] {
  const shared = (runs: readonly StudyRun[], others: readonly StudyRun[]): StudyRun[] =>
    runs.filter(({ seed }) => others.some((other) => other.seed === seed));
  return [shared(a, b), shared(b, a)];
}

function ladderRows(direct: readonly StudyRun[], curriculum: readonly StudyRun[]): string {
  const shortest = (seed: number): number =>
    Math.min(...[...direct, ...curriculum].filter((run) => run.seed === seed).map(({ seconds }) => seconds));
  return ladders
    .map(({ name, about }) => {
      const runs = name === 'direct' ? direct : curriculum;
      const within = runs.flatMap((run) => scoreWithin(run, shortest(run.seed)) ?? []);
      const seconds = runs.map((run) => run.seconds);
      return `| ${name} | ${about} | ${ofSeeds(runs.map(lastScore), 3)} | ${ofSeeds(within, 3)} | ${ofSeeds(seconds, 0)} |`;
    })
    .join('\n');
}

/** How long a stage's completions may be: that is part of what a step takes. */
function limits(runs: readonly StudyRun[]): string {
  const names = new Set(ladders.map(({ name }) => name));
  const found = new Map<string, Set<number>>();
  for (const { arm, stages } of runs)
    if (names.has(arm))
      for (const { words, max_completion_length: tokens } of stages)
        found.set(words.join(', '), (found.get(words.join(', ')) ?? new Set()).add(tokens));
  if (found.size === 0) return '';
  const range = (values: ReadonlySet<number>): string =>
    [...new Set([Math.min(...values), Math.max(...values)])].join(' to ');
  const listed = [...found]
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([words, tokens]) => `${range(tokens)} tokens at ${words} words`);
  return ` Each stage limits its rollouts by its own longest target: ${listed.join(', ')}.`;
}

function ofSeeds(values: readonly number[], digits: number): string {
  if (values.length === 0) return '–';
  const interval = tInterval(values);
  return interval === null ? meanOf(values).toFixed(digits) : withInterval(interval, digits);
}

function withInterval(interval: Interval | null, digits: number): string {
  if (interval === null) return '–';
  const [mean, low, high] = [interval.mean, interval.low, interval.high].map((value) => value.toFixed(digits));
  return `${mean} [${low}, ${high}]`;
}
