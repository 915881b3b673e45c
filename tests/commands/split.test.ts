import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { registerSplit } from '../../main/commands/split.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { runCommand } from './run-command.ts';

const sample = resolve(import.meta.dirname, '../../datasets/sample_replies.jsonl');

const split = (input: string, folder: string, ...args: string[]) =>
  runCommand(registerSplit, 'split', '--input', input, '--output-dir', folder, ...args);

describe('braid split', () => {
  it('divides the bundled sample and reports statistics and checks', async () => {
    const folder = temporaryFolder();
    const { stdout, error } = await split(sample, folder, '--split-ratio', '0.5', '--seed', '42', '--json');
    expect(error).toBeNull();
    const told = JSON.parse(stdout);
    expect(told.sft).toBe(join(folder, 'train_phase1_sft.jsonl'));
    expect(told.after.sft.records + told.after.grpo.records).toBe(told.before.records);
    expect(told.checks.every(({ ok }: { ok: boolean }) => ok)).toBe(true);
  });

  it('rejects an invalid ratio', async () => {
    const { error } = await split(sample, temporaryFolder(), '--split-ratio', '1.5');
    expect(error?.kind).toBe('input');
    expect(error?.message).toContain('Expected --split-ratio to be a number between 0 and 1, got "1.5"');
  });
});
