/** Light or dark as the settings say, for what the system draws: title bar, menus, dialogs. */
import { nativeTheme } from 'electron';
import type { App } from '../services/app.ts';
import { readSettings } from '../services/settings.ts';

/** Follows the settings. */
export function followTheme({ changes, store }: Pick<App, 'changes' | 'store'>): void {
  const apply = (): void => {
    nativeTheme.themeSource = readSettings(store).theme;
  };
  apply();
  changes.listen(({ topic }) => {
    if (topic === 'settings') apply();
  });
}
