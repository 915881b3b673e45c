/** Values for what a procedure of the contract asks: right by its schema, or right but for a few places. */
import { z } from 'zod';
import type { RandomStream } from '../../main/random.ts';
import { hostileValue, mutatedValue, pick } from './mutate.ts';

/** What is there to be named: paths and references that mean something in the workspace. */
export interface Known {
  readonly paths: readonly string[];
  readonly references: readonly string[];
  readonly config: Readonly<Record<string, unknown>>;
}

interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
}

/** A value for an input schema; undefined where the procedure takes none. Half of them have hostile places. */
export function inputFor(schema: z.ZodType | undefined, stream: RandomStream, known: Known): unknown {
  if (schema === undefined) return stream.below(4) === 0 ? hostileValue(stream) : undefined;
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const value = valueFor(shape, '', stream, known);
  return stream.below(2) === 0 ? value : mutatedValue(stream, value);
}

function valueFor(schema: JsonSchema, name: string, stream: RandomStream, known: Known): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return pick(stream, schema.enum);
  if (schema.anyOf !== undefined) return valueFor(pick(stream, schema.anyOf), name, stream, known);
  // Files that a page hands over are no JSON: their schema says nothing.
  if (name === 'content') return new Blob([pick(stream, ['# a\nwords', '["some words"]', '{"id": 1}', '\0', ''])]);
  if (name === 'config') return stream.below(2) === 0 ? known.config : mutatedValue(stream, known.config);
  switch (schema.type) {
    case 'object':
      return objectOf(schema, stream, known);
    case 'array':
      return Array.from({ length: (schema.minItems ?? 0) + stream.below(3) }, () =>
        valueFor(schema.items ?? {}, name.replace(/s$/, ''), stream, known),
      );
    case 'integer':
    case 'number':
      return numberOf(schema, stream);
    case 'boolean':
      return stream.below(2) === 0;
    case 'string':
      return textOf(name, stream, known);
    case 'null':
      return null;
    default:
      return hostileValue(stream);
  }
}

function objectOf({ properties = {}, required = [] }: JsonSchema, stream: RandomStream, known: Known): unknown {
  const kept = Object.entries(properties).filter(([name]) => required.includes(name) || stream.below(2) === 0);
  return Object.fromEntries(kept.map(([name, field]) => [name, valueFor(field, name, stream, known)]));
}

function numberOf({ minimum = 0, maximum = 1e9 }: JsonSchema, stream: RandomStream): number {
  // Ids and steps are small; the bounds are what goes wrong.
  return Math.min(maximum, Math.max(minimum, pick(stream, [minimum, maximum, stream.below(5), stream.below(1000)])));
}

function textOf(name: string, stream: RandomStream, known: Known): string {
  if (/path|folder|^file$/i.test(name)) return pick(stream, known.paths);
  if (/ref|model|baseline|start/i.test(name)) return pick(stream, [...known.references, ...known.paths]);
  return pick(stream, [
    'a',
    'grpo',
    'tiny',
    'words',
    'interleave',
    '"or" near*',
    '%_',
    '../x',
    'ü'.repeat(60),
    known.paths[0] ?? '',
  ]);
}
