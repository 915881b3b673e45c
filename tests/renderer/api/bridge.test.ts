import { EventEmitter } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { MessageChannel, type MessagePort as NodePort } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openTransport } from '../../../renderer/api/transport.ts';

const built = resolve(import.meta.dirname, '../../../out/preload/index.cjs');

type Listener = (event: {
  readonly source: unknown;
  readonly data: unknown;
  readonly ports: readonly unknown[];
}) => void;

/** A window with what the bridge and the page's transport use. */
class FakeWindow {
  readonly location = { protocol: 'app:', origin: 'app://braid', host: 'braid' };
  readonly #listeners = new Set<Listener>();

  addEventListener(_event: string, listener: Listener): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_event: string, listener: Listener): void {
    this.#listeners.delete(listener);
  }

  postMessage(data: unknown, origin: string, ports: readonly unknown[] = []): void {
    if (origin === this.location.origin) this.deliver(this, data, ports);
  }

  /** Delivers a message from any window. */
  deliver(source: unknown, data: unknown, ports: readonly unknown[] = []): void {
    for (const listener of [...this.#listeners]) listener({ source, data, ports });
  }
}

/** Runs the built preload as Electron does: CommonJS that can only require `electron`. */
function bridge() {
  if (!existsSync(built)) throw new Error(`Expected the built preload at ${built}: run npm run build first`);
  const window = new FakeWindow();
  const sent: string[] = [];
  const ipcRenderer = Object.assign(new EventEmitter(), { send: (channel: string) => void sent.push(channel) });
  const require = (name: string): unknown => {
    if (name === 'electron') return { ipcRenderer };
    throw new Error(`Expected the preload to need electron only, got ${name}`);
  };
  runInNewContext(readFileSync(built, 'utf8'), { window, require, exports: {}, module: { exports: {} } });
  const hand = (ports: readonly NodePort[]) => ipcRenderer.emit('braid:port', { ports });
  return { window, sent, hand };
}

afterEach(() => vi.unstubAllGlobals());

describe("the preload and the page's transport", () => {
  it('pass one port from the host to the page, and another when the page asks again', async () => {
    const { window, sent, hand } = bridge();
    vi.stubGlobal('window', window);
    for (const times of [1, 2]) {
      const transport = openTransport();
      expect(sent).toEqual(Array.from({ length: times }, () => 'braid:ready'));
      const { port1, port2 } = new MessageChannel();
      hand([port2]);
      const { link, lost } = await transport;
      const asked = new Promise((settle) => port1.once('message', settle));
      void link.call(['app', 'info'], undefined, { context: {} }).catch(() => undefined);
      expect(JSON.stringify(await asked)).toContain('/app/info');
      port1.close();
      await lost;
    }
  });

  it('ignore other windows, and messages without a port', async () => {
    const { window, sent, hand } = bridge();
    const seen: unknown[] = [];
    window.addEventListener('message', ({ data }) => seen.push(data));
    window.deliver({}, 'braid:ready');
    window.deliver(window, 'another');
    expect(sent).toEqual([]);
    hand([]);
    expect(seen).not.toContain('braid:port');
    vi.stubGlobal('window', window);
    let opened = false;
    void openTransport().then(() => {
      opened = true;
    });
    window.deliver({}, 'braid:port', [new MessageChannel().port1]);
    await new Promise((turn) => setImmediate(turn));
    expect(opened).toBe(false);
  });
});
