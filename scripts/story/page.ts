/** The story's part of docs/results.md out of the figures of one or more seeds. */
import { meanOf } from '../../main/text/intervals.ts';
import { tInterval } from '../../main/text/student-t.ts';
import { type Conditions, differenceBetween } from '../kept-results.ts';
import { firstFlatVerdict, jumpSettings, testPairs } from './settings.ts';

/** Held-out mean alignment by words a fragment. */
export type Measured = Readonly<Record<string, number>>;

interface Trained {
  readonly words: number;
  readonly steps: number;
  /** Means over the first and the last five steps. */
  readonly reward: readonly [first: number, last: number];
  readonly dead: readonly [first: number, last: number];
  /** What the collapse watch said first; null: nothing. */
  readonly verdict: string | null;
  readonly backend: string;
  /** Which start of the script trained it, from 1. */
  readonly session: number;
  readonly seconds: number;
  readonly held_out: Measured;
}

export interface Stage extends Trained {
  readonly from: string;
  readonly checkpoint: string;
}

export interface Jump extends Trained {
  readonly checkpoint: string;
}

/** What a story was measured with; all seeds of a page have the same. */
export interface StoryConditions extends Conditions {
  readonly options: {
    readonly stages: readonly number[];
    readonly jumps: readonly number[];
    /** Lengths that are only measured. */
    readonly beyond: readonly number[];
    /** Of a stage. */
    readonly steps: number;
    readonly learning_rate: number;
    /** Of each stage. */
    readonly stage_learning_rates: readonly number[];
    readonly collapse_patience: number;
    /** Everything else that a run was started with; what jumps and evaluations have of their own. */
    readonly settings: Readonly<Record<string, unknown>>;
  };
}

export interface Story extends StoryConditions {
  readonly seed: number;
  readonly base: Measured;
  readonly stages: readonly Stage[];
  readonly jumps: readonly Jump[];
  /** What its runs computed on. */
  readonly backend: string;
  readonly seconds: number;
}

/** The page. Where there are several seeds, held-out scores are means with a t-interval over seeds. */
export function storyPage(given: readonly Story[]): string {
  const stories = given.toSorted((a, b) => a.seed - b.seed);
  const [first] = stories;
  if (first === undefined) throw new Error('Expected the figures of at least one seed, got none');
  refuseMixed(first, stories);
  const { options } = first;
  const lengths = Object.keys(first.base).sort((a, b) => Number(a) - Number(b));
  const heldOut = (of: (story: Story) => Measured | undefined): string =>
    lengths.map((words) => cell(stories.flatMap((story) => of(story)?.[words] ?? []))).join(' | ');
  const row = (name: string, from: string, of: (story: Story) => Trained | undefined): string =>
    `| ${name} | ${from} | ${of(first)?.steps ?? ''} | ${ends(stories, (s) => of(s)?.reward)} | ${ends(stories, (s) => of(s)?.dead)} | ${heldOut((s) => of(s)?.held_out)} |`;
  const jumpRows = options.jumps.map((words) =>
    row(`**jump to ${words} words**`, 'the base', ({ jumps }) => jumps.find((jump) => jump.words === words)),
  );
  const stageRows = options.stages.map((words, i) => {
    const from = i === 0 ? 'the base' : `${options.stages[i - 1]} words`;
    return row(`${words} words`, from, ({ stages }) => stages.find((stage) => stage.words === words));
  });
  return `## A curriculum against a jump, on the tiny model

Made by \`npm run story -- --seed S\` with the settings of \`resources/presets/interleave-tiny.yaml\`, ${options.steps} steps a stage and a learning rate of ${options.learning_rate}${otherRates(options)}; ${stories.length === 1 ? `seed ${first.seed}` : `seeds ${stories.map(({ seed }) => seed).join(', ')}: means, held-out scores with 95% t-intervals over seeds`}. Held-out: mean alignment of greedy completions on pairs of unseen texts at each length (${pairsOf(lengths)}). Rewards and dead groups are means over the first and the last five steps.${smallerSteps(options)}

| stage | from | steps | reward | dead groups | ${lengths.map((words) => `held-out ${words}`).join(' | ')} |
|---|---|---|---|---|${lengths.map(() => '---|').join('')}
${[`| none | | | | | ${heldOut(({ base }) => base)} |`, ...jumpRows, ...stageRows].join('\n')}

The collapse watch's first warning during each jump:

${options.jumps.map((words) => verdictLine(stories, words)).join('\n')}

Empty cells weren't measured. Minutes of the whole table: ${stories.map(({ seed, backend, seconds }) => `${Math.round(seconds / 60)} for seed ${seed} (${backend})`).join(', ')}.${sessionsOf(stories)}

Weights: SHA-256 ${first.model_sha256}. Each seed's figures: \`docs/story/\`.
`;
}

/** Means of seeds that were measured in different ways would be means of nothing. */
function refuseMixed(first: Story, stories: readonly Story[]): void {
  for (const story of stories) {
    const difference = differenceBetween(first, story);
    if (difference !== null)
      throw new Error(
        `Expected all seeds to have the same weights and options, seed ${first.seed} and seed ${story.seed} differ in ${difference}. Measure one of them again or delete its file`,
      );
  }
}

/** What the watch said to the first seed in full, to the others only when. */
function verdictLine(stories: readonly Story[], words: number): string {
  const said = stories.flatMap(({ seed, options, jumps }, i) => {
    const jump = jumps.find((one) => one.words === words);
    if (jump === undefined) return [];
    const { steps, verdict } = jump;
    const earliest = firstFlatVerdict({ max_steps: steps, collapse_patience: options.collapse_patience });
    const why = earliest > steps ? `; a flat reward is only called flat from step ${earliest} on` : '';
    if (verdict === null) return [`seed ${seed} none in ${steps} steps${why}`];
    return [`seed ${seed} ${i === 0 ? `“${verdict}”` : verdict.replace(/:.*/, '')}`];
  });
  return `- to ${words} words: ${said.join(', ')}`;
}

/** Stages whose learning rate isn't that of the other runs. */
function otherRates({ stages, stage_learning_rates, learning_rate }: StoryConditions['options']): string {
  const rates = stages.map((words, i) => ({ words, rate: stage_learning_rates[i] ?? learning_rate }));
  const others = Map.groupBy(
    rates.filter(({ rate }) => rate !== learning_rate),
    ({ rate }) => rate,
  );
  if (others.size === 0) return '';
  const each = [...others].map(([rate, of]) => {
    const words = of.map((stage) => stage.words).join(', ');
    return `${rate} in the ${of.length === 1 ? 'stage' : 'stages'} of ${words} words`;
  });
  return ` (${each.join(', ')})`;
}

/** What was trained in which order where a seed took several sessions: interrupted, or with a new setting later. */
function sessionsOf(stories: readonly Story[]): string {
  const split = stories.flatMap(({ seed, stages, jumps }) => {
    const numbers = [...new Set([...stages, ...jumps].map(({ session }) => session))].sort((a, b) => a - b);
    const each = numbers.map((number) => {
      const inIt = (all: readonly Trained[]) => all.filter(({ session }) => session === number);
      return [...named(inIt(jumps), 'jump', 'to'), ...named(inIt(stages), 'stage', 'of')].join(' and ');
    });
    return each.length > 1 ? [`seed ${seed} (${each.join('; then ')})`] : [];
  });
  return split.length === 0 ? '' : ` Trained in several sessions: ${split.join(', ')}.`;
}

/** "jumps to 50, 100"; nothing of nothing. */
function named(runs: readonly Trained[], name: string, preposition: string): readonly string[] {
  const words = runs.map((run) => run.words).join(', ');
  return runs.length === 0 ? [] : [`${name}${runs.length === 1 ? '' : 's'} ${preposition} ${words}`];
}

function pairsOf(lengths: readonly string[]): string {
  const [usual, ...fewer] = [...new Set(lengths.map((words) => testPairs(Number(words))))];
  const at = (pairs: number) => lengths.filter((words) => testPairs(Number(words)) === pairs).join(' and ');
  return [`${usual} pairs`, ...fewer.map((pairs) => `${pairs} at ${at(pairs)} words`)].join('; ');
}

/** Which jumps sample less in a step than a stage does. */
function smallerSteps({ jumps, steps }: StoryConditions['options']): string {
  const smaller = jumps.flatMap((words) => {
    const { per_device_train_batch_size: completions } = jumpSettings(words, steps);
    return completions === undefined ? [] : [`${completions} completions at ${words} words`];
  });
  return smaller.length === 0
    ? ''
    : ` Jumps to long texts take fewer and smaller steps, as full ones would take hours: ${smaller.join(', ')}.`;
}

function cell(values: readonly number[]): string {
  if (values.length === 0) return '';
  const interval = tInterval(values);
  const mean = meanOf(values).toFixed(3);
  return interval === null ? mean : `${mean} ± ${(interval.high - interval.mean).toFixed(3)}`;
}

function ends(stories: readonly Story[], of: (story: Story) => readonly [number, number] | undefined): string {
  const end = (i: 0 | 1): string => meanOf(stories.flatMap((story) => of(story)?.[i] ?? [])).toFixed(2);
  return `${end(0)} → ${end(1)}`;
}
