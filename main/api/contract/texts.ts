/** The corpus: texts listed, read, imported in two steps, merged, renamed, removed. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { SplitPreview, UndoneMerge } from '../../services/library/edit-texts.ts';
import type { ImportOutcome, ImportPreview } from '../../services/library/imports.ts';
import type { SimilarTexts, TextComparison } from '../../services/library/similar.ts';
import type { JoinOutcome, JoinPreview, WholeText } from '../../services/library/texts.ts';
import type { CorpusOverview } from '../../services/text-worker/overview-task.ts';
import { headingRules } from '../../services/texts/headings.ts';
import type { TextHeading } from '../../store/texts.ts';
import { id, line, list, path, procedure } from './base.ts';

const ids = list(id, { min: 1, max: 100_000 });
const minWords = z.int().min(1).max(100_000).optional();
const groups = list(z.object({ ids, title: line }), { min: 1, max: 1000 });
const importId = z.int().min(1);
const splitAtHeadings = z.boolean().optional();
/** A comma separates tags where they are typed. */
const tags = list(line.max(40).regex(/^[^,]+$/), { max: 20 });
const position = z.int().min(0).max(1_000_000);
const split = z.object({
  id,
  /** null: the first one by which it has several headings. */
  rule: z.enum(headingRules).nullable(),
  minWords: z.int().min(1).max(100_000),
});

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
        stages: list(z.int().min(1).max(5000), { min: 1, max: 50 }).optional(),
      }),
    )
    .output(type<CorpusOverview>()),
  rename: procedure.input(z.object({ id, title: line })),
  remove: procedure.input(z.object({ ids })).output(z.object({ removalId: id })),
  /** Brings back what one call of `remove` removed. */
  undoRemove: procedure.input(z.object({ removalId: id })).output(type<UndoneMerge>()),
  /** Previews the import of dropped or pasted text; without a file extension, the content decides the format. */
  openImport: procedure
    .input(
      z.object({
        files: list(z.object({ name: line, content: z.instanceof(Blob) }), { min: 1, max: 1000 }),
        minWords,
        splitAtHeadings,
      }),
    )
    .output(type<ImportPreview>()),
  /** The same for files on the host. */
  openImportPaths: procedure
    .input(z.object({ paths: list(path, { min: 1, max: 1000 }), minWords, splitAtHeadings }))
    .output(type<ImportPreview>()),
  /** Imports what was previewed except the texts at these positions; `keep` decides about near duplicates. */
  confirmImport: procedure
    .input(
      z.object({
        importId,
        without: list(position, { max: 1_000_000 }).default([]),
        keep: list(z.object({ position, keep: z.enum(['earlier', 'new', 'both']) }), { max: 10_000 }).default([]),
      }),
    )
    .output(type<ImportOutcome>()),
  dropImport: procedure.input(z.object({ importId })),
  importBundled: procedure.output(type<ImportOutcome>()),
  /** Previews merging texts: each group becomes one text that replaces its parts. */
  previewJoin: procedure.input(z.object({ groups })).output(type<JoinPreview>()),
  join: procedure.input(z.object({ groups })).output(type<JoinOutcome>()),
  /** Replaces a merged text by its parts. */
  undoJoin: procedure.input(z.object({ id })).output(type<UndoneMerge>()),
  /** Replaces a text's words; `from` is the hash of those that were edited. */
  edit: procedure.input(z.object({ id, text: z.string().max(16_000_000), from: z.string().max(64) })),
  tag: procedure.input(z.object({ ids, add: tags.default([]), remove: tags.default([]) })),
  /** Previews splitting a text at its headings. */
  previewSplit: procedure.input(split).output(type<SplitPreview>()),
  split: procedure.input(split).output(type<SplitPreview>()),
  /** The near duplicates of the corpus, except those that are kept on purpose. */
  similar: procedure.output(type<readonly SimilarTexts[]>()),
  compare: procedure.input(z.object({ first: id, second: id })).output(type<TextComparison>()),
  /** A text of a previewed import against the one that it resembles. */
  compareIncoming: procedure.input(z.object({ importId, position })).output(type<TextComparison>()),
  resolve: procedure.input(z.object({ first: id, second: id, keep: z.enum(['first', 'second', 'both']) })),
};
