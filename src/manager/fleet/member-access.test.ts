import { beforeAll, expect, test } from 'vitest'
import { startHttpsTestServer } from '../../kit/testing/https-test-server.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { findObject } from '../../kube/read-objects.ts'
import { FakeKubeApi } from '../../kube/testing/fake-kube-api.ts'
import { createKubeTestBench } from '../../kube/testing/kube-test-bench.ts'
import { registerCluster } from './management.ts'
import { openManagementClient } from './member-access.ts'
import { fleetCrds, managedClusterKind } from './resources.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})
const { serve, createClient } = createKubeTestBench(() => ca)

function createPlane(): FakeKubeApi {
  const plane = new FakeKubeApi()
  for (const crd of fleetCrds) plane.user('operator', { ...crd })
  return plane
}

test('a response of the management plane cannot use up the memory of a managed cluster', async () => {
  const plane = createPlane()
  plane.onRequest = ({ path }) =>
    path.endsWith('/clusters/berlin') ? { json: { spec: 'x'.repeat(20 * 2 ** 20) } } : undefined
  // Managed clusters have a token and no client certificate.
  await using server = await startHttpsTestServer(ca, plane.respond, 0, false)
  const { signal } = new AbortController()
  using client = openManagementClient(
    { servers: server.url, ca: ca.certificate, token: 'token' },
    signal,
    () => undefined,
  )
  await expect(findObject(client, managedClusterKind, { name: 'berlin' })).rejects.toThrow('is longer than')
})

test('a Cluster object names the cluster that has joined', async () => {
  const plane = createPlane()
  const { url } = await serve(plane.respond)
  await registerCluster(createClient([url]), 'berlin', { stage: 'canary' }, 'the-id')
  expect(plane.get('/apis/fleet.hyperkube.dev/v1/clusters/berlin')?.metadata).toMatchObject({
    labels: { stage: 'canary' },
    annotations: { 'hyperkube.dev/cluster-id': 'the-id' },
  })
})
