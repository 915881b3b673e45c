/** The charts of a run: which metrics stand together, how they look, how they are read. */
import type { Look } from './series.ts';

export interface ChartPanel {
  readonly id: string;
  readonly title: string;
  readonly unit?: string;
  /** How to read it, one or two sentences. */
  readonly about: string;
  readonly looks: Readonly<Record<string, Look>>;
  /** Values of y that are always in view. */
  readonly include?: readonly number[];
  readonly stacked?: boolean;
  /** Takes a whole row: many lines, many names. */
  readonly wide?: boolean;
}

const main: Look = { label: 'mean', colour: 'strand-a' };

export const rewardLooks: ChartPanel['looks'] = { reward: { label: 'train', colour: 'strand-a' } };

const panels: readonly ChartPanel[] = [
  {
    id: 'check',
    title: 'Overlap with the human reply',
    unit: 'F1',
    about:
      'What no part of the reward looks at. A reward that climbs while this falls is being gamed: read the samples.',
    looks: { 'check/reference_overlap': { label: 'mean', colour: 'strand-b' } },
    include: [0],
  },
  {
    id: 'diversity',
    title: 'Diversity',
    about:
      "How different the replies to one post are. Polychromic methods raise it; GRPO's own pull is towards one reply.",
    looks: {
      'completions/diversity': { label: 'of the group', colour: 'strand-a' },
      'polychromic/diversity': { label: 'of the sets', colour: 'strand-b' },
      'polychromic/set_score': { label: 'reward × diversity', colour: 'ink', look: 'dashed' },
    },
    include: [0, 1],
  },
  {
    id: 'quality',
    title: 'Supervised part of the loss',
    about: 'The loss without its diversity term. It should fall like that of plain fitting, a little slower.',
    looks: { 'polychromic/quality_loss': { label: 'loss', colour: 'strand-a' } },
    include: [0],
  },
  {
    id: 'spread',
    title: 'Spread of rewards',
    about: 'How much the rewards of a generation differ. A spread is what GRPO learns from.',
    looks: { reward_std: { label: 'std', colour: 'strand-a' } },
    include: [0],
  },
  {
    id: 'dead',
    title: 'Dead groups',
    unit: 'share',
    about:
      'Groups whose completions all get the same reward: nothing to learn from, unless they are solved. Up to half is fine.',
    looks: {
      frac_reward_zero_std: { label: 'dead', colour: 'strand-b' },
      'groups/solved': { label: 'solved', colour: 'strand-a', look: 'dashed' },
    },
    include: [0, 1],
  },
  {
    id: 'kl',
    title: 'KL',
    unit: 'nats a token',
    about: 'How far the policy has moved from the reference. Above 10 it drifts.',
    looks: { kl: main },
    include: [0],
  },
  {
    id: 'entropy',
    title: 'Entropy',
    unit: 'nats a token',
    about:
      'How unsure the model is of each token. It falls as the model learns; a fall while the reward stands still is a collapse.',
    looks: { entropy: main },
    include: [0],
  },
  {
    id: 'loss',
    title: 'Loss',
    about: 'In GRPO around 0 and says little: a loss of 0 is normal. In supervised fitting it falls.',
    looks: { loss: { label: 'loss', colour: 'strand-a' } },
  },
  {
    id: 'gradient',
    title: 'Gradient norm',
    about: 'Of the step, before clipping. 0: every group is dead. Jumps of ten times: lower the learning rate.',
    looks: { grad_norm: { label: 'norm', colour: 'strand-a' } },
    include: [0],
  },
  {
    id: 'clip',
    title: 'Clip ratio',
    unit: 'share',
    about: 'Tokens whose ratio is clipped. 0 while each generation is used once; tens of percent: steps too large.',
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
    about: 'Near the length of the target is good. Growing to the limit: the model does not stop.',
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
    about: 'How many completions of a group differ, and how much of a completion repeats itself.',
    looks: {
      'completions/unique_ratio': { label: 'different', colour: 'strand-a' },
      'completions/repetition': { label: 'repeated', colour: 'strand-b' },
    },
    include: [0, 1],
  },
  {
    id: 'time',
    title: 'Time of a step',
    unit: 's',
    about: 'Where the time goes: sampling, scoring, passes through the model, update.',
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
    id: 'rate',
    title: 'Learning rate',
    about: 'The rate that each update used.',
    looks: { learning_rate: { label: 'rate', colour: 'strand-a' } },
    include: [0],
  },
  {
    id: 'speed',
    title: 'Speed',
    unit: 'tokens/s',
    about: 'Prompt and completion tokens a second; falls as completions get longer.',
    looks: { tokens_per_second: main },
    include: [0],
  },
  {
    id: 'memory',
    title: 'Memory',
    unit: 'MiB',
    about: 'Of the trainer process; steady after the first few steps.',
    looks: { memory_mb: { label: 'resident', colour: 'strand-a' } },
    include: [0],
  },
];

/** The charts that a run with these metrics has, each with the metrics that are there. */
export function panelsFor(metricNames: readonly string[]): readonly ChartPanel[] {
  return [...components(metricNames), ...panels].flatMap((panel) => {
    const looks = Object.entries(panel.looks).filter(([name]) => metricNames.includes(name));
    return looks.length === 0 ? [] : [{ ...panel, looks: Object.fromEntries(looks) }];
  });
}

const colours = ['strand-a', 'strand-b', 'ink', 'faint'] as const;
const strokes = ['line', 'dashed', 'dotted'] as const;

/** A chart of the reward's parts, where it has several. */
function components(metricNames: readonly string[]): readonly ChartPanel[] {
  const parts = metricNames.flatMap((name) => /^rewards\/(.+)\/mean$/.exec(name)?.[1] ?? []);
  if (parts.length < 2) return [];
  const looks = parts.map((part, i) => [
    `rewards/${part}/mean`,
    {
      label: part,
      colour: colours[i % colours.length] ?? 'ink',
      look: strokes[Math.floor(i / colours.length) % strokes.length] ?? 'line',
    },
  ]);
  return [
    {
      id: 'components',
      title: 'Reward by component',
      about: 'One component that rises while another falls: they compete.',
      looks: Object.fromEntries(looks),
      wide: true,
      include: [0, 1],
    },
  ];
}
