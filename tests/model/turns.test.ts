/** Completions of several turns: what is kept between them, and what somebody else's tokens change. */
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forward } from '../../main/model/decoder.ts';
import { type GenerateOptions, generate } from '../../main/model/generate.ts';
import { loadModel } from '../../main/model/load.ts';
import { disposeModel, type Model } from '../../main/model/model.ts';
import { UNFILTERED } from '../../main/model/sampler.ts';
import { packedSequences } from '../../main/model/sequences.ts';
import type { EndedTurn } from '../../main/model/turns.ts';
import type { Completion } from '../../main/samples/completion.ts';
import { openTestBackends, tensorsLeft } from '../backends.ts';
import { tinyModel } from './tiny.ts';

const PROMPTS = [[5, 9, 33], [7], [60, 61, 62, 63, 64, 65, 66]];

/** Answers of different lengths by row; the second prompt's rows end after one turn, the others after three. */
function answer(ended: readonly EndedTurn[]): (number[] | null)[] {
  return ended.map(({ completion, turn }) => {
    const prompt = Math.floor(completion / 2);
    if (prompt === 1 || turn === 2) return null;
    return Array.from({ length: 1 + prompt + turn }, (_, i) => 40 + turn * 5 + i);
  });
}

const IN_TURNS: GenerateOptions = {
  numGenerations: 2,
  maxNewTokens: 24,
  eosTokenIds: [],
  coordinates: [1, 2],
  temperature: 1,
  ...UNFILTERED,
  turns: { maxTurnTokens: 4, answer },
};

/** The most likely token after each token of a sequence, read whole. */
function likely(model: Model, ids: readonly number[]): number[] {
  return tf.tidy(() => {
    const batch = { ids: tf.tensor1d([...ids], 'int32'), positions: tf.tensor1d([...ids.keys()], 'int32') };
    const segments = tf.tensor2d([[0, ids.length, 0, 0]], [1, 4], 'int32');
    const hidden = forward(model, batch, null, packedSequences(model.config, segments));
    return Array.from(tf.argMax(tf.matMul(hidden, model.head.value, false, true), 1).dataSync());
  });
}

/** Models whose layers keep keys and values, and those that keep states too. */
const MODELS = [
  { kind: 'attention', load: tinyModel },
  ...['lfm2', 'qwen3.5'].map((kind) => ({
    kind,
    load: () => loadModel(fileURLToPath(new URL(`../parity/fixtures/families/${kind}`, import.meta.url)), 64),
  })),
];
const backends = await openTestBackends();
const cases = MODELS.flatMap((model) =>
  // Of the portable backend and a slow one, attention is enough.
  backends
    .filter(({ name, slow }) => model.kind === 'attention' || (!slow && name !== 'cpu'))
    .map((backend) => ({ ...model, backend, name: backend.name })),
);

describe.each(cases)('generate in turns on $name with $kind', ({ backend, load }) => {
  let model: Model;
  beforeAll(async () => {
    await backend.use();
    model = load();
  });
  afterAll(() => disposeModel(model));
  const run = (options: Partial<GenerateOptions> = {}): Completion[] =>
    generate(model, null, PROMPTS, { ...IN_TURNS, ...options });

  it('picks, greedily, what a full forward pass over prompt, turns and answers picks', () => {
    run({ temperature: 0 }).forEach(({ ids, toolMask = [] }, row) => {
      const prompt = PROMPTS[Math.floor(row / 2)] ?? [];
      const picked = likely(model, [...prompt, ...ids]).slice(prompt.length - 1);
      for (const [i, id] of ids.entries()) if (toolMask[i] === 1) expect(id).toBe(picked[i]);
      // Four tokens a turn; answers of 1 + prompt + turn tokens between them.
      const answers = [[1, 2], [], [3, 4]][Math.floor(row / 2)] ?? [];
      const expected = answers.flatMap((n) => [1, 1, 1, 1, ...Array<number>(n).fill(0)]);
      expect(toolMask).toEqual([...expected, 1, 1, 1, 1]);
    });
  });

  it('samples the same a few at a time, and its first turn is that of a single one', () => {
    const whole = run();
    expect(run({ inBatches: (work) => work(1) })).toEqual(whole);
    expect(run({ inBatches: (work) => work(4) })).toEqual(whole);
    const { turns: _, ...single } = IN_TURNS;
    const alone = generate(model, null, PROMPTS, { ...single, maxNewTokens: 4 });
    expect(whole.map(({ ids }) => ids.slice(0, 4))).toEqual(alone.map(({ ids }) => ids));
  });

  it('ends a turn at an end token, and a completion whose answer has no room as cut off', () => {
    const [first] = run();
    const end = first?.ids[1] ?? -1;
    const asked: EndedTurn[] = [];
    const ended = run({
      eosTokenIds: [end],
      maxNewTokens: 12,
      turns: {
        maxTurnTokens: 4,
        answer: (turns) => {
          asked.push(...turns);
          return turns.map(() => [41, 42, 43, 44, 45, 46]);
        },
      },
    });
    const turn = asked.find(({ completion, turn }) => completion === 0 && turn === 0);
    expect(turn).toMatchObject({ ids: first?.ids.slice(0, 2), terminated: true, room: 10 });
    expect(ended.every(({ ids, terminated }) => ids.length <= 12 && !terminated)).toBe(true);
  });

  it('leaves no tensor behind, even if the answer throws', () => {
    expect(tensorsLeft(() => void run())).toBe(0);
    const failing = (): never => {
      throw new Error('no answer');
    };
    const broken = { turns: { maxTurnTokens: 4, answer: failing } };
    expect(tensorsLeft(() => expect(() => run(broken)).toThrow('no answer'))).toBe(0);
  });
});
