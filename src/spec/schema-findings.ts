import type { z } from 'zod'
import type { Finding } from '../contract/finding.ts'
import { knownKeys } from './cluster.ts'
import type { LocatedDocument, Path } from './document.ts'
import { describeIssue, describeUnknownKey, formatPath } from './issue-messages.ts'

export type Issue = Parameters<typeof describeIssue>[0]

/** Converts the issues of a schema to findings with positions. `buildJsonSchema` builds the same schema as JSON. */
export function listSchemaFindings(
  document: LocatedDocument,
  issues: readonly Issue[],
  buildJsonSchema: () => z.core.JSONSchema.BaseSchema,
): Finding[] {
  const narrowed = issues.flatMap((issue) => narrowUnionIssue(issue))
  // The JSON schema is costly to build, so it is built once and only if there are unknown keys.
  const schema = narrowed.some(({ code }) => code === 'unrecognized_keys') ? buildJsonSchema() : {}
  return narrowed.flatMap((issue) => {
    const path = toPath(issue)
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

/** Returns the path of an issue. YAML has no symbols as keys. */
export function toPath({ path }: Pick<Issue, 'path'>): Path {
  return path.filter((part) => typeof part !== 'symbol')
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

/** Adds the position and the path of a value to a finding. */
export function withPosition(
  document: Pick<LocatedDocument, 'positionOf'>,
  path: Path,
  finding: Finding,
): Finding {
  return { ...finding, position: document.positionOf(path), path: formatPath(path) }
}

/** Sorts findings of one file by line and column. */
export function compareByPosition(a: Finding, b: Finding): number {
  const [left, right] = [a.position, b.position]
  if (left === undefined || right === undefined || left.file !== right.file) return 0
  return left.line - right.line || left.column - right.column
}
