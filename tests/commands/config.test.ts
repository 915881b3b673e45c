import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { registerConfig } from '../../main/commands/config.ts';
import { registerExport } from '../../main/commands/export.ts';
import { checkoutPaths, setHostPaths } from '../../main/commands/host-paths.ts';
import { createRun } from '../../main/services/runs/runs.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { parseConfig } from '../../main/trainer/config/config.ts';
import { temporaryStore } from '../store/helpers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { runCommand } from './run-command.ts';

beforeAll(() => setHostPaths(checkoutPaths(resolve(import.meta.dirname, '../..'))));

describe('braid config', () => {
  it('lists the presets and prints one with every field', async () => {
    expect((await runCommand(registerConfig, 'config')).stdout).toContain('grpo_from_baseline\n');
    const { stdout } = await runCommand(registerConfig, 'config', '--preset', 'baseline');
    expect(parseConfig(parse(stdout))).toMatchObject({ method: 'sft', lora_r: 16, adam_beta1: 0.9 });
    const { error } = await runCommand(registerConfig, 'config', '--preset', 'basline');
    expect(error?.message).toContain('got "basline"');
  });

  it("writes a run's configuration, which makes the same run", async () => {
    const root = temporaryFolder();
    openWorkspace({ workspace: root });
    const made = parseConfig({ task: 'reply', seed: 9 });
    const { runId } = createRun(temporaryStore(root), made);
    const file = join(root, 'out.yaml');
    await runCommand(registerConfig, 'config', '--run', String(runId), '--output', file, '--workspace', root);
    expect(parseConfig(parse(readFileSync(file, 'utf8')))).toEqual(made);
    const { error } = await runCommand(registerConfig, 'config', '--run', '77', '--workspace', root);
    expect(error?.kind).toBe('input');
  });

  it('makes no workspace of a folder that is none', async () => {
    const folder = temporaryFolder();
    for (const [register, ...words] of [
      [registerConfig, 'config'],
      [registerExport, 'export', '--output', join(folder, 'out')],
    ] as const) {
      const { error } = await runCommand(register, ...words, '--run', '7', '--workspace', folder);
      expect(error).toMatchObject({ code: 'NO_WORKSPACE' });
    }
    expect(readdirSync(folder)).toEqual([]);
  });
});
