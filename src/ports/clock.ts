/** Time and fresh ids. `OUTRIGGER_NOW` and `OUTRIGGER_SEED` fix both, so that two runs print the same bytes. */
export interface Clock {
  /** ms since the epoch. */
  now(): number
  /** A new ULID. */
  newId(): string
  /** Random lower-case hex digits. */
  randomHex(digits: number): string
}
