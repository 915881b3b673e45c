/**
 * How well the model combines prose that it never sees in training.
 * `node scripts/tiny-model/measure.ts [DIR] [--lengths 10,25,50,100,200] [--pairs 24] [--seed 1] [--backend B]`
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generate } from '../../main/model/generate.ts';
import { loadModel } from '../../main/model/load.ts';
import { disposeModel } from '../../main/model/model.ts';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import { generateDataset } from '../../main/services/datasets/index.ts';
import { bundledTextFiles } from '../../main/services/texts/bundled.ts';
import { readCorpus } from '../../main/services/texts/index.ts';
import type { InterleaveRecord } from '../../main/tasks/interleave/record.ts';
import { alignmentReward } from '../../main/tasks/interleave/reward.ts';
import { openBackend } from '../../main/trainer/backend/open-backend.ts';
import { parseConfig } from '../../main/trainer/config/config.ts';
import { EOS, TAGS } from './tokenizer.ts';

const root = join(import.meta.dirname, '../..');

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    lengths: { type: 'string', default: '10,25,50,100,200' },
    pairs: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
    backend: { type: 'string', default: 'auto' },
  },
});
const folder = positionals[0] ?? join(root, 'resources/models/tiny');
const { backend: wanted } = parseConfig({ backend: options.backend });
const backend = await openBackend({ backend: wanted, threads: 0, kernelsFile: join(root, 'out/kernels/kernels.wasm') });
const model = loadModel(folder, 4096);
const tokenizer = loadTokenizer(folder);
const texts = readCorpus(bundledTextFiles(join(root, 'datasets')));
for (const words of options.lengths.split(',').map(Number)) {
  const made = generateDataset({ texts, words, train: Number(options.pairs), test: 8, seed: Number(options.seed) });
  if (made.kind !== 'dataset') throw new Error(`Too few texts for ${words} words`);
  const [tagged, plain] = [align(made.train, TAGS.interleave), align(made.train, null)];
  console.log(`${words} words: ${tagged} told by the tag, ${plain} untold`);
}
disposeModel(model);
await backend.close();

/** Mean alignment of greedy answers with the interleaving. */
function align(records: readonly InterleaveRecord[], tag: number | null): string {
  const longest = Math.max(...records.map(({ target }) => tokenizer.encode(target).length));
  const prompts = records.map(({ prompt }) => {
    const ids = tokenizer.encode(prompt);
    return tag === null ? ids : [...ids.slice(0, -1), tag];
  });
  const completions = generate(model, null, prompts, {
    numGenerations: 1,
    maxNewTokens: longest + 8,
    eosTokenIds: [EOS],
    temperature: 0,
    topK: 0,
    topP: 1,
    minP: null,
    repetitionPenalty: 1,
    coordinates: [0],
  });
  const scores = records.map(({ target }, i) => alignmentReward(target, tokenizer.decode(completions[i]?.ids ?? [])));
  return (scores.reduce((a, b) => a + b, 0) / scores.length).toFixed(3);
}
