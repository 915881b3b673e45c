/** Whole runs of a task that mixes reward.ts with a command, a judge and a local model, through the real services. */
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareModels } from '../../../main/services/comparisons/sampled/compare.ts';
import { evaluateFolderTask } from '../../../main/services/evaluation/evaluate.ts';
import { rewardRow } from '../../../main/services/evaluation/history.ts';
import { runCost } from '../../../main/services/runs/cost.ts';
import { allowReaches, openConsentFile, reachesOf } from '../../../main/services/tasks/consent.ts';
import { rewardAccess } from '../../../main/services/tasks/reward-access.ts';
import { setRewardKey } from '../../../main/services/tasks/reward-keys.ts';
import { resumeTraining, startTraining } from '../../../main/services/training/training.ts';
import { openSecrets } from '../../../main/services/workspace/secrets.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import type { Metrics, TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { chatAnswer, json, rewardServer } from '../../rewards/reward-server.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { writeTask } from '../tasks/task-folder.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

const KEY = 'k3y-that-must-not-leak';
const fixture = (name: string): string => resolve(import.meta.dirname, '../../parity/fixtures', name);

const COMMAND = `import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, completion } = JSON.parse(line);
  process.stdout.write(JSON.stringify({ id, score: completion.length / 10 }) + '\\n');
}
`;

/** A workspace with a task that has every kind that a test can have, all of it agreed to. */
async function world(
  judged: (content: string, before: number) => string = (content) => `Score: ${content.length % 10}`,
) {
  const tiny = await tinyWorkspace();
  const server = await rewardServer(({ body }, before, response) =>
    json(response, chatAnswer(judged(body.messages[0].content, before))),
  );
  const classifier = join(tiny.root, 'models', 'rm');
  cpSync(fixture('classifiers/llama'), classifier, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    copyFileSync(join(fixture('bert'), file), join(classifier, file));
  const folder = writeTask(join(tiny.root, 'tasks'), 'mix', {
    'task.yaml': `title: Mixed
fields: { fragment_a: text, fragment_b: text }
prompt: 'Say {fragment_a}'
target: '{fragment_a}'
max_completion_length: 8
success_threshold: 1
rewards:
  said: 1
  length: { weight: 0.5, command: [${JSON.stringify(process.execPath)}, score.mjs] }
  quality:
    weight: 1
    judge: ${server.url}/v1
    model: small
    rubric: 'Answer: {completion}'
    scale: [0, 9]
    retries: 0
    price_per_million: { input: 1000, output: 1000 }
  helpful: { weight: 0.1, classifier: models/rm }
`,
    'reward.ts': `import { alignment } from 'braid';
export const reward = ({ record, completion }) => ({ said: alignment(record.fragment_a, completion) });`,
    'score.mjs': COMMAND,
  });
  const own = temporaryFolder();
  const consents = openConsentFile(join(own, 'allowed-rewards.json'));
  const secrets = openSecrets({ file: join(own, 'secrets.json') });
  setRewardKey(secrets, server.url, KEY);
  const access = { consents, secrets };
  const agree = (): void => {
    const source = readTaskFolder(folder);
    allowReaches(
      source,
      reachesOf(source, consents).map(({ hash }) => hash),
      consents,
    );
  };
  const start = (changes: Partial<TrainConfig> = {}) => {
    const steps: Metrics[] = [];
    const onEvents = (events: readonly TrainerEvent[]): void => {
      for (const event of events) if (event.kind === 'step') steps.push(event.metrics);
    };
    const config = tiny.config({ task: 'mix', max_steps: 2, eval_steps: 0, reward_failure: 'zero', ...changes });
    const run = startTraining(tiny.store, config, { paths: tiny.paths, access, onEvents });
    return { run, steps };
  };
  return { ...tiny, server, folder, access, agree, start };
}

/** Every file below a folder that contains a text. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}

const numbersOf = (steps: readonly Metrics[]) =>
  steps.map((metrics) => [metrics.reward, metrics.loss, metrics['rewards/quality/mean'], metrics.grad_norm]);

describe('a run whose reward is mixed', () => {
  it('does not start before the user has agreed, and nothing runs or is sent', async () => {
    const { start, server, store, folder } = await world();
    writeFileSync(join(folder, 'score.mjs'), "require('fs').writeFileSync('/tmp/never', '')");
    expect(() => start()).toThrow(expect.objectContaining({ code: 'REWARD_NOT_ALLOWED' }));
    expect(server.received).toHaveLength(0);
    expect(store.runs.list()).toHaveLength(0);
  });

  it('has a curve, a time share, failures and a cost of each kind; its key is in no file', async () => {
    // The judge answers some completions in prose.
    const { start, agree, server, root, store, paths, access } = await world((content, before) =>
      before % 5 === 4 ? 'What a nice answer!' : `Score: ${content.length % 10}`,
    );
    agree();
    const { run, steps } = start();
    const outcome = await run.outcome;
    expect(outcome).toMatchObject({ state: 'done', step: 2, error: null });
    const [first = {}] = steps;
    for (const name of ['said', 'length', 'quality', 'helpful'])
      expect(first[`rewards/${name}/mean`]).toBeTypeOf('number');
    for (const name of ['sandbox', 'length', 'quality', 'helpful'])
      expect(first[`time/reward/${name}`]).toBeGreaterThan(0);
    expect(first).toMatchObject({ 'reward_failures/length': 0, 'reward_failures/helpful': 0 });
    expect(first['reward_failures/quality']).toBeGreaterThan(0);
    expect(first.reward_failures).toBeCloseTo(first['reward_failures/quality'] ?? 0, 10);
    expect(first.reward_cost).toBeGreaterThan(0);
    const { spent } = runCost(store, run.runId, { hourly_price: 0, currency: '$' });
    expect(spent.cost).toBeCloseTo((server.received.length * 110 * 1000) / 1e6, 9);
    const failed = store.samples.byStep(run.runId, 1).find(({ failure }) => failure !== null);
    expect(failed?.failure).toContain('quality: the judge gave no score');

    // A resumed run pays only for what it hasn't asked, and is refused where the agreement was taken back.
    const before = server.received.length;
    expect(before).toBeGreaterThan(3);
    expect(server.received.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true);
    expect(filesWith(root, KEY)).toEqual([]);
    expect(filesWith(join(root, 'judge-answers'), 'nice answer').length).toBeGreaterThan(0);

    const row = store.runs.get(run.runId);
    expect(JSON.parse(row?.externalJson ?? '[]')).toEqual([
      { component: 'length', kind: 'command', hash: expect.stringMatching(/^[0-9a-f]{64}$/), host: null },
      { component: 'quality', kind: 'judge', hash: expect.any(String), host: new URL(server.url).host },
      { component: 'helpful', kind: 'classifier', hash: null, host: null },
    ]);
    expect(existsSync(join(run.folder, 'tasks/mix/score.mjs'))).toBe(true);
    const log = readFileSync(join(run.folder, 'training.log'), 'utf8');
    expect(log).toContain('Rewards outside the sandbox: length (command');
    expect(log).toContain('per step, plus what rewards outside the sandbox take');
    expect(log).toMatch(/helpful \(classifier, about [\d.]+ [KM]iB of memory\)/);
    const consents = openConsentFile(join(root, 'none.json'));
    const resume = (trust: typeof access) => resumeTraining(store, run.runId, { paths, access: trust, maxSteps: 3 });
    expect(() => resume({ ...access, consents })).toThrow(expect.objectContaining({ code: 'REWARD_NOT_ALLOWED' }));
    expect(await resume(access).outcome).toMatchObject({ state: 'done', step: 3, error: null });
  }, 120_000);

  it('is the same run again from the kept answers, without asking anybody, resumed too', async () => {
    const { start, agree, server, store, root, paths, access } = await world();
    agree();
    const first = start({ max_steps: 4, save_steps: 2, steps_per_generation: 2 });
    await first.run.outcome;
    const asked = server.received.length;
    expect(asked).toBeGreaterThan(0);
    const second = start({ max_steps: 4, save_steps: 2, steps_per_generation: 2 });
    expect(await second.run.outcome).toMatchObject({ state: 'done' });
    expect(numbersOf(second.steps)).toEqual(numbersOf(first.steps));
    expect(server.received).toHaveLength(asked);
    expect(second.steps[0]).toMatchObject({ reward_cost: 0 });
    // From its checkpoint at step 2, whose generation is scored once more.
    const checkpoint = { step: 2, path: join(second.run.folder, 'checkpoint-2') };
    const steps: Metrics[] = [];
    const resumed = resumeTraining(store, second.run.runId, {
      paths,
      access,
      checkpoint,
      onEvents: (events) => {
        for (const event of events) if (event.kind === 'step') steps.push(event.metrics);
      },
    });
    expect(await resumed.outcome).toMatchObject({ state: 'done', step: 4, error: null });
    expect(numbersOf(steps)).toEqual(numbersOf(first.steps.slice(2)));
    expect(server.received).toHaveLength(asked);
    // Nor is it resumed with another model that scores.
    const config = join(root, 'models/rm/config.json');
    writeFileSync(config, `${readFileSync(config, 'utf8')}\n`);
    const other = resumeTraining(store, second.run.runId, { paths, access, checkpoint });
    expect((await other.outcome).error).toMatchObject({
      code: 'OTHER_MODEL',
      message: expect.stringContaining('helpful'),
    });
  }, 180_000);

  it('says what its judges cost in an evaluation and a comparison; kept answers cost nothing', async () => {
    const { agree, folder, root, paths, access, model, dataset, server } = await world();
    agree();
    const source = readTaskFolder(folder);
    const options = {
      models: [{ name: 'tiny', folder: model }],
      dataset,
      paths,
      rewardAccess: rewardAccess(source, { workspace: root, paths }, access),
    };
    const paid = (asked: number): number => (asked * 110 * 1000) / 1e6;
    const [first] = (await evaluateFolderTask(source, options)).results;
    const asked = server.received.length;
    expect(asked).toBeGreaterThan(0);
    expect(first?.rewardCost).toBeCloseTo(paid(asked), 9);
    expect(first && rewardRow(first).metrics.eval_reward_cost).toBe(first?.rewardCost);
    const [again] = (await evaluateFolderTask(source, options)).results;
    expect([again?.rewardCost, server.received.length]).toEqual([0, asked]);
    // A comparison scores in this process, which the judge of the test lives in: it can only have answers that are kept.
    const compared = await compareModels({
      ...options,
      task: source,
      samples: 1,
      k: [1],
      threshold: 1,
      temperature: 1e-4,
      seed: 1,
      backend: 'wasm',
      threads: 1,
    });
    expect(compared.rewardCost).toBe(0);
  }, 120_000);

  it('takes nothing from the groups of failed completions where the policy says so', async () => {
    const { start, agree, store } = await world((content, before) =>
      before === 0 ? 'No comment.' : content.length % 2 ? '3' : '7',
    );
    agree();
    const { run } = start({ reward_failure: 'skip_group', max_steps: 1 });
    expect(await run.outcome).toMatchObject({ state: 'done', error: null });
    const samples = store.samples.byStep(run.runId, 1);
    const skipped = new Set(samples.flatMap(({ failure, group }) => (failure === null ? [] : [group])));
    expect(skipped.size).toBeGreaterThan(0);
    for (const { group, advantage } of samples) if (skipped.has(group)) expect(advantage).toBe(0);
  });

  it('stops with the component and the reason where the policy says so', async () => {
    const { start, agree } = await world(() => 'No comment.');
    agree();
    const outcome = await start({ reward_failure: 'stop' }).run.outcome;
    expect(outcome).toMatchObject({ state: 'failed', error: { code: 'REWARD_FAILED' } });
    expect(outcome.error?.message).toContain('quality: the judge gave no score');
  });
});
