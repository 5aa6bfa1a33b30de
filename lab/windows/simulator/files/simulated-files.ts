/** A file or directory of a simulated host. */
export interface SimulatedFile {
  /** Id of the file. A moved file keeps its id; a file that is written again gets a new one. */
  readonly id: string
  readonly path: string
  readonly directory: boolean
  readonly content: Buffer
  /** Time of the last write, in milliseconds since the creation of the simulated host. */
  readonly modified: number
  /** Access list in SDDL. */
  access: string
  /** Time until which another process, for example a virus scanner, has the file open. */
  heldUntil: number
}

/** Stores the files of a simulated host. Locks are checked by callers. */
export interface SimulatedFiles {
  at(path: string): SimulatedFile | undefined
  /** Writes a file with a new id. Replaces an existing file at the same path. */
  put(path: string, content: string, modified: number): SimulatedFile
  /** Moves a file. The target must not exist. */
  move(file: SimulatedFile, to: string): void
  remove(file: SimulatedFile): void
  all(): readonly SimulatedFile[]
}

/**
 * Access lists that files inherit from a directory with access for all users (`open`) or only for
 * administrators (`closed`).
 */
export const inheritedSddl = {
  open: 'O:BAG:SYD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)',
  closed: 'O:BAG:SYD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)',
} as const

/**
 * Returns the descriptor that Windows reports for a file whose own access list is inherited: the owner stays,
 * and the entries come from the directory.
 */
export function withInheritedEntries(own: string | undefined, inherited: string): string {
  const [, owner] = /^(O:.*?)D:AI$/.exec(own ?? '') ?? []
  return owner === undefined ? inherited : inherited.replace(/^O:.*?(?=D:)/, owner)
}
