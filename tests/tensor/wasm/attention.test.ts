import { describe, expect, it } from 'vitest';
import { type AttentionCase, attentionGradReference, attentionReference, visibleKeys } from './attention-reference.ts';
import {
  expectClose,
  expectNoLeak,
  expectSameBits,
  type Floats,
  normals,
  runKernel,
  seeded,
  withThreads,
} from './fused-harness.ts';

type Segments = AttentionCase['segments'];

/** Prompts, each followed by its completions: lengths as [prompt, ...completions]. */
function groupsOf(...groups: readonly (readonly number[])[]): Segments {
  let at = 0;
  return groups.flatMap(([prompt = 0, ...completions]) => {
    const promptStart = at;
    at += prompt;
    const own: Segments[number] = [promptStart, prompt, 0, 0];
    return [
      own,
      ...completions.map((length): Segments[number] => {
        at += length;
        return [at - length, length, promptStart, prompt];
      }),
    ];
  });
}

function makeCase(seed: number, segments: Segments, kvHeads: number, group: number, d: number): AttentionCase {
  const tokens = segments.reduce((sum, [, length]) => sum + length, 0);
  const stream = seeded(seed);
  const heads = kvHeads * group;
  const [q, k, v] = [heads, kvHeads, kvHeads].map((count) => normals(tokens * count * d, stream)) as [
    Floats,
    Floats,
    Floats,
  ];
  return { tokens, heads, kvHeads, d, scale: d ** -0.5, segments, q, k, v };
}

function operands({ tokens, heads, kvHeads, d, segments, q, k, v }: AttentionCase) {
  return {
    q: { values: q, shape: [tokens, heads * d] },
    k: { values: k, shape: [tokens, kvHeads * d] },
    v: { values: v, shape: [tokens, kvHeads * d] },
    segments: { values: Int32Array.from(segments.flat()), shape: [segments.length, 4] },
  };
}

function attributes({ heads, kvHeads, d, scale }: AttentionCase) {
  return { numHeads: heads, numKvHeads: kvHeads, headDim: d, scale };
}

function forward(test: AttentionCase): Floats[] {
  return runKernel('PackedAttention', operands(test), attributes(test));
}

function backward(test: AttentionCase, dy: Floats): Floats[] {
  const [out, lse] = forward(test) as [Floats, Floats];
  const width = test.heads * test.d;
  const more = {
    dy: { values: dy, shape: [test.tokens, width] },
    out: { values: out, shape: [test.tokens, width] },
    lse: { values: lse, shape: [test.tokens, test.heads] },
  };
  return runKernel('PackedAttentionGrad', { ...operands(test), ...more }, attributes(test));
}

const cases: readonly { name: string; segments: Segments; kvHeads: number; group: number; d: number }[] = [
  { name: 'one token', segments: groupsOf([1]), kvHeads: 1, group: 1, d: 8 },
  { name: 'one segment beyond a block', segments: groupsOf([130]), kvHeads: 2, group: 1, d: 16 },
  { name: 'group of short completions', segments: groupsOf([37, 20, 33, 1, 60]), kvHeads: 2, group: 3, d: 32 },
  { name: 'two groups', segments: groupsOf([64, 64, 65], [3, 5, 128]), kvHeads: 1, group: 4, d: 64 },
  { name: 'odd width', segments: groupsOf([7, 9], [70, 2, 2]), kvHeads: 3, group: 2, d: 80 },
  { name: 'wide heads', segments: groupsOf([100, 31, 44], [12]), kvHeads: 1, group: 2, d: 128 },
  { name: 'more heads a token than a block divides by', segments: groupsOf([20, 30]), kvHeads: 1, group: 7, d: 8 },
  {
    name: 'prefixes that are parts of segments, out of order',
    segments: [
      [100, 30, 60, 40],
      [0, 90, 0, 0],
      [90, 10, 3, 80],
      [130, 25, 70, 45],
    ],
    kvHeads: 2,
    group: 2,
    d: 16,
  },
];

describe('PackedAttention', () => {
  for (const { name, segments, kvHeads, group, d } of cases) {
    it(`matches float64 attention: ${name}`, () =>
      withThreads(2, () => {
        const test = makeCase(1, segments, kvHeads, group, d);
        const [out, lse] = forward(test);
        const expected = attentionReference(test);
        expectClose(out, expected.out, 2e-6);
        expectClose(lse, expected.lse, 2e-6);
      }));
  }

  it('stays exact where scores are far apart', () =>
    withThreads(2, () => {
      const base = makeCase(2, groupsOf([40, 90]), 1, 2, 32);
      const test = { ...base, q: base.q.map((x) => x * 60) };
      const [out, lse] = forward(test);
      const expected = attentionReference(test);
      expectClose(out, expected.out, 3e-5);
      expectClose(lse, expected.lse, 2e-6);
    }));

  it('lets no token see another segment', () =>
    withThreads(2, () => {
      const test = makeCase(3, groupsOf([10, 20, 30], [5, 6]), 1, 1, 8);
      const [before] = forward(test) as [Floats];
      const k = test.k.slice();
      // The first completion's keys: only its own tokens may notice.
      k.fill(3, 10 * 8, 30 * 8);
      const [after] = forward({ ...test, k }) as [Floats];
      const changed = Array.from({ length: test.tokens }, (_, token) => token).filter((token) =>
        before.subarray(token * 8, token * 8 + 8).some((x, i) => x !== after[token * 8 + i]),
      );
      const seeing = visibleKeys(test.segments, test.tokens)
        .map((keys, token) => (keys.some((key) => key >= 10 && key < 30) ? token : -1))
        .filter((token) => token >= 0);
      expect(changed).toEqual(seeing);
    }));

  it('gives the same bits with 1, 2 and 3 threads', () =>
    expectSameBits(() => forward(makeCase(4, groupsOf([50, 30, 41, 22], [70, 9, 130]), 2, 2, 32))));

  it('leaves nothing on the heap', () =>
    withThreads(2, (runtime) => {
      const test = makeCase(5, groupsOf([30, 20]), 2, 2, 16);
      expectNoLeak(runtime, () => backward(test, test.q));
    }));

  it('rejects segments that leave a token out or overlap, prefixes outside, and odd head sizes', () =>
    withThreads(1, () => {
      const test = makeCase(6, [[0, 20, 0, 0]], 1, 1, 8);
      const withSegments = (segments: Segments) => () => forward({ ...test, segments });
      expect(withSegments([[0, 19, 0, 0]])).toThrow('cover 20 tokens, got 19');
      expect(withSegments([[0, 21, 0, 0]])).toThrow('cover 20 tokens, got 21');
      expect(
        withSegments([
          [0, 12, 0, 0],
          [10, 10, 0, 0],
        ]),
      ).toThrow('start at token 12, got 10');
      expect(
        withSegments([
          [0, 10, 15, 6],
          [10, 10, 0, 0],
        ]),
      ).toThrow('within 0..20, got 15..21');
      expect(
        withSegments([
          [0, 10, 0, 0],
          [10, 10, 8, 4],
        ]),
      ).toThrow('outside it');
      expect(() => forward({ ...test, d: 4, heads: 2, kvHeads: 2 })).toThrow('multiple of 8');
      const uneven = { ...makeCase(6, test.segments, 2, 1, 8), heads: 3, q: normals(20 * 24, seeded(6)) };
      expect(() => forward(uneven)).toThrow('"numHeads" to be 1 to 64 times "numKvHeads" (2), got 3');
    }));
});

describe('PackedAttentionGrad', () => {
  for (const { name, segments, kvHeads, group, d } of cases) {
    it(`matches float64 gradients: ${name}`, async () => {
      const test = makeCase(7, segments, kvHeads, group, d);
      const dy = normals(test.q.length, seeded(8));
      const expected = attentionGradReference(test, dy);
      // With one thread all pairs are walked at once, with many mostly by keys and by rows.
      for (const threads of [1, 3]) {
        const [dq, dk, dv] = await withThreads(threads, () => backward(test, dy));
        expectClose(dq, expected.dq, 5e-6);
        expectClose(dk, expected.dk, 5e-6);
        expectClose(dv, expected.dv, 5e-6);
      }
    });
  }

  it('agrees with finite differences of the float64 forward pass', () =>
    withThreads(1, () => {
      const test = makeCase(9, groupsOf([5, 4, 3]), 1, 2, 8);
      const dy = normals(test.q.length, seeded(10));
      const grads = backward(test, dy);
      const loss = (changed: AttentionCase) =>
        attentionReference(changed).out.reduce((sum, y, i) => sum + y * (dy[i] ?? 0), 0);
      (['q', 'k', 'v'] as const).forEach((name, index) => {
        for (const at of [0, 9, 17, 40, test[name].length - 1]) {
          const nudged = (by: number) => {
            const values = test[name].slice();
            values[at] = (values[at] ?? 0) + by;
            return { loss: loss({ ...test, [name]: values }), value: values[at] ?? 0 };
          };
          const [up, down] = [nudged(1e-2), nudged(-1e-2)];
          expect(grads[index]?.[at]).toBeCloseTo((up.loss - down.loss) / (up.value - down.value), 3);
        }
      });
    }));

  it('gives the same bits however the work is shared out', () =>
    // One group: 1 thread walks it whole, 2 and 3 by keys and by rows.
    expectSameBits(() => {
      const test = makeCase(11, groupsOf([90, 70, 130, 41]), 1, 2, 32);
      return backward(test, normals(test.q.length, seeded(12)));
    }));

  it('gives the same bits with 1, 2 and 3 threads for many groups', () =>
    expectSameBits(() => {
      const test = makeCase(13, groupsOf([30, 20, 25], [41, 13, 60], [9, 30, 31], [22, 44]), 2, 2, 16);
      return backward(test, normals(test.q.length, seeded(14)));
    }));
});
