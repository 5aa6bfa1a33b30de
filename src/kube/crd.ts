import type { z } from 'zod'
import type { Manifest } from './object.ts'
import { structural } from './structural-schema.ts'

export interface DefinitionOptions {
  readonly kind: string
  readonly plural: string
  readonly singular: string
  /** What objects have besides their metadata, by name. */
  readonly fields: Readonly<Record<string, z.ZodType>>
  /** Whether the status is written apart from the rest. */
  readonly status: boolean
  /** What `kubectl get` shows. */
  readonly columns: readonly Column[]
}

export interface Column {
  readonly name: string
  readonly type: 'string' | 'date' | 'integer'
  readonly jsonPath: string
}

export const ownGroup = 'hyperkube.dev'
export const ownVersion = 'v1'

/** The definition of a kind of ours, of which the whole cluster has objects. */
export function definitionOf({
  kind,
  plural,
  singular,
  fields,
  status,
  columns,
}: DefinitionOptions): Manifest {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, structural(schema)]),
  )
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${ownGroup}` },
    spec: {
      group: ownGroup,
      scope: 'Cluster',
      names: { kind, plural, singular, listKind: `${kind}List` },
      versions: [
        {
          name: ownVersion,
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
