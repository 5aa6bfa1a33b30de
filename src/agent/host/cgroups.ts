export interface Cgroups {
  /**
   * Removes the top-level cgroup of this name in every hierarchy, with its children, as far as they contain
   * no processes. Returns the removed paths.
   */
  remove(name: string): Promise<readonly string[]>
}
