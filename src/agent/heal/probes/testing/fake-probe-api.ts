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
import { buildKubeconfig } from '../../../../pki/kubeconfig.ts'

export interface FakeProbeApi extends AsyncDisposable {
  /** Text of a kubeconfig for the fake API. The files that it names exist. */
  readonly kubeconfig: string
  /** Requests that the fake API has received. */
  readonly requests: readonly ReceivedRequest[]
}

/** Starts a fake API server with the responses of `respond`, and creates a kubeconfig for it. */
export async function startFakeProbeApi(
  ca: TestCa,
  respond: (request: ReceivedRequest) => TestResponse,
): Promise<FakeProbeApi> {
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
  readonly pods?: string
  readonly ready?: boolean
  readonly created?: string
  readonly address?: string
  readonly port?: number
}

/** Returns responses to node requests in the format of an API server. */
export function respondWithNodes(nodes: readonly FakeNode[]): (request: ReceivedRequest) => TestResponse {
  return ({ path }) => {
    if (path === '/api/v1/nodes') return { json: buildTable(nodes) }
    const found = nodes.find(({ name }) => path === `/api/v1/nodes/${name}`)
    return found === undefined ? { status: 404, json: notFound } : { json: buildNode(found) }
  }
}

export const notFound = {
  kind: 'Status',
  status: 'Failure',
  reason: 'NotFound',
  code: 404,
  message: 'not found',
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
  pods,
  ready = true,
  created = '2026-12-01T00:00:00Z',
  address,
  port,
}: FakeNode): unknown {
  return {
    metadata: {
      name,
      creationTimestamp: created,
      annotations: { 'flannel.alpha.coreos.com/kube-subnet-manager': 'true' },
    },
    spec: { podCIDR: pods },
    status: {
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      addresses: address === undefined ? [] : [{ type: 'InternalIP', address }],
      ...(port === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: port } } }),
    },
  }
}
