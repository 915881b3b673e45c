/** A report of the four methods for tests, written as a real comparison is, with made-up replies. */
import { join } from 'node:path';
import { randomStream } from '../../../main/random.ts';
import { measuresOf } from '../../../main/services/comparisons/sampled/measures.ts';
import { writeComparison } from '../../../main/services/comparisons/sampled/write.ts';
import { remember } from '../../../main/services/replies/stored-state.ts';
import { comparisonTable } from '../../../main/services/text-worker/comparison-table.ts';
import { toStoredPath } from '../../../main/services/workspace/workspace.ts';
import type { Store } from '../../../main/store/index.ts';
import type { MadeAnswers } from './made-answers.ts';

/** Mean reward by method. */
export type Levels = Readonly<Record<string, number>>;

export const fourMethods: Levels = {
  baseline: 0.5,
  polychromic: 0.52,
  grpo_from_baseline: 0.66,
  polychromic_grpo: 0.65,
};

const options = { task: 'reply', samples: 4, k: [1, 2, 4], threshold: 0.7 };
export const POSTS = 24;

interface ReportOptions {
  readonly resources: string;
  readonly dataset: string;
  readonly levels?: Levels;
  /** One method's replies to every post. */
  readonly answersOf?: (method: string, posts: number) => readonly MadeAnswers[];
}

/** Replies that name their place. */
function numbered(method: string, posts: number): readonly MadeAnswers[] {
  return Array.from({ length: posts }, (_, i) => ({
    ...{ id: `r${i}`, prompt: `post number ${i}` },
    completions: Array.from({ length: options.samples }, (_, k) => `reply ${k} of ${method} to post ${i}`),
  }));
}

/** Writes it into the workspace's outputs, and makes it the newest. */
export async function makeReport(
  store: Store,
  { resources, dataset, levels = fourMethods, answersOf = numbered }: ReportOptions,
): Promise<string> {
  const measures = measuresOf(options);
  const models = Object.entries(levels).map(([name, level], m) => {
    const random = randomStream(7, m).next;
    const prompts = Array.from({ length: POSTS }, () =>
      Object.fromEntries(
        measures.map((measure) => {
          const value = Math.min(1, Math.max(0, level + 0.08 * (random() - 0.5)));
          return [measure.name, measure.name === 'words' ? 12 : measure.better === 'lower' ? 1 - value : value];
        }),
      ),
    );
    const answers = answersOf(name, POSTS).map((answer) => ({ ...answer, target: null }));
    const history = Array.from({ length: 30 }, (_, step) => ({
      step: step + 1,
      reward: level * (0.7 + step / 100),
      loss: 0.01,
      kl: 0.002 * step,
      'completions/diversity': 0.6,
    }));
    const norms = [0, 1].map((layer) => ({ layer, module: 'q_proj', norm: 0.1 + layer + m / 10 }));
    return { name, askedAs: null, prompts, answers, terminated: 1, norms, history, seconds: 1 };
  });
  const folder = join(store.folder, 'outputs', 'replies-made');
  await writeComparison(
    {
      options: { ...options, temperature: 1, max_completion_length: 44, seed: 7 },
      ...{
        dataset,
        prompts: POSTS,
        backend: 'wasm',
        models,
        rows: comparisonTable({ models, measures, seed: 7 }),
        rewardCost: null,
        relevanceModel: null,
      },
    },
    folder,
    { resources },
  );
  remember(store, { report: { folder: toStoredPath(store.folder, folder), at: Date.now() } });
  return folder;
}
