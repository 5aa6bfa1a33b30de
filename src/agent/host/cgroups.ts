export interface Cgroups {
  /** Those of a name at the top of each hierarchy, with all below, as far as no process is in them. Answers with their paths. */
  remove(name: string): Promise<readonly string[]>
}
