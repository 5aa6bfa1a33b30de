/** A file or directory of a simulated host. */
export interface SimulatedFile {
  /** Unchanged when the file is moved, different when it is written again. */
  readonly id: string
  readonly path: string
  readonly directory: boolean
  readonly content: Buffer
  /** Milliseconds since the creation of the machine. */
  readonly modified: number
  /** Access list in SDDL. */
  access: string
  /** Until when another process, such as a virus scanner, has the file open. */
  heldUntil: number
}

/** Storage of a simulated host's files. Callers check locks. */
export interface SimulatedFiles {
  at(path: string): SimulatedFile | undefined
  /** Writes a new file in place of any other. */
  put(path: string, content: string, modified: number): SimulatedFile
  /** The target must not exist. */
  move(file: SimulatedFile, to: string): void
  remove(file: SimulatedFile): void
  all(): readonly SimulatedFile[]
}

/** Inherited access lists below an open or a closed directory. */
export const inheritedSddl = {
  open: 'O:BAG:SYD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)',
  closed: 'O:BAG:SYD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)',
} as const
