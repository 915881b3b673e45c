import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type PushFile, type PushPlan, textFile } from '../../../main/services/publish/plan.ts';
import { pushToHub } from '../../../main/services/publish/push.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { type RepositoryDouble, repositoryDouble } from './repository-double.ts';

const REPO = 'me/model';

/** Two files of weights above the size that has a commit of its own, and two small ones. */
function planned(type: PushPlan['type'] = 'model'): PushPlan {
  const folder = temporaryFolder();
  const weights = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'].map((path, i): PushFile => {
    const file = join(folder, path);
    writeFileSync(file, Buffer.alloc(11 * 2 ** 20, i));
    return { path, bytes: 11 * 2 ** 20, content: { file } };
  });
  return {
    repo: REPO,
    type,
    files: [textFile('README.md', '# Card'), ...weights, textFile('config.json', '{}')],
    notes: [],
  };
}

function push(hub: RepositoryDouble, plan: PushPlan, { isPublic = false, token = 'hf_x' as string | null } = {}) {
  const signal = new AbortController().signal;
  return pushToHub(
    plan,
    { hubUrl: hub.url, accessToken: token ?? undefined },
    { isPublic, signal, onProgress: () => undefined },
  );
}

describe('pushToHub', () => {
  it('makes a private repository, and sends large files one by one before the card', async () => {
    const hub = await repositoryDouble(REPO);
    const plan = planned();
    const { url, sent, unchanged } = await push(hub, plan);
    expect(hub.visibility).toBe('private');
    expect(hub.commits).toEqual([
      ['model-00001-of-00002.safetensors'],
      ['model-00002-of-00002.safetensors'],
      ['README.md', 'config.json'],
    ]);
    expect(hub.files.get('README.md')?.toString()).toBe('# Card');
    expect(hub.files.get('model-00002-of-00002.safetensors')?.equals(Buffer.alloc(11 * 2 ** 20, 1))).toBe(true);
    expect({ url, sent: sent.length, unchanged }).toEqual({ url: `${hub.url}/${REPO}`, sent: 4, unchanged: [] });
  });

  it('resumes behind the last file that arrived', async () => {
    const hub = await repositoryDouble(REPO);
    const plan = planned();
    hub.failCommit = 1;
    await expect(push(hub, plan)).rejects.toMatchObject({ code: 'HUB_UNREACHABLE' });
    hub.failCommit = null;
    const { sent, unchanged } = await push(hub, plan);
    expect(unchanged).toEqual(['model-00001-of-00002.safetensors']);
    expect(sent).toHaveLength(3);
    // The second file's content had arrived; its commit had not.
    expect(hub.sent).toBe(2);
    expect((await push(hub, plan)).sent).toEqual([]);
    expect(hub.commits).toHaveLength(3);
  });

  it('writes to a public repository only where that is said', async () => {
    const hub = await repositoryDouble(REPO);
    hub.visibility = 'public';
    const plan = { ...planned(), files: [textFile('README.md', 'x')] };
    await expect(push(hub, plan)).rejects.toMatchObject({ code: 'HUB_PUBLIC' });
    expect(hub.commits).toEqual([]);
    await push(hub, plan, { isPublic: true });
    expect(hub.commits).toEqual([['README.md']]);
  });

  it('makes a public one where that is said, and a dataset among the datasets', async () => {
    const hub = await repositoryDouble(REPO, 'datasets');
    const { url } = await push(hub, { ...planned('dataset'), files: [textFile('a.jsonl', '{}')] }, { isPublic: true });
    expect(hub.visibility).toBe('public');
    expect(url).toBe(`${hub.url}/datasets/${REPO}`);
  });

  it.each([401, 403])('says that the token may not write (%d)', async (status) => {
    const hub = await repositoryDouble(REPO);
    hub.refuse = status;
    await expect(push(hub, planned())).rejects.toMatchObject({
      code: 'HUB_REFUSED',
      message: expect.stringContaining(`write to ${REPO} (${status})`) as string,
    });
  });

  it('asks for a token before anything else', async () => {
    const hub = await repositoryDouble(REPO);
    await expect(push(hub, planned(), { token: null })).rejects.toMatchObject({
      code: 'HUB_TOKEN_MISSING',
    });
    expect(hub.visibility).toBe(null);
  });
});
