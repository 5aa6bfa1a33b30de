/** What is mounted on a host. */
export interface Mounts {
  /** Where, from the innermost on. */
  list(): Promise<readonly string[]>
  /** At once, or as soon as nobody uses it any more. */
  unmount(path: string): Promise<void>
}
