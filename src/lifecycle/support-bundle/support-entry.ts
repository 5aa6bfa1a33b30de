/** One file of a bundle for support. */
export interface SupportFile {
  readonly path: string
  readonly text: string
}

/** Something that should have been in it, and why it is not. */
export interface LeftOut {
  readonly what: string
  readonly reason: string
}

export type Piece = SupportFile | LeftOut

export function isFile(piece: Piece): piece is SupportFile {
  return 'path' in piece
}

/** As a file, or why there is none. Only an abort fails. */
export async function attempt(
  path: string,
  signal: AbortSignal,
  make: () => Promise<string>,
  reasonOf: (error: unknown) => string,
): Promise<Piece> {
  try {
    return { path, text: await make() }
  } catch (error) {
    signal.throwIfAborted()
    return { what: path, reason: reasonOf(error) }
  }
}
