import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exportForTrl, inputsOfConfig } from '../../../main/services/trl/export.ts';
import { readExportedRecords } from '../../../main/services/trl/layout.ts';
import { openFolderReward, serveReward } from '../../../main/services/trl/serve-reward.ts';
import { interleaveTask } from '../../../main/tasks/interleave/task.ts';
import { replyTask } from '../../../main/tasks/reply/task.ts';
import type { Answer, TaskRecord } from '../../../main/tasks/task.ts';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { exportTinyStage, home, paths, tinyStage } from './tiny-export.ts';

const answer = (record: TaskRecord, completion: string): Answer => ({
  record,
  completion,
  tokens: 3,
  finish: 'stop' as const,
});

function opened(folder: string) {
  const reward = openFolderReward(folder, paths.rewardWorker);
  onTestFinished(() => reward.close());
  return reward;
}

/** A task folder whose reward fails on empty completions. */
async function exportOwnTask(root: string, changes: Partial<TrainConfig> = {}): Promise<string> {
  const task = join(root, 'tasks', 'own');
  mkdirSync(task, { recursive: true });
  writeFileSync(
    join(task, 'task.yaml'),
    'title: Own\nfields:\n  first: text\nprompt: "{first}"\nrewards:\n  words: 1\nhighest_reward: 9\nsuccess_threshold: 3\nmax_completion_length: 8\ncheck: letters\n',
  );
  writeFileSync(
    join(task, 'reward.ts'),
    "export const reward = ({ completion }) => { if (completion === '') throw new Error('empty'); return completion.split(' ').length; };\nexport const check = ({ completion }) => completion.length;\n",
  );
  const dataset = join(root, 'own.jsonl');
  const records = ['one', 'two'].map((id) => `${JSON.stringify({ id, first: 'wa wb' })}\n`);
  writeFileSync(dataset, records.join(''));
  const config = await tinyStage(root, { task, dataset, ...changes });
  return exportForTrl(inputsOfConfig(temporaryStore(), config, paths), join(root, 'export'), paths, home).folder;
}

describe('openFolderReward', () => {
  it('gives the rewards of interleaving', async () => {
    const { folder } = await exportTinyStage(temporaryStore(), temporaryFolder());
    const [one] = readExportedRecords(folder);
    const answers = [one?.target ?? '', 'wa'].map((text) => answer(one?.record as TaskRecord, text));
    const { scores, failures, metrics } = opened(folder).score(answers);
    expect(scores).toEqual(interleaveTask.score(answers as never).map(({ components }) => components));
    expect(scores[0]).toEqual({ alignment: 1 });
    expect([failures, metrics]).toEqual([['', ''], {}]);
  });

  it('gives those of replies, fitted to the training records as in a run', async () => {
    const root = temporaryFolder();
    const records = ['wa wb wc', 'wd we wf', 'wa wd wg'].map((post, i) => ({
      id: `r${i}`,
      post,
      reply: `${post} wz`,
      engagement: { likes: i, reposts: 0, replies: 0 },
    }));
    const dataset = join(root, 'replies.jsonl');
    writeFileSync(dataset, records.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const config = await tinyStage(root, { task: 'reply', dataset });
    const { folder } = exportForTrl(inputsOfConfig(temporaryStore(), config, paths), join(root, 'x'), paths, home);
    const read = readExportedRecords(folder).map(({ record }) => record);
    const answers = read.map((record) => answer(record, 'I love wa wd, do you?'));
    const { scores, metrics } = opened(folder).score(answers);
    const fitted = replyTask.fit(read as never).score(answers as never);
    expect(scores).toEqual(fitted.map(({ components }) => components));
    expect(metrics['check/reference_overlap']).toBeTypeOf('number');
  });

  it('gives those of your own task, from the copy in the folder', async () => {
    const root = temporaryFolder();
    const folder = await exportOwnTask(root);
    rmSync(join(root, 'tasks'), { recursive: true });
    const [one] = readExportedRecords(folder);
    const scored = opened(folder).score([answer(one?.record as TaskRecord, 'wa wb wc')]);
    expect(scored).toEqual({ scores: [{ words: 3 }], failures: [''], metrics: { 'check/letters': 8 } });
  });

  it('treats failures as the configuration says', async () => {
    const scoreWith = async (policy: TrainConfig['reward_failure']) => {
      const folder = await exportOwnTask(temporaryFolder(), { reward_failure: policy });
      const [one, two] = readExportedRecords(folder).map(({ record }) => record) as [TaskRecord, TaskRecord];
      return opened(folder).score([answer(one, 'wa'), answer(one, ''), answer(two, 'wa wb')]);
    };
    expect((await scoreWith('zero')).scores).toEqual([{ words: 1 }, { words: 0 }, { words: 2 }]);
    const skipped = await scoreWith('skip_group');
    expect(skipped.scores).toEqual([{ words: null }, { words: null }, { words: 2 }]);
    expect(skipped.failures[1]).toContain('empty');
    expect(skipped.metrics.reward_failures).toBeCloseTo(1 / 3);
    await expect(scoreWith('stop')).rejects.toMatchObject({ code: 'REWARD_FAILED' });
  });

  it('refuses folders that were not exported, or have lost the text of their task', async () => {
    const root = temporaryFolder();
    expect(() => openFolderReward(root, '')).toThrow(expect.objectContaining({ code: 'BAD_TRL_FOLDER' }));
    const folder = await exportOwnTask(root);
    const copy = join(root, 'copy');
    cpSync(folder, copy, { recursive: true });
    rmSync(join(copy, 'tasks'), { recursive: true });
    expect(() => openFolderReward(copy, '')).toThrow(expect.objectContaining({ code: 'BAD_TRL_FOLDER' }));
  });
});

describe('serveReward', () => {
  const ask = async (...lines: readonly string[]) => {
    const written: string[] = [];
    const reward = {
      score: (answers: readonly Answer[]) => ({
        scores: answers.map(({ completion, group }) => ({
          letters: completion.length,
          of: group?.completions.length ?? 0,
        })),
        failures: answers.map(() => ''),
        metrics: {},
      }),
    };
    await serveReward(reward, Readable.from(lines.map((line) => `${line}\n`)), (line) => void written.push(line));
    return written.map((line) => JSON.parse(line));
  };

  it('answers each line, empty batches too', async () => {
    // A line separator is a character of JSON's texts, and ends no line.
    const one = { record: { id: 'a', prompt: 'p' }, completion: 'a\u2028c', tokens: 1, finish: 'length' };
    expect(await ask(JSON.stringify({ answers: [one] }), '', JSON.stringify({ answers: [] }))).toEqual([
      { scores: [{ letters: 3, of: 1 }], failures: [''], metrics: {} },
      { scores: [], failures: [], metrics: {} },
    ]);
  });

  it("takes a record's completions for its group", async () => {
    const answers = ['a', 'b', 'a'].map((id) => ({
      record: { id, prompt: 'p' },
      completion: id,
      tokens: 1,
      finish: 'stop',
    }));
    const [{ scores }] = await ask(JSON.stringify({ answers }));
    expect(scores.map(({ of }: { of: number }) => of)).toEqual([2, 1, 2]);
  });

  it('says what is wrong with a request, and continues', async () => {
    const [broken, other, good] = await ask('{', '{"answers":[{"completion":1}]}', '{"answers":[]}');
    expect(broken.error).toContain('Expected {"answers"');
    expect(other.error).toContain('answers.0.record');
    expect(good.scores).toEqual([]);
  });
});
