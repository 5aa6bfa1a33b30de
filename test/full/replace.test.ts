import { afterAll, beforeAll, expect, test } from 'vitest'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { type BusyFigures, BusyCluster, formatBusyFigures } from '../support/busy-cluster.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { openFreshLab } from '../support/lab.ts'
import { listReadyNodes, listVoters } from '../support/membership.ts'
import { createOperator, type Operator } from '../support/operator.ts'

const replacements = [
  ['cp1', 'cp4'],
  ['cp2', 'cp5'],
  ['cp3', 'cp6'],
] as const

let lab: Lab
let hosts: ReadonlyMap<string, Host>
let operator: Operator
let api: KubeApi
let kubeconfig: string
let figures: BusyFigures

/** Creates a cluster and replaces each control plane by another host, while clients use the cluster. */
beforeAll(async () => {
  lab = await openFreshLab('replace')
  const all = await lab.up([
    'cp1',
    'cp2',
    'cp3',
    'w1',
    'w2',
    ...replacements.map(([, replacement]) => replacement),
  ])
  hosts = new Map(all.map((host) => [host.name, host]))
  operator = await createOperator(lab, all.slice(0, 5), '1.37.1')
  await operator.must(0, 'up', '--yes')
  kubeconfig = (await operator.must(0, 'kubeconfig')).stdout
  const credentials = parseKubeconfig(kubeconfig)
  api = new KubeApi(`https://${hostNamed('cp3').address}:6443`, credentials)
  const busy = await BusyCluster.open(api, hostNamed('w1'), credentials)
  try {
    for (const [name, replacement] of replacements) {
      const address = ['--by', replacement, '--address', hostNamed(replacement).address] as const
      const startedAt = performance.now()
      await operator.must(0, 'node', 'replace', name, ...address, '--yes')
      const took = (performance.now() - startedAt) / 1000
      process.stderr.write(`${name} was replaced by ${replacement} in ${took.toFixed(0)} s\n`)
      if (replacement === 'cp4') {
        // Switches the client to the new control plane, because its current control plane is replaced later.
        api.close()
        api = new KubeApi(`https://${hostNamed(replacement).address}:6443`, credentials)
      }
    }
  } finally {
    figures = await busy.stop(api)
  }
  process.stderr.write(`replaced: ${formatBusyFigures(figures)}\n`)
}, 2_400_000)
afterAll(async () => {
  api.close()
  try {
    await operator.close()
  } finally {
    await lab.down()
  }
})

function hostNamed(name: string): Host {
  const found = hosts.get(name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

test('the cluster runs on three new control planes', async () => {
  expect(await listVoters(hostNamed('cp4'))).toEqual(['cp4', 'cp5', 'cp6'])
  expect(await listReadyNodes(api)).toEqual(['cp4', 'cp5', 'cp6', 'w1', 'w2'])
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

test('no API request fails, and no write is lost', () => {
  expect(figures.api.failed).toEqual([])
  expect(figures.writes.refused).toBe(0)
  expect(figures.writes.acknowledged.length).toBeGreaterThan(100)
  expect(figures.lost).toEqual([])
})

test('no request to the service fails', () => {
  expect(figures.service.requests).toBeGreaterThan(1000)
  expect(figures.service.failed).toEqual([])
})

test('the credentials of the administrator stay valid', async () => {
  const same = new KubeApi(`https://${hostNamed('cp6').address}:6443`, parseKubeconfig(kubeconfig))
  try {
    expect(await listReadyNodes(same)).toHaveLength(5)
  } finally {
    same.close()
  }
})
