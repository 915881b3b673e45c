import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordEvents } from '../../main/services/runs/events.ts';
import { createRun, finishRun } from '../../main/services/runs/runs.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import type { Store } from '../../main/store/index.ts';
import { parseConfig } from '../../main/trainer/config/config.ts';
import { BRAID } from '../processes/paths.ts';
import { sampleOf, temporaryStore } from '../store/helpers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { braid } from './braid.ts';

const config = parseConfig({ dataset: 'datasets/10words.jsonl', max_steps: 40 });

function workspace() {
  const root = temporaryFolder();
  openWorkspace({ workspace: root });
  const store = temporaryStore(root);
  const { runId } = createRun(store, config);
  step(store, runId, 1);
  return { root, store, runId, watch: (...args: string[]) => braid(['watch', '--workspace', root, ...args]) };
}

function step(store: Store, runId: number, at: number): void {
  recordEvents(store, runId, [
    { kind: 'step', step: at, metrics: { reward: at / 40, loss: 0, step_time: 1 } },
    { kind: 'samples', step: at, samples: [sampleOf()] },
    { kind: 'warning', step: at, rule: 'kl', message: `KL is high at ${at}`, remedy: 'Lower the rate.' },
  ]);
}

/** Starts `braid watch` and collects what it prints. */
function following(command: string, args: readonly string[], root: string) {
  const child = spawn(command, args, { env: { ...process.env, BRAID_WORKSPACE: root } });
  const found = { stdout: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    found.stdout += text;
  });
  const ended = new Promise<number | null>((done) => child.on('close', (code) => done(code)));
  return { child, ended, stdout: () => found.stdout };
}

describe('braid watch', () => {
  it('prints one frame without a terminal, and leaves the database as it was', async () => {
    const { store, runId, watch } = workspace();
    const before = store.events.ofRun(runId);
    const { code, stdout, stderr } = await watch('run-0001-10words-grpo');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^run-0001-10words-grpo \(run 1\) · running\n/);
    expect(stdout).toContain('best    0.75  red one blue (two)');
    expect(stdout).not.toContain('\x1b');
    expect(store.events.ofRun(runId)).toEqual(before);
  });

  it('prints one object a change, and ends with the run', async () => {
    const { root, store, runId } = workspace();
    const { ended, stdout } = following(process.execPath, [BRAID, 'watch', '--json'], root);
    await until(() => stdout().includes('\n'));
    step(store, runId, 2);
    await until(() => stdout().split('\n').length > 2);
    finishRun(store, runId, 'stopped', 'Stopped on request');
    expect(await ended).toBe(0);
    const objects = stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(objects.map(({ step, state }) => `${step} ${state}`)).toEqual(['1 running', '2 running', '2 stopped']);
    expect(objects.map(({ events }) => events.map(({ message }: { message: string }) => message))).toEqual([
      ['KL is high at 1'],
      ['KL is high at 2'],
      [],
    ]);
    expect(objects[2]).toMatchObject({ reason: 'Stopped on request', samples: { step: 2, best: { reward: 0.75 } } });
  });

  it('prints one object with --once, of a run that has ended too', async () => {
    const { store, runId, watch } = workspace();
    const running = await watch('--json', '--once', '1');
    expect(JSON.parse(running.stdout)).toMatchObject({ run_id: 1, live: true, step: 1 });
    finishRun(store, runId, 'done');
    const ended = await watch('--json');
    expect(JSON.parse(ended.stdout)).toMatchObject({ live: false, state: 'done', seconds_left: null });
  });

  it('explains a workspace and a run that are not there', async () => {
    const { watch } = workspace();
    const unknown = await watch('9');
    expect(unknown).toMatchObject({ code: 2, stdout: '' });
    expect(unknown.stderr).toMatch(/There is no run "9" in .*\n +The newest: 1 \(run-0001-10words-grpo\)/);
    const nowhere = await braid(['watch', '--workspace', join(temporaryFolder(), 'nowhere')]);
    expect(nowhere).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/There is no folder .*nowhere\n +Name the/),
    });
  });

  const hasScript = spawnSync('script', ['--version']).status === 0;
  it.skipIf(!hasScript)('draws over itself on a terminal until q, then gives it back', async () => {
    const { root, store, runId } = workspace();
    const { child, ended, stdout } = following(
      'script',
      ['-qec', `stty cols 70 rows 30; "${process.execPath}" "${BRAID}" watch`, '/dev/null'],
      root,
    );
    await until(() => stdout().includes('1/40 steps'));
    step(store, runId, 2);
    await until(() => stdout().includes('2/40 steps'));
    child.stdin.write('q');
    expect(await ended).toBe(0);
    const [, screen = '', after] = stdout().split(/\[\?1049[hl]/);
    const frames = screen.split('\x1b[H').slice(1);
    expect(frames.length).toBeGreaterThan(1);
    for (const frame of frames) expect(frame.split('\n').length).toBeLessThanOrEqual(30);
    expect(frames[0]).toContain('q quits; the run continues');
    expect(after).toBe('');
    expect(store.runs.get(runId)?.state).toBe('running');
  });

  it.skipIf(!hasScript)('ends with the run, whose last frame stays', async () => {
    const { root, store, runId } = workspace();
    const { ended, stdout } = following(
      'script',
      ['-qec', `"${process.execPath}" "${BRAID}" watch 1`, '/dev/null'],
      root,
    );
    await until(() => stdout().includes('1/40 steps'));
    finishRun(store, runId, 'done');
    expect(await ended).toBe(0);
    expect(stdout().split('\x1b[?1049l')[1]).toMatch(/\(run 1\) · done/);
  });
});
