import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

/** A schema as definitions of kinds have it: nothing but what the API calls structural. */
export interface Structural {
  readonly type?: string
  readonly [keyword: string]: unknown
}

const json = z.record(z.string(), z.unknown())
const several = z.array(json)

/** What the API server knows of JSON Schema, and means by it what others do. */
const kept = ['type', 'enum', 'minimum', 'maximum', 'minLength', 'maxLength', 'maxItems', 'minItems'] as const

/**
 * What zod expects, in the words of the API server. It is the looser of the two: of variants it has all fields together,
 * and patterns that Go does not read are left out. Whoever reads an object checks it as ever.
 */
export function structural(schema: z.ZodType): Structural {
  return converted(json.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })))
}

function converted(schema: Readonly<Record<string, unknown>>): Structural {
  const variants = several.optional().parse(schema['anyOf'] ?? schema['oneOf'])
  if (variants !== undefined) return joined(variants.map(converted))
  const { const: only, properties, items, required, pattern } = schema
  const isAny = schema['type'] === undefined && only === undefined
  return {
    ...Object.fromEntries(kept.flatMap((word) => (schema[word] === undefined ? [] : [[word, schema[word]]]))),
    ...(only === undefined ? {} : { type: typeof only, enum: [only] }),
    ...(schema['type'] === 'integer' ? { format: 'int64' } : {}),
    ...(schema['format'] === 'date-time' ? { format: 'date-time' } : {}),
    ...(typeof pattern === 'string' && schema['format'] === undefined && !/\(\?/.test(pattern)
      ? { pattern }
      : {}),
    ...(properties === undefined ? {} : { properties: each(json.parse(properties)) }),
    ...(items === undefined ? {} : { items: converted(json.parse(items)) }),
    ...(required === undefined ? {} : { required }),
    ...listKeys(schema),
    ...(isAny ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
  }
}

function each(properties: Readonly<Record<string, unknown>>): Record<string, Structural> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, converted(json.parse(value))]),
  )
}

/** Conditions are of several writers: each owns those of its type. */
function listKeys({ items }: Readonly<Record<string, unknown>>): object {
  const fields = Object.keys(json.parse(json.optional().parse(items)?.['properties'] ?? {}))
  return fields.includes('lastTransitionTime')
    ? { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }
    : {}
}

/** One for all variants: what one of them says must be allowed, what all of them ask for is asked for. */
function joined(variants: readonly Structural[]): Structural {
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
        const some = properties.flatMap((fields): Structural[] => {
          const field = json.optional().parse(fields[name])
          return field === undefined ? [] : [field]
        })
        return [name, joined(some)]
      }),
    ),
    required: (required[0] ?? []).filter((name) => required.every((some) => some.includes(name))),
  }
}
