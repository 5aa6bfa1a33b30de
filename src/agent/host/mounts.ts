/** Lists and unmounts mounts of a host. */
export interface Mounts {
  /** Lists mount points, the latest mounts first. */
  list(): Promise<readonly string[]>
  /** Unmounts a mount, lazily if it is in use. */
  unmount(path: string): Promise<void>
}
