import { Button, CopyButton } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { memo } from 'react';
import type { ExportedFiles } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import { saveFile } from '../components/save-file.ts';
import classes from './Run.module.css';

/** A browser may be on another machine than the run's folder. */
function filesOf({ tensorboard, metrics, completions }: ExportedFiles): readonly string[] {
  return [tensorboard, metrics, completions].flatMap((path) => path?.split(/[\\/]/).at(-1) ?? []);
}

/** Exports the run for other tools into its folder: TensorBoard events, metrics as CSV, completions as Parquet. */
export const ExportPanel = memo(function ExportPanel({ runId }: { readonly runId: number }) {
  const work = useMutation({ mutationFn: () => client.runs.export({ runId }) });
  const save = useMutation({
    mutationFn: async (file: string) => saveFile(file, await client.runs.exportedFile({ runId, file })),
  });
  return (
    <Panel
      title="Export for other tools"
      actions={
        <Button variant="default" loading={work.isPending} onClick={() => work.mutate()}>
          Export
        </Button>
      }
    >
      {work.error !== null && <Failed what="The run was not exported" error={work.error} />}
      {work.data === undefined ? (
        <p className={`soft ${classes.note}`}>
          Writes TensorBoard events, metrics.csv and completions.parquet into the run's folder.
        </p>
      ) : (
        <div className={classes.exported} role="status">
          <p>
            {counted(work.data.steps, 'step')},{' '}
            {work.data.samples === 0 ? 'no saved completions' : counted(work.data.samples, 'completion')} in{' '}
            <span className="mono">{work.data.folder}</span>
          </p>
          {save.error !== null && <Failed what="The file was not saved" error={save.error} />}
          <div>
            {filesOf(work.data).map((file) => (
              <Button key={file} variant="default" disabled={save.isPending} onClick={() => save.mutate(file)}>
                Save {file.startsWith('events.') ? 'TensorBoard events' : file}
              </Button>
            ))}
            <CopyButton value={work.data.folder}>
              {({ copied, copy }) => (
                <Button variant="default" onClick={copy}>
                  {copied ? 'Copied' : 'Copy export path'}
                </Button>
              )}
            </CopyButton>
          </div>
        </div>
      )}
    </Panel>
  );
});
