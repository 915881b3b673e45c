/** A chart's tools: logarithmic axis, data as a table, and a menu with the y range and the chart as an image. */
import { Button, Menu, Modal } from '@mantine/core';
import { IconChartLine, IconTable } from '@tabler/icons-react';
import { useState } from 'react';
import { failureOf } from '../api/failure.ts';
import { Hint } from '../components/Hint.tsx';
import { IconButton } from '../components/IconButton.tsx';
import { MoreMenu } from '../components/MoreMenu.tsx';
import { NumberField } from '../components/NumberField.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import { saveFile } from '../components/save-file.ts';
import classes from './LineChart.module.css';
import { fromData, isEmptyRange, type YRange } from './y-range.ts';

export interface ChartToolsProps {
  readonly title: string;
  /** null: a stack has no logarithmic axis. */
  readonly log: boolean | null;
  readonly onLog: (log: boolean) => void;
  readonly asTable: boolean;
  readonly onTable: (asTable: boolean) => void;
  readonly range: YRange;
  readonly onRange: (range: YRange) => void;
  /** The chart as a PNG; null if nothing is drawn. */
  readonly image: (() => Promise<Blob>) | null;
}

export function ChartTools({ title, log, onLog, asTable, onTable, range, onRange, image }: ChartToolsProps) {
  const [isRanging, setRanging] = useState(false);
  const [told, setTold] = useState<string | null>(null);
  const tell = (text: string): void => {
    setTold(text);
    setTimeout(() => setTold(null), 3000);
  };
  const copy = async (make: () => Promise<Blob>): Promise<void> => {
    try {
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': make() })]);
      tell('Copied');
    } catch {
      // A browser that copies no images can still save one.
      await save(make);
    }
  };
  const save = async (make: () => Promise<Blob>): Promise<void> => {
    try {
      saveFile(`${title}.png`, await make());
      tell('Saved');
    } catch (error) {
      tell(failureOf(error).message);
    }
  };
  const tableLabel = asTable ? `${title}: chart` : `${title}: data as table`;
  const TableIcon = asTable ? IconChartLine : IconTable;
  return (
    <>
      <span role="status" className="faint">
        {told}
      </span>
      {log !== null && (
        <Hint label={log ? 'Linear axis' : 'Logarithmic axis'}>
          <button
            type="button"
            className={classes.word}
            aria-label={`${title}: log axis`}
            aria-pressed={log}
            data-on={log || undefined}
            onClick={() => onLog(!log)}
          >
            log
          </button>
        </Hint>
      )}
      <Hint label={tableLabel}>
        <IconButton
          size="xs"
          aria-label={tableLabel}
          aria-pressed={asTable}
          data-on={asTable || undefined}
          onClick={() => onTable(!asTable)}
        >
          <TableIcon size={13} aria-hidden="true" />
        </IconButton>
      </Hint>
      <MoreMenu label={`${title}: actions`}>
        {() => (
          <>
            <Menu.Item disabled={image === null} onClick={() => image !== null && void copy(image)}>
              Copy as image
            </Menu.Item>
            <Menu.Item disabled={image === null} onClick={() => image !== null && void save(image)}>
              Save as PNG
            </Menu.Item>
            <Menu.Item onClick={() => setRanging(true)}>Set y range …</Menu.Item>
            {(range.min ?? range.max) !== null && (
              <Menu.Item onClick={() => onRange(fromData)}>Reset y range</Menu.Item>
            )}
          </>
        )}
      </MoreMenu>
      {isRanging && (
        <Modal opened onClose={() => setRanging(false)} title={`${title}: y range`} size="xs">
          <RangeForm title={title} range={range} onRange={onRange} onClose={() => setRanging(false)} />
        </Modal>
      )}
    </>
  );
}

interface RangeFormProps extends Pick<ChartToolsProps, 'title' | 'range' | 'onRange'> {
  readonly onClose: () => void;
}

function RangeForm({ title, range, onRange, onClose }: RangeFormProps) {
  const [draft, setDraft] = useState(range);
  const isEmpty = isEmptyRange(draft);
  return (
    <SubmitForm
      className={classes.range}
      aria-label={`${title}: y range`}
      onSubmit={() => {
        if (isEmpty) return;
        onRange(draft);
        onClose();
      }}
    >
      <NumberField
        {...{ label: 'From', placeholder: 'auto', step: 0.001, width: 96, value: draft.min }}
        onChange={(min) => setDraft({ ...draft, min })}
      />
      <NumberField
        {...{ label: 'To', placeholder: 'auto', step: 0.001, width: 96, value: draft.max }}
        onChange={(max) => setDraft({ ...draft, max })}
      />
      <Button type="submit" disabled={isEmpty} title={isEmpty ? '"From" must be below "To"' : undefined}>
        Apply
      </Button>
    </SubmitForm>
  );
}
