import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createIdentity, type Identity } from '../../identity/identity.ts'
import { advanced, type KeyName, keyNames, phaseOf } from '../../identity/replace-key.ts'
import type { Phase } from '../../identity/replacement.ts'
import { encryptionKeys, trustedAuthorities, trustedServiceAccountKeys } from '../../identity/trusted-keys.ts'
import { type ExitCode, exitCodes } from '../command.ts'
import { rotate, type Rotation } from './rotate.ts'

const now = new Date('2026-11-15T00:00:00Z')
const start = await createIdentity('shop', now)

/** A run that ends early: before it was agreed to, or with so many hosts done, or in what comes after all of them. */
interface Cut {
  readonly at: 'agreement' | 'hosts' | 'before-settling' | 'after-settling'
  readonly hosts: number
}

/** For tests: hosts that each have come to some identity, and data that was encrypted by some of them. */
class TestCluster {
  disk = start
  readonly hosts: Identity[] = [start, start, start]
  data: string[] = encryptionKeys(start).map(({ name }) => name)
  readonly seen: string[] = []
  /** What somebody could not believe or read. */
  readonly troubles: string[] = []
  #cuts: Cut[]

  constructor(cuts: readonly Cut[]) {
    this.#cuts = [...cuts]
  }

  rotation(keys: readonly KeyName[], dryRun = false): Rotation {
    return {
      keys,
      load: async () => this.disk,
      save: async (identity) => void (this.disk = identity),
      bring: async (identity, keep) => this.#bring(identity, keep),
      settle: async (key, phase) => this.#settle(key, phase),
      say: (phases) => void this.seen.push([...phases].map(([key, phase]) => `${key} ${phase}`).join()),
      dryRun,
      now: () => now,
    }
  }

  async #bring(identity: Identity, keep: () => Promise<void>): Promise<ExitCode> {
    const [cut] = this.#cuts
    if (cut?.at === 'agreement') return this.#ended()
    await keep()
    for (const index of this.hosts.keys()) {
      if (cut?.at === 'hosts' && index >= cut.hosts) return this.#ended()
      this.hosts[index] = identity
      for (const host of this.hosts) this.data.push(encryptionKeys(host)[0]?.name ?? '')
      this.check()
    }
    return exitCodes.ok
  }

  async #settle(key: KeyName, phase: Phase): Promise<ExitCode> {
    const [cut] = this.#cuts
    if (cut?.at === 'before-settling') return this.#ended()
    if (key === 'encryption' && phase === 'switch')
      this.data = this.data.map(() => encryptionKeys(this.disk)[0]?.name ?? '')
    this.check()
    return cut?.at === 'after-settling' ? this.#ended() : exitCodes.ok
  }

  #ended(): ExitCode {
    this.#cuts.shift()
    return exitCodes.changesPending
  }

  /** Whether every host believes every other one and the operator, and reads all that there is. */
  check(): void {
    for (const verifier of this.hosts) {
      for (const presenter of [...this.hosts, this.disk]) {
        for (const slot of ['kubernetes', 'etcd', 'frontProxy'] as const) {
          const trusted = trustedAuthorities(verifier.authorities[slot])
          if (!trusted.includes(presenter.authorities[slot].certificate)) this.troubles.push(slot)
        }
        const keys = trustedServiceAccountKeys(verifier.serviceAccount)
        if (!keys.includes(presenter.serviceAccount.publicKey)) this.troubles.push('service-account')
      }
      const names = new Set(encryptionKeys(verifier).map(({ name }) => name))
      if (this.data.some((name) => !names.has(name))) this.troubles.push('encryption')
    }
  }
}

const cuts = array(
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

describe('keys that are replaced', () => {
  test('wherever it is cut, everybody gets along at every moment, and the same command ends it', async () => {
    await assert(
      asyncProperty(cuts, someKeys, async (all, keys) => {
        const cluster = new TestCluster(all)
        let code: ExitCode = exitCodes.changesPending
        for (let turn = 0; turn <= all.length && code !== exitCodes.ok; turn++)
          code = (await rotate(cluster.rotation(keys))).code
        expect(code).toBe(exitCodes.ok)
        for (const key of keyNames) expect(phaseOf(cluster.disk, key)).toBeUndefined()
        cluster.check()
        expect(cluster.troubles).toEqual([])
        const former = (identity: Identity): string[] => [
          ...Object.values(identity.authorities).map(({ certificate }) => certificate),
          identity.serviceAccount.publicKey,
          String(encryptionKeys(identity)[0]?.name),
        ]
        const changed = former(cluster.disk).filter((text, at) => text !== former(start)[at])
        expect(changed).toHaveLength(keys.length)
        for (const host of cluster.hosts) expect(former(host)).toEqual(former(cluster.disk))
        expect(new Set(cluster.data)).toEqual(new Set([keys.includes('encryption') ? 'key2' : 'key1']))
      }),
      { numRuns: 60 },
    )
  })

  test('to use a key before all know it would be found', async () => {
    const cluster = new TestCluster([{ at: 'hosts', hosts: 1 }])
    cluster.disk = await advanced(start, 'kubernetes', now)
    cluster.disk = await advanced(cluster.disk, 'kubernetes', now)
    await rotate(cluster.rotation(['kubernetes']))
    expect(cluster.troubles).toContain('kubernetes')
  })

  test('one phase after the other, of all of them together', async () => {
    const cluster = new TestCluster([])
    const keys = ['etcd', 'front-proxy'] as const
    expect(await rotate(cluster.rotation(keys))).toEqual({ code: exitCodes.ok, keys })
    expect(cluster.seen).toEqual([
      'etcd trust,front-proxy trust',
      'etcd switch,front-proxy switch',
      'etcd distrust,front-proxy distrust',
    ])
  })

  test('what was begun is ended first, and nothing else is begun', async () => {
    const cluster = new TestCluster([])
    cluster.disk = await advanced(start, 'etcd', now)
    expect(await rotate(cluster.rotation(['kubernetes', 'etcd', 'front-proxy']))).toEqual({
      code: exitCodes.ok,
      keys: ['etcd'],
    })
    expect(cluster.seen).toEqual(['etcd trust', 'etcd switch', 'etcd distrust'])
    expect(cluster.disk.authorities.kubernetes).toEqual(start.authorities.kubernetes)
  })

  test('a dry run changes nothing', async () => {
    const cluster = new TestCluster([{ at: 'agreement', hosts: 0 }])
    const { code } = await rotate(cluster.rotation(['kubernetes'], true))
    expect(code).toBe(exitCodes.changesPending)
    expect(cluster.disk).toBe(start)
    expect(cluster.seen).toEqual(['kubernetes trust'])
  })
})
