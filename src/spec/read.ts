import { type Finding, hasErrors } from '../contract/finding.ts'
import { checkCluster, type Rule } from './check.ts'
import { type Cluster, cluster } from './cluster.ts'
import { type Path, readDocument, type ReadDocument, type Source } from './document.ts'
import { knownKeys } from './json-schema.ts'
import { pathText, wordsFor } from './words.ts'

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
    : parsed.error.issues.flatMap((issue) => schemaFindings(document, issue))
  return {
    cluster: parsed.success && !hasErrors(findings) ? parsed.data : undefined,
    findings: findings.toSorted(byPosition),
  }
}

type Issue = Parameters<typeof wordsFor>[0]

function schemaFindings(document: ReadDocument, issue: Issue): Finding[] {
  const path = issue.path.filter((part) => typeof part !== 'symbol')
  if (issue.code === 'unrecognized_keys') {
    const words = wordsFor(issue, knownKeys(path))
    return issue.keys.flatMap((key, index) => {
      const found = words[index]
      return found === undefined
        ? []
        : [
            {
              severity: 'error' as const,
              ...found,
              position: document.positionOfKey(path, key),
              path: pathText([...path, key]),
            },
          ]
    })
  }
  return wordsFor(issue, []).map((words) => located(document, path, { severity: 'error', ...words }))
}

function located(document: ReadDocument, path: Path, finding: Finding): Finding {
  return { ...finding, position: document.positionOf(path), path: pathText(path) }
}

function byPosition(a: Finding, b: Finding): number {
  const [left, right] = [a.position, b.position]
  if (left === undefined || right === undefined) return 0
  return left.line - right.line || left.column - right.column
}
