import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { TestAuthority } from '../../../../kit/testing/test-ca.ts'
import { type Asked, type TestAnswer, testServer } from '../../../../kit/testing/https-test-server.ts'
import { kubeconfig } from '../../../../pki/kubeconfig.ts'

export interface TestApi extends AsyncDisposable {
  /** Its text; the files that it names are real ones. */
  readonly kubeconfig: string
  /** What was asked for, with its query. */
  readonly asked: readonly Asked[]
}

/** An API that answers as a test says, and the file by which a component finds it. */
export async function testApi(
  authority: TestAuthority,
  answer: (asked: Asked) => TestAnswer,
): Promise<TestApi> {
  const directory = await mkdtemp(join(tmpdir(), 'test-api-'))
  const files = {
    authority: join(directory, 'ca.crt'),
    certificate: join(directory, 'client.crt'),
    privateKey: join(directory, 'client.key'),
  }
  await writeFile(files.authority, authority.certificate)
  await writeFile(files.certificate, authority.client.certificate)
  await writeFile(files.privateKey, authority.client.privateKey)
  const server = await testServer(authority, answer)
  return {
    asked: server.asked,
    kubeconfig: stringify(kubeconfig({ cluster: 'test', server: server.url, user: 'test' }, files)),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export interface TestNode {
  readonly name: string
  readonly pods?: string
  readonly ready?: boolean
  readonly created?: string
  readonly address?: string
  readonly port?: number
}

/** Answers about nodes as an API server does. */
export function answerNodes(nodes: readonly TestNode[]): (asked: Asked) => TestAnswer {
  return ({ path }) => {
    if (path === '/api/v1/nodes') return { json: tableOf(nodes) }
    const found = nodes.find(({ name }) => path === `/api/v1/nodes/${name}`)
    return found === undefined ? { status: 404, json: notFound } : { json: objectOf(found) }
  }
}

export const notFound = {
  kind: 'Status',
  status: 'Failure',
  reason: 'NotFound',
  code: 404,
  message: 'not found',
}

function tableOf(nodes: readonly TestNode[]): unknown {
  return {
    kind: 'Table',
    columnDefinitions: [{ name: 'Name' }, { name: 'Status' }, { name: 'Roles' }],
    rows: nodes.map(({ name, ready = true }) => ({
      cells: [name, ready ? 'Ready,SchedulingDisabled' : 'NotReady', '<none>'],
    })),
  }
}

function objectOf({
  name,
  pods,
  ready = true,
  created = '2026-12-01T00:00:00Z',
  address,
  port,
}: TestNode): unknown {
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
