/** The system's dialogs for folders and files. */
import { type BrowserWindow, dialog, type OpenDialogOptions, shell } from 'electron';
import type { Dialogs } from '../api/context.ts';

/** Dialogs over a window. */
export function nativeDialogs(window: BrowserWindow): Dialogs {
  const choose = async (options: OpenDialogOptions): Promise<string[]> => {
    const { canceled, filePaths } = await dialog.showOpenDialog(window, options);
    return canceled ? [] : filePaths;
  };
  return {
    chooseFolder: async (title) =>
      (await choose({ title, properties: ['openDirectory', 'createDirectory'] }))[0] ?? null,
    chooseFiles: (title) => choose({ title, properties: ['openFile', 'multiSelections'] }),
    reveal: (path) => shell.showItemInFolder(path),
    confirm: async ({ message, detail, action }) => {
      const buttons = ['Cancel', action];
      const options = { type: 'warning', message, detail, buttons, defaultId: 0, cancelId: 0, noLink: true } as const;
      return (await dialog.showMessageBox(window, options)).response === 1;
    },
  };
}
