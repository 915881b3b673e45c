/** One step of the database's history; its version becomes `user_version` in the same transaction. */
export interface Migration {
  readonly version: number;
  readonly sql: string;
}
