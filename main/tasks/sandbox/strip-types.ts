/**
 * TypeScript to JavaScript by blanking the types, so that every line and column stays where it is. amaro is the library
 * behind Node's own type stripping, which Electron is built without.
 */
import { transformSync } from 'amaro';
import { inputError } from '../../errors.ts';

/** The code without types; an error names the place. */
export function stripTypes(text: string, file: string): string {
  try {
    return transformSync(text, { mode: 'strip-only' }).code;
  } catch (error) {
    const {
      message,
      startLine = 1,
      startColumn = 0,
    } = error as {
      readonly message: string;
      readonly startLine?: number;
      readonly startColumn?: number;
    };
    throw inputError('BAD_REWARD', `${file}:${startLine}:${startColumn + 1}: ${message}`);
  }
}
