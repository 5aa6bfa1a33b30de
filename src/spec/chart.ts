import { z } from 'zod'
import { dnsLabel, secretReference } from './scalars.ts'

/** A file at a URL with its digest. */
export const remoteFile = z
  .strictObject({
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
    sha256: z
      .string('must be 64 hexadecimal digits in quotes')
      .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits: curl -sL URL | sha256sum')
      .meta({ description: 'Output of `curl -sL URL | sha256sum`.' }),
  })
  .meta({
    id: 'RemoteFile',
    description: 'A file at a URL. The digest ensures that its content does not change.',
  })

const valuePath = z
  .string()
  .regex(/^[\w-]+(\.[\w-]+)*$/, 'must be keys of values joined by dots, such as database.password')

const secretValues = z
  .record(valuePath, secretReference)
  .refine(
    (values) => !Object.keys(values).some((path) => Object.keys(values).some((one) => isInside(one, path))),
    'must not set a value and a part of it',
  )

function isInside(path: string, parent: string): boolean {
  return path.startsWith(`${parent}.`)
}

export const chartSchema = z
  .strictObject({
    path: z.string().min(1).optional().meta({
      description: 'Chart directory or .tgz file, relative to cluster.yml. Either this or `archive`.',
    }),
    archive: remoteFile.optional().meta({ description: 'Chart as .tgz file at a URL, with its digest.' }),
    version: z.string().min(1).meta({ description: 'Version of the chart, as in its Chart.yaml.' }),
    namespace: dnsLabel.default('default').meta({
      description: 'Release namespace, for objects without a namespace. `up` creates it if it is missing.',
    }),
    release: dnsLabel
      .max(53, 'must have at most 53 characters')
      .optional()
      .meta({ description: 'Release name. Default: the name of the addon.' }),
    valuesFiles: z.array(z.string().min(1)).default([]).meta({
      description: 'Files with values, relative to cluster.yml. Later files override earlier ones.',
    }),
    values: z.record(z.string(), z.json()).default({}).meta({
      description: 'Values of the chart. They override those of the files.',
    }),
    secretValues: secretValues.default({}).meta({
      description: 'Values from cluster.identity, by their path, such as `database.password`.',
    }),
    hooks: z.enum(['refuse', 'ignore']).default('refuse').meta({
      description: 'hyperkube runs no hooks. `refuse` reports a chart with hooks, `ignore` omits the hooks.',
    }),
  })
  .refine(
    ({ path, archive }) => (path === undefined) !== (archive === undefined),
    'needs either path or archive',
  )
  .meta({ id: 'Chart', description: 'A Helm chart, rendered on the machine of the operator.' })

export type ChartSettings = z.infer<typeof chartSchema>
