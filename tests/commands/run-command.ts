/** Runs a command in this process and catches what it prints. */
import { Command } from 'commander';
import { vi } from 'vitest';
import { BraidError } from '../../main/errors.ts';

/** What a command printed and what it failed with. */
export interface CommandRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly error: BraidError | null;
}

/** Runs `braid ARGUMENTS` with one command registered. */
export async function runCommand(
  register: (program: Command) => void,
  ...args: readonly string[]
): Promise<CommandRun> {
  const output = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      output[name] += String(chunk);
      return true;
    }),
  );
  const program = new Command('braid');
  register(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return { ...output, error: null };
  } catch (error) {
    if (error instanceof BraidError) return { ...output, error };
    throw error;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
