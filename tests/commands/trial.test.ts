import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readReplyState } from '../../main/services/replies/stored-state.ts';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startBraid } from './braid.ts';

const dataset = resolve(import.meta.dirname, '../../datasets/sample_replies.jsonl');

describe('braid trial', () => {
  it('ends with 130 at Ctrl-C, not with the code of a no-go', { timeout: 120_000 }, async () => {
    const workspace = join(temporaryFolder(), 'w');
    const live = startBraid(['trial', '--dataset', dataset, '--workspace', workspace, '--json']);
    const started = () => globSync(join(workspace, 'outputs', '*', 'metrics.jsonl')).length > 0;
    await vi.waitUntil(started, { timeout: 60_000, interval: 100 });
    live.kill('SIGINT');
    const { code, stdout, stderr } = await live.ended;
    expect([code, JSON.parse(stdout)]).toMatchObject([130, { go: false }]);
    expect(stderr).not.toContain('no-go');
    const store = openStore(join(workspace, 'braid.db'));
    expect(readReplyState(store).trial, 'what the Replies screen shows').toMatchObject({ go: false, runIds: [1] });
    store.close();
  });
});
