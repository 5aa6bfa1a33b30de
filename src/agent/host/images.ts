/** Images of the container runtime, managed through ctr and crictl. */
export interface Images {
  /** Returns the digests of those names that exist; undefined if the container runtime does not respond. */
  find(ctr: string, names: readonly string[]): Promise<ReadonlyMap<string, string> | undefined>
  /** Lets the container runtime pull an image from its configured registries. */
  pull(crictl: string, name: string, signal: AbortSignal): Promise<void>
  /** Loads an archive under the names that it contains and pins the images. */
  load(ctr: string, archive: string, signal: AbortSignal): Promise<void>
  /** Adds the name `other` to the image `name`. If another image has that name, the name moves. */
  rename(ctr: string, name: string, other: string): Promise<void>
  /** Protects an image from garbage collection. */
  pin(ctr: string, name: string): Promise<void>
  /** Allows garbage collection of an image. */
  unpin(ctr: string, name: string): Promise<void>
}
