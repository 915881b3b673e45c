/** Applies the light or dark setting to what the system draws: title bar, menus, dialogs. */
import { nativeTheme } from 'electron';
import type { App } from '../services/app/app.ts';
import { readSettings } from '../services/workspace/settings.ts';

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
