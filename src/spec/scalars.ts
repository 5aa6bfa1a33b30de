import { z } from 'zod'
import { apiServerTlsName } from '../contract/api-server-name.ts'

/** A DNS label, for example the name of a host in cluster.yml. */
export const dnsLabel = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be a DNS label: lower-case letters, digits and dashes')

export const nodeName = z
  .string()
  .max(253)
  .regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    'must be a DNS name: lower-case letters, digits, dashes and dots',
  )
  .refine((name) => name !== apiServerTlsName, 'is the name of the API server')

export const address = z
  .union([z.ipv4(), z.ipv6(), z.hostname()], 'must be an IP address or a host name')
  .meta({ id: 'Address', description: 'An IP address or a host name.' })

export const ipAddress = z
  .union([z.ipv4(), z.ipv6()], 'must be an IP address')
  .meta({ id: 'IpAddress', description: 'An IPv4 or IPv6 address.' })

export const cidr = z
  .union([z.cidrv4(), z.cidrv6()], 'must be a network such as 10.244.0.0/16')
  .meta({ id: 'Cidr', description: 'A network: address and prefix length.' })

export const port = z
  .int('must be a port number')
  .min(1, 'must be at least 1')
  .max(65_535, 'must be at most 65535')

export const kubernetesVersion = z
  .string('must be a version such as "1.37.1"; quote it, or YAML reads a number')
  .regex(/^v?1\.\d+\.\d+$/, 'must be a full version such as 1.37.1')
  .transform((text) => text.replace(/^v/, ''))

const qualifiedName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

export const labelKey = z.string().regex(qualifiedName, 'is not a label key: [prefix/]name')

export const labelValue = z
  .string('must be a string; quote true, false and numbers')
  .regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/, 'is not a label value')

export const labels = z.record(labelKey, labelValue).meta({ description: 'Labels of the node.' })

/** Labels of a cluster in its fleet. Selectors use `name` for the name of the cluster. */
export const clusterLabels = z
  .record(labelKey, labelValue)
  .refine((all) => Object.values(all).length <= 100, 'has more than 100 labels')

export const taint = z
  .strictObject({
    key: labelKey,
    value: labelValue.default(''),
    effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  })
  .meta({ id: 'Taint', description: 'Pods that do not tolerate the taint are not scheduled on the node.' })

export const absolutePath = z.string().regex(/^(\/|[A-Za-z]:[\\/])/, 'must be an absolute path')

/** Absolute path without `.` and `..` segments, so that two paths can be compared. */
export const linuxPath = z
  .string()
  .regex(/^(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$/, 'must be an absolute path such as /srv/volumes')

/**
 * Absolute Windows path without spaces. Programs in this directory appear in command lines, where a space
 * would end the path.
 */
export const windowsDirectory = z
  .string()
  .regex(
    /^[A-Za-z]:(\\[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)+$/,
    'must be an absolute Windows path without spaces, such as C:\\hyperkube',
  )

export const quantity = z
  .string('must be a quantity such as 500m or 1Gi; quote plain numbers')
  .regex(/^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/, 'must be a quantity such as 500m or 1Gi')

/** Value of a flag. Booleans and numbers are converted to text. */
const argument = z.union([z.string(), z.number(), z.boolean()]).transform(String)

export const extraArgs = z
  .record(z.string().regex(/^[a-z][a-z0-9-]*$/, 'must be a flag name without dashes'), argument)
  .meta({ id: 'ExtraArgs', description: 'Flags added to a component, without the leading dashes.' })

export const secretReference = z.strictObject({ secret: dnsLabel }).meta({
  id: 'SecretReference',
  description: 'Name of a secret in cluster.identity, never its value.',
})

export const fileMode = z.string().regex(/^0[0-7]{3}$/, 'must be a file mode in quotes, such as "0644"')

/** Builds the schema of an optional part of the cluster: its settings, or `none` to omit it. */
export function settingsOrNone<T extends z.ZodType>(settings: T) {
  return z.union([z.literal('none'), settings], 'must be none or a map of settings')
}

/**
 * Newest Kubernetes version that was tested in the lab. `oldestKubernetes` is the oldest minor that hyperkube
 * accepts.
 */
export const newestKubernetes = '1.37.1'
export const oldestKubernetes = '1.32'
