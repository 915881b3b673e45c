import { describe, expect, it } from 'vitest';
import { openMlflow } from '../../../main/services/trackers/mlflow.ts';
import { TrackerRefusal } from '../../../main/services/trackers/tracker.ts';
import { mlflowDouble } from './mlflow-double.ts';

const run = { project: 'braid', name: 'run-1', config: { seed: 42, model: 'tiny' }, folder: '/run', startedAt: 3 };

describe('openMlflow', () => {
  it('sends configuration, metrics and completions, and ends the run', async () => {
    const server = await mlflowDouble();
    const mlflow = openMlflow({ env: { MLFLOW_TRACKING_URI: `${server.url}/` }, now: () => 5 });
    const config = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`field${i}`, i]));
    expect(await mlflow.open({ ...run, config: { ...config, names: ['a', 'b'] } }, null)).toBe('r1');
    expect(server.params.size).toBe(151);
    expect(server.params.get('names')).toBe('["a","b"]');
    await mlflow.log([
      { step: 1, metrics: { 'completions/mean_length': 3.5, 'pass@8': 0.25 } },
      { step: 2, metrics: { loss: Number.NaN, kl: Number.POSITIVE_INFINITY } },
    ]);
    expect(server.metrics.map(({ key, value, step }) => [key, value, step])).toEqual([
      ['completions/mean_length', 3.5, 1],
      ['pass_8', 0.25, 1],
      ['loss', 'NaN', 2],
      ['kl', 'Infinity', 2],
    ]);
    await mlflow.table({ step: 10, columns: ['step', 'completion'], rows: [[10, 'a "b"']] });
    expect([...server.artifacts]).toEqual([
      ['1/r1/artifacts/completions/step-000010.json', { columns: ['step', 'completion'], data: [[10, 'a "b"']] }],
    ]);
    expect(server.tags.get('mlflow.loggedArtifacts')).toBe('[{"path":"completions/step-000010.json","type":"table"}]');
    await mlflow.close(null);
    await mlflow.close({ how: 'failed', at: 8 });
    expect([server.statuses, server.times]).toEqual([['FAILED'], [3, 8]]);
  });

  it('sends no batch larger than MLflow takes', async () => {
    const server = await mlflowDouble();
    const mlflow = openMlflow({ env: { MLFLOW_TRACKING_URI: server.url } });
    await mlflow.open(run, null);
    await mlflow.log(Array.from({ length: 1100 }, (_, step) => ({ step, metrics: { a: 1, b: 2 } })));
    expect(server.batches).toEqual([2, 1000, 1000, 200]);
  });

  it('continues a run that it has', async () => {
    const server = await mlflowDouble();
    const mlflow = openMlflow({ env: { MLFLOW_TRACKING_URI: server.url, MLFLOW_TRACKING_TOKEN: 'secret' } });
    await mlflow.open(run, 'r0');
    expect(server.runs).toBe(0);
    expect(server.statuses).toEqual(['RUNNING']);
    expect(new Set(server.headers)).toEqual(new Set(['Bearer secret']));
  });

  it.each(['sqlite:///mlflow.db', 'file:./mlruns', 'databricks', 'localhost:5000'])(
    'refuses %s, which no request reaches, once and for all',
    async (uri) => {
      const error: unknown = await openMlflow({ env: { MLFLOW_TRACKING_URI: uri } })
        .open(run, null)
        .catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(TrackerRefusal);
    },
  );

  it('takes the account that stands in the address, and repeats it nowhere', async () => {
    const server = await mlflowDouble();
    const env = { MLFLOW_TRACKING_URI: server.url.replace('://', '://me:s%33cret%@') };
    await openMlflow({ env }).open(run, 'r0');
    expect(new Set(server.headers)).toEqual(new Set([`Basic ${Buffer.from('me:s3cret%').toString('base64')}`]));
    server.down = 401;
    const error: unknown = await openMlflow({ env })
      .open(run, 'r1')
      .catch((caught: unknown) => caught);
    expect(String(error)).toContain(`${server.url} answered 401`);
    expect(String(error)).not.toMatch(/cret|me:/);
  });

  it.each([
    [401, true],
    [400, true],
    [503, false],
    [429, false],
  ])('of an answer of %d expects that it stays: %s', async (down, stays) => {
    const server = await mlflowDouble();
    server.down = down;
    const mlflow = openMlflow({ env: { MLFLOW_TRACKING_URI: server.url } });
    const error: unknown = await mlflow.open(run, 'r1').catch((caught: unknown) => caught);
    expect(error instanceof TrackerRefusal).toBe(stays);
    expect(String(error)).toContain(`answered ${down}`);
  });
});
