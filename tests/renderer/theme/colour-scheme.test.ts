import type { MantineColorScheme } from '@mantine/core';
import { describe, expect, it } from 'vitest';
import { ownColourScheme } from '../../../renderer/theme/colour-scheme.ts';

describe('ownColourScheme', () => {
  it('follows no other page, and writes nothing once its session has ended', () => {
    let stored: MantineColorScheme = 'light';
    const kept = {
      get: () => stored,
      set: (scheme: MantineColorScheme) => {
        stored = scheme;
      },
      clear: () => undefined,
    };
    let connected = true;
    const page = ownColourScheme(kept, () => connected);
    const heard: MantineColorScheme[] = [];
    page.subscribe((scheme) => heard.push(scheme));
    page.set('dark');
    expect(page.get('auto')).toBe('dark');
    connected = false;
    page.set('light');
    expect([stored, heard]).toEqual(['dark', []]);
  });
});
