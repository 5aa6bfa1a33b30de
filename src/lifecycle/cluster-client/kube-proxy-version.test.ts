import { beforeAll, expect, test } from 'vitest'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { createKubeTestBench } from '../../kube/testing/kube-test-bench.ts'
import { checkKubeProxyVersion, findKubeProxySkew } from './kube-proxy-version.ts'

let ca: TestCa
const { serve, createClient } = createKubeTestBench(() => ca)
beforeAll(async () => {
  ca = await createTestCa()
})

/** Checks an upgrade to 1.37.1 of a cluster with this DaemonSet. */
async function check(status: object, image: string): Promise<string[]> {
  const { url } = await serve(({ path }) =>
    path.endsWith('/namespaces/kube-system/daemonsets/kube-proxy')
      ? {
          status: 200,
          text: JSON.stringify({
            apiVersion: 'apps/v1',
            kind: 'DaemonSet',
            metadata: { name: 'kube-proxy', namespace: 'kube-system' },
            spec: { template: { spec: { containers: [{ name: 'kube-proxy', image }] } } },
            status,
          }),
        }
      : { status: 404, text: '{}' },
  )
  const findings = await checkKubeProxyVersion(createClient([url]), '1.37.1')
  return findings.map(({ severity, message }) => `${severity} ${message}`)
}

test('a DaemonSet that runs on nodes is compared by the tag of its image', async () => {
  const running = { currentNumberScheduled: 2 }
  expect(await check(running, 'mirror.example.com:5000/kube-proxy:v1.36.4@sha256:00')).toEqual([
    'warning the DaemonSet kube-proxy stays at 1.36.4, because hyperkube does not manage it',
  ])
  expect(await check(running, 'registry.k8s.io/kube-proxy:v1.37.1')).toEqual([])
  expect(await check(running, 'registry.k8s.io/kube-proxy:latest')).toEqual([])
  expect(await check({ currentNumberScheduled: 0 }, 'registry.k8s.io/kube-proxy:v1.30.0')).toEqual([])
})

test('a cluster without the DaemonSet has no findings', async () => {
  const { url } = await serve(() => ({
    status: 404,
    text: JSON.stringify({ kind: 'Status', reason: 'NotFound', code: 404, message: 'not found' }),
  }))
  expect(await checkKubeProxyVersion(createClient([url]), '1.37.1')).toEqual([])
})

test('more than three minors are refused, with the version to which an upgrade is possible', () => {
  expect(findKubeProxySkew('1.37.1', '1.34.0')).toMatchObject([{ severity: 'warning' }])
  expect(findKubeProxySkew('1.37.1', '1.33.9')).toMatchObject([
    { code: 'UPGRADE_KUBE_PROXY', severity: 'error', hint: expect.stringContaining('at most to 1.36, then') },
  ])
  expect(findKubeProxySkew('1.36.4', '1.37.1')).toEqual([])
})
