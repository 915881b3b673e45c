/**
 * A sentence encoder here and by PyTorch, in turns: milliseconds a text, one at a time and all at once there (in batches
 * of 32, sorted by length, as sentence-transformers does), and the largest difference of the vectors.
 *
 * node scripts/bench/encoder.ts MODEL_DIR --python PYTHON [--backend wasm,native] [--rounds 5] [--threads 2] [--cpu-clock]
 *
 * MODEL_DIR is a folder such as all-MiniLM-L6-v2's; PYTHON an interpreter with torch and transformers. The texts are the
 * posts and replies of the bundled sample's held-out part, then the bundled corpus cut to 100 words each. `--cpu-clock`
 * counts CPU time instead, for a busy machine; on one thread it is what an idle one takes.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { loadSentenceEncoder } from '../../main/model/encoder/sentence-encoder.ts';
import { openBackend } from '../../main/trainer/backend/open-backend.ts';
import type { TrainConfig } from '../../main/trainer/config/config.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: 'string', default: 'python3' },
    backend: { type: 'string', default: 'wasm,native' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: '2' },
    'cpu-clock': { type: 'boolean', default: false },
  },
});
const [folder = ''] = positionals;
const root = join(import.meta.dirname, '../..');
const paths = checkoutPaths(root);
const threads = Number(options.threads);
/** Texts that PyTorch gets one at a time. */
const SINGLES = 16;

const replies = readFileSync(join(paths.datasets, 'sample_replies.test.jsonl'), 'utf8').trim().split('\n');
const corpus = JSON.parse(readFileSync(join(paths.datasets, 'source_texts.json'), 'utf8')) as { text: string }[];
const sets = {
  'posts and replies': replies.flatMap((line) => {
    const { post, reply } = JSON.parse(line) as { post: string; reply: string };
    return [post, reply];
  }),
  'texts of 100 words': corpus.map(({ text }) => text.split(/\s+/).slice(0, 100).join(' ')),
};

/** Answers each line, a JSON array of whether to batch and the texts, with seconds and vectors. */
const PEER = `
import json, sys, time, torch
from transformers import AutoModel, AutoTokenizer
torch.set_num_threads(${threads})
clock = time.${options['cpu-clock'] ? 'process_time' : 'perf_counter'}
tokenizer, model = AutoTokenizer.from_pretrained(sys.argv[1]), AutoModel.from_pretrained(sys.argv[1]).eval()
@torch.no_grad()
def encode(texts):
    batch = tokenizer(texts, padding=True, truncation=True, max_length=256, return_tensors="pt")
    mask = batch["attention_mask"].unsqueeze(-1).float()
    mean = (model(**batch).last_hidden_state * mask).sum(1) / mask.sum(1)
    return torch.nn.functional.normalize(mean)
for line in sys.stdin:
    size, texts = json.loads(line)
    order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
    began = clock()
    vectors = torch.cat([encode([texts[i] for i in order[at:at + size]]) for at in range(0, len(texts), size)])
    seconds = clock() - began
    print(json.dumps([seconds, [v for _, v in sorted(zip(order, vectors.tolist()))]]), flush=True)
`;
const peer = spawn(options.python, ['-c', PEER, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
const answers = createInterface({ input: peer.stdout })[Symbol.asyncIterator]();

async function byTorch(size: number, texts: readonly string[]): Promise<readonly [number, readonly number[][]]> {
  peer.stdin.write(`${JSON.stringify([size, texts])}\n`);
  const { value } = await answers.next();
  return JSON.parse(value as string) as [number, number[][]];
}

/** Seconds. */
const clock = (): number => {
  const { user, system } = process.cpuUsage();
  return options['cpu-clock'] ? (user + system) / 1e6 : performance.now() / 1000;
};

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

for (const name of options.backend.split(',')) {
  const setting = name as TrainConfig['backend'];
  const backend = await openBackend({ backend: setting, threads, kernelsFile: paths.kernels });
  const encoder = loadSentenceEncoder(folder);
  for (const [set, texts] of Object.entries(sets)) {
    const rows: { ours: number; batched: number; single: number }[] = [];
    let difference = 0;
    // The first round warms up.
    for (let round = 0; round <= Number(options.rounds); round++) {
      const began = clock();
      const vectors = encoder.encode(texts);
      const ours = clock() - began;
      const [batched, theirs] = await byTorch(32, texts);
      const [single] = await byTorch(1, texts.slice(0, SINGLES));
      for (const [i, vector] of vectors.entries())
        for (const [d, value] of vector.entries())
          difference = Math.max(difference, Math.abs(value - (theirs[i]?.[d] ?? Number.NaN)));
      if (round > 0) rows.push({ ours, batched, single });
    }
    const ms = (key: 'ours' | 'batched' | 'single', count = texts.length): string =>
      ((1000 * median(rows.map((row) => row[key]))) / count).toFixed(1);
    const ratios = rows.map(({ ours, batched }) => ours / batched).sort((a, b) => a - b);
    const [low = 0, high = 0] = [ratios[0], ratios.at(-1)];
    console.log(
      `${backend.name}, ${texts.length} ${set}: ${ms('ours')} ms a text; PyTorch ${ms('single', SINGLES)} one at a time, ${ms('batched')} in batches; ratio ${median(ratios).toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)}); difference ${difference.toExponential(1)}`,
    );
  }
  encoder.dispose();
  await backend.close();
}
peer.stdin.end();
