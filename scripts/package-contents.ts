/** What a packaged app must and may contain in addition to Electron: an explicit list. Pure. */

/** Files of one kind, by their paths in the resources folder; `app.asar/` is the inside of the archive. */
interface Part {
  readonly what: string;
  readonly files: RegExp;
  /** Minimum number of files; 0: optional. */
  readonly least: number;
}

const TFJS = '(?:app\\.asar|app\\.asar\\.unpacked)/node_modules/@tensorflow';
const MODULES = '(?:app\\.asar|app\\.asar\\.unpacked)/node_modules';
const OUT = '(?:app\\.asar|app\\.asar\\.unpacked)/out';

/** Files used outside Electron's main process are listed in the archive and unpacked next to it, so they count twice. */
const parts: readonly Part[] = [
  { what: 'package.json', files: /^app\.asar(\.unpacked)?\/package\.json$/, least: 2 },
  { what: 'the main entry', files: /^app\.asar\/out\/main\/index\.js$/, least: 1 },
  {
    what: 'the other entries',
    files: new RegExp(`^${OUT}/main/(trainer|texts|rewards|external-rewards|reward-process|webgpu)\\.js$`),
    least: 12,
  },
  { what: 'shared code', files: new RegExp(`^${OUT}/main/chunks/[\\w-]+\\.js$`), least: 2 },
  { what: 'the kernels', files: new RegExp(`^${OUT}/kernels/kernels\\.wasm$`), least: 2 },
  { what: "our part of the native addon's source", files: /^native-addon\/[\w-]+\.(cc|h)$/, least: 10 },
  { what: 'licences of what is bundled', files: /^app\.asar\/out\/(main|renderer)\/licenses\.md$/, least: 2 },
  { what: 'the preload', files: /^app\.asar\/out\/preload\/index\.cjs$/, least: 1 },
  { what: 'the page', files: /^app\.asar\/out\/renderer\/(index\.html|icon\.(svg|png)|early-socket\.js)$/, least: 4 },
  { what: 'the page of reports', files: /^app\.asar\/out\/renderer\/report\/report\.(js|css)$/, least: 2 },
  { what: "the page's files", files: /^app\.asar\/out\/renderer\/assets\/[\w.-]+\.(js|css|woff2)$/, least: 5 },
  {
    what: 'better-sqlite3',
    files: new RegExp(
      `^${MODULES}/better-sqlite3/(package\\.json|LICENSE|lib/(index|binding|database|sqlite-error|util|methods/\\w+)\\.js)$`,
    ),
    least: 7,
  },
  {
    what: "better-sqlite3's binary, of one platform",
    files: new RegExp(`^${MODULES}/better-sqlite3/prebuilds/\\w+-\\w+\\.node$`),
    least: 2,
  },
  {
    what: 'Dawn, of one platform',
    files: new RegExp(
      `^${MODULES}/webgpu/(package\\.json|index\\.js|LICENSE\\.md|dist/\\w+-\\w+/(dawn\\.node|\\w+\\.dll))$`,
    ),
    least: 8,
  },
  // None on a Mac.
  { what: 'Node, which loads Dawn', files: /^node\/(LICENSE|bin\/node(\.exe)?)$/, least: 0 },
  { what: 'tfjs-core', files: new RegExp(`^${TFJS}/tfjs-core/(package\\.json|dist/tf-core\\.node\\.js)$`), least: 4 },
  {
    // The packages' bundles, tests and source maps must not be included.
    what: "tfjs-core's gradients and what they import",
    files: new RegExp(`^${TFJS}/tfjs-core/dist/(?!tf-core|miniprogram)(?:[\\w-]+/)*\\w+(?<!_test)\\.js$`),
    least: 400,
  },
  {
    what: "tfjs's WebAssembly backend",
    files: new RegExp(
      `^${TFJS}/tfjs-backend-wasm/(package\\.json|dist/tf-backend-wasm\\.node\\.js|wasm-out/tfjs-backend-wasm-threaded-simd\\.(js|wasm))$`,
    ),
    least: 8,
  },
  {
    what: 'dependencies of tfjs-core',
    files: new RegExp(
      `^${MODULES}/(long/(package\\.json|LICENSE|src/long\\.js)|seedrandom/(package\\.json|(index|seedrandom|lib/\\w+)\\.js))$`,
    ),
    least: 16,
  },
  {
    what: 'the PNG renderer for figures',
    files: new RegExp(`^${MODULES}/@resvg/resvg-wasm/(package\\.json|index\\.m?js|index_bg\\.wasm)$`),
    least: 3,
  },
  {
    what: 'the headers for compiling the native addon',
    files: /^app\.asar\/node_modules\/node-api-headers\/(package\.json|LICENSE|include\/\w+\.h)$/,
    least: 6,
  },
  {
    what: 'bundled tasks',
    files:
      /^resources\/tasks\/(braid\.d\.ts|[\w-]+\/((task|run|template)\.yaml|(reward|tools)\.ts|(rewards?|call|gym|server|verify|second_text)\.py|[\w.]+\.jsonl))$/,
    least: 30,
  },
  { what: 'our Python programs', files: /^resources\/(trackers|trl)\/(\w+\.py|requirements\.txt)$/, least: 4 },
  { what: 'presets', files: /^resources\/presets\/[\w.-]+\.yaml$/, least: 1 },
  {
    what: 'the bundled models',
    files: /^resources\/models\/tiny(-reply)?\/(README\.md|[\w-]+\.json|model\.safetensors)$/,
    least: 12,
  },
  { what: "the figures' font", files: /^resources\/fonts\/(inter-[a-z-]+\.woff2|LICENSE)$/, least: 6 },
  {
    what: 'licences of what is not bundled',
    files: /^resources\/licenses\/(README\.md|(Apache-2\.0|MPL-2\.0|seedrandom|xnnpack)\.txt)$/,
    least: 5,
  },
  { what: 'the icon', files: /^resources\/icons\/braid\.png$/, least: 1 },
  { what: 'the source texts', files: /^datasets\/[\w.-]+\.jsonl?$/, least: 2 },
  { what: 'our licence', files: /^LICENSE\.braid\.txt$/, least: 1 },
  {
    what: "the platforms' own",
    files: /^(app\.asar|elevate\.exe|apparmor-profile|package-type|icon\.icns|[\w-]+\.lproj\/.*)$/,
    least: 0,
  },
];

export interface Judgement {
  /** Files that aren't on the list. */
  readonly surplus: readonly string[];
  /** Descriptions of the kinds with too few files. */
  readonly missing: readonly string[];
}

/** Compares files with the list. */
export function judge(files: readonly string[]): Judgement {
  return {
    surplus: files.filter((file) => !parts.some((part) => part.files.test(file))),
    missing: parts.flatMap(({ what, files: pattern, least }) => {
      const found = files.filter((file) => pattern.test(file)).length;
      return found < least ? [`${what}: expected at least ${least}, got ${found}`] : [];
    }),
  };
}
