export interface Archive {
  /** A tar file, compressed with gzip. */
  readonly path: string
  /** An empty directory. */
  readonly into: string
  /** Number of leading path components to remove. */
  readonly strip: number
}

export interface Tar {
  /** Refuses an archive with entries outside of the target directory. */
  unpack(archive: Archive, signal: AbortSignal): Promise<void>
}
