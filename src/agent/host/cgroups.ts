export interface Cgroups {
  /**
   * Removes the top-level cgroup of this name and its children in every hierarchy. A cgroup that contains
   * processes stays. Returns the removed paths.
   */
  remove(name: string): Promise<readonly string[]>
}
