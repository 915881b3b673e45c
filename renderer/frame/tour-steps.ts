/** The stops of the tour, in the order of the work. */

export interface TourStep {
  /** What it points at: a link of the rail by its path, or the status bar. */
  readonly target: { readonly kind: 'screen'; readonly path: string } | { readonly kind: 'status' };
  readonly title: string;
  readonly text: string;
}

export const tourSteps: readonly TourStep[] = [
  {
    target: { kind: 'screen', path: '/texts' },
    title: 'Texts and datasets',
    text: 'Import texts, or load the bundled ones, and make datasets from them. Training and held-out pairs never share a text.',
  },
  {
    target: { kind: 'screen', path: '/curriculum' },
    title: 'Curriculum',
    text: 'Plan stages from short texts to long ones. “Start stage” runs a pre-flight check first; each stage starts from the checkpoint before it.',
  },
  {
    target: { kind: 'screen', path: '/runs' },
    title: 'Runs',
    text: 'Follow a run while it trains: its reward, its held-out score, and a verdict with advice. An interrupted run resumes from its last checkpoint.',
  },
  {
    target: { kind: 'screen', path: '/samples' },
    title: 'Samples',
    text: 'Read what the model writes: the best and the worst completion of every step, word by word against the target.',
  },
  {
    target: { kind: 'screen', path: '/compare' },
    title: 'Compare',
    text: 'Put the baseline and its checkpoints side by side on held-out prompts, with intervals.',
  },
  {
    target: { kind: 'status' },
    title: 'What is running',
    text: 'This line shows what trains now and how long it takes. Ctrl K (Cmd K) finds anything, and ? lists the keys of a screen.',
  },
];
