import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readClusterText } from 'hyperkube'
import type { ClusterHandle, Plan } from 'hyperkube/client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildClusterFile } from '../../src/cli/testing/cluster-file.ts'
import { createClusterProvider } from './pulumi-provider.ts'

const empty: Plan = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'Plan',
  findings: [],
  steps: [],
  ops: {},
  plans: [],
}
const text = buildClusterFile('{ name: cp1, address: 192.0.2.1, roles: [control-plane] }')
let directory: string
let file: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pulumi-provider-'))
  file = join(directory, 'cluster.yml')
  await writeFile(file, text)
})
afterEach(async () => rm(directory, { recursive: true }))

function openFake(plan: Plan, leftBehind: readonly string[], applied: Plan[]) {
  return async (): Promise<ClusterHandle> => {
    const { cluster, findings } = await readClusterText(text)
    if (cluster === undefined) throw new Error('not valid')
    const unused = async (): Promise<never> => Promise.reject(new Error('not used'))
    return {
      cluster,
      findings,
      status: unused,
      doctor: unused,
      plan: async () => plan,
      up: async (options) => {
        applied.push(options.plan)
        return { outcome: 'done', ops: 0, changedHosts: [], leftBehind }
      },
    }
  }
}

test('create applies the plan, and diff sees a change of cluster.yml', async () => {
  const applied: Plan[] = []
  const provider = createClusterProvider(openFake(empty, [], applied))
  const inputs = { file, executable: 'hyperkube' }
  const { id, outs } = await provider.create(inputs)
  expect([id, outs.kubernetes, outs.hosts]).toEqual(['shop', '1.37.1', ['cp1']])
  expect(applied).toEqual([empty])
  expect(await provider.diff(id, outs, inputs)).toEqual({ changes: false })
  await writeFile(file, `${text}\n# changed\n`)
  expect(await provider.diff(id, outs, inputs)).toEqual({ changes: true })
  const updated = await provider.update(id, outs, inputs)
  expect(await provider.diff(id, updated.outs, inputs)).toEqual({ changes: false })
  await expect(provider.delete(id)).rejects.toThrow('hyperkube reset')
})

test('a plan with errors is not applied, and unreachable hosts fail the update', async () => {
  const applied: Plan[] = []
  const findings = [{ code: 'HOST_SWAP', severity: 'error' as const, message: 'swap is on' }]
  const failing = createClusterProvider(openFake({ ...empty, findings }, [], applied))
  await expect(failing.create({ file, executable: 'h' })).rejects.toThrow('HOST_SWAP: swap is on')
  expect(applied).toEqual([])
  const partial = createClusterProvider(openFake(empty, ['cp1'], applied))
  await expect(partial.create({ file, executable: 'h' })).rejects.toThrow('unreachable: cp1')
})

test('check reports an invalid cluster.yml as a failure of the property', async () => {
  await writeFile(file, 'kind: Cluster\n')
  const { failures } = await createClusterProvider().check({}, { file, executable: 'h' })
  expect(failures).toEqual([{ property: 'file', reason: expect.stringContaining('cluster.yml') }])
})
