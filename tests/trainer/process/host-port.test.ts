import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LAST_WORD, openHostPort } from '../../../main/trainer/process/host-port.ts';

/** What Electron puts on `process` in a utility process. */
function withParentPort() {
  const posted: unknown[] = [];
  let tell: (event: { readonly data: unknown }) => void = () => undefined;
  const parentPort = {
    on: (_: string, listener: typeof tell) => {
      tell = listener;
    },
    postMessage: (message: unknown) => void posted.push(message),
  };
  Object.assign(process, { parentPort });
  vi.useFakeTimers();
  const exit = vi.spyOn(process, 'exit').mockImplementation((() => undefined) as () => never);
  onTestFinished(() => {
    Reflect.deleteProperty(process, 'parentPort');
    vi.useRealTimers();
    exit.mockRestore();
  });
  return { posted, exit, say: (data: unknown) => tell({ data }) };
}

describe('openHostPort in a utility process', () => {
  it('stays until its host has taken the last message, however long that takes', async () => {
    const { posted, exit, say } = withParentPort();
    const heard: unknown[] = [];
    const port = openHostPort();
    port.onMessage((message) => heard.push(message));
    say({ kind: 'pause' });
    await port.send([{ kind: 'alive' }]);
    port.close();
    expect(posted).toEqual([[{ kind: 'alive' }], LAST_WORD]);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(exit).not.toHaveBeenCalled();
    say(LAST_WORD);
    expect(exit).toHaveBeenCalledWith(0);
    expect(heard[0]).toEqual({ kind: 'pause' });
  });

  it('ends by itself where no answer comes', async () => {
    const { exit } = withParentPort();
    openHostPort().close();
    await vi.advanceTimersByTimeAsync(61_000);
    expect(exit).toHaveBeenCalledWith(0);
  });
});
