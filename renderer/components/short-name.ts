/** `run-0007-10words-grpo · step 200` as `run 7 · step 200`, for use near the full name. Pure. */
export function shortName(name: string): string {
  return name.replace(/^run-0*(\d+)-\S* · /, 'run $1 · ');
}
