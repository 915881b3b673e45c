/** The settings as form fields: allowed values, unit and meaning, from the schema. */
import { z } from 'zod';
import { type Settings, settingsSchema } from './settings.ts';

interface Field {
  readonly name: keyof Settings;
  /** `Runs at the same time`. */
  readonly label: string;
  readonly doc: string;
  readonly unit: string | null;
}

export type SettingField =
  | (Field & { readonly kind: 'switch'; readonly default: boolean })
  | (Field & { readonly kind: 'choice'; readonly default: string; readonly choices: readonly string[] })
  | (Field & { readonly kind: 'text'; readonly default: string; readonly maxLength: number | null })
  | (Field & {
      readonly kind: 'number';
      readonly default: number;
      readonly min: number | null;
      readonly max: number | null;
      readonly whole: boolean;
    });

/** The part of JSON Schema that the settings use. */
interface Described {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
  readonly label?: string;
  readonly unit?: string;
  readonly doc?: string;
}

/** Every setting, in the order of the schema. */
export function settingFields(): readonly SettingField[] {
  const { properties = {} } = z.toJSONSchema(settingsSchema, { io: 'input' });
  return Object.keys(settingsSchema.shape).map((name) => field(name as keyof Settings, properties[name] as Described));
}

function field(name: keyof Settings, described: Described): SettingField {
  const { label = name, doc = '', unit = null } = described;
  const base = { name, label, doc, unit };
  if (described.enum !== undefined)
    return { ...base, kind: 'choice', default: String(described.default), choices: described.enum };
  switch (described.type) {
    case 'boolean':
      return { ...base, kind: 'switch', default: described.default === true };
    case 'string':
      return {
        ...base,
        kind: 'text',
        default: String(described.default ?? ''),
        maxLength: described.maxLength ?? null,
      };
    default: {
      const { minimum = null, maximum = null, type } = described;
      return {
        ...base,
        kind: 'number',
        default: Number(described.default),
        min: minimum,
        max: maximum,
        whole: type === 'integer',
      };
    }
  }
}
