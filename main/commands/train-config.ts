/** The configuration for the options of `braid train`. */

import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { parseYaml } from '../io/yaml.ts';
import { type ConfigFields, readConfigChoice } from '../services/config/presets.ts';
import { taskStartConfig } from '../services/tasks/start-config.ts';
import { didYouMean } from '../text/nearest-name.ts';
import {
  configFields,
  fieldMeta,
  meantField,
  parseConfig,
  type TrainConfig,
  whyNot,
} from '../trainer/config/config.ts';
import { isReadName, withNamesHere } from '../trainer/config/trl-names.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, wholeNumber } from './shared.ts';

/** The options of `braid train`. */
export interface TrainOptions {
  readonly dataset?: string;
  readonly model?: string;
  readonly method?: string;
  readonly task?: string;
  readonly config?: string;
  readonly resume?: string | true;
  readonly from?: string;
  readonly engine?: string;
  readonly steps?: string;
  readonly checklist?: boolean;
  readonly tensorboard?: string;
  readonly reportTo?: readonly string[];
  readonly experiment?: string;
  readonly seeds?: string;
  readonly set?: readonly string[];
}

/** The configuration: defaults, then the file (by default the task's own), then --set, then the options. */
export function trainConfig(options: TrainOptions, command: Command, context: CommandContext): TrainConfig {
  return configOf(trainFields(options, command, context), options);
}

/** The fields that `trainFields` gives, completed and checked. */
export function configOf(fields: ConfigFields, { config }: Pick<TrainOptions, 'config'>): TrainConfig {
  return parseConfig(fields, config ?? 'command line');
}

/** What to say of given settings that others outweigh: steps by epochs, which TRL does not do, and an adapter's by its own. */
export function unusedSettings(given: ConfigFields, planned: TrainConfig): readonly string[] {
  const { max_steps: steps, num_train_epochs: epochs } = given;
  const { from_checkpoint: from } = planned;
  const notes: string[] = [];
  if (steps !== undefined && epochs != null && steps !== planned.max_steps)
    notes.push(
      `num_train_epochs (${epochs}) decides: ${planned.max_steps} steps. max_steps (${steps}), which TRL would follow, has no effect; to train ${steps}, leave num_train_epochs out.`,
    );
  for (const name of from === null ? [] : OF_ADAPTERS)
    if (given[name] !== undefined && given[name] !== planned[name])
      notes.push(`${name} is ${planned[name]}, as the adapter in ${from} has it; ${given[name]} has no effect.`);
  return notes;
}

const OF_ADAPTERS = ['lora_r', 'lora_alpha', 'use_rslora'] as const;

/** The same, neither completed nor checked. */
export function trainFields(options: TrainOptions, command: Command, context: CommandContext): ConfigFields {
  const file = startFields(options, context);
  const given = (name: string): boolean =>
    ['cli', 'env'].includes(String(command.getOptionValueSourceWithGlobals(name)));
  const set = assigned(options.set ?? []);
  const fields: Record<string, unknown> = { ...file, ...set };
  const take = (field: keyof TrainConfig, value: unknown): void => {
    if (value !== undefined) fields[field] = value;
  };
  take('dataset', options.dataset);
  take('model', options.model);
  take('method', options.method);
  take('task', options.task);
  take('from_checkpoint', options.from);
  take('engine', options.engine);
  take('logging_dir', options.tensorboard);
  take('report_to', options.reportTo);
  if (options.steps !== undefined) take('max_steps', wholeNumber('--steps', options.steps));
  // Steps that are asked for go before a file's epochs.
  const asksSteps = options.steps !== undefined || Object.hasOwn(set, 'max_steps');
  if (asksSteps && !Object.hasOwn(set, 'num_train_epochs')) delete fields.num_train_epochs;
  if (given('seed')) take('seed', context.seed);
  if (given('backend')) take('backend', context.backend);
  if (given('threads')) take('threads', context.threads);
  return fields;
}

/** A configuration replaces the task's own; only the task's records remain where it names no dataset. */
function startFields({ config, task }: TrainOptions, context: CommandContext): ConfigFields {
  if (config === undefined) return taskStart(task, context);
  const file = readConfigChoice(config, hostPaths());
  const { dataset } = taskStart(task ?? (typeof file.task === 'string' ? file.task : undefined), context);
  return { ...(dataset !== undefined && { dataset }), ...file };
}

function taskStart(task: string | undefined, { workspace }: CommandContext): ConfigFields {
  return task === undefined ? {} : taskStartConfig(task, { workspace: workspace.root, paths: hostPaths() });
}

/** The fields of --set options, by the names that they have here. */
export function assigned(options: readonly string[]): ConfigFields {
  return withNamesHere(Object.fromEntries(options.map(assignment)));
}

function assignment(text: string): [string, unknown] {
  const at = text.indexOf('=');
  const field = text.slice(0, Math.max(at, 0));
  if (at > 0 && ((configFields as readonly string[]).includes(field) || isReadName(field)))
    return [field, yamlValue(field, text.slice(at + 1))];
  const why = whyNot(field);
  throw inputError(
    'BAD_OPTION',
    `Expected --set field=value with a field of the configuration, got "${text}"${why === undefined ? didYouMean(meantField(field)) : `: ${why}`}`,
    `For instance learning_rate=2e-4 (${fieldMeta('learning_rate').doc})`,
  );
}

/** What was typed for a field, as YAML. */
export function yamlValue(field: string, text: string): unknown {
  const { document, faults } = parseYaml(text);
  if (faults.length === 0) return document.toJS();
  throw inputError('BAD_OPTION', `Expected --set ${field}= to be followed by a YAML value, got "${text}"`);
}
