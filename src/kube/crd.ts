import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Manifest } from './object.ts'

export interface CrdOptions {
  /** API group. Default: `hyperkube.dev`. */
  readonly group?: string
  readonly kind: string
  readonly plural: string
  readonly singular: string
  /** Schemas of the top-level fields except metadata. The key is the field name. */
  readonly fields: Readonly<Record<string, z.ZodType>>
  /** True if the kind has a status subresource. */
  readonly status: boolean
  /** Columns of `kubectl get`. */
  readonly columns: readonly PrinterColumn[]
}

export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'date' | 'integer'
  readonly jsonPath: string
}

export const crdGroup = 'hyperkube.dev'

export const crdVersion = 'v1'

/** Builds the CustomResourceDefinition of a cluster-scoped hyperkube kind. */
export function buildCrd({
  group = crdGroup,
  kind,
  plural,
  singular,
  fields,
  status,
  columns,
}: CrdOptions): Manifest {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, toStructuralSchema(schema)]),
  )
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { kind, plural, singular, listKind: `${kind}List` },
      versions: [
        {
          name: crdVersion,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties } },
          ...(status ? { subresources: { status: {} } } : {}),
          additionalPrinterColumns: columns,
        },
      ],
    },
  }
}

/** OpenAPI schema in the structural form that CustomResourceDefinitions require. */
interface StructuralSchema {
  readonly type?: string
  readonly [keyword: string]: unknown
}

const json = z.record(z.string(), z.unknown())

const jsonList = z.array(json)

/** Keywords that mean the same in JSON Schema and in structural schemas. */
const copiedKeywords = [
  'type',
  'enum',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'maxItems',
  'minItems',
] as const

/**
 * Converts a zod schema to a structural schema. The result is looser: variants are merged into one object,
 * and patterns that Go does not support are dropped. Readers must still validate objects with zod.
 */
export function toStructuralSchema(schema: z.ZodType): StructuralSchema {
  return convertSchema(json.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })))
}

function convertSchema(schema: Readonly<Record<string, unknown>>): StructuralSchema {
  const variants = jsonList.optional().parse(schema['anyOf'] ?? schema['oneOf'])
  if (variants !== undefined) return mergeVariants(variants.map(convertSchema))
  const { const: only, properties, items, required, pattern, additionalProperties } = schema
  const values = json.safeParse(additionalProperties).data ?? {}
  const isAny = schema['type'] === undefined && only === undefined
  return {
    ...Object.fromEntries(
      copiedKeywords.flatMap((word) => (schema[word] === undefined ? [] : [[word, schema[word]]])),
    ),
    ...(only === undefined ? {} : { type: typeof only, enum: [only] }),
    ...(schema['type'] === 'integer' ? { format: 'int64' } : {}),
    ...(schema['format'] === 'date-time' ? { format: 'date-time' } : {}),
    ...(typeof pattern === 'string' && schema['format'] === undefined && !/\(\?|\\u/.test(pattern)
      ? { pattern }
      : {}),
    ...(properties === undefined ? {} : { properties: convertProperties(json.parse(properties)) }),
    ...(items === undefined ? {} : { items: convertSchema(json.parse(items)) }),
    ...(Object.keys(values).length === 0 ? {} : { additionalProperties: convertSchema(values) }),
    ...(required === undefined ? {} : { required }),
    ...buildListType(schema),
    ...(isAny ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
  }
}

function convertProperties(properties: Readonly<Record<string, unknown>>): Record<string, StructuralSchema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, convertSchema(json.parse(value))]),
  )
}

/**
 * Declares a list of conditions as a map with the key `type`, because several writers each own some condition
 * types. Returns an empty object for other lists.
 */
function buildListType({ items }: Readonly<Record<string, unknown>>): object {
  const fields = Object.keys(json.parse(json.optional().parse(items)?.['properties'] ?? {}))
  return fields.includes('lastTransitionTime')
    ? { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }
    : {}
}

/**
 * Merges variants: fields of any variant are allowed, and only fields that all variants require are required.
 */
function mergeVariants(variants: readonly StructuralSchema[]): StructuralSchema {
  const [first = {}] = variants
  if (variants.every((variant) => isDeepStrictEqual(variant, first))) return first
  const types = new Set(variants.map(({ type }) => type))
  if (types.size === 2 && types.has('integer') && types.has('string'))
    return { 'x-kubernetes-int-or-string': true }
  if (first.type !== 'object') {
    const values = variants.flatMap(({ enum: some }) => z.array(z.unknown()).optional().parse(some) ?? [])
    const type = first.type === undefined ? {} : { type: first.type }
    return values.length === 0 ? type : { ...type, enum: [...new Set(values)] }
  }
  const properties = variants.map((variant) => json.parse(variant['properties'] ?? {}))
  const names = [...new Set(properties.flatMap((fields) => Object.keys(fields)))]
  const required = variants.map((variant) => z.array(z.string()).parse(variant['required'] ?? []))
  return {
    type: 'object',
    properties: Object.fromEntries(
      names.map((name) => {
        const some = properties.flatMap((fields): StructuralSchema[] => {
          const field = json.optional().parse(fields[name])
          return field === undefined ? [] : [field]
        })
        return [name, mergeVariants(some)]
      }),
    ),
    required: (required[0] ?? []).filter((name) => required.every((some) => some.includes(name))),
  }
}
