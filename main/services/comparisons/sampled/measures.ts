/** Metrics of n completions of one prompt: the rows of a comparison. */
import type { Completed } from '../../../samples/completion.ts';
import { replyRewards } from '../../../tasks/reply/reward.ts';
import type { TaskFacts, TaskMetrics } from '../../../tasks/task.ts';
import { selfBleu } from '../../../text/bleu.ts';
import { ngramSets, setDiversity } from '../../../text/diversity.ts';
import { reaches } from '../../../text/intervals.ts';
import { passAtK } from '../../../text/pass-at-k.ts';
import { distinctN } from '../../../text/repetition.ts';
import { sourceWords } from '../../../text/source-words.ts';
import { nanStats } from '../../../trainer/advantages/advantages.ts';
import type { Direction, MeasureInfo } from '../../text-worker/comparison-table.ts';

export interface MeasureOptions {
  /** `interleave`, `reply`, or the name of a folder's task. */
  readonly task: string;
  /** What the task's completions are measured by, where it is a folder's. */
  readonly measures?: readonly string[];
  /** Of those whose direction is known, which is better. */
  readonly better?: Readonly<Record<string, Direction>>;
  /** Completions per prompt. */
  readonly samples: number;
  /** The k of pass@k; none above `samples`. */
  readonly k: readonly number[];
  /** A completion passes when its main metric reaches this. */
  readonly threshold: number;
}

/** Default pass thresholds: a good reward, a good alignment. */
export const passThresholds = { reply: 0.7, interleave: 0.9 } as const;

/** The rows of a comparison, in order. */
export function measuresOf({
  task,
  measures,
  better = {},
  k,
  threshold,
  samples,
}: MeasureOptions): readonly MeasureInfo[] {
  const main: MeasureInfo[] = measures
    ? measures.map((name) => ({ name, label: capital(name), better: better[name] ?? null }))
    : task === 'reply'
      ? [
          { name: 'reward', label: 'Reward', better: 'higher' },
          ...replyRewards.map((name) => ({ name, label: capital(name), better: 'higher' as const })),
          { name: 'reference_overlap', label: 'Overlap with the human reply', better: 'higher' },
        ]
      : [
          { name: 'alignment', label: 'Alignment', better: 'higher' },
          { name: 'exact_match', label: 'Exact match', better: 'higher' },
        ];
  const several: MeasureInfo[] =
    samples < 2
      ? []
      : [
          { name: 'self_bleu', label: 'Self-BLEU', better: 'lower' },
          { name: 'set_diversity', label: 'Diversity of the set, D', better: 'higher' },
        ];
  return [
    ...k.map((value) => ({
      name: `pass@${value}`,
      label: `Pass@${value} (from ${threshold})`,
      better: 'higher' as const,
    })),
    ...main,
    ...several,
    { name: 'distinct_1', label: 'Distinct-1', better: 'higher' },
    { name: 'distinct_2', label: 'Distinct-2', better: 'higher' },
    { name: 'words', label: 'Words', better: null },
  ];
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** All metrics of one prompt's completions, by name; `each`: what the task measured, of each. */
export function measurePrompt(
  { mainMetric }: Pick<TaskFacts, 'mainMetric'>,
  completions: readonly Pick<Completed, 'completion'>[],
  each: readonly TaskMetrics[],
  { k, threshold }: MeasureOptions,
): Readonly<Record<string, number>> {
  const texts = completions.map(({ completion }) => completion);
  const words = texts.map(sourceWords);
  const passed = each.filter((measures) => reaches(measures[mainMetric] ?? 0, threshold)).length;
  // Of those that have it: one failed reward must not take the prompt out of the table.
  const mean = (name: string): number => nanStats(each.map((measures) => measures[name] ?? Number.NaN)).mean;
  return {
    ...Object.fromEntries(k.map((value) => [`pass@${value}`, passAtK(completions.length, passed, value)])),
    ...Object.fromEntries(Object.keys(each[0] ?? {}).map((name) => [name, mean(name)])),
    self_bleu: selfBleu(words),
    set_diversity: setDiversity(texts.map(ngramSets)),
    distinct_1: distinctN(words, 1),
    distinct_2: distinctN(words, 2),
    words: words.reduce((sum, list) => sum + list.length, 0) / words.length,
  };
}
