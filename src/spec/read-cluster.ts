import { type Finding, hasErrors } from '../contract/finding.ts'
import { checkCluster, type ClusterRule } from './check-cluster.ts'
import { type Cluster, clusterJsonSchema, clusterSchema, knownKeys } from './cluster.ts'
import { type LocatedDocument, type Path, readDocument, type SourceText } from './document.ts'
import { describeIssue, describeUnknownKey, formatPath } from './issue-messages.ts'

export interface ReadClusterResult {
  /** Undefined if any finding is an error. */
  readonly cluster: Cluster | undefined
  readonly findings: readonly Finding[]
}

/** Reads a cluster.yml and reports all problems at once, each with its position. */
export function readCluster(source: SourceText, extraRules: readonly ClusterRule[] = []): ReadClusterResult {
  const result = readDocument(source)
  if (!result.ok) return { cluster: undefined, findings: result.findings }
  const { document } = result
  const parsed = clusterSchema.safeParse(document.value, { reportInput: true })
  const findings = parsed.success
    ? checkCluster(parsed.data, extraRules).map(({ path, ...rest }) => withPosition(document, path, rest))
    : schemaFindings(document, parsed.error.issues)
  return {
    cluster: parsed.success && !hasErrors(findings) ? parsed.data : undefined,
    findings: findings.toSorted(byPosition),
  }
}

type Issue = Parameters<typeof describeIssue>[0]

function schemaFindings(document: LocatedDocument, issues: readonly Issue[]): Finding[] {
  const narrowed = issues.flatMap((issue) => narrowUnionIssue(issue))
  // The JSON schema is costly to build, so it is built once and only if there are unknown keys.
  const schema = narrowed.some(({ code }) => code === 'unrecognized_keys') ? clusterJsonSchema() : {}
  return narrowed.flatMap((issue) => {
    const path = issue.path.filter((part) => typeof part !== 'symbol')
    if (issue.code !== 'unrecognized_keys') {
      return [withPosition(document, path, { severity: 'error', ...describeIssue(issue) })]
    }
    const known = knownKeys(schema, path)
    return issue.keys.map((key): Finding => ({
      severity: 'error',
      ...describeUnknownKey(key, known),
      position: document.positionOfKey(path, key),
      path: formatPath([...path, key]),
    }))
  })
}

/**
 * Replaces the issue of a failed union by more precise issues, if one alternative of the union has the outer
 * shape of the value. The result then has only the issues inside this alternative.
 */
function narrowUnionIssue(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const matching = issue.errors.find((issues) =>
    issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys'),
  )
  if (matching === undefined) return [issue]
  return matching.flatMap((one) => narrowUnionIssue({ ...one, path: [...issue.path, ...one.path] }))
}

function withPosition(document: LocatedDocument, path: Path, finding: Finding): Finding {
  return { ...finding, position: document.positionOf(path), path: formatPath(path) }
}

function byPosition(a: Finding, b: Finding): number {
  const [left, right] = [a.position, b.position]
  if (left === undefined || right === undefined) return 0
  return left.line - right.line || left.column - right.column
}
