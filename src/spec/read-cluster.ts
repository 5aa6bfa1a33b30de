import { type Finding, hasErrors } from '../contract/finding.ts'
import { checkCluster, type Rule } from './check-cluster.ts'
import { type Cluster, cluster } from './cluster.ts'
import { type Path, readDocument, type ReadDocument, type Source } from './document.ts'
import { clusterJsonSchema, knownKeys } from './json-schema.ts'
import { pathText, wordsFor, wordsForUnknownKey } from './issue-messages.ts'

export interface ReadCluster {
  /** Only when nothing is wrong with it. */
  readonly cluster: Cluster | undefined
  readonly findings: readonly Finding[]
}

/** Reads a cluster.yml, and says all that is wrong with it at once, each at its place. */
export function readCluster(source: Source, more: readonly Rule[] = []): ReadCluster {
  const reading = readDocument(source)
  if (!reading.ok) return { cluster: undefined, findings: reading.findings }
  const { document } = reading
  const parsed = cluster.safeParse(document.value, { reportInput: true })
  const findings = parsed.success
    ? checkCluster(parsed.data, more).map(({ path, ...rest }) => located(document, path, rest))
    : schemaFindings(document, parsed.error.issues)
  return {
    cluster: parsed.success && !hasErrors(findings) ? parsed.data : undefined,
    findings: findings.toSorted(byPosition),
  }
}

type Issue = Parameters<typeof wordsFor>[0]

function schemaFindings(document: ReadDocument, issues: readonly Issue[]): Finding[] {
  // Costly to make, and the same for a typing mistake in every host of a large cluster.
  const exact = issues.flatMap((issue) => closest(issue))
  const schema = exact.some(({ code }) => code === 'unrecognized_keys') ? clusterJsonSchema() : {}
  return exact.flatMap((issue) => {
    const path = issue.path.filter((part) => typeof part !== 'symbol')
    if (issue.code !== 'unrecognized_keys') {
      return [located(document, path, { severity: 'error', ...wordsFor(issue) })]
    }
    const known = knownKeys(schema, path)
    return issue.keys.map((key): Finding => ({
      severity: 'error',
      ...wordsForUnknownKey(key, known),
      position: document.positionOfKey(path, key),
      path: pathText([...path, key]),
    }))
  })
}

/** Where one of several things may stand, and one of them fits but for what is inside it: what is wrong with that one. */
function closest(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const inside = issue.errors.find((issues) =>
    issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys'),
  )
  if (inside === undefined) return [issue]
  return inside.flatMap((one) => closest({ ...one, path: [...issue.path, ...one.path] }))
}

function located(document: ReadDocument, path: Path, finding: Finding): Finding {
  return { ...finding, position: document.positionOf(path), path: pathText(path) }
}

function byPosition(a: Finding, b: Finding): number {
  const [left, right] = [a.position, b.position]
  if (left === undefined || right === undefined) return 0
  return left.line - right.line || left.column - right.column
}
