import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownAppImage } from '../../main/desktop/app-image.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('ownAppImage', () => {
  const APPIMAGE = '/home/a/braid.AppImage';
  const mounts = () => {
    const folder = temporaryFolder();
    const [mount, elsewhere] = [join(folder, 'mount'), join(folder, 'mount-2')];
    for (const place of [mount, elsewhere]) {
      mkdirSync(place);
      writeFileSync(join(place, 'braid'), '');
    }
    return { folder, mount, elsewhere };
  };

  it('is the one whose mount holds the program', () => {
    const { mount } = mounts();
    expect(ownAppImage({ APPIMAGE, APPDIR: mount }, join(mount, 'braid'))).toBe(APPIMAGE);
  });

  it.skipIf(process.platform === 'win32')('sees through links', () => {
    const { folder, mount } = mounts();
    symlinkSync(mount, join(folder, 'link'));
    expect(ownAppImage({ APPIMAGE, APPDIR: join(folder, 'link') }, join(mount, 'braid'))).toBe(APPIMAGE);
  });

  it('is none without one, and not that of the terminal in which Braid was started', () => {
    const { folder, mount, elsewhere } = mounts();
    expect(ownAppImage({}, join(mount, 'braid'))).toBeNull();
    expect(ownAppImage({ APPIMAGE }, join(mount, 'braid'))).toBeNull();
    expect(ownAppImage({ APPIMAGE, APPDIR: mount }, join(elsewhere, 'braid'))).toBeNull();
    expect(ownAppImage({ APPIMAGE, APPDIR: join(folder, 'gone') }, join(elsewhere, 'braid'))).toBeNull();
  });
});
