import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLoadedModels } from '../../../main/services/chat/loaded-models.ts';
import { openServedModels } from '../../../main/services/chat/served-models.ts';
import type { KeptModel } from '../../../main/services/serving/kept-model.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openJobs } from '../../../main/services/workspace/jobs.ts';
import { errorOf } from '../../store/helpers.ts';
import { until } from '../../until.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

const REF = 'workspace:tiny-test';

async function place() {
  const { root, store, paths } = await tinyWorkspace();
  const chatModels = openLoadedModels<KeptModel>(() => 60_000);
  onTestFinished(() => chatModels.close());
  const changes = openChanges();
  const app = { store, paths, workspace: { models: join(root, 'models') }, jobs: openJobs(changes), chatModels };
  const served = openServedModels(changes);
  const topics: string[] = [];
  changes.listen(({ topic }) => topics.push(topic));
  const stateOf = () => served.list()[0]?.state;
  return { app, served, topics, stateOf };
}

describe('openServedModels', () => {
  it('serves a model with an address and a key until it is stopped', async () => {
    const { app, served, topics, stateOf } = await place();
    served.start(app, REF);
    expect(served.list()).toEqual([
      { ref: REF, name: 'tiny-test', state: { kind: 'waiting', why: 'Loading the model …' } },
    ]);
    await until(() => stateOf()?.kind === 'ready');
    const state = stateOf();
    if (state?.kind !== 'ready') throw new Error('not ready');
    const { address, key } = state;
    // A second time it stays as it is.
    served.start(app, REF);
    expect(stateOf()).toBe(state);
    const ask = (authorization: string) =>
      fetch(`${address}/completions`, {
        method: 'POST',
        headers: { Authorization: authorization, 'Content-Type': 'application/json' },
        body: JSON.stringify({ model: 'tiny-test', prompt: 'red blue', max_tokens: 2 }),
      });
    expect((await ask('Bearer other')).status).toBe(401);
    expect(await (await ask(`Bearer ${key}`)).json()).toMatchObject({ usage: { completion_tokens: 2 } });
    await served.stop(REF);
    expect(served.list()).toEqual([]);
    expect(new Set(topics)).toEqual(new Set(['served']));
    await expect(ask(`Bearer ${key}`)).rejects.toThrow();
  });

  it('says why a model is not served, and serves it again on request', async () => {
    const { app, served, stateOf } = await place();
    expect(errorOf(() => served.start(app, 'workspace:other'))).toMatchObject({ code: 'MODEL_UNKNOWN' });
    const broken = { ...app, chatModels: { ...app.chatModels, use: () => Promise.reject(new Error('no memory')) } };
    served.start(broken, REF);
    await until(() => stateOf()?.kind === 'failed');
    expect(stateOf()).toEqual({ kind: 'failed', message: 'no memory', remedy: null });
    served.start(app, REF);
    expect(stateOf()?.kind).toBe('waiting');
    await served.close();
    expect(served.list()).toEqual([]);
  });
});
