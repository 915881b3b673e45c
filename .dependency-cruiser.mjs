/** Which part may import which: imports point one way, and nothing imports in a circle. Checked by `npm run lint`. */

/** main/services from the ground up. */
const services = [
  ['trainer-process'],
  ['workspace'],
  ['config', 'engines', 'figures', 'texts', 'native-setup', 'runs', 'tasks'],
  ['datasets', 'doctor', 'trackers'],
  ['models', 'text-worker', 'servers'],
  ['serving'],
  ['training', 'evaluation', 'library', 'playground', 'reward-trials'],
  ['chat', 'comparisons', 'curriculum', 'data-import', 'merge', 'recipes', 'trl'],
  ['sweeps'],
  ['queue', 'replies'],
  ['reports'],
  ['publish'],
  ['app'],
];

/** main/trainer from the ground up. */
const trainer = [
  ['config'],
  ['protocol', 'advantages', 'optim', 'backend'],
  ['batching', 'monitor'],
  ['policy', 'losses'],
  ['engine', 'memory'],
  ['rollout', 'stage'],
  ['local', 'tinker', 'loops'],
  ['jobs', 'run'],
  ['process'],
];

/** Each folder of `root` has a floor, and imports its own floor and those below; with `apart`, those below alone. */
function floors(root, house, apart = false) {
  const name = root.replaceAll('/', '-');
  const all = `^${root}/(${house.flat().join('|')})/`;
  const own = (floor) => `^${root}/(${floor.join('|')})/`;
  const comment = `Every file of ${root} lies in a folder, and a new folder gets its floor in this file.`;
  return [
    { name: `${name}-has-a-floor`, comment, severity: 'error', from: { path: `^${root}/`, pathNot: all }, to: {} },
    { name: `${name}-on-a-floor`, comment, severity: 'error', from: {}, to: { path: `^${root}/`, pathNot: all } },
    ...house.slice(0, apart ? house.length : -1).map((floor, i) => ({
      name: `${name}-floor-${i + 1}`,
      comment: `${floor.join(', ')}: imports a folder that isn't below it`,
      severity: 'error',
      from: { path: own(floor) },
      to: { path: own(house.slice(apart ? i : i + 1).flat()), ...(apart && { pathNot: `^${root}/$1/` }) },
    })),
  ];
}

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
    ...floors('main/services', services),
    ...floors('main/trainer', trainer, true),
    never('text-is-a-leaf', 'main/text imports nothing of ours.', '^main/text/', '^main/(?!text/)'),
    never('samples-is-a-leaf', 'What a completion is, for all of main/.', '^main/samples/', '^main/(?!samples/)'),
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
      'rewards',
      'Rewards outside the sandbox run in a thread of their own: they know tasks, models and tensors.',
      '^main/rewards/',
      `^main/(trainer|services|store|${hosts})/`,
    ),
    never('rewards-by-path', 'The thread is started by its path.', '^main/(?!rewards/)', '^main/rewards/'),
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
