import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatAttackEvidence } from '../support/attacks/attack-evidence.ts'
import type { AttackContext } from '../support/attacks/attack.ts'
import {
  buildCredentialAttacks,
  forgeCredentials,
  listApiCredentials,
} from '../support/attacks/compromise-attacks.ts'
import { withHostileMirror, withHostileSsh } from '../support/attacks/endpoint-attacks.ts'
import { collectLoot } from '../support/attacks/stolen-credentials.ts'
import { type AttackRecord, findHost, openAttack, runAttacks } from '../support/attacks/run-attacks.ts'
import { buildTenantAttacks, createTenant } from '../support/attacks/tenant-attacks.ts'
import {
  buildPodAttacks,
  buildRemovedHostAttacks,
  buildRenewalAttacks,
  buildWorkerAttacks,
} from '../support/attacks/worker-attacks.ts'
import { buildIdentityAttacks, buildSnapshotAttacks } from '../support/attacks/theft-attacks.ts'
import { setUpCluster } from '../support/suite-cluster.ts'

const kubernetes = '1.37.1'
const overrides = await mkdtemp(join(tmpdir(), 'overrides-'))
const evidence = join(import.meta.dirname, '../../docs/evidence/attacks.md')

describe('attacks on a cluster with default addons', () => {
  const clusterNow = setUpCluster('attacks', '3+2', kubernetes, { addons: true, overrides })
  const records: AttackRecord[] = []
  let context: AttackContext

  afterAll(async () => {
    await rm(overrides, { recursive: true, force: true })
    const [hyperkube = ''] = (await clusterNow().hyperkube('version')).stdout.split('\n')
    await writeFile(evidence, formatAttackEvidence({ date: new Date(), hyperkube, kubernetes, records }))
  })

  beforeAll(async () => {
    context = await openAttack(clusterNow())
  }, 120_000)

  test('a worker holds certificates of its own and tokens of its pods, but no other key', () => {
    const { loot } = context
    expect(loot.certificates.map(({ commonName }) => commonName)).toContain('system:node:w1')
    expect(loot.tokens).not.toEqual([])
    expect(loot.keyFiles.filter((path) => /ca\.key$|id_|identity/.test(path))).toEqual([])
    process.stderr.write(
      `${[...loot.certificates.map(({ path }) => path), ...loot.tokens.map(({ account }) => account)].join('\n')}\n`,
    )
  })

  test('a tenant with edit permissions stays in its namespace', async () => {
    expect(await runAttacks(buildTenantAttacks(context, await createTenant(context)), records)).toEqual([])
  })

  test('an escaped pod on a worker gains no permissions', async () => {
    expect(await runAttacks(buildPodAttacks(context), records)).toEqual([])
  })

  test('root on a worker has only the permissions of the Node authorizer', async () => {
    expect(await runAttacks(buildWorkerAttacks(context), records)).toEqual([])
  })

  test('keys of another node cannot be renewed', { timeout: 900_000 }, async () => {
    expect(await runAttacks(buildRenewalAttacks(context), records)).toEqual([])
  })

  test('cluster.identity and a snapshot are useless without the key', { timeout: 600_000 }, async () => {
    const attacks = [...buildIdentityAttacks(context), ...buildSnapshotAttacks(context)]
    expect(await runAttacks(attacks, records)).toEqual([])
  })

  test('a hostile mirror cannot change the installed programs', { timeout: 300_000 }, async () => {
    await withHostileMirror(context, { overrides, kubernetes }, async (attacks) =>
      expect(await runAttacks(attacks, records)).toEqual([]),
    )
  })

  test('a host with another ssh host key is not used', { timeout: 300_000 }, async () => {
    const host = findHost(context.cluster, 'w2')
    await withHostileSsh(context, host, async (attacks) =>
      expect(await runAttacks(attacks, records)).toEqual([]),
    )
    await context.cluster.operator.must(0, 'plan')
  })

  test('a removed host can neither renew a certificate nor register again', async () => {
    await context.cluster.operator.must(0, 'node', 'remove', 'w2', '--yes')
    expect(await runAttacks(buildRemovedHostAttacks(context), records)).toEqual([])
  })

  test(
    'credentials of a compromised worker are invalid after its removal',
    { timeout: 1_800_000 },
    async () => {
      const attacks = buildCredentialAttacks(context, 'removed host', [
        ...listApiCredentials(context.loot),
        ...listApiCredentials({ ...context.otherLoot, tokens: [] }),
      ])
      // All credentials are valid before the removal, so the removal is the reason why they are refused
      // later.
      expect(await runAttacks(attacks)).toHaveLength(attacks.length)
      const { stdout } = await context.cluster.operator.must(
        0,
        ...['node', 'remove', 'w1', '--compromised', '--restart-pods', '--yes'],
      )
      process.stderr.write(stdout)
      expect(await runAttacks(attacks, records)).toEqual([])
    },
  )

  test(
    'keys of a compromised control plane forge nothing after its removal',
    { timeout: 3_600_000 },
    async () => {
      const host = findHost(context.cluster, 'cp3')
      const loot = await collectLoot(host)
      expect(loot.keyFiles.filter((path) => /identity|id_/.test(path))).toEqual([])
      const forged = await forgeCredentials(context, loot)
      const attacks = buildCredentialAttacks(context, 'root on a control plane', [
        ...forged,
        ...listApiCredentials(loot),
      ])
      expect(await runAttacks(attacks)).toHaveLength(attacks.length)
      const { stdout } = await context.cluster.operator.must(
        0,
        ...['node', 'remove', 'cp3', '--compromised', '--restart-pods', '--yes'],
        ...['--ignore', 'KEYS_TOKENS_ALIVE'],
      )
      process.stderr.write(stdout)
      expect(await runAttacks(attacks, records)).toEqual([])
    },
  )
})
