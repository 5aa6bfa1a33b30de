import { checkHostKey, listPinnedKeys, type PinnedHostKeys } from '../identity/host-key.ts'
import { matchesPublicKey } from '../kit/ssh-public-key.ts'
import type { Hop } from './hop.ts'
import {
  buildOtherKnownHostError,
  buildRequiredHostKeyError,
  buildRevokedHostKeyError,
} from './host-key-errors.ts'
import { isSupportedKey } from './host-key-format.ts'
import type { KnownHostKeys } from './known-hosts.ts'

/** All data that decides whether the key of one machine is accepted. */
export interface HostKeyEvidence {
  readonly hop: Pick<Hop, 'name' | 'hostKey' | 'knownHosts'>
  readonly pins: PinnedHostKeys
  /**
   * True if the operator dropped the pinned key of this machine with a flag, so that the next key is
   * accepted.
   */
  readonly forgotten: boolean
  readonly known: KnownHostKeys
}

/**
 * Why a key is accepted. `unknown` means that no source lists a key of the machine, so the operator must
 * decide.
 */
export type HostKeyDecision = 'required' | 'pinned' | 'forgotten' | 'known-hosts' | 'unknown'

/**
 * Decides whether a host key is accepted. Throws if the key is revoked or if a source expects another key.
 * The first source that knows the machine decides: cluster.yml, the pins, then known_hosts.
 */
export function decideHostKey(
  key: string,
  { hop, pins, forgotten, known }: HostKeyEvidence,
): HostKeyDecision {
  if (known.revoked.includes(key)) throw buildRevokedHostKeyError(hop, key)
  if (hop.hostKey !== undefined) {
    if (matchesPublicKey(hop.hostKey, key)) return 'required'
    throw buildRequiredHostKeyError(hop, key, hop.hostKey)
  }
  if (checkHostKey({ hostKeys: pins }, hop.name, key) === 'known') return 'pinned'
  if (forgotten) return 'forgotten'
  if (known.keys.includes(key)) return 'known-hosts'
  const expected = known.keys.filter(isSupportedKey)
  if (expected.length > 0) throw buildOtherKnownHostError(hop, key, expected)
  return 'unknown'
}

/** Lists the pinned keys of a machine that are still accepted. */
export function listAcceptedPins({
  hop,
  pins,
  known,
}: Omit<HostKeyEvidence, 'forgotten'>): readonly string[] {
  return listPinnedKeys(pins, hop.name).filter(
    (key) =>
      !known.revoked.includes(key) && (hop.hostKey === undefined || matchesPublicKey(hop.hostKey, key)),
  )
}

/**
 * Lists keys that the machine probably has, so that ssh requests keys of these types first. A machine with
 * several keys could otherwise present a key that no source knows.
 */
export function listLikelyKeys(evidence: HostKeyEvidence): readonly string[] {
  const { hop, forgotten, known } = evidence
  const pinned = listAcceptedPins(evidence)
  if (pinned.length > 0) return pinned
  if (hop.hostKey === undefined) return forgotten ? [] : known.keys
  return hop.hostKey.startsWith('SHA256:')
    ? known.keys.filter((key) => matchesPublicKey(hop.hostKey ?? '', key))
    : [hop.hostKey]
}
