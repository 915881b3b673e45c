import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { encodeSafetensors } from '../../../main/model/safetensors.ts';
import { UNFILTERED } from '../../../main/model/sampler.ts';
import type { TurnTaking } from '../../../main/model/turns.ts';
import { planBatches } from '../../../main/trainer/batching/batching.ts';
import type { ScoredGeneration } from '../../../main/trainer/batching/generation.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { logpDifference, samplingRatios } from '../../../main/trainer/losses/sampling-correction.ts';
import { engineAddress } from '../../../main/trainer/tinker/address.ts';
import { adapterFromArchive, archiveLimit, untar } from '../../../main/trainer/tinker/archive.ts';
import { ruleOf, SUMMED, TRIAL_WEIGHT, weightsFor } from '../../../main/trainer/tinker/gradient-rule.ts';
import { inChunks } from '../../../main/trainer/tinker/in-chunks.ts';
import { costOf } from '../../../main/trainer/tinker/meter.ts';
import { gradNormOf } from '../../../main/trainer/tinker/probe.ts';
import { remoteFaults } from '../../../main/trainer/tinker/refusals.ts';
import { remotePolicyLoss } from '../../../main/trainer/tinker/remote-loss.ts';
import { sampleTurns } from '../../../main/trainer/tinker/sample-turns.ts';
import { datum } from '../../../main/trainer/tinker/wire.ts';
import { tar } from './server-models.ts';

describe('engineAddress', () => {
  it('takes https and loopback, without the path of the protocol', () => {
    expect(engineAddress('https://tinker.example.com/', false)).toBe('https://tinker.example.com');
    expect(engineAddress('http://127.0.0.1:8000/api/v1', false)).toBe('http://127.0.0.1:8000');
    expect(engineAddress('http://[::1]:8000', false)).toBe('http://[::1]:8000');
    expect(engineAddress('https://host/proxy', false)).toBe('https://host/proxy');
  });

  it('refuses plain http elsewhere unless it is allowed, and text that is not an address', () => {
    expect(() => engineAddress('http://10.0.0.5:8000', false)).toThrow(/plain http/);
    expect(() => engineAddress('http://127.0.0.1.example.com', false)).toThrow(/plain http/);
    expect(engineAddress('http://10.0.0.5:8000', true)).toBe('http://10.0.0.5:8000');
    expect(() => engineAddress('ftp://host', true)).toThrow(/Expected an address/);
    expect(() => engineAddress('host:8000', true)).toThrow(/Expected an address/);
    expect(() => engineAddress('https://me:secret@host', true)).toThrow(/without a password/);
  });
});

describe('sampleTurns', () => {
  it('asks whoever speaks first before the server, a request for each completion', async () => {
    const asked: (readonly (readonly number[])[])[] = [];
    const sample = async (prompts: readonly (readonly number[])[]) => {
      asked.push(prompts);
      return prompts.map(() => ({ ids: [9], terminated: true, logps: [-1] }));
    };
    const turns: TurnTaking = {
      ...{ maxTurnTokens: 4, later: false, opens: true },
      answer: (ended) => ended.map(({ turn, completion }) => (turn < 0 ? [50 + completion] : null)),
    };
    const sampling = { numGenerations: 2, maxNewTokens: 8, temperature: 1, ...UNFILTERED, coordinates: [1], turns };
    const mask = { toolMask: [0, 1], terminated: true, logps: [0, -1] };
    expect(await sampleTurns(sample, [[1, 2]], sampling)).toEqual([
      { ids: [50, 9], ...mask },
      { ids: [51, 9], ...mask },
    ]);
    expect(asked).toEqual([
      [
        [1, 2, 50],
        [1, 2, 51],
      ],
    ]);
  });

  it('cuts off a completion at its own limit, not at that of its last turn', async () => {
    const sample = async (prompts: readonly (readonly number[])[], _: unknown, limits: readonly number[]) =>
      prompts.map((_, i) => ({ ids: Array(limits[i]).fill(9), terminated: false }));
    const turns: TurnTaking = { maxTurnTokens: 4, later: false, answer: (ended) => ended.map(() => null) };
    const sampling = { numGenerations: 1, temperature: 1, ...UNFILTERED, coordinates: [1], turns };
    const ended = async (maxNewTokens: number) => {
      const [completion] = await sampleTurns(sample, [[1, 2]], { ...sampling, maxNewTokens });
      return completion?.terminated;
    };
    expect([await ended(8), await ended(4)]).toEqual([true, false]);
  });
});

describe('ruleOf', () => {
  const trial = { one: 2, tokens: 5, floor: null };
  it('tells a sum from means by the norms', () => {
    expect(ruleOf({ ...trial, two: 12 })).toEqual(SUMMED);
    expect(ruleOf({ ...trial, two: 6 })).toEqual({ normalised: false, averaged: true });
    expect(ruleOf({ ...trial, two: 2 })).toBeNull();
    const floor = 2 * 5 * -TRIAL_WEIGHT * 1e9;
    expect(ruleOf({ ...trial, two: 2, floor })).toEqual({ normalised: true, averaged: true });
    expect(ruleOf({ ...trial, two: 4, floor })).toEqual({ normalised: true, averaged: false });
  });

  it('refuses any other', () => {
    expect(() => ruleOf({ ...trial, two: 18 })).toThrow(/isn't known here/);
    expect(() => ruleOf({ ...trial, two: 2, floor: 2 })).toThrow(/isn't known here/);
  });
});

describe('weightsFor', () => {
  it('turns dC/dlogp round, and undoes the division by the number of sequences', () => {
    expect(weightsFor(SUMMED, [0.5, -0.25], 8)).toEqual([-0.5, 0.25]);
    expect(weightsFor({ normalised: false, averaged: true }, [0.5, -0.25], 8)).toEqual([-4, 2]);
  });

  it('stays below the floor of a normalising server, or says that it cannot', () => {
    const rule = { normalised: true, averaged: true };
    const sum = weightsFor(rule, [-1, -1], 8).reduce((a, b) => a + b, 0);
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeLessThan(1e-9);
    expect(() => weightsFor(rule, [-1e6], 8)).toThrow(/too large/);
  });
});

describe('datum', () => {
  it('shifts targets by one and gives prompts no weight', () => {
    expect(datum([1, 2, 3], [4, 5], [0.5, 0.25])).toEqual({
      model_input: { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3, 4] }] },
      loss_fn_inputs: { target_tokens: { data: [2, 3, 4, 5] }, weights: { data: [0, 0, 0.5, 0.25] } },
    });
  });
});

describe('inChunks', () => {
  it('cuts by number and by tokens, in order', () => {
    const row = (tokens: number) => ({ row: { promptIds: [], ids: Array<number>(tokens).fill(1) } });
    const lengths = (sizes: readonly number[]) => inChunks(sizes.map(row)).map((chunk) => chunk.length);
    expect(lengths(Array<number>(130).fill(1))).toEqual([128, 2]);
    expect(lengths([300_000, 200_000, 100_000])).toEqual([1, 2]);
  });
});

describe('an archive', () => {
  const LIMIT = archiveLimit(4);
  const name = 'base_model.model.model.layers.0.self_attn.q_proj.lora_A.default.weight';
  const weights = encodeSafetensors([{ name, shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) }]);
  const config = JSON.stringify({ r: 2, lora_alpha: 32, target_modules: null });

  it("becomes PEFT's files under our names", () => {
    const packed = gzipSync(tar({ 'adapter_model.safetensors': weights, 'adapter_config.json': config }));
    const files = Object.fromEntries(adapterFromArchive(packed, '/models/base', LIMIT));
    expect(JSON.parse(String(files['adapter_config.json']))).toMatchObject({ r: 2, target_modules: ['q_proj'] });
    expect(Buffer.from(files['adapter_model.safetensors'] as Uint8Array).toString('latin1')).toContain(
      '.lora_A.weight"',
    );
  });

  it('is refused when it is cut, without its files, or with other tensors', () => {
    const whole = tar({ 'adapter_model.safetensors': weights, 'adapter_config.json': config });
    expect(() => adapterFromArchive(gzipSync(whole).subarray(0, 90), '', LIMIT)).toThrow(/damaged/);
    expect(() => untar(whole.subarray(0, 600))).toThrow(/cut/);
    // A size that would lead back to the first header.
    const backwards = Buffer.from(whole);
    backwards.write('-1000', 124);
    expect(() => untar(backwards)).toThrow(/cut/);
    expect(() => adapterFromArchive(tar({ 'readme.md': 'x' }), '', LIMIT)).toThrow(/got readme.md/);
    const noRank = tar({ 'adapter_model.safetensors': weights, 'adapter_config.json': '{}' });
    expect(() => adapterFromArchive(noRank, '', LIMIT)).toThrow(/"r"/);
    const other = encodeSafetensors([{ name: 'lm_head.weight', shape: [1], data: Float32Array.of(1) }]);
    const foreign = tar({ 'adapter_model.safetensors': other, 'adapter_config.json': config });
    expect(() => adapterFromArchive(foreign, '', LIMIT)).toThrow(/lm_head/);
  });

  it('is refused before it fills the memory', () => {
    const bomb = gzipSync(Buffer.alloc(LIMIT + 1));
    expect(() => adapterFromArchive(bomb, '', LIMIT)).toThrow(/an adapter of at most [\d.]+ M/);
  });
});

describe('remoteFaults', () => {
  const of = (changes: object) => remoteFaults(parseConfig({ engine: 'e', ...changes })).map(({ field }) => field);
  it('names what the protocol cannot do, each with its reason', () => {
    expect(of({})).toEqual([]);
    expect(of({ beta: 0.1 })).toEqual(['beta']);
    expect(of({ use_peft: false, temperature: 0.7 })).toEqual(['use_peft', 'temperature']);
    expect(of({ lora_alpha: 16, use_rslora: true, lora_target_modules: ['q_proj'] })).toHaveLength(3);
    expect(of({ min_p: 0.1, repetition_penalty: 1.1 })).toEqual(['min_p', 'repetition_penalty']);
    expect(of({ entropy_coef: 0.1, top_entropy_quantile: 0.2 })).toEqual(['entropy_coef', 'top_entropy_quantile']);
  });

  it("leaves settings alone that a method doesn't use", () => {
    expect(of({ method: 'sft', beta: 0.1, temperature: 0.7 })).toEqual([]);
  });
});

describe('the sampling correction', () => {
  it('truncates the ratio, and is 1 where nothing counts', () => {
    const { values, metrics } = samplingRatios([-1, -1, -1], [-1.5, -3, 0], [1, 1, 0], 2);
    expect([...values]).toEqual([Math.fround(Math.exp(0.5)), 2, 1]);
    expect(metrics['sampling/importance_sampling_ratio/max']).toBe(2);
    expect(metrics['sampling/importance_sampling_ratio/mean']).toBeCloseTo((Math.exp(0.5) + 2) / 2, 6);
  });

  it('measures the difference over the tokens that count', () => {
    expect(logpDifference([-1, -2, -3], [-1.5, -2, 0], [1, 1, 0])).toEqual({
      'sampling/sampling_logp_difference/mean': 0.25,
      'sampling/sampling_logp_difference/max': 0.5,
    });
  });
});

describe('remotePolicyLoss', () => {
  /** Two completions of a prompt, one good and one bad, whose tokens the trainer finds less likely than the sampler did. */
  async function lossOf(changes: object) {
    const config = { ...parseConfig({ num_generations: 2, per_device_train_batch_size: 2, ...changes }) };
    const run = { config: { ...config, activation_memory_mb: 1 }, maxCompletionLength: 2 };
    const completion = { ids: [5, 6], terminated: true, logps: [-1, -1] };
    const generation = {
      prompts: [{ promptIds: [1] }],
      completions: [completion, completion],
      oldLogps: null,
      refLogps: null,
      result: { advantages: Float32Array.of(1, -1) },
    } as unknown as ScoredGeneration;
    const micro = { generation: 0, generate: true, iteration: 0, firstRow: 0, endRow: 2 };
    let [forwards, sent] = [0, [] as readonly (readonly number[])[]];
    const logps = [Float32Array.of(-1.5, -2), Float32Array.of(-1.5, -2)];
    const report = await remotePolicyLoss(run, planBatches(config, 1), generation, micro, {
      forward: async () => {
        forwards++;
        return logps;
      },
      backward: async (_, dlogp) => {
        sent = dlogp.map((row) => Array.from(row));
        return logps;
      },
    });
    return { forwards, sent, metrics: report.metrics };
  }

  it('leaves out bad completions that the sampler and the trainer disagree on, by log-probabilities of the trainer', async () => {
    const plain = await lossOf({});
    expect(plain).toMatchObject({
      forwards: 0,
      sent: [
        [-0.25, -0.25],
        [0.25, 0.25],
      ],
    });
    // 0.75 nats a token.
    expect((await lossOf({ off_policy_mask_threshold: 0.8 })).sent).toEqual(plain.sent);
    const masked = await lossOf({ off_policy_mask_threshold: 0.7 });
    expect(masked).toMatchObject({
      forwards: 1,
      sent: [
        [-0.25, -0.25],
        [0, 0],
      ],
    });
  });

  it("takes vespo's sampling correction into the sequence ratio", async () => {
    const settings = { loss_type: 'vespo', vllm_importance_sampling_correction: true };
    const { sent, metrics } = await lossOf(settings);
    const phi = (k: number, lambda: number): number => Math.exp(-1.5 * k + lambda * (1 - Math.exp(-1.5)));
    expect(sent[0]?.[0]).toBeCloseTo(-phi(2, 3) / 4, 6);
    expect(sent[1]?.[1]).toBeCloseTo(phi(3, 2) / 4, 6);
    expect(metrics['vespo/phi_seq_mean']).toBeCloseTo((phi(2, 3) + phi(3, 2)) / 2, 6);
  });
});

describe('figures of a server', () => {
  it('are priced by the million tokens', () => {
    expect(costOf({ prefill: 1e6, sample: 2e6, train: 5e5 }, { prefill: 0.1, sample: 0.4, train: 0.6 })).toBeCloseTo(
      1.2,
    );
  });

  it('has a gradient norm under whatever prefix, or none', () => {
    expect(gradNormOf({ metrics: { 'skyrl.ai/grad_norm': 3 } })).toBe(3);
    expect(gradNormOf({ metrics: { 'grad_norm:mean': 2 } })).toBe(2);
    expect(gradNormOf({ metrics: null })).toBeNull();
    expect(gradNormOf({ metrics: { grad_norm: null } })).toBeNaN();
  });
});
