import { expect, test } from 'vitest'
import { type Rke1Target, readRke1Target } from './adoption-target.ts'

async function read(services: string): Promise<Rke1Target | undefined> {
  const nodes = 'nodes: [{ address: 10.0.0.1, user: root, role: [controlplane, etcd, worker] }]'
  const readFile = async (path: string): Promise<string> =>
    path === 'cluster.yml' ? `${nodes}\nservices: ${services}\n` : 'kubeconfig'
  return readRke1Target({ readFile, stderr: { write: () => true } }, 'cluster.yml', {})
}

test('settings of RKE1 that hosts do not show are listed', async () => {
  const result = await read(`
  kubelet: { extra_env: [HTTP_PROXY=http://proxy] }
  kube-api:
    pod_security_configuration: restricted
    extra_args: { event-ttl: 2h }
    audit_log: { enabled: true, configuration: { max_age: 5, policy: { kind: Policy } } }`)
  expect(result?.target.hiddenSettings).toEqual([
    'services.kubelet.extra_env',
    'services.kube-api.audit_log.configuration.policy',
  ])
  expect(result?.spec['security']).toEqual({ audit: { maxAge: 5 } })
})

test('a file of RKE1 with the usual settings loses none', async () => {
  const result = await read('{ kube-api: { pod_security_configuration: privileged } }')
  expect(result?.target.hiddenSettings).toEqual([])
  expect(result?.spec['security']).toBeUndefined()
})
