/** Completions of several turns: what is kept between them, and what somebody else's tokens change. */
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BraidError } from '../../main/errors.ts';
import { chooseNext } from '../../main/model/choose-next.ts';
import { forward } from '../../main/model/decoder.ts';
import { generate } from '../../main/model/generate.ts';
import { generateTurns, type TurnsOptions } from '../../main/model/generate-turns.ts';
import { logitsOf as logitsOfHead } from '../../main/model/head.ts';
import { loadModel } from '../../main/model/load.ts';
import { type Adapter, createAdapter, ownTargets } from '../../main/model/lora.ts';
import { disposeModel, type Model } from '../../main/model/model.ts';
import { UNFILTERED } from '../../main/model/sampler.ts';
import { packedSequences } from '../../main/model/sequences.ts';
import type { EndedTurn } from '../../main/model/turns.ts';
import type { Completion } from '../../main/samples/completion.ts';
import { openTestBackends } from '../backends.ts';
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

const TURNS = { maxTurnTokens: 4, later: false, answer };
const IN_TURNS: TurnsOptions = {
  numGenerations: 2,
  maxNewTokens: 24,
  eosTokenIds: [],
  coordinates: [1, 2],
  temperature: 1,
  ...UNFILTERED,
  turns: TURNS,
  memory: roomFor(100),
};

/** Memory for so many completions, which doesn't run out. */
function roomFor(rows: number): TurnsOptions['memory'] {
  return {
    most: () => rows,
    failed: (error) => {
      throw error;
    },
  };
}

/** The same answers, each some time later: `order` says in which order those of one moment come. */
function answerLater(order: (completion: number, turn: number) => number) {
  return (ended: readonly EndedTurn[]) =>
    answer(ended).map((given, i) => {
      const { completion = 0, turn = 0 } = ended[i] ?? {};
      return setTimeout(order(completion, turn), given);
    });
}

/** The logits after each token of a sequence, read whole. [N, V] */
function logitsOf(model: Model, ids: readonly number[], adapter: Adapter | null = null): tf.Tensor2D {
  const batch = { ids: tf.tensor1d([...ids], 'int32'), positions: tf.tensor1d([...ids.keys()], 'int32') };
  const segments = tf.tensor2d([[0, ids.length, 0, 0]], [1, 4], 'int32');
  const hidden = forward(model, batch, adapter, packedSequences(model.config, segments));
  return logitsOfHead(model, hidden);
}

/** The most likely token after each token of a sequence, read whole. */
function likely(model: Model, ids: readonly number[]): number[] {
  return tf.tidy(() => Array.from(tf.argMax(logitsOf(model, ids), 1).dataSync()));
}

/** What a completion's own tokens would be if all that was said were read again for each of them. */
function readAgain(model: Model, prompt: readonly number[], row: number, { ids, toolMask = [] }: Completion): number[] {
  return ids.map((id, i) => {
    if (toolMask[i] === 0) return id;
    const before = [...prompt, ...ids.slice(0, i)];
    return tf.tidy(() => {
      const logits = tf.slice(logitsOf(model, before), [before.length - 1, 0], [1, -1]);
      const place = { prompt: Math.floor(row / 2), generation: row % 2, promptIds: prompt, ids: ids.slice(0, i) };
      return chooseNext(logits, [place], IN_TURNS)[0] ?? -1;
    });
  });
}

/** Models whose layers keep keys and values, and those that keep states too. */
const MODELS = [
  { kind: 'attention', load: () => tinyModel(128) },
  ...['lfm2', 'lfm3', 'qwen3.5', 'granite4-mamba', 'gemma4'].map((kind) => ({
    kind,
    load: () => loadModel(fileURLToPath(new URL(`../parity/fixtures/families/${kind}`, import.meta.url)), 128),
  })),
];
const backends = await openTestBackends();
const cases = MODELS.flatMap((model) =>
  // Of the portable backend and a slow one, attention is enough.
  backends
    .filter(({ name, slow }) => model.kind === 'attention' || (!slow && name !== 'cpu'))
    .map((backend) => ({ ...model, backend, name: backend.name })),
);

describe.each(cases)('generate in turns on $name with $kind', ({ backend, kind, load }) => {
  let model: Model;
  /** What tests of the same conversations in other ways compare with. */
  let whole: Completion[];
  beforeAll(async () => {
    await backend.use();
    model = load();
    whole = await run();
  });
  afterAll(() => disposeModel(model));
  const run = (options: Partial<TurnsOptions> = {}): Promise<Completion[]> =>
    generateTurns(model, null, PROMPTS, { ...IN_TURNS, ...options });

  it('picks, greedily, what a full forward pass over prompt, turns and answers picks', async () => {
    for (const [row, { ids, toolMask = [] }] of (await run({ temperature: 0 })).entries()) {
      const prompt = PROMPTS[Math.floor(row / 2)] ?? [];
      const picked = likely(model, [...prompt, ...ids]).slice(prompt.length - 1);
      for (const [i, id] of ids.entries()) if (toolMask[i] === 1) expect(id).toBe(picked[i]);
      // Four tokens a turn; answers of 1 + prompt + turn tokens between them.
      const answers = [[1, 2], [], [3, 4]][Math.floor(row / 2)] ?? [];
      const expected = answers.flatMap((n) => [1, 1, 1, 1, ...Array<number>(n).fill(0)]);
      expect(toolMask).toEqual([...expected, 1, 1, 1, 1]);
    }
  });

  it.skipIf(kind !== 'attention' || backend.name !== 'wasm')(
    'lets whoever answers begin, each completion in its own way',
    async () => {
      const opening = ({ completion }: EndedTurn): number[] =>
        Array.from({ length: 1 + completion }, () => 50 + completion);
      const turns = {
        ...{ maxTurnTokens: 4, later: true, opens: true },
        answer: (ended: readonly EndedTurn[]) =>
          ended.map(async (one) => (one.turn < 0 ? opening(one) : (answer([one])[0] ?? null))),
      };
      for (const [row, { ids, toolMask = [] }] of (await run({ temperature: 0, turns })).entries()) {
        const prompt = PROMPTS[Math.floor(row / 2)] ?? [];
        const picked = likely(model, [...prompt, ...ids]).slice(prompt.length - 1);
        expect(ids.slice(0, 1 + row)).toEqual(Array(1 + row).fill(50 + row));
        expect(toolMask.slice(0, 5 + row)).toEqual([...Array(1 + row).fill(0), 1, 1, 1, 1]);
        for (const [i, id] of ids.entries()) if (toolMask[i] === 1) expect(id).toBe(picked[i]);
      }
    },
  );

  it.skipIf(backend.slow)('samples what reading the whole conversation again for every token samples', async () => {
    for (const [row, completion] of whole.entries())
      expect(readAgain(model, PROMPTS[Math.floor(row / 2)] ?? [], row, completion)).toEqual(completion.ids);
  });

  it('samples the same a few at a time, after long answers, and its first turn is that of a single one', async () => {
    expect(await run({ memory: roomFor(1) })).toEqual(whole);
    expect(await run({ memory: roomFor(4) })).toEqual(whole);
    const { turns: _, memory: __, ...single } = IN_TURNS;
    const alone = generate(model, null, PROMPTS, { ...single, maxNewTokens: 4 });
    expect(whole.map(({ ids }) => ids.slice(0, 4))).toEqual(alone.map(({ ids }) => ids));
    const long = (ended: readonly EndedTurn[]) =>
      ended.map(({ turn }) => (turn === 2 ? null : Array.from({ length: turn === 0 ? 50 : 3 }, (_, i) => 20 + i)));
    const asked = { temperature: 0, maxNewTokens: 72, turns: { ...TURNS, answer: long } };
    if (backend.slow) return;
    for (const [row, { ids, toolMask = [] }] of (await run(asked)).entries()) {
      const prompt = PROMPTS[Math.floor(row / 2)] ?? [];
      const picked = likely(model, [...prompt, ...ids]).slice(prompt.length - 1);
      for (const [i, id] of ids.entries()) if (toolMask[i] === 1) expect(id).toBe(picked[i]);
    }
  });

  it.skipIf(backend.slow)('samples the same whenever answers come, while others wait', async () => {
    const orders = [
      () => 0,
      (completion: number) => 5 * completion,
      (completion: number, turn: number) => 24 - 4 * completion - turn,
    ];
    const asked: number[][] = [];
    for (const order of orders) {
      const later = answerLater(order);
      const heard = (ended: readonly EndedTurn[]) => {
        asked.push(ended.map(({ completion }) => completion));
        return later(ended);
      };
      expect(await run({ turns: { ...TURNS, later: true, answer: heard } })).toEqual(whole);
    }
    // Rows whose answers have come continue while the others still wait.
    expect(asked.some((rows) => rows.length < 4)).toBe(true);
  });

  it('ends a turn at an end token, and a completion whose answer has no room as cut off', async () => {
    const [first] = whole;
    const end = first?.ids[1] ?? -1;
    const asked: EndedTurn[] = [];
    const ended = await run({
      eosTokenIds: [end],
      maxNewTokens: 12,
      turns: {
        ...TURNS,
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

  it('ends as a whole where only its last turn reached its limit', async () => {
    const over = { ...TURNS, maxTurnTokens: 3, answer: (ended: readonly EndedTurn[]) => ended.map(() => null) };
    const [short] = await run({ eosTokenIds: [], maxNewTokens: 12, turns: over });
    expect(short).toMatchObject({ ids: { length: 3 }, terminated: true });
    const [full] = await run({ eosTokenIds: [], maxNewTokens: 3, turns: over });
    expect(full).toMatchObject({ ids: { length: 3 }, terminated: false });
  });

  it.skipIf(backend.slow)(
    'continues with fewer rows after memory ran out, asks nobody twice, and leaves no tensor behind',
    async () => {
      const before = tf.memory().numTensors;
      for (const later of [false, true]) {
        let [most, tokens] = [100, 0];
        const asked: string[] = [];
        const given = await run({
          turns: {
            ...TURNS,
            later,
            answer: (ended) => {
              asked.push(...ended.map(({ completion, turn }) => `${completion}/${turn}`));
              return later ? answerLater(() => 1)(ended) : answer(ended);
            },
          },
          onToken: (_, active) => {
            if (++tokens % 3 === 0 && active > 1 && most > 1) throw new BraidError('OUT_OF_MEMORY', 'no room');
          },
          memory: {
            most: () => most,
            failed: (error) => {
              if (!(error instanceof BraidError && error.code === 'OUT_OF_MEMORY')) throw error;
              most = Math.ceil(most / 10);
            },
          },
        });
        expect(given).toEqual(whole);
        expect(most).toBe(1);
        expect(new Set(asked).size).toBe(asked.length);
      }
      expect(tf.memory().numTensors).toBe(before);
    },
  );

  it('leaves no tensor behind, even if the answer throws, at once or later', async () => {
    const before = tf.memory().numTensors;
    await run();
    const failing = (): never => {
      throw new Error('no answer');
    };
    await expect(run({ turns: { ...TURNS, answer: failing } })).rejects.toThrow('no answer');
    const refusing = (ended: readonly EndedTurn[]) => ended.map(async () => failing());
    await expect(run({ turns: { ...TURNS, later: true, answer: refusing } })).rejects.toThrow('no answer');
    expect(tf.memory().numTensors).toBe(before);
  });
});

const wasm = backends.find(({ name }) => name === 'wasm');

describe.skipIf(wasm === undefined)('generateTurns with an adapter', () => {
  it('gives the same tokens to the bit whenever answers come, and however many rows there are', async () => {
    await wasm?.use();
    const model = tinyModel();
    const lora = {
      r: 4,
      alpha: 64,
      targetModules: ownTargets(model, ['q_proj', 'v_proj', 'down_proj']),
      useRslora: false,
    };
    const adapter = createAdapter(model, lora, 1);
    const prompts = Array.from({ length: 6 }, (_, i) => [5 + i, 9, 33 - i]);
    const logits: string[] = [];
    for (const order of [() => 0, (completion: number) => (completion * 7) % 11]) {
      const options = { ...IN_TURNS, numGenerations: 4, turns: { ...TURNS, later: true, answer: answerLater(order) } };
      logits.push(JSON.stringify(await generateTurns(model, adapter, prompts, options)));
    }
    expect(logits[1]).toBe(logits[0]);
    disposeModel(model);
  });
});
