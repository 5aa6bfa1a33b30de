/** A location where snapshots are kept, for example a directory or a bucket. */
export interface SnapshotStore {
  /** Name in messages: the path of a directory, or s3://BUCKET/PREFIX. */
  readonly title: string
  /** Stores a file under an unused name. The name becomes visible only when the file is complete. */
  put(name: string, file: string, progress: ReportBytes, signal: AbortSignal): Promise<void>
  /** Lists all snapshots, sorted by name. */
  list(signal: AbortSignal): Promise<readonly StoredSnapshot[]>
  /** Yields the whole file. The caller verifies it. */
  read(name: string, signal: AbortSignal): AsyncIterable<Uint8Array>
  remove(name: string, signal: AbortSignal): Promise<void>
}

export interface StoredSnapshot {
  readonly name: string
  /** Size in bytes. */
  readonly size: number
  /** Time at which the snapshot was stored, according to the store. */
  readonly modified: Date
}

/** Called with the number of transferred bytes and the total. */
export type ReportBytes = (done: number, total: number) => void
