/** What a run's settings ask for that the Tinker protocol can't do, each with the reason. Pure: the host uses it too. */
import { type ConfigFault, isReinforcement, learnsTargets, type TrainConfig } from '../config/config.ts';

/** The alpha of the servers' adapters. */
const SERVER_ALPHA = 32;
const ALL_TARGETS = 7;

interface Refusal {
  readonly field: keyof TrainConfig;
  readonly when: (config: TrainConfig) => boolean;
  readonly message: string;
  readonly remedy: string;
}

const samples = ({ method }: TrainConfig): boolean => method !== 'sft';
const rewards = ({ method }: TrainConfig): boolean => isReinforcement(method);

const REFUSALS: readonly Refusal[] = [
  {
    field: 'use_peft',
    when: ({ use_peft }) => !use_peft,
    message: 'full fine-tuning: a remote engine trains LoRA adapters only',
    remedy: 'Set use_peft to true, or train here.',
  },
  {
    field: 'assistant_only_loss',
    when: (config) => config.assistant_only_loss && learnsTargets(config),
    message: 'losses on every turn of the assistant: a step here has one target a record',
    remedy: 'Set assistant_only_loss to false, or train here.',
  },
  {
    field: 'beta',
    when: (config) => rewards(config) && config.beta > 0,
    message: 'a KL term: a remote engine has no reference to compare with',
    remedy: 'Set beta to 0, or train here.',
  },
  {
    field: 'lora_alpha',
    when: ({ lora_alpha }) => lora_alpha !== SERVER_ALPHA,
    message: `another lora_alpha than ${SERVER_ALPHA}: the servers' adapters have that one, and a request can't change it`,
    remedy: `Set lora_alpha to ${SERVER_ALPHA}.`,
  },
  {
    field: 'use_rslora',
    when: ({ use_rslora }) => use_rslora,
    message: 'rsLoRA: the server scales adapters by alpha / r',
    remedy: 'Set use_rslora to false.',
  },
  {
    field: 'lora_target_modules',
    when: ({ lora_target_modules }) => new Set(lora_target_modules).size !== ALL_TARGETS,
    message: 'adapters on some layers only: the server adapts all linear layers',
    remedy: 'Name all seven lora_target_modules.',
  },
  {
    field: 'temperature',
    when: (config) => samples(config) && config.temperature !== 1,
    message: "another temperature than 1: the server's log-probabilities are those of temperature 1",
    remedy: 'Set temperature to 1.',
  },
  {
    field: 'min_p',
    when: (config) => samples(config) && config.min_p !== null,
    message: 'min_p: the protocol has no such filter',
    remedy: 'Remove min_p; top_p and top_k work.',
  },
  {
    field: 'stop_strings',
    when: (config) => samples(config) && (config.stop_strings ?? []).length > 0,
    message: 'stop strings: completions there end by end tokens only',
    remedy: 'Remove stop_strings.',
  },
  {
    field: 'repetition_penalty',
    when: (config) => samples(config) && config.repetition_penalty !== 1,
    message: 'a repetition penalty: the protocol has none',
    remedy: 'Set repetition_penalty to 1.',
  },
  {
    field: 'entropy_coef',
    when: (config) => rewards(config) && (config.entropy_coef !== 0 || config.use_adaptive_entropy),
    message: "an entropy bonus: it needs every token's whole distribution, which isn't sent",
    remedy: 'Set entropy_coef to 0 and use_adaptive_entropy to false.',
  },
  {
    field: 'top_entropy_quantile',
    when: (config) => rewards(config) && config.top_entropy_quantile < 1,
    message: "a choice of tokens by entropy: it needs every token's whole distribution, which isn't sent",
    remedy: 'Set top_entropy_quantile to 1.',
  },
];

/** Every setting that a remote engine can't honour; none: the run can start. */
export function remoteFaults(config: TrainConfig): readonly ConfigFault[] {
  return REFUSALS.filter(({ when }) => when(config)).map(({ field, message, remedy }) => ({
    field,
    message: `the engine can't do ${message}`,
    remedy,
  }));
}
