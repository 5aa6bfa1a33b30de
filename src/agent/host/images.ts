/** The images that the container runtime of a host has. */
export interface Images {
  /** By the program that talks to the runtime; nothing when the runtime does not answer. */
  list(program: string): Promise<ReadonlySet<string> | undefined>
  /** From an archive of images. */
  load(program: string, archive: string): Promise<void>
}
