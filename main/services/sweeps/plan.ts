/** The plan of a sweep: which settings are tried, with which seeds, and whether losers are stopped early. */
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { expectation } from '../../text/field-faults.ts';
import { configFields, fieldFaults } from '../../trainer/config/config.ts';
import { EXPERIMENT_NAME } from '../runs/seed-groups.ts';

/** Runs of one sweep: more are a mistake in a range rather than a plan. */
export const MOST_TRIALS = 500;
/** The seed of the first run where a plan only says how many. */
const FIRST_SEED = 42;
/** Set by the plan itself. */
const OWN_FIELDS: readonly string[] = ['seed'];

const seed = z.int({ error: 'expected whole numbers as seeds' }).min(0).max(0xffffffff);

/** With the field that was probably meant. */
function unknownField(name: unknown): string {
  return fieldFaults({ [String(name)]: null })[0]?.message ?? 'expected a field of the configuration';
}

/** A range that random search draws from. */
const rangeSchema = z
  .strictObject({
    min: z.number({ error: 'expected a number as the lowest value' }),
    max: z.number({ error: 'expected a number as the highest value' }),
    /** log: equal chances for equal ratios, for values whose size is unknown. */
    scale: z.enum(['linear', 'log']).default('linear'),
  })
  .refine(({ min, max }) => min < max, { error: 'expected min to be below max' })
  .refine(({ min, scale }) => scale === 'linear' || min > 0, { error: 'expected min above 0 for a logarithmic range' });

export type SweepRange = Readonly<z.infer<typeof rangeSchema>>;

const fieldName = z
  .string()
  // No search for the nearest name of a text of any length.
  .max(100, { abort: true })
  .refine((name) => (configFields as readonly string[]).includes(name), {
    error: ({ input }) => unknownField(input),
  })
  .refine((name) => !OWN_FIELDS.includes(name), { error: 'expected seeds in the list of seeds' });

const MOST_VALUES = 50;
const valueList = z
  .array(z.unknown())
  .min(1, { error: 'expected at least one value to try' })
  .max(MOST_VALUES, { error: `expected at most ${MOST_VALUES} values` });

/** The values of a field, or its range; errors are those of the form that was meant. */
const fieldValues = z.unknown().transform((value, context): unknown[] | SweepRange => {
  const result = Array.isArray(value) ? valueList.safeParse(value) : rangeSchema.safeParse(value);
  if (result.success) return result.data;
  for (const { message } of result.error.issues) context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const halvingSchema = z.strictObject({
  /** Steps after which settings are compared for the first time. */
  min_steps: z.int().min(1).max(1_000_000),
  /** One in so many settings continues, for so many times the steps. */
  factor: z.int().min(2).max(10).default(3),
});

export const sweepPlanSchema = z.strictObject({
  /** Of the sweep and, with the settings, of its runs. */
  name: z.string().trim().max(60).regex(EXPERIMENT_NAME, 'expected a name of letters, digits, spaces, dots and dashes'),
  /** grid: every combination of the values; random: so many settings, each value drawn on its own. */
  search: z.enum(['grid', 'random']).default('grid'),
  /** The fields that vary: lists of values, and for random search also ranges. */
  fields: z.record(fieldName, fieldValues).default({}),
  /** random: how many settings to draw. */
  trials: z.int().min(1).max(MOST_TRIALS).default(10),
  /** random: decides what is drawn. */
  draw_seed: seed.default(FIRST_SEED),
  /** A list, or how many: from 42. */
  seeds: z
    .union([
      z.int().min(1).max(50),
      z
        .array(seed)
        .min(1, { error: 'expected at least one seed' })
        .max(50)
        .refine((list) => new Set(list).size === list.length, { error: 'expected each seed once' }),
    ])
    .default(1)
    .transform((value) =>
      typeof value === 'number' ? Array.from({ length: value }, (_, i) => FIRST_SEED + i) : value,
    ),
  /** Successive halving; null: every setting gets all its steps. */
  halving: halvingSchema.nullable().default(null),
});

export type SweepPlan = Readonly<z.infer<typeof sweepPlanSchema>>;

/** An error of a plan: the field that varies, or the part of the plan, and what it should be. */
export interface PlanFault {
  readonly field: string;
  readonly message: string;
}

/** Errors named at once. */
const MOST_FAULTS = 10;

/** All errors in the form of a plan. */
export function planFaults(value: unknown): readonly PlanFault[] {
  const issues = sweepPlanSchema.safeParse(value).error?.issues ?? [];
  return issues.slice(0, MOST_FAULTS).map((issue) => {
    const path = issue.path.map(String);
    const field = path[0] === 'fields' && path.length > 1 ? path[1] : path.join('.');
    return { field: field || 'plan', message: messageOf(issue) };
  });
}

/** Reads a plan; errors name every field. */
export function parsePlan(value: unknown, origin: string): SweepPlan {
  const result = sweepPlanSchema.safeParse(value);
  if (result.success) return result.data;
  const faults = planFaults(value).map(({ field, message }) => `"${field}": ${message}`);
  throw inputError('BAD_PLAN', `${origin}: ${faults.join('; ')}`, 'docs/formats.md describes the plan of a sweep.');
}

/** Of a key or a union, what its parts found; of several alternatives the last, which is a list. */
function messageOf(issue: z.core.$ZodIssue): string {
  const inner =
    issue.code === 'invalid_key' ? issue.issues : issue.code === 'invalid_union' ? (issue.errors.at(-1) ?? []) : [];
  if (inner.length > 0) return [...new Set(inner.map(messageOf))].join(', ');
  // Its own words, where the plan has some.
  return issue.message.startsWith('expected') ? issue.message : expectation(issue);
}

/** A setting: the values of the fields that vary. */
export type SettingValues = Readonly<Record<string, unknown>>;

/** A plan as it is stored: everything that its execution and its table need. */
export const storedPlanSchema = z.object({
  settings: z.array(z.record(z.string(), z.unknown())).max(MOST_TRIALS),
  seeds: z.array(seed).max(50),
  /** Steps of each rung of successive halving, the last one the whole run; null: no rungs. */
  rungs: z.array(z.int().min(1)).min(1).nullable(),
  factor: z.int().min(2).nullable(),
});

export type StoredPlan = Readonly<z.infer<typeof storedPlanSchema>>;

/** The plan of a stored sweep; null where it can't be read. */
export function readPlan(sweep: { readonly plan: unknown }): StoredPlan | null {
  return storedPlanSchema.safeParse(sweep.plan).data ?? null;
}

/** The plan of a stored sweep, or an error. */
export function storedPlan(sweep: { readonly id: number; readonly plan: unknown }): StoredPlan {
  const plan = readPlan(sweep);
  if (plan !== null) return plan;
  throw inputError('BAD_PLAN', `The plan of sweep ${sweep.id} can't be read`, 'Delete the sweep; its runs are kept.');
}
