/** Native file watching; a hint for what to stat, never a replacement for the stat. */
export interface WatchHandle {
  close(): void
}

export interface Watcher {
  /**
   * Watch these absolute paths; `onChange` gets one of them. Throws `WATCH_FAILED` with the system's code in
   * `subject` when the system refuses (`ENOSPC`, unsupported).
   */
  watch(paths: readonly string[], onChange: (path: string) => void, onFailure: (why: string) => void): WatchHandle
}
