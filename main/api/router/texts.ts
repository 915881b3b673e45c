import {
  editText,
  previewSplit,
  splitText,
  tagTexts,
  undoJoin,
  undoRemove,
} from '../../services/library/edit-texts.ts';
import { confirmImport, importBundled, openImport, openImportPaths } from '../../services/library/imports.ts';
import { compareIncoming, compareTexts, resolvePair, similarTexts } from '../../services/library/similar.ts';
import {
  joinTexts,
  listTexts,
  overviewOf,
  previewJoin,
  readText,
  removeTexts,
  renameText,
} from '../../services/library/texts.ts';
import type { ImportSource } from '../../services/texts/sources.ts';
import { api } from '../context.ts';

export const texts = {
  list: api.texts.list.handler(({ context, input }) => listTexts(context.app.store, input.search)),
  get: api.texts.get.handler(({ context, input }) => readText(context.app.store, input.id)),
  overview: api.texts.overview.handler(({ context, input, signal }) => overviewOf(context.app.library, input, signal)),
  rename: api.texts.rename.handler(({ context, input }) => renameText(context.app.library, input.id, input.title)),
  remove: api.texts.remove.handler(({ context, input }) => ({
    removalId: removeTexts(context.app.library, input.ids),
  })),
  undoRemove: api.texts.undoRemove.handler(({ context, input }) => undoRemove(context.app.library, input.removalId)),
  openImport: api.texts.openImport.handler(async ({ context, input: { files, ...options }, signal }) =>
    openImport(context.app.library, await Promise.all(files.map(sourceOf)), { ...options, signal }),
  ),
  openImportPaths: api.texts.openImportPaths.handler(
    ({ context: { app, access }, input: { paths, ...options }, signal }) =>
      openImportPaths(
        app.library,
        paths.map((path) => access.check(path)),
        { ...options, signal },
      ),
  ),
  confirmImport: api.texts.confirmImport.handler(({ context, input }) =>
    confirmImport(context.app.library, input.importId, input),
  ),
  dropImport: api.texts.dropImport.handler(({ context, input }) => context.app.library.staged.drop(input.importId)),
  importBundled: api.texts.importBundled.handler(({ context }) => importBundled(context.app.library)),
  previewJoin: api.texts.previewJoin.handler(({ context, input, signal }) =>
    previewJoin(context.app.library, input.groups, signal),
  ),
  undoJoin: api.texts.undoJoin.handler(({ context, input }) => undoJoin(context.app.library, input.id)),
  edit: api.texts.edit.handler(({ context, input }) => editText(context.app.library, input)),
  tag: api.texts.tag.handler(({ context, input }) => tagTexts(context.app.library, input)),
  previewSplit: api.texts.previewSplit.handler(({ context, input, signal }) =>
    previewSplit(context.app.library, input, signal),
  ),
  split: api.texts.split.handler(({ context, input }) => splitText(context.app.library, input)),
  similar: api.texts.similar.handler(({ context, signal }) => similarTexts(context.app.library, signal)),
  compare: api.texts.compare.handler(({ context, input }) =>
    compareTexts(context.app.library, input.first, input.second),
  ),
  compareIncoming: api.texts.compareIncoming.handler(({ context, input }) =>
    compareIncoming(context.app.library, input.importId, input.position),
  ),
  resolve: api.texts.resolve.handler(({ context, input }) => resolvePair(context.app.library, input)),
  join: api.texts.join.handler(({ context, input }) => joinTexts(context.app.library, input.groups)),
};

async function sourceOf({ name, content }: { readonly name: string; readonly content: Blob }): Promise<ImportSource> {
  return { name, bytes: new Uint8Array(await content.arrayBuffer()) };
}
