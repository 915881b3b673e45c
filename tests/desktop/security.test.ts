import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { startDesktop } from './desktop.ts';

async function started() {
  const desktop = startDesktop({ workspace: temporaryFolder() });
  await desktop.asked('window.show');
  return desktop;
}

describe('the port to the contract', () => {
  it('is given to our own page, a new one after a reload, and to nothing else', async () => {
    const desktop = await started();
    const page = await desktop.page();
    expect(await page?.client.app.info()).toMatchObject({ host: 'electron', version: '0.0.0-double', dialogs: true });
    const reloaded = await desktop.page();
    expect(await reloaded?.client.settings.get()).toMatchObject({ theme: 'system' });
    for (const stranger of [
      null,
      { origin: 'https://example.org', inside: false },
      { origin: 'app://braid.example.org', inside: false },
      { origin: 'app://other', inside: false },
      { origin: 'null', inside: false },
      { origin: 'file://', inside: false },
      { origin: 'app://braid', inside: true },
    ])
      expect([stranger, await desktop.page(stranger)]).toEqual([stranger, null]);
    expect(desktop.of('frame.postMessage')).toHaveLength(2);
  });

  it('rejects invalid payloads with a message, and stays up', async () => {
    const desktop = await started();
    const page = await desktop.page();
    await expect(page?.client.runs.get({ runId: 'x' as unknown as number })).rejects.toMatchObject({
      code: 'REFUSED',
      data: { code: 'BAD_REQUEST' },
    });
    await expect(page?.client.app.reveal({ path: '/etc/passwd' })).rejects.toMatchObject({
      data: { code: 'PATH_OUTSIDE' },
    });
    expect(desktop.of('shell.showItemInFolder')).toEqual([]);
    expect(await page?.client.runs.list({})).toEqual([]);
  });
});

describe('the page', () => {
  it('can neither navigate nor open a window or a webview', async () => {
    const desktop = await started();
    for (const event of ['will-navigate', 'will-frame-navigate', 'will-redirect', 'will-attach-webview'])
      expect([event, await desktop.order({ kind: 'emit', target: 'contents', event, args: [] })]).toEqual([
        event,
        true,
      ]);
    for (const url of [
      'https://example.org/',
      'http://huggingface.co/',
      'https://huggingface.co.example.org/',
      'https://user:word@huggingface.co/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'not an address',
    ])
      expect(await desktop.order({ kind: 'open-window', url })).toEqual({ action: 'deny' });
    expect(desktop.of('shell.openExternal')).toEqual([]);
    const card = 'https://huggingface.co/HuggingFaceTB/SmolLM2-135M';
    expect(await desktop.order({ kind: 'open-window', url: card })).toEqual({ action: 'deny' });
    expect(desktop.of('shell.openExternal')).toEqual([[card]]);
  });

  it('gets only permission to copy text, no device, no network and no download', async () => {
    const desktop = await started();
    const url = 'app://braid/index.html';
    const ask = (name: string, from: string) => desktop.order({ kind: 'permission', name, url: from });
    for (const name of ['media', 'geolocation', 'notifications', 'clipboard-read', 'openExternal', 'fileSystem'])
      expect([name, await ask(name, url)]).toEqual([name, { requested: false, checked: false, device: false }]);
    expect(await ask('clipboard-sanitized-write', url)).toMatchObject({ requested: true, checked: true });
    expect(await ask('clipboard-sanitized-write', 'https://example.org/')).toMatchObject({ requested: false });
    expect(await ask('clipboard-sanitized-write', 'app://braid.example.org/')).toMatchObject({ checked: false });
    for (const address of ['http://127.0.0.1/', 'https://example.org/', 'ws://127.0.0.1/', 'file:///etc/passwd'])
      expect([address, await desktop.order({ kind: 'request', url: address })]).toEqual([address, true]);
    expect(await desktop.order({ kind: 'request', url })).toBe(false);
  });

  it('is reloaded when its process dies, but not endlessly', async () => {
    const desktop = await started();
    const die = () =>
      desktop.order({ kind: 'emit', target: 'contents', event: 'render-process-gone', args: [{ reason: 'oom' }] });
    await die();
    expect(desktop.of('contents.reload')).toHaveLength(1);
    await die();
    expect(desktop.of('contents.reload')).toHaveLength(1);
  });
});
