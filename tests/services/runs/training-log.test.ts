import { describe, expect, it } from 'vitest';
import {
  entryOf,
  faultEntry,
  formatEntry,
  resumeEntry,
  startEntry,
  stepOfEntry,
} from '../../../main/services/runs/training-log.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { VERSION } from '../../../main/version.ts';

const at = new Date('2026-01-02T03:04:05.678Z');

describe('formatEntry and stepOfEntry', () => {
  it('starts with the time and the step, and indents what follows', () => {
    const text = formatEntry(at, { step: 20, lines: ['Warning: KL is high', 'Lower the rate.\nOr stop.'] });
    expect(text).toBe('2026-01-02 03:04:05Z  step 20  Warning: KL is high\n    Lower the rate.\n    Or stop.\n');
    expect(text.split('\n').map(stepOfEntry)).toEqual([20, undefined, undefined, undefined]);
  });

  it('lets no message look like an entry or control a terminal', () => {
    const text = formatEntry(at, { step: 2, lines: ['\u001b[31mred\n2026-01-02 03:04:05Z  step 99  a trap'] });
    expect(text).toContain('step 2  \\u001b[31mred\n    2026-');
    expect(text.split('\n').map(stepOfEntry)).toEqual([2, undefined, undefined]);
  });
});

describe('startEntry', () => {
  it('says version, method, seed, model and data', () => {
    const config = parseConfig({ seed: 7, max_steps: 60, dataset: '/d/10words.jsonl', from_checkpoint: '/c/5' });
    const { step, lines } = startEntry({ ...config, eval_dataset: '/d/held.jsonl' });
    expect(step).toBe(0);
    expect(lines).toEqual([
      `Started by Braid ${VERSION}: grpo, 60 steps, seed 7; all settings are in run.yaml`,
      'Model: tiny, from /c/5',
      'Dataset: /d/10words.jsonl, held-out records: /d/held.jsonl',
    ]);
    expect(VERSION).toMatch(/^\d+\.\d+\.\d+/);
    expect(startEntry(config).lines[2]).toContain('no held-out records');
  });
});

describe('resumeEntry and faultEntry', () => {
  it('say where the run was and why it had ended, and what to do', () => {
    expect(resumeEntry(4, { state: 'interrupted', step: 7, reason: 'killed' }).lines).toEqual([
      `Resumed from step 4 by Braid ${VERSION}; it was interrupted at step 7 (killed)`,
    ]);
    expect(resumeEntry(4, { state: 'failed', step: 7, reason: null }).lines[0]).toContain('it had failed at step 7');
    expect(faultEntry(3, 'Error', { message: 'No memory', remedy: 'Smaller batch.' })).toEqual({
      step: 3,
      lines: ['Error: No memory', 'Smaller batch.'],
    });
    expect(faultEntry(3, 'Error', { message: 'No memory' }).lines).toEqual(['Error: No memory']);
  });
});

describe('entryOf', () => {
  const ready: TrainerEvent = {
    kind: 'ready',
    backend: 'wasm',
    threads: 1,
    why: 'There is no GPU',
    parameters: 900,
    trainable: 90,
    maxSteps: 5,
    maxCompletionLength: 9,
  };
  const estimate: TrainerEvent = {
    ...{ kind: 'estimate', step: 1, secondsPerStep: 0.52, seconds: 70 },
    ...{ memoryBytes: 2 ** 30, activationMb: 9 },
  };
  const failure = { code: 'OOM', message: 'No memory', remedy: null, input: false };
  const cases: readonly (readonly [TrainerEvent, number, string])[] = [
    [ready, 20, 'Backend: wasm, 1 thread. There is no GPU\nTrains 90 of 900 parameters; completions of up to 9 tokens'],
    [
      { ...ready, backend: 'my-engine', threads: 0, why: 'A server elsewhere' },
      20,
      'Backend: my-engine. A server elsewhere\nTrains 90 of 900 parameters; completions of up to 9 tokens',
    ],
    [estimate, 1, 'Estimate: about 0.52 s per step, 1 min 10 s left, 1.0 GiB'],
    [
      { ...estimate, secondsPerEvaluation: 12 },
      1,
      'Estimate: about 0.52 s per step, 12 s per evaluation, 1 min 10 s left, 1.0 GiB',
    ],
    [{ kind: 'checkpoint', step: 20, path: '/o/checkpoint-20' }, 20, 'Checkpoint: /o/checkpoint-20'],
    [
      { kind: 'evaluation', step: 5, metrics: { eval_alignment: 0.61234, eval_exact_match: 0 }, items: [] },
      5,
      'Held-out evaluation of 0 records: eval_alignment 0.6123, eval_exact_match 0',
    ],
    [{ kind: 'warning', step: 6, rule: 'kl', message: 'KL is high', remedy: 'Stop.' }, 6, 'Warning: KL is high\nStop.'],
    [{ kind: 'notice', step: 6, topic: 'memory', message: 'Smaller parts', remedy: '' }, 6, 'Note: Smaller parts'],
    [{ kind: 'paused', step: 7, reason: 'on request', byWatch: false }, 7, 'Paused: on request'],
    [{ kind: 'resumed', step: 7 }, 7, 'Resumed after the pause'],
    [{ kind: 'done', step: 8, path: '/o/c', stopped: false }, 8, 'Finished; its last checkpoint is /o/c'],
    [{ kind: 'done', step: 8, path: null, stopped: true }, 8, 'Stopped on request'],
    [{ kind: 'failed', step: 9, ...failure }, 9, 'Error: No memory'],
  ];

  it.each(cases)('tells what happened: $0.kind', (event, step, text) => {
    expect(entryOf(event, 20)).toEqual({ step, lines: text.split('\n') });
  });

  it('leaves out what has files of its own', () => {
    const silent: readonly TrainerEvent[] = [
      { kind: 'alive' },
      { kind: 'step', step: 1, metrics: {} },
      { kind: 'samples', step: 1, samples: [] },
    ];
    expect(silent.map((event) => entryOf(event, 0))).toEqual([null, null, null]);
  });
});
