import { describe, expect, test } from 'vitest'
import { fingerprint } from '../kit/ssh-public-key.ts'
import {
  decideHostKey,
  type HostKeyDecision,
  type HostKeyEvidence,
  listAcceptedPins,
  listLikelyKeys,
} from './decide-host-key.ts'
import { noKnownHostKeys } from './known-hosts.ts'
import { buildTestKey } from './testing/host-keys.ts'

const [mine, other] = [buildTestKey('mine'), buildTestKey('other')]
const pinned = { cp1: [mine] }

function collect({
  hostKey,
  ...more
}: Partial<HostKeyEvidence> & { readonly hostKey?: string }): HostKeyEvidence {
  const hop = { name: 'cp1', ...(hostKey === undefined ? {} : { hostKey }) }
  return { hop, pins: {}, forgotten: false, known: noKnownHostKeys, ...more }
}

const known = (...keys: readonly string[]): Pick<HostKeyEvidence, 'known'> => ({
  known: { ...noKnownHostKeys, keys },
})

test.each<[string, Parameters<typeof collect>[0], HostKeyDecision]>([
  ['no source knows the host', {}, 'unknown'],
  ['another host is pinned with this key', { pins: { w1: [mine] } }, 'unknown'],
  ['the fingerprint in cluster.yml', { hostKey: fingerprint(mine) }, 'required'],
  ['the public key in cluster.yml', { hostKey: `${mine} root@cp1` }, 'required'],
  ['cluster.yml takes precedence over a pin', { hostKey: mine, pins: { cp1: [other] } }, 'required'],
  ['cluster.yml takes precedence over known_hosts', { hostKey: mine, ...known(other) }, 'required'],
  ['a pin', { pins: pinned }, 'pinned'],
  ['a pin takes precedence over known_hosts', { pins: pinned, ...known(other) }, 'pinned'],
  ['known_hosts', known(other, mine), 'known-hosts'],
  ['the operator has forgotten the previous key', { forgotten: true }, 'forgotten'],
  [
    'the operator has forgotten the previous key, and known_hosts still has it',
    { forgotten: true, ...known(other) },
    'forgotten',
  ],
  ['known_hosts has only a key that no client supports', known(buildTestKey('x', 'ssh-dss')), 'unknown'],
  [
    'known_hosts has only a CA, and the key is plain',
    { known: { ...noKnownHostKeys, cas: [mine] } },
    'unknown',
  ],
])('a host key is accepted or needs confirmation: %s', (_name, evidence, decision) => {
  expect(decideHostKey(mine, collect(evidence))).toBe(decision)
})

const changed = 'SSH_HOST_KEY_CHANGED'
test.each<[string, Parameters<typeof collect>[0], string, string]>([
  [
    'cluster.yml requires another key',
    { hostKey: fingerprint(other) },
    changed,
    'cluster.yml requires SHA256:',
  ],
  [
    'cluster.yml requires another key, although this key is pinned',
    { hostKey: other, pins: pinned },
    changed,
    'set it as ssh.hostKey of cp1',
  ],
  [
    'cluster.yml requires another key, although the previous key is forgotten',
    { hostKey: other, forgotten: true },
    changed,
    'cluster.yml requires ssh-ed',
  ],
  ['another key is pinned', { pins: { cp1: [other] } }, changed, '--forget-host-key cp1'],
  [
    'another key is pinned, although known_hosts has this key',
    { pins: { cp1: [other] }, ...known(mine) },
    changed,
    'has changed',
  ],
  ['known_hosts has another key', known(other), changed, 'known_hosts has ssh-ed25519 SHA256:'],
  [
    'known_hosts has a key of another type',
    known(buildTestKey('x', 'ecdsa-sha2-nistp256')),
    changed,
    '--forget-host-key cp1',
  ],
  [
    'the key is revoked, although all other sources accept it',
    { hostKey: mine, pins: pinned, forgotten: true, known: { keys: [mine], cas: [], revoked: [mine] } },
    'SSH_HOST_KEY_REVOKED',
    'known_hosts revokes',
  ],
])('a host key is refused: %s', (_name, evidence, code, text) => {
  let error: unknown
  try {
    decideHostKey(mine, collect(evidence))
  } catch (thrown) {
    error = thrown
  }
  expect(error).toMatchObject({ code, host: 'cp1' })
  const { message, hint } = Object(error)
  expect(`${message}\n${hint}`).toContain(text)
})

describe('before the host offers its key', () => {
  test('a revoked pin and a pin that differs from cluster.yml are not accepted', () => {
    const pins = { cp1: [mine, other] }
    const revoked = { known: { ...noKnownHostKeys, revoked: [other] } }
    expect(listAcceptedPins(collect({ pins }))).toEqual([mine, other])
    expect(listAcceptedPins(collect({ pins, ...revoked }))).toEqual([mine])
    expect(listAcceptedPins(collect({ pins, hostKey: fingerprint(mine) }))).toEqual([mine])
    expect(listAcceptedPins(collect({ pins: {} }))).toEqual([])
  })

  test('the algorithm of the expected host key is requested first', () => {
    expect(listLikelyKeys(collect({ pins: pinned, ...known(other) }))).toEqual([mine])
    expect(listLikelyKeys(collect({ pins: pinned, hostKey: other }))).toEqual([other])
    expect(listLikelyKeys(collect({ hostKey: fingerprint(other), ...known(mine, other) }))).toEqual([other])
    expect(listLikelyKeys(collect(known(other)))).toEqual([other])
    expect(listLikelyKeys(collect({ forgotten: true, ...known(other) }))).toEqual([])
  })
})
