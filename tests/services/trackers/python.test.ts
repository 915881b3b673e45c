import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPythonTracker } from '../../../main/services/trackers/python.ts';
import { TrackerRefusal } from '../../../main/services/trackers/tracker.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

/** A program in Python's place, which keeps what it is asked. */
function standIn(answer: string) {
  const folder = temporaryFolder();
  const [python, heard] = [join(folder, 'python'), join(folder, 'heard.jsonl')];
  writeFileSync(
    python,
    `#!${process.execPath}
    const { appendFileSync } = require('node:fs');
    const say = (value) => console.log(JSON.stringify(value));
    appendFileSync(${JSON.stringify(heard)}, JSON.stringify(process.argv.slice(2)) + '\\n');
    const answer = ${answer};
    say(answer(null));
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      appendFileSync(${JSON.stringify(heard)}, line + '\\n');
      say(answer(JSON.parse(line)));
    });`,
  );
  chmodSync(python, 0o755);
  const asked = () =>
    readFileSync(heard, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  return { asked, open: () => openPythonTracker('wandb', { resources: '/app', env: { BRAID_PYTHON: python } }) };
}

const named = { project: 'braid', name: 'run-1', config: { seed: 1 }, folder: '/run' };
const run = { ...named, startedAt: 3 };

describe.skipIf(process.platform === 'win32')('openPythonTracker', () => {
  it('asks the bridge in lines of JSON', async () => {
    const { asked, open } = standIn(`(asked) => asked?.op === 'open' ? { ok: true, id: 'abc' } : { ok: true }`);
    const tracker = open();
    expect(await tracker.open(run, null)).toBe('abc');
    await tracker.log([{ step: 1, metrics: { loss: Number.NaN, reward: 0.5 } }]);
    await tracker.table({ step: 1, columns: ['step'], rows: [[1]] });
    await tracker.close({ how: 'finished', at: 1 });
    expect(asked()).toEqual([
      [join('/app', 'trackers', 'bridge.py'), 'wandb'],
      { op: 'open', ...named, id: null },
      { op: 'log', rows: [{ step: 1, metrics: { loss: 'NaN', reward: 0.5 } }] },
      { op: 'table', name: 'completions', step: 1, columns: ['step'], rows: [[1]] },
      { op: 'close', failed: false },
    ]);
  });

  it('names a missing client with the line that installs it', async () => {
    const tracker = standIn(`() => ({ error: "No module named 'wandb'", missing: 'wandb' })`).open();
    const error = await tracker.open(run, null).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TrackerRefusal);
    expect((error as TrackerRefusal).remedy).toContain('-m pip install wandb');
  });

  it('says where there is no Python', async () => {
    const tracker = openPythonTracker('trackio', { resources: '/app', env: { BRAID_PYTHON: '/no/python' } });
    await expect(tracker.open(run, null)).rejects.toThrow('Trackio needs Python: there is no program "/no/python"');
  });

  it('starts another bridge where one died', async () => {
    const { asked, open } = standIn(`(asked) => asked?.op === 'log' ? process.exit(3) : { ok: true, id: 'a' }`);
    const tracker = open();
    await tracker.open(run, null);
    await expect(tracker.log([])).rejects.toThrow('its client ended (3)');
    expect(await tracker.open(run, 'a')).toBe('a');
    expect(asked()).toHaveLength(5);
    tracker.drop();
  });

  it("tells a client's fault", async () => {
    const tracker = standIn(`(asked) => asked === null ? { ok: true } : { error: 'CommError: no network' }`).open();
    await expect(tracker.open(run, null)).rejects.toThrow('CommError: no network');
    tracker.drop();
  });
});

describe.skipIf(process.platform === 'win32')('bridge.py', () => {
  // A machine without Python has no clients either.
  const hasPython = spawnSync('python3', ['--version']).status === 0;

  it.skipIf(!hasPython)('ends a run as failed where Braid was killed, otherwise as it was asked', () => {
    const folder = temporaryFolder();
    writeFileSync(
      join(folder, 'wandb.py'),
      `import sys
class Settings:
    def __init__(self, **_): pass
class Run:
    id = 'r1'
    def define_metric(self, *_, **__): pass
def init(**_): return Run()
def finish(exit_code): print('ended', exit_code, file=sys.stderr)
`,
    );
    const bridge = join(import.meta.dirname, '../../../resources/trackers/bridge.py');
    const endOf = (...asked: readonly object[]): string => {
      const input = asked.map((line) => `${JSON.stringify(line)}\n`).join('');
      const env = { ...process.env, PYTHONPATH: folder };
      return spawnSync('python3', [bridge, 'wandb'], { input, env, encoding: 'utf8' }).stderr;
    };
    const open = { op: 'open', project: 'p', name: 'n', id: null, config: {}, folder };
    expect(endOf(open)).toBe('ended 1\n');
    expect(endOf(open, { op: 'close', failed: false })).toBe('ended 0\n');
  });
});
