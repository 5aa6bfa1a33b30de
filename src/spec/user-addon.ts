import { z } from 'zod'
import { parseDuration } from '../kit/duration.ts'
import { dnsLabel } from './scalars.ts'

const remoteFile = z
  .strictObject({
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
    sha256: z
      .string('must be 64 hexadecimal digits in quotes')
      .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits: curl -sL URL | sha256sum')
      .meta({ description: '`curl -sL URL | sha256sum` says it.' }),
  })
  .meta({
    id: 'RemoteFile',
    description: 'Manifests at an address. The digest makes sure that they stay what you have read.',
  })

const timeout = z
  .string('must be a length of time such as 5m')
  .refine((text) => parseDuration(text) !== undefined, 'must be a length of time such as 90s, 5m or 1h30m')
  .transform((text) => parseDuration(text) ?? 0)

export const userAddonSchema = z
  .strictObject({
    name: dnsLabel.meta({
      description: 'What hyperkube calls it. Keep it: with another name it is another addon.',
    }),
    enabled: z
      .boolean()
      .default(true)
      .meta({ description: 'false takes it out of the cluster, and leaves it in this file.' }),
    files: z.array(z.string().min(1)).default([]).meta({
      description: 'Files and directories beside cluster.yml; of a directory all *.yml, *.yaml, *.json.',
    }),
    urls: z.array(remoteFile).default([]),
    inline: z
      .union(
        [z.string(), z.array(z.record(z.string(), z.json()))],
        'must be a list of manifests, or YAML as text',
      )
      .optional()
      .meta({ description: 'Manifests written here: a list of them, or YAML as text.' }),
    wait: z
      .boolean()
      .default(true)
      .meta({ description: 'For all of it to be ready, before what comes next.' }),
    timeout: timeout.prefault('5m').meta({ description: 'How long to wait.' }),
    force: z.boolean().default(false).meta({ description: 'Take over fields that others have set.' }),
  })
  .refine(
    ({ files, urls, inline }) => files.length + urls.length > 0 || inline !== undefined,
    'needs files, urls or inline',
  )
  .meta({
    id: 'OwnAddon',
    description:
      'Something of yours that is kept in the cluster. Manifests without a namespace go to `default`.',
  })
export type UserAddon = z.infer<typeof userAddonSchema>
