import { z } from 'zod'
import { parseCron } from '../kit/cron.ts'
import { secretReference } from './scalars.ts'

const s3 = z
  .strictObject({
    endpoint: z
      .url({ protocol: /^https?$/ })
      .refine((text) => isOrigin(text), 'must be an address without a user, a password, a path, ? and #')
      .meta({ description: 'https://s3.eu-central-1.amazonaws.com, or where your own server is.' }),
    region: z.string().min(1).default('us-east-1'),
    bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'is not the name of a bucket'),
    prefix: z
      .string()
      .regex(/^[\w.-]+(\/[\w.-]+)*$/, 'must be names with / between them, such as clusters/shop')
      .optional()
      .meta({
        description: 'What stands before the names of snapshots in the bucket, such as clusters/shop.',
      }),
    accessKey: secretReference,
    secretKey: secretReference,
  })
  .meta({ id: 'S3', description: 'A bucket of a server that speaks as Amazon S3 does.' })

const backup = z
  .strictObject({
    directory: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'A directory, as from beside cluster.yml; where no place is named: snapshots.' }),
    s3: s3.optional(),
    keep: z.int().min(1).optional().meta({ description: 'How many snapshots prune leaves in each place.' }),
  })
  .meta({ id: 'Backup', description: 'Where snapshots of the cluster are kept.' })

const count = z.int().min(0).max(10_000)

const snapshots = z
  .strictObject({
    schedule: z.string().refine(isCron, 'must be five fields as cron reads them, such as 0 */6 * * *').meta({
      description:
        'When: minute, hour, day of month, month, day of week, in UTC. `0 */6 * * *` is every six hours.',
    }),
    keep: z
      .strictObject({ hourly: count.default(4), daily: count.default(7), weekly: count.default(4) })
      .prefault({})
      .meta({
        description: 'Of each of the last so many hours, days and weeks that have one, the newest stays.',
      }),
  })
  .meta({
    id: 'Snapshots',
    description: 'Snapshots that members of etcd take by themselves, while no operator is near.',
  })

export const etcdSchema = z
  .strictObject({ backup: backup.prefault({}), snapshots: snapshots.optional() })
  .meta({ id: 'Etcd', description: 'What becomes of the cluster’s memory. Its flags are in components.' })

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
