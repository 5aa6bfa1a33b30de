import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatLock } from '../catalog/lock.ts'
import { createIdentity } from '../identity/identity.ts'
import { sealIdentity } from '../identity/seal.ts'
import { formatKeyFile, makeSealingKey } from '../identity/sealing-key.ts'
import { buildPlanInput, buildTestLock } from '../plan/testing/fixtures.ts'
import { describeStep, explainCode, planChanges, readClusterText, readLockText } from './hyperkube.ts'

const text = readFileSync(join(import.meta.dirname, '../../examples/high-availability.yml'), 'utf8')

async function readInput() {
  const { cluster, findings } = await readClusterText(text)
  if (cluster === undefined) throw new Error(JSON.stringify(findings))
  const key = makeSealingKey()
  const identity = await createIdentity(cluster.metadata.name, new Date())
  return {
    cluster,
    lock: readLockText(formatLock(buildTestLock('1.37.1'))),
    facts: [...buildPlanInput(cluster).facts.values()],
    identity: { text: await sealIdentity(identity, key), key: formatKeyFile(key) },
  }
}

test('all problems of a cluster.yml are reported with their positions, also those of versions', async () => {
  const { cluster, findings } = await readClusterText(
    text.replace(/kubernetes: .*/, 'kubernetes: 1.2.3'),
    'a.yml',
  )
  expect(cluster).toBeUndefined()
  expect(findings).toMatchObject([
    { severity: 'error', path: 'spec.kubernetes', position: { file: 'a.yml' } },
  ])
})

test('a new cluster is planned from facts, with the steps of the rollout', async () => {
  const { plan, steps } = await planChanges(await readInput())
  expect(plan.findings).toEqual([])
  expect(Object.keys(plan.ops)).toEqual(['cp1', 'cp2', 'cp3', 'w1', 'w2'])
  expect(steps.map(describeStep)).toEqual([
    'preparation on 5 hosts (cp1, cp2 and 3 more)',
    'etcd and API server on cp1, cp2 and cp3',
    'controllers, kubelet and network on 5 hosts (cp1, cp2 and 3 more)',
  ])
})

test('equal input gives equal plans, and an applied plan has no changes', async () => {
  const input = await readInput()
  const first = await planChanges(input)
  expect(await planChanges(input)).toEqual(first)
  const again = await planChanges({ ...input, previous: first.plan })
  expect(again.steps).toEqual([])
})

test('without an identity, new keys are used, which would change every host', async () => {
  const { identity: _identity, ...input } = await readInput()
  const first = await planChanges(input)
  expect(first.steps).toHaveLength(3)
  const { plan } = await planChanges({ ...input, previous: first.plan })
  expect(Object.values(plan.ops).every((ops) => ops.length > 0)).toBe(true)
})

test('a host without facts is a finding, and another key an error', async () => {
  const input = await readInput()
  const { plan, steps } = await planChanges({ ...input, facts: input.facts.slice(1) })
  expect(plan.findings).toMatchObject([
    { code: 'HOST_NO_FACTS' },
    { code: 'ROLLOUT_QUORUM', severity: 'error' },
  ])
  expect(steps).toEqual([])
  const identity = { ...input.identity, key: formatKeyFile(makeSealingKey()) }
  await expect(planChanges({ ...input, identity })).rejects.toMatchObject({ code: 'IDENTITY_WRONG_KEY' })
})

test('codes are explained', () => {
  expect(explainCode('HOST_SWAP')?.remedy).toContain('swap')
  expect(explainCode('toString')).toBeUndefined()
})
