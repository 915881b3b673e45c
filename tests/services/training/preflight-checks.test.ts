import { describe, expect, it } from 'vitest';
import { type Promotion, promotionSchema } from '../../../main/services/runs/promotion.ts';
import { type Machine, preflightChecks } from '../../../main/services/training/preflight-checks.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import type { PreflightResult } from '../../../main/trainer/jobs/preflight.ts';
import { sampleOf } from '../../store/helpers.ts';

const GB = 1e9;
const machine: Machine = { freeMemory: 8 * GB, memory: 16 * GB, freeDisk: 100 * GB, training: [] };
const config = parseConfig({ eval_steps: 20, max_steps: 100 });

const groups = (...rewards: number[][]) =>
  rewards.flatMap((group, g) => group.map((reward, index) => sampleOf({ group: g, index, reward })));

const result: PreflightResult = {
  samples: groups([0.2, 0.8], [0.5, 0.7]),
  tools: [],
  highestReward: 1,
  targets: 0,
  heldOut: { mean: 0.5, n: 16, seconds: 2 },
  estimate: { secondsPerStep: 0.5, secondsPerEvaluation: 4, seconds: 74, memoryBytes: 3e8 },
  longest: { promptTokens: 90, completionTokens: 30, parts: 1, peakBytes: 4e8, gpu: null },
  remote: null,
  unusedChat: [],
  quoting: { records: 0, of: 50, tokens: [] },
  unwritable: {
    words: 240,
    unknown: 0,
    changed: 0,
    examples: [],
    targets: 24,
    spacing: 0,
    promptTokens: 900,
    unknownPromptTokens: 0,
  },
  outOfReach: null,
  maxCompletionLength: 30,
  longestTarget: 26,
  longerTargets: 0,
  parameters: 1000,
  trainable: 1000,
};

interface Case {
  readonly result?: Partial<PreflightResult>;
  readonly rule?: Promotion | null;
  readonly machine?: Partial<Machine>;
  readonly config?: object;
  readonly leakage?: { titles: number; pairs: number };
}

function lines(change: Case = {}) {
  const checks = preflightChecks(
    { ...result, ...change.result },
    { ...config, ...change.config },
    change.rule ?? null,
    { ...machine, ...change.machine },
    change.leakage,
  );
  return Object.fromEntries(checks.map(({ name, ...check }) => [name, check]));
}

describe('preflightChecks of tools', () => {
  const called = (content: string) =>
    groups([0.2, 0.8], [0.5, 0.7]).map((sample) => ({
      ...sample,
      messages: [{ role: 'tool' as const, name: 'price', content }],
    }));

  it('warns of tools that are never called or always fail, but not before a warm-up', () => {
    const tools = ['price'];
    expect(lines({ result: { tools, samples: called('2') } }).Tools).toEqual({
      status: 'OK',
      detail: '4 calls in 4 completions',
      next: null,
    });
    expect(lines({ result: { tools, samples: called('{"error":"no"}') } }).Tools).toMatchObject({
      status: 'WARN',
      detail: '4 calls in 4 completions. All 4 calls of the tool price failed.',
    });
    expect(lines({ result: { tools } }).Tools).toMatchObject({ status: 'WARN', next: /warm_up_steps/ });
    expect(lines({ result: { tools }, config: { warm_up_steps: 10 } }).Tools).toMatchObject({ status: 'OK' });
    expect(lines().Tools).toBeUndefined();
  });
});

describe('preflightChecks', () => {
  it('names the words that the tokenizer can not write, and fails where the reward is out of reach', () => {
    expect(lines()).not.toHaveProperty('Words');
    const unwritable = { ...result.unwritable, unknown: 3, examples: [{ word: 'мир', becomes: null }] };
    const seen = '3 of 240 words contain characters that this tokenizer has no token for, such as "мир"';
    expect(lines({ result: { unwritable } }).Words).toMatchObject({ status: 'WARN', detail: seen });
    const lost = { unwritable, outOfReach: `The full reward is out of reach: ${seen}` };
    expect(lines({ result: lost }).Words).toMatchObject({
      status: 'FAIL',
      detail: lost.outOfReach,
      next: expect.stringContaining('allow_unwritable_words'),
    });
    expect(lines({ result: lost, config: { allow_unwritable_words: true } }).Words?.status).toBe('WARN');
  });

  it("shows what a GPU's buffers take of its memory", () => {
    const longest = { promptTokens: 90, completionTokens: 30, parts: 1, peakBytes: 4e8 };
    const memory = { bytes: 8 * 2 ** 30, source: 'nvidia-smi' };
    expect(lines({ result: { longest: { ...longest, gpu: { peakBytes: 2 ** 30, memory } } } })['GPU memory']).toEqual({
      status: 'OK',
      next: null,
      detail: '1.0 GiB at most of 8.0 GiB (nvidia-smi)',
    });
    const software = { ...longest, gpu: { peakBytes: 2 ** 30, memory: null } };
    expect(lines({ result: { longest: software } })['GPU memory']?.detail).toBe('1.0 GiB at most');
  });

  it("warns where the optimiser's state won't fit beside the passes on the GPU", () => {
    const memory = { bytes: 2 ** 30, source: 'nvidia-smi' };
    const longest = {
      promptTokens: 90,
      completionTokens: 30,
      parts: 1,
      peakBytes: 4e8,
      gpu: { peakBytes: 2 ** 29, memory },
    };
    const estimate = { ...result.estimate, gpuBytes: 2 ** 31 };
    expect(lines({ result: { longest, estimate } })['GPU memory']).toMatchObject({
      status: 'WARN',
      detail: '2.0 GiB at most of 1.0 GiB (nvidia-smi)',
      next: expect.stringContaining('base_weights'),
    });
  });

  it('finds nothing wrong with a run that can learn', () => {
    const checks = lines();
    expect(Object.keys(checks)).toEqual([
      'Rewards differ',
      'Completions end',
      'Held-out score',
      'Memory',
      'Time',
      'Disk',
    ]);
    expect(Object.values(checks).map(({ status }) => status)).toEqual(Array(6).fill('OK'));
    expect(checks['Rewards differ']?.detail).toBe('reward 0.550, spread within groups 0.283, 0 of 2 groups dead');
    // Evaluations before the first step and five times after.
    expect(checks.Time?.detail).toBe('about 1 min 14 s: 100 steps of 0.50 s, 6 evaluations');
  });

  it('says of rewards only what their numbers show', () => {
    const rewards = (change: Case) => lines(change)['Rewards differ'];
    // Failed ones have none.
    const failed = groups([Number.NaN, Number.NaN], [Number.NaN, Number.NaN]);
    expect(rewards({ result: { samples: failed } })).toMatchObject({
      status: 'FAIL',
      detail: expect.stringContaining('The reward failed on all 4 completions'),
    });
    const half = groups([Number.NaN, Number.NaN], [0.2, 0.8]);
    expect(rewards({ result: { samples: half } })?.detail).toBe(
      'reward 0.500, spread within groups 0.424, 0 of 1 group dead',
    );
    // Equal rewards teach by their diversity there, unless they are 0.
    const equal = groups([0.5, 0.5], [0.3, 0.3]);
    const zero = groups([0, 0], [0, 0]);
    expect(rewards({ result: { samples: equal } })?.status).toBe('FAIL');
    const sets = { method: 'polychromic-grpo' };
    expect(rewards({ result: { samples: equal }, config: sets })?.status).toBe('OK');
    expect(rewards({ result: { samples: zero }, config: sets })?.status).toBe('FAIL');
    expect(rewards({ result: { samples: zero }, config: { reward_weights: [0] } })?.detail).toContain(
      'All reward_weights are 0',
    );
    // A maximum of 0 is reached by penalties of 0, not by what is below.
    const penalties = { highestReward: 0, samples: groups([-1, -1], [-2, -2]) };
    expect(rewards({ result: penalties })?.status).toBe('FAIL');
    expect(rewards({ result: { ...penalties, samples: zero } })?.detail).toContain('can already do this');
  });

  it('warns of texts that quote control tokens', () => {
    expect(lines()['Control tokens']).toBeUndefined();
    const quoting = { records: 3, of: 64, tokens: ['<|eot_id|>', '<|end_of_text|>'] };
    expect(lines({ result: { quoting } })['Control tokens']).toMatchObject({
      status: 'WARN',
      detail: '3 of 64 records contain <|eot_id|> <|end_of_text|>, which this model uses to structure a chat',
    });
  });

  it('warns of chat settings that change nothing', () => {
    const unusedChat = [{ message: 'reads no "budget"', remedy: 'Leave it out.' }];
    expect(lines({ result: { unusedChat } })['Chat settings']).toEqual({
      status: 'WARN',
      detail: 'reads no "budget"',
      next: 'Leave it out.',
    });
  });

  it('warns of test records that training sees parts of', () => {
    expect(lines({ leakage: { titles: 0, pairs: 0 } })['Held-out records']).toBeUndefined();
    expect(lines({ leakage: { titles: 1, pairs: 35 } })['Held-out records']).toMatchObject({
      status: 'WARN',
      detail: '1 text is in training and test, 35 test pairs repeat words of training pairs',
    });
    expect(lines({ config: { task: 'sums' }, leakage: { titles: 0, pairs: 1 } })['Held-out records']).toMatchObject({
      status: 'WARN',
      detail: '1 test record repeats words of training records',
    });
  });

  const same = [0.5, 0.5];
  it('warns of dead groups only where the others have little to learn from', () => {
    const check = (other: number[]) =>
      lines({ result: { samples: groups(same, same, same, other) } })['Rewards differ'];
    expect(check([0, 1])?.status).toBe('OK');
    const little = {
      status: 'WARN',
      next: expect.stringMatching(/^Most groups give no training signal yet\. If rewards don't rise/),
    };
    expect(check([0.5, 0.55])).toMatchObject(little);
  });

  it('wants a higher temperature where completions are alike, otherwise a reward that tells them apart', () => {
    const dead = groups(same, same);
    const varied = dead.map((sample, i) => ({ ...sample, completion: `answer ${i}` }));
    const next = (samples: PreflightResult['samples']) => lines({ result: { samples } })['Rewards differ']?.next;
    expect(next(dead)).toMatch(/^Completions are alike, so raise the temperature/);
    expect(next(varied)).toMatch(/^Completions differ, so let the reward count what is partly right/);
  });

  const seconds = 20 * 3600;
  const rule = promotionSchema.parse({ at_least: 0.4 });
  it.each<[string, string, 'WARN' | 'FAIL', RegExp, Case]>([
    [
      'all groups dead',
      'Rewards differ',
      'FAIL',
      /same reward in each of 2 groups/,
      { result: { samples: groups(same, same) } },
    ],
    [
      'most groups dead',
      'Rewards differ',
      'WARN',
      /3 of 4/,
      { result: { samples: groups(same, same, same, [0, 0.15]) } },
    ],
    ['little spread', 'Rewards differ', 'WARN', /0.007/, { result: { samples: groups([0.5, 0.51], [0.5, 0.51]) } }],
    [
      'solved already',
      'Rewards differ',
      'WARN',
      /can already do this/,
      { result: { samples: groups([1, 1], [1, 1]) } },
    ],
    [
      'most groups solved already',
      'Rewards differ',
      'WARN',
      /2 of 3 groups dead: the model can already do this/,
      { result: { samples: groups([1, 1], [1, 1], [0, 1]) } },
    ],
    [
      'completions cut off',
      'Completions end',
      'WARN',
      /^0 of 2/,
      { result: { samples: groups([0.1, 0.9]).map((sample) => ({ ...sample, terminated: false })) } },
    ],
    [
      'a limit below the longest target',
      'Completions end',
      'WARN',
      /within 30 tokens; 2 targets have more, the longest 31$/,
      { result: { longestTarget: 31, longerTargets: 2 } },
    ],
    ['nothing held out', 'Held-out score', 'WARN', /no held-out records/, { result: { heldOut: null } }],
    ['a rule that is met', 'Held-out score', 'WARN', /requires 0.4/, { rule }],
    ['a rule that is never looked at', 'Held-out score', 'WARN', /now/, { rule, config: { eval_steps: 0 } }],
    ['too little memory free', 'Memory', 'WARN', /191 MiB free/, { machine: { freeMemory: 2e8 } }],
    ['too little memory at all', 'Memory', 'FAIL', /381 MiB/, { machine: { freeMemory: 2e8, memory: 3e8 } }],
    ['a long run', 'Time', 'WARN', /20 h 0 min/, { result: { estimate: { ...result.estimate, seconds } } }],
    ['a full disk', 'Disk', 'FAIL', /1 KiB free/, { machine: { freeDisk: 10 } }],
    ['a disk that is nearly full', 'Disk', 'WARN', /4 checkpoints/, { machine: { freeDisk: 1e6 } }],
    ['another run', 'Room', 'WARN', /run 7 is training/, { machine: { training: ['run 7'] } }],
  ])('warns of %s', (_, name, status, detail, change) => {
    const check = lines(change)[name];
    expect(check).toMatchObject({ status, detail: expect.stringMatching(detail) });
    expect(check?.next).not.toBeNull();
  });

  it('says what steps take where completions reach their limit', () => {
    const { Time } = lines({ result: { estimate: { ...result.estimate, limitSecondsPerStep: 4 } } });
    expect(Time?.detail).toContain('0.50 s (4.0 s where completions reach their limit)');
  });

  it('counts the reference that a warm-up leaves in checkpoints', () => {
    const disk = (change: object) => lines({ result: { trainable: 1e8 }, config: change }).Disk?.detail;
    expect(disk({})).toContain('4.5 GiB for at most 4 checkpoints');
    expect(disk({ beta: 0.1, warm_up_steps: 10 })).toContain('6.0 GiB for at most 4');
  });

  it('says nothing of rewards where none are sampled, nor of a disk that tells nothing', () => {
    const checks = lines({ result: { samples: [] }, machine: { freeDisk: null } });
    expect(checks['Rewards differ']).toBeUndefined();
    expect(checks.Disk).toMatchObject({ status: 'OK' });
  });
});

describe('a check on a remote engine', () => {
  const metrics = {
    'engine/prefill_tokens': 100,
    'engine/sample_tokens': 200,
    'engine/train_tokens': 300,
    'engine/compute_seconds': 1.5,
    'engine/network_seconds': 0.02,
    'engine/cost': 0.01,
    'sampling/sampling_logp_difference/mean': 0.001,
  };
  const of = (changes: object) =>
    preflightChecks(
      { ...result, longest: null, remote: { engine: 'cluster', metrics: { ...metrics, ...changes } } },
      config,
      null,
      machine,
    );

  it('says what a step takes there and what all cost, instead of what memory is used here', () => {
    const checks = of({});
    expect(checks.map(({ name }) => name)).not.toContain('Memory');
    expect(checks.find(({ name }) => name === 'Engine cluster')?.detail).toBe(
      '600 tokens a step, 1.5 s of work, 0.020 s of network, 1.00 for all 100 steps at its price',
    );
    expect(checks.find(({ name }) => name === 'Sampler')?.status).toBe('OK');
  });

  it('warns where sampler and trainer disagree', () => {
    const far = of({ 'sampling/sampling_logp_difference/mean': 0.2 }).find(({ name }) => name === 'Sampler');
    expect(far?.status).toBe('WARN');
    expect(far?.next).toMatch(/vllm_importance_sampling_correction/);
  });
});
