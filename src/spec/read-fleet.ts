import { z } from 'zod'
import type { Finding } from '../contract/finding.ts'
import { readDocument, type SourceText } from './document.ts'
import { fleetJsonSchema, fleetSchema, ownSettings, type ReadFleet } from './fleet.ts'
import { formatPath } from './issue-messages.ts'
import { compareByPosition, type Issue, listSchemaFindings, toPath } from './schema-findings.ts'

export type ReadFleetResult =
  | ({ readonly ok: true } & ReadFleet)
  | { readonly ok: false; readonly findings: readonly Finding[] }

/** Reads a fleet.yml and reports all problems at once, each with its position. */
export function readFleet(source: SourceText): ReadFleetResult {
  const result = readDocument(source)
  if (!result.ok) return result
  const { document } = result
  const parsed = fleetSchema.safeParse(document.value, { reportInput: true })
  if (parsed.success) return { ok: true, fleet: parsed.data, document }
  const issues = parsed.error.issues.filter((issue) => !isCompletedByCluster(issue))
  const findings = [
    ...listSchemaFindings(document, issues.flatMap(withoutOwnSettings), fleetJsonSchema),
    ...issues.flatMap((issue) =>
      listOwnSettings(issue).map((key): Finding => ({
        code: 'FLEET_NOT_INHERITED',
        severity: 'error',
        message: 'must be set in each cluster.yml',
        ...(key === 'kubernetes'
          ? { hint: 'to change it in waves: hyperkube fleet upgrade --to VERSION' }
          : {}),
        position: document.positionOfKey(toPath(issue), key),
        path: formatPath([...toPath(issue), key]),
      })),
    ),
  ]
  return findings.length === 0
    ? { ok: true, fleet: fleetSchema.parse(withoutValues(document.value)), document }
    : { ok: false, findings: findings.toSorted(compareByPosition) }
}

const anyFleet = z.looseObject({
  spec: z.looseObject({ defaults: z.array(z.looseObject({ values: z.unknown() })) }),
})

/** Removes the values, which are incomplete without a cluster.yml. Clusters inherit the values of the document. */
function withoutValues(value: unknown): unknown {
  const document = anyFleet.parse(value)
  const { spec } = document
  return { ...document, spec: { ...spec, defaults: spec.defaults.map((one) => ({ ...one, values: {} })) } }
}

/** Depth of `spec.defaults[0].values` in the path of an issue. */
const valuesDepth = 4

function isInsideValues({ path }: Issue): boolean {
  return path[0] === 'spec' && path[1] === 'defaults' && path[3] === 'values'
}

/** True for a missing part of a section, because each cluster.yml may contain the rest of the section. */
function isCompletedByCluster(issue: Issue): boolean {
  return isInsideValues(issue) && issue.path.length > valuesDepth && issue.input === undefined
}

function listOwnSettings(issue: Issue): readonly string[] {
  if (issue.code !== 'unrecognized_keys' || !isInsideValues(issue) || issue.path.length !== valuesDepth)
    return []
  return issue.keys.filter((key) => ownSettings.some((own) => own === key))
}

function withoutOwnSettings(issue: Issue): Issue[] {
  const own = listOwnSettings(issue)
  if (issue.code !== 'unrecognized_keys' || own.length === 0) return [issue]
  const keys = issue.keys.filter((key) => !own.includes(key))
  return keys.length === 0 ? [] : [{ ...issue, keys }]
}
