import { z } from 'zod'
import { clusterSchema } from './cluster.ts'
import type { Path } from './document.ts'

/** Builds the JSON Schema with which editors complete and check cluster.yml. */
export function clusterJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(clusterSchema, { io: 'input', target: 'draft-2020-12' })
}

type Schema = z.core.JSONSchema._JSONSchema

/** Lists the keys that the schema of cluster.yml allows in the map at a path. */
export function knownKeys(root: z.core.JSONSchema.BaseSchema, path: Path): string[] {
  const resolve = (schema: Schema | undefined): z.core.JSONSchema.BaseSchema[] => {
    if (schema === undefined || typeof schema === 'boolean') return []
    if (schema.$ref !== undefined) return resolve(root.$defs?.[schema.$ref.replace('#/$defs/', '')])
    return [schema, ...(schema.anyOf ?? []).flatMap(resolve)]
  }
  const step = (schemas: readonly z.core.JSONSchema.BaseSchema[], part: string | number) =>
    schemas.flatMap((schema) =>
      typeof part === 'number'
        ? [schema.items].flat().flatMap((item) => resolve(item))
        : resolve(schema.properties?.[part] ?? schema.additionalProperties),
    )
  const found = path.reduce(step, resolve(root))
  return found.flatMap((schema) => Object.keys(schema.properties ?? {}))
}
