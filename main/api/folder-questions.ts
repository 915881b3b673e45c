/**
 * What a page asks the user about a folder outside of what is open. A page can't name a folder to open: it gets a
 * question about the one that its links lead to, which is answered once and soon.
 */
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { inputError } from '../errors.ts';
import { whatIsAt } from '../services/workspace/host-folders.ts';
import type { PathAccess } from './context.ts';

const MINUTES = 10;
/** Those of closed pages must not stay for ever. */
const MOST = 20;

interface Asked {
  readonly folder: string;
  readonly at: number;
}

const questions = new WeakMap<PathAccess, Map<string, Asked>>();

/** Where a path leads; of one that isn't open, the folder to ask about, and the question's id. */
export function lookAt(access: PathAccess, path: string) {
  const { at, isOpen, isOwn } = access.locate(path);
  if (isOwn && !isOpen)
    throw inputError('FOLDER_OWN', `${at} belongs to Braid's own configuration`, 'Choose another folder.');
  const isFolder = whatIsAt(at).isDirectory();
  const folder = isFolder ? at : dirname(at);
  if (isOpen) return { kind: 'open', at, folder, isFolder } as const;
  if (dirname(folder) === folder)
    throw inputError('FOLDER_TOO_WIDE', `${folder} is the whole disk`, 'Enter the path of a folder in it.');
  return { kind: 'outside', folder, question: ask(access, folder) } as const;
}

/** The folder of a question; opens nothing. Throws if it was answered, is old, or the folder is another by now. */
export function folderOf(access: PathAccess, question: string): string {
  const asked = questions.get(access)?.get(question);
  questions.get(access)?.delete(question);
  const isNow = asked !== undefined && Date.now() - asked.at < MINUTES * 60_000;
  if (isNow && access.locate(asked.folder).at === asked.folder && whatIsAt(asked.folder).isDirectory())
    return asked.folder;
  throw inputError('QUESTION_GONE', 'This question is no longer open; nothing was allowed', 'Choose the folder again.');
}

function ask(access: PathAccess, folder: string): string {
  const open = questions.get(access) ?? new Map<string, Asked>();
  questions.set(access, open);
  const id = randomBytes(16).toString('base64url');
  open.set(id, { folder, at: Date.now() });
  for (const old of [...open.keys()].slice(0, -MOST)) open.delete(old);
  return id;
}
