/** The way to TRL and back, as separate processes; TRL's own part is stored (tests/services/trl/tiny-export.ts). */
import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readExportedRecords } from '../../main/services/trl/layout.ts';
import { BRAID } from '../processes/paths.ts';
import { fixtures, tinyStage } from '../services/trl/tiny-export.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { braid } from './braid.ts';

const root = temporaryFolderOfFile();
const place = (name: string): string => join(root, name);
const run = (...args: string[]) => braid([...args, '--workspace', place('ws')]);

let stage: string[] = [];
beforeAll(async () => {
  const { model, dataset } = await tinyStage(root);
  const sizes = ['max_steps=3', 'num_generations=4', 'per_device_train_batch_size=8', 'lora_r=2', 'kl_clamp=9'];
  stage = ['--model', model, '--dataset', dataset, ...sizes.flatMap((one) => ['--set', one])];
});

/** Sends one line to `braid task serve-reward`, then ends its input. */
function askReward(folder: string, line: string): Promise<string> {
  const child = spawn(process.execPath, [BRAID, 'task', 'serve-reward', folder]);
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  child.stdin.end(`${line}\n`);
  return new Promise((done) => child.on('close', () => done(written)));
}

describe('braid export --for trl, task serve-reward and import-run', () => {
  it('lead from a stage to a run in the history', async () => {
    const exported = await run('export', '--for', 'trl', '--output', place('out'), ...stage);
    expect(exported.code, exported.stderr).toBe(0);
    expect(exported.stdout).toContain('12 training records, 4 held out');
    expect(exported.stdout).toContain('[!] not carried over: kl_clamp: 9');

    const [one] = readExportedRecords(place('out'));
    const answers = [{ record: one?.record, completion: one?.target, tokens: 5, finish: 'stop' }];
    expect(JSON.parse(await askReward(place('out'), JSON.stringify({ answers })))).toEqual({
      scores: [{ alignment: 1 }],
      failures: [''],
      metrics: {},
    });

    cpSync(fixtures, place('out/output'), { recursive: true });
    const imported = await run('import-run', place('out'), '--name', 'batch', '--json');
    expect(imported.code, imported.stderr).toBe(0);
    expect(JSON.parse(imported.stdout)).toMatchObject({ name: 'batch', steps: 3, samples: 16, checkpoints: 2 });
    // The imported run can be exported like any other.
    const again = await run('export', '--run', '1', '--for', 'trl', '--output', place('again'), '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ folder: place('again'), train: 12 });
  }, 120_000);

  it('say what is wrong with the options, with exit code 2', async () => {
    const output = ['--output', place('none')];
    const [other, neither, both, only, missing, bare, full] = await Promise.all([
      run('export', '--for', 'verl', ...output, ...stage),
      run('export', '--for', 'trl', ...output),
      run('export', '--for', 'trl', '--run', '1', '--dataset', 'x.jsonl', ...output),
      run('export', '--dataset', 'x.jsonl', ...output),
      run('import-run', place('nowhere')),
      run('export', '--run', '1'),
      run('export', '--run', '1', '--for', 'mlflow', ...output),
    ]);
    expect([other, neither, both, only, missing, bare, full].map((one) => one?.code)).toEqual(Array(7).fill(2));
    expect(bare?.stderr).toContain('Expected --output DIR, got none');
    expect(full?.stderr).toContain('Expected --for mlflow without --output');
    expect(other?.stderr).toContain('Expected --for trl, trackio, wandb, mlflow, got "verl"');
    expect(neither?.stderr).toContain('--run ID');
    expect(both?.stderr).toContain('--dataset with --for trl and without --run');
    expect(missing?.stderr).toContain('there is no such folder');
  });
});
