import { inputError } from '../../errors.ts';
import { curriculumModel } from '../../services/curriculum/shared-settings.ts';
import { parseHubDataset } from '../../services/data-import/hub-name.ts';
import { datasetOptions, otherSplits, previewHubDataset } from '../../services/data-import/hub-preview.ts';
import { downloadSplit, previewImport, runImport } from '../../services/data-import/page-import.ts';
import { hubOptions } from '../../services/models/hub-access.ts';
import { api } from '../context.ts';

/** Of one file: a page sends it whole. */
const LARGEST = 256 * 2 ** 20;

export const imports = {
  upload: api.imports.upload.handler(async ({ context, input: { name, content } }) => {
    if (content.size > LARGEST)
      throw inputError(
        'IMPORT_TOO_LARGE',
        `Expected a file of at most ${LARGEST / 2 ** 20} MiB, got ${Math.ceil(content.size / 2 ** 20)} MiB`,
        'Choose it with Browse, on the machine that runs Braid: it is then read where it is.',
      );
    return { uploadId: context.app.uploads.keep(name, new Uint8Array(await content.arrayBuffer())) };
  }),
  refer: api.imports.refer.handler(({ context: { app, access }, input: { path } }) => ({
    uploadId: app.uploads.refer([access.check(path)]),
  })),
  drop: api.imports.drop.handler(({ context, input }) => context.app.uploads.drop(input.uploadId)),
  hubPreview: api.imports.hubPreview.handler(({ context, input: { source, split }, signal }) =>
    previewHubDataset(parseHubDataset(source), split, datasetOptions(context.app.secrets), signal),
  ),
  hubSplits: api.imports.hubSplits.handler(({ context, input: { source, split }, signal }) =>
    otherSplits(parseHubDataset(source), split, datasetOptions(context.app.secrets), signal),
  ),
  download: api.imports.download.handler(async ({ context, input }) => ({
    uploadId: await downloadSplit(context.app, input, hubOptions(context.app.secrets)),
  })),
  preview: api.imports.preview.handler(({ context, input, signal }) =>
    previewImport(context.app, { ...input, model: curriculumModel(context.app.store, context.app.paths) }, signal),
  ),
  run: api.imports.run.handler(async ({ context, input: { name, replace, ...how } }) => ({
    datasetId: await runImport(
      context.app,
      { ...how, model: curriculumModel(context.app.store, context.app.paths) },
      { name, replace },
    ),
  })),
};
