/** The tools of the task: each function has the name of a tool in task.yaml, and is given the arguments of a call. */

const prices: Record<string, number> = {
  garden: 72,
  horse: 48,
  letter: 3,
  window: 25,
  stone: 6,
  paper: 2,
  market: 91,
  button: 4,
  pen: 7,
  map: 9,
  house: 83,
  book: 14,
  table: 36,
  door: 51,
  box: 8,
  cup: 5,
  hat: 19,
  ring: 64,
  key: 17,
};

export function price({ of }: { of: string }): number {
  const found = prices[of.trim()];
  // What is thrown is what the model reads.
  if (found === undefined) throw new Error(`There is no ${of}`);
  return found;
}

export function sum({ a, b }: { a: number; b: number }): number {
  return a + b;
}
