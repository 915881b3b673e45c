import { describe, expect, it, vi } from 'vitest';
import { requireServer } from '../../main/commands/engine-server.ts';
import { engineWith, freePort } from '../services/servers/desk.ts';

describe('requireServer', () => {
  const context = { say: vi.fn(), print: vi.fn(), out: vi.fn() } as never;

  it('offers to launch a server that is gone, and says how where nobody can be asked', async () => {
    const engine = engineWith(`http://127.0.0.1:${await freePort()}`, { kind: 'command', command: 'true' });
    const ask = vi.fn(async () => false);
    await expect(requireServer(engine, context, ask)).rejects.toMatchObject({
      code: 'SERVER_NOT_UP',
      remedy: expect.stringMatching(/braid engine up cluster.* resume the run/),
    });
    expect(ask).toHaveBeenCalledWith(
      'The server of engine "cluster" isn\'t up. Launch it (a command on this machine)? [y/N] ',
    );
  });

  it('asks nothing where no engine is used, or nothing of it can be launched', async () => {
    const ask = vi.fn(async () => true);
    await requireServer(null, context, ask);
    const plain = engineWith('http://127.0.0.1:9', { kind: 'command', command: 'true' });
    await requireServer({ ...plain, launcher: null }, context, ask);
    expect(ask).not.toHaveBeenCalled();
  });
});
