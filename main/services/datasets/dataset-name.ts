/** What a dataset may be called. */
import { inputError } from '../../errors.ts';
import { checkPortableName } from '../../io/foreign-name.ts';

/** The name becomes (a part of) file names, which must be valid on every system; with `isWhole` it is all of one. */
export function checkDatasetName(name: string, isWhole: boolean, remedy?: string): string {
  const isHeldOut = isWhole && name.endsWith('.test');
  if (/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,59}$/u.test(name) && !isHeldOut) return checkPortableName(name, 'BAD_NAME');
  throw inputError(
    'BAD_NAME',
    `Expected a name of letters, digits, dots, dashes and underscores that starts with a letter or digit, got "${name}"`,
    remedy,
  );
}
