/** Which part may import which: imports point one way, and nothing imports in a circle. Checked by `npm run lint`. */

/** main/services from the ground up: a folder may import folders of its own floor and below. */
const floors = [
  ['trainer-process'],
  ['workspace'],
  ['config', 'engines', 'figures', 'texts', 'native-setup', 'runs', 'tasks'],
  ['datasets', 'doctor'],
  ['models', 'text-worker', 'servers'],
  ['training', 'evaluation', 'library', 'playground', 'reward-trials'],
  ['comparisons', 'curriculum', 'data-import', 'merge', 'recipes', 'trl'],
  ['sweeps'],
  ['queue', 'replies'],
  ['app'],
];

const services = floors.slice(0, -1).map((floor, i) => ({
  name: `services-floor-${i + 1}`,
  comment: `${floor.join(', ')}: imports floors above it`,
  severity: 'error',
  from: { path: `^main/services/(${floor.join('|')})/` },
  to: {
    path: `^main/services/(${floors
      .slice(i + 1)
      .flat()
      .join('|')})/`,
  },
}));

/** A rule against imports from `from` to `to`, both regular expressions over paths. */
const never = (name, comment, from, to, fromNot) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from, ...(fromNot && { pathNot: fromNot }) },
  to: { path: to },
});

const hosts = 'api|commands|desktop|serve';

export default {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'Types count too: a cycle means that two files do one job.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'services-have-a-floor',
      comment: 'A new folder of main/services gets its floor in this file.',
      severity: 'error',
      from: { path: '^main/services/', pathNot: `^main/services/(${floors.flat().join('|')})/` },
      to: {},
    },
    ...services,
    never('text-is-a-leaf', 'main/text imports nothing of ours.', '^main/text/', '^main/(?!text/)'),
    never('io-is-a-leaf', 'main/io knows errors only.', '^main/io/', '^main/(?!io/|errors\\.ts)'),
    never(
      'tensor',
      'Imports point one way: trainer, model, tensor.',
      '^main/tensor/',
      `^main/(model|trainer|tasks|services|store|${hosts})/`,
    ),
    never(
      'model',
      'Imports point one way: trainer, model, tensor.',
      '^main/model/',
      `^main/(trainer|tasks|services|store|${hosts})/`,
    ),
    never('tasks', 'A task knows texts only.', '^main/tasks/', `^main/(model|tensor|trainer|services|store|${hosts})/`),
    never(
      'trainer',
      'The trainer knows tasks, model and tensor; it reports to its host by events.',
      '^main/trainer/',
      `^main/(services|store|${hosts})/`,
    ),
    never(
      'store',
      'The store knows rows, and the events that become rows.',
      '^main/store/',
      `^main/(model/|tensor/|trainer/(?!protocol/trainer-events.ts)|tasks/|services/|${hosts})`,
    ),
    never(
      'services',
      'The host never touches tensors: a service asks the trainer process.',
      '^main/services/',
      `^main/(model|tensor|${hosts})/`,
    ),
    never(
      'hosts',
      'The host never touches tensors: a service asks the trainer process.',
      `^main/(${hosts})`,
      '^main/(model|tensor)/',
    ),
    never(
      'commands-on-top',
      'Only the braid command imports commands.',
      '^main/',
      '^main/commands/',
      '^main/(commands/|cli\\.ts|braid\\.ts)',
    ),
    never(
      'electron',
      'Only main/index.ts, main/desktop/ and preload/ know Electron.',
      '^(main|renderer)/',
      '^(electron|electron-store|main/desktop/.*|node_modules/(electron|electron-store)/.*)$',
      '^main/(index\\.ts|desktop/)',
    ),
    never('database', 'The store owns the database.', '^(main|renderer)/', 'better-sqlite3', '^main/store/'),
    never(
      'renderer',
      'A page knows the contract and nothing else of main/.',
      '^renderer/',
      '^(main/(?!api/contract/index\\.ts)|preload/)',
    ),
    {
      name: 'renderer-types-only',
      comment: 'A page imports types of the contract: its code stays in the host.',
      severity: 'error',
      from: { path: '^renderer/' },
      to: { path: '^main/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'renderer-in-a-page',
      comment: 'The renderer runs in a page: it has no Node.',
      severity: 'error',
      from: { path: '^renderer/' },
      to: { dependencyTypes: ['core'] },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    // AssemblyScript, compiled by a compiler of its own.
    exclude: { path: '^main/tensor/kernels/assembly' },
  },
};
