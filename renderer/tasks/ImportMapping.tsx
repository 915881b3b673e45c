/** Columns to fields, guessed by name, with the prompts that the rows become beside it. */
import { Button, Checkbox, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ImportPlan } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';
import { Choice } from '../components/Choice.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { NumberEntry } from '../components/NumberEntry.tsx';
import { DATASET_NAME_RULE, datasetNameFits } from '../components/name-rules.ts';
import { Panel } from '../components/Screen.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import { currentPath, navigateFrom } from '../frame/hash-location.ts';
import { HeldOut } from './HeldOut.tsx';
import classes from './Import.module.css';
import { ImportPreview } from './ImportPreview.tsx';
import type { HeldOutChoice, Source } from './import-source.ts';
import { cell, columnOptions, datasetName, insideColumns } from './import-words.ts';

export interface ImportMappingProps {
  readonly task: string;
  readonly source: Source;
}

interface Options {
  readonly testShare: number;
  readonly splitBy: string;
  readonly sample: number | null;
  readonly dedupe: boolean;
  readonly filterColumn: string;
  readonly filterValue: string;
}

const usual: Options = { testShare: 0.1, splitBy: '', sample: null, dedupe: true, filterColumn: '', filterValue: '' };

const WAIT_MS = 250;

export function ImportMapping({ task, source }: ImportMappingProps) {
  const [map, setMap] = useState<Readonly<Record<string, string>>>({});
  const [options, setOptions] = useState(usual);
  const [name, setName] = useState(datasetName(source.name));
  const [heldOut, setHeldOut] = useState<HeldOutChoice>({ kind: 'part', upload: null });
  const change = (part: Partial<Options>): void => setOptions({ ...options, ...part });
  const asked = {
    uploadId: source.uploadId,
    task,
    map,
    dedupe: options.dedupe,
    testUploadId: heldOut.upload?.uploadId ?? null,
    sample: options.sample,
    splitBy: options.splitBy || null,
    // Nothing is held out until the file or split is chosen: the dataset can't be created before.
    testShare: heldOut.kind === 'part' ? options.testShare : 0,
    filters: options.filterColumn === '' ? [] : [{ column: options.filterColumn, value: options.filterValue }],
  };
  const [settled] = useDebouncedValue(asked, WAIT_MS);
  const plan = useQuery(
    api.imports.preview.queryOptions({ input: settled, placeholderData: keepPreviousData, retry: false, gcTime: 1000 }),
  );
  const create = useMutation({
    mutationFn: (replace: boolean) => client.imports.run({ ...asked, name: name.trim(), replace }),
    onMutate: currentPath,
    onSuccess: ({ datasetId }, _, from) => navigateFrom(from, `/texts/dataset/${datasetId}`),
  });
  if (plan.error !== null)
    return <Failed what="The rows can't be read" error={plan.error} onRetry={() => void plan.refetch()} />;
  if (plan.data === undefined) return <Loading what="the rows" />;
  const { columns, fields, mapping, first, problem, counts } = plan.data;
  const isTaken = create.error !== null && failureOf(create.error).code === 'DATASET_EXISTS';
  const isChosen = heldOut.kind === 'part' || heldOut.upload !== null;
  const canCreate =
    isChosen &&
    problem === null &&
    counts.faults === 0 &&
    name.trim() !== '' &&
    datasetNameFits(name.trim()) &&
    !plan.isPlaceholderData;
  return (
    <div className={classes.mapping}>
      <div className={classes.left}>
        <Panel title="Fields">
          <table className={classes.fields}>
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Column</th>
                <th scope="col">First row</th>
              </tr>
            </thead>
            <tbody>
              {fields.map(({ name: field, type, optional }) => {
                // A field may be called `constructor`, which every object has.
                const current = [map, mapping].find((named) => Object.hasOwn(named, field))?.[field] ?? '';
                return (
                  <tr key={field}>
                    <th scope="row">
                      <span className="mono">{field}</span>{' '}
                      <span className="faint">
                        {type}
                        {optional && ', optional'}
                      </span>
                    </th>
                    <td>
                      <Choice
                        aria-label={`Column of ${field}`}
                        data={columnOptions([...columns, ...insideColumns(plan.data.rows)], type, current)}
                        value={current}
                        onChange={(column) => setMap({ ...map, [field]: column })}
                        width={180}
                      />
                    </td>
                    <td className={classes.value}>{current !== '' && cell(first[field])}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </Panel>
        <Rows {...{ options, columns }} onChange={change} />
        <HeldOut
          {...{ source, columns, testShare: options.testShare, splitBy: options.splitBy }}
          choice={heldOut}
          problem={problem?.isHeldOut === true ? problem : null}
          onChoose={setHeldOut}
          onChange={change}
        />
        <Panel title="Dataset">
          <SubmitForm className={classes.create} onSubmit={() => create.mutate(isTaken)}>
            <TextInput
              label="Name"
              error={datasetNameFits(name.trim()) ? undefined : DATASET_NAME_RULE}
              value={name}
              onChange={({ currentTarget }) => {
                create.reset();
                setName(currentTarget.value);
              }}
              maxLength={60}
            />
            <Button type="submit" disabled={!canCreate} loading={create.isPending}>
              {isTaken ? 'Replace dataset' : 'Create dataset'}
            </Button>
          </SubmitForm>
          {!isChosen && (
            <p className="soft" role="status">
              {heldOut.kind === 'file' ? 'Choose the file' : 'Download the split'} of the held-out records first.
            </p>
          )}
          {create.error !== null && <Failed what="The dataset was not created" error={create.error} />}
        </Panel>
      </div>
      <ImportPreview plan={plan.data} isOld={plan.isPlaceholderData} />
    </div>
  );
}

interface RowsProps {
  readonly options: Options;
  readonly columns: ImportPlan['columns'];
  readonly onChange: (part: Partial<Options>) => void;
}

/** Which rows are taken. */
function Rows({ options, columns, onChange }: RowsProps) {
  const { sample, dedupe, filterColumn, filterValue } = options;
  const choices = (none: string) => [
    { value: '', label: none },
    ...columns.map((column) => ({ value: column, label: column })),
  ];
  return (
    <Panel title="Rows">
      <div className={classes.rows}>
        <div>
          <span className={classes.label}>Only where</span>
          <Choice
            aria-label="Filter by column"
            data={choices('all rows')}
            value={filterColumn}
            onChange={(column) => onChange({ filterColumn: column })}
          />
        </div>
        {filterColumn !== '' && (
          <TextInput
            label={`${filterColumn} is`}
            value={filterValue}
            onChange={({ currentTarget }) => onChange({ filterValue: currentTarget.value })}
          />
        )}
        <NumberEntry
          label="At most"
          description="Rows, drawn at random"
          placeholder="all"
          min={1}
          max={10_000_000}
          value={sample}
          onChange={(rows) => onChange({ sample: rows })}
        />
        <Checkbox
          label="Drop duplicates"
          checked={dedupe}
          onChange={({ currentTarget }) => onChange({ dedupe: currentTarget.checked })}
        />
      </div>
    </Panel>
  );
}
