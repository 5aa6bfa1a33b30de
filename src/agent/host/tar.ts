export interface Archive {
  /** Path of a tar file that is compressed with gzip. */
  readonly path: string
  /** Target directory, which must be empty. */
  readonly into: string
  /** Number of leading path components that are removed from each entry. */
  readonly strip: number
}

export interface Tar {
  /** Unpacks an archive. Throws if an entry would be outside the target directory. */
  unpack(archive: Archive, signal: AbortSignal): Promise<void>
}
