import { z } from 'zod'
import type { Finding } from '../contract/finding.ts'
import type { KubeClient } from '../kube/client.ts'
import { isKubeError } from '../kube/kube-error.ts'
import type { StoredObject } from './inventory.ts'

export const definitionResource = 'customresourcedefinitions.apiextensions.k8s.io'
const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const definition = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ versions: z.array(z.looseObject({ name: z.string() })) }),
  status: z
    .looseObject({
      storedVersions: z.array(z.string()).default([]),
      conditions: z
        .array(
          z.looseObject({
            type: z.string(),
            status: z.string(),
            reason: z.string().default(''),
            message: z.string().default(''),
          }),
        )
        .default([]),
    })
    .optional(),
})
type Definition = z.infer<typeof definition>

/** Condition types of a usable CRD, with the status that they must have. */
const expectedConditions: ReadonlyMap<string, string> = new Map([
  ['Established', 'True'],
  ['NamesAccepted', 'True'],
  ['NonStructuralSchema', 'False'],
  ['Terminating', 'False'],
])

/** Checks each CRD: its conditions, its stored versions, and whether the API server still accepts it. */
export async function checkDefinitions(
  client: KubeClient,
  definitions: readonly StoredObject[],
  version: string,
  signal: AbortSignal,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const object of definitions) {
    const parsed = definition.parse(object)
    const problems = [...findDefinitionProblems(parsed), ...(await tryUpdate(client, object, signal))]
    const { name } = parsed.metadata
    findings.push(
      ...problems.map((problem) => ({
        code: 'REHEARSAL_CRD_INVALID',
        severity: 'error' as const,
        message: `with Kubernetes ${version} the CRD ${name} ${problem}`,
        hint: `correct it before the upgrade: hyperkube kubectl get crd ${name} -o yaml`,
      })),
    )
  }
  return findings
}

/** Finds problems in the stored versions and the conditions of a CRD. */
export function findDefinitionProblems({ spec, status }: Definition): string[] {
  const served = new Set(spec.versions.map(({ name }) => name))
  const unknown = (status?.storedVersions ?? []).filter((name) => !served.has(name))
  const conditions = (status?.conditions ?? []).filter(
    ({ type, status: value }) => (expectedConditions.get(type) ?? value) !== value,
  )
  return [
    ...unknown.map((name) => `stores objects as ${name}, which is not one of its versions`),
    ...conditions.map(({ type, status: value, message }) => `has the condition ${type}=${value}: ${message}`),
  ]
}

/**
 * Sends the CRD to the API server as a dry-run update. Returns the reason if the CRD is refused as invalid.
 * Other errors are dropped, because they say nothing about the CRD, for example a webhook that cannot be
 * called.
 */
async function tryUpdate(
  client: KubeClient,
  object: StoredObject,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const request = client.request({
    method: 'PUT',
    path: `${path}/${object.metadata.name}`,
    query: { dryRun: 'All' },
    body: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...object },
    once: true,
    signal,
  })
  return request.then(
    () => [],
    (error: unknown) => {
      signal.throwIfAborted()
      return isKubeError(error, 'KUBE_INVALID') ? [`is refused: ${error.apiMessage}`] : []
    },
  )
}
