import type { AdoptionSource, Identity } from '../../identity/identity.ts'
import { type KeyName, keyNames } from '../../identity/replace-key.ts'
import { sharesEtcdCa } from '../../identity/trusted-keys.ts'
import { joinNames } from '../../kit/text.ts'
import type { Cluster } from '../../spec/cluster.ts'

/** What an attacker on the host could read. */
export interface Exposure {
  /** Groups of keys to rotate, one group after the other. */
  readonly rotations: readonly (readonly KeyName[])[]
  /** Secrets as NAMESPACE/NAME; undefined if the host could read all Secrets of the cluster. */
  readonly secrets: readonly string[] | undefined
  /** Tool whose encryption key the host had, and which hyperkube cannot rotate; undefined if there is none. */
  readonly keptEncryption: AdoptionSource | undefined
}

/**
 * Finds what an attacker on a host with these roles could read. A worker has certificates of the Kubernetes
 * CA. A control plane or etcd host has the keys of all CAs and the content of etcd. So has a worker whose
 * certificates etcd accepts, because it can change any object. The token signing key is rotated last, because its rotation may have to wait for tokens. The encryption key of another tool stays, because
 * `rotateKeys` refuses to rotate it.
 */
export async function readExposure(
  roles: readonly string[],
  identity: Pick<Identity, 'cas' | 'adoption'>,
  listSecrets: () => Promise<readonly string[]>,
): Promise<Exposure> {
  if (roles.every((role) => role === 'worker') && !sharesEtcdCa(identity))
    return { rotations: [['kubernetes']], secrets: await listSecrets(), keptEncryption: undefined }
  const { adoption } = identity
  const keptEncryption = adoption?.encryptionConfiguration === undefined ? undefined : adoption.from
  const tokenKey: KeyName = 'service-account'
  const others = keyNames.filter(
    (key) => key !== tokenKey && (key !== 'encryption' || keptEncryption === undefined),
  )
  return { rotations: [others, [tokenKey]], secrets: undefined, keptEncryption }
}

export function listRegistries({ spec }: Cluster): string[] {
  return spec.registries.flatMap(({ host, password }) => (password === undefined ? [] : [host]))
}

export function formatIntent(name: string, { rotations, keptEncryption }: Exposure): string {
  return [
    `${name} counts as hostile: hyperkube does not connect to ${name} and does not reset it\n`,
    `after the removal, hyperkube rotates these keys with three rollouts: ${joinNames(rotations.flat())}\n`,
    formatKeptEncryption(keptEncryption),
  ].join('')
}

function formatKeptEncryption(tool: Exposure['keptEncryption']): string {
  return tool === undefined
    ? ''
    : `the encryption key of ${tool} stays: API servers still encrypt with it, so protect the disks and snapshots of etcd\n`
}

/**
 * Formats the commands that finish an incomplete removal. The same command cannot be repeated, because
 * cluster.yml no longer contains the host.
 */
export function formatUnfinishedRotations(
  { rotations }: Exposure,
  restartPods: boolean,
  clusterFlags: readonly string[],
): string {
  const restart = restartPods ? ['--restart-pods'] : []
  const keys = new Set(rotations.flat())
  const commands = keys.has('etcd')
    ? [
        ['certs rotate-ca all', ...restart],
        ...(keys.has('encryption') ? [['certs rotate-key encryption']] : []),
        ['certs rotate-key service-account'],
      ]
    : [['certs rotate-ca kubernetes', ...restart]]
  const lines = [['up'], ...commands].map((words) => `  hyperkube ${[...words, ...clusterFlags].join(' ')}\n`)
  return `not all keys are rotated: the host may still have valid certificates. To finish, run in this order:\n${lines.join('')}`
}

export function formatResult(
  name: string,
  { rotations, secrets, keptEncryption }: Exposure,
  registries: readonly string[],
  identityFile: string,
): string {
  const secretText =
    secrets === undefined
      ? ['all Secrets of the cluster, and everything else in etcd']
      : [
          ...secrets.map((secret) => `Secret ${secret}`),
          'Secrets of pods that ran there earlier; the API does not know them',
        ]
  const lines = [
    ...secretText,
    ...registries.map((host) => `the password of registry ${host}`),
    'images, volumes and logs on its disks',
    'passwords that were typed on the host, or sent to it by ssh or sudo',
  ]
  return [
    `${name} is removed; rotated: ${joinNames(rotations.flat())}; certificates of ${name} are no longer valid\n`,
    'earlier kubeconfigs no longer work; create new ones: hyperkube kubeconfig\n',
    `an attacker on ${name} could read the following, and no rotation takes that back; replace each of them:\n`,
    ...lines.map((line) => `  ${line}\n`),
    formatKeptEncryption(keptEncryption),
    `keep ${name} off the network; before it is used again, reinstall it from trusted media\n`,
    `${identityFile} has changed: commit it\n`,
  ].join('')
}
