/** The best and the worst of scored completions; ties go to the first. Pure. */
export function extremes<S extends { readonly reward: number }>(
  samples: readonly S[],
): { readonly best: S | undefined; readonly worst: S | undefined } {
  const scored = samples.filter(({ reward }) => Number.isFinite(reward));
  return {
    best: scored.reduce<S | undefined>((a, b) => (a === undefined || b.reward > a.reward ? b : a), undefined),
    worst: scored.reduce<S | undefined>((a, b) => (a === undefined || b.reward < a.reward ? b : a), undefined),
  };
}
