import { z } from 'zod'
import { managerUser } from '../../contract/manager-settings.ts'
import type { ReceivedRequest, TestResponse } from '../../kit/testing/https-test-server.ts'
import { leases } from '../../kube/lease.ts'
import { FakeKubeApi } from '../../kube/testing/fake-kube-api.ts'
import { managerLease } from '../rbac.ts'
import { toAccessRequest, type FakeAuthorizer } from './fake-authorizer.ts'

const { namespace, name: leaseName } = managerLease
const leasePath = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${leaseName}`

/** A fake API server with all objects that controllers use. It enforces the generated RBAC rules. */
export class FakeManagerCluster {
  version: string
  readonly objects = new FakeKubeApi()
  /** All writes, with the user of each. */
  readonly writes: string[] = []
  readonly events: unknown[] = []
  /**
   * Called for every authorized request. If the function returns a response, the API does not handle the
   * request.
   */
  intercept: (request: ReceivedRequest) => TestResponse | undefined = () => undefined
  readonly #authorizer: FakeAuthorizer
  #unreachable = false

  constructor(authorizer: FakeAuthorizer, version = 'v1.37.1') {
    this.#authorizer = authorizer
    this.version = version
  }

  get holder(): string | undefined {
    const lease = this.objects.get(leasePath)
    return lease === undefined ? undefined : (leases.schema.parse(lease).spec?.holderIdentity ?? undefined)
  }

  /** Writes of controllers, without the manager's writes to its lease. */
  get controllerWrites(): string[] {
    return this.writes.filter((write) => !write.includes('/leases'))
  }

  /** If set to true, requests get no response and watches are cut. */
  set unreachable(unreachable: boolean) {
    this.#unreachable = unreachable
    if (unreachable) this.objects.cutWatches()
  }

  putNode(name: string, kubeletVersion: string): void {
    this.objects.put(`/api/v1/nodes/${name}`, {
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, uid: `uid-${name}` } },
      status: { nodeInfo: { kubeletVersion } },
    })
  }

  readonly respond = (request: ReceivedRequest): TestResponse => {
    if (this.#unreachable) return { cut: 'before' }
    const user = request.impersonatedUser ?? managerUser
    const impersonation = {
      ...{ user: managerUser, verb: 'impersonate', group: '', resource: 'users' },
      namespace: undefined,
    }
    const canImpersonate =
      request.impersonatedUser === undefined || this.#authorizer.authorize({ ...impersonation, name: user })
    if (!canImpersonate || !this.#authorizer.authorize(toAccessRequest(request, user))) {
      return forbidden(user)
    }
    if (request.path.endsWith('/approval') && !this.#canApprove(request, user)) return forbidden(user)
    const response = this.intercept(request)
    if (response !== undefined) return response
    if (request.method !== 'GET') this.writes.push(`${user} ${request.method} ${request.path}`)
    if (request.path.includes('/events')) {
      this.events.push(request.body)
      return { json: { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'x' } } }
    }
    if (request.path === '/version') return { json: { gitVersion: this.version } }
    return this.objects.respond(request)
  }

  /** Checks the additional permission that an approval needs: `approve` for the signer. */
  #canApprove({ body }: ReceivedRequest, user: string): boolean {
    const { signerName } = z.object({ spec: z.object({ signerName: z.string() }) }).parse(body).spec
    const access = { user, verb: 'approve', group: 'certificates.k8s.io', resource: 'signers' }
    return this.#authorizer.authorize({ ...access, namespace: undefined, name: signerName })
  }
}

function forbidden(user: string): TestResponse {
  return { status: 403, json: { kind: 'Status', reason: 'Forbidden', message: `${user} may not` } }
}
