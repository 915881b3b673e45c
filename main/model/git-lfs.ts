/** Git LFS pointers: small text files that a clone without Git LFS has in place of large ones. */
import { inputError } from '../errors.ts';

const FIRST_LINE = 'version https://git-lfs.github.com/spec/';

/** Throws if a file's beginning is that of a pointer. */
export function refusePointer(start: string, file: string): void {
  if (!start.startsWith(FIRST_LINE)) return;
  throw inputError(
    'GIT_LFS_POINTER',
    `${file}: this is only a Git LFS pointer to the file, not the file itself`,
    'Run "git lfs pull" in its folder, or download it from the page of the model.',
  );
}
