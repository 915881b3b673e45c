/** A question to whoever sits at the terminal. */
import { createInterface } from 'node:readline/promises';

/** Whether the answer is yes; where nobody can be asked, it is no. */
export async function askOnTerminal(question: string): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
