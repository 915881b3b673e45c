/** One rendering of a template: what it may take, and where it is. A template comes with a model, from anywhere. */
import { PyError } from './errors.ts';

/** Bounds far beyond what chats need. */
const MAX_STEPS = 500_000;
/** Characters and items (each as 8) of all texts and lists that are made on the way. */
const MAX_SIZE = 20_000_000;
const MAX_SECONDS = 3;
/** The clock is asked that often only. */
const CLOCK_EVERY = 256;
const MAX_DEPTH = 150;

export class Run {
  /** The line of the template that is being computed. */
  line = 1;
  #steps = 0;
  #size = 0;
  #depth = 0;
  readonly #began = performance.now();

  step(count = 1): void {
    const before = this.#steps;
    this.#steps += count;
    if (this.#steps > MAX_STEPS) stop(`it takes more than ${MAX_STEPS} steps`);
    if (Math.floor(before / CLOCK_EVERY) === Math.floor(this.#steps / CLOCK_EVERY)) return;
    if (performance.now() - this.#began > MAX_SECONDS * 1000) stop(`it takes more than ${MAX_SECONDS} s`);
  }

  /** Before so many characters are made or read. */
  size(characters: number): void {
    this.#size += characters;
    if (!(this.#size <= MAX_SIZE)) stop(`its texts and lists take more than ${MAX_SIZE / 1e6} MB`);
  }

  /** Before so many characters are read. */
  read(characters: number): void {
    this.size(characters / 16);
  }

  /** Before a list of so many items is made. */
  items(count: number): void {
    this.size(8 * count);
  }

  /** A call inside others. */
  nested<T>(call: () => T): T {
    if (this.#depth >= MAX_DEPTH) stop(`its calls are nested more than ${MAX_DEPTH} deep`);
    this.#depth += 1;
    try {
      return call();
    } finally {
      this.#depth -= 1;
    }
  }
}

function stop(message: string): never {
  throw new PyError('TemplateError', message);
}
