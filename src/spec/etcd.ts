import { z } from 'zod'
import { parseCron } from '../kit/cron.ts'
import { secretReference } from './scalars.ts'

const s3 = z
  .strictObject({
    endpoint: z
      .url({ protocol: /^https?$/ })
      .refine((text) => isOrigin(text), 'must be a URL without user, password, path, ? and #')
      .meta({ description: 'URL of the S3 server, such as https://s3.eu-central-1.amazonaws.com.' }),
    region: z.string().min(1).default('us-east-1'),
    bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'is not a valid bucket name'),
    prefix: z
      .string()
      .regex(/^[\w.-]+(\/[\w.-]+)*$/, 'must be names separated by /, such as clusters/shop')
      .optional()
      .meta({
        description: 'Prefix of snapshot names in the bucket, such as clusters/shop.',
      }),
    accessKey: secretReference,
    secretKey: secretReference,
  })
  .meta({ id: 'S3', description: 'A bucket of an S3-compatible server.' })

const backup = z
  .strictObject({
    directory: z.string().min(1).optional().meta({
      description: 'Directory for snapshots, relative to cluster.yml. Default without `s3`: snapshots.',
    }),
    s3: s3.optional(),
    keep: z.int().min(1).optional().meta({
      description: 'Number of snapshots that `hyperkube etcd snapshot prune` keeps in each location.',
    }),
  })
  .meta({ id: 'Backup', description: 'Where snapshots of the cluster are stored.' })

const count = z.int().min(0).max(10_000)

const snapshots = z
  .strictObject({
    schedule: z
      .string()
      .refine(isCron, 'must be a cron schedule with five fields, such as 0 */6 * * *')
      .meta({
        description:
          'Cron schedule in UTC: minute, hour, day of month, month, day of week. `0 */6 * * *` is every six hours.',
      }),
    keep: z
      .strictObject({ hourly: count.default(4), daily: count.default(7), weekly: count.default(4) })
      .prefault({})
      .meta({
        description:
          'How many hourly, daily and weekly snapshots to keep. The newest snapshot of each period is kept.',
      }),
  })
  .meta({
    id: 'Snapshots',
    description: 'Scheduled snapshots that etcd members take without an operator.',
  })

export const etcdSchema = z
  .strictObject({ backup: backup.prefault({}), snapshots: snapshots.optional() })
  .meta({ id: 'Etcd', description: 'Backup of etcd data. Flags of etcd are in `components`.' })

function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && text.replace(/\/$/, '') === url.origin
}

function isCron(text: string): boolean {
  try {
    parseCron(text)
    return true
  } catch {
    return false
  }
}
