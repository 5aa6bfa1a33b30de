export interface Archive {
  /** A tar file, compressed with gzip. */
  readonly path: string
  /** An empty directory. */
  readonly into: string
  /** How many leading parts of each path are left out. */
  readonly strip: number
}

export interface Tar {
  /** Refuses an archive of which anything would come to lie outside. */
  unpack(archive: Archive, signal: AbortSignal): Promise<void>
}
