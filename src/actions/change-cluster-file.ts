import type { Finding } from '../contract/finding.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { WorkspaceContext } from '../workspace/context.ts'
import { loadCatalog } from '../workspace/load-catalog.ts'
import { readCheckedCluster } from '../workspace/load-cluster.ts'

/** A changed cluster.yml that is not written yet. */
export interface ClusterFileChange {
  readonly cluster: Cluster
  readonly findings: readonly Finding[]
  /**
   * Writes cluster.yml. `up` calls this function after the operator has confirmed, so that a later `up` can
   * resume an interrupted run.
   */
  readonly persist: () => Promise<void>
}

/** The changed cluster.yml would not be valid. cluster.yml was not written. */
export class InvalidFileChange extends Error {
  readonly file: string
  readonly findings: readonly Finding[]

  constructor(file: string, findings: readonly Finding[]) {
    super(`the changed ${file} is not valid`)
    this.file = file
    this.findings = findings
  }
}

/** Changes the text of cluster.yml with `change`, and checks the result. Writes nothing yet. */
export async function prepareFileChange(
  { readFile, replaceFile }: Pick<WorkspaceContext, 'readFile' | 'replaceFile'>,
  file: string,
  change: (text: string) => string,
): Promise<ClusterFileChange> {
  const text = change(await readFile(file))
  const catalog = await loadCatalog({ readFile }, file)
  const { cluster, findings } = await readCheckedCluster({ readFile }, { file, text }, catalog)
  if (cluster === undefined) throw new InvalidFileChange(file, findings)
  return { cluster, findings, persist: async () => replaceFile(file, text, 0o644) }
}
