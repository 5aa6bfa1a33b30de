/** One file of a support bundle. */
export interface SupportFile {
  readonly path: string
  readonly text: string
}

/** An entry that could not be collected, with the reason. */
export interface OmittedEntry {
  readonly item: string
  readonly reason: string
}

export type SupportEntry = SupportFile | OmittedEntry

export function isSupportFile(entry: SupportEntry): entry is SupportFile {
  return 'path' in entry
}

/** Reads one file, or returns the reason why it is missing. Throws only if aborted. */
export async function tryCollect(
  path: string,
  signal: AbortSignal,
  read: () => Promise<string>,
  formatReason: (error: unknown) => string,
): Promise<SupportEntry> {
  try {
    return { path, text: await read() }
  } catch (error) {
    signal.throwIfAborted()
    return { item: path, reason: formatReason(error) }
  }
}
