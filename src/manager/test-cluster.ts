import type { ServerResponse } from 'node:http'
import type { Asked, TestAnswer } from '../kit/test-server.ts'
import { leases, type Lease } from '../kube/lease.ts'
import type { KubeObject } from '../kube/object.ts'
import { managerUser } from './rights.ts'
import { actOf, type TestAuthorizer } from './test-authorizer.ts'

/** An API with nodes, a lease and events, in which nobody may do what was not granted. */
export class TestCluster {
  version: string
  /** All that was written, by whom. */
  readonly writes: string[] = []
  readonly events: unknown[] = []
  readonly #authorizer: TestAuthorizer
  readonly #nodes = new Map<string, KubeObject>()
  readonly #watches = new Set<ServerResponse>()
  #lease: Lease | undefined
  #revision = 1
  #away = false

  constructor(authorizer: TestAuthorizer, version = 'v1.37.1') {
    this.#authorizer = authorizer
    this.version = version
  }

  get holder(): string | undefined {
    return this.#lease?.spec?.holderIdentity ?? undefined
  }

  /** Nobody is answered any more, or again. */
  set away(away: boolean) {
    this.#away = away
    if (away) for (const watch of this.#watches) watch.destroy()
  }

  putNode(name: string, kubeletVersion: string): void {
    const type = this.#nodes.has(name) ? 'MODIFIED' : 'ADDED'
    const metadata = { name, uid: `uid-${name}`, resourceVersion: String(++this.#revision) }
    const object = { apiVersion: 'v1', kind: 'Node', metadata, status: { nodeInfo: { kubeletVersion } } }
    this.#nodes.set(name, object)
    for (const watch of this.#watches) watch.write(`${JSON.stringify({ type, object })}\n`)
  }

  readonly answer = (asked: Asked): TestAnswer => {
    if (this.#away) return { cut: 'before' }
    const user = asked.as ?? managerUser
    const impersonation = {
      ...{ user: managerUser, verb: 'impersonate', group: '', resource: 'users' },
      namespace: undefined,
    }
    const mayBe = asked.as === undefined || this.#authorizer.mayDo({ ...impersonation, name: user })
    if (!mayBe || !this.#authorizer.mayDo(actOf(asked, user))) {
      return { status: 403, json: { kind: 'Status', reason: 'Forbidden', message: `${user} may not` } }
    }
    if (asked.method !== 'GET') this.writes.push(`${user} ${asked.method} ${asked.path}`)
    if (asked.path.includes('/leases')) return this.#answerLease(asked)
    if (asked.path.includes('/events')) {
      this.events.push(asked.body)
      return { json: { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'x' } } }
    }
    if (asked.path === '/version') return { json: { gitVersion: this.version } }
    if (asked.query.get('watch') === 'true') return { by: (response) => this.#watch(response) }
    return {
      json: { metadata: { resourceVersion: String(this.#revision) }, items: [...this.#nodes.values()] },
    }
  }

  #watch(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    this.#watches.add(response)
    response.on('close', () => this.#watches.delete(response))
  }

  #answerLease({ method, body }: Asked): TestAnswer {
    const conflict = { status: 409, json: { kind: 'Status', reason: 'Conflict' } }
    if (method === 'GET') return this.#lease === undefined ? { status: 404, text: '' } : { json: this.#lease }
    const lease = leases.schema.parse(body)
    if (lease.metadata.resourceVersion !== this.#lease?.metadata.resourceVersion) return conflict
    this.#lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#revision) } }
    return { json: this.#lease }
  }
}
