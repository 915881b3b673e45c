import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { previewPush, startPush } from '../../../main/services/publish/start-push.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { jobEnd, modelHost } from '../models/places.ts';
import { repositoryDouble } from './repository-double.ts';

const asked = {
  ...{ ref: 'workspace:mine', repo: 'https://huggingface.co/me/mine', runId: null },
  ...{ texts: true, license: 'mit', baseModel: 'someone/base' },
};

async function host(token: string | null) {
  const made = modelHost();
  disposeModel(await writeTinyModel(join(made.workspace.models, 'mine')));
  const notices: string[] = [];
  const parts = {
    secrets: { get: () => token },
    notices: { add: ({ message }: { message: string }) => void notices.push(message) },
  };
  return { ...made, ...parts, sent: notices } as never as Parameters<typeof startPush>[0] &
    typeof made & { readonly sent: string[] };
}

describe('startPush', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('sends what the preview shows, and says where it is', async () => {
    const hub = await repositoryDouble('me/mine');
    vi.stubEnv('HF_ENDPOINT', hub.url);
    const app = await host('hf_x');
    const preview = await previewPush(app, asked);
    expect(preview.card).toContain('license: mit');
    expect(preview.notes.map(({ option }) => option)).toEqual(['run']);
    expect(hub.commits).toEqual([]);
    await startPush(app, asked, false);
    await expect(startPush(app, asked, false)).rejects.toMatchObject({ code: 'PUSH_BUSY' });
    expect(await jobEnd(app)).toMatchObject({ kind: 'model-push', state: 'done' });
    expect([...hub.files.keys()].sort()).toEqual(preview.files.map(({ path }) => path).sort());
    expect(hub.visibility).toBe('private');
    expect(app.sent).toEqual([`${hub.url}/me/mine: ${preview.files.length} files sent.`]);
  });

  it('fails as a job where there is no token', async () => {
    vi.stubEnv('HF_TOKEN', '');
    vi.stubEnv('HF_HOME', '/nowhere');
    const app = await host(null);
    await startPush(app, asked, false);
    expect(await jobEnd(app)).toMatchObject({ state: 'failed', error: { code: 'HUB_TOKEN_MISSING' } });
    expect(app.sent).toEqual([]);
  });
});
