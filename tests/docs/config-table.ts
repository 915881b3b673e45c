/**
 * The table of configuration fields in docs/run-yaml.md, generated from the schema. After a change of the schema:
 *
 *   node tests/docs/config-table.ts
 */
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { FieldSchema } from '../../main/services/config/form.ts';
import { configFields, fieldMeta, trainConfigSchema } from '../../main/trainer/config/config.ts';
import { markdownTable, writePart } from '../../scripts/generated-part.ts';

export const configFile = fileURLToPath(new URL('../../docs/run-yaml.md', import.meta.url));

export const CONFIG_TABLE = 'config table';

/** The table, one row per field, in the order of the schema. */
export function configTable(): string {
  const { properties = {} } = z.toJSONSchema(trainConfigSchema, { io: 'input' });
  const rows = configFields.map((field) => {
    const schema = properties[field] as FieldSchema;
    const { unit, doc } = fieldMeta(field);
    const values = unit === undefined ? allowed(schema) : `${allowed(schema)} (${unit})`;
    return [code(`${field}: ${yaml(schema.default)}`), values, doc];
  });
  return markdownTable(['field and default', 'allowed', 'meaning'], rows);
}

/** On one line, as a run.yaml may have it. */
function yaml(value: unknown): string {
  return JSON.stringify(value).replaceAll('"', '').replaceAll(',', ', ');
}

function code(text: string): string {
  return `\`${text}\``;
}

function allowed(schema: FieldSchema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(allowed).join(' or ');
  if (schema.enum !== undefined) return schema.enum.join(', ');
  if (schema.type === 'array') return `list of ${allowed(schema.items ?? {})}`;
  if (schema.type === 'integer' || schema.type === 'number') return `${schema.type}${bounds(schema)}`;
  return typeof schema.type === 'string' ? schema.type : (schema.type ?? ['anything']).join(' or ');
}

/** zod writes the largest safe integer where no upper bound was set. */
function bounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: FieldSchema): string {
  const parts: string[] = [];
  if (minimum !== undefined) parts.push(`≥ ${minimum}`);
  if (exclusiveMinimum !== undefined) parts.push(`> ${exclusiveMinimum}`);
  if (exclusiveMaximum !== undefined) parts.push(`< ${exclusiveMaximum}`);
  if (maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER) parts.push(`≤ ${maximum}`);
  return parts.length === 0 ? '' : ` ${parts.join(' and ')}`;
}

if (import.meta.main) writePart(configFile, CONFIG_TABLE, configTable());
