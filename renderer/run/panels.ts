/** The charts of a run: which metrics they combine, how they look, and how to read them. */
import type { Look } from './series.ts';

export interface ChartPanel {
  readonly id: string;
  readonly title: string;
  readonly unit?: string;
  /** How to read it, one or two sentences. */
  readonly about: string;
  readonly looks: Readonly<Record<string, Look>>;
  /** Values that the y axis always includes. */
  readonly include?: readonly number[];
  readonly stacked?: boolean;
  /** Spans a whole row, for charts with many lines. */
  readonly wide?: boolean;
}

const main: Look = { label: 'mean', colour: 'strand-a' };

export const rewardLooks: ChartPanel['looks'] = { reward: { label: 'train', colour: 'strand-a' } };

/** In the order of the page, after those of the reward's components. */
export const panels: readonly ChartPanel[] = [
  {
    id: 'diversity',
    title: 'Diversity',
    about:
      'How different the replies to one post are. Polychromic methods raise it; plain GRPO drifts towards a single reply.',
    looks: {
      'completions/diversity': { label: 'group', colour: 'strand-a' },
      'polychromic/diversity': { label: 'sets', colour: 'strand-b' },
      'polychromic/set_score': { label: 'reward × diversity', colour: 'ink', look: 'dashed' },
    },
    include: [0, 1],
  },
  {
    id: 'quality',
    title: 'SFT part of the loss',
    about: 'The loss without its diversity term. It should fall as in plain SFT, a little more slowly.',
    looks: { 'polychromic/quality_loss': { label: 'loss', colour: 'strand-a' } },
    include: [0],
  },
  {
    id: 'spread',
    title: 'Reward spread',
    about:
      'The standard deviation of the rewards: within groups, which is what GRPO learns from, and of all completions of a step.',
    looks: {
      'groups/spread': { label: 'within groups', colour: 'strand-a' },
      reward_std: { label: 'all', colour: 'strand-b' },
    },
    include: [0],
  },
  {
    id: 'dead',
    title: 'Dead groups',
    unit: 'share',
    about:
      'Groups whose completions all get the same reward, so that there is nothing to learn from it. Up to half is fine, and so are solved groups.',
    looks: {
      'groups/dead': { label: 'dead', colour: 'strand-b' },
      frac_reward_zero_std: { label: 'dead', colour: 'strand-b' },
      'groups/solved': { label: 'solved', colour: 'strand-a', look: 'dashed' },
    },
    include: [0, 1],
  },
  {
    id: 'difficulty',
    title: 'Difficulty',
    unit: 'words',
    about:
      'Words of the reference completions. The target rises while the mean reward is above adarft_target_reward, and falls while it is below.',
    looks: {
      'adarft/target_difficulty': { label: 'target', colour: 'faint', look: 'dashed' },
      'adarft/difficulty': { label: 'prompts', colour: 'strand-a' },
    },
  },
  {
    id: 'kl',
    title: 'KL',
    unit: 'nats per token',
    about: 'How far the policy has moved from the reference. Above 10, the policy is drifting away.',
    looks: { kl: main },
    include: [0],
  },
  {
    id: 'entropy',
    title: 'Entropy',
    unit: 'nats per token',
    about:
      'How unsure the model is of each token. It falls as the model learns; a fall while the reward is flat is a collapse.',
    looks: { entropy: main },
    include: [0],
  },
  {
    id: 'tools',
    title: 'Tool calls',
    about:
      'Calls in a completion, on average, and the share of them that failed: unknown tools, wrong arguments, errors.',
    looks: {
      'tools/call_frequency': { label: 'calls', colour: 'strand-a' },
      'tools/failure_frequency': { label: 'failed', colour: 'strand-b' },
    },
    include: [0],
  },
  {
    id: 'warm-up',
    title: 'Warm-up loss',
    unit: 'nats per token',
    about:
      'Of the supervised steps on the targets before GRPO begins. It should fall; rewards, entropy and loss are measured after them.',
    looks: { 'warm_up/loss': { label: 'loss', colour: 'strand-a' } },
    include: [0],
  },
  {
    id: 'loss',
    title: 'Loss',
    about:
      'In GRPO it stays around 0 (with beta, around the KL term) and says little: a loss of 0 is normal. In SFT it falls.',
    looks: { loss: { label: 'loss', colour: 'strand-a' } },
  },
  {
    id: 'gradient',
    title: 'Gradient norm',
    about:
      'The gradient norm before clipping. In GRPO, 0 means that the step had nothing to learn from: all groups are dead, or all completions are masked. If it jumps tenfold, lower the learning rate.',
    looks: { grad_norm: { label: 'norm', colour: 'strand-a' } },
    include: [0],
  },
  {
    id: 'clip',
    title: 'Clip ratio',
    unit: 'share',
    about:
      'Tokens whose ratio is clipped. 0 while the policy is the one that sampled; with num_iterations or several steps a generation, tens of percent mean that the steps are too large.',
    looks: {
      'clip_ratio/low_mean': { label: 'low', colour: 'strand-a' },
      'clip_ratio/high_mean': { label: 'high', colour: 'strand-b' },
      cispo_clip_ratio: { label: 'cispo', colour: 'ink' },
    },
    include: [0],
  },
  {
    id: 'length',
    title: 'Completion length',
    unit: 'tokens',
    about: 'It should be near the length of the target. If it grows to the limit, the model does not stop.',
    looks: {
      'completions/max_length': { label: 'max', colour: 'faint', look: 'dotted' },
      'completions/mean_length': main,
      'completions/min_length': { label: 'min', colour: 'faint', look: 'dotted' },
    },
    include: [0],
  },
  {
    id: 'variety',
    title: 'Variety',
    unit: 'share',
    about: 'The share of unique completions per group, and of repetition within a completion.',
    looks: {
      'completions/unique_ratio': { label: 'unique', colour: 'strand-a' },
      'completions/repetition': { label: 'repeated', colour: 'strand-b' },
    },
    include: [0, 1],
  },
  {
    id: 'time',
    title: 'Step time',
    unit: 's',
    about: 'Where the time goes: sampling, scoring, forward and backward passes, update.',
    looks: {
      'time/rollout': { label: 'rollout', colour: 'strand-a' },
      'time/reward': { label: 'reward', colour: 'ink' },
      'time/loss': { label: 'loss', colour: 'strand-b' },
      'time/optimizer': { label: 'optimiser', colour: 'faint' },
      'time/step': { label: 'update', colour: 'strand-a' },
    },
    stacked: true,
    include: [0],
  },
  {
    id: 'turns',
    title: 'Turns',
    unit: 's',
    about: 'A turn of the model, on average, and how long a step had nothing to do but wait for the environment.',
    looks: {
      'environment/turn_seconds': { label: 'turn', colour: 'strand-a' },
      'environment/wait_seconds': { label: 'waiting', colour: 'strand-b' },
    },
    include: [0],
  },
  {
    id: 'turn-speed',
    title: 'Sampling in turns',
    unit: 'tokens per second',
    about: 'Tokens that the model writes in a second of sampling, with the waits for its environment.',
    looks: { 'environment/tokens_per_second': main },
    include: [0],
  },
  {
    id: 'engine',
    title: 'Time on the engine',
    unit: 's',
    about: 'A step on a remote engine: waiting in its queue, on the network, and while it works.',
    looks: {
      'engine/compute_seconds': { label: 'work', colour: 'strand-a' },
      'engine/network_seconds': { label: 'network', colour: 'strand-b' },
      'engine/queue_seconds': { label: 'queue', colour: 'faint' },
    },
    stacked: true,
    include: [0],
  },
  {
    id: 'sampler',
    title: 'Sampler and trainer',
    unit: 'nats',
    about: "How far the engine's sampler and its trainer disagree about the same tokens.",
    looks: {
      'sampling/sampling_logp_difference/mean': { label: 'mean', colour: 'strand-a' },
      'sampling/sampling_logp_difference/max': { label: 'max', colour: 'strand-b' },
    },
    include: [0],
  },
  {
    id: 'rate',
    title: 'Learning rate',
    about: 'The learning rate of each update.',
    looks: { learning_rate: { label: 'rate', colour: 'strand-a' } },
    include: [0],
  },
  {
    id: 'speed',
    title: 'Speed',
    unit: 'tokens/s',
    about: 'Prompt and completion tokens per second; it falls as completions get longer.',
    looks: { tokens_per_second: main },
    include: [0],
  },
  {
    id: 'memory',
    title: 'Memory',
    unit: 'MiB',
    about: 'Memory of the trainer process; it should be steady after the first few steps.',
    looks: { memory_mb: { label: 'resident', colour: 'strand-a' } },
    include: [0],
  },
  {
    id: 'gpu-memory',
    title: 'GPU memory',
    unit: 'MiB',
    about: 'What the trainer process holds on the GPU; it should be steady after the first few steps.',
    looks: {
      gpu_memory_mb: { label: 'now', colour: 'strand-a' },
      gpu_memory_peak_mb: { label: 'peak', colour: 'faint', look: 'dashed' },
    },
    include: [0],
  },
];

/** TRL's share of dead groups is that of the whole batch with another scaling than by group; ours isn't. */
const BETTER: Readonly<Record<string, string>> = { frac_reward_zero_std: 'groups/dead' };

/** The charts of a run with these metrics. */
export function panelsFor(all: readonly string[]): readonly ChartPanel[] {
  const metricNames = all.filter((name) => !all.includes(BETTER[name] ?? ''));
  return [...components(metricNames), ...checks(metricNames), ...rewardParts(metricNames), ...panels].flatMap(
    (panel) => {
      const looks = Object.entries(panel.looks).filter(([name]) => metricNames.includes(name));
      return looks.length === 0 ? [] : [{ ...panel, looks: Object.fromEntries(looks) }];
    },
  );
}

const colours = ['strand-a', 'strand-b', 'ink', 'faint'] as const;
const strokes = ['line', 'dashed', 'dotted'] as const;

/** A chart of the reward's components, if there are several. */
function components(metricNames: readonly string[]): readonly ChartPanel[] {
  const parts = metricNames.flatMap((name) => /^rewards\/(.+)\/mean$/.exec(name)?.[1] ?? []);
  if (parts.length < 2) return [];
  return [
    {
      id: 'components',
      title: 'Reward by component',
      about: 'If one component rises while another falls, they may compete, as far as their weights let them.',
      looks: looksOf(parts, (part) => `rewards/${part}/mean`),
      wide: true,
      include: [0, 1],
    },
  ];
}

/** A line for each component. */
function looksOf(parts: readonly string[], metricOf: (part: string) => string): ChartPanel['looks'] {
  const looks = parts.map((part, i): [string, Look] => [
    metricOf(part),
    {
      label: part,
      colour: colours[i % colours.length] ?? 'ink',
      look: strokes[Math.floor(i / colours.length) % strokes.length] ?? 'line',
    },
  ]);
  return Object.fromEntries(looks);
}

/** The chart of the metric that no reward looks at. */
function checks(metricNames: readonly string[]): readonly ChartPanel[] {
  return metricNames
    .filter((name) => name.startsWith(CHECK))
    .map((name) => ({
      id: 'check',
      ...(name === OVERLAP
        ? { title: 'Overlap with the human reply', unit: 'F1' }
        : { title: `Check: ${name.slice(CHECK.length)}` }),
      about:
        'Not part of the reward. If the reward climbs while this falls, the reward may be gamed: read the samples.',
      looks: { [name]: { label: 'mean', colour: 'strand-b' } },
      include: [0],
    }));
}

const CHECK = 'check/';
const OVERLAP = 'check/reference_overlap';

/** Charts of components outside the sandbox: what they take, how often they fail, what they cost. */
function rewardParts(metricNames: readonly string[]): readonly ChartPanel[] {
  const partsOf = (prefix: string): readonly string[] =>
    metricNames.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  return charts.flatMap(({ prefix, ...panel }) => {
    const parts = partsOf(prefix);
    return parts.length === 0 ? [] : [{ ...panel, looks: looksOf(parts, (part) => `${prefix}${part}`), include: [0] }];
  });
}

const charts = [
  {
    prefix: 'time/reward/',
    id: 'reward time',
    title: 'Reward time by component',
    unit: 's',
    about:
      'The share of each step spent on each kind of reward. They are computed side by side, so the slowest is what is waited for.',
  },
  {
    prefix: 'reward_failures/',
    id: 'reward failures',
    title: 'Reward failures by component',
    unit: 'share',
    about: 'The share of completions for which a component gave no score. Each stored completion gives the reason.',
  },
  {
    prefix: 'reward_cost/',
    id: 'reward cost',
    title: 'Cost of judges',
    about: 'What a step paid for judges, in the currency of the settings. Reused answers cost nothing.',
  },
] as const;
