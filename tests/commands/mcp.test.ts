/** `braid mcp` as an agent uses it: a process, driven over standard input and output. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { recordEvents } from '../../main/services/runs/events.ts';
import { createRun } from '../../main/services/runs/runs.ts';
import { currentHost } from '../../main/services/workspace/host.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { parseConfig } from '../../main/trainer/config/config.ts';
import { BRAID } from '../processes/paths.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { sampleOf, temporaryStore } from '../store/helpers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { braid } from './braid.ts';

interface Answer {
  readonly id: number;
  readonly result?: { readonly content?: readonly { readonly text: string }[]; readonly isError?: boolean };
}

/** Starts the server and shakes hands. */
function connect(...args: readonly string[]) {
  return connectWith({}, ...args);
}

async function connectWith(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const child = spawn(process.execPath, [BRAID, 'mcp', ...args], { env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  const answers = new Map<number, Answer>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    const answer = JSON.parse(line) as Answer;
    answers.set(answer.id, answer);
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  let next = 0;
  async function ask(method: string, params: object = {}): Promise<Answer> {
    const id = ++next;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    await until(() => answers.has(id));
    return answers.get(id) as Answer;
  }
  /** The result of a tool, or the text of its failure. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at parts of what tools return.
  async function call(name: string, given: object = {}): Promise<any> {
    const { result } = await ask('tools/call', { name, arguments: given });
    const text = result?.content?.[0]?.text ?? '';
    return result?.isError === true ? text : JSON.parse(text);
  }
  await ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '0' },
  });
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return { child, lines, stderr: () => stderr, ended, ask, call };
}

function workspace() {
  const root = temporaryFolder();
  openWorkspace({ workspace: root });
  const store = temporaryStore(root);
  const config = parseConfig({ dataset: 'datasets/10words.jsonl', max_steps: 40 });
  const runs = [0.1, 0.2].map((learning_rate) => createRun(store, { ...config, learning_rate }).runId);
  recordEvents(store, runs[0] ?? 0, [
    ...[1, 2, 3, 4].map((step) => ({ kind: 'step', step, metrics: { reward: step / 4, step_time: 1 } }) as const),
    { kind: 'samples', step: 2, samples: [sampleOf()] },
    { kind: 'samples', step: 4, samples: [sampleOf({ reward: 1 }), sampleOf({ index: 1, reward: 0.25 })] },
    { kind: 'warning', step: 4, rule: 'kl', message: 'KL is high', remedy: 'Lower the rate.' },
  ]);
  store.datasets.record({
    name: '10words',
    file: join(root, 'datasets', '10words.jsonl'),
    task: 'interleave',
    words: 10,
    trainN: 8,
    testN: 4,
    seed: 42,
    template: null,
    textHash: null,
  });
  return { root, store };
}

describe('braid mcp', () => {
  it('lets an agent read runs, metrics, completions, datasets, models, comparisons and settings', async () => {
    const { root, store } = workspace();
    const { child, lines, ended, ask, call } = await connect('--workspace', root);
    const names = ((await ask('tools/list')).result as { tools: { name: string }[] }).tools.map(({ name }) => name);
    expect(names).toEqual([
      ...['list_runs', 'get_run', 'get_metrics', 'get_completions', 'compare_configs', 'list_datasets'],
      ...['list_models', 'list_comparisons', 'get_comparison', 'describe_config'],
      ...['list_stages', 'list_tasks', 'search_completions', 'get_reply_report'],
      ...['list_sweeps', 'get_sweep', 'list_queue'],
    ]);
    const { runs } = await call('list_runs');
    expect(runs).toMatchObject([
      { run_id: 2, state: 'running', step: 0, reward: null },
      { run_id: 1, state: 'running', step: 4, max_steps: 40, reward: 1, ended_at: null },
    ]);
    expect((await call('list_runs', { limit: 1, before: 2 })).runs).toHaveLength(1);
    expect(await call('get_run', { run_id: 1 })).toMatchObject({
      run_id: 1,
      live: true,
      step: 4,
      metrics: { reward: 1 },
      verdict: { title: expect.any(String) },
      ...{
        config: { learning_rate: 0.1 },
        checkpoints: [],
        events: [{ message: 'KL is high', remedy: 'Lower the rate.' }],
      },
      samples: { step: 4, best: { reward: 1 } },
    });
    expect(await call('get_metrics', { run_id: 1, names: ['reward'], count: 2 })).toEqual({
      available: ['reward', 'step_time'],
      series: {
        reward: [
          [2, 0.375],
          [4, 0.875],
        ],
      },
    });
    // Either bound alone counts too.
    const ranges = [{ from: 3 }, { to: 2 }].map((range) =>
      call('get_metrics', { run_id: 1, names: ['reward'], ...range }),
    );
    const steps = (await Promise.all(ranges)).map(({ series }) => series.reward.map(([at]: readonly number[]) => at));
    expect(steps).toEqual([
      [3, 4],
      [1, 2],
    ]);
    expect(await call('get_completions', { run_id: 1 })).toMatchObject({
      steps: [2, 4],
      step: 4,
      worst: { reward: 0.25 },
    });
    expect(await call('get_completions', { run_id: 1, step: 2 })).toMatchObject({ step: 2, n: 1, worst: null });
    expect(await call('get_completions', { run_id: 2 })).toMatchObject({ steps: [], best: null });
    const { differences } = await call('compare_configs', { run_ids: [1, 2] });
    expect(JSON.stringify(differences)).toContain('learning_rate');
    expect((await call('list_datasets')).datasets).toMatchObject([{ dataset_id: 1, train: 8, test: 4 }]);
    expect((await call('list_models')).models).toContainEqual(expect.objectContaining({ reference: 'bundled:tiny' }));
    expect(await call('list_comparisons')).toEqual({ comparisons: [] });
    expect(await call('get_comparison', { comparison_id: 3 })).toMatch(/COMPARISON/);
    expect(await call('list_stages')).toMatchObject({ stages: [], forgetting: { rows: [], not_measured: 0 } });
    expect((await call('list_tasks')).tasks).toContainEqual(
      expect.objectContaining({ origin: 'bundled', has_records: expect.any(Boolean), problem: null }),
    );
    expect(await call('search_completions', { run_id: 9 })).toMatch(/RUN_UNKNOWN/);
    expect((await call('search_completions', { reward_above: 0.9 })).completions).toMatchObject([{ run_id: 1 }]);
    expect(await call('get_reply_report')).toEqual({ report: null });
    const { fields, presets } = await call('describe_config');
    expect(fields).toContainEqual(expect.objectContaining({ name: 'learning_rate', doc: expect.any(String) }));
    expect(presets).toContainEqual(expect.objectContaining({ name: 'interleave-tiny' }));
    expect(await call('get_run', { run_id: 9 })).toMatch(/no run with id 9 \(RUN_UNKNOWN\)/);

    // What the trainer writes meanwhile is there at the next question.
    recordEvents(store, 1, [{ kind: 'step', step: 5, metrics: { reward: 0.5, step_time: 1 } }]);
    expect(await call('get_run', { run_id: 1 })).toMatchObject({ step: 5 });
    child.stdin.end();
    expect((await ended)[0]).toBe(0);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0', id: expect.any(Number) });
  });

  it('keeps what libraries log off the protocol', async () => {
    // Logs from the moment when the command listens to signals.
    const noise = "setInterval(() => process.listenerCount('SIGTERM') > 0 && console.log('noise'), 20).unref()";
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(noise)}` };
    const { call, lines, stderr } = await connectWith(env, '--workspace', workspace().root);
    await until(() => stderr().includes('noise'));
    expect((await call('list_runs')).runs).toHaveLength(2);
    expect(lines.filter((line) => !line.startsWith('{"jsonrpc"'))).toEqual([]);
  });

  it('has no way to change anything without --allow-control', async () => {
    const { root, store } = workspace();
    const { ask } = await connect('--workspace', root);
    for (const name of ['start_run', 'stop_run', 'resume_run', 'start_sweep', 'cancel_sweep', 'queue_run'])
      expect(await ask('tools/call', { name, arguments: { run_id: 1 } })).toMatchObject({ error: { code: -32602 } });
    expect(store.runs.list()).toHaveLength(2);
    expect(existsSync(join(root, '.braid-app.json'))).toBe(false);
  });

  it('starts, stops and resumes runs with --allow-control, by the rules of the app', { timeout: 120_000 }, async () => {
    const world = await tinyWorkspace();
    const { store, root } = world;
    const { ask, call } = await connect('--workspace', root, '--allow-control');
    const { tools } = (await ask('tools/list')).result as { tools: { name: string; annotations: object }[] };
    expect(tools.filter(({ annotations }) => 'readOnlyHint' in annotations && !annotations.readOnlyHint)).toHaveLength(
      9,
    );

    const config = { ...world.config({ max_steps: 5000, save_steps: 1000 }) };
    expect(await call('start_run', { config: { learning_rate: -1 } })).toMatch(/learning_rate/);
    expect(await call('start_run', { config: { ...config, dataset: '/etc/passwd' } })).toMatch(
      /Expected a path inside .*\(PATH_OUTSIDE\)\n.*braid mcp with --allow/,
    );
    // A link needs a right of its own on Windows.
    if (process.platform !== 'win32') {
      symlinkSync(temporaryFolder(), join(root, 'datasets', 'link'));
      const linked = { ...config, dataset: join(root, 'datasets/link/x.jsonl') };
      expect(await call('start_run', { config: linked })).toMatch(/PATH_OUTSIDE/);
    }
    expect(store.runs.list()).toEqual([]);

    const started = await call('start_run', { name: 'by an agent', config });
    expect(started).toMatchObject({ run_id: 1, name: 'by an agent', state: 'running' });
    await until(() => (store.runs.get(1)?.step ?? 0) > 1);
    expect(await call('stop_run', { run_id: 1 })).toMatchObject({ run_id: 1 });
    // It may answer while the run still saves.
    await until(() => store.runs.get(1)?.state === 'stopped');
    const { step = 0 } = store.runs.get(1) ?? {};
    expect(await call('get_run', { run_id: 1 })).toMatchObject({ state: 'stopped', step });
    expect(store.checkpoints.ofRun(1).at(-1)?.step).toBe(step);
    const again = await call('resume_run', { run_id: 1, max_steps: step + 2 });
    expect(again).toMatchObject({ run_id: 1, max_steps: step + 2 });
    await until(() => store.runs.get(1)?.state === 'done');
    // Its process exits a moment later.
    await until(async () => /RUN_NOT_LIVE/.test(String(await call('stop_run', { run_id: 1 }))));
    expect(await call('resume_run', { run_id: 1 })).toMatch(/RUN_IS_DONE/);

    const elsewhere = createRun(store, world.config()).runId;
    expect(await call('stop_run', { run_id: elsewhere })).toMatch(/trains in another process .*\(RUN_ELSEWHERE\)/);
  });

  it('saves and ends its runs when the agent leaves', { timeout: 120_000 }, async () => {
    const world = await tinyWorkspace();
    const outside = temporaryFolder();
    const { child, ended, call } = await connect('--workspace', world.root, '--allow-control', '--allow', outside);
    const config = { ...world.config({ max_steps: 5000, save_steps: 1000 }) };
    expect(await call('start_run', { config: { ...config, dataset: join(outside, 'x.jsonl') } })).not.toMatch(
      /OUTSIDE/,
    );
    expect(await call('start_run', { config })).toMatchObject({ state: 'running' });
    child.stdin.end();
    expect((await ended)[0]).toBe(0);
    const [run] = world.store.runs.list();
    expect(run).toMatchObject({ state: 'stopped' });
    expect(existsSync(join(world.root, run?.folder ?? '', `checkpoint-${run?.step}`))).toBe(true);
  });

  it('runs, pauses and resumes sweeps, and queues for an app', { timeout: 180_000 }, async () => {
    const world = await tinyWorkspace();
    const { store, root } = world;
    const { child, ended, call } = await connect('--workspace', root, '--allow-control');
    const config = world.config({ max_steps: 2, eval_records: 4 });
    const plan = { name: 'rates', fields: { learning_rate: [1e-4, 1e-3] }, seeds: [1] };
    expect(await call('start_sweep', { plan: { ...plan, fields: { rate: [1] } }, config })).toMatch(/rate/);
    const away = { ...config, dataset: '/etc/passwd' };
    expect(await call('start_sweep', { plan, config: away })).toMatch(/PATH_OUTSIDE/);
    expect((await call('list_sweeps')).sweeps).toEqual([]);

    expect(await call('start_sweep', { plan, config })).toMatchObject({ sweep_id: 1, state: 'running', runs: 2 });
    expect(await call('resume_sweep', { sweep_id: 1 })).toMatch(/SWEEP_BUSY/);
    await until(async () => (await call('get_sweep', { sweep_id: 1 })).state === 'done');
    const { settings, best, runs, over } = await call('get_sweep', { sweep_id: 1 });
    expect({ best, runs, over }).toEqual({ best: null, runs: 2, over: 2 });
    expect(settings).toHaveLength(2);
    for (const { mean, values, trials } of settings) {
      expect(mean).toBeTypeOf('number');
      expect(values).toHaveProperty('learning_rate');
      expect(trials).toMatchObject([{ seed: 1, state: 'done' }]);
    }

    // In the queue it is an app's to train.
    expect(await call('start_sweep', { plan, config, queue: true })).toMatchObject({ sweep_id: 2, state: 'queued' });
    expect(await call('queue_run', { config, name: 'later' })).toMatchObject({ place: 'run:1' });
    expect((await call('list_queue')).queue.map(({ place }: { place: string }) => place)).toEqual(['sweep:2', 'run:1']);
    expect((await call('remove_from_queue', { place: 'run:1' })).queue).toMatchObject([{ place: 'sweep:2' }]);
    expect(await call('pause_sweep', { sweep_id: 2 })).toMatchObject({ state: 'paused' });
    expect(await call('cancel_sweep', { sweep_id: 2 })).toMatchObject({ state: 'cancelled' });
    expect(await call('remove_from_queue', { place: 'sweep:2' })).toMatch(/PLACE_UNKNOWN/);

    // One that another process runs takes no orders from here; one of this server pauses when the agent leaves.
    store.sweeps.claim(2, { pid: process.pid, hostId: currentHost().hostId });
    expect(await call('pause_sweep', { sweep_id: 2 })).toMatch(/SWEEP_ELSEWHERE/);
    store.sweeps.setState(2, 'cancelled');
    const long = world.config({ max_steps: 5000, save_steps: 1000 });
    await call('start_sweep', { plan, config: long });
    await until(() => (store.runs.get(3)?.step ?? 0) > 0);
    child.stdin.end();
    expect((await ended)[0]).toBe(0);
    expect(store.sweeps.get(3)).toMatchObject({ state: 'paused', reason: expect.stringContaining('disconnected') });
    expect(store.runs.get(3)?.state).toBe('stopped');
  });

  it('explains a missing workspace and a useless --allow on stderr only', async () => {
    const nowhere = await braid(['mcp', '--workspace', join(temporaryFolder(), 'nowhere')]);
    expect(nowhere).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('There is no folder') });
    const useless = await braid(['mcp', '--workspace', workspace().root, '--allow', '/tmp']);
    expect(useless).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--allow-control') });
  });
});
