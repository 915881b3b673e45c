/** Reads the folders of a drop, or of a chosen folder: the files that may contain texts, named with their folder. */
import { checked, type Dropped, droppedIn, type NamedContent } from './dropped.ts';
import { mayHoldTexts, TEXT_TYPES } from './text-files.ts';

/** The limit of one import. */
const MAX_FILES = 1000;

/** Reads a drop with its folders. */
export async function droppedWithFolders(transfer: DataTransfer): Promise<Dropped> {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  if (!entries.some(({ isDirectory }) => isDirectory)) return droppedIn(transfer);
  try {
    return chosenFrom((await Promise.all(entries.map(filesOf))).flat());
  } catch {
    return { kind: 'refused', reason: 'The folder can’t be read. Zip it and drop the archive.' };
  }
}

/** The files of a folder that may contain texts, if they aren't too many. */
export function chosenFrom(files: readonly NamedContent[]): Dropped {
  const fitting = files.filter(({ name }) => mayHoldTexts(name));
  if (fitting.length === 0)
    return { kind: 'refused', reason: `There are no files with texts (${TEXT_TYPES}) and no .zip in that folder.` };
  if (fitting.length <= MAX_FILES) return checked(fitting);
  return {
    kind: 'refused',
    reason: `The folder has ${fitting.length} files with texts; the limit of one import is ${MAX_FILES}. Zip it and import the archive.`,
  };
}

async function filesOf(entry: FileSystemEntry): Promise<NamedContent[]> {
  const name = entry.fullPath.replace(/^\//, '');
  if (entry.isFile) {
    const content = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ name, content }];
  }
  const inside = await entriesOf((entry as FileSystemDirectoryEntry).createReader());
  return (await Promise.all(inside.map(filesOf))).flat();
}

/** A reader gives at most a hundred entries at a time, and none at the end. */
async function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
  return some.length === 0 ? [] : [...some, ...(await entriesOf(reader))];
}
