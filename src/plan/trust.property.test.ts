import { X509Certificate } from 'node:crypto'
import { array, assert, asyncProperty, constantFrom } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { apiServerTlsName } from '../contract/api-server-name.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import { createIdentity, type Identity } from '../identity/identity.ts'
import { toPublicIdentity } from '../identity/public-identity.ts'
import { advanceReplacement, type KeyName, keyNames, findReplacementPhase } from '../identity/replace-key.ts'
import { secretFiles } from '../identity/secret-files.ts'
import { buildTestCluster, buildPlanInput } from './testing/fixtures.ts'
import { planCluster } from './plan.ts'

const now = new Date('2026-11-15T00:00:00Z')
const start = await createIdentity('shop', now)
const input = buildPlanInput(
  buildTestCluster(
    '{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }',
    '{ name: cp2, address: 10.0.0.2, roles: [control-plane] }',
    '{ name: db1, address: 10.0.0.3, roles: [etcd] }',
    '{ name: w1, address: 10.0.0.4, roles: [worker] }',
    '{ name: win1, address: 10.0.0.5, roles: [worker], os: windows }',
  ),
)

function planWith(identity: Identity): readonly NodePlan[] {
  const own = toPublicIdentity(identity, secretFiles(identity))
  return planCluster({ ...input, identity: own }).plans
}

test('only API server certificates have the DNS name that API clients verify', () => {
  const withName = planWith(start).flatMap(({ host, components }) =>
    components.flatMap(({ name, certificates }) =>
      certificates.flatMap(({ names }) => (names.dns.includes(apiServerTlsName) ? [`${host} ${name}`] : [])),
    ),
  )
  expect(withName).toEqual(['cp1 kube-apiserver', 'cp2 kube-apiserver'])
})

interface Verifier {
  readonly file: string
  readonly ca: string
  /** Fingerprints of the trusted CA certificates. The first one belongs to the signing key. */
  readonly trusted: readonly string[]
}

const onePem = /-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE-----/g

/** Lists the files with trusted CAs in the plans of all hosts. */
function listVerifiers(plans: readonly NodePlan[]): Verifier[] {
  return plans.flatMap(({ host, components }) =>
    components
      .flatMap(({ files }) => files)
      .flatMap(({ path, content }): Verifier[] => {
        const pems = content.kind === 'text' ? (content.text.match(onePem) ?? []) : []
        const certificates = pems.map((pem) => new X509Certificate(pem))
        const ca = certificates[0]?.subject.replace(/^CN=|-ca$/g, '')
        // The signing certificate only signs. No program verifies peers with this file, so it is left out.
        return ca === undefined || path.endsWith('signer.crt')
          ? []
          : [{ file: `${host}:${path}`, ca, trusted: certificates.map((one) => one.fingerprint256) }]
      }),
  )
}

/** Maps the name of each CA to the fingerprint of its signing certificate. */
function listSigners(identity: Identity): ReadonlyMap<string, string> {
  return new Map(
    Object.values(identity.cas).map(({ name, certificate }) => [
      name,
      new X509Certificate(certificate).fingerprint256,
    ]),
  )
}

/**
 * Checks that every trust file contains the CAs of both identities. During a rotation, hosts may have files
 * and certificates of either identity.
 */
function expectTrust(before: Identity, after: Identity): void {
  const verifiers = listVerifiers([...planWith(before), ...planWith(after)])
  expect(new Set(verifiers.map(({ ca }) => ca)).size).toBe(3)
  for (const signers of [listSigners(before), listSigners(after)]) {
    for (const { file, ca, trusted } of verifiers) expect(trusted, file).toContain(signers.get(ca))
  }
}

const configuration = z.object({
  resources: z.tuple([
    z.object({
      providers: z.tuple([
        z.object({
          secretbox: z.object({ keys: z.array(z.object({ name: z.string(), secret: z.string() })).min(1) }),
        }),
        z.object({ identity: z.object({}) }),
      ]),
    }),
  ]),
})

/** Lists the encryption keys as name and secret. The first key encrypts, and all keys decrypt. */
function encryption(identity: Identity): readonly string[] {
  const text = secretFiles(identity).get('encryption-configuration')?.revealText() ?? ''
  const { resources } = configuration.parse(parse(text))
  return resources[0].providers[0].secretbox.keys.map(({ name, secret }) => `${name} ${secret}`)
}

/** Checks that servers with either identity can read what servers with the other identity encrypt or sign. */
function expectReadable(before: Identity, after: Identity): void {
  for (const [one, other] of [
    [before, after],
    [after, before],
  ] as const) {
    expect(encryption(other)).toContain(encryption(one)[0])
    const keys = toPublicIdentity(other, new Map()).serviceAccountKeys
    expect(keys).toContain(one.serviceAccount.publicKey)
  }
}

/** Generated rounds of a rotation. Each round advances some keys by one phase. */
const rounds = array(
  array(constantFrom(...keyNames), { minLength: 1, maxLength: 5 }).map((keys) => [...new Set(keys)]),
  { minLength: 1, maxLength: 10 },
)

describe('during a key rotation', () => {
  test('every host trusts all presented certificates and reads all written data in every phase', async () => {
    await assert(
      asyncProperty(rounds, async (all) => {
        let identity = start
        for (const keys of all) {
          const before = identity
          for (const key of keys) identity = await advanceReplacement(identity, key, now)
          expectTrust(before, identity)
          expectReadable(before, identity)
        }
      }),
      { numRuns: 15 },
    )
  })

  test('the trust check detects a skipped phase', async () => {
    const trust = await advanceReplacement(start, 'kubernetes', now)
    const switched = await advanceReplacement(trust, 'kubernetes', now)
    expect(() => expectTrust(start, switched)).toThrow('ca.crt')
    expect(() => expectTrust(trust, start)).not.toThrow()
    const rekeyed = await advanceReplacement(
      await advanceReplacement(start, 'encryption', now),
      'encryption',
      now,
    )
    expect(() => expectReadable(start, rekeyed)).toThrow('key2')
  })

  test.each(keyNames)(
    '%s goes through trust, switch and distrust once and has changed afterwards',
    async (key: KeyName) => {
      let identity = start
      const phases: (string | undefined)[] = []
      for (let turn = 0; turn < 4; turn++) {
        identity = await advanceReplacement(identity, key, now)
        phases.push(findReplacementPhase(identity, key))
      }
      expect(phases).toEqual(['trust', 'switch', 'distrust', undefined])
      const all = (one: Identity): string[] => [
        ...Object.values(one.cas).map(({ certificate }) => certificate),
        one.serviceAccount.publicKey,
        encryption(one).join(),
      ]
      expect(all(identity).filter((text, at) => text !== all(start)[at])).toHaveLength(1)
    },
  )

  test('secret tags do not change when the CA that they were derived from is replaced', async () => {
    let identity = start
    for (let turn = 0; turn < 4; turn++) identity = await advanceReplacement(identity, 'etcd', now)
    const tags = (one: Identity) => toPublicIdentity(one, secretFiles(one)).tags
    const changed = [...tags(start)].filter(([name, tag]) => tags(identity).get(name) !== tag)
    expect(changed.map(([name]) => name)).toEqual(['etcd-ca-key'])
  })

  test('only components that reload their CA file are not restarted when it changes', () => {
    const untouched = planWith(start)
      .flatMap(({ components }) => components)
      .flatMap(({ name, files }) => files.map((file) => ({ name, ...file })))
      .filter(({ path, restart }) => path.endsWith('ca.crt') && !restart)
      .map(({ name, path }) => `${name} ${path.replace(/^.*[/\\]/, '')}`)
    expect([...new Set(untouched)].toSorted()).toEqual([
      'apiserver-proxy ca.crt',
      'hyperkube-agent etcd-ca.crt',
      'hyperkube-agent front-proxy-ca.crt',
      'hyperkube-agent kubernetes-ca.crt',
      'hyperkube-controller-manager ca.crt',
      'kube-apiserver front-proxy-ca.crt',
    ])
  })
})
