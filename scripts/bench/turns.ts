/**
 * Completions of several turns beside the same tokens in one turn, in turns: seconds of each and their ratio.
 *
 * node scripts/bench/turns.ts MODEL_DIR [--backend wasm] [--threads 2] [--prompts 2] [--group 4] [--turns 4]
 *   [--own 24] [--answer 16] [--wait MS] [--rounds 5] [--uneven] [--rank 0] [--cpu-clock]
 *
 * In one turn it writes as many tokens as it writes and reads in several, answers among them, at the same lengths by row.
 * The model writes `--own` tokens a turn, and somebody answers each turn but the last with `--answer` tokens: at once, or
 * with `--wait` so many milliseconds later. `--uneven`: turns of half to one and a half times as many tokens, by row and
 * turn. `--rank`: of an adapter. `--cpu-clock` counts CPU time instead, for a busy machine.
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { loadModel } from '../../main/model/load.ts';
import { createAdapter, ownTargets } from '../../main/model/lora.ts';
import { UNFILTERED } from '../../main/model/sampler.ts';
import type { EndedTurn } from '../../main/model/turns.ts';
import { hash32 } from '../../main/random.ts';
import { openBackend } from '../../main/trainer/backend/open-backend.ts';
import type { TrainConfig } from '../../main/trainer/config/config.ts';
import { sampleWithin } from '../../main/trainer/memory/generate-within.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    backend: { type: 'string', default: 'wasm' },
    threads: { type: 'string', default: '2' },
    prompts: { type: 'string', default: '2' },
    group: { type: 'string', default: '4' },
    turns: { type: 'string', default: '4' },
    own: { type: 'string', default: '24' },
    answer: { type: 'string', default: '16' },
    wait: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    rank: { type: 'string', default: '0' },
    'cpu-clock': { type: 'boolean', default: false },
    uneven: { type: 'boolean', default: false },
  },
});

const [folder = ''] = positionals;
const number = (name: 'prompts' | 'group' | 'turns' | 'own' | 'answer' | 'rounds' | 'rank' | 'threads') =>
  Number(options[name]);
const [prompts, group, turns, own, answered] = [
  number('prompts'),
  number('group'),
  number('turns'),
  number('own'),
  number('answer'),
];
const paths = checkoutPaths(join(import.meta.dirname, '../..'));
const setting = options.backend as TrainConfig['backend'];
const backend = await openBackend({ backend: setting, threads: number('threads'), kernelsFile: paths.kernels });
const model = loadModel(folder, 2048);
const TARGETS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
const lora = { r: number('rank'), alpha: 2 * number('rank'), targetModules: ownTargets(model, TARGETS) };
const adapter = lora.r === 0 ? null : createAdapter(model, { ...lora, useRslora: false }, 1);

const { vocabSize } = model.config;
const token = (...at: readonly number[]): number => 10 + (hash32(...at) % (vocabSize - 10));
const ids = Array.from({ length: prompts }, (_, p) => Array.from({ length: 96 }, (_, i) => token(p, i)));
/** Tokens of a row's turn. */
const lengthOf = (row: number, turn: number): number =>
  options.uneven ? Math.floor(own / 2) + (hash32(row, turn, 7) % (own + 1)) : own;
/** Tokens of a row in all. */
const tokensOf = (row: number): number =>
  Array.from({ length: turns }, (_, turn) => lengthOf(row, turn)).reduce((sum, n) => sum + n) + (turns - 1) * answered;
const rows = prompts * group;
const most = Math.max(...Array.from({ length: rows }, (_, row) => tokensOf(row)));

const plain = { numGenerations: group, maxNewTokens: most, eosTokenIds: [], coordinates: [1], temperature: 1 };

/** Ends sequences, which come in the order of their rows, at lengths that change. */
function endingAt(endOf: (row: number) => number) {
  const rowOf = new Map<readonly number[], number>();
  return (_: readonly number[], sequence: readonly number[]): boolean => {
    const row = rowOf.get(sequence) ?? rowOf.size;
    rowOf.set(sequence, row);
    return sequence.length >= endOf(row);
  };
}

const sample = async (more: Partial<Parameters<typeof sampleWithin>[3]>): Promise<number> => {
  const completions = await sampleWithin({ model, adapter }, ids, 4096, { ...plain, ...UNFILTERED, ...more });
  return completions.reduce((sum, { ids: one }) => sum + one.length, 0);
};

const inOneTurn = (): Promise<number> => sample({ stops: endingAt(tokensOf) });

function inTurns(): Promise<number> {
  const ends = Array.from({ length: rows }, (_, row) => lengthOf(row, 0));
  const answerTo = ({ completion, turn }: EndedTurn): readonly number[] | null => {
    if (turn + 1 === turns) return null;
    ends[completion] = (ends[completion] ?? 0) + answered + lengthOf(completion, turn + 1);
    return Array.from({ length: answered }, (_, i) => token(completion, turn, i));
  };
  const { wait } = options;
  const answer = (ended: readonly EndedTurn[]) =>
    ended.map((one) => {
      const given = answerTo(one);
      return wait === undefined || given === null ? given : setTimeout(Number(wait), given);
    });
  const turnTaking = { maxTurnTokens: most, later: wait !== undefined, answer };
  return sample({ stops: endingAt((row) => ends[row] ?? 0), turns: turnTaking });
}

/** Seconds. */
const clock = (): number => {
  const { user, system } = process.cpuUsage();
  return options['cpu-clock'] ? (user + system) / 1e6 : performance.now() / 1000;
};
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const seconds: { readonly one: number[]; readonly several: number[] } = { one: [], several: [] };
for (let round = 0; round <= number('rounds'); round++) {
  for (const [name, run] of [
    ['one', inOneTurn],
    ['several', inTurns],
  ] as const) {
    const began = clock();
    const tokens = await run();
    // The first warms up.
    if (round > 0) seconds[name].push(clock() - began);
    else console.log(`${name}: ${tokens} tokens`);
  }
}
const ratios = seconds.several.map((time, i) => time / (seconds.one[i] ?? Number.NaN));
console.log(
  `${backend.name}, ${rows} rows, ${turns} turns of ${own}${options.uneven ? ' on average' : ''} and answers of ${answered} tokens: ` +
    `one turn ${median(seconds.one).toFixed(2)} s, several ${median(seconds.several).toFixed(2)} s, ratio ${median(ratios).toFixed(2)}`,
);
await backend.close();
