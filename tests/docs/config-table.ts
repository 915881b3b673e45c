/**
 * The list of configuration fields in docs/run-yaml.md, generated from the schema. After a change of the schema:
 *
 *   node tests/docs/config-table.ts
 */
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { FieldSchema } from '../../main/services/config/form.ts';
import { configFields, fieldMeta, trainConfigSchema } from '../../main/trainer/config/config.ts';
import { writePart } from '../../scripts/generated-part.ts';

export const configFile = fileURLToPath(new URL('../../docs/run-yaml.md', import.meta.url));

export const CONFIG_FIELDS = 'config fields';

/** The list, one line per field, in the order of the schema. */
export function configList(): string {
  const { properties = {} } = z.toJSONSchema(trainConfigSchema, { io: 'input' });
  return configFields
    .map((field) => {
      const schema = properties[field] as FieldSchema;
      const { unit, doc } = fieldMeta(field);
      const values = [unit, allowed(schema)].filter((part) => part !== undefined && part !== 'boolean').join(', ');
      return `- \`${field}: ${yaml(schema.default)}\`${values === '' ? '' : ` (${values})`}: ${doc}`;
    })
    .join('\n');
}

/** On one line, as a run.yaml may have it. */
function yaml(value: unknown): string {
  return JSON.stringify(value).replaceAll('"', '').replaceAll(',', ', ');
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

if (import.meta.main) writePart(configFile, CONFIG_FIELDS, configList());
