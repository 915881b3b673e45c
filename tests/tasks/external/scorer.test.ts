import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { passedEnvironment } from '../../../main/tasks/external/scorer.ts';
import { json, rewardServer } from '../../rewards/reward-server.ts';

/** The status that a thread with that environment gets at an address. */
function reached(url: string): Promise<unknown> {
  const code = `require('node:http').get(${JSON.stringify(url)}, (answer) => {
    require('node:worker_threads').parentPort.postMessage(answer.statusCode);
    answer.resume();
  }).on('error', (error) => require('node:worker_threads').parentPort.postMessage(error.code));`;
  const thread = new Worker(code, { eval: true, env: passedEnvironment() });
  return new Promise((resolve) => thread.once('message', resolve));
}

describe('passedEnvironment', () => {
  it('leads elsewhere through a proxy, but never to this machine', async () => {
    const proxy = await rewardServer((_, __, response) => json(response, {}, 418));
    const here = await rewardServer((_, __, response) => json(response, {}));
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    vi.stubEnv('HTTP_PROXY', proxy.url);
    vi.stubEnv('http_proxy', proxy.url);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await reached('http://rewards.example/score')).toBe(418);
    expect(proxy.received.map(({ path }) => path)).toEqual(['http://rewards.example/score']);
    expect(await reached(here.url)).toBe(200);
  });

  it('has nothing that could hold a key', () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-1');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(JSON.stringify(passedEnvironment())).not.toContain('sk-1');
  });
});
