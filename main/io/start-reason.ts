/** Why a program or a thread couldn't be started, in words, and what to do about it. */

/** By the system's code. */
const REASONS: Readonly<Record<string, (program: string) => string>> = {
  ENOENT: (program) => `there is no program "${program}"`,
  EACCES: (program) => `"${program}" isn't a program that this user may run`,
  EPERM: (program) => `this user may not run "${program}"`,
  EISDIR: (program) => `"${program}" is a folder`,
  EFTYPE: (program) => `"${program}" isn't a program for this system`,
  ENOEXEC: (program) => `"${program}" isn't a program for this system`,
  // Windows starts no batch file without a shell.
  EINVAL: (program) => `"${program}" isn't a program, or a batch file without "cmd /c" before it`,
  E2BIG: () => 'its arguments and the environment are too long',
  EMFILE: () => 'too many files are open in this process',
  ENFILE: () => 'too many files are open on this system',
  EAGAIN: () => 'the system allows no further process or thread',
  ENOMEM: () => 'the system has no memory left for it',
};

/** `there is no program "vllm" (ENOENT)`; of an unknown error its own message. */
export function startReason(error: unknown, program: string): string {
  const { code, message } = (error instanceof Error ? error : new Error(String(error))) as NodeJS.ErrnoException;
  const reason = code === undefined || !Object.hasOwn(REASONS, code) ? undefined : REASONS[code];
  return reason === undefined ? message : `${reason(program)} (${code})`;
}

/** What to do about a part of Braid that can't start, by why it can't; undefined: that says nothing about it. */
export function startRemedy(why: string): string | undefined {
  if (/Cannot find (module|package)|SyntaxError|does not provide an export/.test(why))
    return 'A file of Braid is missing or damaged: install Braid again.';
  if (/ERR_WORKER_INIT_FAILED|EMFILE|ENFILE|EAGAIN|ENOMEM|out of memory/i.test(why))
    return 'Close other programs and try again.';
  return undefined;
}
