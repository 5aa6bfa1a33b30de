import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

/** A structural schema, which CustomResourceDefinitions require. */
export interface StructuralSchema {
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
 * and patterns that Go cannot read are dropped. Readers must still validate objects with zod.
 */
export function toStructuralSchema(schema: z.ZodType): StructuralSchema {
  return convertSchema(json.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })))
}

function convertSchema(schema: Readonly<Record<string, unknown>>): StructuralSchema {
  const variants = jsonList.optional().parse(schema['anyOf'] ?? schema['oneOf'])
  if (variants !== undefined) return mergeVariants(variants.map(convertSchema))
  const { const: only, properties, items, required, pattern } = schema
  const isAny = schema['type'] === undefined && only === undefined
  return {
    ...Object.fromEntries(
      copiedKeywords.flatMap((word) => (schema[word] === undefined ? [] : [[word, schema[word]]])),
    ),
    ...(only === undefined ? {} : { type: typeof only, enum: [only] }),
    ...(schema['type'] === 'integer' ? { format: 'int64' } : {}),
    ...(schema['format'] === 'date-time' ? { format: 'date-time' } : {}),
    ...(typeof pattern === 'string' && schema['format'] === undefined && !/\(\?/.test(pattern)
      ? { pattern }
      : {}),
    ...(properties === undefined ? {} : { properties: convertProperties(json.parse(properties)) }),
    ...(items === undefined ? {} : { items: convertSchema(json.parse(items)) }),
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
 * Makes a list of conditions a map by `type`, because several writers each own the entries of their types.
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
