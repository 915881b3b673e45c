/** Folders outside the workspace that the user has opened to the page, kept in the user's own configuration. */
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { secretsFile } from './secrets.ts';
import { openUserFile, type UserFile } from './user-file.ts';

const folderSchema = z.object({
  /** As the links led when it was allowed. */
  folder: z.string(),
  /** When, in ISO 8601. */
  at: z.string(),
});

/** Where they are kept. */
export type AllowedFolders = UserFile<readonly Readonly<z.infer<typeof folderSchema>>[]>;

/** Opens the file next to the secrets; it is made when a folder is allowed. */
export function openAllowedFolders(
  file: string = join(dirname(secretsFile()), 'allowed-folders.json'),
): AllowedFolders {
  return openUserFile(file, {
    schema: z.array(folderSchema),
    empty: [],
    what: 'the folders that you allowed',
    code: 'FOLDERS_UNREADABLE',
    remedy: 'Delete the file and allow the folders again. Nothing else is in it.',
  });
}
