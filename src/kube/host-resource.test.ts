import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { buildClusterStatusCrd, clusterStatusKind } from './cluster-status.ts'
import { toStructuralSchema } from './crd.ts'
import { buildHostCrd, hostKind } from './host-resource.ts'
import type { Manifest } from './object.ts'

function golden(file: string): Record<string, unknown> {
  const path = join(import.meta.dirname, '../contract/testdata', file)
  return z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(path, 'utf8')))
}

/** A Host with a value in every field. */
const full = golden('host.v1.json')
const fullStatus = golden('cluster-status.v1.json')

const node = z.looseObject({
  type: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
})
const definition = z.object({
  spec: z.object({ versions: z.tuple([z.object({ schema: z.object({ openAPIV3Schema: node }) })]) }),
})
function schemaOf(manifest: Manifest): unknown {
  const [version] = definition.parse(manifest).spec.versions
  return version.schema.openAPIV3Schema
}
const schema = schemaOf(buildHostCrd())

/** Lists the fields of a value that the API server would prune because the schema does not contain them. */
function pruned(value: unknown, by: unknown, path = ''): string[] {
  const { properties, items, ...rest } = node.parse(by)
  if (rest['x-kubernetes-preserve-unknown-fields'] === true) return []
  if (Array.isArray(value)) return value.flatMap((one, index) => pruned(one, items, `${path}[${index}]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    properties?.[name] === undefined
      ? [`${path}.${name}`]
      : pruned(inner, properties[name], `${path}.${name}`),
  )
}

/** Lists the parts of a schema that the API server would reject. */
function wrong(by: unknown, path = ''): string[] {
  const { type, properties, items, ...rest } = node.parse(by)
  const unknown = [
    '$schema',
    '$ref',
    'const',
    'oneOf',
    'anyOf',
    'allOf',
    'additionalProperties',
    'exclusiveMinimum',
  ]
  return [
    ...unknown.filter((word) => Object.hasOwn(rest, word)).map((word) => `${path}: ${word}`),
    ...(type === undefined && rest['x-kubernetes-preserve-unknown-fields'] !== true
      ? [`${path}: no type`]
      : []),
    ...(type === 'array' && items === undefined ? [`${path}: no items`] : []),
    ...(items === undefined ? [] : wrong(items, `${path}[]`)),
    ...Object.entries(properties ?? {}).flatMap(([name, inner]) => wrong(inner, `${path}.${name}`)),
  ]
}

test('the schemas parse all fields of Host and ClusterStatus, and the API server prunes none', () => {
  expect(hostKind.schema.parse(full)).toEqual(full)
  expect(pruned({ spec: full['spec'], status: full['status'] }, schema)).toEqual([])
  expect(pruned({ spec: { strange: 1 } }, schema)).toEqual(['.spec.strange'])
  expect(clusterStatusKind.schema.parse(fullStatus)).toEqual(fullStatus)
  expect(pruned({ status: fullStatus['status'] }, schemaOf(buildClusterStatusCrd()))).toEqual([])
})

test.each([buildHostCrd(), buildClusterStatusCrd()])('the schema of $metadata.name is structural', (one) => {
  expect(wrong(schemaOf(one))).toEqual([])
  expect(JSON.stringify(one), 'Go does not support such patterns').not.toMatch(/\(\?[=!<]/)
})

test('the check finds schemas that are not structural', () => {
  expect(wrong({ type: 'array' })).toEqual([': no items'])
  expect(wrong({ type: 'object', oneOf: [] })).toEqual([': oneOf'])
})

test('unknown status fields of a newer agent are ignored, and missing fields have defaults', () => {
  const newer = { ...full, status: { agent: '9.0.0', mood: 'good' } }
  expect(hostKind.schema.parse(newer).status).toEqual({ agent: '9.0.0' })
  expect(hostKind.schema.parse({ apiVersion: 'a', kind: 'b', metadata: { name: 'c' } })).toMatchObject({
    spec: {},
    status: {},
  })
})

test('a discriminated union becomes one schema that requires only the common fields', () => {
  const either = z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('a'), count: z.int().min(1) }),
    z.strictObject({ type: z.literal('b'), names: z.array(z.string()) }),
  ])
  expect(toStructuralSchema(either)).toEqual({
    type: 'object',
    required: ['type'],
    properties: {
      type: { type: 'string', enum: ['a', 'b'] },
      count: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, format: 'int64' },
      names: { type: 'array', items: { type: 'string' } },
    },
  })
})
