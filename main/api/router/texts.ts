import { confirmImport, importBundled, openImport, openImportPaths } from '../../services/library/imports.ts';
import {
  joinTexts,
  listTexts,
  overviewOf,
  previewJoin,
  readText,
  removeTexts,
  renameText,
} from '../../services/library/texts.ts';
import type { ImportSource } from '../../services/text-worker/import-tasks.ts';
import { api } from '../context.ts';

export const texts = {
  list: api.texts.list.handler(({ context, input }) => listTexts(context.app.store, input.search)),
  get: api.texts.get.handler(({ context, input }) => readText(context.app.store, input.id)),
  overview: api.texts.overview.handler(({ context, input, signal }) => overviewOf(context.app.library, input, signal)),
  rename: api.texts.rename.handler(({ context, input }) => renameText(context.app.library, input.id, input.title)),
  remove: api.texts.remove.handler(({ context, input }) => removeTexts(context.app.library, input.ids)),
  openImport: api.texts.openImport.handler(async ({ context, input: { files, minWords }, signal }) =>
    openImport(context.app.library, await Promise.all(files.map(sourceOf)), { minWords, signal }),
  ),
  openImportPaths: api.texts.openImportPaths.handler(
    ({ context: { app, access }, input: { paths, minWords }, signal }) =>
      openImportPaths(
        app.library,
        paths.map((path) => access.check(path)),
        { minWords, signal },
      ),
  ),
  confirmImport: api.texts.confirmImport.handler(({ context, input }) =>
    confirmImport(context.app.library, input.importId, input.without),
  ),
  dropImport: api.texts.dropImport.handler(({ context, input }) => context.app.library.staged.drop(input.importId)),
  importBundled: api.texts.importBundled.handler(({ context }) => importBundled(context.app.library)),
  previewJoin: api.texts.previewJoin.handler(({ context, input, signal }) =>
    previewJoin(context.app.library, input.groups, signal),
  ),
  join: api.texts.join.handler(({ context, input }) => joinTexts(context.app.library, input.groups)),
};

async function sourceOf({ name, content }: { readonly name: string; readonly content: Blob }): Promise<ImportSource> {
  return { name, bytes: new Uint8Array(await content.arrayBuffer()) };
}
