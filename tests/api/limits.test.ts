import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { list } from '../../main/api/contract/base.ts';
import { contract } from '../../main/api/contract/index.ts';
import { checkPlain } from '../../main/api/plain-input.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { errorOf } from '../store/helpers.ts';
import { contextOf, openTinyApp, overPorts } from './transports.ts';

interface Def {
  readonly type: string;
  readonly [part: string]: unknown;
}

/** The strings and lists of a schema that have no maximum, by their place. */
function unlimited(schema: unknown, place: string, seen = new Set<unknown>()): string[] {
  if (!(schema instanceof z.core.$ZodType) || seen.has(schema)) return [];
  seen.add(schema);
  const def = schema._zod.def as unknown as Def;
  const checks = (def.checks ?? []) as readonly z.core.$ZodCheck[];
  const isLimited = checks.some(({ _zod }) => ['max_length', 'length_equals'].includes(_zod.def.check));
  const inner = (value: unknown, name: string): string[] =>
    Array.isArray(value)
      ? value.flatMap((item, i) => unlimited(item, `${place}.${name}${i}`, seen))
      : unlimited(value, name === '' ? place : `${place}.${name}`, seen);
  const own = (def.type === 'string' || def.type === 'array') && !isLimited ? [place] : [];
  const fields = def.type === 'object' ? Object.entries(def.shape as object) : [];
  return [
    ...own,
    ...fields.flatMap(([name, field]) => inner(field, name)),
    ...['innerType', 'in', 'out', 'element', 'keyType', 'valueType', 'left', 'right'].flatMap((part) =>
      inner(def[part], ''),
    ),
    ...inner(def.options ?? [], ''),
    ...inner(def.items ?? [], ''),
  ];
}

describe('the contract', () => {
  it('has a maximum for every string and list that a page can send', () => {
    const procedures = Object.entries(contract).flatMap(([resource, group]) =>
      Object.entries(group).map(([name, one]) => [`${resource}.${name}`, one['~orpc'].inputSchema] as const),
    );
    expect(procedures.length).toBeGreaterThan(100);
    expect(procedures.flatMap(([name, schema]) => unlimited(schema, name))).toEqual([]);
  });

  it('refuses millions of wrong items at once, in few words', async () => {
    const { client } = await overPorts(contextOf(openTinyApp(await tinyWorkspace())));
    const began = performance.now();
    const odd: readonly (() => Promise<unknown>)[] = [
      () => client.texts.remove({ ids: new Array(1_000_001).fill(0) }),
      () => client.texts.remove({ ids: new Array(100_000).fill(-1) }),
      () => client.texts.remove({ ids: new Array(200_000).fill(0.5) }),
      () => client.texts.remove({ ids: new Array(200_000).fill('x') as never }),
      () => client.stages.reorder({ stageIds: new Array(200_000).fill(-1) }),
      () => client.texts.confirmImport({ importId: 1, without: new Array(200_000).fill(-1) }),
      () => client.runs.sparklines({ runIds: new Array(300_000).fill(-1) }),
    ];
    for (const ask of odd) {
      const error = await ask().then(
        () => null,
        (refusal: Error & { readonly data?: { readonly code?: string } }) => refusal,
      );
      expect(error?.data?.code).toBe('BAD_REQUEST');
      expect(error?.message.length).toBeLessThan(1000);
    }
    expect(performance.now() - began).toBeLessThan(10_000);
  }, 30_000);
});

describe('list', () => {
  const ids = list(z.int().min(1), { min: 1, max: 3 });

  it('takes what fits, and names the first that does not', () => {
    expect(ids.parse([1, 2])).toEqual([1, 2]);
    expect(ids.safeParse([]).success).toBe(false);
    const { error } = ids.safeParse([1, 0, -1]);
    expect(error?.issues.map(({ path }) => path)).toEqual([[1]]);
    const long = ids.safeParse([0, 0, 0, 0]).error;
    expect(long?.issues).toHaveLength(1);
  });

  it('keeps the place of what is wrong within an item', () => {
    const nested = z.object({ rows: list(z.object({ id: z.int() }), { max: 3 }) });
    expect(nested.safeParse({ rows: [{ id: 1 }, { id: 'x' }] }).error?.issues).toMatchObject([
      { path: ['rows', 1, 'id'] },
    ]);
  });
});

describe('checkPlain', () => {
  it('refuses by size before it looks inside', () => {
    const many = Object.fromEntries(Array.from({ length: 100_001 }, (_, i) => [`k${i}`, 1]));
    const nested = Array.from({ length: 400 }, () => Array.from({ length: 300 }, () => []));
    for (const input of [{ a: new Array(10_001).fill('') }, many, nested])
      expect(errorOf(() => checkPlain(input))).toMatchObject({ code: 'BAD_REQUEST', kind: 'input' });
    expect(() => checkPlain({ a: new Array(1_000_000).fill(1), b: new Array(10_000).fill('x') })).not.toThrow();
  });
});
