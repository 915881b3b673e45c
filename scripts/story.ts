/**
 * The first seed's story on the bundled tiny model: from the same start, a jump to a far longer stage collapses, and
 * the curriculum reaches that stage step by step. Writes docs/story.md.
 *
 * node scripts/story.ts [--workspace DIR] [--steps N] [--seed S]; about 10 minutes on two cores.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutPaths } from '../main/commands/host-paths.ts';
import { readCorpus } from '../main/services/corpora.ts';
import { generateDataset, writeDataset } from '../main/services/datasets.ts';
import { evaluateModels } from '../main/services/evaluate.ts';
import { readPreset } from '../main/services/presets.ts';
import { startTraining } from '../main/services/training.ts';
import { openWorkspace } from '../main/services/workspace.ts';
import { openStore } from '../main/store/index.ts';
import { parseConfig } from '../main/trainer/config.ts';

const STAGES = [10, 25, 50];
const FAR = 50;
// A little below the sampling temperature of the demo: at 1 the tiny model's slips of the pen differ between completions,
// which hides that they all say the same thing.
const TEMPERATURE = 0.7;

const { values: options } = parseArgs({
  options: {
    workspace: { type: 'string' },
    steps: { type: 'string', default: '70' },
    seed: { type: 'string', default: '42' },
  },
});
const root = join(import.meta.dirname, '..');
const paths = checkoutPaths(root);
const seed = Number(options.seed);
const workspace = openWorkspace({ workspace: options.workspace ?? mkdtempSync(join(tmpdir(), 'braid-story-')) });
const store = openStore(workspace.database);
const texts = readCorpus(['source_texts', 'longer_texts'].map((name) => join(root, `datasets/${name}.json`)));
const datasets = new Map(STAGES.map((words) => [words, makeDataset(words)]));

interface Stage {
  readonly name: string;
  readonly words: number;
  readonly reward: readonly [first: number, last: number];
  readonly dead: readonly [first: number, last: number];
  readonly gradNorm: number;
  readonly warning: string | null;
  readonly checkpoint: string;
  readonly seconds: number;
  /** Held-out mean alignment at every stage's length. */
  readonly heldOut: readonly number[];
}

const base = await heldOut('tiny');
console.log(`base: ${base.map((x) => x.toFixed(3)).join(' ')}`);
const jump = await train(`jump to ${FAR}`, FAR, null);
const ladder: Stage[] = [];
for (const words of STAGES) ladder.push(await train(`stage ${words}`, words, ladder.at(-1)?.checkpoint ?? null));
writeFileSync(join(root, 'docs/story.md'), page());
store.close();

function makeDataset(words: number) {
  const made = generateDataset({ texts, words, seed, train: 512, test: 64 });
  if (made.kind === 'shortage') throw new Error(made.reason);
  return writeDataset(join(workspace.datasets, `${words}words.jsonl`), made);
}

async function train(name: string, words: number, from: string | null): Promise<Stage> {
  const began = performance.now();
  const fields = {
    ...readPreset('interleave-tiny', paths),
    max_steps: Number(options.steps),
    seed,
    temperature: TEMPERATURE,
  };
  const config = parseConfig({ ...fields, dataset: datasets.get(words)?.train, from_checkpoint: from }, 'story');
  const run = startTraining(store, config, { paths });
  const outcome = await run.outcome;
  if (outcome.error !== null || outcome.checkpoint === null) throw outcome.error ?? new Error('no checkpoint');
  const series = (metric: string): [number, number] => {
    const points = store.metrics.series(run.runId, metric).map(({ value }) => value);
    const mean = (part: readonly number[]): number => part.reduce((a, b) => a + b, 0) / part.length;
    return [mean(points.slice(0, 5)), mean(points.slice(-5))];
  };
  const warning = store.events.ofRun(run.runId).find(({ severity }) => severity === 'warning');
  const stage: Stage = {
    name,
    words,
    reward: series('reward'),
    dead: series('groups/dead'),
    gradNorm: series('grad_norm')[1],
    warning: warning === undefined ? null : `step ${warning.step}: ${warning.message}`,
    checkpoint: outcome.checkpoint,
    seconds: (performance.now() - began) / 1000,
    heldOut: await heldOut(outcome.checkpoint),
  };
  console.log(JSON.stringify(stage));
  return stage;
}

async function heldOut(folder: string): Promise<number[]> {
  const scores: number[] = [];
  for (const words of STAGES) {
    const { results } = await evaluateModels({
      models: [{ name: folder, folder }],
      dataset: datasets.get(words)?.test ?? '',
      paths,
    });
    scores.push(results[0]?.summary.mean_alignment ?? Number.NaN);
  }
  return scores;
}

function page(): string {
  const f = (x: number): string => x.toFixed(3);
  const percent = (x: number): string => `${Math.round(100 * x)} %`;
  const row = (name: string, from: string, s: Stage): string =>
    `| ${name} | ${from} | ${f(s.reward[0])} → ${f(s.reward[1])} | ${percent(s.dead[0])} → ${percent(s.dead[1])} | ${s.gradNorm.toPrecision(2)} | ${s.heldOut.map(f).join(' | ')} |`;
  return `# The story of the first seed, on the tiny model

Made by \`npm run story\` (seed ${seed}, ${options.steps} steps a stage, 8 prompts × 16 completions, full fine-tuning, learning rate 4e-4 falling to 0, temperature ${TEMPERATURE}, no KL). Held-out: mean alignment of greedy answers on 64 pairs of unseen texts at each length. Rewards, dead groups and gradient norms are means over the first and the last five steps; a dead group is one whose 16 rewards are all equal.

| stage | from | reward | dead groups | gradient norm, end | held-out ${STAGES.join(' | held-out ')} |
|---|---|---|---|---|${STAGES.map(() => '---|').join('')}
| none | | | | | ${base.map(f).join(' | ')} |
${row(`**jump to ${FAR} words**`, 'the base', jump)}
${ladder.map((s, i) => row(`${s.words} words`, i === 0 ? 'the base' : `${STAGES[i - 1]} words`, s)).join('\n')}

What the collapse watch said of the jump: ${jump.warning === null ? 'nothing.' : `“${jump.warning}”`}

The rows of the curriculum show what an earlier length keeps as the next is learned (the forgetting check): read them along. The whole took ${Math.round((jump.seconds + ladder.reduce((sum, s) => sum + s.seconds, 0)) / 60)} minutes.
`;
}
