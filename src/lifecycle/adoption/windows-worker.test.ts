import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { hasErrors } from '../../contract/finding.ts'
import { buildPlanInput, parseTestCluster } from '../../plan/testing/fixtures.ts'
import { planCluster } from '../../plan/plan.ts'
import { buildAdoptedCluster } from './cluster-settings.ts'
import { buildRke1Observation } from './testing/observations.ts'

const adoptedSchema = z.looseObject({ spec: z.looseObject({ hosts: z.array(z.unknown()) }) })

/** Adds a Windows worker to the cluster.yml of an adopted RKE1 cluster. */
function addWindowsWorker(settings: object): string {
  const { spec, ...rest } = adoptedSchema.parse(
    parse(stringify(buildAdoptedCluster(buildRke1Observation(), { name: 'shop', hostSsh: new Map() }))),
  )
  const worker = { name: 'win1', address: '10.0.0.9', os: 'windows', roles: ['worker'], ...settings }
  return stringify({ ...rest, spec: { ...spec, hosts: [...spec.hosts, worker] } })
}

test('after the commit a Windows worker can be added, with a pod network of the operator', () => {
  const winkernel = { networkName: 'flannel.4096', sourceVip: '10.42.9.2' }
  const cluster = parseTestCluster(addWindowsWorker({ components: { kubeProxy: { config: { winkernel } } } }))
  const { plans, findings } = planCluster(
    buildPlanInput(cluster, ({ os }) => (os === 'windows' ? { windows: { build: 20_348 } } : {})),
  )
  expect(hasErrors(findings) ? findings : []).toEqual([])
  const names = plans.find(({ host }) => host === 'win1')?.components.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['containerd', 'kubelet', 'kube-proxy', 'apiserver-proxy']))
  expect(names).not.toContain('flanneld')
})
