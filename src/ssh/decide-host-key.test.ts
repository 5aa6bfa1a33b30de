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
  ['cluster.yml goes before a pin', { hostKey: mine, pins: { cp1: [other] } }, 'required'],
  ['cluster.yml goes before known_hosts', { hostKey: mine, ...known(other) }, 'required'],
  ['a pin', { pins: pinned }, 'pinned'],
  ['a pin goes before known_hosts', { pins: pinned, ...known(other) }, 'pinned'],
  ['known_hosts', known(other, mine), 'known-hosts'],
  ['the operator has forgotten the previous key', { forgotten: true }, 'forgotten'],
  ['the same, and known_hosts has the previous key', { forgotten: true, ...known(other) }, 'forgotten'],
  ['known_hosts has only a key that no client supports', known(buildTestKey('x', 'ssh-dss')), 'unknown'],
  ['a CA alone says nothing about a plain key', { known: { ...noKnownHostKeys, cas: [mine] } }, 'unknown'],
])('accepted or asked: %s', (_name, evidence, decision) => {
  expect(decideHostKey(mine, collect(evidence))).toBe(decision)
})

const changed = 'SSH_HOST_KEY_CHANGED'
test.each<[string, Parameters<typeof collect>[0], string, string]>([
  ['cluster.yml requires another', { hostKey: fingerprint(other) }, changed, 'cluster.yml requires SHA256:'],
  ['the same, though pinned', { hostKey: other, pins: pinned }, changed, 'set it as ssh.hostKey of cp1'],
  ['the same, though forgotten', { hostKey: other, forgotten: true }, changed, 'cluster.yml requires ssh-ed'],
  ['another is pinned', { pins: { cp1: [other] } }, changed, '--forget-host-key cp1'],
  ['the same, though in known_hosts', { pins: { cp1: [other] }, ...known(mine) }, changed, 'has changed'],
  ['known_hosts has another', known(other), changed, 'known_hosts has ssh-ed25519 SHA256:'],
  [
    'known_hosts has one of another type',
    known(buildTestKey('x', 'ecdsa-sha2-nistp256')),
    changed,
    '--forget-host-key cp1',
  ],
  [
    'it is revoked, though everything else knows it',
    { hostKey: mine, pins: pinned, forgotten: true, known: { keys: [mine], cas: [], revoked: [mine] } },
    'SSH_HOST_KEY_REVOKED',
    'known_hosts revokes',
  ],
])('refused: %s', (_name, evidence, code, text) => {
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

describe('before the key is offered', () => {
  test('pins that are revoked or not the required key are not accepted without a decision', () => {
    const pins = { cp1: [mine, other] }
    const revoked = { known: { ...noKnownHostKeys, revoked: [other] } }
    expect(listAcceptedPins(collect({ pins }))).toEqual([mine, other])
    expect(listAcceptedPins(collect({ pins, ...revoked }))).toEqual([mine])
    expect(listAcceptedPins(collect({ pins, hostKey: fingerprint(mine) }))).toEqual([mine])
    expect(listAcceptedPins(collect({ pins: {} }))).toEqual([])
  })

  test('the type of the key that will be accepted is requested first', () => {
    expect(listLikelyKeys(collect({ pins: pinned, ...known(other) }))).toEqual([mine])
    expect(listLikelyKeys(collect({ pins: pinned, hostKey: other }))).toEqual([other])
    expect(listLikelyKeys(collect({ hostKey: fingerprint(other), ...known(mine, other) }))).toEqual([other])
    expect(listLikelyKeys(collect(known(other)))).toEqual([other])
    expect(listLikelyKeys(collect({ forgotten: true, ...known(other) }))).toEqual([])
  })
})
