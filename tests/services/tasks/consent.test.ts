import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  allowReaches,
  forgetReaches,
  openConsentFile,
  reachesOf,
  requireAllowed,
} from '../../../main/services/tasks/consent.ts';
import { rewardAccess } from '../../../main/services/tasks/reward-access.ts';
import { rewardKey, setRewardKey } from '../../../main/services/tasks/reward-keys.ts';
import { openSecrets } from '../../../main/services/workspace/secrets.ts';
import { checkCommandFiles, readTaskFolder } from '../../../main/tasks/folder/source.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { taskYaml, writeTask } from './task-folder.ts';

const rewards = (more: string): string =>
  taskYaml.replace('rewards: { said: 1, short: 0.5 }', `rewards:\n  said: 1\n  short: 0.5\n${more}`);
const COMMAND = '  extra:\n    weight: 1\n    command: [node, score.mjs]\n';
const PLAIN = '  far:\n    weight: 1\n    http: http://rewards.example/score\n    allow_plain_http: true\n';

function world(more: string) {
  const root = temporaryFolder();
  const folder = writeTask(root, 'say', { 'task.yaml': rewards(more), 'score.mjs': 'one\n' });
  const consents = openConsentFile(join(root, 'config', 'allowed-rewards.json'));
  const secrets = openSecrets({ file: join(root, 'config', 'secrets.json') });
  return { root, folder, consents, secrets, source: () => readTaskFolder(folder) };
}

describe('consent to what a task reaches', () => {
  it('is refused with the whole command and what to do, and given by its hash', () => {
    const { consents, source, root } = world(COMMAND);
    expect(() => requireAllowed(source(), consents)).toThrow(
      /runs the command \["node","score\.mjs"\].*Nothing was run or sent/s,
    );
    const [{ hash = '' } = {}] = reachesOf(source(), consents);
    expect(() => requireAllowed(source(), consents)).toThrow(
      expect.objectContaining({
        code: 'REWARD_NOT_ALLOWED',
        message: expect.stringContaining(`, ${hash})`),
        remedy: "If you trust it, allow it on the task's screen.",
      }),
    );
    expect(allowReaches(source(), [hash], consents)).toMatchObject([{ component: 'extra', isAllowed: true }]);
    expect(requireAllowed(source(), consents)).toHaveLength(1);
    if (process.platform !== 'win32')
      expect(statSync(join(root, 'config', 'allowed-rewards.json')).mode & 0o777).toBe(0o600);
  });

  it('ends when the command or a file that it runs with changes, or is taken back', () => {
    const { consents, source, folder } = world(COMMAND);
    const [{ hash = '' } = {}] = reachesOf(source(), consents);
    allowReaches(source(), [hash], consents);
    writeFileSync(join(folder, 'score.mjs'), 'two\n');
    expect(() => requireAllowed(source(), consents)).toThrow('you haven’t agreed'.replace('’', "'"));
    expect(() => allowReaches(source(), [hash], consents)).toThrow('has the hash');
    writeFileSync(join(folder, 'score.mjs'), 'one\n');
    expect(requireAllowed(source(), consents)).toHaveLength(1);
    forgetReaches(source(), consents);
    expect(() => requireAllowed(source(), consents)).toThrow();
  });

  it('to plain http elsewhere has to be said a second time', () => {
    const { consents, source } = world(PLAIN);
    const [{ hash = '' } = {}] = reachesOf(source(), consents);
    expect(() => requireAllowed(source(), consents)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(`, ${hash}, plain http)`) }),
    );
    expect(() => allowReaches(source(), [hash], consents)).toThrow(
      expect.objectContaining({ code: 'REWARD_NOT_SECURE' }),
    );
    expect(allowReaches(source(), [hash], consents, { plain: true })).toMatchObject([{ isAllowed: true }]);
  });

  it('never brings in a file from outside the task’s folder', () => {
    const { source, folder, root, consents, secrets } = world(`${COMMAND}    files: [stolen.txt]\n`);
    writeFileSync(join(root, 'secret.txt'), 'mine');
    symlinkSync(join(root, 'secret.txt'), join(folder, 'stolen.txt'));
    expect(JSON.stringify(source())).not.toContain('mine');
    expect(() => checkCommandFiles(source())).toThrow(/stolen\.txt: expected a text .* in the task's folder/);
    const places = { workspace: root, paths: { externalRewards: '', kernels: '' } };
    expect(() => rewardAccess(source(), places, { consents, secrets })).toThrow(
      expect.objectContaining({ code: 'BAD_TASK' }),
    );
  });
});

describe('rewardAccess', () => {
  it('gives the key of an address to that address alone, and is null for a task that needs nothing', () => {
    const judge = (name: string, url: string): string =>
      `  ${name}:\n    weight: 1\n    judge: ${url}\n    model: m\n    rubric: '{completion}'\n`;
    const { root, consents, secrets, source } = world(
      judge('a', 'https://a.example/v1') + judge('b', 'https://b.example/v1'),
    );
    setRewardKey(secrets, 'https://a.example', 'k-a');
    const hashes = reachesOf(source(), consents).map(({ hash }) => hash);
    allowReaches(source(), hashes, consents);
    const places = { workspace: root, paths: { externalRewards: 'worker.ts', kernels: 'kernels.wasm' } };
    expect(rewardAccess(source(), places, { consents, secrets })).toMatchObject({
      allowed: hashes,
      worker: 'worker.ts',
      cacheFolder: join(root, 'judge-answers'),
      keys: { 'https://a.example': 'k-a' },
    });
    expect(rewardAccess('interleave', places, { consents, secrets })).toBeNull();
    expect(rewardAccess({ ...source(), definition: taskYaml }, places, { consents, secrets })).toBeNull();
    expect(readFileSync(join(root, 'config', 'secrets.json'), 'utf8')).not.toContain('k-a');
  });

  it('keeps no answers behind a link that a workspace came with', () => {
    const { root, consents, secrets, source } = world(COMMAND);
    allowReaches(
      source(),
      reachesOf(source(), consents).map(({ hash }) => hash),
      consents,
    );
    symlinkSync(join(root, 'config'), join(root, 'judge-answers'));
    const places = { workspace: root, paths: { externalRewards: '', kernels: '' } };
    expect(() => rewardAccess(source(), places, { consents, secrets })).toThrow('judge-answers is a link');
  });

  it('says that a model is not there', () => {
    const { root, consents, secrets, source } = world('  good:\n    weight: 1\n    classifier: models/rm\n');
    const places = { workspace: root, paths: { externalRewards: '', kernels: '' } };
    expect(() => rewardAccess(source(), places, { consents, secrets })).toThrow(
      `there is none at ${join(root, 'models/rm')}`,
    );
  });
});

describe('rewardKey', () => {
  it('belongs to an origin, is forgotten, and falls back to the environment', () => {
    const { secrets } = world('');
    expect(setRewardKey(secrets, 'https://a.example/v1', 'k')).toBe('https://a.example');
    expect(rewardKey(secrets, 'https://a.example/v2', {})).toBe('k');
    expect(rewardKey(secrets, 'https://b.example', {})).toBeNull();
    expect(rewardKey(secrets, 'https://b.example', { BRAID_REWARD_KEY: ' env ' })).toBe('env');
    setRewardKey(secrets, 'https://a.example', null);
    expect(rewardKey(secrets, 'https://a.example', {})).toBeNull();
    expect(() => setRewardKey(secrets, 'https://a.example', 'two words')).toThrow('visible characters');
  });
});
