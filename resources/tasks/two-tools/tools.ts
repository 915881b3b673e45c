/** The tools of the task: each function has the name of a tool in task.yaml, and is given the arguments of a call. */

const prices: Record<string, number> = {
  pipe: 45,
  train: 91,
  watch: 45,
  tree: 14,
  house: 32,
  map: 36,
  glass: 35,
  box: 84,
  letter: 3,
  book: 75,
  wall: 38,
  horse: 82,
  garden: 19,
  card: 47,
  ticket: 85,
  flag: 57,
  key: 24,
  ring: 27,
  hat: 53,
  market: 79,
  button: 37,
  wire: 5,
  cup: 48,
  window: 14,
  ball: 38,
  coin: 75,
  stone: 39,
  paper: 77,
  door: 65,
  chain: 91,
  bed: 16,
  table: 16,
  chair: 30,
  pen: 20,
  clock: 44,
  fish: 62,
};

export function price({ of }: { of: string }): number {
  const found = prices[of.trim()];
  // What is thrown is what the model reads.
  if (found === undefined) throw new Error(`There is no ${of}`);
  return found;
}

export function sum({ of }: { of: string }): number {
  const [, a, b] = /^\s*(\d+)\s*\+\s*(\d+)\s*$/.exec(of) ?? [];
  if (a === undefined) throw new Error(`There is no sum in ${of}`);
  return Number(a) + Number(b);
}
