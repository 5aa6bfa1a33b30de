/** Images of the container runtime, managed through ctr and crictl. */
export interface Images {
  /** Digests of those names that exist; undefined if the runtime does not respond. */
  find(ctr: string, names: readonly string[]): Promise<ReadonlyMap<string, string> | undefined>
  /** Pulled by the runtime, from its configured registries. */
  pull(crictl: string, name: string, signal: AbortSignal): Promise<void>
  /** Loads an archive under the names it contains, and pins the images as `pin` does. */
  load(ctr: string, archive: string, signal: AbortSignal): Promise<void>
  /** Adds a name to an image. The name moves if another image has it. */
  rename(ctr: string, name: string, other: string): Promise<void>
  /** Protects an image from garbage collection. */
  pin(ctr: string, name: string): Promise<void>
  /** Allows garbage collection of an image. */
  unpin(ctr: string, name: string): Promise<void>
}
