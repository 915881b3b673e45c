import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { evaluateFolderTask } from '../../../main/services/evaluation/evaluate.ts';
import { type PlayedRecord, type PlayRequest, play, playRecord } from '../../../main/services/playground/play.ts';
import { requireSource } from '../../../main/services/tasks/task-list.ts';
import { openTextWorkers } from '../../../main/services/text-worker/workers.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openJobs } from '../../../main/services/workspace/jobs.ts';
import { openTask } from '../../../main/tasks/index.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

/** The second turn is worth what it repeats of the answer to the first. */
const ECHO = `
export const step = ({ record, messages, turn }) => {
  const said = messages[messages.length - 1].content;
  if (turn === 1) return { message: record.word + ' ' + record.word, done: false };
  if (record.word === 'bad') throw new Error('no such word');
  return { reward: said.length / 100, done: true };
};
export const check = ({ completion }) => completion.length;`;

const DEFINITION = `title: Echo
fields: { word: text }
prompt: 'Say {word}'
environment: { max_turns: 3, max_turn_tokens: 3 }
max_completion_length: 24
rewards: { echoed: 2 }
success_threshold: 1
check: characters
`;

async function place(definition = DEFINITION, reward = ECHO) {
  const { root, store, paths, model } = await tinyWorkspace();
  const folder = join(root, 'tasks/echo');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'task.yaml'), definition);
  writeFileSync(join(folder, 'reward.ts'), reward);
  writeFileSync(join(folder, 'records.jsonl'), '{"word":"red"}\n\n{"word":"bad"}\n{"world":"blue"}\n');
  const workers = openTextWorkers(paths.textWorker);
  onTestFinished(() => workers.close());
  const app = {
    store,
    paths,
    library: { workers },
    workspace: { models: join(root, 'models') },
    jobs: openJobs(openChanges()),
  };
  const request: PlayRequest = {
    task: 'echo',
    from: { datasetId: null, side: 'train' },
    index: 0,
    model: 'workspace:tiny-test',
    beside: [],
    temperature: 0,
    seed: 1,
  };
  return { app, request, model, root };
}

async function all(stream: AsyncIterable<PlayedRecord>): Promise<PlayedRecord[]> {
  const shown: PlayedRecord[] = [];
  for await (const one of stream) shown.push(one);
  return shown;
}

describe('playRecord', () => {
  it('gives a record as the model is given it', async () => {
    const { app, request } = await place();
    expect(await playRecord(app, request)).toEqual({
      ...{
        id: 'line-1',
        messages: [{ role: 'user', content: 'Say red' }],
        reference: '',
        total: 3,
        show: 'plain',
        maxTurns: 3,
      },
    });
  });

  it('says what is wrong with a record, and where; and that there is none', async () => {
    const { app, request } = await place();
    await expect(playRecord(app, { ...request, index: 2 })).rejects.toMatchObject({
      message: expect.stringMatching(
        /records\.jsonl, line 4: expected the field "word" .*; it has "world": did you mean "word"\?/,
      ),
    });
    await expect(playRecord(app, { ...request, index: 3 })).rejects.toMatchObject({
      code: 'NO_SUCH_RECORD',
      message: 'There is no record 4: the file has 3',
    });
    await expect(playRecord(app, { ...request, task: 'ecko' })).rejects.toMatchObject({ code: 'UNKNOWN_TASK' });
  });
});

describe('play', () => {
  it('streams a conversation turn by turn, and ends with what an evaluation gives', async () => {
    const { app, request, model, root } = await place();
    const shown = await all(play(app, request));
    const last = shown.at(-1);
    expect(last?.messages?.map(({ role }) => role)).toEqual(['assistant', 'user', 'assistant']);
    expect(last?.messages?.[1]?.content).toBe('red red');
    expect(shown.slice(0, -1).every(({ end }) => end === null)).toBe(true);
    const source = requireSource('echo', { workspace: root, paths: app.paths });
    const record = openTask(source, '').parseRecord({ word: 'red' }, 1);
    const evaluated = await evaluateFolderTask(source, {
      models: [{ name: 'tiny', folder: model }],
      dataset: [record],
      paths: app.paths,
    });
    const item = evaluated.results[0]?.items[0];
    expect(last?.completion).toBe(item?.completion);
    expect(last?.end).toMatchObject({ reward: item?.metrics.reward, backend: 'wasm', failure: null });
    expect(last?.end?.components.echoed).toBeCloseTo((item?.metrics.reward ?? 0) / 2);
    expect(last?.end?.check).toEqual({ name: 'characters', value: item?.metrics.characters });
  });

  it('shows the turns there were and why there is no reward, where a step fails', async () => {
    const { app, request } = await place();
    const last = (await all(play(app, { ...request, index: 1 }))).at(-1);
    expect(last?.messages).toHaveLength(3);
    expect(last?.end).toMatchObject({ reward: null, failure: expect.stringContaining('no such word') });
  });

  it('aligns a completion of one turn with its target', async () => {
    const definition = `title: Echo
fields: { word: text }
prompt: 'Say {word}'
target: '{word}'
show: aligned
success_threshold: 1
`;
    const { app, request } = await place(definition, 'export const reward = ({ completion }) => completion.length;');
    const last = (await all(play(app, request))).at(-1);
    expect(last).not.toHaveProperty('messages');
    expect(last?.alignment?.counts).toMatchObject({ match: expect.any(Number) });
    expect(last?.end?.reward).toBe(last?.completion.length);
    const stop = last?.completion.split(' ')[1] ?? '';
    const stopped = (await all(play(app, { ...request, stop: [stop] }))).at(-1);
    expect(stopped?.completion).toBe(last?.completion.split(' ').slice(0, 2).join(' '));
    expect(stopped?.end).toMatchObject({ terminated: true, reward: stopped?.completion.length });
  });

  it("says before a process is started what the reward may not reach, and that a reward can't run", async () => {
    const judged = DEFINITION.replace(/environment.*\n/, '').replace(
      'rewards: { echoed: 2 }',
      'rewards: { judged: { weight: 1, http: "https://rewards.example/score" } }',
    );
    const outside = await place(judged, 'export const check = () => 1;');
    await expect(all(play(outside.app, outside.request))).rejects.toMatchObject({ code: 'REWARD_NOT_ALLOWED' });
    expect(outside.app.jobs.list()).toEqual([]);
    const broken = await place(DEFINITION, 'export const step = 1;');
    await expect(all(play(broken.app, broken.request))).rejects.toMatchObject({
      message: expect.stringContaining('reward.ts'),
    });
  });
});
