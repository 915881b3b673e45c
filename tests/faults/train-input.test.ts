import { cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { braid } from '../commands/braid.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';

/** Gives a word an id beyond the embedding, as a tokenizer with added tokens has them. */
function moveToken(tokenizer: string, token: string, id: number): void {
  const definition = JSON.parse(readFileSync(tokenizer, 'utf8'));
  definition.model.vocab[token] = id;
  writeFileSync(tokenizer, JSON.stringify(definition));
}

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
      ['a model cut short', ['--dataset', dataset, '--model', cut], /model\.safetensors: the file is truncated/],
      [
        'a completion length that cannot hold the target',
        ['--dataset', dataset, '--model', model, '--method', 'sft', '--set', 'max_completion_length=4'],
        /"max_completion_length" of at least 5 tokens.*got 4/,
      ],
      [
        'a group of one',
        ['--dataset', dataset, '--set', 'num_generations=1'],
        /"num_generations": expected at least 2, got 1/,
      ],
      ['an unknown method', ['--dataset', dataset, '--method', 'ppo'], /"method": .*grpo.*sft.*got "ppo"/],
      ['an unknown field', ['--dataset', dataset, '--set', 'lerning_rate=1'], /--set field=value.*"lerning_rate=1"/],
      [
        'a value that is not YAML',
        ['--dataset', dataset, '--set', 'learning_rate={'],
        /--set learning_rate= .*got "{"/,
      ],
      [
        'a checkpoint that is not there',
        ['--dataset', dataset, '--from', join(root, 'gone')],
        /gone: there is no such checkpoint|gone: /,
      ],
      ['nothing to resume', ['--resume'], /There is no interrupted or stopped run/],
      ['a checkpoint of no run', ['--resume', model], /expected a checkpoint of a run in the workspace/],
      [
        'a resume with settings',
        ['--resume', '--dataset', dataset],
        /--resume with no other option than --steps, got --dataset/,
      ],
      ['a checklist of a resume', ['--resume', '--checklist'], /no other option than --steps, got --checklist/],
      ['no dataset at all', [], /Expected --dataset, --config, --task or --resume/],
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

  it('refuses a dataset with tokens that the model has no embedding for, before the run', async () => {
    const { root, model, dataset, store } = await tinyWorkspace();
    moveToken(join(model, 'tokenizer.json'), 'wa', 32);
    const { code, stderr } = await braid(['train', '--dataset', dataset, '--model', model, '--workspace', root]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/record \S+: expected token ids from 0 to 31, the model's embedding, got 32 \("wa"\)/);
    expect(stderr).toContain("resize the model's embedding");
    expect(store.runs.list()).toEqual([]);
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
