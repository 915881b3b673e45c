/**
 * The comparison of the methods: a table that names winners only where differences are significant, figures and files.
 */
import { Button, useComputedColorScheme } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { MethodView } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import { saveFile, svgToPng } from '../components/save-file.ts';
import { When } from '../components/When.tsx';
import { figureFor } from './figure-colours.ts';
import classes from './Replies.module.css';
import { Differences, ReportTable } from './ReportTables.tsx';
import type { ReplyWork } from './use-reply-work.ts';

export interface ReportProps {
  readonly methods: readonly MethodView[];
  /** Whether a starting checkpoint was chosen; it is compared too. */
  readonly hasStart: boolean;
  readonly seed: number;
  readonly work: ReplyWork;
}

export function Report({ methods, hasStart, seed, work }: ReportProps) {
  const { data: report, error } = useQuery(api.replies.report.queryOptions());
  const done = methods.filter(({ newest }) => newest?.state === 'done').length + (hasStart ? 1 : 0);
  const save = useMutation({ mutationFn: saveReportFile });
  return (
    <Panel
      title="Comparison on held-out posts"
      actions={
        <Button
          variant="default"
          disabled={work.isBusy || done < 2}
          onClick={() => work.begin('The comparison was not started', () => client.replies.compare({ seed }))}
        >
          Compare the newest runs
        </Button>
      }
    >
      {error !== null && <Failed what="The report can't be shown" error={error} />}
      {save.error !== null && <Failed what="The file could not be saved" error={save.error} />}
      {report === null && (
        <p className="soft">
          {done < 2
            ? `No comparison yet. It needs finished runs of two methods; so far there ${done === 0 ? 'are none' : 'is one'}.`
            : `No comparison yet. It samples ten replies per held-out post from each of ${done} models.`}
        </p>
      )}
      {report && (
        <>
          <p className="soft">
            {report.numbers.prompts} posts, {report.numbers.samples} replies each, <When at={report.at} />. Means with
            95 % intervals; a winner is named only where it beats all others significantly.
          </p>
          <ReportTable report={report} />
          <Differences report={report} />
          <div className={classes.figures}>
            {report.files
              .filter((file) => file.endsWith('.svg'))
              .map((file) => (
                <Figure
                  key={`${file} ${report.at}`}
                  file={file}
                  data={report.files.find(
                    (other) => other === file.replace('figures/', 'data/').replace('.svg', '.csv'),
                  )}
                  onSave={save.mutate}
                />
              ))}
          </div>
          <div className={classes.foot}>
            {report.files
              .filter((file) => !file.includes('/'))
              .map((file) => (
                <Button key={file} variant="default" onClick={() => save.mutate(file)}>
                  Save {file}
                </Button>
              ))}
            <span className={`mono soft ${classes.path}`}>{report.folder}</span>
          </div>
        </>
      )}
    </Panel>
  );
}

interface FigureProps {
  readonly file: string;
  readonly data: string | undefined;
  readonly onSave: (file: string) => void;
}

function Figure({ file, data, onSave }: FigureProps) {
  const { data: svg, error } = useQuery(api.replies.reportFile.queryOptions({ input: { file } }));
  const scheme = useComputedColorScheme('light');
  const source = useMemo(
    () => (svg === undefined ? null : `data:image/svg+xml,${encodeURIComponent(figureFor(scheme, svg.text))}`),
    [svg, scheme],
  );
  const name = (file.split('/').at(-1) ?? file).replace('.svg', '');
  return (
    <figure>
      {error !== null && <Failed what={`${name} can't be shown`} error={error} />}
      {source !== null && <img src={source} alt={name.replaceAll(/[-_]/g, ' ')} />}
      <figcaption>
        <span>{name.replaceAll(/[-_]/g, ' ')}</span>
        <Save label={`${name}, SVG`} text="SVG" onClick={() => onSave(file)} />
        <Save label={`${name}, PNG`} text="PNG" onClick={() => onSave(file.replace(/svg$/, 'png'))} />
        {data !== undefined && <Save label={`${name}, data as CSV`} text="CSV" onClick={() => onSave(data)} />}
      </figcaption>
    </figure>
  );
}

function Save({
  label,
  text,
  onClick,
}: {
  readonly label: string;
  readonly text: string;
  readonly onClick: () => void;
}) {
  return (
    <Button variant="subtle" size="compact-xs" aria-label={`Save ${label}`} onClick={onClick}>
      {text}
    </Button>
  );
}

/** PNGs are rendered from the SVG here. */
async function saveReportFile(file: string): Promise<void> {
  const name = file.split('/').at(-1) ?? file;
  const { text } = await client.replies.reportFile({ file: file.replace(/png$/, 'svg') });
  saveFile(name, file.endsWith('png') ? await svgToPng(text) : new Blob([text]));
}
