import { HyperkubeError } from '../kit/errors.ts'
import { describePublicKey, listKeysCommand } from '../kit/ssh-public-key.ts'
import { joinNames } from '../kit/text.ts'
import type { Hop } from './hop.ts'

/** A machine whose key neither cluster.yml, the identity nor known_hosts contains. */
export interface UnknownHostKey {
  /** Name under which the key would be pinned. */
  readonly name: string
  readonly address: string
  readonly port: number
  readonly key: string
  /** True if known_hosts has a CA for the machine, which only the ssh program can check. */
  readonly hasCa: boolean
}

/** Builds the error for machines with unknown keys. `acceptCommand` is the command that accepts them. */
export function buildUnknownHostKeyError(
  unknown: readonly UnknownHostKey[],
  acceptCommand: string,
): HyperkubeError {
  const [first, ...others] = unknown
  const list = unknown.map(({ name, key }) => `${name} ${describePublicKey(key)}`).join(', ')
  const message =
    others.length === 0 && first !== undefined
      ? `the ssh host key of ${first.name} is unknown: ${describePublicKey(first.key)}`
      : `the ssh host keys of ${joinNames(unknown.map(({ name }) => name))} are unknown: ${list}`
  const withCa = unknown.filter(({ hasCa }) => hasCa).map(({ name }) => name)
  const caHint =
    withCa.length === 0
      ? ''
      : `; to accept the host certificate of ${joinNames(withCa)}, set ssh.client to system in cluster.yml`
  return new HyperkubeError('SSH_HOST_KEY_UNKNOWN', message, {
    ...(others.length === 0 && first !== undefined ? { host: first.name } : {}),
    hint: `compare on the console of each host: ${listKeysCommand}; only if the keys are listed there, run: ${acceptCommand}${caHint}`,
  })
}

export function buildRevokedHostKeyError({ name }: Pick<Hop, 'name'>, key: string): HyperkubeError {
  return new HyperkubeError(
    'SSH_HOST_KEY_REVOKED',
    `known_hosts revokes the ssh host key of ${name}: ${describePublicKey(key)}`,
    {
      host: name,
      hint: `give the host a new key on its console: rm /etc/ssh/ssh_host_*; ssh-keygen -A; systemctl restart ssh; then run the same command with --forget-host-key ${name}`,
    },
  )
}

/** Builds the error for a key that differs from `ssh.hostKey`. */
export function buildRequiredHostKeyError(
  { name }: Pick<Hop, 'name'>,
  key: string,
  required: string,
): HyperkubeError {
  const requiredText = required.startsWith('SHA256:') ? required : describePublicKey(required)
  return new HyperkubeError(
    'SSH_HOST_KEY_CHANGED',
    `the ssh host key of ${name} is ${describePublicKey(key)}, but cluster.yml requires ${requiredText}`,
    {
      host: name,
      hint: `compare on the console of the host: ${listKeysCommand}; only if the new key is listed there, set it as ssh.hostKey of ${name} in cluster.yml`,
    },
  )
}

/** Builds the error for a key that differs from those in known_hosts. */
export function buildOtherKnownHostError(
  { name, knownHosts }: Pick<Hop, 'name' | 'knownHosts'>,
  key: string,
  known: readonly string[],
): HyperkubeError {
  const knownText = known.map(describePublicKey).join(' or ')
  return new HyperkubeError(
    'SSH_HOST_KEY_CHANGED',
    `the ssh host key of ${name} is ${describePublicKey(key)}, but known_hosts has ${knownText} for ${knownHosts?.name ?? name}`,
    {
      host: name,
      hint: `compare on the console of the host: ${listKeysCommand}; only if the new key is listed there, run the same command with --forget-host-key ${name}`,
    },
  )
}
