/** One file or directory of a simulated host. */
export interface SimulatedFile {
  /** Stays the same wherever it is moved, and is another one's when it was written anew. */
  readonly id: string
  readonly path: string
  readonly directory: boolean
  readonly content: Buffer
  /** Milliseconds since the machine was made. */
  readonly modified: number
  /** Who may enter, in the words of Windows. */
  access: string
  /** As long as somebody else, such as a virus scanner, has it open. */
  heldUntil: number
}

/** The files of a simulated host, wherever they are kept. Whether one may be touched is for whoever asks to know. */
export interface SimulatedFiles {
  at(path: string): SimulatedFile | undefined
  /** A new one in the place of any other. */
  put(path: string, content: string, modified: number): SimulatedFile
  /** To where nothing is. */
  move(file: SimulatedFile, to: string): void
  remove(file: SimulatedFile): void
  all(): readonly SimulatedFile[]
}

/** What a file has that nobody said anything about, below a directory that is open or one that is not. */
export const inherited = {
  open: 'O:BAG:SYD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)',
  closed: 'O:BAG:SYD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)',
} as const
