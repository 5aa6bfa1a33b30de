/** Where snapshots are kept. */
export interface SnapshotStore {
  /** What a person calls it: the path of a directory, s3://BUCKET/PREFIX. */
  readonly title: string
  /** Keeps a file under a name that is free. It bears the name only once it is there as a whole. */
  put(name: string, file: string, progress: Progress, signal: AbortSignal): Promise<void>
  /** In the order of their names. */
  list(signal: AbortSignal): Promise<readonly StoredSnapshot[]>
  /** All of it, from its beginning on. Whether it is as it was made is for whoever opens it to say. */
  read(name: string, signal: AbortSignal): AsyncIterable<Uint8Array>
  remove(name: string, signal: AbortSignal): Promise<void>
}

export interface StoredSnapshot {
  readonly name: string
  /** In bytes. */
  readonly size: number
  /** When it was put there, as the store knows it. */
  readonly modified: Date
}

/** Hears how many bytes have gone their way, of how many. */
export type Progress = (done: number, total: number) => void
