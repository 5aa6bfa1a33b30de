import type { KubeObject } from '../../../src/kube/object.ts'
import { applyPatchType } from '../../../src/kube/request.ts'
import { type JsonFields, parseJsonFields } from '../../../src/kube/testing/field-set.ts'
import { applyMergePatch } from '../../../src/kit/merge-patch.ts'
import type { SimulatedRequest, SimulatedResponse } from './serve-https.ts'

/**
 * API server for tens of thousands of objects. Unlike FakeKubeApi it has no field owners, no history and no
 * watches, so that each request costs the same whatever the number of objects.
 */
export class SimulatedApi {
  /** Objects by collection and key, in order of creation. */
  readonly #collections = new Map<string, Map<string, JsonFields>>()
  #revision = 1
  /** Number of requests by method and resource. */
  readonly requests = new Map<string, number>()

  /** Creates or replaces an object. */
  put(path: string, object: JsonFields): void {
    this.#store(parsePath(path), object)
  }

  readonly respond = ({ method, path, query, contentType, body }: SimulatedRequest): SimulatedResponse => {
    if (path === '/readyz' || path === '/healthz') return { status: 200, body: 'ok' }
    if (path === '/version') return { body: { gitVersion: 'v1.37.1', major: '1', minor: '37' } }
    const route = parsePath(path)
    const what = `${method} ${route.collection}`
    this.requests.set(what, (this.requests.get(what) ?? 0) + 1)
    if (method === 'GET' && route.name === '') return this.#list(route, query)
    const previous = this.#collection(route).get(route.key)
    if (method === 'DELETE') {
      this.#collection(route).delete(route.key)
      return { body: { kind: 'Status', status: 'Success' } }
    }
    if (method === 'GET') return previous === undefined ? notFound : { body: previous }
    const fields = parseJsonFields(body)
    if (method === 'PATCH' && contentType !== applyPatchType) {
      if (previous === undefined) return notFound
      return { body: this.#store(route, parseJsonFields(applyMergePatch(previous, fields))) }
    }
    return { body: this.#store(route, { ...previous, ...fields }) }
  }

  #list(route: ApiPath, query: URLSearchParams): SimulatedResponse {
    const selectors = [query.get('labelSelector'), query.get('fieldSelector')].map((text) => text ?? '')
    const all = [...this.#collection(route).values()].filter((object) => matches(object, selectors))
    const start = Number(query.get('continue') ?? 0)
    const end = start + Number(query.get('limit') ?? all.length)
    const rest = end < all.length ? { continue: String(end) } : {}
    return {
      body: { metadata: { resourceVersion: String(this.#revision), ...rest }, items: all.slice(start, end) },
    }
  }

  #collection({ collection }: ApiPath): Map<string, JsonFields> {
    const objects = this.#collections.get(collection) ?? new Map<string, JsonFields>()
    this.#collections.set(collection, objects)
    return objects
  }

  #store(route: ApiPath, object: JsonFields): JsonFields {
    this.#revision++
    const metadata = {
      uid: route.key,
      ...parseJsonFields(object['metadata'] ?? {}),
      resourceVersion: String(this.#revision),
    }
    const stored = withStatus({ ...object, metadata })
    this.#collection(route).set(route.key, stored)
    return stored
  }
}

const notFound: SimulatedResponse = { status: 404, body: { kind: 'Status', reason: 'NotFound', code: 404 } }

/** Parts of a request path. One `collection` contains the objects of all namespaces. */
interface ApiPath {
  readonly collection: string
  readonly key: string
  readonly name: string
}

const pathPattern =
  /^\/(?<group>api|apis\/[^/]+)\/v1(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?$/

function parsePath(path: string): ApiPath {
  const { group, namespace = '', plural, name = '' } = pathPattern.exec(path)?.groups ?? {}
  if (group === undefined || plural === undefined) throw new Error(`the simulated API does not serve ${path}`)
  return { collection: `${group}/${plural}`, key: `${namespace}/${name}`, name: decodeURIComponent(name) }
}

/**
 * True if an object matches the selectors. An operator uses only two: the existence of a label, and
 * `spec.nodeName`.
 */
function matches(object: JsonFields, [labels = '', fields = '']: readonly string[]): boolean {
  const own = parseJsonFields(parseJsonFields(object['metadata'])['labels'] ?? {})
  if (labels !== '' && !(labels in own)) return false
  const [, node] = /^spec\.nodeName=(.*)$/.exec(fields) ?? []
  return node === undefined || parseJsonFields(object['spec'] ?? {})['nodeName'] === node
}

/** Adds the status that controllers and kubelets would write. */
function withStatus(object: JsonFields): JsonFields {
  switch (object['kind']) {
    case 'CustomResourceDefinition':
      return { ...object, status: { conditions: [{ type: 'Established', status: 'True' }] } }
    case 'Pod':
      return {
        ...object,
        status: {
          phase: 'Running',
          podIPs: [{ ip: '10.32.0.2' }],
          conditions: [{ type: 'Ready', status: 'True' }],
        },
      }
    default:
      return object
  }
}

/** Builds the Node object of a ready node, with a status of usual size. */
export function buildReadyNode(name: string, address: string, version: string): JsonFields {
  const heartbeat = '2026-11-17T12:00:00Z'
  const conditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
    ...{
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: 'Kubelet',
      message: 'kubelet reports it',
    },
    ...{ lastHeartbeatTime: heartbeat, lastTransitionTime: heartbeat },
  }))
  const resources = { cpu: '4', memory: '16Gi', pods: '110', 'ephemeral-storage': '200Gi' }
  const images = Array.from({ length: 10 }, (_, index) => ({
    names: [`registry.k8s.io/image-${index}@sha256:${'0'.repeat(64)}`, `registry.k8s.io/image-${index}:v1`],
    sizeBytes: 12_345_678,
  }))
  const nodeInfo = { kubeletVersion: `v${version}`, osImage: 'Debian', operatingSystem: 'linux' }
  return {
    ...{ apiVersion: 'v1', kind: 'Node' },
    metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' } },
    spec: { podCIDR: '10.32.0.0/24' },
    status: {
      ...{ conditions, nodeInfo, images, capacity: resources, allocatable: resources },
      addresses: [{ type: 'InternalIP', address }],
    },
  } satisfies Partial<KubeObject>
}
