import { z } from 'zod'
import { parseDuration } from '../kit/time-format.ts'
import { clusterApiVersion, clusterSchema } from './cluster.ts'
import type { LocatedDocument } from './document.ts'
import { clusterLabels, dnsLabel } from './scalars.ts'

/**
 * Settings of a cluster that each cluster.yml must contain itself. Versions change cluster by cluster, in the
 * waves of `fleet upgrade`, and hosts belong to one cluster.
 */
export const ownSettings = ['kubernetes', 'heldUpgrade', 'workers', 'hosts'] as const

/**
 * Settings that clusters can inherit. A part of a section is allowed, because cluster.yml may contain the rest
 * of it.
 */
const inheritableSettings = clusterSchema.shape.spec
  .omit({ kubernetes: true, heldUpgrade: true, workers: true, hosts: true })
  .partial()

const defaults = z
  .strictObject({
    select: clusterLabels.optional().meta({
      description: 'Labels of the clusters that inherit the values. Default: all clusters.',
    }),
    values: inheritableSettings.meta({
      description:
        'Settings as in `spec` of cluster.yml, without `kubernetes`, `workers`, `heldUpgrade` and `hosts`. Paths are relative to each cluster.yml.',
    }),
  })
  .meta({ id: 'FleetDefaults', description: 'Values that clusters inherit.' })

/** A number or a percentage of clusters. */
export const waveSize = z.union(
  [z.int().min(1), z.string().regex(/^([1-9]\d?|100)%$/)],
  'must be a number or a percentage of clusters, such as 1 or 10%',
)
export type WaveSize = z.infer<typeof waveSize>

/** Longest pause between two waves. */
const maxPauseMs = 24 * 3_600_000

const pause = z
  .string('must be a duration such as 10m')
  .refine((text) => {
    const milliseconds = text === '0s' ? 0 : parseDuration(text)
    return milliseconds !== undefined && milliseconds <= maxPauseMs
  }, 'must be a duration of at most 24h, such as 10m')
  .transform((text) => parseDuration(text) ?? 0)

export const rolloutSettings = z
  .strictObject({
    canary: clusterLabels.optional().meta({
      description: 'Labels of the clusters of the first wave. Default: the first clusters by name.',
    }),
    waves: z.array(waveSize).min(1).default([1, '10%', '50%', '100%']).meta({
      description:
        'Number or percentage of clusters that are changed when each wave ends. The last wave always contains all remaining clusters.',
    }),
    parallel: z
      .int()
      .min(1)
      .max(50)
      .default(5)
      .meta({ description: 'Maximum number of clusters that change at the same time.' }),
    maxFailed: z
      .int()
      .min(0)
      .default(0)
      .meta({ description: 'Number of failed or degraded clusters with which a rollout still continues.' }),
    pause: pause
      .prefault('0s')
      .meta({ description: 'Time between the health gate of a wave and the next wave.' }),
  })
  .meta({ id: 'FleetRollout', description: 'How changes roll out through the clusters of the fleet.' })
export type FleetRollout = z.infer<typeof rolloutSettings>

/** A relative path to a cluster.yml. `*` stands for any part of one name. */
const clusterPattern = z
  .string()
  .regex(
    /^(?![/\\])(?!.*(?:^|\/)\.\.(?:\/|$))[^\0\\]+\.ya?ml$/,
    'must be a relative path below fleet.yml, such as clusters/*/cluster.yml',
  )

export const fleetSchema = z
  .strictObject({
    apiVersion: z.literal(clusterApiVersion, `must be ${clusterApiVersion}`),
    kind: z.literal('Fleet', 'must be Fleet'),
    metadata: z.strictObject({ name: dnsLabel.meta({ description: 'The name of the fleet.' }) }),
    spec: z.strictObject({
      clusters: z.array(clusterPattern).min(1, 'needs at least one path').meta({
        description:
          'Files of the clusters, relative to fleet.yml. `*` stands for any part of one name: `clusters/*/cluster.yml`.',
      }),
      defaults: z.array(defaults).default([]).meta({
        description:
          'Values that clusters inherit. Later entries win over earlier ones, and cluster.yml wins over all.',
      }),
      rollout: rolloutSettings.prefault({}),
    }),
  })
  .meta({ id: 'Fleet', title: 'hyperkube fleet.yml', description: 'A fleet of clusters.' })

/** A parsed fleet.yml with every default filled in. */
export type Fleet = z.infer<typeof fleetSchema>

/** A valid fleet.yml and the positions of its values. */
export interface ReadFleet {
  readonly fleet: Fleet
  readonly document: LocatedDocument
}

/** Builds the JSON Schema with which editors complete and check fleet.yml. */
export function fleetJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(fleetSchema, { io: 'input', target: 'draft-2020-12' })
}
