import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Kind } from '../../kube/object.ts'
import { buildMemberRbac } from './member-access.ts'
import { approvalKind, clusterSetKind, fleetCrds, managedClusterKind, rolloutKind } from './resources.ts'

const kinds: readonly Kind[] = [managedClusterKind, clusterSetKind, rolloutKind, approvalKind]
const path = join(import.meta.dirname, '../../fleet/testdata/fleet-objects.v1.json')
const objects = z.array(z.looseObject({ kind: z.string() })).parse(JSON.parse(readFileSync(path, 'utf8')))

const node = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
})
const definition = z.object({
  spec: z.object({
    names: z.object({ kind: z.string() }),
    versions: z.tuple([z.object({ schema: z.object({ openAPIV3Schema: node }) })]),
  }),
})

/** Lists the fields of a value that the API server would prune because the schema does not contain them. */
function listPruned(value: unknown, by: unknown, at = ''): string[] {
  const { properties = {}, additionalProperties, items } = node.parse(by)
  if (Array.isArray(value)) return value.flatMap((one, index) => listPruned(one, items, `${at}[${index}]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = properties[name] ?? additionalProperties
    return field === undefined ? [`${at}.${name}`] : listPruned(inner, field, `${at}.${name}`)
  })
}

test.each(objects)('a $kind with all fields is read completely, and the API server prunes none', (object) => {
  const kind = kinds.find((one) => one.kind === object.kind)
  expect(kind?.schema.parse(object)).toEqual(object)
  const crd = fleetCrds
    .map((one) => definition.parse(one))
    .find(({ spec }) => spec.names.kind === object.kind)
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...fields } = object
  expect(listPruned(fields, crd?.spec.versions[0].schema.openAPIV3Schema)).toEqual([])
})

test('the definitions do not change unnoticed', async () => {
  await expect(JSON.stringify(fleetCrds, undefined, 2)).toMatchFileSnapshot('crds.snap')
})

test('a managed cluster may only read its own object, write its status and renew its token', () => {
  const rules = buildMemberRbac('berlin').flatMap(({ kind, rules: some }) =>
    kind.endsWith('Role') ? [JSON.stringify(some)] : [],
  )
  expect(rules).toEqual([
    '[{"apiGroups":["fleet.hyperkube.dev"],"resourceNames":["berlin"],"resources":["clusters"],"verbs":["get","list","watch"]},{"apiGroups":["fleet.hyperkube.dev"],"resourceNames":["berlin"],"resources":["clusters/status"],"verbs":["patch"]}]',
    '[{"apiGroups":[""],"resources":["serviceaccounts/token"],"resourceNames":["berlin"],"verbs":["create"]}]',
  ])
})
