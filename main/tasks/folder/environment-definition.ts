/** What task.yaml says of a conversation: its limits, and the OpenEnv server that answers where `step` doesn't. */
import { z } from 'zod';
import { faultsIn } from '../../text/field-faults.ts';
import type { SpecFault } from '../external/spec.ts';
import { checkOpenEnv, type OpenEnvSpec, openEnvShape } from '../openenv/spec.ts';

const schema = z.strictObject({
  max_turns: z.int().min(1).max(64),
  max_turn_tokens: z.int().min(1).optional(),
  ...openEnvShape,
});

/** Limits of a conversation, and who answers. */
export interface EnvironmentDefinition {
  readonly max_turns: number;
  readonly max_turn_tokens?: number | undefined;
  /** null: `step` of reward.ts. */
  readonly server: OpenEnvSpec | null;
}

/** The fields by what other tools, or a quick writer, call them. */
const names = {
  fields: Object.keys(schema.shape),
  elsewhere: {
    turns: 'max_turns',
    max_tool_calling_iterations: 'max_turns',
    max_steps: 'max_turns',
    max_tokens: 'max_turn_tokens',
    max_completion_length: 'max_turn_tokens',
    url: 'openenv',
    base_url: 'openenv',
    observation: 'message',
    timeout: 'timeout_s',
  },
};

/** Checks `environment`; by itself, for names that are misspelt inside it. `fields`: the record's. */
export function checkEnvironment(
  given: unknown,
  fields: Readonly<Record<string, string>>,
): { readonly environment: EnvironmentDefinition | null; readonly faults: readonly SpecFault[] } {
  const { data, error } = schema.safeParse(given, { reportInput: true });
  if (error !== undefined) {
    const faults = faultsIn(error, names).map(({ field, message }, i): SpecFault => {
      const { path = [], input } = error.issues[i] ?? {};
      const named =
        field === '' || message.includes(`"${field}"`)
          ? message
          : `"${field}"${input === undefined ? ' is missing' : ''}: ${message}`;
      return { path, reason: named };
    });
    return { environment: null, faults };
  }
  const { max_turns, max_turn_tokens, ...server } = data;
  const { spec, faults } = checkOpenEnv(server, fields);
  return { environment: { max_turns, ...(max_turn_tokens && { max_turn_tokens }), server: spec }, faults };
}
