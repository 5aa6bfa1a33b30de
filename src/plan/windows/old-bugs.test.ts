import { win32 } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseTestCluster, buildPlanInput } from '../testing/fixtures.ts'
import { planCluster } from '../plan.ts'

/**
 * This file tests that plans do not repeat bugs in the settings of earlier scripts. Tests for other bugs of
 * these scripts are in src/agent/windows-worker/old-bugs.test.ts.
 */

const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: mixed }
spec:
  kubernetes: 1.37.1
  network: { pods: 10.99.0.0/16 }
  hosts:
    - { name: cp1, address: 192.168.1.11, roles: [control-plane] }
    - { name: nt1, address: 192.168.1.31, roles: [worker], os: windows }
`

const plan = planCluster(
  buildPlanInput(parseTestCluster(text), () => ({ windows: { build: 20_348 } })),
).plans.find(({ os }) => os === 'windows')
const components = new Map(plan?.components.map((component) => [component.name, component]))

function argumentsOf(name: string): readonly string[] {
  const service = components.get(name)?.service
  return service?.supervisor === 'scm' ? service.arguments : []
}

test('bug 9: flanneld, kubelet and kube-proxy use the same node name', () => {
  const flanneld = components.get('flanneld')?.service
  expect(flanneld?.supervisor === 'scm' && flanneld.environment).toEqual({ NODE_NAME: 'nt1' })
  expect(argumentsOf('kubelet')).toContain('--hostname-override=nt1')
  expect(argumentsOf('kube-proxy')).toContain('--hostname-override=nt1')
})

test('flanneld uses the pod network of cluster.yml', () => {
  const file = components
    .get('flanneld')
    ?.files.find(({ path }) => win32.basename(path) === 'net-conf.json')?.content
  expect(file?.kind === 'text' && parse(file.text)).toMatchObject({
    Network: '10.99.0.0/16',
    Backend: { Type: 'vxlan', VNI: 4096, Port: 4789 },
  })
})

test('no flag that Kubernetes removed is set', () => {
  const all = ['kubelet', 'kube-proxy', 'flanneld'].flatMap(argumentsOf).join(' ')
  expect(all).not.toMatch(/pod-infra-container-image|feature-gates|log-dir|logtostderr|network-plugin|cni-/)
})
