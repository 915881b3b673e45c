import { cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { braid } from '../commands/braid.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';

/** What a person can get wrong, and what `braid train` says of it. */
describe('braid train on bad input', () => {
  it('ends with 2, says what was expected, and leaves neither run nor folder', async () => {
    const { root, model, dataset, store } = await tinyWorkspace();
    const bad = join(root, 'bad.jsonl');
    writeFileSync(bad, readFileSync(dataset, 'utf8').replace('\n', '\n{"id": "half"\n'));
    const cut = join(root, 'models', 'cut');
    cpSync(model, cut, { recursive: true });
    truncateSync(join(cut, 'model.safetensors'), 3000);
    const cases: readonly [string, readonly string[], RegExp][] = [
      ['a dataset that is not there', ['--dataset', join(root, 'none.jsonl')], /none\.jsonl/],
      ['a dataset with a bad line', ['--dataset', bad, '--model', model], /bad\.jsonl, line 2: not JSON/],
      [
        'a model that is not there',
        ['--dataset', dataset, '--model', join(root, 'nowhere')],
        /nowhere: expected a model/,
      ],
      ['a model cut short', ['--dataset', dataset, '--model', cut], /model\.safetensors: the file is cut short/],
      [
        'a completion length that cannot hold the target',
        ['--dataset', dataset, '--model', model, '--set', 'max_completion_length=4'],
        /"max_completion_length" of at least 5 tokens.*got 4/,
      ],
      ['a group of one', ['--dataset', dataset, '--set', 'num_generations=1'], /"num_generations": .*>=2, got 1/],
      ['an unknown method', ['--dataset', dataset, '--method', 'ppo'], /"method": .*grpo.*sft.*got "ppo"/],
      ['an unknown field', ['--dataset', dataset, '--set', 'lerning_rate=1'], /--set field=value.*"lerning_rate=1"/],
      ['a value that is no YAML', ['--dataset', dataset, '--set', 'learning_rate={'], /--set learning_rate= .*got "{"/],
      [
        'a checkpoint that is not there',
        ['--dataset', dataset, '--from', join(root, 'gone')],
        /gone: expected a checkpoint/,
      ],
      ['nothing to resume', ['--resume'], /Expected a run that was interrupted or stopped/],
      ['a checkpoint of no run', ['--resume', model], /expected a checkpoint that a run of the workspace/],
      [
        'a resume with settings',
        ['--resume', '--dataset', dataset],
        /--resume with no more than --steps, got --dataset/,
      ],
      ['no dataset at all', [], /Expected --dataset, --config or --resume/],
    ];
    for (const [name, args, message] of cases) {
      const { code, stderr, stdout } = await braid(['train', ...args, '--workspace', root, '--json']);
      expect({ name, code, stdout }).toEqual({ name, code: 2, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/^ +at /m);
      expect({ name, runs: store.runs.list(), folders: readdirSync(join(root, 'outputs')) }).toEqual({
        name,
        runs: [],
        folders: [],
      });
    }
  });

  it('leaves a database of a newer version as it is', async () => {
    const { root, model, dataset, store } = await tinyWorkspace();
    store.close();
    const database = new Database(join(root, 'braid.db'));
    database.pragma('user_version = 99');
    database.close();
    const before = readFileSync(join(root, 'braid.db'));
    const { code, stderr } = await braid(['train', '--dataset', dataset, '--model', model, '--workspace', root]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(/braid\.db.*99/) });
    expect(readFileSync(join(root, 'braid.db'))).toEqual(before);
    expect(readdirSync(join(root, 'outputs'))).toEqual([]);
  });
});
