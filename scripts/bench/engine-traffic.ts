/**
 * What a step on a remote engine sends and receives: bytes as JSON and gzipped, and the seconds that this side needs to
 * write and read them. Made with the bodies that the engine sends, random ids and log-probabilities; no server is asked.
 * `node scripts/bench/engine-traffic.ts [--prompts 1,8,64] [--generations 16] [--prompt 1420] [--completion 1360]`
 */
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { randomStream } from '../../main/random.ts';
import { datum, wireTokens } from '../../main/trainer/tinker/wire.ts';

const { values } = parseArgs({
  options: {
    prompts: { type: 'string', default: '1,8,64' },
    generations: { type: 'string', default: '16' },
    // Two texts of 500 words at 1.36 tokens a word, and the instruction; the completion interleaves both.
    prompt: { type: 'string', default: '1420' },
    completion: { type: 'string', default: '1360' },
  },
});
const [generations, promptTokens, completionTokens] = [values.generations, values.prompt, values.completion].map(
  Number,
) as [number, number, number];
const VOCABULARY = 128_256;

const numbers = randomStream(42, 0, 0);
const ids = (count: number): number[] => Array.from({ length: count }, () => Math.floor(numbers.next() * VOCABULARY));
const logs = (count: number): number[] =>
  Array.from({ length: count }, () => Math.fround(Math.log(numbers.next() + 1e-6)));

console.log('| prompts a step | body | MB as JSON | MB gzipped | s to write | s to read |');
console.log('|---:|---|---:|---:|---:|---:|');
for (const prompts of values.prompts.split(',').map(Number)) {
  const groups = Array.from({ length: prompts }, () => ({
    promptIds: ids(promptTokens),
    completions: Array.from({ length: generations }, () => ids(completionTokens)),
  }));
  const rows = groups.flatMap(({ promptIds, completions }) => completions.map((own) => ({ promptIds, own })));
  const bodies: readonly (readonly [name: string, body: () => unknown])[] = [
    [
      'sampling, sent',
      () => groups.map(({ promptIds }) => ({ prompt: wireTokens(promptIds), num_samples: generations })),
    ],
    [
      'sampling, received',
      () => rows.map(({ own }) => ({ tokens: own, logprobs: logs(own.length), stop_reason: 'stop' })),
    ],
    ['forward and backward, sent', () => rows.map(({ promptIds, own }) => datum(promptIds, own, logs(own.length)))],
    [
      'forward and backward, received',
      () => rows.map(() => ({ logprobs: { data: logs(promptTokens + completionTokens - 1) } })),
    ],
  ];
  for (const [name, make] of bodies) {
    const body = make();
    const [text, writing] = timed(() => JSON.stringify(body));
    const [, reading] = timed(() => JSON.parse(text) as unknown);
    const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(2);
    const cells = [prompts, name, megabytes(text.length), megabytes(gzipSync(text).length)];
    console.log(`| ${[...cells, writing.toFixed(3), reading.toFixed(3)].join(' | ')} |`);
  }
}

function timed<T>(work: () => T): readonly [T, number] {
  const began = performance.now();
  const value = work();
  return [value, (performance.now() - began) / 1000];
}
