import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createIdentity, type Identity, type ReplacementPhase } from '../identity/identity.ts'
import { advanceReplacement, findReplacementPhase, type KeyName, keyNames } from '../identity/replace-key.ts'
import { encryptionKeys, trustedCas, trustedServiceAccountKeys } from '../identity/trusted-keys.ts'
import type { ActionStatus } from './phases/action-run.ts'
import { type KeyRotationDeps, rotateKeys } from './rotate-keys.ts'

const now = new Date('2026-11-15T00:00:00Z')
const start = await createIdentity('shop', now)

/**
 * Point at which a run ends early: before confirmation, after some hosts, or before or after the work in the
 * cluster.
 */
interface Interruption {
  readonly at: 'agreement' | 'hosts' | 'before-settling' | 'after-settling'
  readonly hosts: number
}

/**
 * Fake cluster: hosts that may have different identities, and data that was encrypted with keys of these
 * identities.
 */
class FakeRotationCluster {
  disk = start
  readonly hosts: Identity[] = [start, start, start]
  data: string[] = encryptionKeys(start).map(({ name }) => name)
  readonly reportedPhases: string[] = []
  /** Kinds of keys with which a host could not verify or decrypt something. */
  readonly problems: string[] = []
  #interruptions: Interruption[]

  constructor(interruptions: readonly Interruption[]) {
    this.#interruptions = [...interruptions]
  }

  rotation(keys: readonly KeyName[], dryRun = false): KeyRotationDeps {
    return {
      keys,
      load: async () => this.disk,
      save: async (identity) => void (this.disk = identity),
      applyIdentity: async (identity, persist) => this.#applyIdentity(identity, persist),
      finishPhase: async (key, phase) => this.#finishPhase(key, phase),
      reportPhases: (phases) =>
        void this.reportedPhases.push([...phases].map(([key, phase]) => `${key} ${phase}`).join()),
      dryRun,
      now: () => now,
    }
  }

  async #applyIdentity(identity: Identity, persist: () => Promise<void>): Promise<ActionStatus> {
    const [interruption] = this.#interruptions
    if (interruption?.at === 'agreement') return this.#ended()
    await persist()
    for (const index of this.hosts.keys()) {
      if (interruption?.at === 'hosts' && index >= interruption.hosts) return this.#ended()
      this.hosts[index] = identity
      for (const host of this.hosts) this.data.push(encryptionKeys(host)[0]?.name ?? '')
      this.check()
    }
    return 'ok'
  }

  async #finishPhase(key: KeyName, phase: ReplacementPhase): Promise<ActionStatus> {
    const [interruption] = this.#interruptions
    if (interruption?.at === 'before-settling') return this.#ended()
    if (key === 'encryption' && phase === 'switch')
      this.data = this.data.map(() => encryptionKeys(this.disk)[0]?.name ?? '')
    this.check()
    return interruption?.at === 'after-settling' ? this.#ended() : 'ok'
  }

  #ended(): ActionStatus {
    this.#interruptions.shift()
    return 'changes-pending'
  }

  /** Checks that every host trusts every other host and the operator, and can decrypt all data. */
  check(): void {
    for (const verifier of this.hosts) {
      for (const presenter of [...this.hosts, this.disk]) {
        for (const slot of ['kubernetes', 'etcd', 'frontProxy'] as const) {
          const trusted = trustedCas(verifier.cas[slot])
          if (!trusted.includes(presenter.cas[slot].certificate)) this.problems.push(slot)
        }
        const keys = trustedServiceAccountKeys(verifier.serviceAccount)
        if (!keys.includes(presenter.serviceAccount.publicKey)) this.problems.push('service-account')
      }
      const names = new Set(encryptionKeys(verifier).map(({ name }) => name))
      if (this.data.some((name) => !names.has(name))) this.problems.push('encryption')
    }
  }
}

const interruptions = array(
  record({
    at: constantFrom('agreement', 'hosts', 'before-settling', 'after-settling'),
    hosts: integer({ min: 0, max: 2 }),
  }),
  { maxLength: 6 },
)
const someKeys = constantFrom<readonly KeyName[]>(
  ['kubernetes'],
  ['kubernetes', 'etcd', 'front-proxy'],
  ['service-account'],
  ['encryption'],
)

describe('key rotation', () => {
  test('after any interruption all hosts trust each other, and the same command finishes the rotation', async () => {
    await assert(
      asyncProperty(interruptions, someKeys, async (all, keys) => {
        const cluster = new FakeRotationCluster(all)
        let status: ActionStatus = 'changes-pending'
        for (let attempt = 0; attempt <= all.length && status !== 'ok'; attempt++)
          status = (await rotateKeys(cluster.rotation(keys))).status
        expect(status).toBe('ok')
        for (const key of keyNames) expect(findReplacementPhase(cluster.disk, key)).toBeUndefined()
        cluster.check()
        expect(cluster.problems).toEqual([])
        const listKeys = (identity: Identity): string[] => [
          ...Object.values(identity.cas).map(({ certificate }) => certificate),
          identity.serviceAccount.publicKey,
          String(encryptionKeys(identity)[0]?.name),
        ]
        const changed = listKeys(cluster.disk).filter((text, at) => text !== listKeys(start)[at])
        expect(changed).toHaveLength(keys.length)
        for (const host of cluster.hosts) expect(listKeys(host)).toEqual(listKeys(cluster.disk))
        expect(new Set(cluster.data)).toEqual(new Set([keys.includes('encryption') ? 'key2' : 'key1']))
      }),
      { numRuns: 60 },
    )
  })

  test('the test cluster detects a key that is used before all hosts trust it', async () => {
    const cluster = new FakeRotationCluster([{ at: 'hosts', hosts: 1 }])
    cluster.disk = await advanceReplacement(start, 'kubernetes', now)
    cluster.disk = await advanceReplacement(cluster.disk, 'kubernetes', now)
    await rotateKeys(cluster.rotation(['kubernetes']))
    expect(cluster.problems).toContain('kubernetes')
  })

  test('several keys go through trust, switch and distrust together', async () => {
    const cluster = new FakeRotationCluster([])
    const keys = ['etcd', 'front-proxy'] as const
    expect(await rotateKeys(cluster.rotation(keys))).toEqual({ status: 'ok', keys })
    expect(cluster.reportedPhases).toEqual([
      'etcd trust,front-proxy trust',
      'etcd switch,front-proxy switch',
      'etcd distrust,front-proxy distrust',
    ])
  })

  test('a rotation in progress is finished, and no other rotation is started', async () => {
    const cluster = new FakeRotationCluster([])
    cluster.disk = await advanceReplacement(start, 'etcd', now)
    expect(await rotateKeys(cluster.rotation(['kubernetes', 'etcd', 'front-proxy']))).toEqual({
      status: 'ok',
      keys: ['etcd'],
    })
    expect(cluster.reportedPhases).toEqual(['etcd trust', 'etcd switch', 'etcd distrust'])
    expect(cluster.disk.cas.kubernetes).toEqual(start.cas.kubernetes)
  })

  test('a dry run changes nothing', async () => {
    const cluster = new FakeRotationCluster([{ at: 'agreement', hosts: 0 }])
    const { status } = await rotateKeys(cluster.rotation(['kubernetes'], true))
    expect(status).toBe('changes-pending')
    expect(cluster.disk).toBe(start)
    expect(cluster.reportedPhases).toEqual(['kubernetes trust'])
  })
})
