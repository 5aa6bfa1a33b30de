import { z } from 'zod'
import { managerUser } from '../../contract/manager-settings.ts'
import type { Asked, TestAnswer } from '../../kit/testing/https-test-server.ts'
import { leases } from '../../kube/lease.ts'
import { TestObjects } from '../../kube/testing/fake-kube-api.ts'
import { managerLease } from '../rbac.ts'
import { actOf, type TestAuthorizer } from './fake-authorizer.ts'

const { namespace, name: leaseName } = managerLease
const leasePath = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${leaseName}`

/** An API with all that controllers look at, in which nobody may do what was not granted. */
export class TestCluster {
  version: string
  readonly objects = new TestObjects()
  /** All that was written, by whom. */
  readonly writes: string[] = []
  readonly events: unknown[] = []
  /** Is asked before the API is, by whoever may ask; an answer of its own stands for that of the API. */
  intercept: (asked: Asked) => TestAnswer | undefined = () => undefined
  readonly #authorizer: TestAuthorizer
  #away = false

  constructor(authorizer: TestAuthorizer, version = 'v1.37.1') {
    this.#authorizer = authorizer
    this.version = version
  }

  get holder(): string | undefined {
    const lease = this.objects.get(leasePath)
    return lease === undefined ? undefined : (leases.schema.parse(lease).spec?.holderIdentity ?? undefined)
  }

  /** What controllers have written, and not the manager itself. */
  get deeds(): string[] {
    return this.writes.filter((write) => !write.includes('/leases'))
  }

  /** Nobody is answered any more, or again. */
  set away(away: boolean) {
    this.#away = away
    if (away) this.objects.cutWatches()
  }

  putNode(name: string, kubeletVersion: string): void {
    this.objects.put(`/api/v1/nodes/${name}`, {
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, uid: `uid-${name}` } },
      status: { nodeInfo: { kubeletVersion } },
    })
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
      return forbidden(user)
    }
    if (asked.path.endsWith('/approval') && !this.#mayApprove(asked, user)) return forbidden(user)
    const answer = this.intercept(asked)
    if (answer !== undefined) return answer
    if (asked.method !== 'GET') this.writes.push(`${user} ${asked.method} ${asked.path}`)
    if (asked.path.includes('/events')) {
      this.events.push(asked.body)
      return { json: { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'x' } } }
    }
    if (asked.path === '/version') return { json: { gitVersion: this.version } }
    return this.objects.answer(asked)
  }

  /** Besides the right to write an approval, one needs the right to approve for the signer. */
  #mayApprove({ body }: Asked, user: string): boolean {
    const { signerName } = z.object({ spec: z.object({ signerName: z.string() }) }).parse(body).spec
    const act = { user, verb: 'approve', group: 'certificates.k8s.io', resource: 'signers' }
    return this.#authorizer.mayDo({ ...act, namespace: undefined, name: signerName })
  }
}

function forbidden(user: string): TestAnswer {
  return { status: 403, json: { kind: 'Status', reason: 'Forbidden', message: `${user} may not` } }
}
