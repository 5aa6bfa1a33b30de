/** Mounts of a host. */
export interface Mounts {
  /** Mount points, innermost first. */
  list(): Promise<readonly string[]>
  /** Unmounts at once, or lazily if the mount is in use. */
  unmount(path: string): Promise<void>
}
