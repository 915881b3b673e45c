/** Files that the user opens with the app: text files go to the import screen. */
import { extname } from 'node:path';
import type { PathAccess } from '../api/context.ts';
import type { PageRequests } from '../api/page-requests.ts';
import { textEndings } from '../services/texts/file-types.ts';
import type { Notices } from '../services/workspace/notices.ts';

/** The file extensions that the import reads, without the dot. */
export const TEXT_EXTENSIONS = [...textEndings, '.zip'].map((ending) => ending.slice(1));

export interface OpenFilesContext {
  readonly access: PathAccess;
  readonly requests: PageRequests;
  readonly notices: Pick<Notices, 'add'>;
}

/** Offers the text files among them for import, and reports which others were skipped. */
export function openFiles(files: readonly string[], { access, requests, notices }: OpenFilesContext): void {
  const isText = (file: string): boolean => TEXT_EXTENSIONS.includes(extname(file).slice(1).toLowerCase());
  const texts = files.filter(isText);
  for (const file of texts) access.allow(file);
  if (texts.length > 0) requests.ask({ kind: 'import', files: texts });
  for (const file of files.filter((file) => !isText(file))) {
    const message = `Expected a text file to open (${TEXT_EXTENSIONS.join(', ')}), got ${file}`;
    notices.add({ severity: 'warning', message, remedy: 'Models are added on the Models screen.', runId: null });
  }
}
