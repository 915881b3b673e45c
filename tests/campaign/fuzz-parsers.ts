/** Random inputs for every parser: refused in words or read, each within seconds, without growing. */
import { Worker } from 'node:worker_threads';
import { hashString, randomStream } from '../../main/random.ts';
import { type Kind, type KindContext, SLOW_SECONDS } from './kind.ts';
import type { ParserNews, ParserWork } from './parser-worker.ts';
import { parserInput } from './parsers.ts';

const LOOK_MS = 100;
const MOST_GROWTH = 64 * 2 ** 20;

export const fuzzParsers: Kind = {
  ...{ name: 'parsers', share: 0.15, least: 10_000, leastShort: 3000 },
  run: async (context) => {
    const heaps: number[] = [];
    for (let first = 1; context.goesOn(); ) first = await workFrom(first, context, heaps);
    // The first inputs load every parser and its tables.
    const settled = heaps.slice(Math.ceil(heaps.length / 3));
    const growth = (settled.at(-1) ?? 0) - (settled[0] ?? 0);
    context.report.measured.heapGrowthMiB = Math.round(growth / 2 ** 20);
    if (growth > MOST_GROWTH) context.failed(0, `the heap grew by ${Math.round(growth / 2 ** 20)} MiB`, '');
  },
};

/** Works until the time is over or a try hangs; returns the number to continue from. */
async function workFrom(first: number, context: KindContext, heaps: number[]): Promise<number> {
  const at = new Int32Array(new SharedArrayBuffer(8));
  const work: ParserWork = { seed: context.seed, first, folder: context.folder, at };
  const worker = new Worker(new URL('parser-worker.ts', import.meta.url), { workerData: work });
  let failure: unknown = null;
  worker.on('error', (error) => {
    failure = error;
  });
  worker.on('message', (news: ParserNews) => {
    if (news.kind === 'heap') heaps.push(news.bytes);
    else context.failed(news.number, news.what, news.input);
  });
  const before = context.report.tries;
  let [seen, since] = [0, performance.now()];
  for (;;) {
    await new Promise((later) => setTimeout(later, LOOK_MS));
    const [number, count] = [Atomics.load(at, 0), Atomics.load(at, 1)];
    context.report.tries = before + count;
    if (count !== seen) [seen, since] = [count, performance.now()];
    const seconds = (performance.now() - since) / 1000;
    if (count > 0) context.report.slowest = Math.max(context.report.slowest, seconds);
    const hangs = count > 0 && seconds > SLOW_SECONDS;
    if (!hangs && failure === null && context.goesOn()) continue;
    await worker.terminate();
    if (!hangs && failure === null) return number + 1;
    const { parser, bytes } = parserInput(randomStream(context.seed, hashString('parsers'), number));
    const what = failure === null ? `no answer within ${SLOW_SECONDS} s` : `the thread died: ${String(failure)}`;
    context.failed(number, `${parser.name}: ${what}`, bytes.toString('latin1'));
    return number + 1;
  }
}
