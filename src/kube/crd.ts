import type { z } from 'zod'
import type { Manifest } from './object.ts'
import { toStructuralSchema } from './structural-schema.ts'

export interface CrdOptions {
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
export function buildCrd({ kind, plural, singular, fields, status, columns }: CrdOptions): Manifest {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, toStructuralSchema(schema)]),
  )
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${crdGroup}` },
    spec: {
      group: crdGroup,
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
