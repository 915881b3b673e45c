import * as fs from 'node:fs';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { BraidError } from '../../../main/errors.ts';
import type { FileOps } from '../../../main/io/atomic-write.ts';
import { appendToLog, openRunFiles } from '../../../main/services/runs/files.ts';
import { formatSamples } from '../../../main/services/runs/samples/log.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { sampleOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

function open(folder = temporaryFolder(), ops: FileOps = fs) {
  const warnings: BraidError[] = [];
  const now = () => new Date('2026-01-02T03:04:05Z');
  const files = openRunFiles(folder, { onWarning: (warning) => warnings.push(warning), ops, now });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const steps = () =>
    read('metrics.jsonl')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { step: number }).step);
  return { folder, files, warnings, read, steps };
}

describe('openRunFiles', () => {
  it('writes the whole configuration as YAML', () => {
    const { files, read } = open();
    const config = parseConfig({ seed: 7, learning_rate: 2e-4 });
    files.writeConfig(config);
    expect(parseConfig(parse(read('run.yaml')))).toEqual(config);
    expect(read('run.yaml')).not.toContain('#');
  });

  it('appends one object a step', () => {
    const { files, read } = open();
    files.appendStep(1, { reward: 0.5, loss: Number.NaN });
    files.appendStep(2, { reward: 0.75 });
    expect(read('metrics.jsonl')).toBe('{"step":1,"reward":0.5,"loss":null}\n{"step":2,"reward":0.75}\n');
  });

  it('truncates to the step of a checkpoint, and replaces a step sent again', () => {
    const { files, steps, read } = open();
    for (let step = 1; step <= 6; step++) {
      files.appendStep(step, { reward: step });
      files.appendSamples(step, [sampleOf({ completion: `=== step ${step + 1}: a trap` })]);
    }
    files.discardAfter(4);
    expect(steps()).toEqual([1, 2, 3, 4]);
    expect(read('sample_outputs.log').match(/^=== step \d+/gm)).toEqual([1, 2, 3, 4].map((step) => `=== step ${step}`));
    files.appendStep(4, { reward: 40 });
    files.appendStep(5, { reward: 50 });
    files.appendSamples(5, []);
    expect(steps()).toEqual([1, 2, 3, 4, 5]);
    expect(read('metrics.jsonl')).toContain('{"step":4,"reward":40}');
  });

  it('keeps every entry of the log, several a step, and cuts those after a checkpoint', () => {
    const { files, read, folder } = open();
    for (const [step, line] of [
      [0, 'Started'],
      [4, 'Checkpoint'],
      [4, 'Paused\nbecause of a trap: step 99'],
      [6, 'Warning'],
      [4, 'late'],
    ] as const)
      files.appendLog({ step, lines: [line] });
    const whole = read('training.log');
    expect(whole.match(/ step \d+ {2}\w+/g)).toEqual(
      ['0  Started', '4  Checkpoint', '4  Paused', '6  Warning', '4  late'].map((entry) => ` step ${entry}`),
    );
    files.discardAfter(4);
    expect(read('training.log')).toBe(whole.slice(0, whole.indexOf('2026-01-02 03:04:05Z  step 6')));
    appendFileSync(join(folder, 'training.log'), '2026-01-02 03:0');
    open(folder).files.appendLog({ step: 5, lines: ['again'] });
    expect(read('training.log').split('\n').at(-2)).toBe('2026-01-02 03:04:05Z  step 5  again');
    expect(read('training.log')).not.toContain('03:02026');
  });

  it('continues after a process that was killed in the middle of a line', () => {
    const first = open();
    first.files.appendStep(1, { reward: 1 });
    first.files.appendSamples(1, [sampleOf()]);
    const whole = first.read('sample_outputs.log');
    appendFileSync(join(first.folder, 'metrics.jsonl'), '{"step":2,"rew');
    appendFileSync(join(first.folder, 'sample_outputs.log'), '=== ste');
    const second = open(first.folder);
    expect(second.read('sample_outputs.log')).toBe(whole);
    second.files.appendStep(2, { reward: 2 });
    expect(second.steps()).toEqual([1, 2]);
    second.files.appendStep(1, { reward: 3 });
    expect(second.steps()).toEqual([1]);
  });

  it('drops lines that are not steps', () => {
    const folder = temporaryFolder();
    appendFileSync(join(folder, 'metrics.jsonl'), '{"step":1}\n[]\n{"step":2}\n');
    expect(open(folder).steps()).toEqual([1]);
  });

  it('reports a full disk once, leaves no part of a line, and continues when there is space again', () => {
    let full = false;
    const writeSync = (file: number, bytes: Uint8Array, offset: number, length: number) => {
      if (!full) return fs.writeSync(file, bytes, offset, length);
      if (length > 8) return fs.writeSync(file, bytes, offset, 8);
      throw Object.assign(new Error('ENOSPC: simulated'), { code: 'ENOSPC', syscall: 'write' });
    };
    const { files, warnings, steps, read } = open(temporaryFolder(), {
      ...fs,
      writeSync: writeSync as typeof fs.writeSync,
    });
    files.appendStep(1, { reward: 1 });
    full = true;
    files.appendStep(2, { reward: 2 });
    files.appendSamples(2, [sampleOf()]);
    files.appendLog({ step: 2, lines: ['lost'] });
    files.writeConfig(parseConfig({}));
    full = false;
    files.appendLog({ step: 3, lines: ['kept'] });
    files.appendStep(3, { reward: 3 });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({
      code: 'RUN_FILES_INCOMPLETE',
      message: expect.stringMatching(/metrics\.jsonl.*disk is full.*Training continues/s),
      remedy: expect.stringContaining('Free some space'),
    });
    expect(steps()).toEqual([1, 3]);
    expect(read('training.log')).toBe('2026-01-02 03:04:05Z  step 3  kept\n');
  });

  it.skipIf(process.platform === 'win32')('neither adds to nor cuts what a link in its place leads to', () => {
    const folder = temporaryFolder();
    const victim = join(temporaryFolder(), 'authorized_keys');
    fs.writeFileSync(victim, 'not a step\nhalf a line');
    for (const name of ['metrics.jsonl', 'sample_outputs.log', 'training.log'])
      fs.symlinkSync(victim, join(folder, name));
    const warnings: BraidError[] = [];
    const files = openRunFiles(folder, { onWarning: (warning) => warnings.push(warning) });
    files.appendStep(1, { reward: 1 });
    files.appendSamples(1, [sampleOf()]);
    files.appendLog({ step: 1, lines: ['started'] });
    appendToLog(folder, { step: 1, lines: ['interrupted'] });
    files.discardAfter(0);
    expect(readFileSync(victim, 'utf8')).toBe('not a step\nhalf a line');
    expect(warnings.map(({ code }) => code)).toEqual(['RUN_FILES_INCOMPLETE']);
  });

  it('survives a folder that is gone', () => {
    const { files, warnings } = open(join(temporaryFolder(), 'gone'));
    files.discardAfter(3);
    files.appendStep(1, {});
    files.appendStep(2, {});
    files.appendLog({ step: 2, lines: ['nowhere'] });
    expect(warnings).toHaveLength(1);
  });
});

describe('appendToLog', () => {
  it('adds to a log that is there, after half a line, and makes none', () => {
    const folder = temporaryFolder();
    appendToLog(folder, { step: 3, lines: ['Error: quit'] });
    expect(fs.existsSync(join(folder, 'training.log'))).toBe(false);
    open(folder).files.appendLog({ step: 0, lines: ['Started'] });
    appendFileSync(join(folder, 'training.log'), '2026-01-02 03');
    appendToLog(folder, { step: 3, lines: ['Error: quit'] });
    const lines = readFileSync(join(folder, 'training.log'), 'utf8').split('\n');
    expect(lines.map((line) => line.slice(20))).toEqual(['  step 0  Started', '  step 3  Error: quit', '']);
  });
});

describe('formatSamples', () => {
  it('shows of several turns what answered the model too', () => {
    const messages = [
      { role: 'assistant' as const, content: 'a guess' },
      { role: 'user' as const, content: 'Higher' },
    ];
    expect(formatSamples(1, [sampleOf({ completion: 'a guess', messages })])).toContain(
      '    Assistant: a guess\n\n    User: Higher\n',
    );
  });

  it('shows the best and the worst under their targets', () => {
    const text = formatSamples(20, [
      sampleOf({ index: 0, reward: 0.25, completion: 'one two', components: {}, terminated: false }),
      sampleOf({ index: 1, reward: 1, completion: 'red one blue two' }),
      sampleOf({ index: 2, reward: 0.5, completion: 'middle' }),
    ]);
    expect(text).toBe(`=== step 20: 3 completions, mean reward 0.5833

--- best: reward 1.0000, advantage 0.5000
  record r1, group 0, completion 1, 4 tokens, ended by itself
  components: alignment 0.7500
  target:
    red one blue two
  completion:
    red one blue two

--- worst: reward 0.2500, advantage 0.5000
  record r1, group 0, completion 0, 4 tokens, cut off at max_completion_length
  target:
    red one blue two
  completion:
    one two

`);
  });

  it('wraps long lines at words, keeps line breaks, and shows control characters', () => {
    const words = Array.from({ length: 60 }, () => 'word').join(' ');
    const text = formatSamples(1, [
      sampleOf({ completion: `${words}\n\u001b[31mred\r\nend`, target: 'x'.repeat(150) }),
    ]);
    const lines = text.split('\n');
    expect(lines.filter((line) => line.includes('word')).every((line) => line.length <= 100)).toBe(true);
    expect(lines).toContain('    \\u001b[31mred');
    expect(lines).toContain('    end');
    expect(lines).toContain(`    ${'x'.repeat(150)}`);
  });

  it('names an empty completion, and counts one without reward as the worst', () => {
    const text = formatSamples(1, [
      sampleOf({ reward: Number.NaN, completion: ' ', index: 0 }),
      sampleOf({ reward: 0, index: 1 }),
    ]);
    expect(text).toMatch(/worst: reward NaN[\s\S]*\(nothing\)/);
    expect(text).toContain('mean reward 0.0000');
    expect(formatSamples(1, [])).toBe('');
  });
});
