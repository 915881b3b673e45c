/** The corpus: texts listed, read, imported in two steps, merged, renamed, removed. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { ImportOutcome, ImportPreview } from '../../services/library/imports.ts';
import type { JoinPreview, WholeText } from '../../services/library/texts.ts';
import type { CorpusOverview } from '../../services/text-worker/overview-task.ts';
import type { TextHeading } from '../../store/texts.ts';
import { id, line, path, procedure } from './base.ts';

const ids = z.array(id).min(1).max(100_000);
const minWords = z.int().min(1).max(100_000).optional();
const groups = z
  .array(z.object({ ids, title: line }))
  .min(1)
  .max(1000);
const importId = z.int().min(1);

export const texts = {
  /** Without the text itself; `search` covers title, source and text. */
  list: procedure.input(z.object({ search: z.string().max(200).optional() })).output(type<readonly TextHeading[]>()),
  get: procedure.input(z.object({ id })).output(type<WholeText>()),
  /** Lengths, and what each stage has and needs for these counts and this split. */
  overview: procedure
    .input(
      z.object({
        train: z.int().min(1).max(1_000_000).optional(),
        test: z.int().min(1).max(1_000_000).optional(),
        seed: z.int().min(0).optional(),
        /** Word counts to ask about; default: the curriculum's. */
        stages: z.array(z.int().min(1).max(5000)).min(1).max(50).optional(),
      }),
    )
    .output(type<CorpusOverview>()),
  rename: procedure.input(z.object({ id, title: line })),
  remove: procedure.input(z.object({ ids })),
  /** Previews the import of dropped or pasted text; without a file extension, the content decides the format. */
  openImport: procedure
    .input(
      z.object({
        files: z
          .array(z.object({ name: line, content: z.instanceof(Blob) }))
          .min(1)
          .max(1000),
        minWords,
      }),
    )
    .output(type<ImportPreview>()),
  /** The same for files on the host. */
  openImportPaths: procedure
    .input(z.object({ paths: z.array(path).min(1).max(1000), minWords }))
    .output(type<ImportPreview>()),
  /** Imports what was previewed except the texts at these positions. */
  confirmImport: procedure
    .input(z.object({ importId, without: z.array(z.int().min(0)).max(1_000_000).default([]) }))
    .output(type<ImportOutcome>()),
  dropImport: procedure.input(z.object({ importId })),
  importBundled: procedure.output(type<ImportOutcome>()),
  /** Previews merging texts: each group becomes one text that replaces its parts. */
  previewJoin: procedure.input(z.object({ groups })).output(type<JoinPreview>()),
  join: procedure.input(z.object({ groups })).output(type<JoinPreview>()),
};
