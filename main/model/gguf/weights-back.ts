/** A written GGUF file's weights, read back as they stand in it and compared with those of the model. */
import { BraidError } from '../../errors.ts';
import type { MergedModel } from '../merge.ts';
import { type GgufTensor, Q8_BLOCK } from './file.ts';
import { type GgufFile, openGguf } from './import/open.ts';
import { rowsOf } from './import/weights.ts';
import { ggufTensors } from './tensors.ts';

export interface WeightsBack {
  readonly tensors: number;
  /** Between a weight of the file and the model's. */
  readonly largest_difference: number;
}

/** How far a type may be from a number: half a step of float16, and for Q8_0 of a block's scale, which is a float16 too. */
const HALF = 2 ** -11;
const HALF_LEAST = 2 ** -25;
const Q8_STEP = 0.5 / 127 + HALF + 2 ** -16;

/** Throws where the file has other weights than its types can hold of the model's. `alive` is called as it reads. */
export function compareWeightsBack(path: string, model: MergedModel, alive: () => void): WeightsBack {
  const file = openGguf(path);
  try {
    let largest = 0;
    for (const tensor of ggufTensors(model, 'F32')) {
      alive();
      const type = file.tensors.get(tensor.name)?.type.name ?? 'F32';
      const { difference, isWithin } = differenceOf(tensor, file, type);
      if (!isWithin) throw differs(path, tensor.name, difference, type);
      largest = Math.max(largest, difference);
    }
    return { tensors: model.tensors.length, largest_difference: largest };
  } finally {
    file.close();
  }
}

function differenceOf(expected: GgufTensor, file: GgufFile, type: string) {
  let [difference, isWithin] = [0, true];
  const got = file.tensors.has(expected.name) ? rowsOf(file, expected.name, 1) : [];
  const block = type === 'Q8_0' ? Q8_BLOCK : 1;
  for (const [wanted, given] of together(expected.pieces(), got)) {
    for (let first = 0; first < wanted.length; first += block) {
      const end = Math.min(first + block, wanted.length);
      let most = 0;
      for (let i = first; i < end; i++) most = Math.max(most, Math.abs(wanted[i] ?? 0));
      const slack =
        type === 'F32' ? 0 : type === 'F16' ? Math.max(HALF * most, HALF_LEAST) : Q8_STEP * most + HALF_LEAST;
      for (let i = first; i < end; i++) {
        const apart = Math.abs((wanted[i] ?? 0) - (given[i] ?? Number.NaN));
        difference = Math.max(difference, apart);
        isWithin &&= apart <= slack;
      }
    }
  }
  return { difference, isWithin };
}

/** Two sequences of the same numbers in pieces of their own, cut alike at the ends of the first one's. */
function* together(
  first: Iterable<Float32Array>,
  second: Iterable<Float32Array>,
): Generator<readonly [Float32Array, Float32Array]> {
  const others = second[Symbol.iterator]();
  let rest = new Float32Array(0);
  for (const piece of first) {
    const joined = new Float32Array(piece.length).fill(Number.NaN);
    for (let done = 0; done < piece.length; ) {
      if (rest.length === 0) {
        const next = others.next();
        if (next.done === true) break;
        rest = Float32Array.from(next.value);
      }
      const some = rest.subarray(0, piece.length - done);
      joined.set(some, done);
      done += some.length;
      rest = rest.slice(some.length);
    }
    yield [piece, joined];
  }
}

function differs(path: string, name: string, difference: number, type: string): BraidError {
  return new BraidError(
    'GGUF_DIFFERS',
    `${path}: read back, ${name} differs by ${difference.toPrecision(2)} from the merged model, more than ${type} rounds`,
    { remedy: 'Nothing was kept. Export again, to another disk if it happens again.' },
  );
}
