import { describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { startDesktop } from './desktop.ts';

vi.mock('electron', () => ({}));
const { refusal } = await import('../../main/desktop/sandbox.ts');

describe('refusal', () => {
  it('refuses a start without the sandbox, and names what works instead', () => {
    expect(refusal({ noSandbox: false, appImage: null })).toBeNull();
    expect(refusal({ noSandbox: false, appImage: '/home/a/braid.AppImage' })).toBeNull();
    const image = refusal({ noSandbox: true, appImage: '/home/a/braid.AppImage' });
    expect(image?.content).toMatch(
      /^The AppImage was started with --no-sandbox.*restrict unprivileged user namespaces\. Nothing was opened/,
    );
    const other = refusal({ noSandbox: true, appImage: null });
    expect(other?.content).toMatch(
      /^It was started with --no-sandbox or ELECTRON_DISABLE_SANDBOX\. Nothing was opened/,
    );
    for (const { content } of [image, other].flatMap((one) => one ?? []))
      for (const way of ['.deb', 'npm start', 'braid serve']) expect(content).toContain(way);
  });
});

describe('the app', () => {
  it("explains in a dialog that it doesn't start without the sandbox, and opens nothing", async () => {
    const desktop = startDesktop({ workspace: temporaryFolder(), args: ['--no-sandbox'] });
    expect(await desktop.exited).toBe(1);
    expect(desktop.of('dialog.showErrorBox')).toEqual([
      ["Braid can't start without its sandbox", expect.stringContaining('--no-sandbox')],
    ]);
    expect(desktop.of('app.requestSingleInstanceLock')).toEqual([]);
    expect(desktop.of('BrowserWindow')).toEqual([]);
  });
});
