import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { TestCa } from '../../../../kit/testing/test-ca.ts'
import {
  type ReceivedRequest,
  type TestResponse,
  startHttpsTestServer,
} from '../../../../kit/testing/https-test-server.ts'
import { FakeKubeApi } from '../../../../kube/testing/fake-kube-api.ts'
import { buildKubeconfig } from '../../../../pki/kubeconfig.ts'

export interface ProbeApiServer extends AsyncDisposable {
  /** Text of a kubeconfig for the fake API. The files that it names exist. */
  readonly kubeconfig: string
  /** Requests that the fake API has received. */
  readonly requests: readonly ReceivedRequest[]
}

/** Serves a fake API, and creates a kubeconfig for it. */
export async function startProbeApiServer(
  ca: TestCa,
  respond: (request: ReceivedRequest) => TestResponse,
): Promise<ProbeApiServer> {
  const directory = await mkdtemp(join(tmpdir(), 'test-api-'))
  const files = {
    ca: join(directory, 'ca.crt'),
    certificate: join(directory, 'client.crt'),
    privateKey: join(directory, 'client.key'),
  }
  await writeFile(files.ca, ca.certificate)
  await writeFile(files.certificate, ca.client.certificate)
  await writeFile(files.privateKey, ca.client.privateKey)
  const server = await startHttpsTestServer(ca, respond)
  return {
    requests: server.requests,
    kubeconfig: stringify(buildKubeconfig({ cluster: 'test', server: server.url, user: 'test' }, files)),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export interface FakeNode {
  readonly name: string
  readonly pods?: readonly string[]
  readonly ready?: boolean
  readonly created?: string
  readonly address?: string
  readonly port?: number
}

/** Creates a fake API with nodes. Lists of nodes are tables, because probes request only tables. */
export function createNodesApi(nodes: readonly FakeNode[]): FakeKubeApi {
  const api = new FakeKubeApi()
  for (const node of nodes) api.put(`/api/v1/nodes/${node.name}`, buildNode(node))
  api.onRequest = ({ path }) => (path === '/api/v1/nodes' ? { json: buildTable(nodes) } : undefined)
  return api
}

function buildTable(nodes: readonly FakeNode[]): unknown {
  return {
    kind: 'Table',
    columnDefinitions: [{ name: 'Name' }, { name: 'Status' }, { name: 'Roles' }],
    rows: nodes.map(({ name, ready = true }) => ({
      cells: [name, ready ? 'Ready,SchedulingDisabled' : 'NotReady', '<none>'],
    })),
  }
}

function buildNode({
  name,
  pods = [],
  ready = true,
  created = '2026-12-01T00:00:00Z',
  address,
  port,
}: FakeNode) {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      creationTimestamp: created,
      annotations: { 'flannel.alpha.coreos.com/kube-subnet-manager': 'true' },
    },
    spec: { podCIDR: pods[0], podCIDRs: pods },
    status: {
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      addresses: address === undefined ? [] : [{ type: 'InternalIP', address }],
      ...(port === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: port } } }),
    },
  }
}
