/** Random inputs for every parser: refused in words or read, each within seconds, without growing. */
import { Worker } from 'node:worker_threads';
import { hashString, randomStream } from '../../main/random.ts';
import type { Kind, KindContext } from './kind.ts';
import type { ParserNews, ParserWork } from './parser-worker.ts';
import { parserInput, parsers } from './parsers.ts';

const LOOK_MS = 100;
const MOST_GROWTH = 64 * 2 ** 20;
/** A slow answer is measured a second time; what takes longer than this never comes. */
const HANG_SECONDS = 15;
/** Inputs that nobody reads past their first line test nothing: so many in a hundred, of those with values of their own. */
const LEAST_READ = 25;
const ENOUGH_TRIES = 60;

export const fuzzParsers: Kind = {
  name: 'parsers',
  share: 0.15,
  least: 10_000,
  leastShort: 3000,
  run: async (context) => {
    const heaps: number[] = [];
    const counts = new Int32Array(new SharedArrayBuffer(8 * parsers.length));
    for (let first = 1; context.goesOn(); ) first = await workFrom(first, context, { heaps, counts });
    checkReadable(context, counts);
    // The first inputs load every parser and its tables.
    const settled = heaps.slice(Math.ceil(heaps.length / 3));
    const growth = (settled.at(-1) ?? 0) - (settled[0] ?? 0);
    context.report.measured.heapGrowthMiB = Math.round(growth / 2 ** 20);
    if (growth > MOST_GROWTH) context.failed(0, `the heap grew by ${Math.round(growth / 2 ** 20)} MiB`, '');
  },
};

/** Reports how many inputs each parser read, and fails where the mutations are refused at the door. */
function checkReadable(context: KindContext, counts: Int32Array): void {
  for (const [i, { name, mutate }] of parsers.entries()) {
    const [tries = 0, read = 0] = counts.subarray(2 * i);
    if (mutate === undefined || tries < ENOUGH_TRIES) continue;
    const percent = Math.round((100 * read) / tries);
    context.report.measured[`readPercent ${name}`] = percent;
    if (percent < LEAST_READ) context.failed(0, `${name}: only ${percent} of 100 inputs are read`, '');
  }
}

interface Seen {
  readonly heaps: number[];
  readonly counts: Int32Array<SharedArrayBuffer>;
}

/** Works until the time is over or a try hangs; returns the number to continue from. */
async function workFrom(first: number, context: KindContext, { heaps, counts }: Seen): Promise<number> {
  const at = new Int32Array(new SharedArrayBuffer(8));
  const work: ParserWork = { seed: context.seed, first, folder: context.folder, at, counts };
  const worker = new Worker(new URL('parser-worker.ts', import.meta.url), { workerData: work });
  let failure: unknown = null;
  worker.on('error', (error) => {
    failure = error;
  });
  worker.on('message', (news: ParserNews) => {
    if (news.kind === 'heap') heaps.push(news.bytes);
    else if (news.kind === 'slowest') context.report.slowest = Math.max(context.report.slowest, news.seconds);
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
    const hangs = count > 0 && seconds > HANG_SECONDS;
    if (!hangs && failure === null && context.goesOn()) continue;
    await worker.terminate();
    if (!hangs && failure === null) return number + 1;
    const { parser, bytes } = parserInput(number, randomStream(context.seed, hashString('parsers'), number));
    const what = failure === null ? `no answer within ${HANG_SECONDS} s` : `the thread died: ${String(failure)}`;
    context.failed(number, `${parser.name}: ${what}`, bytes.toString('latin1'));
    return number + 1;
  }
}
