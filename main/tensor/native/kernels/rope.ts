import type { Tensor, TensorInfo } from '@tensorflow/tfjs-core';
import { type Handle, maths, type Ops, withOps } from '../ops.ts';
import type { Register } from './kernel.ts';

// N tokens, h heads, d head_dim.

interface Attrs {
  readonly headDim: number;
  readonly inverse: boolean;
}

/** cos and signed sin of every token over the whole head: x·cos + swapped halves of x·sin is the rotation. [N, 1, d] */
interface Angles {
  readonly cos: Handle;
  readonly sin: Handle;
}

/** All layers of a pass rotate by the same angles, forwards and, for the gradient, backwards. */
interface Remembered {
  readonly positions: object;
  readonly table: object;
  readonly inverse: boolean;
  readonly angles: Angles;
}

const REMEMBERED = 2;

export function registerRope(register: Register): void {
  let known: readonly Remembered[] = [];
  const anglesOf = (
    ops: Ops,
    positions: TensorInfo,
    tables: readonly [TensorInfo, TensorInfo],
    attrs: Attrs,
  ): Angles => {
    const [at, table] = [(positions as Tensor).dataId, (tables[0] as Tensor).dataId];
    const found = known.find((k) => k.positions === at && k.table === table && k.inverse === attrs.inverse);
    if (found !== undefined) return found.angles;
    const angles = makeAngles(ops, positions, tables, attrs);
    for (const { angles: old } of known.slice(REMEMBERED - 1)) {
      ops.backend.binding.deleteTensor(old.cos.id);
      ops.backend.binding.deleteTensor(old.sin.id);
    }
    known = [{ positions: at, table, inverse: attrs.inverse, angles }, ...known.slice(0, REMEMBERED - 1)];
    return angles;
  };
  register<Attrs>('Rope', (ops, inputs, attrs) => {
    const { add, concat, mul, reshape, splitSizes } = maths(ops);
    const { headDim: d } = attrs;
    const x = inputs.handle('x');
    const [n = 0, width = 0] = x.shape;
    const { cos, sin } = anglesOf(ops, inputs.info('positions'), [inputs.info('cos'), inputs.info('sin')], attrs);
    const heads = reshape(x, [n, width / d, d]);
    const [first, second] = splitSizes(heads, [d / 2, d / 2], 2) as [Handle, Handle];
    return reshape(add(mul(heads, cos), mul(concat([second, first], 2), sin)), [n, width]);
  });
}

function makeAngles(
  { backend }: Ops,
  positions: TensorInfo,
  [cosTable, sinTable]: readonly [TensorInfo, TensorInfo],
  { headDim, inverse }: Attrs,
): Angles {
  return withOps(backend, (ops) => {
    const { concat, gather, neg, reshape } = maths(ops);
    const at = ops.of(positions);
    const [n = 0] = positions.shape;
    const [cos, sin] = [gather(ops.of(cosTable), at), gather(ops.of(sinTable), at)]; // [N, d/2]
    const halves = inverse ? [sin, neg(sin)] : [neg(sin), sin];
    const whole = (parts: readonly Handle[]): Handle => ops.keep(reshape(concat(parts, 1), [n, 1, headDim]));
    return { cos: whole([cos, cos]), sin: whole(halves) };
  });
}
