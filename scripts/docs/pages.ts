/** The documents' site: its pages, in the order of the list beside them. Paths are those of the repository. */

export interface PageGroup {
  readonly title: string;
  readonly pages: readonly { readonly title: string; readonly file: string }[];
}

export const groups: readonly PageGroup[] = [
  {
    title: 'Start',
    pages: [
      { title: 'Braid', file: 'README.md' },
      { title: 'Tutorial', file: 'docs/tutorial.md' },
      { title: 'Your own models', file: 'docs/real-models.md' },
      { title: 'Your own task and reward', file: 'docs/tasks.md' },
      { title: 'Servers elsewhere', file: 'docs/engines.md' },
    ],
  },
  {
    title: 'Reference',
    pages: [
      { title: 'Commands', file: 'docs/commands.md' },
      { title: 'run.yaml', file: 'docs/run-yaml.md' },
      { title: 'Metrics', file: 'docs/metrics.md' },
      { title: 'Algorithm', file: 'docs/algorithm.md' },
      { title: 'Formats', file: 'docs/formats.md' },
      { title: 'The app', file: 'docs/app.md' },
      { title: 'Security', file: 'docs/security.md' },
    ],
  },
  {
    title: 'Measured',
    pages: [
      { title: 'Results', file: 'docs/results.md' },
      { title: 'Performance', file: 'docs/performance.md' },
      { title: 'Parity', file: 'tests/parity/README.md' },
      { title: 'Experiments', file: 'docs/experiments.md' },
    ],
  },
  {
    title: 'The project',
    pages: [
      { title: 'Contributing', file: 'CONTRIBUTING.md' },
      { title: 'Inside Braid', file: 'docs/inside.md' },
      { title: 'Decisions', file: 'docs/decisions.md' },
      { title: 'Changes', file: 'CHANGELOG.md' },
      { title: 'Reporting vulnerabilities', file: 'SECURITY.md' },
      { title: 'Code of conduct', file: 'CODE_OF_CONDUCT.md' },
      { title: 'All documents', file: 'docs/README.md' },
    ],
  },
];
