import { type Finding, hasErrors } from '../contract/finding.ts'
import { checkCluster, type ClusterRule } from './check-cluster.ts'
import { type Cluster, clusterJsonSchema, clusterSchema } from './cluster.ts'
import { type LocatedDocument, readDocument, type SourceText } from './document.ts'
import type { ReadFleet } from './fleet.ts'
import { inheritFrom, type InheritedValue } from './inherit.ts'
import { compareByPosition, listSchemaFindings, withPosition } from './schema-findings.ts'

export interface ReadClusterResult {
  /** Undefined if any finding is an error. */
  readonly cluster: Cluster | undefined
  readonly findings: readonly Finding[]
  /** Values that come from fleet.yml. */
  readonly inherited: readonly InheritedValue[]
}

/** Reads a cluster.yml that belongs to no fleet. Reports all problems at once, each with its position. */
export function readCluster(source: SourceText, extraRules: readonly ClusterRule[] = []): ReadClusterResult {
  const result = readDocument(source)
  return result.ok
    ? readClusterDocument(result.document, extraRules)
    : { cluster: undefined, findings: result.findings, inherited: [] }
}

/** Checks a parsed cluster.yml together with the values that it inherits from its fleet. */
export function readClusterDocument(
  own: LocatedDocument,
  extraRules: readonly ClusterRule[] = [],
  fleet?: ReadFleet,
): ReadClusterResult {
  const { inherited, ...document } = fleet === undefined ? { ...own, inherited: [] } : inheritFrom(fleet, own)
  const parsed = clusterSchema.safeParse(document.value, { reportInput: true })
  const findings = parsed.success
    ? checkCluster(parsed.data, extraRules).map(({ path, ...rest }) => withPosition(document, path, rest))
    : listSchemaFindings(document, parsed.error.issues, clusterJsonSchema)
  return {
    cluster: parsed.success && !hasErrors(findings) ? parsed.data : undefined,
    findings: findings.toSorted(compareByPosition),
    inherited,
  }
}
