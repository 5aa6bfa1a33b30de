/** The images that the container runtime of a host has, by the programs that talk with it. */
export interface Images {
  /** Which of some names are there, each with the digest that it stands for; nothing when the runtime does not answer. */
  find(ctr: string, names: readonly string[]): Promise<ReadonlyMap<string, string> | undefined>
  /** By the runtime, from wherever it was told that images come from. */
  pull(crictl: string, name: string, signal: AbortSignal): Promise<void>
  /** From an archive, under the names that it gives them; they are kept as with `keep`. */
  load(ctr: string, archive: string, signal: AbortSignal): Promise<void>
  /** Gives an image another name too, and takes that from whichever has it. */
  rename(ctr: string, name: string, other: string): Promise<void>
  /** Nobody may remove it to make room. */
  keep(ctr: string, name: string): Promise<void>
  /** Whoever needs room may remove it. */
  release(ctr: string, name: string): Promise<void>
}
