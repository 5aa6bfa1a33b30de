import { z } from 'zod'
import type { Format } from '../contract/versioned.ts'
import { kubeRouterFlagTable } from './flags/kube-router.ts'
import { expandFlags, findFlags, type KnownFlags } from './known-flags.ts'
import { type KubernetesMinor, kubernetesMinorSchema, shippedMinors } from './minor.ts'
import {
  type FlagTable,
  flagTableSchema,
  type ProgramFlags,
  programFlagsSchema,
  type ProgramName,
  type RemovedFlag,
  removedFlagSchema,
} from './program-flags.ts'
import { compareVersions, toMinor } from './version.ts'

const documentSchema = z
  .strictObject({
    apiVersion: z.literal('hyperkube.dev/v1'),
    kind: z.literal('Catalog'),
    /**
     * Number that grows with every published catalog. Use a date with a counter, such as 2026111701, so that
     * the serials of all signers sort by time.
     */
    serial: z.int().min(1),
    issued: z.iso.date(),
    /** Newest first. */
    minors: z.array(kubernetesMinorSchema).min(1),
    flags: z.strictObject({
      kubernetes: flagTableSchema,
      etcd: flagTableSchema,
      flannel: flagTableSchema,
      /** Catalogs of older releases do not have this table. */
      kubeRouter: flagTableSchema.default({ base: kubeRouterFlagTable.base, changes: [] }),
      /** Flags that programs accept on Windows in addition to those on Linux. */
      windows: programFlagsSchema,
      removed: z.array(removedFlagSchema),
    }),
  })
  .superRefine((document, context) => {
    for (const message of findInconsistencies(document)) context.addIssue({ code: 'custom', message })
  })

/** A complete catalog: all minors that a cluster may use, and the flags of their programs. */
export interface CatalogDocument {
  readonly apiVersion: 'hyperkube.dev/v1'
  readonly kind: 'Catalog'
  readonly serial: number
  readonly issued: string
  readonly minors: readonly KubernetesMinor[]
  readonly flags: {
    readonly kubernetes: FlagTable
    readonly etcd: FlagTable
    readonly flannel: FlagTable
    readonly kubeRouter: FlagTable
    readonly windows: ProgramFlags
    readonly removed: readonly RemovedFlag[]
  }
}

export const catalogFormat: Format<CatalogDocument> = {
  kind: 'Catalog',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: documentSchema },
  older: [],
}

/** Formats a catalog. The same content always gives the same bytes. */
export function formatCatalogDocument(document: CatalogDocument): string {
  return `${JSON.stringify(documentSchema.parse(document), undefined, 2)}\n`
}

export function expandKnownFlags({ flags }: Pick<CatalogDocument, 'flags'>): KnownFlags {
  const { kubernetes, etcd, flannel, kubeRouter, windows, removed } = flags
  return { byMinor: [kubernetes, etcd, flannel, kubeRouter].flatMap(expandFlags), windows, removed }
}

/**
 * Finds minors that occur twice, lack an image that hyperkube uses, or lack flags. Without flags, an unknown
 * flag in cluster.yml would be found only when a program refuses to start.
 */
function findInconsistencies({ minors, flags }: Pick<CatalogDocument, 'minors' | 'flags'>): string[] {
  const known = expandKnownFlags({ flags })
  const imageNames = Object.keys(shippedMinors[0]?.images ?? {})
  // A table begins with its oldest minor. Minors before it have no flags and are not reported.
  const lacksFlags = (table: FlagTable, program: ProgramName, version: string): boolean =>
    compareVersions(toMinor(version), table.base.minor) >= 0 &&
    findFlags(known, program, version) === undefined
  return minors.flatMap(
    ({ minor, defaultPatch, components: { etcd, flannel, kubeRouter }, images }, index) => [
      ...(minors.findIndex((one) => one.minor === minor) < index ? [`${minor} occurs twice`] : []),
      ...imageNames
        .filter((name) => !Object.hasOwn(images, name))
        .map((name) => `${minor} has no image ${name}`),
      ...(lacksFlags(flags.kubernetes, 'kubelet', defaultPatch)
        ? [`the flags of Kubernetes ${minor} are missing`]
        : []),
      ...(lacksFlags(flags.etcd, 'etcd', etcd) ? [`the flags of etcd ${etcd} are missing`] : []),
      ...(lacksFlags(flags.flannel, 'flanneld', flannel)
        ? [`the flags of flannel ${flannel} are missing`]
        : []),
      ...(lacksFlags(flags.kubeRouter, 'kube-router', kubeRouter)
        ? [`the flags of kube-router ${kubeRouter} are missing`]
        : []),
    ],
  )
}
