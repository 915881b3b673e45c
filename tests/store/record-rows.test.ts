import { describe, expect, it } from 'vitest';
import { recordRows } from '../../main/store/record-rows.ts';

interface Answered {
  readonly recordId: string;
  readonly reward: number;
  readonly ended: boolean;
  readonly parts: Readonly<Record<string, number>>;
  readonly tookMs?: number;
}

const rows = recordRows<Answered>(
  {
    recordId: { kind: 'text' },
    reward: { kind: 'number' },
    ended: { kind: 'flag' },
    parts: { kind: 'numbers', column: 'parts_json' },
    tookMs: { kind: 'number', optional: true },
  },
  'answered',
);

describe('recordRows', () => {
  it('names columns after fields, in snake case unless they have a name of their own', () => {
    expect(rows.names).toEqual(['record_id', 'reward', 'ended', 'parts_json', 'took_ms']);
    expect(rows.selected).toContain('answered.record_id, answered.reward');
  });

  it('reads a record back as it was: NaN is no number, and an optional field may be absent', () => {
    const record = { recordId: 'r', reward: Number.NaN, ended: false, parts: { hook: Number.NaN } };
    // SQLite stores NaN as null.
    const stored = { ...rows.toRow(record), reward: null };
    expect(stored).toEqual({ record_id: 'r', reward: null, ended: 0, parts_json: '{"hook":null}', took_ms: null });
    expect(rows.fromRow(stored)).toEqual(record);
    expect(rows.fromRow(stored)).not.toHaveProperty('tookMs');
    expect(rows.fromRow({ ...stored, took_ms: 12.5 }).tookMs).toBe(12.5);
  });
});
