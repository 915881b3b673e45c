import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { startDesktop } from './desktop.ts';

describe('opened files', () => {
  it('reach the import from this start, a second one, the dock and the menu', async () => {
    const folder = temporaryFolder();
    const [first, second, third, fourth, model] = ['a.txt', 'b.md', 'c.jsonl', 'd.json', 'e.safetensors'].map(
      (name) => {
        writeFileSync(join(folder, name), 'text');
        return join(folder, name);
      },
    );
    const files = [first ?? ''];
    const desktop = startDesktop({ workspace: temporaryFolder(), args: files, chosen: [[fourth ?? '']] });
    await desktop.asked('window.show');
    const client = (await desktop.page())?.client;
    const requests = await client?.app.requests();
    const next = async () => (await requests?.next())?.value;
    expect(await next()).toEqual({ kind: 'import', files });
    // Opened by the user: the page may read it, and nothing next to it.
    await client?.app.reveal({ path: first ?? '' });
    expect(desktop.of('shell.showItemInFolder')).toEqual([[first]]);
    await expect(client?.app.reveal({ path: second ?? '' })).rejects.toMatchObject({ data: { code: 'PATH_OUTSIDE' } });

    const again = { target: 'app', event: 'second-instance' } as const;
    await desktop.order({ kind: 'emit', ...again, args: [[], '/', { files: [second, model] }] });
    expect(await next()).toEqual({ kind: 'import', files: [second] });
    expect(desktop.of('window.focus')).toHaveLength(1);
    expect((await client?.app.status())?.notices[0]?.message).toMatch(
      /^Expected a text file to open .*e\.safetensors$/,
    );
    // Messages of another program over the same channel are not launches of ours.
    await desktop.order({ kind: 'emit', ...again, args: [[], '/', { files: 'all' }] });
    expect(await desktop.order({ kind: 'emit', target: 'app', event: 'open-file', args: [third] })).toBe(true);
    expect(await next()).toEqual({ kind: 'import', files: [third] });
    await desktop.order({ kind: 'menu', label: 'Import texts…' });
    expect(await next()).toEqual({ kind: 'import', files: [fourth] });
  });

  it('are chosen in native dialogs, and may then be used by the page', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'a.txt');
    writeFileSync(file, 'text');
    const desktop = startDesktop({ workspace: temporaryFolder(), chosen: [[file], [folder]] });
    await desktop.asked('window.show');
    const client = (await desktop.page())?.client;
    expect(await client?.app.chooseFiles({ title: 'Texts' })).toEqual([file]);
    expect(await client?.app.chooseFolder({ title: 'Model' })).toBe(folder);
    expect(await client?.app.chooseFolder({ title: 'None' })).toBeNull();
    expect(desktop.of('dialog.showOpenDialog').map(([given]) => given)).toEqual([
      { title: 'Texts', properties: ['openFile', 'multiSelections'] },
      { title: 'Model', properties: ['openDirectory', 'createDirectory'] },
      { title: 'None', properties: ['openDirectory', 'createDirectory'] },
    ]);
    await client?.app.reveal({ path: file });
    expect(desktop.of('shell.showItemInFolder')).toEqual([[file]]);
  });
});

describe('the menu', () => {
  it('goes to every screen and triggers the page shortcuts', async () => {
    const workspace = temporaryFolder();
    const desktop = startDesktop({ workspace });
    await desktop.asked('window.show');
    const requests = await (await desktop.page())?.client.app.requests();
    const clicked = async (label: string) => {
      expect([label, await desktop.order({ kind: 'menu', label })]).toEqual([label, { enabled: true }]);
      return (await requests?.next())?.value;
    };
    expect(await clicked('Texts && datasets')).toEqual({ kind: 'go', path: '/texts' });
    expect(await clicked('Settings')).toEqual({ kind: 'go', path: '/settings' });
    expect(await clicked('Go to anything…')).toEqual({ kind: 'palette' });
    expect(await clicked('Keyboard shortcuts (?)')).toEqual({ kind: 'keys' });
    await desktop.order({ kind: 'menu', label: 'Show the workspace folder' });
    expect(desktop.of('shell.openPath')).toEqual([[workspace]]);
  });
});
