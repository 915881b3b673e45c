/**
 * How a GRPO step's time and memory grow with words, group size and model width: Markdown tables for
 * docs/performance.md. `node scripts/bench/scaling.ts`; about ten minutes on two otherwise idle cores.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { parseModelConfig, readJson } from '../../main/model/config.ts';
import { encodeModel } from '../../main/model/export.ts';
import { randomModel } from '../../main/model/load.ts';
import { disposeModel } from '../../main/model/model.ts';
import { type BenchReport, benchModel } from '../../main/services/training/bench.ts';
import { openBackend } from '../../main/trainer/backend/open-backend.ts';

const root = join(import.meta.dirname, '../..');
const paths = checkoutPaths(root);
const tiny = join(paths.resources, 'models/tiny');

interface Case {
  readonly model: string;
  readonly prompts: number;
  readonly group: number;
  readonly words: number;
  readonly steps: number;
}

const BASE: Case = { model: tiny, prompts: 2, group: 8, words: 10, steps: 5 };

await table('words', [10, 25, 50, 100, 200, 500], (words) => ({ ...BASE, words, steps: words >= 200 ? 2 : 5 }));
await table('group size', [4, 8, 16, 32], (group) => ({ ...BASE, group }));
const widths = await modelsByWidth([64, 128, 256, 512]);
await table('width', [...widths.keys()], (width) => ({ ...BASE, model: widths.get(width) ?? tiny }));

async function table(name: string, values: readonly number[], toCase: (value: number) => Case): Promise<void> {
  const rows: string[] = [];
  for (const value of values) rows.push(row(value, await measure(toCase(value))));
  console.log(
    `\n| ${name} | s per step | rollout | loss | tokens per step | peak MiB |\n|---|---|---|---|---|---|\n${rows.join('\n')}`,
  );
}

function measure({ model, prompts, group, words, steps }: Case): Promise<BenchReport> {
  return benchModel({
    model,
    prompts,
    group,
    words,
    mode: 'full',
    beta: 0,
    baseWeights: 'auto',
    computeDtype: 'float32',
    steps,
    warmup: 1,
    roofline: false,
    paths,
    seed: 42,
    backend: 'auto',
    threads: 0,
  });
}

function row(value: number, { median_s, phases, tokens_per_s, peak_memory_mb }: BenchReport): string {
  const [rollout, loss] = [phases.rollout ?? 0, phases.loss ?? 0];
  const tokens = Math.round(tokens_per_s * median_s);
  return `| ${value} | ${median_s.toPrecision(3)} | ${rollout.toPrecision(3)} | ${loss.toPrecision(3)} | ${tokens} | ${Math.round(peak_memory_mb)} |`;
}

/** Random models that differ from the tiny one in width only. */
async function modelsByWidth(all: readonly number[]): Promise<Map<number, string>> {
  const backend = await openBackend({ backend: 'wasm', threads: 1, kernelsFile: paths.kernels });
  const base = readJson(join(tiny, 'config.json')) as Record<string, unknown>;
  const folders = new Map<number, string>();
  for (const width of all) {
    const folder = join(root, 'out/bench-models', `width-${width}`);
    mkdirSync(folder, { recursive: true });
    const config = {
      ...base,
      hidden_size: width,
      intermediate_size: 2 * width,
      head_dim: 32,
      num_attention_heads: width / 32,
      num_key_value_heads: width / 32,
    };
    const model = randomModel(parseModelConfig(config, folder), 1, 8);
    for (const [name, content] of Object.entries(encodeModel(model, { baseConfig: config })))
      writeFileSync(join(folder, name), content);
    for (const name of ['tokenizer.json', 'tokenizer_config.json']) copyFileSync(join(tiny, name), join(folder, name));
    disposeModel(model);
    folders.set(width, folder);
  }
  await backend.close();
  return folders;
}
