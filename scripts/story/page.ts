/** docs/story.md out of the figures of one or more seeds. */

/** Held-out mean alignment by words a fragment. */
export type Measured = Readonly<Record<string, number>>;

interface Trained {
  readonly words: number;
  readonly steps: number;
  /** Means over the first and the last five steps. */
  readonly reward: readonly [first: number, last: number];
  readonly dead: readonly [first: number, last: number];
  /** What the collapse watch said first; null: nothing. */
  readonly verdict: string | null;
  readonly seconds: number;
  readonly held_out: Measured;
}

export interface Stage extends Trained {
  readonly from: string;
  readonly checkpoint: string;
}

export interface Jump extends Trained {
  readonly checkpoint: string;
}

export interface Story {
  readonly seed: number;
  readonly base: Measured;
  readonly stages: readonly Stage[];
  readonly jumps: readonly Jump[];
  readonly seconds: number;
}

/** The page. Where there are several seeds, cells are their mean with the least and the largest of them. */
export function storyPage(stories: readonly Story[]): string {
  const [first] = stories;
  if (first === undefined) throw new Error('Expected the figures of at least one seed, got none');
  const lengths = Object.keys(first.base);
  const heldOut = (of: (story: Story) => Measured | undefined): string =>
    lengths.map((words) => cell(stories.map((story) => of(story)?.[words]))).join(' | ');
  const row = (name: string, from: string, of: (story: Story) => Trained | undefined): string =>
    `| ${name} | ${from} | ${of(first)?.steps ?? ''} | ${pair(stories, (s) => of(s)?.reward)} | ${pair(stories, (s) => of(s)?.dead)} | ${heldOut((s) => of(s)?.held_out)} |`;
  const minutes = stories.map(({ seconds }) => Math.round(seconds / 60));
  const verdicts = stories.flatMap(({ seed, jumps }) =>
    jumps.map(
      ({ words, verdict }) => `- to ${words} words, seed ${seed}: ${verdict === null ? 'none' : `“${verdict}”`}`,
    ),
  );
  return `# The story of the first seed, on the tiny model

Made by \`npm run story -- --seed S\` with the settings of \`resources/presets/interleave-tiny.yaml\` at temperature 0.7; ${stories.length === 1 ? `seed ${first.seed}` : `seeds ${stories.map(({ seed }) => seed).join(', ')}: means, with the least and the largest in brackets`}. Held-out: mean alignment of greedy completions on pairs of unseen texts at each length (64 pairs; 16 at 200 words, 8 at 500). Rewards and dead groups are means over the first and the last five steps; a dead group is one whose rewards are all equal.

| stage | from | steps | reward | dead groups | ${lengths.map((words) => `held-out ${words}`).join(' | ')} |
|---|---|---|---|---|${lengths.map(() => '---|').join('')}
| none | | | | | ${heldOut(({ base }) => base)} |
${first.jumps.map(({ words }, i) => row(`**jump to ${words} words**`, 'the base', ({ jumps }) => jumps[i])).join('\n')}
${first.stages.map(({ words, from }, i) => row(`${words} words`, from === 'base' ? 'the base' : from, ({ stages }) => stages[i])).join('\n')}

The collapse watch's warnings during the jumps:

${verdicts.join('\n')}

Each row of the curriculum also shows how well the earlier lengths are retained (the forgetting check). An empty cell wasn't measured. Each seed took ${minutes.join(', ')} minutes.
`;
}

function cell(values: readonly (number | undefined)[]): string {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return '';
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  if (known.length === 1) return mean.toFixed(3);
  return `${mean.toFixed(3)} (${Math.min(...known).toFixed(3)}–${Math.max(...known).toFixed(3)})`;
}

function pair(stories: readonly Story[], of: (story: Story) => readonly [number, number] | undefined): string {
  const end = (i: 0 | 1): number => {
    const values = stories.flatMap((story) => of(story)?.[i] ?? []);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  return `${end(0).toFixed(2)} → ${end(1).toFixed(2)}`;
}
